"""The log's retention in a run: it takes turns with the rules, a page each, within the same limits; the deletes are `log_retention`'s."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import ClassVar, cast

from ..capabilities import Capabilities
from ..engine.budget import Budget
from ..engine.checkpoint import Entry
from ..engine.prune import instant
from ..engine.receipt import LogReceipt, RuleReceipt
from ..engine.traversal import Pages, Traversal, advance, ask, begin, boundary, count, found_again
from ..errors import HostError
from ..plan.model import FurtherPlan
from ..plan.rules import write_target
from ..policy.ledger_models import Events
from ..policy.models import Policy
from ..schema.model import Schema
from ..statements.condition import Condition, Shape
from ..statements.pages import Boundary, PageSQL, Range, Walk
from ..steps import Batch, Result, Statement, Step, Value
from .log_retention import count_statement, delete_statements, read_deleted, verdict
from .log_schema import advise, check, require_consumers
from .sql import Params

__all__ = ["LogPlan", "LogWalk", "compile_log"]

_ALIASES = frozenset({*(f"retention_{a}" for a in "cmnstw"), "retention_names", "retention_walk"})
"""Consumers, which are few, and what is looked up for one of them: `advise` names the index that each wants."""

READS = 2
"""Statements that find a page: its edges and counts, and once more where one write may not take so many."""

_CUT = frozenset({"constraint", "too_many_changes", "limit", "full"})
"""Failures that a smaller page may escape."""


@dataclass(frozen=True, slots=True)
class LogPlan(FurtherPlan):
    """The log's retention, compiled. `write_cost` counts BEGIN and COMMIT too."""

    section: ClassVar[str] = "events"

    log: Events | None = None
    write_cost: int = 0

    @property
    def events(self) -> Events:
        assert self.log is not None
        return self.log

    @property
    def keep_ms(self) -> int:
        return cast(int, self.events.keep)

    @property
    def settles(self) -> bool:
        """A run looks at the log as it is: what somebody acks meanwhile is the next run's."""
        return False

    @property
    def page_cost(self) -> int:
        return READS + self.write_cost

    def cutoffs(self, now_ms: int) -> tuple[Value, ...]:
        """What the condition's parameters are bound to."""
        p = Params()
        verdict(self.events, p, now_ms - self.keep_ms)
        return p.statement("").params

    def recount(self, page: Range, now_ms: int) -> Statement:
        """Who still needs an event is asked for where it would go, and not by the page's own counts."""
        after = cast(int, page.after[0]) if page.after else None
        return count_statement(self.events, after, cast(int, page.upto[0]), now_ms - self.keep_ms, now_ms)

    def samples(self, now_ms: int) -> list[tuple[str, Statement]]:
        """Its statements as they will run, with ids that only stand for others."""
        page, cutoff = Range(after=(0,), upto=(0,)), now_ms - self.keep_ms
        reads = [("high-water", self.pages.high()), ("boundary", self.pages.boundary(page, self.max_keys, self.cutoffs(now_ms)))]
        *says, delete, _ = delete_statements(self.events, 0, 0, cutoff, now_ms)
        return reads + [("stopped consumers", one) for one in says] + [("delete", delete)]


def compile_log(policy: Policy, schema: Schema, host: Capabilities) -> list[LogPlan]:
    """The plan of the log's retention; none where the policy keeps its events for ever.

    Raises:
        Refused: a log that cannot be trusted (`retention.ledger.log_schema.check`).
    """
    log = policy.events
    if log is None or log.keep == "forever":
        return []
    check(log, schema)
    require_consumers(log, schema, "[events]")
    p = Params()
    text = verdict(log, p, 0)
    walk = Walk("rowid", (log.id,), "NOT INDEXED", integers=True)
    batch = Batch(tuple(delete_statements(log, 0, 0, 0, 0)), writes=True, max_changes=_max_changes(policy, host))
    decisive = [log.table, log.id, log.keep, log.once, log.public, log.stopped_after]
    cursors = log.cursors
    return [
        LogPlan(
            name=log.table,
            table=log.table,
            shape=Shape(log.table, log.keep),
            pages=PageSQL(log.table, walk, Condition(text, (), (), len(p.statement("").params))),
            why_walk="events are read in the order of their ids",
            max_keys=policy.limits.page_rows,
            max_writes=policy.limits.rows_changed,
            target=write_target(host),
            max_changes=_max_changes(policy, host),
            digest=hashlib.sha256(json.dumps(decisive).encode()).hexdigest()[:16],
            reads=frozenset({cursors.table} if cursors else ()),
            feeds=frozenset({log.table}),
            notes=tuple(f"{advice.why}; an index would help: {advice.sql}" for advice in advise(log, schema)),
            aliases=_ALIASES,
            log=log,
            write_cost=host.cost(batch),
        )
    ]


def _max_changes(policy: Policy, host: Capabilities) -> int | None:
    return policy.limits.rows_changed if host.transactions else None


@dataclass(slots=True)
class LogWalk(Traversal):
    """The log's state during a run. `stopped`: the streams in which somebody was given up."""

    plan: LogPlan | None = None
    now_ms: int = 0
    stopped: list[str] = field(default_factory=list[str])

    @classmethod
    def of(cls, plan: LogPlan, entry: Entry | None, now_ms: int) -> LogWalk:
        """Continue where the checkpoint's entry left off, or begin."""
        state = cls.start(plan, entry, RuleReceipt(plan.name, plan.table), now_ms)
        assert isinstance(state, LogWalk)
        state.plan, state.now_ms = plan, now_ms
        return state

    def take_page(self, budget: Budget) -> Pages:
        """One page: find its end, delete what nobody needs, move on."""
        self.deleted_now = 0
        if not self.high:
            yield from begin(self)
            if self.done:
                return
        page = self.next_range()
        found = yield from boundary(self, page, self.trouble[0] if self.trouble else self.sizes.keys)
        if found.expired > self.sizes.writes and found.seen > 1 and self.trouble is None:
            found = yield from boundary(self, page, self.sizes.fewer(found.seen, found.expired))
        found_again(self, page, found)
        upto = found.last if found.filled else ()
        if found.expired:
            try:
                yield from self._delete(page, found, upto)
            except HostError as error:
                if not self._learn(error, page, found):
                    return
        count(self.receipt, found.seen, found.kept, found.tenants)
        advance(self, page, found, upto)

    def _delete(self, page: Range, found: Boundary, upto: tuple[object, ...]) -> Generator[Step, list[Result] | None, None]:
        assert self.plan is not None
        after = cast(int, page.after[0]) if page.after else None
        end = cast(int, (upto or page.upto)[0])
        statements = delete_statements(self.plan.events, after, end, self.now_ms - self.plan.keep_ms, self.now_ms)
        results = yield from ask(self, Batch(tuple(statements), writes=True, max_changes=self.plan.max_changes))
        said, gone = read_deleted(results)
        self.stopped += said
        self.receipt.deleted += gone
        self.deleted_now += gone
        self.sizes.wrote(found.expired, results[0].seconds, limited=found.filled)

    def _learn(self, error: HostError, page: Range, found: Boundary) -> bool:
        """Deal with a page that failed: True where its one event is passed, False where it is taken again in halves."""
        end = self.position(page, found.last) if found.last else self.high
        if error.kind in _CUT and found.seen > 1:
            self.trouble = (max(1, found.seen // 2), end)
            return False
        if error.kind == "constraint":
            self.receipt.blocked += 1
            self.receipt.error = self.receipt.error or f"events of {self.rule.table} cannot be deleted: {error}"
            return True
        if error.kind in ("interrupted", "overloaded"):
            self.sizes.failed(found.expired)
        elif error.applied is None:
            self.lost = (found.expired, page.within, end)
            self.trouble = (found.seen + 1, end)
        raise error

    def report(self) -> LogReceipt:
        """What it did so far."""
        assert self.plan is not None
        receipt = self.receipt
        return LogReceipt(
            table=self.plan.table,
            cutoff=instant(max(0, self.now_ms - self.plan.keep_ms)),
            pages=receipt.pages,
            scanned=receipt.scanned,
            deleted=receipt.deleted,
            stopped=list(self.stopped),
            unconfirmed=receipt.unconfirmed,
            blocked=receipt.blocked,
            finished=receipt.finished,
            error=receipt.error,
        )

"""One call carried out: planning, then passes, then the receipt."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..archive.base import Sink
from ..capabilities import Capabilities
from ..engine.budget import Budget, Why
from ..engine.prune import Pass, Pruner, because, instant
from ..engine.receipt import Outcome, Receipt, Statements
from ..errors import Fenced, HostError, Refused, RetentionError
from ..hosts.base import AsyncHost, Host
from ..ledger.works import Works, compile_further
from ..plan.model import Plan
from ..plan.planner import check_clock, make_plan
from ..policy.models import Limits, Policy
from ..steps import Batch, Engine, Result, Step
from ..stores.base import CursorStore
from .conduct import Conducted, Observer, conduct
from .given import Now, as_policy, limited, milliseconds
from .lease import FENCE, Lease
from .pace import Pace
from .sinks import archives_apart, own_files, sinks_of

__all__ = ["Session", "setup_statements"]


@dataclass(slots=True)
class Session:
    """One call: what it was given, in the engine's terms.

    The policy's deadline (`pass_ms`) is for a pass, the one given with the call (`call_ms`) for all of it. A call of one pass has one
    deadline: the one that was given, else the policy's.
    """

    policy: Policy
    now_ms: int
    clock_ms: int | None
    sinks: dict[str, Sink]
    observers: list[Observer] = field(default_factory=list[Observer])
    stop: Callable[[], bool] | None = None
    pass_ms: int | None = None
    call_ms: int | None = None
    skip: frozenset[str] = frozenset()
    allow_mass: frozenset[str] = frozenset()
    turn_key: str = "next"
    pruner: Pruner | None = None

    @classmethod
    def start(
        cls,
        policy: Policy | Mapping[str, Any] | str | os.PathLike[str],
        limits: Limits | Mapping[str, Any] | None,
        now: Now,
        archives: Mapping[str, Sink] | None,
        on_step: Observer | Sequence[Observer],
        stop: Callable[[], bool] | None,
    ) -> Session:
        checked = as_policy(policy)
        pass_ms, call_ms = checked.limits.deadline, None
        if limits is not None:
            checked = checked.model_copy(update={"limits": limited(checked.limits, limits)})
            call_ms = checked.limits.deadline if isinstance(limits, Limits) or "deadline" in limits else None
        real = time.time_ns() // 1_000_000
        now_ms = real if now is None else milliseconds(now)
        check_clock(now_ms)
        sinks = sinks_of(checked, archives)
        observers = [on_step] if callable(on_step) else list(on_step)
        return cls(checked, now_ms, real if now is None else None, sinks, observers, stop, pass_ms=pass_ms, call_ms=call_ms)

    def conducted(self, host: Host | AsyncHost, store: CursorStore | None, until_done: bool, plan: Plan | None) -> Conducted[Receipt]:
        """The whole call as actions: planning, then passes. Raises PolicyError where an archive is another file of the run."""
        archives_apart(self.policy, self.sinks, own_files(str(getattr(host, "name", "")), store))
        clock, began = time.monotonic, time.monotonic()
        limits = self.policy.limits
        budget = Budget(
            statements=math.inf if limits.statements is None else limits.statements,
            deadline=self._deadline(began, began, until_done),
            rows_read=math.inf if limits.rows_read is None else limits.rows_read,
            rows_written=math.inf if limits.rows_written is None else limits.rows_written,
            used=setup_statements(host),
        )
        lease, capabilities = Lease.of(self.policy.lease), host.capabilities
        if lease is not None:
            capabilities = replace(capabilities, fence=len(lease.fenced(Batch(())).statements))
            budget.statements -= host.capabilities.cost(lease.release())
        receipt = Receipt("failed", "error", instant(self.now_ms), statements=Statements(limit=limits.statements))
        works: Works | None = None
        try:
            if plan is None:
                plan = yield from self._planned(host, capabilities, lease, budget)
            if lease is not None:
                yield from conduct(_take(lease), host.capabilities, budget, clock, self.observers)
            receipt.statements.planning = budget.used
            receipt.statements.ceiling = _ceiling(budget.used, plan, limits.statements)
            document = _loaded(store)
            works = Works(plan, self.now_ms, self.skip, self.allow_mass)
            self.pruner = Pruner(
                plan, self.now_ms, budget, document, receipt.rules, receipt.warnings,
                further=works.further(), turn_key=self.turn_key, rounds=not until_done,
            )  # fmt: skip
            yield from self._passes(self.pruner, host, capabilities, lease, receipt, began, until_done)
            if lease is not None and receipt.why != "lease":
                budget.statements = math.inf
                yield from conduct(_give_back(lease), host.capabilities, budget, clock, self.observers)
        except Refused as error:
            _end(receipt, "refused", error.why, str(error))
        except HostError as error:
            why = because(error)
            _end(receipt, "busy" if error.retryable or why == "lease" else "failed", why, str(error))
        finally:
            for sink in self.sinks.values():
                sink.close()
        if works is not None:
            receipt.sweeps, receipt.closures, receipt.events = works.sweeps(), works.closures(), works.events()
            receipt.warnings[:0] = works.remarks()
        if self.pruner is not None:
            receipt.warnings[:0] = self.pruner.remarks
        _charge(receipt.statements, budget)
        receipt.elapsed_s = round(clock() - began, 6)
        return receipt

    def _planned(self, host: Host | AsyncHost, able: Capabilities, lease: Lease | None, budget: Budget) -> Conducted[Plan]:
        """Plan. Raises Refused where that alone uses up the rows that may be read."""
        sent = budget.used + (0 if lease is None else host.capabilities.cost(lease.acquire()))
        engine = make_plan(
            self.policy, able, self.now_ms, self.clock_ms, statements=budget.statements, sent=sent, compile_further=compile_further
        )
        plan = yield from conduct(engine, host.capabilities, budget, time.monotonic, self.observers)
        if budget.read >= budget.rows_read:
            words = f"a limit of {budget.rows_read:,} rows read is too small: planning read {budget.read:,}; allow more than that."
            raise Refused(words, "policy")
        return plan

    def _passes(
        self,
        pruner: Pruner,
        host: Host | AsyncHost,
        able: Capabilities,
        lease: Lease | None,
        receipt: Receipt,
        began: float,
        until_done: bool,
    ) -> Conducted[None]:
        """Pass after pass, until there is nothing left to do or nothing left to do it with."""
        clock, budget = time.monotonic, pruner.budget
        pace = Pace(host, self.policy.limits.duty, clock)
        observers = [*self.observers, pace.watch, self._watch(host, budget)]
        receipt.passes = 0
        while True:
            before = pruner.document
            receipt.passes += 1
            if receipt.passes > 1:
                budget.deadline = self._deadline(began, clock(), until_done)
            ended = yield from conduct(pruner.run_pass(), able, budget, clock, observers, lease, pace.pause, self._stopped)
            receipt.outcome, receipt.why = ended.outcome, ended.why
            if ended.message and ended.message not in receipt.warnings:
                receipt.warnings.append(ended.message)
            over = self.call_ms is not None and clock() >= began + self.call_ms / 1000
            if over and ended.outcome == "more":
                receipt.why = "deadline"
            if not until_done or over or not _goes_on(ended, before != pruner.document):
                return
            _charge(receipt.statements, budget)
            budget.read = budget.written = 0

    def _deadline(self, began: float, pass_began: float, until_done: bool) -> float:
        """When the coming pass must end, on the clock of `began`, s."""
        call = math.inf if self.call_ms is None else began + self.call_ms / 1000
        own = self.pass_ms is not None and (until_done or self.call_ms is None)
        return min(call, pass_began + (self.pass_ms or 0) / 1000) if own else call

    def _stopped(self) -> bool:
        return self.stop is not None and self.stop()

    def _watch(self, host: Host | AsyncHost, budget: Budget) -> Observer:
        """Reasons to stop that only the runner can see."""

        def watch(step: Step, _answer: Sequence[Result] | HostError | None, _seconds: float) -> None:
            budget.aim = getattr(host, "aim", None)
            if self._stopped():
                budget.halt = "paused"
            elif isinstance(step, Batch) and step.writes and getattr(host, "wal_bytes", 0) > self.policy.limits.wal_bytes:
                budget.halt = "wal"

        return watch


def _loaded(store: CursorStore | None) -> dict[str, Any] | None:
    """The stored document. What a caller's store raises is its own; the run ends by it, and says whose it is."""
    try:
        return store.load() if store is not None else None
    except RetentionError:
        raise
    except Exception as error:
        raise HostError(f"the checkpoint could not be loaded: {type(error).__name__}: {error}") from error


def _take(lease: Lease) -> Engine[None]:
    """Take the lease, or raise `Fenced`. Raises Refused where its table is not there."""
    try:
        results = yield lease.acquire()
    except HostError as error:
        if error.kind != "schema":
            raise
        raise Refused(f"the lease's table is not there; make it with: {lease.create}.", "policy") from error
    assert results is not None
    owner, left = results[1].rows[0]
    if owner != lease.owner:
        raise Fenced(FENCE, f"another caller holds the lease in {lease.table} for {left} s more; try again then")


def _give_back(lease: Lease) -> Engine[None]:
    yield lease.release()


def _goes_on(ended: Pass, moved: bool) -> bool:
    """Whether `--until-done` makes another pass."""
    if ended.outcome == "failed" and ended.limit is None:
        return ended.deleted > 0 and ended.message is None
    own_limit = (ended.limit or ended.why) in ("finished", "deadline", "statements", "pages", "rows_read", "rows_written")
    return (ended.outcome == "more" or ended.limit is not None) and own_limit and (moved or ended.deleted > 0)


def _charge(counted: Statements, budget: Budget) -> None:
    """Add a pass's statements once."""
    counted.used = max(counted.used, budget.used)
    counted.total += budget.used
    budget.used = 0


def _ceiling(planning: int, plan: Plan, limit: int | None) -> int | None:
    worst = None if plan.ceiling is None else planning + plan.ceiling
    return min((n for n in (worst, limit) if n is not None), default=None)


def _end(receipt: Receipt, outcome: Outcome, why: Why, message: str) -> None:
    receipt.outcome, receipt.why = outcome, why
    receipt.warnings.append(message)


def setup_statements(host: Host | AsyncHost) -> int:
    """Statements that opening the database took."""
    return int(getattr(host, "setup_statements", 0))

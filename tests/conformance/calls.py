"""A host that calls on a schedule, step by step: one database, one checkpoint, and a hand on every step.

The clock of a call stands still unless a test moves it, so that statement counts do not depend on the machine.
"""

from __future__ import annotations

import copy
import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import apsw

from retention.engine.budget import Budget
from retention.engine.prune import Pass, Pruner
from retention.engine.receipt import RuleReceipt
from retention.errors import HostError
from retention.hosts.sqlite import SQLite
from retention.plan.model import Plan
from retention.steps import Batch, Result, Save, Statement, Step
from tests.properties.drive import make

from .relay import NOW, Keeps, policy

Mode = Any
MODES: list[Mode] = ["range", {"chunk": 10}]
IDS = ["range", "chunk"]
UPSTREAM = Keeps()
Before = Callable[[Step], None]


class Died(Exception):
    """The process ended at this step, before it was carried out."""


def relay(keeps: Keeps = UPSTREAM, mode: Mode = "range", *, page: int = 2, pages: int | None = 1, walk: Any = "rowid") -> dict[str, Any]:
    """The relay policy as the original was called: so many rows a page, so many pages a rule, through the rowid.

    The recovery rule keeps its index and its caps, and deletes by range: the original's recovery is one statement a batch.
    """
    document = tomllib.loads(policy(keeps))
    for rule in document["rules"]:
        if "walk" not in rule:
            rule |= {"walk": walk, "mode": mode, "page_rows": page} | ({} if pages is None else {"max_pages": pages})
    document["limits"] = {}
    return document


@dataclass
class Call:
    """What one call did.

    Attributes:
        ended: how, or None where it died.
        steps: those that were carried out, in order.
        failures: the errors that the engine was given.
    """

    rules: dict[str, RuleReceipt]
    ended: Pass | None = None
    steps: list[Step] = field(default_factory=list)
    failures: list[HostError] = field(default_factory=list)

    @property
    def statements(self) -> list[Statement]:
        return [s for step in self.steps if isinstance(step, Batch) for s in step.statements]

    @property
    def deletes(self) -> list[Statement]:
        return [s for s in self.statements if _deletes(s)]

    @property
    def reads(self) -> list[Statement]:
        """The pages that were read."""
        return [s for s in self.statements if not _deletes(s) and not _is_high(s)]

    @property
    def saves(self) -> list[dict[str, Any]]:
        return [step.document for step in self.steps if isinstance(step, Save)]

    @property
    def deleted(self) -> int:
        return sum(r.deleted for r in self.rules.values())

    def of(self, table: str) -> list[Statement]:
        """The statements of the rule on that table."""
        return [s for s in self.statements if _visited(s.sql) == table]


def _deletes(statement: Statement) -> bool:
    return re.match(r'(WITH "retention_keeps" AS .*\) )?DELETE ', statement.sql) is not None


def _is_high(statement: Statement) -> bool:
    return statement.sql.endswith("DESC LIMIT 1")


def _visited(sql: str) -> str:
    """The table that a statement visits: the first that carries the walk's hint."""
    found = re.search(r'"(\w+)" (NOT INDEXED|INDEXED BY)', sql)
    assert found
    return found[1]


class Calls:
    """Calls of one policy on one database. `document` is what the host has stored."""

    def __init__(self, db: apsw.Connection, rules: dict[str, Any], now: datetime = NOW, document: Any = None) -> None:
        self.db, self.policy, self.document = db, rules, document
        self.now_ms = round(now.timestamp() * 1000)
        self.plan: Plan = make(db, rules, self.now_ms)

    def entry(self, rule: str) -> dict[str, Any]:
        """The checkpoint's entry of a rule, without what only we keep."""
        kept = (self.document or {"tables": {}})["tables"].get(rule, {})
        return {k: v for k, v in kept.items() if k in ("cursor", "high")}

    def call(
        self,
        before: Before = lambda step: None,
        takes: Callable[[Step], float] = lambda step: 0.0,
        *,
        deadline: float = 10.0,
        statements: float = float("inf"),
    ) -> Call:
        """One run. `before` may change the database, raise a HostError for the engine, or end the process; `takes` is in seconds."""
        budget = Budget(statements=statements, deadline=deadline)
        pruner = Pruner(self.plan, self.now_ms, budget, copy.deepcopy(self.document))
        done = Call({r.rule: r for r in pruner.receipts})
        host = SQLite(self.db)
        engine, answer, failure = pruner.run_pass(), None, None
        try:
            while True:
                try:
                    step = engine.send(answer) if failure is None else engine.throw(failure)
                except StopIteration as stop:
                    done.ended = stop.value
                    return done
                answer = failure = None
                try:
                    before(step)
                    answer = self._carry_out(step, host)
                    done.steps.append(step)
                except HostError as error:
                    failure = error
                    done.failures.append(error)
                    if isinstance(step, Save):
                        return done
                budget.now += takes(step)
                if isinstance(step, Batch):
                    budget.used += host.capabilities.cost(step)
                    assert budget.used <= statements
        except Died:
            return done
        finally:
            host.close()

    def _carry_out(self, step: Step, host: SQLite) -> list[Result] | None:
        if isinstance(step, Save):
            self.document = copy.deepcopy(step.document)
        if isinstance(step, Batch):
            return [replace(r, seconds=0.001) for r in host.execute(step)]
        return None


def is_delete(step: Step, table: str | None = None) -> bool:
    """Whether a step deletes rows (of that table)."""
    return isinstance(step, Batch) and step.writes and (table is None or f'DELETE FROM "{table}"' in step.statements[0].sql)


def at_delete(act: Callable[[], Any], *, table: str | None = None, nth: int = 1) -> Before:
    """Something that happens once, right before the nth delete (of that table)."""
    seen = 0

    def before(step: Step) -> None:
        nonlocal seen
        if is_delete(step, table):
            seen += 1
            if seen == nth:
                act()

    return before


def at_save(act: Callable[[], Any], nth: int) -> Before:
    """Something that happens right before the nth save."""
    seen = 0

    def before(step: Step) -> None:
        nonlocal seen
        if isinstance(step, Save):
            seen += 1
            if seen == nth:
                act()

    return before


def fails(error: Exception) -> Callable[[], Any]:
    def act() -> None:
        raise error

    return act


def scanned(db: apsw.Connection, statements: Sequence[Statement]) -> list[str]:
    """The nodes of the statements' query plans that visit a whole table of the database; the tenants may be read once in each."""
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    found: list[str] = []
    for statement in (s for s in statements if not _is_high(s)):
        once: set[int] = set()
        for node, parent, _, detail in db.execute(f"EXPLAIN QUERY PLAN {statement.sql}", statement.params):
            if detail == "MATERIALIZE retention_keeps":
                once.add(node)
            elif detail.startswith("SCAN ") and detail.split()[1] in tables and parent not in once:
                found.append(detail)
    return found

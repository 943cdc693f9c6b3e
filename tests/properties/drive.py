"""Driving a run step by step: every step in hand, a crash after any, another writer between any two."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import apsw

from retention.capabilities import Capabilities
from retention.engine.budget import Budget
from retention.engine.prune import Pruner
from retention.engine.receipt import RuleReceipt
from retention.errors import HostError
from retention.hosts.base import Host
from retention.hosts.sqlite import SQLite
from retention.plan.model import Plan
from retention.plan.planner import make_plan
from retention.policy.load import from_dict
from retention.steps import Batch, Result, Save, Step

__all__ = ["Crash", "Ran", "drive", "execute", "make"]

Between = Callable[[Any, Step], None]


class Crash(Exception):
    """The process died here."""


@dataclass
class Ran:
    """What a driven run did. `used` counts statements as the host would, planning not included."""

    outcome: str
    why: str
    rules: list[RuleReceipt]
    used: int
    steps: int
    document: Any
    warnings: list[str] = field(default_factory=list)

    @property
    def deleted(self) -> int:
        return sum(r.deleted for r in self.rules)


def execute(engine: Any, host: Host) -> Any:
    """Drive an engine that only sends batches."""
    answer = None
    while True:
        try:
            step = engine.send(answer)
        except StopIteration as stop:
            return stop.value
        answer = list(host.execute(step))


def make(db: apsw.Connection | Host, policy: dict[str, Any], now_ms: int, capabilities: Capabilities | None = None) -> Plan:
    """The plan of a policy for an open connection or a host."""
    if not isinstance(db, apsw.Connection):
        return execute(make_plan(from_dict(policy), capabilities or db.capabilities, now_ms), db)
    with SQLite(db, foreign_keys=policy.get("foreign_keys", "on")) as host:
        return make(host, policy, now_ms, capabilities)


def drive(
    con: Any,
    plan: Plan,
    now_ms: int,
    document: Any = None,
    *,
    statements: float = float("inf"),
    crash_after: int | None = None,
    between: Between | None = None,
    seconds: float = 0.0,
    passes: int = 1,
    saved: list[Any] | None = None,
    answered: Callable[[Step, list[Result] | HostError | None], None] | None = None,
    host: Host | None = None,
) -> Ran:
    """Run passes over the rules. `saved` receives each document as it becomes durable, so that a crash can be continued.

    `con` is given to `between`. The steps go to `host`, by default the same connection.
    """
    budget = Budget(statements=statements, deadline=1e9)
    pruner = Pruner(plan, now_ms, budget, document)
    own = SQLite(con) if host is None else None
    host = host or own
    assert host is not None
    steps = used = 0
    try:
        for _ in range(passes):
            engine, answer, failure = pruner.run_pass(), None, None
            budget.used = 0
            while True:
                if crash_after is not None and steps >= crash_after:
                    raise Crash
                try:
                    step = engine.send(answer) if failure is None else engine.throw(failure)
                except StopIteration as stop:
                    ended = stop.value
                    break
                answer = failure = None
                steps += 1
                assert steps < 20_000, "the run does not end"
                if between is not None:
                    between(con, step)
                if isinstance(step, Save):
                    if saved is not None:
                        saved.append(step.document)
                elif isinstance(step, Batch):
                    budget.used += plan.capabilities.cost(step)
                    budget.now += seconds
                    assert budget.used <= statements
                    try:
                        answer = list(host.execute(step))
                    except HostError as error:
                        failure = error
                if answered is not None:
                    answered(step, failure or answer)
            used = max(used, budget.used)
            if ended.outcome == "done" or (ended.outcome == "failed" and not ended.deleted):
                break
        return Ran(ended.outcome, ended.why, pruner.receipts, used, steps, pruner.document, pruner.warnings)
    finally:
        if own is not None:
            own.close()

"""The one body that both runners share: it drives an engine, and is the only place that times, counts, charges, paces and retries.

It does no I/O itself. It yields actions, `Execute`, `Save`, `Archive`, `Settle` and `Sleep`, which a synchronous or an asynchronous driver
performs.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from ..capabilities import Capabilities
from ..engine.budget import Budget
from ..errors import HostError, RetentionError
from ..steps import Archive, Batch, Engine, Result, Save, Step
from .lease import Lease

__all__ = ["Action", "Conducted", "Execute", "Observer", "Settle", "Sleep", "conduct"]

R = TypeVar("R")

GRACE_S = 1.0
"""A page that a save has announced is run even if the save used up the deadline; its statements then have so long."""

BUSY_S = 5.0
"""Another connection's lock is waited for so long in all, before a run without a deadline ends busy: SQLite's usual busy timeout."""

BUSY_PAUSE_S = 0.02
"""After a first attempt in vain, outside the lock, where the host names no wait of its own; twice as long after each further one, ..."""

LONGEST_BUSY_PAUSE_S = 0.2
"""... up to this: a report that reads a rollback-journal file for seconds keeps us out, and each of our attempts keeps new readers out."""

NETWORK_PAUSES_S = (0.2, 0.8)
"""Before the second and third attempt of a read, or of a write that may be repeated, whose answer was lost."""


@dataclass(frozen=True, slots=True)
class Execute:
    """Send a batch; `timeout` is in seconds."""

    batch: Batch
    timeout: float | None


@dataclass(frozen=True, slots=True)
class Sleep:
    """Wait, outside any lock."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Settle:
    """Wait until all that was written and saved is durable. Only reads go beside a save that is under way."""


Action = Execute | Save | Archive | Settle | Sleep
Conducted = Generator[Action, Any, R]
Observer = Callable[[Step, Sequence[Result] | HostError | None, float], None]
"""Called after each step with the step, its answer, and the seconds it took: of a save, perhaps, only until it had begun."""


def conduct(
    engine: Engine[R],
    host: Capabilities,
    budget: Budget,
    clock: Callable[[], float],
    observers: Sequence[Observer] = (),
    lease: Lease | None = None,
    pause: Callable[[], float] = lambda: 0.0,
    stopped: Callable[[], bool] = lambda: False,
) -> Conducted[R]:
    """Drive an engine to its end, and return what it returns. An error that it does not handle is raised.

    `pause` is asked before each write how long others are to be let in, s; `stopped` before each further attempt to get a lock, whether
    there is to be one.
    """
    answer: list[Result] | None = None
    failure: HostError | None = None
    saving = False
    while True:
        budget.now = clock()
        try:
            step = engine.send(answer) if failure is None else engine.throw(failure)
        except StopIteration as stop:
            yield Settle()
            return stop.value
        except RetentionError:
            yield Settle()
            raise
        answer, failure = None, None
        # What fails here was asked for by an earlier step, and no engine can answer for it: it ends the run.
        if saving and not (isinstance(step, Batch) and not step.writes):
            yield Settle()
            saving = False
        began = clock()
        try:
            if isinstance(step, Batch):
                if step.writes and (rest := min(pause(), budget.deadline - began)) > 0:
                    yield Sleep(rest)
                answer = yield from _execute(step, host, budget, clock, lease, stopped)
            else:
                yield step
                saving = isinstance(step, Save)
        except HostError as error:
            failure = error
        took = clock() - began
        for observer in observers:
            observer(step, failure or answer, took)


def _execute(
    batch: Batch, host: Capabilities, budget: Budget, clock: Callable[[], float], lease: Lease | None, stopped: Callable[[], bool]
) -> Conducted[list[Result]]:
    """Execute a batch, and charge it. Only a batch that certainly did nothing, or may be repeated, is sent again."""
    waiting_until = clock() + BUSY_S if budget.deadline == math.inf else math.inf
    cost, lost, waits = host.cost(batch), 0, 0
    sent = lease.fenced(batch) if lease is not None and batch.writes else batch
    while True:
        timeout = None if budget.deadline == math.inf else max(budget.deadline - clock(), GRACE_S)
        budget.used += cost
        try:
            results: Sequence[Result] = yield Execute(sent, timeout)
        except HostError as error:
            pause = error.retry_after if error.retry_after is not None else BUSY_PAUSE_S
            if error.kind == "busy":
                pause, waits = max(pause, min(pause * 2**waits, LONGEST_BUSY_PAUSE_S)), waits + 1
            again = error.kind == "busy" and error.applied is False and clock() + pause < waiting_until and not stopped()
            if error.kind == "network" and error.retryable and (batch.repeatable or not batch.writes) and lost < len(NETWORK_PAUSES_S):
                # A jitter of half the pause, so that callers who lost the same connection do not come back together.
                pause, again, lost = NETWORK_PAUSES_S[lost] * random.uniform(0.5, 1.5), True, lost + 1
            if not again or clock() + pause >= budget.deadline or budget.used + cost > budget.statements:
                raise
            yield Sleep(pause)
            continue
        for result in results:
            budget.read += result.rows_read or 0
            budget.written += result.rows_written or 0
        return list(results[len(sent.statements) - len(batch.statements) :])

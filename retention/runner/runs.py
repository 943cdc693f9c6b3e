"""`run`, `arun` and `plan`: a policy carried out on a database."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..archive.base import Sink
from ..engine.budget import Budget, Why
from ..engine.prune import Pass, Pruner, because, instant
from ..engine.receipt import Outcome, Receipt, Statements
from ..errors import Fenced, HostError, PolicyError, Refused, RetentionError
from ..hosts.base import AsyncHost, Host
from ..ledger.works import Works, compile_further
from ..plan.model import Plan
from ..plan.planner import check_clock, make_plan
from ..policy.load import from_dict, load, parse
from ..policy.models import Limits, Policy
from ..steps import Batch, Engine, Result, Step
from ..stores.base import CursorStore, MemoryStore
from .conduct import Conducted, Observer, conduct
from .drive import adrive, drive
from .lease import FENCE, Lease
from .opening import aopened, opened
from .pace import Pace
from .sinks import archives_apart, own_files, sinks_of

if TYPE_CHECKING:
    import apsw

__all__ = ["Now", "Session", "arun", "as_policy", "milliseconds", "plan", "run"]

Now = datetime | int | str | None
"""A run's clock: an aware datetime, ms since 1970, `2026-09-09T14:00:00Z`, or None for the real one."""


def run(
    db: str | os.PathLike[str] | apsw.Connection | Host,
    policy: Policy | Mapping[str, Any] | str | os.PathLike[str],
    *,
    store: CursorStore | None = None,
    limits: Limits | Mapping[str, Any] | None = None,
    now: Now = None,
    until_done: bool = False,
    archives: Mapping[str, Sink] | None = None,
    on_step: Observer | Sequence[Observer] = (),
    stop: Callable[[], bool] | None = None,
    plan: Plan | None = None,
) -> Receipt:
    """Carry out a policy once: each rule makes at most one traversal, within the limits.

    Args:
        db: a path, `d1://...`, `libsql://...`, an open apsw connection, or a host. What this call opens it closes.
        policy: a `Policy`, a dictionary of the file's shape, a path to a TOML file, or TOML text.
        store: where the checkpoint lives between runs; None keeps nothing, so that every run begins anew.
        limits: replace the policy's `[limits]`, key by key: `{"statements": 50, "deadline": "10s"}`.
        now: the run's clock.
        until_done: repeat passes until nothing is left to do; statement and row limits hold for each pass, the deadline for the call.
        archives: by rule name, where its rows go before they are deleted; default: JSON lines at the rule's `archive`.
        on_step: called after each step with (step, results or error or None, seconds).
        stop: asked before each page; True ends the run with why `"paused"`.
        plan: what `plan(...)` returned for the same policy and database, to leave planning out.

    Returns:
        the receipt, whatever happened: a refusal is `outcome = "refused"`, a database that failed `"failed"` or `"busy"`.

    Raises:
        PolicyError: the policy, the limits or the database's name are wrong; nothing was read or changed.
        HostError: the database could not be opened.
    """
    session = Session.start(policy, limits, now, archives, on_step, stop)
    with opened(db, session.policy) as host:
        return drive(session.conducted(host, store, until_done, plan), host, store or MemoryStore(), session.sinks)


async def arun(
    db: str | os.PathLike[str] | apsw.Connection | Host | AsyncHost,
    policy: Policy | Mapping[str, Any] | str | os.PathLike[str],
    *,
    store: CursorStore | None = None,
    limits: Limits | Mapping[str, Any] | None = None,
    now: Now = None,
    until_done: bool = False,
    archives: Mapping[str, Sink] | None = None,
    on_step: Observer | Sequence[Observer] = (),
    stop: Callable[[], bool] | None = None,
    plan: Plan | None = None,
) -> Receipt:
    """`run`, awaited. A file is worked on in a thread, one call at a time; remote hosts await the network."""
    session = Session.start(policy, limits, now, archives, on_step, stop)
    async with aopened(db, session.policy) as host:
        return await adrive(session.conducted(host, store, until_done, plan), host, store or MemoryStore(), session.sinks)


def plan(
    db: str | os.PathLike[str] | apsw.Connection | Host,
    policy: Policy | Mapping[str, Any] | str | os.PathLike[str],
    *,
    now: Now = None,
) -> Plan:
    """Compile a policy for a database: what `run` would send, and what it may cost. Nothing is deleted.

    Raises:
        PolicyError, Refused, HostError: see the message.
    """
    session = Session.start(policy, None, now, None, (), None)
    with opened(db, session.policy, readonly=True) as host:
        engine = make_plan(
            session.policy, host.capabilities, session.now_ms, session.clock_ms, sent=_setup(host), compile_further=compile_further
        )
        return drive(conduct(engine, host.capabilities, Budget(), time.monotonic), host, MemoryStore(), {})


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
            checked = checked.model_copy(update={"limits": _limits(checked.limits, limits)})
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
            used=_setup(host),
        )
        counted = Statements(limit=limits.statements)
        lease, capabilities = Lease.of(self.policy.lease), host.capabilities
        if lease is not None:
            capabilities = replace(capabilities, fence=len(lease.fenced(Batch(())).statements))
            budget.statements -= host.capabilities.cost(lease.release())
        receipt = Receipt("failed", "error", instant(self.now_ms), statements=counted)
        works: Works | None = None
        try:
            if plan is None:
                sent = budget.used + (0 if lease is None else host.capabilities.cost(lease.acquire()))
                engine = make_plan(
                    self.policy, capabilities, self.now_ms, self.clock_ms,
                    statements=budget.statements, sent=sent, compile_further=compile_further,
                )  # fmt: skip
                plan = yield from conduct(engine, host.capabilities, budget, clock, self.observers)
                if budget.read >= budget.rows_read:
                    words = f"a limit of {limits.rows_read:,} rows read is too small: planning read {budget.read:,}; allow more than that."
                    raise Refused(words, "policy")
            if lease is not None:
                yield from conduct(_take(lease), host.capabilities, budget, clock, self.observers)
            counted.planning = budget.used
            counted.ceiling = _ceiling(budget.used, plan, limits.statements)
            document = _loaded(store)
            works = Works(plan, self.now_ms, self.skip, self.allow_mass)
            self.pruner = Pruner(
                plan, self.now_ms, budget, document, receipt.rules, receipt.warnings, further=works.further(), turn_key=self.turn_key
            )
            pace = Pace(host, limits.duty, clock)
            observers = [*self.observers, pace.watch, self._watch(host, budget)]
            receipt.passes = 0

            while True:
                before = self.pruner.document
                receipt.passes += 1
                if receipt.passes > 1:
                    budget.deadline = self._deadline(began, clock(), until_done)
                ended = yield from conduct(self.pruner.run_pass(), capabilities, budget, clock, observers, lease, pace.pause, self._stopped)
                receipt.outcome, receipt.why = ended.outcome, ended.why
                if ended.message and ended.message not in receipt.warnings:
                    receipt.warnings.append(ended.message)
                over = self.call_ms is not None and clock() >= began + self.call_ms / 1000
                if over and ended.outcome == "more":
                    receipt.why = "deadline"
                if not until_done or over or not _goes_on(ended, before != self.pruner.document):
                    break
                _charge(counted, budget)
                budget.read = budget.written = 0
            if lease is not None and ended.why != "lease":
                budget.statements = math.inf
                yield from conduct(_give_back(lease), host.capabilities, budget, clock, self.observers)
        except Refused as error:
            _end(receipt, "refused", error.why, str(error))
        except HostError as error:
            why = because(error)
            _end(receipt, "busy" if error.retryable or why == "lease" else "failed", why, str(error))
        if works is not None:
            receipt.sweeps, receipt.closures, receipt.events = works.sweeps(), works.closures(), works.events()
            receipt.warnings += works.remarks()
        _charge(counted, budget)
        for sink in self.sinks.values():
            sink.close()
        receipt.elapsed_s = round(clock() - began, 6)
        return receipt

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


def as_policy(policy: Policy | Mapping[str, Any] | str | os.PathLike[str]) -> Policy:
    """A policy from any form of it. Raises PolicyError."""
    if isinstance(policy, Policy):
        return policy
    if isinstance(policy, Mapping):
        return from_dict(policy)
    if isinstance(policy, str) and ("\n" in policy or "=" in policy):
        return parse(policy)
    return load(Path(policy))


def _limits(base: Limits, given: Limits | Mapping[str, Any]) -> Limits:
    if isinstance(given, Limits):
        return given
    checked = Limits(**given)
    return base.model_copy(update={key: getattr(checked, key) for key in given})


def milliseconds(now: datetime | int | str) -> int:
    """A clock reading as ms since 1970. Raises PolicyError for what is none."""
    if not isinstance(now, (int, str, datetime)) or isinstance(now, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise PolicyError(f"the clock {now!r} is not a time; give a datetime, whole ms since 1970, or text like 2026-09-09T14:00:00Z.")
    if isinstance(now, int):
        return now
    if isinstance(now, str):
        try:
            now = datetime.fromisoformat(now)
        except ValueError:
            raise PolicyError(f"{now!r} is not a time; write it like 2026-09-09T14:00:00Z.") from None
    if now.tzinfo is None:
        now = now.replace(tzinfo=UTC)
    return (now - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


def _setup(host: Host | AsyncHost) -> int:
    """Statements that opening the database took."""
    return int(getattr(host, "setup_statements", 0))

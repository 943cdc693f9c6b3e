"""`run`, `arun` and `plan`: a policy carried out on a database."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..archive.base import Sink
from ..engine.budget import Budget
from ..engine.receipt import Receipt
from ..hosts.base import AsyncHost, Host
from ..ledger.works import compile_further
from ..plan.model import Plan
from ..plan.planner import make_plan
from ..policy.models import Limits, Policy
from ..stores.base import CursorStore, MemoryStore
from .conduct import Observer, conduct
from .drive import adrive, drive
from .given import Now
from .opening import aopened, opened
from .session import Session, setup_statements

if TYPE_CHECKING:
    import apsw

__all__ = ["arun", "plan", "run"]


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
        on_step: called after each step with (step, results or error or None, seconds). A save may then still be under way, beside the next
            read; one that fails ends the run.
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
            session.policy,
            host.capabilities,
            session.now_ms,
            session.clock_ms,
            sent=setup_statements(host),
            compile_further=compile_further,
        )
        return drive(conduct(engine, host.capabilities, Budget(), time.monotonic), host, MemoryStore(), {})

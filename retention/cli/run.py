"""`retention run`."""

from __future__ import annotations

import re
import time
import traceback
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from ..engine.budget import Why
from ..engine.prune import instant
from ..engine.receipt import Receipt
from ..errors import HostError, PolicyError, Refused
from ..hosts import open_host
from ..hosts.base import Host
from ..policy.models import Policy
from ..runner.given import milliseconds
from ..runner.runs import run as carry_out
from ..stores import FileStore, StateLock
from .output import show_receipt, watching
from .signals import asked_to_stop

__all__ = ["given_limits", "one_runner", "run"]

_NOT_POSITIVE = re.compile(r"\s*(-|0+(\.0*)?\s*[a-z]*\s*$)", re.IGNORECASE)


def run(
    db: str,
    policy: Policy,
    state: Path,
    statements: int | None,
    deadline: str | None,
    until_done: bool,
    now: str | None,
    as_json: bool,
    debug: bool,
) -> int:
    """Carry out a policy, one runner at a time. Returns the exit status; what was refused, failed or busy has a receipt too.

    Raises:
        PolicyError: nothing was done, and there is no receipt.
    """
    limits = given_limits(statements, deadline)

    def carry(host: Host, **watched: Any) -> Receipt:
        return carry_out(host, policy, limits=limits, now=now, until_done=until_done, **watched)

    return one_runner(db, policy, state, now, as_json, debug, carry)


def one_runner(db: str, policy: Policy, state: Path, now: str | None, as_json: bool, debug: bool, carry: Callable[..., Receipt]) -> int:
    """Open the database, lock the state, call `carry(host, store=..., on_step=..., stop=...)`, and show its receipt.

    Returns the exit status; what was refused, failed or busy has a receipt too.

    Raises:
        PolicyError: nothing was done, and there is no receipt.
    """
    now_ms = time.time_ns() // 1_000_000 if now is None else milliseconds(now)
    try:
        receipt = _locked(db, policy, state, as_json, carry)
    except (HostError, Refused) as error:
        if debug:
            traceback.print_exc()
        receipt = _receipt_of(error, now_ms)
    show_receipt(receipt, as_json)
    return receipt.exit_status


def given_limits(statements: int | None, deadline: str | None) -> dict[str, Any]:
    """The options as limits. Raises PolicyError for a deadline that is not positive."""
    limits: dict[str, Any] = {}
    if deadline is not None and _NOT_POSITIVE.match(deadline):
        raise PolicyError(f"--deadline {deadline.strip()}: a deadline must be positive, such as 10s.")
    if statements is not None:
        limits["statements"] = statements
    if deadline is not None:
        limits["deadline"] = deadline
    return limits


def _locked(db: str, policy: Policy, state: Path, as_json: bool, carry: Callable[..., Receipt]) -> Receipt:
    with ExitStack() as stack:
        # The database first: where there is none, no lock file is left beside it.
        host = stack.enter_context(closing(open_host(db, foreign_keys=policy.foreign_keys)))
        stack.enter_context(StateLock(state))
        stop = stack.enter_context(asked_to_stop())
        observers = stack.enter_context(watching(policy, as_json))
        return carry(host, store=FileStore(state), on_step=observers, stop=stop)


def _receipt_of(error: HostError | Refused, now_ms: int) -> Receipt:
    """The receipt of a run that ended before it began."""
    now = instant(now_ms)
    if isinstance(error, Refused):
        return Receipt("refused", error.why, now, passes=0, warnings=[str(error)])
    why: Why = "locked" if error.kind == "busy" else "error"
    return Receipt("busy" if error.retryable else "failed", why, now, passes=0, warnings=[str(error)])

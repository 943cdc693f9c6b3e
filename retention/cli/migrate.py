"""`retention migrate`."""

from __future__ import annotations

import traceback
from contextlib import ExitStack, closing
from pathlib import Path

from ..engine.prune import instant
from ..engine.receipt import Receipt
from ..errors import HostError
from ..hosts import open_host
from ..migrations import Migrator
from ..policy.models import Limits, Policy
from ..report.migrations import migration_lines, migration_summary
from ..runner.bound import milliseconds
from ..stores import FileStore, MemoryStore, StateLock
from .ending import complain
from .output import write, write_json
from .run import given_limits
from .signals import asked_to_stop

__all__ = ["migrate"]


def migrate(
    db: str,
    policy: Policy,
    state: Path,
    statements: int | None,
    deadline: str | None,
    dry_run: bool,
    allow_long: bool,
    as_json: bool,
    debug: bool,
) -> int:
    """Bring about what a policy's migrations lack, one runner at a time. Returns the exit status.

    Raises:
        PolicyError: nothing was done, and there is no receipt.
    """
    given = given_limits(statements, deadline)
    limits = policy.limits.model_copy(update={key: getattr(Limits(**given), key) for key in given})
    limited = policy.model_copy(update={"limits": limits})
    try:
        receipt = _carried_out(db, limited, state, dry_run, allow_long)
    except HostError as error:
        if debug:
            traceback.print_exc()
        why = "locked" if error.kind == "busy" else "error"
        now = instant(milliseconds())
        receipt = Receipt("busy" if error.retryable else "failed", why, now, passes=0, warnings=[str(error)])
    if as_json:
        write_json(receipt.to_dict())
    else:
        write("\n".join([*migration_lines(receipt), migration_summary(receipt)]))
    for warning in receipt.warnings:
        complain(warning)
    return receipt.exit_status


def _carried_out(db: str, policy: Policy, state: Path, dry_run: bool, allow_long: bool) -> Receipt:
    if dry_run:
        return Migrator(db, policy, store=MemoryStore(FileStore(state).load())).plan(allow_long=allow_long)
    with ExitStack() as stack:
        # The database first: where there is none, no lock file is left beside it.
        host = stack.enter_context(closing(open_host(db, foreign_keys=policy.foreign_keys)))
        stack.enter_context(StateLock(state))
        stop = stack.enter_context(asked_to_stop())
        return Migrator(host, policy, store=FileStore(state), stop=stop).migrate(allow_long=allow_long)

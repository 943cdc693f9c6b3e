"""Guarded migrations: missing tables, columns, indexes and values of a schema that somebody else owns. See docs/migrations.md.

receipt = Migrator("app.db", "retention.toml").migrate()
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .engine.budget import Budget
from .engine.prune import because, instant
from .engine.receipt import MigrationReceipt, Receipt, Statements
from .errors import HostError, PolicyError, Refused
from .hosts.base import AsyncHost, Host
from .policy.migration_models import AddColumn, CreateTable, Fill, MakeIndex, Migration
from .policy.models import Policy
from .runner.bound import milliseconds
from .runner.conduct import Conducted, Observer, conduct
from .runner.drive import adrive, drive
from .runner.given import as_policy
from .runner.opening import aopened, opened
from .stores.base import CursorStore, MemoryStore
from .upkeep.migrate import Migrations

if TYPE_CHECKING:
    import apsw

__all__ = ["AddColumn", "AsyncMigrator", "CreateTable", "Fill", "MakeIndex", "Migration", "MigrationReceipt", "Migrator"]

PolicyLike = Policy | Mapping[str, Any] | str | os.PathLike[str]


class Migrator:
    """The `[[migrations]]` of a policy, for one database.

    Args:
        db: a path, `d1://...`, `libsql://...`, an open apsw connection, or a host. What a call opens it closes.
        policy: a `Policy`, a dictionary of the file's shape, a path to a TOML file, or TOML text.
        store: where the progress of back-fills lives between calls; None: each call begins them anew, which is safe.
        on_step: called after each step with (step, results or error or None, seconds).
        stop: asked after each step; True ends the call with why `"paused"`.
    """

    def __init__(
        self,
        db: str | os.PathLike[str] | apsw.Connection | Host,
        policy: PolicyLike,
        *,
        store: CursorStore | None = None,
        on_step: Observer | Sequence[Observer] = (),
        stop: Callable[[], bool] | None = None,
    ) -> None:
        self._db, self._store = db, store
        self._call = _Call(_checked(policy), [on_step] if callable(on_step) else list(on_step), stop)

    def plan(self, *, allow_long: bool = False) -> Receipt:
        """What is missing, what would make it, and what stands in the way. Writes nothing.

        Raises:
            PolicyError, HostError: the database is not there or cannot be opened.
        """
        return self._carry_out(dry_run=True, allow_long=allow_long)

    def migrate(self, *, allow_long: bool = False) -> Receipt:
        """Do what is missing, in order.

        Args:
            allow_long: also statements that read more than `index_rows` rows; no deadline stops them.

        Returns:
            the receipt, whatever happened: a refusal is `outcome = "refused"`, and then nothing was written.

        Raises:
            PolicyError, HostError: the database is not there or cannot be opened.
        """
        return self._carry_out(dry_run=False, allow_long=allow_long)

    def _carry_out(self, *, dry_run: bool, allow_long: bool) -> Receipt:
        store = self._store or MemoryStore()
        with opened(self._db, self._call.policy, readonly=dry_run) as host:
            return drive(self._call.conducted(host, store, dry_run, allow_long), host, store, {})


class AsyncMigrator:
    """`Migrator`, awaited: on an asynchronous host, or on anything that `Migrator` takes."""

    def __init__(
        self,
        db: str | os.PathLike[str] | apsw.Connection | Host | AsyncHost,
        policy: PolicyLike,
        *,
        store: CursorStore | None = None,
        on_step: Observer | Sequence[Observer] = (),
        stop: Callable[[], bool] | None = None,
    ) -> None:
        self._db, self._store = db, store
        self._call = _Call(_checked(policy), [on_step] if callable(on_step) else list(on_step), stop)

    async def plan(self, *, allow_long: bool = False) -> Receipt:
        """See `Migrator.plan`."""
        return await self._carry_out(dry_run=True, allow_long=allow_long)

    async def migrate(self, *, allow_long: bool = False) -> Receipt:
        """See `Migrator.migrate`."""
        return await self._carry_out(dry_run=False, allow_long=allow_long)

    async def _carry_out(self, *, dry_run: bool, allow_long: bool) -> Receipt:
        store = self._store or MemoryStore()
        async with aopened(self._db, self._call.policy) as host:
            return await adrive(self._call.conducted(host, store, dry_run, allow_long), host, store, {})


def _checked(policy: PolicyLike) -> Policy:
    checked = as_policy(policy)
    if not checked.migrations:
        raise PolicyError("the policy has no migrations; add a step with [[migrations]]")
    return checked


@dataclass(frozen=True, slots=True)
class _Call:
    """What both faces share."""

    policy: Policy
    observers: list[Observer]
    stop: Callable[[], bool] | None

    def conducted(self, host: Host | AsyncHost, store: CursorStore, dry_run: bool, allow_long: bool) -> Conducted[Receipt]:
        clock, began, now_ms = time.monotonic, time.monotonic(), milliseconds()
        limits = self.policy.limits
        budget = Budget(
            statements=math.inf if limits.statements is None else limits.statements,
            deadline=math.inf if limits.deadline is None else began + limits.deadline / 1000,
            rows_read=math.inf if limits.rows_read is None else limits.rows_read,
            rows_written=math.inf if limits.rows_written is None else limits.rows_written,
            used=int(getattr(host, "setup_statements", 0)),
        )

        def watch(*_: object) -> None:
            if self.stop is not None and self.stop():
                budget.halt = "paused"

        counted = Statements(limit=limits.statements)
        receipt = Receipt("failed", "error", instant(now_ms), statements=counted)
        given, kept = (dry_run, allow_long), (receipt.migrations, receipt.warnings)
        work = Migrations(self.policy, host.capabilities, budget, now_ms, store.load(), *given, *kept)
        try:
            ended = yield from conduct(work.run(), host.capabilities, budget, clock, [*self.observers, watch])
            receipt.outcome, receipt.why, message = ended.outcome, ended.why, ended.message
        except Refused as error:
            receipt.outcome, receipt.why, message = "refused", error.why, str(error)
        except HostError as error:
            receipt.outcome, receipt.why = "busy" if error.retryable else "failed", because(error)
            message = str(error)
        if message is not None:
            receipt.warnings.append(message)
        counted.used = counted.total = budget.used
        receipt.elapsed_s = round(clock() - began, 6)
        return receipt

"""What SQLite itself says of a run: statements, virtual machine steps, and how long each write transaction was held."""

from __future__ import annotations

import time
from typing import Any

import apsw

__all__ = ["Trace"]

_EVENTS = apsw.SQLITE_TRACE_STMT | apsw.SQLITE_TRACE_PROFILE
_BEGIN = ("BEGIN IMMEDIATE", "BEGIN EXCLUSIVE")


class Trace:
    """Listens to a connection (sqlite.org/c3ref/trace_v2.html). Statements inside triggers belong to the statement that fired them.

    Attributes:
        statements: finished.
        vm_steps: in them; deterministic for a version of SQLite, a schema and its rows.
        full_scan_steps: rows stepped over in scans.
        locks: for each write transaction, s from its first statement to the end of its last (or of a lone statement).
        changes: for each of them, rows changed, cascades and triggers included.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection
        self.statements = 0
        self.vm_steps = 0
        self.full_scan_steps = 0
        self.locks: list[float] = []
        self.changes: list[int] = []
        self._began: tuple[float, int] | None = None
        connection.trace_v2(_EVENTS, self._event)

    def _event(self, event: dict[str, Any]) -> None:
        if event["code"] == apsw.SQLITE_TRACE_STMT:
            self._started(event)
        elif event["code"] == apsw.SQLITE_TRACE_PROFILE:
            self._ended(event)

    def _started(self, event: dict[str, Any]) -> None:
        if event.get("trigger") or self._began is not None:
            return
        if not event["readonly"] or str(event["sql"]).upper().startswith(_BEGIN):
            self._began = time.perf_counter(), self._db.total_changes()

    def _ended(self, event: dict[str, Any]) -> None:
        status = event["stmt_status"]
        self.statements += 1
        self.vm_steps += status["SQLITE_STMTSTATUS_VM_STEP"]
        self.full_scan_steps += status["SQLITE_STMTSTATUS_FULLSCAN_STEP"]
        if self._began is not None and not self._db.in_transaction:
            began, changes = self._began
            self._began = None
            self.locks.append(time.perf_counter() - began)
            self.changes.append(event["total_changes"] - changes)

"""What SQLite itself says a statement cost: virtual machine steps, and rows visited by a scan of a whole table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import apsw

from tests.properties.drive import Ran, drive, make

__all__ = ["Cost", "measured"]


@dataclass(frozen=True)
class Cost:
    """One statement's meters."""

    sql: str
    steps: int
    scanned: int


def measured(con: apsw.Connection, policy: dict[str, Any], now_ms: int, passes: int = 20) -> tuple[Ran, list[Cost]]:
    """Run the policy to its end; the costs of all statements that it sent, planning not included."""
    plan = make(con, policy, now_ms)
    costs: list[Cost] = []

    def profiled(event: dict[str, Any]) -> None:
        status = event["stmt_status"]
        costs.append(Cost(event["sql"], status["SQLITE_STMTSTATUS_VM_STEP"], status["SQLITE_STMTSTATUS_FULLSCAN_STEP"]))

    con.trace_v2(apsw.SQLITE_TRACE_PROFILE, profiled)
    try:
        return drive(con, plan, now_ms, passes=passes), costs
    finally:
        con.trace_v2(0, None)

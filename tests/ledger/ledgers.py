"""A ledger with work in every state, for tests of sweeps and closures."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

import apsw

from tests.ledger.databases import NOW

MINUTE, DAY = 60_000, 86_400_000
POLICY = (files("retention.presets") / "ledger" / "policy.toml").read_text()
SCHEMA = (files("retention.presets") / "ledger" / "schema.sql").read_text()


def text(ms: int) -> str:
    """An instant as the ledger's DATETIME columns hold it."""
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")


def live_slots() -> Iterable[tuple[Any, ...]]:
    """(id, status, created_at, started_at, heartbeat_at, lease_until): 40 queued too long, 25 stalled, 10 with a heartbeat, 5 unreadable,
    920 in good health."""
    begun = (text(NOW - 90 * MINUTE), text(NOW - 80 * MINUTE))
    yield from ((f"queued-{i}", "pending", text(NOW - 31 * MINUTE), None, None, None) for i in range(40))
    yield from ((f"stalled-{i}", "running", *begun, NOW - 16 * MINUTE, NOW - 1) for i in range(25))
    yield from ((f"beating-{i}", "running", *begun, NOW - MINUTE, NOW - 1) for i in range(10))
    yield from ((f"odd-{i}", "pending", "soon", None, None, None) for i in range(5))
    yield from ((f"fresh-{i}", "pending", text(NOW - 5 * MINUTE), None, None, None) for i in range(460))
    yield from ((f"leased-{i}", "running", *begun, NOW - 16 * MINUTE, NOW + 3 * MINUTE) for i in range(460))


def ledger(finished: int, path: str = "") -> apsw.Connection:
    """The preset's tables with 1,000 live slots of two cells each, and so many that finished."""
    con = apsw.Connection(path)
    con.execute(SCHEMA)
    with con:
        con.execute(
            "WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < ?) INSERT INTO schedule_slots "
            "(id, schedule_id, status, created_at, completed_at) SELECT 'done-' || v, 'plan', 'success', ?, ? FROM n WHERE ? > 0",
            (finished, text(NOW - 3 * DAY), text(NOW - 2 * DAY), finished),
        )
        con.executemany(
            "INSERT INTO schedule_slots (id, schedule_id, status, created_at, started_at, heartbeat_at, lease_until) "
            "VALUES (?1, 'plan', ?2, ?3, ?4, ?5, ?6)",
            live_slots(),
        )
        # Every fifth stalled slot has one cell that was delivered.
        live = "FROM schedule_slots WHERE status IN ('pending', 'running')"
        con.execute(
            "INSERT INTO schedule_slot_items (slot_id, target_id, status) "
            f"SELECT id, 'a', iif(id GLOB 'stalled-*[05]', 'submitted', 'selected') {live} UNION ALL SELECT id, 'b', 'pending' {live}"
        )
    return con

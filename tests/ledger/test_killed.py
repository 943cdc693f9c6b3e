"""A process that sweeps and closes, killed again and again: no unit is half gone, no row half ended, and the rest is done in the end."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import apsw

from tests.ledger.ledgers import ledger

KILLS = 5

HALVES = (
    "SELECT 'cell', id FROM schedule_slot_items WHERE slot_id NOT IN (SELECT id FROM schedule_slots) "
    "UNION ALL SELECT 'event', id FROM delivery_events WHERE slot_id NOT IN (SELECT id FROM schedule_slots) "
    "UNION ALL SELECT 'robbed', id FROM schedule_slots AS s WHERE status = 'success' "
    "AND NOT EXISTS (SELECT 1 FROM schedule_slot_items WHERE slot_id = s.id) "
    "UNION ALL SELECT 'untold', id FROM schedule_slots AS s WHERE last_error IS NOT NULL "
    "AND NOT EXISTS (SELECT 1 FROM delivery_events WHERE slot_id = s.id AND event = 'job.outcome_expired') "
    "UNION ALL SELECT 'open', id FROM schedule_slot_items WHERE terminal_reason_code IS NULL AND status IN ('pending', 'selected') "
    "AND slot_id IN (SELECT id FROM schedule_slots WHERE last_error IS NOT NULL)"
)


def test_a_killed_process_leaves_nothing_half(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    con = ledger(6_000, str(path))
    con.pragma("journal_mode", "wal")
    con.execute("UPDATE schedule_slots SET completed_at = '2025-01-01 00:00:00' WHERE status = 'success'")
    done = "FROM schedule_slots WHERE status = 'success'"
    con.execute(f"INSERT INTO schedule_slot_items (slot_id, target_id, status) SELECT id, 'a', 'submitted' {done}")
    con.execute(f"INSERT INTO delivery_events (ts, slot_id, event) SELECT 1, id, 'execution.summary' {done}")
    command = [sys.executable, "-m", "retention", "run", str(path), "--preset", "ledger", "--now", "2026-09-09T14:00:00Z", "--until-done"]
    for _ in range(KILLS):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # The kill comes once there is work done since the last one, whenever that is.
        before = slots(con)
        while process.poll() is None and slots(con) == before:
            time.sleep(0.002)
        process.kill()
        process.wait()
        assert con.execute(HALVES).fetchall() == []
    assert subprocess.run(command, stdout=subprocess.DEVNULL, timeout=60).returncode == 0
    assert con.execute(HALVES).fetchall() == []
    assert slots(con) == (0, 65)
    assert con.pragma("integrity_check") == "ok"


def slots(con: apsw.Connection) -> tuple[int, int]:
    """Units that are still there, and rows that were ended."""
    counts = "SELECT count(*) FILTER (WHERE status = 'success'), count(*) FILTER (WHERE last_error IS NOT NULL) FROM schedule_slots"
    return next(iter(con.execute(counts)))  # type: ignore[return-value]

"""Two processes that append, ack, sweep and close on one database: a WAL file and D1. `SOAK_SECONDS=20` makes them go on for longer."""

from __future__ import annotations

import os
from pathlib import Path

import apsw
import pytest

from tests.ledger.databases import Database
from tests.ledger.job_workers import run
from tests.ledger.log_workers import connect as connect_to


@pytest.fixture(params=["wal", "d1"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    if request.param == "d1":
        database = request.getfixturevalue("d1_server").fresh()
        return {"id": database.id, "url": database.url, "token": database.token}
    path = str(tmp_path / "shared.db")
    connection = apsw.Connection(path)
    connection.pragma("journal_mode", request.param)
    connection.execute("CREATE TABLE made_to_exist (a)")
    connection.close()
    return {"path": path}


@pytest.fixture
def connect(address: dict[str, str]) -> object:
    return lambda: connect_to(address)


def test_no_healthy_work_ends_and_nothing_is_left_half(jobs: Database, address: dict[str, str]) -> None:
    jobs.script("CREATE INDEX live_pending ON schedule_slots (id) WHERE status = 'pending'")
    seen = run(address, seconds=float(os.environ.get("SOAK_SECONDS", "5")))
    assert [fault for one in seen for fault in one["faults"]] == []
    assert all(sum(one[what] for one in seen) > 0 for what in ("ended", "closed", "finished")), seen
    twice = "SELECT slot_id, event FROM delivery_events WHERE event <> 'job.progressed' GROUP BY 1, 2 HAVING count(*) > 1"
    assert jobs.rows(twice) == []
    assert jobs.rows("SELECT slot_id FROM schedule_slot_items WHERE slot_id NOT IN (SELECT id FROM schedule_slots)") == []
    ended = "SELECT id FROM schedule_slots WHERE last_error IS NOT NULL"
    assert jobs.rows(f"SELECT slot_id FROM schedule_slot_items WHERE status = 'pending' AND slot_id IN ({ended})") == []
    assert jobs.rows(f"{ended} AND id NOT IN (SELECT slot_id FROM delivery_events WHERE event = 'job.outcome_expired')") == []

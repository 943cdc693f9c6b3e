"""Four processes on one database, on a file and on D1. `SOAK_SECONDS=20` makes them go on for longer."""

from __future__ import annotations

import os
from collections import Counter
from itertools import pairwise
from pathlib import Path

import apsw
import pytest

from tests.ledger.databases import JOBS, Database
from tests.ledger.log_workers import connect as connect_to
from tests.ledger.log_workers import run
from tests.ledger.relay import agent, status, workspace


@pytest.fixture(params=["wal", "delete", "d1"])
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


def test_events_once_in_order_and_cursors_forward(jobs: Database, address: dict[str, str], request: pytest.FixtureRequest) -> None:
    """For 5 s on a file with a write-ahead log and on D1; shorter where every commit waits for the disk."""
    shortest = 1.0 if request.node.callspec.params["address"] == "delete" else 5.0
    seen = run("log", address, seconds=float(os.environ.get("SOAK_SECONDS", shortest)))
    assert [fault for one in seen for fault in one["faults"]] == []
    inserted = Counter((stream, kind) for one in seen for stream, kind in one["inserted"])
    assert set(inserted.values()) == {1}
    once = jobs.rows("SELECT slot_id, event, count(*) FROM delivery_events WHERE event IN (SELECT value FROM json_each(?1)) GROUP BY 1, 2",
                     '["' + '","'.join(JOBS.once) + '"]')  # fmt: skip
    assert {(stream, kind): count for stream, kind, count in once} == inserted
    rows = jobs.rows("SELECT slot_id, ts FROM delivery_events ORDER BY slot_id, id")
    assert [(a, b) for a, b in pairwise(rows) if a[0] == b[0] and a[1] > b[1]] == []
    callbacks = jobs.value("SELECT count(*) FROM outbox")
    asked = jobs.value("SELECT count(*) FROM delivery_events AS e WHERE e.event IN (SELECT value FROM json_each(?1)) AND EXISTS "
                       "(SELECT 1 FROM delivery_events AS s WHERE s.slot_id = e.slot_id AND s.event = 'job.requested' AND s.id <= e.id)",
                       '["' + '","'.join(k for k in JOBS.once if k in (JOBS.public or {})) + '"]')  # fmt: skip
    assert callbacks == asked


def test_one_winner_for_each_claim(relay: Database, address: dict[str, str]) -> None:
    """SE-9, SE-12, SE-13, SE-17, SE-18 and WB-10 with real writers beside each other."""
    workspace(relay)
    agent(relay, status="starting")
    seen = run("claims", address)
    turns = set().union(*(one["ids"] for one in seen))
    for turn in turns:
        assert len({one["ids"][turn] for one in seen if turn in one["ids"]}) == 1
        assert len({tuple(one["secrets"][turn]) for one in seen if turn in one["secrets"]}) == 1
    claimed, mutated = ([event for one in seen for event in one[what]] for what in ("claimed", "mutated"))
    assert sorted(claimed) == sorted(id for (id,) in relay.rows("SELECT id FROM session_events"))
    assert len(mutated) == len(set(mutated))
    newest, kind = relay.rows("SELECT id, type FROM session_events ORDER BY sequence DESC LIMIT 1")[0]
    assert newest in mutated
    assert status(relay) == kind.removeprefix("status.")
    assert relay.rows("SELECT count(*), max(sequence) FROM session_events") == [(len(turns), len(turns))]
    assert sorted(turn for one in seen for turn in one["created"]) == sorted(map(int, turns))
    assert relay.value("SELECT count(*) FROM channels") == len(turns)

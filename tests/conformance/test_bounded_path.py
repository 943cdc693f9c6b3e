"""The bounded path's catalogue: rows, fairness and restart, through the indexes that it walked.

Its cursor text and its expression index are its own.
"""

from __future__ import annotations

from typing import Any

import apsw
import pytest

import retention
from retention.errors import PolicyError
from retention.steps import Save

from .calls import IDS, MODES, Calls, Mode, relay, scanned
from .relay import NOW, Keeps, database, deliveries, delivery, event, policy, rows_left, workspace

both = pytest.mark.parametrize("mode", MODES, ids=IDS)


@pytest.fixture
def db() -> apsw.Connection:
    return database()


def only(rules: dict[str, Any], name: str, **changed: Any) -> dict[str, Any]:
    """The policy with one rule, changed."""
    return rules | {"rules": [r | changed for r in rules["rules"] if r["name"] == name]}


@both
@pytest.mark.parametrize("document", ["{broken", "null", {"next": 99}, []], ids=["bd_1", "bd_2", "bd_3", "bd_4"])
def test_bd_1_to_4_what_cannot_be_read_restarts_and_says_so(db: apsw.Connection, mode: Mode, document: Any) -> None:
    workspace(db)
    delivery(db, 110)
    store = retention.MemoryStore(document)
    receipt = retention.run(db, relay(mode=mode), store=store, now=NOW)
    assert receipt.deleted == 1
    assert any("checkpoint is not valid" in w for w in receipt.warnings)
    assert store.document == {"version": 1, "next": 0, "tables": {}}


@pytest.mark.parametrize("keeps", [Keeps(messages=30), Keeps(None, None, None, None)], ids=["on", "off"])
def test_bd_5_a_clock_that_is_no_time(db: apsw.Connection, keeps: Keeps) -> None:
    """The original minds only where some keep is finite. Here the clock is looked at before the keeps are."""
    store = retention.MemoryStore()
    with pytest.raises(PolicyError, match="is not a time"):
        retention.run(db, policy(keeps), store=store, now=float("nan"))  # type: ignore[arg-type]
    assert store.saves == 0


@both
def test_bd_6_kept_history_is_passed_a_page_a_call(db: apsw.Connection, mode: Mode) -> None:
    workspace(db, retention='{"delivery_ttl_days": null}')
    deliveries(db, 2000, 1000)
    first = db.execute("SELECT min(id) FROM deliveries").get
    settled = {"index": "idx_deliveries_settled_retention"}
    calls = Calls(db, only(relay(mode=mode, page=10), "deliveries", walk=settled))
    for page in (1, 2):
        done = calls.call()
        assert (done.deleted, len(done.deletes), len(done.reads)) == (0, 0, 1)
        assert calls.document["tables"]["deliveries"]["cursor"][1] == f"d{int(first[1:]) + 10 * page - 1:010}"
        assert not scanned(db, done.statements)


@both
def test_bd_7_one_event_in_each_workspace(db: apsw.Connection, mode: Mode) -> None:
    for number in range(250):
        event(db, 1, 110, f"ws{number:03}")
    for seq in (1, 2):
        event(db, seq, 110, "z-target")
    index = {"index": "idx_workspace_events_retention"}
    calls = Calls(db, only(relay(mode=mode, page=50), "workspace_events", walk=index))
    assert sum(calls.call().deleted for _ in range(6)) == 1
    left = rows_left(db)["workspace_events"]
    assert len(left) == 251
    assert {seq for ws, seq in left if ws == "z-target"} == {2}


@both
def test_bd_8_rows_above_the_high_water_wait(db: apsw.Connection, mode: Mode) -> None:
    workspace(db)
    for _ in range(4):
        delivery(db, 1)
    calls = Calls(db, only(relay(mode=mode), "deliveries"))
    calls.call()
    assert calls.entry("deliveries") == {"cursor": 2, "high": 4}
    delivery(db, 1)
    calls.call()
    assert calls.entry("deliveries") == {}
    calls.call()
    assert calls.entry("deliveries") == {"cursor": 2, "high": 5}


@both
def test_bd_9_a_slow_store_takes_one_page_a_call(db: apsw.Connection, mode: Mode) -> None:
    calls = Calls(db, relay(mode=mode))
    done = calls.call(takes=lambda step: 0.002 if isinstance(step, Save) else 0.0, deadline=0.001)
    assert calls.document["next"] == 1
    assert len(done.statements) == 1
    assert [r.finished for r in done.rules.values()] == [True, False, False, False, False]

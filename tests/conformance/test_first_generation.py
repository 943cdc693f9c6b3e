"""The first generation's catalogue, call by call. Which rows are left in the end: `catalogue.py`."""

from __future__ import annotations

import apsw
import pytest

from .calls import IDS, MODES, Calls, Mode, relay
from .catalogue import CASES, THIRTY, _file
from .relay import Keeps, database, delivery, log, message, receipt, rows_left, workspace

both = pytest.mark.parametrize("mode", MODES, ids=IDS)
COUNTS = {
    "RT-1": {}, "RT-2": {"deliveries": 1, "message_logs": 1}, "RT-3": {"messages": 1}, "RT-5": {},
    "RT-8": {"deliveries": 2}, "RT-9": {"deliveries": 1, "message_logs": 1}, "RT-10": {"read_receipts": 1},
}  # fmt: skip
"""Rows that one call counts as deleted, by rule."""


@pytest.fixture
def db() -> apsw.Connection:
    db = database()
    workspace(db)
    return db


@both
@pytest.mark.parametrize("id", COUNTS)
def test_rt_counts_of_one_call(mode: Mode, id: str) -> None:
    case = next(c for c in CASES if c.id == id)
    db, left = case.database()
    done = Calls(db, relay(case.keeps or Keeps(), mode, page=200)).call()
    assert {name: r.deleted for name, r in done.rules.items() if r.deleted} == COUNTS[id]
    assert rows_left(db, tuple(left)) == left


@both
def test_rt_4_the_message_is_counted_and_its_children_beside_it(db: apsw.Connection, mode: Mode) -> None:
    old = message(db, 40)
    receipt(db, old)
    log(db, 1, of=old)
    delivery(db, 1, "delivered", of=old)
    db.execute("INSERT INTO reactions (id, message_id, agent_id, emoji) VALUES ('r', ?, 'ag_ws', '+1')", (old,))
    _file(db, "ag_ws")
    db.execute("INSERT INTO message_attachments (message_id, file_id) VALUES (?, 'f')", (old,))
    done = Calls(db, relay(THIRTY, mode)).call()
    assert done.deleted == 1
    children = ("deliveries", "message_logs", "reactions", "read_receipts", "message_attachments")
    assert {t: (done.rules["messages"].cascaded or {})[t] for t in children} == dict.fromkeys(children, 1)
    assert all(db.execute(f"SELECT count(*) FROM {t}").get == 0 for t in children)


@both
def test_rt_6_a_reply_and_then_its_parent(db: apsw.Connection, mode: Mode) -> None:
    message(db, 45, thread=message(db, 50))
    calls = Calls(db, relay(THIRTY, mode))
    assert [calls.call().deleted for _ in range(3)] == [1, 1, 0]


@both
def test_rt_7_pages_times_rows_bound_a_call(db: apsw.Connection, mode: Mode) -> None:
    for _ in range(5):
        message(db, 40)
    assert Calls(db, relay(THIRTY, mode, page=2, pages=1)).call().deleted == 2
    assert Calls(db, relay(THIRTY, mode, page=2, pages=5)).call().deleted == 3

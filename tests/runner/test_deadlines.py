"""The policy's deadline is for a pass, the call's for all of it."""

from __future__ import annotations

import time
from typing import Any

import apsw
import pytest

import retention
from retention.runner.session import Session

POLICY: dict[str, Any] = {
    "version": 1,
    "limits": {"deadline": "10s"},
    "rules": [{"table": "e", "keep": "30d", "age": {"column": "at", "format": "unix_s"}}],
}


@pytest.mark.parametrize(
    ("given", "until_done", "first", "later"),
    [
        (None, False, 110.0, None),
        (None, True, 110.0, 150.0),
        ({"deadline": "30s"}, False, 130.0, None),
        ({"deadline": "30s"}, True, 110.0, 130.0),
        ({"deadline": "2s"}, True, 102.0, 102.0),
        ({"statements": 50}, True, 110.0, 150.0),
    ],
)
def test_when_a_pass_must_end(given: Any, until_done: bool, first: float, later: float | None) -> None:
    session = Session.start(POLICY, given, 0, None, (), None)
    assert session._deadline(100.0, 100.0, until_done) == first
    if later is not None:
        assert session._deadline(100.0, 140.0, until_done) == later


def test_a_deadline_that_planning_uses_up_lets_one_page_through() -> None:
    con = apsw.Connection("")
    con.execute("CREATE TABLE e (id INTEGER PRIMARY KEY, at INTEGER)")
    con.executemany("INSERT INTO e VALUES (?, ?)", [(n, 1_700_000_000 + n) for n in range(30)])
    policy = POLICY | {"rules": [POLICY["rules"][0] | {"page_rows": 10}]}
    store = retention.MemoryStore()
    left: list[int] = []
    for _ in range(4):
        # Each step takes longer than the deadline, planning's too.
        receipt = retention.run(
            con, policy, store=store, now="2026-01-01T00:00:00Z", limits={"deadline": "1ms"}, on_step=lambda *_: time.sleep(0.002)
        )
        left.append(con.execute("SELECT count(*) FROM e").get)
    assert left == [20, 10, 0, 0]
    assert receipt.outcome == "done"

"""A remote host's clock and ours are compared once a run, and the cutoff is a value: neither clock alone can make rows old."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

import retention
from tests.d1.fixtures import Servers, d1_server
from tests.places import Place, opened

__all__ = ["d1_server"]

DAY = 86_400
POLICY: dict[str, Any] = {
    "version": 1,
    "rules": [{"table": "t", "keep": "30d", "age": {"column": "at", "format": "unix_s"}, "page_rows": 5}],
}


@pytest.fixture(scope="module", params=["d1", "libsql"])
def place(request: pytest.FixtureRequest, d1_server: Servers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with opened(request.param, d1_server, tmp_path_factory.mktemp("place")) as found:
        yield found


@pytest.fixture
def table(place: Place) -> Place:
    """Ten rows of 40 days and ten of 20."""
    now = int(time.time())
    place.empty()
    rows = ", ".join(f"({now - days * DAY})" for days in (40, 20) for _ in range(10))
    place.setup(("CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER)", f"INSERT INTO t (at) VALUES {rows}"))
    place.empty_log()
    return place


def left(place: Place) -> int:
    return place.beside.execute("SELECT count(*) FROM t").fetchall()[0][0]


@pytest.mark.parametrize("days", [-365, -1 / 24, 1 / 24, 365])
def test_clocks_that_differ_end_the_run_before_anything_is_read(table: Place, days: float, monkeypatch: pytest.MonkeyPatch) -> None:
    right = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: right() + int(days * DAY * 1e9))
    receipt = retention.run(table.host, POLICY)
    assert (receipt.outcome, receipt.why, receipt.exit_status) == ("refused", "guard", 4)
    assert "clock and ours differ by" in receipt.warnings[-1]
    assert receipt.statements.used == 1
    assert left(table) == 20
    with pytest.raises(retention.Refused, match="clock and ours differ by"):
        retention.plan(table.host, POLICY)


@pytest.mark.parametrize("seconds", [-30, 0, 30])
def test_clocks_that_agree_are_compared_once_and_never_asked_again(table: Place, seconds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    right = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: right() + seconds * 1_000_000_000)
    receipt = retention.run(table.host, POLICY, until_done=True)
    assert (receipt.outcome, receipt.deleted, left(table)) == ("done", 10, 10)
    if table.log is not None:
        asks = [sql for sql in table.log() if "unixepoch" in sql.lower() or "now" in sql.lower().replace("known", "")]
        assert asks == ["SELECT unixepoch()"]


def test_a_time_that_is_given_is_not_compared(table: Place) -> None:
    receipt = retention.run(table.host, POLICY, now=time.time_ns() // 1_000_000 - 300 * DAY * 1000)
    assert (receipt.outcome, receipt.deleted) == ("done", 0), receipt
    receipt = retention.run(table.host, POLICY, now=time.time_ns() // 1_000_000 + 300 * DAY * 1000)
    assert (receipt.deleted, left(table)) == (20, 0)

"""A run rests between its writes: by its policy's duty, as its host asks, and never past its deadline."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import apsw
import pytest

import retention
from retention.capabilities import Capabilities
from retention.engine.budget import Budget
from retention.errors import HostError
from retention.hosts.sqlite import SQLite
from retention.runner import drive as driver
from retention.runner.conduct import Execute, Sleep, conduct
from retention.runner.pace import Pace
from retention.steps import Batch, Result, Statement

WRITE = Batch((Statement("DELETE FROM t"),), writes=True)


@pytest.mark.parametrize(("duty", "rest"), [(1.0, 0.0), (0.5, 0.02), (0.1, 0.18)])
@pytest.mark.parametrize("answer", [[Result((), seconds=0.02)], HostError("no", seconds=0.02)], ids=["written", "failed"])
def test_a_write_is_followed_by_a_rest_in_proportion(duty: float, rest: float, answer: Any) -> None:
    now = [100.0]
    pace = Pace(SimpleNamespace(), duty, lambda: now[0])
    pace.watch(Batch(WRITE.statements), [Result((), seconds=9.0)], 9.0)
    assert pace.pause() == 0.0, "a read needs none"
    pace.watch(WRITE, answer, 0.02)
    assert pace.pause() == pytest.approx(rest)
    now[0] += rest / 2
    assert pace.pause() == pytest.approx(rest / 2), "what passes in between counts"


@pytest.mark.parametrize("later", [False, True], ids=["within the write", "behind it"])
@pytest.mark.parametrize(("duty", "rest"), [(1.0, 0.0), (0.5, 0.08), (0.25, 0.24)])
def test_the_disk_counts_as_part_of_the_write(duty: float, rest: float, later: bool) -> None:
    now, host = [100.0], SimpleNamespace(settled_seconds=7.0)
    pace = Pace(host, duty, lambda: now[0])
    assert pace.pause() == 0.0
    for _ in range(2):
        if later:
            pace.watch(WRITE, [Result((), seconds=0.02)], 0.02)
        now[0] += 0.06
        host.settled_seconds += 0.06
        if not later:
            pace.watch(WRITE, [Result((), seconds=0.02)], 0.08)
        assert pace.pause() == pytest.approx(rest)
        now[0] += rest
        assert pace.pause() == pytest.approx(0.0, abs=1e-9)


def test_the_longer_of_two_rests_is_kept() -> None:
    pace = Pace(SimpleNamespace(pause=0.03), 0.5, lambda: 0.0)
    pace.watch(WRITE, [Result((), seconds=0.02)], 0.02)
    assert pace.pause() == 0.03


def test_no_rest_goes_past_the_deadline() -> None:
    def engine() -> Any:
        yield WRITE

    conducted = conduct(engine(), Capabilities(), Budget(deadline=107.0), lambda: 100.0, pause=lambda: 60.0)
    assert conducted.send(None) == Sleep(7.0)
    assert isinstance(conducted.send(None), Execute)


def test_a_run_keeps_to_its_duty(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(driver.time, "sleep", slept.append)
    con = apsw.Connection("")
    con.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER)")
    con.executemany("INSERT INTO t VALUES (?, 1)", [(n,) for n in range(5_000)])
    rules = {"version": 1, "limits": {"duty": 0.01}, "rules": [{"table": "t", "keep": "1d", "age": {"column": "at", "format": "unix_s"}}]}
    rules["rules"][0] |= {"plausible": False}  # type: ignore[index]
    with SQLite(con) as host:
        receipt = retention.run(host, rules, now="2026-01-01T00:00:00Z")
    assert receipt.rules[0].deleted == 5_000
    assert len(slept) == receipt.rules[0].pages - 1
    assert min(slept) > 0

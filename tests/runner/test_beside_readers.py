"""A rollback-journal file beside someone who reads for seconds: our run waits without keeping others out, and goes on.

But for the last test time is a clock that only sleeping moves, so every wait is known to the millisecond; files and locks are real.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

import retention
from bench import ours
from bench.data import NOW as BENCH_NOW
from bench.data import Job, build, copy, eligible
from bench.steady import Beside, neighbour
from retention.hosts.sqlite_locks import HELD_SECONDS
from retention.runner.conduct import BUSY_S, LONGEST_BUSY_PAUSE_S

NOW = 1_788_962_400_000
RULE: dict[str, Any] = {"table": "t", "keep": "30d", "age": {"column": "at", "format": "unix_s"}}
WRITES = pytest.mark.parametrize("rule", [RULE, RULE | {"children": "drain"}], ids=["a statement", "a transaction"])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    con = apsw.Connection(str(tmp_path / "x.db"))
    con.execute(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER); CREATE TABLE c (t INTEGER REFERENCES t (id)); CREATE INDEX c_t ON c (t);"
        "INSERT INTO t WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50) SELECT i, 1000000000 FROM n;"
    )
    con.close()
    return tmp_path / "x.db"


class Watched:
    """A reader that stays until `leaves` (s), and a look, each time that we sleep, whether a new reader is let in.

    Attributes:
        elapsed: s since the run began.
        out: spans (s) for which a new reader was kept out. in_: spans between them.
    """

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch, leaves: float) -> None:
        self.elapsed, self.out, self.in_ = 0.0, list[float](), list[float]()
        self._leaves, self._was_out, self._since = leaves, False, 0.0
        self._fresh = apsw.Connection(str(path))
        self._reader = apsw.Connection(str(path))
        self._reader.execute("BEGIN; SELECT count(*) FROM t").fetchall()
        monkeypatch.setattr(time, "sleep", self._sleep)
        monkeypatch.setattr(time, "monotonic", lambda: 1000.0 + self.elapsed)

    def _sleep(self, seconds: float) -> None:
        try:
            self._fresh.execute("SELECT count(*) FROM t").fetchall()
            out = False
        except apsw.BusyError:
            out = True
        if out != self._was_out:
            (self.out if self._was_out else self.in_).append(self.elapsed - self._since)
            self._was_out, self._since = out, self.elapsed
        self.elapsed += max(seconds, 1e-4)
        if self.elapsed >= self._leaves and self._reader.in_transaction:
            self._reader.execute("COMMIT")

    def close(self) -> None:
        self._reader.close()
        self._fresh.close()


def run(path: Path, rule: dict[str, Any], deadline: str | None = None, stop: Callable[[], bool] | None = None) -> retention.Receipt:
    limits = {} if deadline is None else {"deadline": deadline}
    return retention.run(path, {"version": 1, "rules": [rule]}, now=NOW, limits=limits, stop=stop)


def rows(path: Path, table: str = "deliveries") -> int:
    con = apsw.Connection(str(path))
    try:
        return con.execute(f"SELECT count(*) FROM {table}").get
    finally:
        con.close()


@WRITES
def test_a_run_goes_on_when_the_reader_has_left(path: Path, rule: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    beside = Watched(path, monkeypatch, leaves=8.0)
    receipt = run(path, rule, "10s")
    beside.close()
    assert (receipt.outcome, receipt.rules[0].deleted, rows(path, "t")) == ("done", 50, 0)
    assert 8.0 <= beside.elapsed <= 8.0 + LONGEST_BUSY_PAUSE_S + 2 * HELD_SECONDS


@WRITES
def test_new_readers_are_let_in_nearly_always(path: Path, rule: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside a reader of 3 s: kept out for 25 ms at a time, then let in for longer and longer."""
    beside = Watched(path, monkeypatch, leaves=3.0)
    assert run(path, rule, "10s").outcome == "done"
    beside.close()
    assert len(beside.out) >= 10, "the test must have met the lock"
    assert max(beside.out) <= HELD_SECONDS + 1e-6
    assert min(beside.in_[1:]) >= 2 * HELD_SECONDS - 1e-6
    assert sum(beside.out) <= 0.15 * beside.elapsed


@WRITES
@pytest.mark.parametrize(("deadline", "most"), [("6s", 6.0), ("20s", 20.0), (None, BUSY_S)])
def test_a_reader_that_stays_ends_the_run_busy(
    path: Path, rule: dict[str, Any], deadline: str | None, most: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = Watched(path, monkeypatch, leaves=3600.0)
    receipt = run(path, rule, deadline)
    beside.close()
    assert (receipt.outcome, receipt.why, receipt.exit_status) == ("busy", "locked", 75)
    assert most - LONGEST_BUSY_PAUSE_S - HELD_SECONDS <= beside.elapsed <= most + HELD_SECONDS
    assert receipt.statements.used <= 20 + 8 * 3 * most, "each attempt counts, so there are few"
    assert rows(path, "t") == 50


def test_a_stop_ends_the_wait(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    beside = Watched(path, monkeypatch, leaves=3600.0)
    receipt = run(path, RULE, "1h", stop=lambda: beside.elapsed > 2.0)
    beside.close()
    assert (receipt.outcome, receipt.why) == ("busy", "locked")
    assert beside.elapsed <= 2.0 + LONGEST_BUSY_PAUSE_S + 2 * HELD_SECONDS


def test_beside_real_processes_everyone_gets_on(tmp_path: Path) -> None:
    """One reads for seconds at a time, one commits a row now and then, and we delete: all of them are served, nothing is lost."""
    job = Job(3_000, journal="delete")
    path = copy(build(job, tmp_path), tmp_path / "x.db")
    due, before = eligible(job, path), rows(path)
    long, small = Beside(), Beside()
    with neighbour(path, "hold", long, whole=True), neighbour(path, "trickle", small, whole=True):
        receipt = retention.run(path, ours.policy(job), now=ours.instant(BENCH_NOW), limits={"deadline": "60s"})
    assert (receipt.outcome, receipt.rules[0].deleted) == ("done", due)
    assert small.taken
    assert rows(path) == before - due + len(small.taken)
    assert apsw.Connection(str(path)).execute("PRAGMA integrity_check").get == "ok"

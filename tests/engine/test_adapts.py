"""Page sizes follow what rows cost and how they lie: no write is long or large, and all together cost little more than one bare DELETE.

The clock is SQLite's own count of pages written and read and of rows changed, so that it tells the same on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import retention
from bench import ours
from bench.data import NOW, Job
from bench.wide import KINDS, fill
from retention.errors import HostError
from retention.hosts.sqlite import SQLite
from retention.steps import Batch, Result, Step
from tests.properties.drive import drive, make

OLD = NOW - 400 * 86_400
TARGET_S, LONGEST_S = 0.025, 0.15
"""aim for a write; the longest that another process should wait"""
ROWS = {"plain": 20_000, "wide": 10_000, "blobs": 3_000, "indexes": 10_000, "fts": 5_000}
"""rows of each kind, so that it takes more than one write"""
PAGE_S, ROW_S, COMMIT_S = 10e-6, 1e-6, 0.5e-3
"""a page of 4 KB written or read at 400 MB/s; a changed row; a sync"""

COUNTERS = (apsw.SQLITE_DBSTATUS_CACHE_WRITE, apsw.SQLITE_DBSTATUS_CACHE_MISS)


class Counted(SQLite):
    """A file whose time is what SQLite counted. `writes` are (s, rows) of each batch that wrote, `seconds` all of it."""

    def __init__(self, connection: apsw.Connection, slower: float = 1.0) -> None:
        super().__init__(connection)
        connection.pragma("cache_size", -16_384)
        self.db, self.slower = connection, slower
        self.writes: list[tuple[float, int]] = []
        self.seconds = 0.0

    def spent(self) -> float:
        """Seconds since the opening, syncs left out."""
        pages = sum(self.db.status(counter)[0] for counter in COUNTERS)
        return self.slower * (pages * PAGE_S + self.db.total_changes() * ROW_S)

    @property
    def aim(self) -> float | None:
        return None

    def execute(self, batch: Batch, timeout: float | None = None) -> Sequence[Result]:
        before = self.spent()
        results = super().execute(batch, timeout)
        seconds = self.spent() - before + (COMMIT_S if batch.writes else 0.0)
        self.seconds += seconds
        if batch.writes:
            self.writes.append((seconds, results[0].changes or 0))
        return [replace(result, seconds=seconds) for result in results]


def drained(path: Path, rows: int, slower: float = 1.0) -> Counted:
    con = apsw.Connection(str(path))
    host = Counted(con, slower)
    receipt = retention.run(host, ours.policy(Job(rows)), now=ours.instant(NOW))
    assert receipt.outcome == "done"
    host.close()
    con.close()
    return host


def bare(path: Path, rows: int) -> float:
    """The same clock for one DELETE of the same rows."""
    con = apsw.Connection(str(path))
    host = Counted(con)
    job = Job(rows)
    con.execute(f"DELETE FROM deliveries WHERE {job.condition}", (str(job.bound),))
    seconds = host.spent()
    host.close()
    con.close()
    return seconds + COMMIT_S


@pytest.mark.parametrize("name", KINDS)
def test_dear_rows_go_in_short_writes_that_cost_little_more_than_one(name: str, tmp_path: Path) -> None:
    host = drained(fill(tmp_path / "x.db", KINDS[name], ROWS[name]), ROWS[name])
    alone = bare(fill(tmp_path / "y.db", KINDS[name], ROWS[name]), ROWS[name])
    assert len(host.writes) > 1
    assert max(seconds for seconds, _ in host.writes[1:]) <= LONGEST_S
    assert host.seconds <= 2.5 * alone


@pytest.mark.parametrize("name", KINDS)
def test_on_a_slow_disk_no_write_is_long_once_the_first_is_known(name: str, tmp_path: Path) -> None:
    host = drained(fill(tmp_path / "x.db", KINDS[name], ROWS[name]), ROWS[name], slower=20)
    assert len(host.writes) > 2
    assert max(seconds for seconds, _ in host.writes[2:]) <= 4.4 * TARGET_S


# --- however old rows lie among young ones

COLUMNS = "(id INTEGER PRIMARY KEY, at INTEGER, s INTEGER)"
LAYOUTS: dict[str, tuple[str, dict[str, str]]] = {
    "rowid": (f"CREATE TABLE t {COLUMNS}", {"walk": "rowid"}),
    "two columns": ("CREATE TABLE t (w INTEGER DEFAULT 1, id INTEGER, at INTEGER, s INTEGER, PRIMARY KEY (w, id)) WITHOUT ROWID", {}),
    "index of the age": (f"CREATE TABLE t {COLUMNS}; CREATE INDEX i ON t (at)", {"only": "s = 1"}),
    "index of age and key": (f"CREATE TABLE t {COLUMNS}; CREATE INDEX i ON t (at, id)", {"only": "s = 1"}),
}


@pytest.mark.parametrize("walk", LAYOUTS)
def test_no_write_removes_more_than_rows_changed_however_they_lie(walk: str) -> None:
    """A page is first read as large as the last ones allow; what it holds may all stand in front."""
    ddl, rule = LAYOUTS[walk]

    @settings(max_examples=25, deadline=None)
    @given(st.lists(st.tuples(st.integers(0, 6_000), st.integers(0, 900)), min_size=1, max_size=4), st.sampled_from([1, 3, 5_000]))
    def check(stretches: list[tuple[int, int]], ages: int) -> None:
        con = apsw.Connection("")
        con.execute(ddl)
        rows, key = list[tuple[int, int, int]](), 0
        for kept, old in stretches:
            for young in (True, False):
                for _ in range(kept if young else old):
                    key += 1
                    rows.append((key, NOW if young and "only" not in rule else OLD + key % ages, not young))
        con.executemany("INSERT INTO t (id, at, s) VALUES (?, ?, ?)", rows)
        made = {"table": "t", "keep": "30d", "age": {"column": "at", "format": "unix_s"}, "page_rows": 4_000, "plausible": False, **rule}
        changes: list[int] = []

        def answered(step: Step, answer: list[Result] | HostError | None) -> None:
            if isinstance(step, Batch) and step.writes and isinstance(answer, list):
                changes.append(answer[0].changes or 0)

        plan = make(con, {"version": 1, "limits": {"rows_changed": 200}, "rules": [made]}, NOW * 1000)
        ran = drive(con, plan, NOW * 1000, answered=answered)
        assert ran.deleted == sum(old for _, old in stretches)
        assert max(changes, default=0) <= 200

    check()

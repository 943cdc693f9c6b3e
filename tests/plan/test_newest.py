"""keep_newest keeps exactly N of each group, also where a UNIQUE index lets equal rows in because they hold NULL."""

from __future__ import annotations

from typing import Any

import apsw
import pytest

from tests.engine.meter import measured
from tests.properties.drive import drive, make

NOW_MS = 1_788_962_400_000
OLD = NOW_MS // 1000 - 400 * 86_400


@pytest.mark.parametrize("mode", ["range", "chunk"])
@pytest.mark.parametrize(
    ("group", "index", "kept"),
    [
        ("NULL", "CREATE UNIQUE INDEX i ON t (w, seq)", [5, 6]),
        ("'a'", "CREATE INDEX i ON t (w, seq)", [5, 6]),
        ("'a'", "CREATE INDEX i ON t (w, seq DESC)", [5, 6]),
        ("'a'", "CREATE INDEX i ON t (w, seq, at)", [5, 6]),
    ],
)
def test_two_are_kept_of_six_equal_rows(mode: str, group: str, index: str, kept: list[int]) -> None:
    con = apsw.Connection("")
    con.execute(f"CREATE TABLE t (id INTEGER PRIMARY KEY, w TEXT, seq INTEGER NOT NULL, at INTEGER); {index}")
    con.execute(f"INSERT INTO t SELECT value, {group}, 7, {OLD} FROM json_each('[1, 2, 3, 4, 5, 6]')")
    rule: dict[str, Any] = {"table": "t", "keep": "30d", "age": {"column": "at", "format": "unix_s"}, "mode": mode, "page_rows": 2}
    rule["keep_newest"] = {"rows": 2, "per": ["w"], "by": ["seq"]}
    plan = make(con, {"version": 1, "rules": [rule]}, NOW_MS)
    assert drive(con, plan, NOW_MS, passes=9).outcome == "done"
    assert [i for (i,) in con.execute("SELECT id FROM t")] == kept


@pytest.mark.parametrize("rows", range(1, 7))
def test_the_kept_ones_are_counted_over_ranks_and_within_one(rows: int) -> None:
    ranks = [8, 7, 9, 7, 8, 8]
    con = apsw.Connection("")
    con.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, seq INTEGER, at INTEGER); CREATE INDEX i ON t (seq)")
    con.executemany("INSERT INTO t VALUES (?, ?, ?)", [(n, rank, OLD) for n, rank in enumerate(ranks)])
    rule = {"table": "t", "keep": "30d", "age": {"column": "at", "format": "unix_s"}, "page_rows": 2}
    policy = {"version": 1, "rules": [rule | {"keep_newest": {"rows": rows, "per": [], "by": ["seq"]}}]}
    assert drive(con, make(con, policy, NOW_MS), NOW_MS, passes=9).outcome == "done"
    newest = sorted(range(len(ranks)), key=lambda n: (ranks[n], n))[-rows:]
    assert {i for (i,) in con.execute("SELECT id FROM t")} == set(newest)


@pytest.mark.parametrize("apart", [0, 1])
def test_rows_of_an_equal_rank_cost_no_more_than_others(apart: int) -> None:
    """Each row's look at newer ones ends at the N-th, however many rows are as new as it is."""
    spent: list[int] = []
    for rows in (500, 4_000):
        con = apsw.Connection("")
        con.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, w TEXT, at INTEGER); CREATE INDEX i ON t (w, at)")
        con.executemany("INSERT INTO t VALUES (?, 'a', ?)", [(n, OLD + n * apart) for n in range(rows)])
        rule = {"table": "t", "keep": "30d", "age": {"column": "at", "format": "unix_s"}, "walk": "rowid", "page_rows": 500}
        policy = {"version": 1, "rules": [rule | {"keep_newest": {"rows": 3, "per": ["w"]}}]}
        ran, costs = measured(con, policy, NOW_MS)
        assert (ran.outcome, ran.deleted) == ("done", rows - 3)
        spent.append(max(cost.steps for cost in costs))
    assert spent[1] <= spent[0] * 1.1 + 100

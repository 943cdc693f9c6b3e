"""Whatever walk the planner chooses, the rows left are those of the rowid walk, which reads every row."""

from __future__ import annotations

from typing import Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import retention
from retention.statements.ages import FORMATS
from tests.properties.drive import drive, make
from tests.statements.reading import EPOCH_MS
from tests.statements.test_ages import NOW_MS, values

NOW_S, DAY = NOW_MS // 1000, 86_400
DECLARED = ["INTEGER", "REAL", "NUMERIC", "DATETIME", "TEXT", "BLOB", "", "TEXT COLLATE NOCASE", "ANY"]


def build(declared: str, index: str, stored: list[Any]) -> apsw.Connection:
    con = apsw.Connection("")
    con.execute(f"CREATE TABLE t (id INTEGER PRIMARY KEY, a {declared}){' STRICT' if declared == 'ANY' else ''}")
    con.execute(index)
    con.executemany("INSERT INTO t (a) VALUES (?)", [(v,) for v in stored])
    return con


def left(con: apsw.Connection, form: str, walk: str | None, mode: Any, rows: int) -> tuple[str, list[Any]]:
    age: dict[str, Any] = {"column": "a", "format": form}
    if form == "snowflake":
        age["epoch_ms"] = EPOCH_MS
    rule: dict[str, Any] = {"table": "t", "keep": "30d", "age": age, "mode": mode, "page_rows": rows, "plausible": False}
    if walk:
        rule["walk"] = walk
    plan = make(con, {"version": 1, "rules": [rule]}, NOW_MS)
    assert drive(con, plan, NOW_MS, passes=5).outcome == "done"
    return plan.rules[0].walk, con.execute("SELECT id FROM t").fetchall()


@pytest.mark.parametrize("form", FORMATS)
def test_the_chosen_walk_leaves_what_the_rowid_walk_leaves(form: str) -> None:
    @settings(max_examples=120, deadline=None)
    @given(
        st.sampled_from(DECLARED),
        st.sampled_from(["CREATE INDEX i ON t (a)", "CREATE UNIQUE INDEX i ON t (a, id)"]),
        st.lists(values(form), max_size=12),
        st.sampled_from(["range", {"chunk": 2}]),
        st.integers(1, 5),
    )
    def check(declared: str, index: str, stored: list[Any], mode: Any, rows: int) -> None:
        if form == "uuid7" and declared == "TEXT":
            # A column of texts in which blobs stand as well: an index walk does not see them, and they are kept.
            stored = [v for v in stored if not isinstance(v, bytes)]
        _, expected = left(build(declared, index, stored), form, "rowid", mode, rows)
        walk, found = left(build(declared, index, stored), form, None, mode, rows)
        assert found == expected, walk

    check()


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 12), st.sets(st.integers(0, 11))), min_size=1, max_size=8),
    st.integers(1, 20),
    st.integers(1, 12),
    st.sampled_from(["at", "at, id"]),
    st.sampled_from(["range", {"chunk": 3}]),
)
def test_ages_of_any_number_of_rows_go_in_one_traversal(
    lumps: list[tuple[int, set[int]]], page_rows: int, rows_changed: int, columns: str, mode: Any
) -> None:
    """Equal ages, of which some rows stay: more than a page, more than a write, cut anywhere."""
    con = apsw.Connection("")
    con.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER, stays INTEGER)")
    con.execute(f"CREATE INDEX i ON t (at, {columns[4:]})" if columns != "at" else "CREATE INDEX i ON t (at)")
    rows = [(NOW_S - 90 * DAY + age, place in stays) for age, (count, stays) in enumerate(lumps) for place in range(count)]
    con.executemany("INSERT INTO t (at, stays) VALUES (?, ?)", rows)
    rule = {"table": "t", "keep": "30d", "age": {"column": "at", "format": "unix_s"}, "only": "stays = 0", "walk": {"index": "i"}}
    policy = {"version": 1, "limits": {"rows_changed": rows_changed}, "rules": [rule | {"page_rows": page_rows, "mode": mode}]}
    receipt = retention.run(con, policy, now=NOW_MS)
    assert receipt.outcome == "done"
    assert receipt.rules[0].scanned == len(rows)
    assert receipt.deleted == sum(not stays for _, stays in rows)
    assert con.execute("SELECT count(*) FROM t WHERE stays = 0").get == 0

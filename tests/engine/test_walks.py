"""Whatever walk the planner chooses, the rows left are those of the rowid walk, which reads every row."""

from __future__ import annotations

from typing import Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retention.statements.ages import FORMATS
from tests.properties.drive import drive, make
from tests.statements.reading import EPOCH_MS
from tests.statements.test_ages import NOW_MS, values

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

"""keep_newest keeps exactly N of each group, also where a UNIQUE index lets equal rows in because they hold NULL."""

from __future__ import annotations

from typing import Any

import apsw
import pytest

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

"""What a run costs on D1, by D1's own meter: the rows that it reads and writes are what its owner pays."""

from __future__ import annotations

from typing import Any

import pytest

import retention

from .fixtures import Database

NOW_S = 1_788_962_400
OLD = NOW_S - 100 * 86_400
ROWS = 6_000
PAGE = 500

BOUND = 2.2
"""Rows read for each row scanned: once by the boundary, once by the delete, and a little for edges."""

TABLES = {
    "rowid": ("id INTEGER PRIMARY KEY, {rest}", "", "", "v, "),
    "index of the age": ("id INTEGER PRIMARY KEY, {rest}", "", "CREATE INDEX i ON t (at)", "v, "),
    "index of age and rowid": ("id INTEGER PRIMARY KEY, {rest}", "", "CREATE INDEX i ON t (at, id)", "v, "),
    "index of age and key": ("id TEXT PRIMARY KEY NOT NULL, {rest}", "", "CREATE UNIQUE INDEX i ON t (at, id)", "printf('%06d', v), "),
    "index of age and two keys": (
        "w TEXT NOT NULL, id INTEGER NOT NULL, {rest}, PRIMARY KEY (w, id)", "WITHOUT ROWID", "CREATE INDEX i ON t (at, w, id)",
        "'w' || (v % 7), v, ",
    ),
    "primary key": ("id TEXT PRIMARY KEY, {rest}", "WITHOUT ROWID", "", "printf('%06d', v), "),
    "primary key of two": ("w TEXT NOT NULL, id INTEGER NOT NULL, {rest}, PRIMARY KEY (w, id)", "WITHOUT ROWID", "", "'w' || (v % 7), v, "),
    "primary key of four": (
        "a INTEGER, b TEXT, c REAL, d BLOB, {rest}, PRIMARY KEY (a, b, c, d)", "WITHOUT ROWID", "",
        "v % 3, 'b' || (v % 5), v % 7 + 0.5, CAST(v AS BLOB), ",
    ),
}  # fmt: skip
"""Columns, the table's end, an index of its own, and a row's key out of its number `v`."""

AGES = {"all different": "{old} + v", "five equal": "{old} + v / 5", "lumps": "{old} + v / 350", "one": "{old}"}
GONE = {"all": "'go'", "none": "'stay'", "some": "CASE WHEN v * 7919 % 10 < 3 THEN 'go' ELSE 'stay' END"}


def filled(d1: Database, table: str, age: str, kind: str, rows: int = ROWS) -> dict[str, Any]:
    """A policy for a table `t` of so many rows."""
    columns, end, index, key = TABLES[table]
    numbers = f"(WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < {rows}) SELECT v FROM n)"
    made = f"CREATE TABLE t ({columns.format(rest='at INTEGER, kind TEXT')}) {end}"
    d1.setup(*filter(None, [made, index, f"INSERT INTO t SELECT {key}{AGES[age].format(old=OLD)}, {GONE[kind]} FROM {numbers}"]))
    rule: dict[str, Any] = {"table": "t", "keep": "30d", "age": {"column": "at", "format": "unix_s"}, "only": "kind = 'go'"}
    return {"version": 1, "rules": [rule | {"page_rows": PAGE} | ({"walk": {"index": "i"}} if index else {})]}


@pytest.mark.parametrize("kind", GONE)
@pytest.mark.parametrize(("table", "age"), [(t, a) for t in TABLES for a in AGES if "index" in t or a == "all different"])
def test_a_row_is_read_twice(d1: Database, table: str, age: str, kind: str) -> None:
    policy = filled(d1, table, age, kind)
    with d1.host() as host:
        receipt = retention.run(host, policy, now=NOW_S * 1000, limits={"deadline": "10m"})
    rule = receipt.rules[0]
    assert receipt.outcome == "done", receipt
    assert rule.scanned == ROWS
    assert d1.rows("SELECT count(*) FROM t WHERE kind = 'go'") == [(0,)]
    assert rule.rows_read is not None
    assert rule.rows_read <= BOUND * rule.scanned + PAGE

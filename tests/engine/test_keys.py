"""Whatever the keys are like, pages are full and no statement looks where there is nothing.

Each shape of key is laid out twice over the same rows: close together, and as unkindly as the shape allows. By SQLite's own count of
steps the second costs what the first does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import apsw
import pytest

from retention.capabilities import D1
from retention.engine.sizes import FLOOR_ROWS
from tests.properties.drive import drive, make

NOW_MS = 1_788_962_400_000
OLD = NOW_MS // 1000 - 400 * 86_400
ROWS = 3_000
PAGE = FLOOR_ROWS  # the least that a page adapts to, so that no clock has a say


@dataclass(frozen=True)
class Shape:
    """Attributes:
    ddl: of the table `t`, with a column `at`.
    close, apart: SQL for its key's columns over n(i), i from 0.
    """

    ddl: str
    close: str
    apart: str


IPK = "CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER)"
LAST = 9_223_372_036_854_775_807
MS = "(1735689600000 + i * 1000)"

SHAPES = {
    "snowflakes with days between them": Shape(IPK, "i", f"(({MS} + (i / 500) * 864000000) << 22) | (i * 7919 % 4096)"),
    "negative": Shape(IPK, "i", f"i - {ROWS}"),
    "negative, far apart": Shape(IPK, "i", f"i * 1500000000000000 - {LAST} - 1"),
    "from the first to the last there is": Shape(IPK, "i", f"CASE i WHEN {ROWS - 1} THEN {LAST} ELSE i - {LAST} - 1 END"),
    "two columns, a prefix for each row": Shape(
        "CREATE TABLE t (a INTEGER, b INTEGER, at INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID", "1, i", "i * 1000000007, -i"
    ),
    "two columns, one prefix holds nearly all": Shape(
        "CREATE TABLE t (a TEXT, b INTEGER, at INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID",
        "'w', i", "CASE WHEN i % 1000 THEN 'w' ELSE 'w' || i END, i * 92233720368547",
    ),
    "three columns": Shape(
        "CREATE TABLE t (a TEXT, b INTEGER, c TEXT, at INTEGER, PRIMARY KEY (a, b, c)) WITHOUT ROWID",
        "'w', 1, printf('%09d', i)", "'w' || i % 7, -(i / 50) * 1000000, hex(i)",
    ),
    "four columns of four classes": Shape(
        "CREATE TABLE t (a TEXT, b REAL, c BLOB, d INTEGER, at INTEGER, PRIMARY KEY (a, b, c, d)) WITHOUT ROWID",
        "'w', 0.5, x'00', i", "CASE WHEN i % 2 THEN 'w' ELSE '' END, (i / 40) * -1.5e300, CAST(i % 40 AS BLOB), i * 1000003",
    ),
    "four columns, falling": Shape(
        "CREATE TABLE t (a INTEGER, b INTEGER, c INTEGER, d INTEGER, at INTEGER, "
        "PRIMARY KEY (a DESC, b DESC, c DESC, d DESC)) WITHOUT ROWID",
        "1, 1, 1, i", "i % 2, i % 5 * -1000, i % 11, i * 1000000007",
    ),
    "two columns of any class": Shape(
        "CREATE TABLE t (a ANY, b INTEGER, at INTEGER, PRIMARY KEY (a, b)) STRICT, WITHOUT ROWID",
        "i, 1", "CASE i % 4 WHEN 0 THEN i WHEN 1 THEN i + 0.5 WHEN 2 THEN CAST(i AS TEXT) ELSE CAST(i AS BLOB) END, 1",
    ),
}  # fmt: skip


def drained(shape: Shape, keys: str, mode: Any, host: Any, share: int) -> tuple[Any, int, int]:
    """A run over the whole table, of which each `share`-th row is old: what it did, its steps, and its dearest statement's."""
    con = apsw.Connection("")
    con.execute(shape.ddl)
    numbers = f"WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS - 1})"
    con.execute(f"INSERT INTO t {numbers} SELECT {keys}, CASE WHEN i % {share} THEN {NOW_MS // 1000} ELSE {OLD} END FROM n")
    rule = {"table": "t", "keep": "30d", "age": {"column": "at", "format": "unix_s"}, "page_rows": PAGE, "mode": mode, "plausible": False}
    plan = make(con, {"version": 1, "rules": [rule]}, NOW_MS, host)
    steps: list[int] = []
    con.trace_v2(apsw.SQLITE_TRACE_PROFILE, lambda event: steps.append(event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"]))
    ran = drive(con, plan, NOW_MS)
    con.trace_v2(0, None)
    assert con.execute(f"SELECT count(*) FROM t WHERE at = {OLD}").get == 0
    return ran, sum(steps), max(steps)


@pytest.mark.parametrize("share", [1, 3])
@pytest.mark.parametrize(("mode", "host"), [("range", None), ("range", D1), ({"chunk": 25}, None)], ids=["range", "range, D1", "chunk"])
@pytest.mark.parametrize("name", SHAPES)
def test_pages_are_full_and_nothing_is_looked_for_in_gaps(name: str, mode: Any, host: Any, share: int) -> None:
    shape = SHAPES[name]
    (close, total, dearest), (apart, far_total, far_dearest) = (
        drained(shape, keys, mode, host, share) for keys in (shape.close, shape.apart)
    )
    for ran in (close, apart):
        (receipt,) = ran.rules
        assert (ran.outcome, receipt.deleted, receipt.scanned) == ("done", ROWS // share, ROWS)
        assert receipt.pages <= -(-ROWS // PAGE) + 1
    assert apart.used == close.used
    # Where rows read are paid for, each prefix of a key is a group, whose counts are added up.
    groups = 1.6 if host is D1 else 1.0
    assert far_total <= 1.1 * groups * total
    assert far_dearest <= 1.2 * groups * dearest

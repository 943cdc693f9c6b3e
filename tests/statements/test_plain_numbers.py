"""An age that is a plain number is compared as it is stored: by its own class, whatever the column declares and the cutoff is bound as."""

from __future__ import annotations

from typing import Any

import apsw
import pytest

from retention.statements.ages import FORMATS
from retention.statements.condition import Age, Shape, compile_condition
from retention.statements.quoting import column

NOW_MS = 1_788_962_400_000
PLAIN = [name for name, form in FORMATS.items() if form.plain]
DECLARED = ["", "INTEGER", "REAL", "NUMERIC", "TEXT", "BLOB"]


def judged(stored: Any, kind: str, cutoff: float) -> Any:
    if kind in ("integer", "real"):
        return 1 if stored < cutoff else None
    return "undated" if kind == "null" else "unreadable"


@pytest.mark.parametrize("columns", [("at",), ("missing", "at")], ids=["one column", "the first that is not NULL"])
@pytest.mark.parametrize("declared", DECLARED)
@pytest.mark.parametrize("name", PLAIN)
def test_every_class_in_every_column(name: str, declared: str, columns: tuple[str, ...]) -> None:
    form = FORMATS[name]
    condition = compile_condition(Shape("t", 0, Age(columns, form)))
    (bound,) = condition.bound(NOW_MS)
    at = float(bound)
    whole = int(at)
    values = [
        None, whole - 1, whole, whole + 1, at - 0.5, at, at + 0.5, -(2**63), 2**63 - 1, 0, -1, float("inf"), float("-inf"), 1e300, -1e300,
        str(whole - 1), str(whole + 1), "", "x", "-5", "1e3", " 7 ", b"", b"\x00", str(whole - 1).encode(),
    ]  # fmt: skip
    con = apsw.Connection("")
    con.execute(f"CREATE TABLE t (id INTEGER PRIMARY KEY, at {declared}, missing {declared})")
    con.executemany("INSERT INTO t (at) VALUES (?)", [(v,) for v in values])
    sql = f"SELECT {column('t', 'at')}, typeof({column('t', 'at')}), {condition.sql} FROM t"
    rows = con.execute(sql, (bound,)).fetchall()
    # 2**63 - 1 as a REAL column stores it is 2**63, and compares so.
    assert [(row[0], row[2]) for row in rows] == [(row[0], judged(row[0], row[1], at if name == "julian" else whole)) for row in rows]
    assert {row[2] for row in rows} == ({"undated", "unreadable"} if declared == "TEXT" else {1, None, "undated", "unreadable"})


def test_the_forms_that_are_plain() -> None:
    assert set(PLAIN) == {"unix_s", "unix_ms", "unix_us", "julian"}

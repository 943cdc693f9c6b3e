"""Foreign keys around a rule's table: index advice that works when it is followed, and keys to tables that are not there."""

from __future__ import annotations

from typing import Any

import apsw
import pytest

import retention
from retention.errors import Refused
from retention.plan.model import Plan

NOW_MS = 1_788_962_400_000
AGE = {"column": "at", "format": "unix_s"}
T = "CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER);"


def plan(con: apsw.Connection, foreign_keys: str = "on", **rule: Any) -> Plan:
    rules = [{"table": "t", "keep": "30d", "age": AGE} | rule]
    return retention.plan(con, {"version": 1, "foreign_keys": foreign_keys, "rules": rules}, now=NOW_MS)


def database(ddl: str) -> apsw.Connection:
    con = apsw.Connection("")
    con.execute(ddl)
    return con


@pytest.mark.parametrize("action", ["", "ON DELETE CASCADE", "ON DELETE SET NULL"])
@pytest.mark.parametrize(
    ("parent", "child", "index"),
    [
        ("TEXT", "TEXT", ""),
        ("INTEGER", "REAL", ""),
        ("TEXT COLLATE NOCASE", "TEXT", "k"),
        ("TEXT COLLATE RTRIM", "TEXT COLLATE NOCASE", "k"),
        ("TEXT", "TEXT COLLATE NOCASE", "k"),
        ("TEXT", "TEXT", "k COLLATE NOCASE"),
    ],
)
def test_the_index_that_a_refusal_advises_lets_the_rule_pass(parent: str, child: str, index: str, action: str) -> None:
    con = database(f"CREATE TABLE t (k {parent} UNIQUE, at INTEGER)")
    con.execute(f'CREATE TABLE "a child" (id INTEGER PRIMARY KEY, k {child} REFERENCES t (k) {action})')
    if index:
        con.execute(f'CREATE INDEX "of another order" ON "a child" ({index})')
    with pytest.raises(Refused, match="create one: CREATE INDEX") as refused:
        plan(con)
    con.execute(str(refused.value).partition("create one: ")[2].rstrip("."))
    assert plan(con).rules


def test_where_no_index_can_serve_the_refusal_says_why() -> None:
    con = database("CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER); CREATE TABLE c (k TEXT REFERENCES t); CREATE INDEX ck ON c (k)")
    with pytest.raises(Refused, match=r'no index can, because its type does not compare with t\(id\).*foreign_keys = "off"'):
        plan(con)
    assert plan(con, "off").rules


C = "CREATE TABLE c (id INTEGER PRIMARY KEY, t INTEGER REFERENCES t {}, k REFERENCES nope); CREATE INDEX ct ON c (t);"
MISSING: dict[str, tuple[str, dict[str, Any]]] = {
    "own": ("CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER, k REFERENCES nope);", {}),
    "own, cascading": ("CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER, k REFERENCES nope ON DELETE CASCADE);", {}),
    "child": (T + C.format(""), {}),
    "child, cascading": (T + C.format("ON DELETE CASCADE"), {}),
    "child, nulled": (T + C.format("ON DELETE SET NULL"), {}),
    "child, nulled in the same column": (
        T + "CREATE TABLE c (t INTEGER REFERENCES t ON DELETE SET NULL REFERENCES nope); CREATE INDEX ct ON c (t);", {},
    ),
    "grandchild, cascading": (
        T + "CREATE TABLE p (id INTEGER PRIMARY KEY, t INTEGER REFERENCES t ON DELETE CASCADE); CREATE INDEX pt ON p (t);"
        + C.format("ON DELETE CASCADE").replace("REFERENCES t ", "REFERENCES p "), {},
    ),
    "grandchild, kept": (
        T + "CREATE TABLE p (id INTEGER PRIMARY KEY, t INTEGER REFERENCES t ON DELETE CASCADE); CREATE INDEX pt ON p (t);"
        + C.format("").replace("REFERENCES t ", "REFERENCES p "), {},
    ),
    "drained": (T + C.format(""), {"children": "drain"}),
}  # fmt: skip


@pytest.mark.parametrize(("ddl", "rule"), MISSING.values(), ids=MISSING)
def test_a_missing_parent_is_refused_just_where_sqlite_refuses_the_delete(ddl: str, rule: dict[str, Any]) -> None:
    con = database(ddl)
    con.pragma("foreign_keys", True)
    try:
        for table in ("c", "t") if rule else ("t",):
            con.execute(f"DELETE FROM {table} WHERE id = 1")
        broken = False
    except apsw.SQLError as error:
        broken = "no such table: main.nope" in str(error)
    if broken:
        with pytest.raises(Refused, match=r"refers to 'nope', which is not there.*foreign_keys = \"off\""):
            plan(con, **rule)
    else:
        assert plan(con, **rule).rules
    assert plan(con, "off", **rule).rules

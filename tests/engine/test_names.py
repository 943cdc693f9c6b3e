"""Columns that are called like something in our own statements are not taken for it, whatever the walk, the mode and the policy."""

from __future__ import annotations

import re
from typing import Any

import apsw
import pytest

import retention
from retention.steps import Batch

NOW, NOW_S, DAY = "2026-09-09T14:00:00Z", 1_788_962_400, 86_400
ROWS = 40

COLUMNS = "at INTEGER, w TEXT, kept TEXT{more}"
TABLES = {
    "rowid": f"CREATE TABLE t (id INTEGER PRIMARY KEY, {COLUMNS})",
    "index of the age alone": f"CREATE TABLE t (id INTEGER PRIMARY KEY, {COLUMNS}); CREATE INDEX i_at ON t (at)",
    "index of age and key": f"CREATE TABLE t (id INTEGER PRIMARY KEY, {COLUMNS}); CREATE UNIQUE INDEX i_at ON t (at, id)",
    "primary key": f"CREATE TABLE t (id INTEGER, {COLUMNS}, PRIMARY KEY (w, id)) WITHOUT ROWID",
}
FAMILY = """
    CREATE TABLE child (no INTEGER PRIMARY KEY, parent INTEGER REFERENCES t (id){more}); CREATE INDEX of_t ON child (parent);
    CREATE TABLE below (no INTEGER PRIMARY KEY, parent INTEGER REFERENCES child (no){more}); CREATE INDEX of_child ON below (parent);
"""
TENANTS = "CREATE TABLE ws (id TEXT PRIMARY KEY, doc TEXT{more}); INSERT INTO ws (id, doc) VALUES ('a', '{\"d\": 10}'), ('b', '{')"
RULES: dict[str, dict[str, Any]] = {
    "range": {},
    "chunk": {"mode": {"chunk": 2}},
    "tenants": {"tenant": {"column": "w", "setting": "d"}},
    "newest": {"keep_newest": {"rows": 2, "per": ["w"], "by": ["at"]}},
    "drain": {"children": "drain"},
}


def ran(table: str, rule: dict[str, Any], more: str) -> tuple[list[Any], str]:
    """The rows that are left, and all statements that were sent."""
    con, sent = apsw.Connection(""), list[str]()
    ddl = [TABLES[table], TENANTS, "CREATE INDEX newest ON t (w, at)"]
    if rule.get("children") == "drain":
        ddl.append(FAMILY)
    for each in ddl:
        con.execute(each.replace("{more}", more)).fetchall()
    con.executemany("INSERT INTO t (id, at, w) VALUES (?, ?, ?)", [(i, NOW_S - i * 2 * DAY, "abc"[i % 3]) for i in range(ROWS)])
    if rule.get("children") == "drain":
        con.execute("INSERT INTO child (no, parent) SELECT id, id FROM t; INSERT INTO below (parent) SELECT id FROM t WHERE id % 2")

    def watch(step: Any, _answer: Any, _seconds: float) -> None:
        sent.extend(statement.sql for statement in step.statements) if isinstance(step, Batch) else None

    full = {"table": "t", "keep": "30d", "age": {"column": "at", "format": "unix_s"}, "page_rows": 3} | rule
    policy = {"version": 1, "rules": [full], "tenants": {"table": "ws", "key": "id", "settings": "doc", "shortest": "1d"}}
    done = retention.run(con, policy, now=NOW, until_done=True, on_step=watch)
    assert done.outcome == "done", (done.warnings, done.rules[0].error)
    assert 0 < done.deleted < ROWS
    return con.execute("SELECT id FROM t ORDER BY id").fetchall(), "\n".join(sent)


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
@pytest.mark.parametrize("table", TABLES)
def test_no_column_is_taken_for_a_name_of_ours(table: str, rule: dict[str, Any]) -> None:
    if rule.get("children") == "drain" and table == "primary key":
        rule = RULES["range"]
    left, sent = ran(table, rule, "")
    ours = {word.lower() for word in re.findall(r'\bAS "?(\w+)', sent)} - {"id", "at", "w", "kept", "no", "parent", "doc"}
    assert {"v", "k0"} & ours
    more = "".join(f', "{word}"' for word in sorted(ours))
    assert ran(table, rule, more)[0] == left

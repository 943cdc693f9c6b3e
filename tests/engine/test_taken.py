"""Tables that are called like something in our own statements: each run is what it would be, or is refused with the name."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import apsw
import pytest

import retention
from retention.steps import Batch
from tests.cli.tools import call
from tests.engine import test_names
from tests.engine.test_names import DAY, NOW, NOW_S, ROWS

COLUMNS = "at INTEGER, w TEXT"
TABLES = {
    "rowid": f"CREATE TABLE T (id INTEGER PRIMARY KEY, {COLUMNS})",
    "index of the age alone": f"CREATE TABLE T (id INTEGER PRIMARY KEY, {COLUMNS}); CREATE INDEX i_at ON T (at)",
    "index of age and key": f"CREATE TABLE T (id INTEGER PRIMARY KEY, {COLUMNS}); CREATE UNIQUE INDEX i_at ON T (at, id)",
    "primary key": f"CREATE TABLE T (id INTEGER, {COLUMNS}, PRIMARY KEY (w, id)) WITHOUT ROWID",
}
FAMILY = """
    CREATE TABLE C (no INTEGER PRIMARY KEY, parent INTEGER REFERENCES T (id) ON DELETE CASCADE); CREATE INDEX of_t ON C (parent);
    CREATE TABLE G (no INTEGER PRIMARY KEY, parent INTEGER REFERENCES C (no) ON DELETE CASCADE); CREATE INDEX of_c ON G (parent);
    INSERT INTO C SELECT id, id FROM T; INSERT INTO G (parent) SELECT id FROM T WHERE id % 2;
"""
TENANTS = "CREATE TABLE W (id TEXT PRIMARY KEY, doc TEXT); INSERT INTO W VALUES ('a', '{\"d\": 10}'), ('b', '{')"
ANOTHER = "CREATE TABLE X (id INTEGER PRIMARY KEY, at INTEGER, w TEXT, name TEXT, tenant, cut, v, k0, key, value, type)"
RULES: dict[str, dict[str, Any]] = test_names.RULES | {"cascade": {"only": "EXISTS (SELECT 1 FROM C WHERE C.parent = T.id) OR T.id > 0"}}
FAMILIES = ("drain", "cascade")


def ran(table: str, rule: str, names: dict[str, str]) -> tuple[Any, str]:
    """The rows that are left, or why none went; and all statements that were sent."""
    con, sent = apsw.Connection(""), list[str]()

    def called(sql: str) -> str:
        return re.sub(r"\b[TCGWX]\b", lambda found: f'"{names.get(found[0], found[0].lower())}"', sql)

    def watch(step: Any, _answer: Any, _seconds: float) -> None:
        sent.extend(statement.sql for statement in step.statements) if isinstance(step, Batch) else None

    con.execute(called(f"{TABLES[table]}; {TENANTS}; CREATE INDEX newest ON T (w, at); {ANOTHER if 'X' in names else ''}")).fetchall()
    con.executemany(called("INSERT INTO T VALUES (?, ?, ?)"), [(i, NOW_S - i * 2 * DAY, "abc"[i % 3]) for i in range(ROWS)])
    if rule in FAMILIES:
        con.execute(called(FAMILY)).fetchall()
    full = {"table": names.get("T", "t"), "keep": "30d", "age": {"column": "at", "format": "unix_s"}, "page_rows": 3} | RULES[rule]
    full |= {"only": called(full["only"])} if "only" in full else {}
    tenants = {"table": names.get("W", "w"), "key": "id", "settings": "doc", "shortest": "1d"}
    done = retention.run(con, {"version": 1, "rules": [full], "tenants": tenants}, now=NOW, until_done=True, on_step=watch)
    if done.outcome == "refused":
        return done.warnings[0], "\n".join(sent)
    assert done.outcome == "done", (done.warnings, done.rules)
    return con.execute(called("SELECT id FROM T ORDER BY id")).fetchall(), "\n".join(sent)


COMBINED = [(table, rule) for table in TABLES for rule in RULES if rule not in FAMILIES or table != "primary key"]


@cache
def plain() -> dict[tuple[str, str], tuple[Any, str]]:
    return {each: ran(*each, {}) for each in COMBINED}


@cache
def ours() -> list[str]:
    """Whatever our statements call a table, or read as one."""
    sent = "\n".join(text for _, text in plain().values())
    words = re.findall(r'(?:\bFROM|\bJOIN|\bAS|\bWITH|\),)\s+"?([a-z_][a-z_0-9]*)\b', sent)
    return sorted(set(words) - {"t", "c", "g", "w"} - {word for word in words if word.startswith("sqlite_")})


def test_there_are_some() -> None:
    assert {"json_each", "pragma_table_list", "retention_edges", "retention_newer", "j", "r"} <= set(ours())


@pytest.mark.parametrize("part", ["T", "C", "W", "X"], ids=["the rule's", "a child", "the tenants'", "another"])
def test_no_table_is_taken_for_one_of_ours(part: str) -> None:
    refused = set[str]()
    for word in ours():
        for table, rule in COMBINED:
            if (part == "C" and rule not in FAMILIES) or (part == "W" and rule != "tenants"):
                continue
            got = ran(table, rule, {part: word})[0]
            if isinstance(got, str):
                assert got.startswith(f"the table '{word}' "), got
                assert "; rename it" in got
                refused.add(word)
            else:
                assert got == plain()[table, rule][0], (word, table, rule)
    assert {word for word in ours() if word.startswith(("pragma_", "json_"))} <= refused <= {word for word in ours() if "_" in word}


def test_a_temporary_table_that_hides_the_rules_own_is_told() -> None:
    """Every statement would read and delete its rows, and those of the database would seem to be gone."""
    con = apsw.Connection("")
    con.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER); CREATE TABLE apart (id); INSERT INTO t VALUES (1, 1700000000)")
    con.execute("CREATE TEMP TABLE own (id INTEGER)")
    rules = {"version": 1, "rules": [{"table": "t", "keep": "30d", "age": {"column": "at", "format": "unix_s"}}]}
    assert retention.plan(con, rules, now=NOW).rules
    con.execute("CREATE TEMP TABLE T (id INTEGER PRIMARY KEY, at INTEGER); INSERT INTO temp.t VALUES (7, 1700000000)")
    done = retention.run(con, rules, now=NOW)
    assert (done.outcome, done.exit_status) == ("refused", 4)
    assert "temporary table 't'" in done.warnings[0]
    assert con.execute("SELECT (SELECT count(*) FROM main.t), (SELECT count(*) FROM temp.t)").fetchall() == [(1, 1)]


@pytest.mark.parametrize("word", ["pragma_table_list", "pragma_page_count", "json_each", "retention_edges"])
def test_the_command_says_so_too(word: str, tmp_path: Any) -> None:
    path = tmp_path / "app.db"
    con = apsw.Connection(str(path))
    con.execute(f"CREATE TABLE {word} (schema, name, type, ncol, wr, strict)")
    con.close()
    for command in (("init", path, "-o", tmp_path / "p.toml"), ("audit", path, "--preset", "relay"), ("plan", path, "--preset", "relay")):
        done = call(*command)
        clash = word != "pragma_page_count"
        assert (f"the table '{word}'" in done.stderr) == clash, done.stderr
        assert "Traceback" not in done.stderr
    assert call("reclaim", path).exit_code == 0, "whatever a table is called"

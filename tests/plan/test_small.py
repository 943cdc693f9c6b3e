"""ANALYZE, or PRAGMA optimize, of small tables makes SQLite scan them: no policy may be refused for that, and none may scan a large one."""

from __future__ import annotations

from typing import Any

import apsw
import pytest

import retention
from retention.hosts.sqlite_like_d1 import limited_like_d1
from retention.plan.small import SMALL_ROWS
from retention.statements.quoting import name

NOW = "2026-09-09T14:00:00Z"
OLD = 1_700_000_000
AGE = {"column": "at", "format": "unix_s"}
DDL = """
CREATE TABLE ws (id INTEGER PRIMARY KEY, doc TEXT);
CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER, w INTEGER, s TEXT); CREATE INDEX t_w ON t (w, at);
CREATE TABLE child (id INTEGER PRIMARY KEY, up INTEGER REFERENCES t ON DELETE CASCADE, held INTEGER); CREATE INDEX child_up ON child (up);
CREATE TABLE ref (id INTEGER PRIMARY KEY, up INTEGER REFERENCES t); CREATE INDEX ref_up ON ref (up);
CREATE TABLE keyed (k TEXT PRIMARY KEY, at INTEGER) WITHOUT ROWID;
CREATE TABLE aged (id INTEGER PRIMARY KEY, at INTEGER); CREATE INDEX aged_at ON aged (at);
CREATE TABLE job (id INTEGER PRIMARY KEY, at INTEGER, s TEXT);
CREATE TABLE part (id INTEGER PRIMARY KEY, job INTEGER); CREATE INDEX part_job ON part (job);
"""
TABLES = ("ws", "t", "child", "ref", "keyed", "aged", "job", "part")


def rules(table: str = "t", **keys: Any) -> dict[str, Any]:
    return {"rules": [{"table": table, "keep": "30d", "age": AGE, **keys}]}


POLICIES: dict[str, dict[str, Any]] = {
    "range": rules(),
    "chunk": rules(mode="chunk"),
    "drain": rules(children="drain"),
    "tenant": rules(tenant={"column": "w", "setting": "days"}) | {"tenants": {"table": "ws", "key": "id", "settings": "doc"}},
    "a hold": rules() | {"holds": [{"table": "child", "where": "held = 1"}]},
    "a hold that asks another table": rules() | {
        "holds": [{"table": "child", "where": "EXISTS (SELECT 1 FROM ref AS r WHERE r.up = child.id)"}],
    },
    "keep_newest": rules(keep_newest={"rows": 1, "per": ["w"]}),
    "only, another table": rules(only="NOT EXISTS (SELECT 1 FROM part AS p WHERE p.job = t.id)"),
    "only, the table itself": rules(only="NOT EXISTS (SELECT 1 FROM t AS u WHERE u.w = t.w AND u.at > t.at)"),
    "a primary key": rules("keyed"),
    "an age": rules("aged"),
    "an age, chunk": rules("aged", mode="chunk"),
    "a sweep": {"sweeps": [{"name": "s", "table": "job", "where": "s = 'x'", "age": AGE, "timeout": "1h", "set": {"s": "y"}}]},
    "a closure": {
        "closures": [{"name": "c", "table": "job", "terminal": "s = 'x'", "age": [AGE], "keep": "30d",
                      "members": [{"table": "part", "on": "part.job = job.id"}]}],
    },
}  # fmt: skip


def database(rows: int, below: int, *, analyze: bool) -> apsw.Connection:
    con = apsw.Connection("")
    con.execute(DDL)
    for i in range(min(rows, 90)):
        # More at once would look like a wrong clock.
        con.execute("INSERT INTO job VALUES (?, ?, 'x')", (i, OLD))
    for i in range(rows):
        con.execute("INSERT INTO t VALUES (?, ?, ?, 'x'); INSERT INTO aged VALUES (?, ?)", (i, OLD + i, i % 3, i, OLD + i))
        con.execute("INSERT INTO keyed VALUES (?, ?)", (f"k{i}", OLD))
    for i in range(below):
        con.execute("INSERT INTO ws VALUES (?, '{\"days\": 40}'); INSERT INTO child VALUES (?, ?, ?)", (i, i, i, i % 2))
        con.execute("INSERT INTO part VALUES (?, ?); INSERT INTO ref VALUES (?, 0)", (i, i, i))
    if analyze:
        con.execute("ANALYZE")
    return con


def run(con: apsw.Connection, policy: dict[str, Any], remote: bool = False, **how: Any) -> retention.Receipt:
    document = {"version": 1, **policy}
    if remote:
        with limited_like_d1(con) as host:
            return retention.run(host, document, now=NOW, **how)
    return retention.run(con, document, now=NOW, **how)


def rows_left(con: apsw.Connection) -> list[list[Any]]:
    return [con.execute(f"SELECT * FROM {table}").get or [] for table in TABLES]


@pytest.mark.parametrize("remote", [False, True], ids=["file", "like D1"])
@pytest.mark.parametrize("name", POLICIES)
def test_small_tables_that_were_analyzed_are_as_any_others(name: str, remote: bool) -> None:
    for rows, below in ((1, 1), (2, 1), (3, 2), (50, 1), (90, 90), (300, 1)):
        con, plain = (database(rows, below, analyze=analyze) for analyze in (True, False))
        receipts = [run(db, POLICIES[name], remote, until_done=True) for db in (con, plain)]
        assert receipts[0].outcome == receipts[1].outcome == "done", receipts[0].warnings
        assert [r.deleted for r in receipts[0].rules] == [r.deleted for r in receipts[1].rules]
        assert rows_left(con) == rows_left(plain)


@pytest.mark.parametrize("rows", [3, 300])
@pytest.mark.parametrize("called", ["two words", 'odd "name', "a\nline", "EXISTS", "t EXISTS u", "[t]", "SCAN t"])
def test_a_small_table_may_be_called_anything(called: str, rows: int) -> None:
    """A query plan names a table without quotes."""
    con, table = apsw.Connection(""), name(called)
    con.execute(f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, at INTEGER)")
    con.executemany(f"INSERT INTO {table} (at) VALUES (?)", [(OLD + i,) for i in range(3)])
    con.execute("ANALYZE")
    con.executemany(f"INSERT INTO {table} (at) VALUES (?)", [(OLD + i,) for i in range(3, rows)])
    told = run(con, rules(called, mode="chunk"))
    assert (told.outcome, told.deleted) == (("done", 3) if rows == 3 else ("refused", 0)), told.warnings
    assert rows == 3 or f"its delete would scan {called!r}" in told.warnings[-1]


@pytest.mark.parametrize("name", ["range", "chunk", "an age", "only, another table"])
def test_a_table_that_has_grown_since_wants_new_statistics(name: str) -> None:
    con = database(2, 1, analyze=True)
    numbers = f"WITH RECURSIVE n (i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < {10 + SMALL_ROWS})"
    con.execute(f"{numbers} INSERT INTO t SELECT i, {OLD}, i, 'x' FROM n")
    con.execute("INSERT INTO aged SELECT id + 10, at FROM t; INSERT INTO part SELECT id + 10, id FROM t")
    refused = run(con, POLICIES[name])
    assert (refused.outcome, refused.deleted) == ("refused", 0)
    assert "run ANALYZE, if its statistics are of a time when it held next to nothing" in refused.warnings[-1]
    con.execute("ANALYZE")
    assert run(con, POLICIES[name], until_done=True).outcome == "done"


@pytest.mark.parametrize("analyzed", ["", "keyed"])
def test_a_look_up_without_an_index_is_refused_while_tables_are_small_too(analyzed: str) -> None:
    """Without statistics of the table, that is: nothing else tells the one from the other."""
    con = database(2, 1, analyze=False)
    con.execute("DROP INDEX part_job")
    if analyzed:
        con.execute(f"ANALYZE {analyzed}")
    refused = run(con, POLICIES["only, another table"])
    assert refused.outcome == "refused"
    assert "add an index" in refused.warnings[-1]
    assert "ANALYZE" not in refused.warnings[-1]


@pytest.mark.parametrize(
    "only",
    [
        "NOT EXISTS (SELECT 1 FROM large AS ws WHERE ws.job = t.id)",
        "NOT EXISTS (SELECT 1 FROM large ws WHERE ws.job = t.id)",
        "NOT EXISTS (SELECT 1 FROM v AS ws WHERE ws.job = t.id)",
        "NOT EXISTS (WITH ws AS MATERIALIZED (SELECT job FROM large LIMIT 1000) SELECT 1 FROM ws WHERE ws.job = t.id)",
        "NOT EXISTS (WITH ws AS (SELECT job FROM large LIMIT 1000) SELECT 1 FROM ws WHERE ws.job = t.id)",
    ],
)
def test_a_name_that_may_mean_a_large_table_is_not_taken_for_a_small_one(only: str) -> None:
    con = database(3, 1, analyze=False)
    con.execute("CREATE TABLE large (job INTEGER, x TEXT)")
    con.execute("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO large SELECT i, 'x' FROM n")
    con.execute("ANALYZE")
    con.execute("CREATE VIEW v AS SELECT job FROM large GROUP BY job LIMIT 1000")
    refused = run(con, rules(only=only))
    assert (refused.outcome, "boundary would" in refused.warnings[-1]) == ("refused", True)


def test_what_it_asks_is_counted() -> None:
    con, policy = database(3, 1, analyze=True), {"version": 1, **POLICIES["range"]}
    plan = retention.plan(con, policy, now=NOW)
    few = plan.statements + plan.smallest
    told = run(con, policy, limits={"statements": few})
    assert (told.outcome, told.statements.planning) == ("done", plan.statements)
    refused = run(database(3, 1, analyze=True), policy, limits={"statements": few - 1})
    assert (refused.outcome, f"allow at least {few}" in refused.warnings[-1]) == ("refused", True)

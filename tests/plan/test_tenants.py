"""Tenants' cutoffs, read for each row or all at once: when which is planned, and that both say the same of every row."""

from __future__ import annotations

from typing import Any

import apsw
import pytest

import retention
from retention.capabilities import D1
from retention.hosts.sqlite import SQLite
from retention.plan import planner
from retention.plan.model import RulePlan
from retention.plan.rules import compile_rule
from retention.policy.load import from_dict
from retention.schema.reader import read
from retention.statements.ages import DAY_MS, FORMATS, utc
from retention.statements.pages import Range
from tests.properties.drive import execute, make

NOW_MS = 1_788_962_400_000
KEEP = 30

DOCUMENTS: list[Any] = [
    None, "", "null", "{}", "[]", "7", "{broken", '{"d": null}', '{"d": 10}', '{"d": 10.5}', '{"d": 0.001}', '{"d": 100}', '{"d": 1e9}',
    '{"d": 0}', '{"d": -3}', '{"d": true}', '{"d": "10"}', '{"d": [1]}', '{"d": 10, "d": 20}', '{"other": 5}', 7, 2.5, b"\x00\x01",
]  # fmt: skip
NUMBERS: list[Any] = [None, 10, 10.5, 0.001, 0, -3, 1e9, float("inf"), "10", "x", b"10", 20_000, 20_699, 20_706]
DAYS = [0, 0.5, 9, 10, 10.5, 11, 19, 20, 29, 30, 31, 99, 101, 20_000]


def written(form: str, ms: int) -> Any:
    """The instant as a row holds it."""
    cutoff = FORMATS[form].encode(ms, 0)
    match form:
        case "unix_s" | "unix_ms" | "unix_us" | "snowflake" | "mixed":
            return int(cutoff)
        case "iso8601":
            return utc(ms).strftime("%Y-%m-%dT%H:%M:%SZ")
        case "uuid7":
            return f"{str(cutoff)[:8]}-{str(cutoff)[8:]}-7000-8000-000000000000"
        case "ulid":
            return f"{cutoff}0000000000000000"
        case _:
            return cutoff


def policy(tenant: dict[str, Any], form: str, shortest: str | None = "1h") -> dict[str, Any]:
    age: dict[str, Any] = {"column": "at", "format": form} | ({"epoch_ms": 0} if form == "snowflake" else {})
    rule = {"table": "t", "keep": f"{KEEP}d", "age": age, "tenant": {"column": "w"} | tenant, "walk": "rowid", "plausible": False}
    tenants = {"table": "ws", "key": "id", "settings": "doc"} | ({"shortest": shortest} if shortest else {})
    return {"version": 1, "tenants": tenants, "rules": [rule]}


def compiled(con: apsw.Connection, rules: dict[str, Any], tenants: int | None) -> RulePlan:
    loaded = from_dict(rules)
    with SQLite(con) as host:
        schema = execute(read(host.capabilities), host)
        return compile_rule(loaded.rules[0], loaded, schema, host.capabilities, tenants=tenants)


def verdicts(con: apsw.Connection, rules: dict[str, Any], tenants: int | None) -> list[Any]:
    rule = compiled(con, rules, tenants)
    assert bool(rule.pages.condition.given) == (tenants is not None)
    statement = rule.pages.rows(Range(), 100_000, rule.cutoffs(NOW_MS))
    rows, _ = rule.pages.read_rows([tuple(row) for row in con.execute(statement.sql, statement.params)])
    return [(row.key, row.verdict, row.tenant) for row in rows]


@pytest.mark.parametrize("shortest", ["1h", None])
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(("kind", "values"), [("doc", DOCUMENTS), ("days", NUMBERS)])
def test_both_ways_say_the_same_of_every_row(kind: str, values: list[Any], form: str, shortest: str | None) -> None:
    con = apsw.Connection("")
    con.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, at, w TEXT); CREATE TABLE ws (id TEXT PRIMARY KEY, doc, days)")
    con.executemany(f"INSERT INTO ws (id, {kind}) VALUES (?, ?)", [(f"w{i}", value) for i, value in enumerate(values)])
    ages: list[Any] = [written(form, NOW_MS - round(days * DAY_MS)) for days in DAYS]
    ages += [None, "no time", b"\x01"]
    rows = [(age, w) for w in [*(f"w{i}" for i in range(len(values))), "nobody", None] for age in ages]
    con.executemany("INSERT INTO t (at, w) VALUES (?, ?)", rows)
    rules = policy({"setting": "d"} if kind == "doc" else {"days": "days"}, form, shortest)
    found = verdicts(con, rules, None)
    assert found == verdicts(con, rules, len(values))
    assert len({verdict for _, verdict, _ in found}) >= 3, "the rows do not try the condition"


def walked(rows: int, ddl: str = "CREATE TABLE ws (id TEXT PRIMARY KEY, doc TEXT)", host: Any = None, **rule: Any) -> bool:
    """Whether the plan reads all tenants at once."""
    con = apsw.Connection("")
    con.execute(f"CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER, w TEXT); {ddl}")
    con.execute(f"WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows}) INSERT INTO ws (id) SELECT i FROM n")
    rules = policy({"setting": "d"}, "unix_s")
    rules["rules"][0] |= rule
    plan = make(con, rules, NOW_MS, **({"capabilities": host} if host else {}))
    return "retention_keeps" in plan.rules[0].pages.condition.sql


def test_few_tenants_are_read_at_once() -> None:
    assert walked(1)
    assert walked(planner.FEW_TENANTS)
    assert not walked(planner.FEW_TENANTS + 1)
    assert walked(200, page_rows=200)
    assert not walked(201, page_rows=200), "the tenants would outweigh the page"


def test_keys_that_sqlite_would_not_index_are_looked_up_in_their_table() -> None:
    assert not walked(5, "CREATE TABLE ws (id INTEGER PRIMARY KEY, doc TEXT)")


def test_without_automatic_indexes_tenants_are_looked_up_in_their_table() -> None:
    con = apsw.Connection("")
    con.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER, w TEXT); CREATE TABLE ws (id TEXT PRIMARY KEY, doc TEXT)")
    con.execute("INSERT INTO ws VALUES ('a', NULL)")
    con.pragma("automatic_index", False)
    assert "retention_keeps" not in make(con, policy({"setting": "d"}, "unix_s"), NOW_MS).rules[0].pages.condition.sql


def test_where_rows_read_are_paid_for_tenants_are_looked_up_one_by_one() -> None:
    assert D1.remote
    assert not walked(5, host=D1)


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize("word", ["key", "value", "type", "atom", "id", "parent", "fullkey", "path", "json", "root", "cut", "tenant"])
@pytest.mark.parametrize(("rows", "tenants"), [("t", "j"), ("j", "ws"), ("retention_keeps", "ws"), ("t", "Retention_Keeps")])
def test_no_name_is_taken_for_one_of_ours(rows: str, tenants: str, word: str, at_once: bool) -> None:
    con = apsw.Connection("")
    con.execute(
        f"CREATE TABLE {rows} (n INTEGER PRIMARY KEY, {word} INTEGER, w TEXT); CREATE TABLE {tenants} (k TEXT PRIMARY KEY, {word} TEXT)"
    )
    con.execute(f"INSERT INTO {rows} ({word}, w) VALUES (1700000000, 'ever'), (1700000000, 'ten'), (1788400000, 'one')")
    con.executemany(f"INSERT INTO {tenants} VALUES (?, ?)", [("ever", '{"d": 1e9}'), ("ten", '{"d": 10}'), ("one", '{"d": 1}')])
    rules = policy({"setting": "d"}, "unix_s")
    rules["rules"][0] |= {"table": rows, "age": {"column": word, "format": "unix_s"}, "page_rows": 100 if at_once else 1}
    rules["tenants"] |= {"table": tenants, "key": "k", "settings": word}
    assert retention.run(con, rules, now="2026-09-09T14:00:00Z", until_done=True).outcome == "done"
    assert con.execute(f"SELECT w FROM {rows}").fetchall() == [("ever",)]

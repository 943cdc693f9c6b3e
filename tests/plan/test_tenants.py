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


PLAIN = [name for name, form in FORMATS.items() if form.plain]
FEW: dict[str, list[Any]] = {
    "nobody sets one": [None, "", "{}"],
    "none": [],
    "each its own": ['{"d": 10}', '{"d": 20}', '{"d": 100}'],
    "some the rule's": ['{"d": 10}', None, '{"d": 100}'],
    "all longer than the rule's": ['{"d": 31}', '{"d": 100}'],
    "all shorter": ['{"d": 10}', '{"d": 0.001}'],
    "one for ever": ['{"d": 10}', '{"d": 1e9}'],
    "one malformed": ['{"d": 10}', "{broken", '{"d": 100}'],
    "only malformed": ["[]"],
}


@pytest.mark.parametrize("keep", [f"{KEEP}d", "forever"])
@pytest.mark.parametrize("form", PLAIN)
@pytest.mark.parametrize("few", FEW)
def test_whatever_the_tenants_set(few: str, form: str, keep: str) -> None:
    """Rows older than every keep, or younger than all, are not looked up; what is said of them is the same."""
    con = apsw.Connection("")
    con.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, at, w TEXT); CREATE TABLE ws (id TEXT PRIMARY KEY, doc)")
    con.executemany("INSERT INTO ws VALUES (?, ?)", [(f"w{i}", value) for i, value in enumerate(FEW[few])])
    ages: list[Any] = [written(form, NOW_MS - round(days * DAY_MS)) for days in DAYS] + [None, "no time", b"\x01"]
    edges = [written(form, NOW_MS - days * DAY_MS) for days in (10, 20, 31, 100, KEEP)]
    ages += [edge + by for edge in edges for by in (-1, 0, 1)]
    con.executemany("INSERT INTO t (at, w) VALUES (?, ?)", [(a, w) for w in ("w0", "w1", "w2", "nobody", None) for a in ages])
    rules = policy({"setting": "d"}, form)
    rules["rules"][0]["keep"] = keep
    assert verdicts(con, rules, None) == verdicts(con, rules, len(FEW[few]))


def test_most_rows_need_no_look_at_their_tenant() -> None:
    con = apsw.Connection("")
    con.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, at, w TEXT); CREATE TABLE ws (id TEXT PRIMARY KEY, doc)")
    con.executemany("INSERT INTO ws VALUES (?, ?)", [(f"w{i}", f'{{"d": {10 + i}}}') for i in range(50)])

    def steps(days: int) -> float:
        at = (NOW_MS - days * DAY_MS) // 1000
        con.execute("DELETE FROM t")
        con.executemany("INSERT INTO t (at, w) VALUES (?, ?)", [(at, f"w{i % 50}") for i in range(5_000)])
        rule = compiled(con, policy({"setting": "d"}, "unix_s"), 50)
        cutoffs = rule.cutoffs(NOW_MS)
        statement = rule.pages.boundary(Range(), 5_000, cutoffs)
        taken: list[int] = []
        con.trace_v2(apsw.SQLITE_TRACE_PROFILE, lambda event: taken.append(event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"]))
        con.execute(statement.sql, statement.params).fetchall()
        con.trace_v2(0)
        return sum(taken) / 5_000

    looked_up = steps(40)
    assert steps(1) < 0.8 * looked_up
    assert steps(90) < 0.8 * looked_up


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


# --- tenants that are called otherwise, or stand in the rule's own table

TYPES = ["INTEGER", "REAL", "NUMERIC", "TEXT", "BLOB", ""]
NOW = "2026-09-09T14:00:00Z"


@pytest.mark.parametrize("key", TYPES)
@pytest.mark.parametrize("column", TYPES)
@pytest.mark.parametrize("tenants", [5, planner.FEW_TENANTS + 1])
def test_where_no_index_can_serve_it_is_said_and_what_is_advised_works(column: str, key: str, tenants: int) -> None:
    con = apsw.Connection("")
    con.execute(f"CREATE TABLE ws (id {key} NOT NULL UNIQUE, doc TEXT); CREATE TABLE t (n INTEGER PRIMARY KEY, at INTEGER, w {column})")
    con.executemany("INSERT INTO ws VALUES (?, '{\"d\": 10}')", [(i,) for i in range(tenants)])
    con.executemany("INSERT INTO t (at, w) VALUES (?, ?)", [(1_700_000_000, i) for i in range(4)])
    rules = policy({"setting": "d"}, "unix_s")
    rules["rules"][0]["keep"] = "forever"
    done = retention.run(con, rules, now=NOW)
    if done.outcome == "refused":
        (said,) = done.warnings
        assert "No index can serve" in said
        assert "declare one type on both sides" in said
        assert "add an index" not in said
        alter = said.partition("costs no space: ")[2].rstrip(".")
        assert bool(alter) == (column != "REAL")
        if not alter:
            return
        con.execute(alter)
        rules["rules"][0]["tenant"]["column"] = "w_as_key"
        done = retention.run(con, rules, now=NOW)
    assert (done.outcome, done.warnings) == ("done", [])
    equal = con.execute("SELECT count(*) FROM t WHERE EXISTS (SELECT 1 FROM ws WHERE ws.id = t.w)").get
    assert equal == 0, "whoever has a tenant, as SQLite compares them, has its keep"
    assert done.deleted == (0 if {key, column} in ({"TEXT", "BLOB"}, {"TEXT", ""}) else 4), "a text and a number without a type are two"


COLLATIONS = ["BINARY", "NOCASE", "RTRIM"]


@pytest.mark.parametrize("key", COLLATIONS)
@pytest.mark.parametrize("column", COLLATIONS)
@pytest.mark.parametrize("index", COLLATIONS)
@pytest.mark.parametrize("page_rows", [1, 100], ids=["each looked up", "all at once"])
def test_a_tenant_is_unique_as_it_is_compared(page_rows: int, index: str, column: str, key: str) -> None:
    con = apsw.Connection("")
    con.execute(f"CREATE TABLE ws (id TEXT COLLATE {key}, doc TEXT); CREATE UNIQUE INDEX u ON ws (id COLLATE {index})")
    con.execute(f"CREATE TABLE t (n INTEGER PRIMARY KEY, at INTEGER, w TEXT COLLATE {column})")
    con.execute("INSERT INTO ws VALUES ('a', '{\"d\": 10}'), ('c', NULL)")
    con.executemany("INSERT INTO t (at, w) VALUES (1700000000, ?)", [(w,) for w in ("a", "A", "a ", "b")])
    rules = policy({"setting": "d"}, "unix_s")
    rules["rules"][0] |= {"keep": "forever", "page_rows": page_rows}
    if index != key:
        with pytest.raises(retention.PolicyError, match="not unique"):
            retention.run(con, rules, now=NOW)
        return
    assert retention.run(con, rules, now=NOW, until_done=True).outcome == "done"
    gone = {"BINARY": {"a"}, "NOCASE": {"a", "A"}, "RTRIM": {"a", "a "}}[key]
    assert {w for (w,) in con.execute("SELECT w FROM t")} == {"a", "A", "a ", "b"} - gone


@pytest.mark.parametrize("settings", [{"setting": "d"}, {"days": "days"}], ids=["document", "number"])
@pytest.mark.parametrize("mode", ["range", "chunk"])
@pytest.mark.parametrize("walk", ["rowid", "primary_key", "index"])
@pytest.mark.parametrize("column", ["id", "parent"])
@pytest.mark.parametrize("tenants", [7, planner.FEW_TENANTS + 1])
def test_a_rule_on_the_tenants_own_table(settings: dict[str, str], mode: str, walk: str, column: str, tenants: int) -> None:
    """A tenant has its own keep, or its parent's."""
    con = apsw.Connection("")
    without = " WITHOUT ROWID" if walk == "primary_key" else ""
    con.execute(
        f"CREATE TABLE ws (id TEXT PRIMARY KEY, parent TEXT, at INTEGER, doc TEXT, days INTEGER){without}; CREATE INDEX by_age ON ws (at)"
    )
    kept = {i: 10 if i % 3 == 0 else 20 for i in range(tenants)}
    rows = [(f"w{i}", f"w{i % 2}", NOW_MS // 1000 - 15 * 86_400, f'{{"d": {days}}}', days) for i, days in kept.items()]
    con.executemany("INSERT INTO ws VALUES (?, ?, ?, ?, ?)", rows)
    rules = policy(settings, "unix_s")
    rules["rules"][0] |= {
        "table": "ws",
        "tenant": {"column": column} | settings,
        "mode": mode,
        "walk": {"index": "by_age"} if walk == "index" else walk,
    }
    rules["rules"][0]["keep"] = "forever"
    done = retention.run(con, rules, now=NOW, until_done=True)
    assert done.outcome == "done", done.warnings
    left = {id for (id,) in con.execute("SELECT id FROM ws")}
    if column == "id":
        assert left == {f"w{i}" for i, days in kept.items() if days == 20}
    else:
        # w0 goes by its own keep of 10 days, and its children with the same parent with it or never: a parent that is gone has no keep.
        assert {f"w{i}" for i in kept if i % 2} <= left
        assert "w0" not in left

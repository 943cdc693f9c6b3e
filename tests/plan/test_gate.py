"""What is refused before a first delete, and the sentence that says what would allow it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import apsw
import pytest

import retention
from retention.capabilities import D1, Capabilities
from retention.errors import PolicyError, Refused
from retention.plan.gate import judge, outline
from retention.plan.model import Plan
from tests.properties.drive import make

NOW_S = 1_788_962_400
OLD = NOW_S - 90 * 86_400
T = "CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER, w TEXT, k TEXT);"
OTHER = "CREATE TABLE other (id INTEGER PRIMARY KEY, ref INTEGER, w TEXT);"


def child(action: str = "", index: bool = True, name: str = "child", parent: str = "t") -> str:
    made = f"CREATE TABLE {name} (id INTEGER PRIMARY KEY, ref INTEGER REFERENCES {parent} (id) {action}, held INTEGER);"
    return made + (f"CREATE INDEX {name}_ref ON {name} (ref);" if index else "")


def plan(ddl: str, host: Capabilities | None = None, more: dict[str, Any] | None = None, **rule: Any) -> Plan:
    con = apsw.Connection("")
    con.execute(ddl)
    base = {"table": "t", "keep": "30d", "age": {"column": "at", "format": "unix_s"}}
    policy = {"version": 1, "rules": [base | rule]} | (more or {})
    if host is None:
        return retention.plan(con, policy, now=NOW_S * 1000)
    return make(con, policy, NOW_S * 1000, host)


REFUSED: dict[str, tuple[str, dict[str, Any], dict[str, Any], str]] = {
    "a correlated look-up without an index": (
        T + OTHER, {"only": "NOT EXISTS (SELECT 1 FROM other WHERE other.ref = t.id)"}, {}, "would scan",
    ),
    "the rule's own table, inside": (T, {"only": "at < (SELECT max(at) FROM t AS u WHERE u.w = t.w)"}, {}, "would"),
    "the rule's own table, once": (T, {"only": "at < (SELECT avg(at) FROM t)"}, {}, "would scan"),
    "the rule's own table, once, by another name": (T, {"only": "at < (SELECT avg(u.at) FROM t AS u)"}, {}, "would scan 'u'"),
    "the rule's own table, once, in a list": (
        T, {"only": "id NOT IN (SELECT other.at FROM t AS other WHERE other.at IS NOT NULL)"}, {}, "would scan 'other'",
    ),
    "the rule's own table, in a view": (
        T + "CREATE VIEW v AS SELECT avg(inside.at) AS a FROM t AS inside;", {"only": "at < (SELECT v.a FROM v)"}, {}, "would scan",
    ),
    "the rule's own table, in a hold": (
        T + OTHER + "CREATE TABLE held (ref INTEGER REFERENCES t (id) ON DELETE CASCADE); CREATE INDEX held_ref ON held (ref);", {},
        {"holds": [{"table": "held", "where": "held.ref > (SELECT avg(u.at) FROM t AS u)"}]}, "would scan 'u'",
    ),
    "a trigger that names a table which is not there": (
        T + "CREATE TRIGGER told AFTER DELETE ON t BEGIN INSERT INTO log VALUES (OLD.id); END;", {}, {},
        "no such table: main.log.*create that, or drop the trigger",
    ),
    "a child key without an index": (T + child(index=False), {}, {}, "no index.*CREATE INDEX \"idx_child_ref\" ON \"child\" \\(\"ref\"\\)"),
    "a cascading child without an index": (T + child("ON DELETE CASCADE", index=False), {}, {}, "has no index"),
    "children that are not wanted": (T + child("ON DELETE CASCADE"), {"children": "refuse"}, {}, 'children = "refuse"'),
    "keep_newest without its index": (
        T, {"keep_newest": {"rows": 1, "per": ["w"], "by": ["at"]}}, {}, 'CREATE INDEX "t_w_at" ON "t" \\("w", "at"\\)',
    ),
    "keep_newest with an index in another order": (
        T + "CREATE INDEX i ON t (at, w)", {"keep_newest": {"rows": 1, "per": ["w"], "by": ["at"]}}, {}, "keep_newest needs an index",
    ),
    "keep_newest with a partial index": (
        T + "CREATE INDEX i ON t (w, at) WHERE k = 'x'", {"keep_newest": {"rows": 1, "per": ["w"], "by": ["at"]}}, {}, "keep_newest needs",
    ),
    "a hold two levels away": (
        T + child("ON DELETE CASCADE") + child("ON DELETE CASCADE", name="grand", parent="child"), {},
        {"holds": [{"table": "grand", "where": "held = 1"}]}, "over more than one level",
    ),
    "a view": (
        "CREATE TABLE u (id INTEGER PRIMARY KEY, at INTEGER); CREATE VIEW t AS SELECT * FROM u;", {}, {}, "a view has no rows of its own",
    ),
    "a virtual table": ("CREATE VIRTUAL TABLE t USING fts5 (at)", {}, {}, "belong to its module"),
    "a shadow table": (
        "CREATE VIRTUAL TABLE f USING fts5 (at)", {"table": "f_content", "age": {"column": "id", "format": "unix_s"}}, {}, "shadow table",
    ),
    "a foreign key that fits no key": (
        T.replace("PRIMARY KEY", "") + "CREATE TABLE child (ref INTEGER REFERENCES t (id)); CREATE INDEX r ON child (ref)", {}, {},
        'foreign key mismatch.*foreign_keys = "off"',
    ),
}  # fmt: skip


@pytest.mark.parametrize(("ddl", "rule", "more", "said"), REFUSED.values(), ids=REFUSED)
def test_refused(ddl: str, rule: dict[str, Any], more: dict[str, Any], said: str) -> None:
    with pytest.raises(Refused, match=said):
        plan(ddl, None, more, **rule)


WRONG: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "table": ({"table": "tt"}, {}, "no table 'tt'.*did you mean 't'[?]$"),
    "age column": ({"age": {"column": "att", "format": "unix_s"}}, {}, "'att' is not a column of 't'; did you mean 'at'[?]$"),
    "column in only": ({"only": "kk = 1"}, {}, "kk"),
    "table in only": ({"only": "EXISTS (SELECT 1 FROM othr WHERE othr.id = t.id)"}, {}, "othr"),
    "keep_newest column": ({"keep_newest": {"rows": 1, "by": ["seq"]}}, {}, "keep_newest column 'seq'"),
    "held table": ({}, {"holds": [{"table": "heldd", "where": "1 = 1"}]}, "no table 'heldd'"),
    "held column": ({}, {"holds": [{"table": "t", "where": "legal = 1"}]}, "legal"),
    "tenants": (
        {"tenant": {"column": "w", "setting": "d"}}, {"tenants": {"table": "wss", "key": "id", "settings": "doc"}}, "no table 'wss'",
    ),
    "tenant key": (
        {"tenant": {"column": "w", "setting": "d"}}, {"tenants": {"table": "other", "key": "idd", "settings": "w"}}, "key 'idd'",
    ),
    "tenant key that is not unique": (
        {"tenant": {"column": "w", "setting": "d"}}, {"tenants": {"table": "other", "key": "ref", "settings": "w"}}, "'ref' is not unique",
    ),
    "tenant column": (
        {"tenant": {"column": "ws", "setting": "d"}}, {"tenants": {"table": "other", "key": "id", "settings": "w"}}, "tenant column 'ws'",
    ),
    "settings": (
        {"tenant": {"column": "w", "setting": "d"}}, {"tenants": {"table": "other", "key": "id", "settings": "doc"}}, "settings 'doc'",
    ),
    "days": ({"tenant": {"column": "w", "days": "d"}}, {"tenants": {"table": "other", "key": "id"}}, "days column 'd'"),
}  # fmt: skip


@pytest.mark.parametrize(("rule", "more", "said"), WRONG.values(), ids=WRONG)
def test_a_name_that_is_not_there(rule: dict[str, Any], more: dict[str, Any], said: str) -> None:
    with pytest.raises(PolicyError, match=said):
        plan(T + OTHER, None, more, **rule)


ALLOWED: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "a look-up that is read once": (T + OTHER, {"only": "w IN (SELECT w FROM other)"}, {}),
    "an indexed look-up": (
        T + OTHER + "CREATE INDEX r ON other (ref)", {"only": "NOT EXISTS (SELECT 1 FROM other WHERE other.ref = t.id)"}, {},
    ),
    "an index that falls": (T + "CREATE INDEX i ON t (w, at DESC)", {"keep_newest": {"rows": 1, "per": ["w"], "by": ["at"]}}, {}),
    "the key itself": (T, {"keep_newest": {"rows": 9, "by": ["id"]}}, {}),
    "a hold one level away": (T + child("ON DELETE CASCADE"), {}, {"holds": [{"table": "child", "where": "held = 1"}]}),
    "a held table that NO ACTION protects": (
        T + child("ON DELETE CASCADE") + child(name="grand", parent="child"), {}, {"holds": [{"table": "grand", "where": "held = 1"}]},
    ),
    "no foreign keys": (T + child(index=False), {}, {"foreign_keys": "off"}),
    "all but the last thousand": (T, {"only": "id < (SELECT max(id) FROM t) - 1000"}, {}),
    "an index that finds the greatest": (
        T + "CREATE INDEX i ON t (w, at)", {"only": "at < (SELECT max(u.at) FROM t AS u WHERE u.w = t.w)"}, {},
    ),
    "a JSON list, looked through": (T, {"only": "EXISTS (SELECT 1 FROM json_each(t.k) WHERE value = t.w)"}, {}),
    "a JSON list": (T, {"only": "w IN (SELECT value FROM json_each(k))"}, {}),
    "names that must be quoted": (
        'CREATE TABLE "t" (id INTEGER PRIMARY KEY, at INTEGER, w TEXT, "or""der" TEXT);', {"only": '"or""der" = 1'}, {},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("ddl", "rule", "more"), ALLOWED.values(), ids=ALLOWED)
def test_allowed(ddl: str, rule: dict[str, Any], more: dict[str, Any]) -> None:
    assert plan(ddl, None, more, **rule).rules[0].plans


# --- remote hosts


def test_a_deep_cascade_is_refused_where_it_cannot_be_measured() -> None:
    ddl = T + child("ON DELETE CASCADE") + child("ON DELETE CASCADE", name="grand", parent="child")
    assert plan(ddl).rules[0].max_changes
    with pytest.raises(Refused, match="grand over more than one level of foreign keys, and d1"):
        plan(ddl, D1)
    assert "children" in plan(T + child("ON DELETE CASCADE"), D1).rules[0].plans[1].sql


def test_a_cascade_into_the_table_itself_is_deep() -> None:
    ddl = "CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER, up INTEGER REFERENCES t (id) ON DELETE CASCADE); CREATE INDEX u ON t (up);"
    with pytest.raises(Refused, match="over more than one level"):
        plan(ddl, D1)


def test_foreign_keys_cannot_be_off_on_a_remote_host() -> None:
    with pytest.raises(PolicyError, match="d1 always enforces foreign keys"):
        plan(T, D1, {"foreign_keys": "off"})


@pytest.mark.parametrize("limit", [{"max_sql_bytes": 300}, {"max_params": 1}])
def test_a_statement_that_does_not_fit_the_host(limit: dict[str, int]) -> None:
    with pytest.raises(Refused, match=r"has .* bytes, and sqlite takes 300|binds .* values, and sqlite takes 1"):
        plan(T, replace(Capabilities(), **limit))


def test_a_limit_too_small_names_the_smallest_that_works() -> None:
    con = apsw.Connection("")
    con.execute(T)
    con.execute("INSERT INTO t VALUES (1, ?, 'w', 'k')", (OLD,))
    policy = {"version": 1, "rules": [{"table": "t", "keep": "30d", "age": {"column": "at", "format": "unix_s"}}]}
    refused = retention.run(con, policy, now=NOW_S * 1000, limits={"statements": 1})
    assert (refused.outcome, refused.exit_status) == ("refused", 4)
    found = re.search(r"allow at least (\d+)", refused.warnings[-1])
    assert found
    smallest = int(found[1])
    assert retention.run(con, policy, now=NOW_S * 1000, limits={"statements": smallest - 1}).outcome == "refused"
    done = retention.run(con, policy, now=NOW_S * 1000, limits={"statements": smallest})
    assert done.deleted == 1
    assert done.statements.used <= smallest


# --- ages in another unit


@pytest.mark.parametrize(
    ("form", "stored", "said"),
    [
        ("unix_s", OLD * 1000, "ten years ahead"),
        ("unix_ms", OLD, "before 1990"),
        ("unix_us", OLD * 1000, "before 1990"),
        ("unix_s", 0, "before 1990"),
        ("julian", OLD, "ten years ahead"),
        ("utc_text", "0001-01-01 00:00:00", "before 1990"),
        ("date", "2999-12-31", "ten years ahead"),
    ],
)
def test_ages_that_are_implausible_in_their_unit(form: str, stored: Any, said: str) -> None:
    con = apsw.Connection("")
    con.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, at)")
    con.executemany("INSERT INTO t (at) VALUES (?)", [(stored,), (None,), ("soon",)])
    rule = {"table": "t", "keep": "30d", "age": {"column": "at", "format": form}}
    with pytest.raises(Refused, match=f"all ages on the first page of 't' and on the last lie (more than )?{said}.*plausible = false"):
        make(con, {"version": 1, "rules": [rule]}, NOW_S * 1000)
    assert make(con, {"version": 1, "rules": [rule | {"plausible": False}]}, NOW_S * 1000)
    assert make(con, {"version": 1, "rules": [rule | {"enabled": False}]}, NOW_S * 1000).rules == ()


@pytest.mark.parametrize("ages", [[], [None], ["soon"], [0, OLD], [OLD * 1000, OLD], [NOW_S + 86_400]])
def test_ages_of_which_one_is_plausible_or_none_can_be_read(ages: list[Any]) -> None:
    con = apsw.Connection("")
    con.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, at)")
    con.executemany("INSERT INTO t (at) VALUES (?)", [(a,) for a in ages])
    assert make(con, {"version": 1, "rules": [{"table": "t", "keep": "30d", "age": {"column": "at", "format": "unix_s"}}]}, NOW_S * 1000)


# --- judging plans by hand


BAD = [
    ["SCAN t"],
    ["SCAN other"],
    ["SEARCH t USING INTEGER PRIMARY KEY (rowid>?)", "CORRELATED SCALAR SUBQUERY 1", "  SCAN other"],
    ["CO-ROUTINE (subquery-1)",
     "  SEARCH t USING INTEGER PRIMARY KEY (rowid>?)", "  CORRELATED SCALAR SUBQUERY 2", "    SCAN other USING INDEX i"],
    ["SEARCH t USING INTEGER PRIMARY KEY (rowid>?)", "SCALAR SUBQUERY 1", "  SCAN t"],
    ["SEARCH t USING INTEGER PRIMARY KEY (rowid>?)", "LIST SUBQUERY 1", "  SCAN other", "SCAN third"],
    ["SEARCH t USING INTEGER PRIMARY KEY (rowid>?)", "CORRELATED SCALAR SUBQUERY 1", "  SEARCH u"],
    ["SEARCH t USING INTEGER PRIMARY KEY (rowid>?)", "SCAN other EXISTS"],
    ["SEARCH t USING INTEGER PRIMARY KEY (rowid>?)", "SCAN f EXISTS VIRTUAL TABLE INDEX 0:"],
    ["SEARCH t USING INTEGER PRIMARY KEY (rowid>?)", "USE TEMP B-TREE FOR ORDER BY"],
    ["SEARCH t USING INTEGER PRIMARY KEY (rowid>?)",
     "CORRELATED SCALAR SUBQUERY 1", "  SEARCH other USING AUTOMATIC COVERING INDEX (ref=?)"],
]  # fmt: skip
GOOD = [
    ["SEARCH t USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"],
    ["CO-ROUTINE (subquery-1)", "  SEARCH t USING INTEGER PRIMARY KEY (rowid>?)", "SCAN (subquery-1)"],
    ["SEARCH t USING INTEGER PRIMARY KEY (rowid>?)", "LIST SUBQUERY 1", "  SCAN other"],
    ["SEARCH t USING INTEGER PRIMARY KEY (rowid>?)", "SCALAR SUBQUERY 1", "  SCAN other", "  USE TEMP B-TREE FOR ORDER BY"],
    ["SEARCH t USING INTEGER PRIMARY KEY (rowid>?)", "CORRELATED SCALAR SUBQUERY 1", "  SCAN j VIRTUAL TABLE INDEX 1:"],
    ["SEARCH t USING INTEGER PRIMARY KEY (rowid>?)", "SCAN json_each EXISTS VIRTUAL TABLE INDEX 1:"],
    ["SEARCH t USING INTEGER PRIMARY KEY (rowid>?)", "CORRELATED SCALAR SUBQUERY 1", "  SCAN f VIRTUAL TABLE INDEX 0:M1"],
    ["SEARCH t USING INTEGER PRIMARY KEY (rowid>?)", "SCALAR SUBQUERY 1", "  SEARCH t"],
    ["SEARCH t USING INTEGER PRIMARY KEY (rowid>?)", "CORRELATED SCALAR SUBQUERY 1", "  SEARCH o EXISTS USING COVERING INDEX i (w=?)"],
    ["SEARCH t USING INTEGER PRIMARY KEY (rowid>?)", "USE TEMP B-TREE FOR json_group_array(DISTINCT)"],
    ["MATERIALIZE retention_edges", "  SEARCH t USING COVERING INDEX i (at>? AND at<?)", "SCAN retention_edges"],
]  # fmt: skip


@pytest.mark.parametrize("lines", BAD)
def test_a_plan_that_grows_with_a_table_is_refused(lines: list[str]) -> None:
    with pytest.raises(Refused, match=r"would scan|would sort or index"):
        judge(lines, plan(T).rules[0], "boundary", "rule")


@pytest.mark.parametrize("lines", GOOD)
def test_a_plan_that_grows_with_its_page_passes(lines: list[str]) -> None:
    judge(lines, plan(T).rules[0], "boundary", "rule")


def test_the_high_water_reads_one_end() -> None:
    judge(["SCAN t"], plan(T).rules[0], "high-water", "rule")


def test_an_outline_is_indented_by_depth() -> None:
    assert outline([(2, 0, 0, "a"), (5, 2, 0, "b"), (9, 5, 0, "c"), (12, 0, 0, "d")]) == ["a", "  b", "    c", "d"]


def test_a_column_that_was_added_later_is_judged_by_its_newest_rows() -> None:
    con = apsw.Connection("")
    con.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER)")
    con.executemany("INSERT INTO t VALUES (?, NULL)", [(n,) for n in range(1_200)])
    con.executemany("INSERT INTO t VALUES (?, ?)", [(n, 1_788_962_400 - n) for n in range(1_200, 1_300)])
    wrong = {"version": 1, "rules": [{"table": "t", "keep": "90d", "age": {"column": "at", "format": "unix_ms"}}]}
    receipt = retention.run(con, wrong, now="2026-09-09T14:00:00Z")
    assert (receipt.outcome, receipt.why, receipt.deleted) == ("refused", "guard", 0)

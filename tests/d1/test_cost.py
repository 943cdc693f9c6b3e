"""What a run costs on D1, by D1's own meter: the rows that it reads and writes are what its owner pays."""

from __future__ import annotations

from typing import Any

import pytest

import retention
from retention.cli.plan import made_plan
from retention.policy.load import from_dict
from retention.report.plan import plan_data, plan_text

from .fixtures import Database

NOW = "2026-09-09T14:00:00Z"
OLD = 1_788_962_400 - 100 * 86_400
ROWS = 3_000
PAGE = 250

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

AGES = {"all different": "{old} + v", "five equal": "{old} + v / 5", "lumps": "{old} + v / 170", "one": "{old}"}
GONE = {"all": "'go'", "some": "CASE WHEN v * 7919 % 10 < 3 THEN 'go' ELSE 'stay' END"}


def filled(d1: Database, table: str, age: str, kind: str, rows: int = ROWS) -> dict[str, Any]:
    """A policy for a table `t` of so many rows."""
    columns, end, index, key = TABLES[table]
    numbers = f"(WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < {rows}) SELECT v FROM n)"
    made = f"CREATE TABLE t ({columns.format(rest='at INTEGER, kind TEXT')}) {end}"
    d1.setup(*filter(None, [made, index, f"INSERT INTO t SELECT {key}{AGES[age].format(old=OLD)}, {GONE[kind]} FROM {numbers}"]))
    rule: dict[str, Any] = {"table": "t", "keep": "30d", "age": {"column": "at", "format": "unix_s"}, "only": "kind = 'go'"}
    return {"version": 1, "rules": [rule | {"page_rows": PAGE} | ({"walk": {"index": "i"}} if index else {})]}


@pytest.mark.parametrize("kind", ["all", "some"])
@pytest.mark.parametrize(("table", "age"), [(t, a) for t in TABLES for a in AGES if "index" in t or a == "all different"])
def test_a_row_is_read_twice(d1: Database, table: str, age: str, kind: str) -> None:
    policy = filled(d1, table, age, kind)
    with d1.host() as host:
        receipt = retention.run(host, policy, now=NOW, limits={"deadline": "10m"})
    rule = receipt.rules[0]
    assert receipt.outcome == "done", receipt
    assert rule.scanned == ROWS
    assert d1.rows("SELECT count(*) FROM t WHERE kind = 'go'") == [(0,)]
    assert rule.rows_read is not None
    assert rule.rows_read <= BOUND * rule.scanned + PAGE


CHILDREN = {
    "none": (),
    "a key that no row uses": ("CREATE TABLE c (ref INTEGER REFERENCES t (id))", "CREATE INDEX c_ref ON c (ref)"),
    "two go with each": (
        "CREATE TABLE c (ref INTEGER REFERENCES t (id) ON DELETE CASCADE)", "CREATE INDEX c_ref ON c (ref)",
        "INSERT INTO c SELECT id FROM t UNION ALL SELECT id FROM t",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", ["all", "some"])
@pytest.mark.parametrize(
    ("table", "mode", "children"),
    [(table, mode, "none") for table in ("rowid", "index of the age", "primary key of two") for mode in ("range", "chunk")]
    + [("rowid", "range", children) for children in CHILDREN if children != "none"],
)
def test_plan_says_what_the_run_then_uses(d1: Database, table: str, mode: str, children: str, kind: str) -> None:
    policy = filled(d1, table, "all different", kind, rows=2_000)
    policy["rules"][0]["mode"] = mode
    if CHILDREN[children]:
        d1.setup(*CHILDREN[children])
    with d1.host() as host:
        made, counted = made_plan(host, from_dict(policy), NOW)
        shown = plan_data(made, counted, None)["rules"][0]
        used = retention.run(host, policy, now=NOW, limits={"deadline": "10m"}).rules[0]
    assert used.rows_read == pytest.approx(shown["rows_read"], rel=0.1)
    assert used.rows_written == shown["rows_written"]
    assert f"rows read and {shown['rows_written']:,} written" in plan_text(made, counted, None)


@pytest.mark.parametrize("limits", [{"rows_read": 3_000}, {"rows_read": 4_100}, {"rows_written": 1}, {"rows_written": 700}])
def test_a_limit_on_rows_is_passed_by_one_page_at_most(d1: Database, limits: dict[str, int]) -> None:
    policy, store = filled(d1, "rowid", "all different", "all", rows=3_000), retention.MemoryStore()
    for _ in range(20):
        d1.reset()
        with d1.host() as host:
            receipt = retention.run(host, policy, store=store, now=NOW, limits=limits | {"deadline": "10m"})
        metas = [meta for request in d1.log() for meta in request["metas"]]
        for name, limit in limits.items():
            # A page's boundary, its delete, and the next page's boundary, which travels with it.
            assert sum(meta[name] for meta in metas) <= limit + 3 * PAGE + 10
        assert receipt.deleted > 0
        if receipt.outcome == "done":
            break
        assert (receipt.outcome, receipt.why) == ("more", *limits)
    assert d1.rows("SELECT count(*) FROM t") == [(0,)]


def test_a_limit_that_planning_uses_up_is_refused(d1: Database) -> None:
    """Else no run would ever come to a page, and each would say that the next goes on."""
    policy = filled(d1, "rowid", "all different", "all", rows=1_500)
    with d1.host() as host:
        receipt = retention.run(host, policy, now=NOW, limits={"rows_read": 1_000})
        assert (receipt.outcome, receipt.why) == ("refused", "policy")
        smallest = int(receipt.warnings[0].split("planning read ")[1].split(";")[0].replace(",", ""))
        assert retention.run(host, policy, now=NOW, limits={"rows_read": smallest}).outcome == "refused"
        assert retention.run(host, policy, now=NOW, limits={"rows_read": smallest + 1}).deleted > 0

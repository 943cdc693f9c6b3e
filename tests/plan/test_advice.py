"""What is advised is what the planner then takes, and it spares what it says."""

from __future__ import annotations

from typing import Any

import apsw
import pytest

from retention.engine.preview import RulePreview, preview
from retention.hosts.sqlite import SQLite
from tests.engine.meter import measured
from tests.properties.drive import execute, make

NOW_MS = 1_788_962_400_000
NOW_S = NOW_MS // 1000
DAY = 86_400
NUMBERS = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})"
UNIX: dict[str, Any] = {"column": "at", "format": "unix_s"}
IPK = "CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER, w TEXT)"
WS = {"table": "ws", "key": "id", "settings": "doc"}

CASES: list[tuple[str, dict[str, Any], dict[str, Any], str | None]] = [
    (IPK, {}, {}, 'CREATE INDEX "idx_t_at" ON "t" ("at")'),
    (IPK + "; CREATE INDEX i ON t (w, at)", {}, {}, 'CREATE INDEX "idx_t_at" ON "t" ("at")'),
    (IPK + "; CREATE TABLE IDX_T_AT (x); CREATE INDEX idx_t_at_2 ON ws (doc)", {}, {}, 'CREATE INDEX "idx_t_at_3" ON "t" ("at")'),
    (IPK + "; CREATE INDEX i ON t (at)", {}, {}, None),
    (IPK, {"ordered": True}, {}, None),
    (IPK, {"walk": "rowid"}, {}, None),
    (IPK, {"age": None, "only": "w = 'a'", "keep": "0s"}, {}, None),
    (IPK, {"age": {"column": ["at", "id"], "format": "unix_s"}}, {}, None),
    (IPK, {"age": {"column": "at", "format": "mixed"}}, {}, None),
    (IPK, {"tenant": {"column": "w", "setting": "days"}}, {"tenants": WS}, None),
    (IPK, {"tenant": {"column": "w", "setting": "days"}}, {"tenants": WS | {"shortest": "1d"}}, 'CREATE INDEX "idx_t_at" ON "t" ("at")'),
    ("CREATE TABLE t (w TEXT, k TEXT, at INTEGER, PRIMARY KEY (w, k)) WITHOUT ROWID", {}, {},
     'CREATE INDEX "idx_t_at" ON "t" ("at", "w", "k")'),
    ("CREATE TABLE t (w TEXT, at INTEGER, PRIMARY KEY (w, at)) WITHOUT ROWID", {}, {}, 'CREATE INDEX "idx_t_at" ON "t" ("at", "w")'),
    ("CREATE TABLE t (at INTEGER, w TEXT, PRIMARY KEY (at, w)) WITHOUT ROWID", {}, {}, "ordered = true"),
    ("CREATE TABLE t (at INTEGER PRIMARY KEY, w TEXT)", {}, {}, "ordered = true"),
    ("CREATE TABLE t (at INTEGER PRIMARY KEY, w TEXT)", {"tenant": {"column": "w", "setting": "days"}}, {"tenants": WS}, None),
    ("CREATE TABLE t (id TEXT PRIMARY KEY, at TEXT COLLATE NOCASE)", {"age": {"column": "at", "format": "utc_text"}}, {}, None),
]  # fmt: skip


def policy(rule: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    made = {"table": "t", "keep": "30d", "age": UNIX, "plausible": False} | rule
    return {"version": 1, "rules": [{k: v for k, v in made.items() if v is not None}], **more}


@pytest.mark.parametrize(("ddl", "rule", "more", "advice"), CASES)
def test_what_is_advised_is_then_taken(ddl: str, rule: dict[str, Any], more: dict[str, Any], advice: str | None) -> None:
    con = apsw.Connection("")
    con.execute("CREATE TABLE ws (id TEXT PRIMARY KEY, doc TEXT);" + ddl)
    (planned,) = make(con, policy(rule, more), NOW_MS).rules
    assert planned.advice == advice
    if advice is None:
        return
    if advice.startswith("CREATE"):
        con.execute(advice)
    else:
        rule = rule | {"ordered": True}
    (again,) = make(con, policy(rule, more), NOW_MS).rules
    assert again.advice is None
    assert again.walk.startswith("index:idx_t_at") if advice.startswith("CREATE") else again.ordered


def previewed(con: apsw.Connection, pages: int = 20, **rule: Any) -> RulePreview:
    host = SQLite(con)
    try:
        return execute(preview(make(con, policy(rule, {}), NOW_MS), NOW_MS, pages=pages), host).rules[0]
    finally:
        host.close()


def filled(rows: int, key: str = "i", at: str = "i", old: int = 0, ddl: str = IPK) -> apsw.Connection:
    """`at` (SQL over i, 1 to `rows`) up to `old` is past the keep."""
    con = apsw.Connection("")
    con.execute(ddl)
    con.execute(f"INSERT INTO t (id, at) {NUMBERS.format(rows=rows)} SELECT {key}, {NOW_S - 30 * DAY - 1 - old} + {at} FROM n")
    return con


def test_a_table_that_is_counted_whole_is_told_exactly() -> None:
    saving = previewed(filled(30_000, old=1_000)).saving
    assert saving is not None
    assert (saving.now, saving.then, saving.exact) == (30_000, 1_000, True)


def test_rows_without_an_age_are_not_visited_by_an_index_walk() -> None:
    con = filled(30_000, old=1_000)
    con.execute("UPDATE t SET at = NULL WHERE id % 2")
    saving = previewed(con).saving
    assert saving is not None
    assert (saving.now, saving.then) == (30_000, 500)


@pytest.mark.parametrize(("rows", "old"), [(5_000, 0), (30_000, 25_000)], ids=["a small table", "most is old"])
def test_where_little_would_be_saved_nothing_is_said(rows: int, old: int) -> None:
    assert previewed(filled(rows, old=old)).saving is None


SPREAD = {
    "in order of age": ("i", "i"),
    "age falls along the key": ("i", "100001 - i"),
    "age beside the key": ("i", "i * 7919 % 100000"),
    "huge gaps": ("i * 92233720368547 - 4611686018427387904", "i"),
}


@pytest.mark.parametrize("old", [2_000, 60_000])
@pytest.mark.parametrize("case", SPREAD.values(), ids=SPREAD.keys())
def test_a_large_table_is_estimated_from_a_thousand_rows(case: tuple[str, str], old: int) -> None:
    con = filled(100_000, *case, old=old)
    saving = previewed(con, pages=2, page_rows=100).saving
    assert saving is not None
    assert not saving.exact
    assert 0.5 * 100_000 <= saving.now <= 1.5 * 100_000
    assert old - 0.05 * 100_000 <= saving.then <= old + 0.05 * 100_000


@pytest.mark.parametrize("first", [10, 20_000])
def test_rows_between_two_looks_may_be_missed_but_none_that_were_counted(first: int) -> None:
    """Few rows far from all others: the estimate is never below what the preview itself has seen."""
    con = filled(40_000, f"CASE WHEN i <= {first} THEN i ELSE i + 900000000000 END", "i", old=2_000)
    saving = previewed(con, pages=2, page_rows=15_000).saving
    assert saving is not None
    assert 30_000 <= saving.now <= 40_000
    assert saving.then >= 2_000


def test_an_estimate_costs_two_batches_and_a_thousand_rows() -> None:
    con = filled(100_000, old=2_000)
    steps: list[int] = []
    con.trace_v2(apsw.SQLITE_TRACE_PROFILE, lambda event: steps.append(event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"]))
    previewed(con, pages=1, page_rows=100)
    assert sum(steps) < 100 * 2_000


def test_the_saving_is_what_a_run_then_saves() -> None:
    """By SQLite's own count of steps: rows no longer visited are steps no longer made."""
    con = filled(40_000, old=400)
    saving = previewed(con).saving
    assert saving is not None

    def steps() -> int:
        copy = apsw.Connection("")
        with copy.backup("main", con, "main") as backup:
            backup.step()
        return sum(cost.steps for cost in measured(copy, policy({}, {}), NOW_MS)[1])

    now = steps()
    con.execute(make(con, policy({}, {}), NOW_MS).rules[0].advice or "")
    then = steps()
    assert 0.5 <= (now - then) / (saving.now - saving.then) / (now / saving.now) <= 1.5


def test_an_index_walk_never_costs_much_more_than_the_rowid_walk_and_often_far_less() -> None:
    """Why the planner takes an index wherever one fits: at worst, where all rows are old and kept, it makes three times the steps."""
    costs: dict[tuple[int, str], int] = {}
    for old in (200, 20_000):
        for walk in ("rowid", {"index": "i"}):
            con = filled(20_000, old=old, ddl=IPK + "; CREATE INDEX i ON t (at)")
            ran, statements = measured(con, policy({"walk": walk, "only": "w = 'gone'", "page_rows": 1_000}, {}), NOW_MS)
            assert ran.deleted == 0
            costs[old, str(walk)[:5]] = sum(cost.steps for cost in statements)
    assert costs[20_000, "{'ind"] <= 3 * costs[20_000, "rowid"]
    assert costs[200, "{'ind"] <= 0.05 * costs[200, "rowid"]

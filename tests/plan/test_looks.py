"""Looks that one row may make dear: the plan says so where it can happen, and the index that it names bounds them."""

from __future__ import annotations

from typing import Any

import apsw
import pytest

import retention
from tests.engine.meter import measured

NOW = "2026-09-09T14:00:00Z"
NOW_MS = 1_788_962_400_000
OLD = 1_700_000_000
AGE = {"column": "at", "format": "unix_s"}
MANY = 3_000


def numbered(con: apsw.Connection, rows: int, insert: str) -> None:
    con.execute(f"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows}) {insert} FROM n")


def notes(con: apsw.Connection, policy: dict[str, Any]) -> list[str]:
    return [note for note in retention.plan(con, policy, now=NOW).rules[0].notes if "dear" in note]


def index_of(note: str) -> str:
    found = note[note.index("CREATE INDEX") :]
    assert "bounds it: CREATE INDEX" in note
    return found


def work(con: apsw.Connection, policy: dict[str, Any]) -> int:
    """Steps of the dearest statement of a run."""
    ran, costs = measured(con, policy, NOW_MS)
    assert ran.outcome == "done"
    return max(cost.steps for cost in costs)


# --- keep_newest among rows that do not count


def log(groups: int, open_rows: int, table: str = "at INTEGER NOT NULL") -> apsw.Connection:
    """Groups of five old rows that count, with `open_rows` newer ones that do not; these are young, so that no page holds them."""
    con = apsw.Connection("")
    con.execute(f"CREATE TABLE t (id INTEGER PRIMARY KEY, w INTEGER NOT NULL, {table}, seq INTEGER NOT NULL, st TEXT)")
    con.execute("CREATE INDEX t_at ON t (at); CREATE INDEX t_seq ON t (w, seq)")
    numbered(con, 5 * groups, f"INSERT INTO t (w, at, seq, st) SELECT i % {groups}, {OLD} + i, i, 'done'")
    if open_rows:
        numbered(con, open_rows, f"INSERT INTO t (w, at, seq, st) SELECT 0, {NOW_MS // 1000}, {5 * groups} + i, 'open'")
    return con


def newest(**keys: Any) -> dict[str, Any]:
    rule = {"table": "t", "keep": "30d", "age": AGE, "walk": {"index": "t_at"}, "keep_newest": {"rows": 2, "per": ["w"], "by": ["seq"]}}
    return {"version": 1, "rules": [rule | keys]}


def test_an_index_of_the_rows_that_count_bounds_keep_newest() -> None:
    policy = newest(only="st = 'done'")
    (note,) = notes(log(4, 0), policy)
    assert "rows that `only` leaves out" in note
    few, many, helped = log(4, 0), log(4, MANY), log(4, MANY)
    helped.execute(index_of(note))
    assert notes(helped, policy) == []
    bound = work(few, policy) + 200
    assert work(many, policy) > 5 * bound
    assert work(helped, policy) <= bound


def test_rows_without_an_age_do_not_count_either() -> None:
    con = log(4, 0, "at INTEGER")
    numbered(con, MANY, "INSERT INTO t (w, at, seq, st) SELECT 0, NULL, 100 + i, 'done'")
    (note,) = notes(con, newest())
    assert "rows that have no age" in note
    before = work(con, newest())
    con = log(4, 0, "at INTEGER")
    numbered(con, MANY, "INSERT INTO t (w, at, seq, st) SELECT 0, NULL, 100 + i, 'done'")
    con.execute(index_of(note))
    assert notes(con, newest()) == []
    assert work(con, newest()) * 5 < before
    (note,) = notes(con, newest(only="st = 'done'"))
    assert "rows that `only` leaves out and that have no age" in note
    con.execute(index_of(note))


@pytest.mark.parametrize(
    ("table", "keys"),
    [
        ("at INTEGER NOT NULL", {}),
        ("at INTEGER", {"keep_newest": {"rows": 2, "per": ["w"], "by": ["at"]}}),
        ("at INTEGER", {"keep_newest": None, "only": "st = 'done'"}),
    ],
    ids=["every row counts", "by the age itself", "no keep_newest"],
)
def test_where_nothing_can_be_passed_nothing_is_said(table: str, keys: dict[str, Any]) -> None:
    con = log(1, 0, table)
    con.execute("CREATE INDEX t_w ON t (w, at)")
    policy = newest(**keys)
    policy["rules"][0] = {key: value for key, value in policy["rules"][0].items() if value is not None}
    assert notes(con, policy) == []


# --- holds through one parent with very many children


def family(children: int, child: str = "held INTEGER, doc TEXT") -> apsw.Connection:
    con = apsw.Connection("")
    con.execute("CREATE TABLE p (id INTEGER PRIMARY KEY, at INTEGER); CREATE TABLE other (c INTEGER PRIMARY KEY)")
    con.execute(
        f"CREATE TABLE c (id INTEGER PRIMARY KEY, up INTEGER REFERENCES p ON DELETE SET NULL, {child}); CREATE INDEX c_up ON c (up)"
    )
    numbered(con, 3, f"INSERT INTO p SELECT i, {OLD}")
    if children:
        numbered(con, children, "INSERT INTO c (up, held) SELECT 2, 0")
    con.execute("INSERT INTO c (up, held) VALUES (3, 1)")
    return con


def holding(where: str, **keys: Any) -> dict[str, Any]:
    rule: dict[str, Any] = {"table": "p", "keep": "30d", "age": AGE}
    return {"version": 1, "rules": [rule | keys], "holds": [{"table": "c", "where": where}]}


@pytest.mark.parametrize("where", ["held = 1", "c.held = 1 AND coalesce(doc, '') <> 'x'", "held IN (1, 2)"])
def test_an_index_of_the_held_rows_bounds_a_hold(where: str) -> None:
    policy = holding(where)
    (note,) = notes(family(0), policy)
    con = family(MANY)
    con.execute(index_of(note))
    assert notes(con, policy) == []

    def look(con: apsw.Connection) -> int:
        """Steps of the page's first look, which deletes nothing."""
        _, costs = measured(con, policy, NOW_MS)
        assert con.execute("SELECT group_concat(id) FROM p").get == "3"
        return max(cost.steps for cost in costs if cost.sql.startswith("SELECT"))

    bound = look(family(0)) + 200
    assert look(family(MANY)) > 5 * bound
    assert look(con) <= bound


def test_a_hold_that_an_index_cannot_follow_is_said_without_one() -> None:
    """A subquery, or a function that could fail: an index over it would refuse rows that the table takes."""
    for where in ("EXISTS (SELECT 1 FROM other WHERE other.c = c.id)", "doc ->> '$.x' = 1", "json_extract(doc, '$.x') = 1"):
        (note,) = notes(family(0), holding(where))
        assert "CREATE INDEX" not in note
        assert note.endswith("a smaller page_rows keeps statements short")


def test_a_hold_through_one_child_at_most_is_not_dear() -> None:
    con = family(0)
    con.execute("CREATE UNIQUE INDEX one ON c (up)")
    assert notes(con, holding("held = 1")) == []


def test_below_a_drained_family_and_in_the_table_itself_too() -> None:
    con = family(0)
    con.execute(
        "CREATE TABLE d (id INTEGER PRIMARY KEY, c INTEGER REFERENCES c ON DELETE CASCADE, held INTEGER); CREATE INDEX d_c ON d (c)"
    )
    con.execute("CREATE TABLE s (id INTEGER PRIMARY KEY, at INTEGER, up INTEGER REFERENCES s ON DELETE SET NULL, held INTEGER)")
    con.execute("CREATE INDEX s_up ON s (up)")
    policy = holding("held = 1", children="drain")
    policy["holds"] = [{"table": "d", "where": "held = 1"}]
    (note,) = notes(con, policy)
    con.execute(index_of(note))
    assert notes(con, policy) == []
    policy = {"version": 1, "rules": [{"table": "s", "keep": "30d", "age": AGE}], "holds": [{"table": "s", "where": "held = 1"}]}
    (note,) = notes(con, policy)
    con.execute(index_of(note))
    assert notes(con, policy) == []
    lines = [line for query in retention.plan(con, policy, now=NOW).rules[0].plans for line in query.lines]
    assert any("idx_s_held" in line for line in lines)

"""Where a walk's own bounds are the rule's condition, its pages are deletes alone; and the rows left are those of the rowid walk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cli.tools import call
from tests.properties.drive import Ran, drive, make

NOW_S = 1_788_962_400
DAY = 86_400
NOW_MS = NOW_S * 1000
TABLE = """
CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER, status TEXT, kind TEXT, "odd ""one" INTEGER, "É" INTEGER, "é" INTEGER);
CREATE TABLE child (id INTEGER PRIMARY KEY, t INTEGER REFERENCES t (id));
CREATE INDEX child_t ON child (t);
"""


def built(index: str, more: str = "", *, child: bool = False) -> apsw.Connection:
    con = apsw.Connection("")
    con.execute(TABLE if child else TABLE.split("CREATE TABLE child")[0])
    con.execute(f"CREATE INDEX i ON t {index};{more}")
    return con


def policy(only: str | None, walk: Any, **more: Any) -> dict[str, Any]:
    rule = {"table": "t", "keep": "30d", "age": {"column": "at", "format": "unix_s"}, "walk": walk, **more}
    return {"version": 1, "rules": [rule | ({} if only is None else {"only": only})]}


SAME = [
    (None, "(at)"),
    (None, "(at, id)"),
    ("status = 'done'", "(at) WHERE status = 'done'"),
    ("status = 'done'", "(at, id) WHERE status = 'done' AND at IS NOT NULL"),
    ("kind = 'x' AND status IN ('a', 'b')", "(at) WHERE status IN ('a', 'b') AND kind = 'x'"),
    ("t.status = 'done'", "(at) WHERE \"status\" = 'done'"),
    ("(STATUS = 'done')", "(at) WHERE status = 'done'"),
    ('"odd ""one" > 3', '(at) WHERE ("odd ""one" > 3)'),
    ("status = 'done' OR kind = 'x'", "(at) WHERE (status = 'done' OR kind = 'x')"),
    ('"é" = 1', "(at) WHERE é = 1"),
    ("replace(status, 'a', 'b') = 'b'", "(at) WHERE replace(status, 'a', 'b') = 'b'"),
]
"""`only` and index: every row of the index that is old enough goes."""

OTHER = [
    ("status = 'done'", "(at)"),
    ("status = 'done'", "(at) WHERE status = 'Done'"),
    ("status = 'done'", "(at) WHERE status IS NOT NULL"),
    ("status = 'done' AND kind = 'x'", "(at) WHERE status = 'done'"),
    ("status = 'done'", "(at) WHERE status = 'done' OR kind = 'x'"),
    ("status = 'done'", "(at) WHERE kind = 'done'"),
    ('"É" = 1', '(at) WHERE "é" = 1'),
    ("mod(status, 2) = 0", "(at) WHERE status % 2 = 0"),
    ("CAST(status AS DECIMAL) = 1", "(at) WHERE CAST(status AS NUMERIC) = 1"),
    ("replace(status, 'D', '') = 'one'", "(at) WHERE replace(status, 'd', '') = 'one'"),
]
"""Some may stay."""


@pytest.mark.parametrize(("only", "index"), SAME)
def test_a_page_is_one_delete_where_the_index_holds_what_only_selects(only: str | None, index: str) -> None:
    plan = make(built(index), policy(only, {"index": "i"}), NOW_MS)
    assert plan.rules[0].certain
    assert plan.rules[0].page_cost == 1


@pytest.mark.parametrize(("only", "index"), OTHER)
def test_a_page_is_looked_at_first_where_rows_may_stay(only: str, index: str) -> None:
    assert not make(built(index), policy(only, {"index": "i"}), NOW_MS).rules[0].certain


KEEPERS: list[tuple[str, dict[str, Any], bool]] = [
    ("", {"mode": "chunk"}, False),
    ("", {"ordered": True}, False),
    ("", {"keep_newest": {"rows": 1, "per": ["kind"], "by": ["at"]}}, False),
    ("CREATE TRIGGER veto BEFORE DELETE ON t WHEN old.kind = 'x' BEGIN SELECT RAISE(IGNORE); END", {}, False),
    ("CREATE TRIGGER log AFTER DELETE ON t BEGIN UPDATE t SET kind = 'y' WHERE id = old.id + 1; END", {}, False),
    ("", {}, True),
]


@pytest.mark.parametrize(("only", "where"), [(o, i.partition("WHERE ")[2]) for o, i in [*SAME, *OTHER] if "WHERE" in i])
def test_a_condition_is_compared_without_a_word(only: str, where: str, caplog: pytest.LogCaptureFixture) -> None:
    """What cannot be read, or is read as a statement, is a reader's warning on the caller's screen."""
    make(built(f"(at) WHERE {where}"), policy(only, {"index": "i"}), NOW_MS)
    assert not caplog.records


@pytest.mark.parametrize(("more", "rule", "child"), KEEPERS)
def test_nothing_else_may_decide_about_a_row(more: str, rule: dict[str, Any], child: bool) -> None:
    con = built("(at)", f"CREATE INDEX newest ON t (kind, at);{more}", child=child)
    assert not make(con, policy(None, {"index": "i"}, **rule), NOW_MS).rules[0].certain


def test_a_hold_decides_too() -> None:
    held = policy(None, {"index": "i"}) | {"holds": [{"table": "t", "where": "kind = 'x'"}]}
    assert not make(built("(at)"), held, NOW_MS).rules[0].certain


AGES = st.one_of(
    st.none(),
    st.integers(NOW_S - 60 * DAY, NOW_S),
    st.floats(0, 2 * NOW_S),
    st.sampled_from(["", "old", b"x", -1, 0, NOW_S - 30 * DAY, 1e300]),
)
ROWS = st.lists(st.tuples(AGES, st.sampled_from(["done", "open", None]), st.sampled_from(["x", "y"])), max_size=15)


@settings(max_examples=150, deadline=None)
@given(
    ROWS,
    st.sampled_from([(o, i) for o, i in [*SAME, *OTHER] if o is None or "status" in o]),
    st.integers(1, 6),
    st.none() | st.integers(1, 3),
)
def test_the_rows_left_are_those_of_the_rowid_walk(
    rows: list[tuple[Any, ...]], case: tuple[str | None, str], page: int, cap: int | None
) -> None:
    only, index = case
    walks: list[Any] = ["rowid", {"index": "i"}]
    left: list[Any] = []
    for walk in walks:
        con = built(index)
        con.executemany("INSERT INTO t (at, status, kind) VALUES (?, ?, ?)", rows)
        if walk != "rowid":
            # What a partial index does not hold, an index walk does not delete.
            where = index.partition("WHERE")[2] or "1"
            kept = con.execute(f"SELECT id FROM t WHERE NOT ifnull(({where}), 0)").fetchall()
        rule = policy(only, walk, page_rows=page, plausible=False, **({} if cap is None or walk == "rowid" else {"max_pages": cap}))
        document = None
        for _ in range(40):
            ran = drive(con, make(con, rule, NOW_MS), NOW_MS, document=document)
            document = ran.document
            if ran.outcome == "done":
                break
        assert ran.outcome == "done"
        left.append({i for (i,) in con.execute("SELECT id FROM t")})
    assert left[1] - {i for (i,) in kept} == left[0] - {i for (i,) in kept}
    assert left[0] <= left[1]


def emptied(rows: int, **rule: Any) -> tuple[apsw.Connection, Ran, list[str]]:
    con = built("(at)")
    con.executemany("INSERT INTO t (at) VALUES (?)", [(NOW_S - 60 * DAY - i % 3,) for i in range(rows)])
    con.execute(f"INSERT INTO t (at) VALUES ({NOW_S}), (NULL), ('x')")
    sent: list[str] = []
    plan = make(con, policy(None, {"index": "i"}, **rule), NOW_MS)
    con.trace_v2(apsw.SQLITE_TRACE_STMT, lambda event: sent.append(event["sql"].split()[0]))
    ran = drive(con, plan, NOW_MS)
    con.trace_v2(0, None)
    return con, ran, ["DELETE" if word == "DELETE" else "read" for word in sent if word != "PRAGMA"]


@pytest.mark.parametrize(("rows", "deletes"), [(0, 0), (1, 1), (49, 1), (50, 2), (120, 3)])
def test_a_run_is_one_look_and_then_deletes(rows: int, deletes: int) -> None:
    """Nobody's write lock is asked for where there is nothing to do."""
    con, ran, sent = emptied(rows, page_rows=50)
    assert sent == ["read"] + ["DELETE"] * deletes
    assert (ran.outcome, ran.deleted, ran.rules[0].scanned) == ("done", rows, rows)
    assert con.execute("SELECT count(*) FROM t").get == 3


def test_capped_pages_are_all_that_a_run_sends() -> None:
    _, ran, sent = emptied(120, page_rows=50, max_pages=2)
    assert sent == ["DELETE"] * 2
    assert (ran.outcome, ran.why, ran.deleted) == ("more", "pages", 100)


@pytest.mark.parametrize(("only", "index"), [SAME[0], OTHER[0]])
def test_the_plan_says_so(only: str | None, index: str, tmp_path: Path) -> None:
    path, file = tmp_path / "x.db", tmp_path / "retention.toml"
    con = apsw.Connection(str(path))
    con.execute(f"{TABLE}; CREATE INDEX i ON t {index}; DROP TABLE child")
    con.close()
    chosen = "" if only is None else f'only = "{only}"\n'
    file.write_text(f'version = 1\n[[rules]]\ntable = "t"\nkeep = "30d"\nage = {{ column = "at", format = "unix_s" }}\n{chosen}')
    told = call("plan", path, "-p", file)
    assert told.exit_code == 0
    assert ("nothing is read before a delete" in told.stdout) == (only is None)

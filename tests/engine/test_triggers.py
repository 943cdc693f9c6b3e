"""Triggers and keys that make a delete take less or more than its rows: the receipt says what became of each, and the run ends."""

from __future__ import annotations

from itertools import count
from typing import Any

import apsw
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import retention

NOW = "2026-09-09T14:00:00Z"
OLD, FRESH = 1_700_000_000, 1_788_960_000
MODES: list[Any] = ["range", "chunk", {"chunk": 2}]
both = pytest.mark.parametrize("mode", MODES, ids=["range", "chunk", "chunk of two"])


def database(rows: int, more: str = "") -> apsw.Connection:
    con = apsw.Connection("")
    con.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER, up INTEGER REFERENCES t ON DELETE CASCADE, gone INTEGER DEFAULT 0)")
    con.execute("CREATE INDEX t_up ON t (up); CREATE INDEX t_at ON t (at)")
    con.executemany("INSERT INTO t (id, at) VALUES (?, ?)", [(i, OLD + i // 3) for i in range(1, rows + 1)])
    con.execute(more)
    return con


def rule(table: str = "t", **keys: Any) -> dict[str, Any]:
    return {"table": table, "keep": "30d", "age": {"column": "at", "format": "unix_s"}, **keys}


def run(con: apsw.Connection, *rules: dict[str, Any], **how: Any) -> retention.Receipt:
    """A run that a test of what ends it does not wait for for ever: after so many steps it is told to stop."""
    steps = count()
    return retention.run(con, {"version": 1, "rules": list(rules)}, now=NOW, stop=lambda: next(steps) > 2_000, **how)


def ids(con: apsw.Connection, table: str = "t") -> set[int]:
    return {i for (i,) in con.execute(f"SELECT id FROM {table}")}


# --- triggers of the connection


BODIES = {
    "keeps": "BEFORE DELETE ON T WHEN OLD.id % 2 BEGIN SELECT RAISE(IGNORE); END",
    "vetoes": "BEFORE DELETE ON t WHEN OLD.id = 3 BEGIN SELECT RAISE(ABORT, 'stays'); END",
    "puts back": "AFTER DELETE ON t BEGIN INSERT INTO t (at) VALUES (OLD.at); END",
    "makes due": "AFTER DELETE ON t BEGIN UPDATE t SET at = 1700000000 WHERE id = 100; END",
}


@both
@pytest.mark.parametrize("walk", ["rowid", {"index": "t_at"}], ids=["rowid", "age"])
@pytest.mark.parametrize("body", BODIES)
def test_a_temporary_trigger_is_as_one_of_the_database(body: str, walk: Any, mode: Any) -> None:
    """Whoever hands over a connection hands over its triggers."""
    told: list[Any] = []
    for kind in ("", "TEMP"):
        con = apsw.Connection("")
        con.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER); CREATE INDEX t_at ON t (at)")
        con.executemany("INSERT INTO t VALUES (?, ?)", [*((i, OLD + i) for i in range(9)), (100, FRESH)])
        con.execute(f"CREATE {kind} TRIGGER tr {BODIES[body]}")
        receipts = [run(con, rule(mode=mode, walk=walk, page_rows=3)) for _ in range(2)]
        told.append(([(r.outcome, r.deleted, r.warnings, [x.error for x in r.rules]) for r in receipts], ids(con)))
    assert told[0] == told[1]


# --- rows that stay without an error


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 25),
    st.frozensets(st.integers(1, 25), max_size=8),
    st.sampled_from(MODES),
    st.integers(1, 9),
    st.booleans(),
    st.booleans(),
)
def test_rows_that_a_trigger_keeps_by_ignore_are_blocked(
    rows: int, kept: frozenset[int], mode: Any, page_rows: int, walk: bool, drain: bool
) -> None:
    con = database(
        rows, "CREATE TABLE kept (id); CREATE TRIGGER keep BEFORE DELETE ON t WHEN OLD.id IN kept BEGIN SELECT RAISE(IGNORE); END"
    )
    con.executemany("INSERT INTO kept VALUES (?)", [(i,) for i in kept])
    how: dict[str, Any] = {"page_rows": page_rows} | ({"walk": {"index": "t_at"}} if walk else {"walk": "rowid"})
    how |= {"children": "drain"} if drain else {"mode": mode}
    done = run(con, rule(**how), until_done=True)
    stay = {i for i in kept if i <= rows}
    assert ids(con) == stay
    found = done.rules[0]
    assert (found.deleted, found.blocked, found.changed) == (rows - len(stay), len(stay), 0)
    assert done.outcome == ("failed" if stay else "done")
    assert ("RAISE(IGNORE)" in (found.error or "")) == bool(stay)


@both
def test_a_soft_delete_is_no_blocked_row(mode: Any) -> None:
    """The trigger marks the row instead, and `only` leaves marked rows out."""
    con = database(9, "CREATE TRIGGER soft BEFORE DELETE ON t BEGIN UPDATE t SET gone = 1 WHERE id = OLD.id; SELECT RAISE(IGNORE); END")
    done = run(con, rule(mode=mode, only="gone = 0"), until_done=True)
    assert (done.outcome, done.rules[0].blocked, done.rules[0].deleted) == ("done", 0, 0)
    assert con.execute("SELECT count(*) FROM t WHERE gone = 1").get == 9


@both
def test_rows_that_go_with_others_of_the_table_have_not_changed(mode: Any) -> None:
    con = database(9, "UPDATE t SET up = 1 WHERE id IN (2, 3, 5); UPDATE t SET up = 5 WHERE id = 6")
    done = run(con, rule(mode=mode))
    found = done.rules[0]
    assert (done.outcome, ids(con), found.changed) == ("done", set(), 0)
    assert found.deleted + found.side_changes == 9


# --- rows that come back

AGAIN = {
    "the same key": "INSERT INTO t (id, at) VALUES (OLD.id, OLD.at)",
    "a new key": "INSERT INTO t (at) VALUES (OLD.at)",
    "two for one": "INSERT INTO t (at) VALUES (OLD.at), (OLD.at)",
    "replaced": "REPLACE INTO t (id, at) VALUES (OLD.id, OLD.at)",
}


@both
@pytest.mark.parametrize("insert", AGAIN.values(), ids=AGAIN.keys())
def test_a_table_that_fills_as_fast_as_it_empties_ends_the_run(mode: Any, insert: str) -> None:
    con = database(20, f"CREATE TRIGGER again AFTER DELETE ON t BEGIN {insert}; END")
    con.execute("CREATE TABLE other (id INTEGER PRIMARY KEY, at INTEGER)")
    con.executemany("INSERT INTO other VALUES (?, ?)", [(i, OLD) for i in range(50)])
    done = run(con, rule(mode=mode, page_rows=3), rule("other"), until_done=True)
    assert (done.outcome, done.passes <= 4) == ("failed", True)
    assert "as fast as they go" in (done.rules[0].error or "")
    assert done.rules[1].deleted == 50
    assert con.execute("SELECT count(*) FROM t WHERE at < ?", (FRESH,)).get >= 20


def test_an_index_walk_would_meet_rows_that_come_back_for_ever() -> None:
    con = database(5, "CREATE TRIGGER again AFTER DELETE ON t BEGIN INSERT INTO t (at) VALUES (OLD.at); END")
    (line,) = run(con, rule()).rules
    assert line.walk == "rowid"
    refused = run(con, rule(walk={"index": "t_at"}))
    assert (refused.outcome, "leave walk out" in refused.warnings[-1]) == ("refused", True)


@both
def test_rows_that_two_tables_hand_to_each_other_end_the_run(mode: Any) -> None:
    con = database(5, "CREATE TABLE u (id INTEGER PRIMARY KEY, at INTEGER)")
    for here, there in (("t", "u"), ("u", "t")):
        con.execute(f"CREATE TRIGGER {here}_on AFTER DELETE ON {here} BEGIN INSERT INTO {there} (at) VALUES (OLD.at); END")
    done = run(con, rule(mode=mode), rule("u", mode=mode), until_done=True)
    assert (done.outcome, done.passes <= 6) == ("failed", True)


@both
@pytest.mark.parametrize("order", [("t", "u"), ("u", "t")])
@pytest.mark.parametrize("back", [False, True], ids=["one way", "both ways"])
def test_rows_that_move_on_go_in_the_end(mode: Any, order: tuple[str, str], back: bool) -> None:
    """A table that takes the old rows of another, with a rule of its own. A traversal that deleted nothing says nothing of the next."""
    con = database(7, "CREATE TABLE u (id INTEGER PRIMARY KEY, at INTEGER)")
    con.execute("CREATE TRIGGER moved AFTER DELETE ON t BEGIN INSERT INTO u (at) VALUES (OLD.at); END")
    if back:
        # It could happen, by the schema, and does not.
        con.execute("CREATE TRIGGER back AFTER DELETE ON u WHEN OLD.id < 0 BEGIN INSERT INTO t (at) VALUES (OLD.at); END")
    done = run(con, *(rule(table, mode=mode) for table in order), until_done=True)
    assert (done.outcome, done.deleted, ids(con), ids(con, "u")) == ("done", 14, set(), set())


@both
def test_rows_that_come_back_half_as_many_go_in_the_end(mode: Any) -> None:
    con = database(
        16, "CREATE TRIGGER half AFTER DELETE ON t WHEN OLD.id % 2 = 0 BEGIN INSERT INTO t (id, at) VALUES (OLD.id / 2, OLD.at); END"
    )
    done = run(con, rule(mode=mode), until_done=True)
    assert (done.outcome, ids(con)) == ("done", set())


@both
def test_a_chain_that_a_trigger_releases_one_by_one_goes_in_the_end(mode: Any) -> None:
    """Each delete makes the next row old: no row comes into the table, so that there is an end."""
    con = database(8, f"UPDATE t SET at = {FRESH} WHERE id < 8")
    con.execute(f"CREATE TRIGGER next AFTER DELETE ON t BEGIN UPDATE t SET at = {OLD} WHERE id = OLD.id - 1; END")
    done = run(con, rule(mode=mode), until_done=True)
    assert (done.outcome, ids(con)) == ("done", set())


# --- done, over several runs


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(2, 9), min_size=2, max_size=3), st.integers(1, 4), st.sampled_from(MODES), st.booleans(), st.integers(0, 3))
@example([9, 9], 1, "range", True, 2)  # the rest of a traversal that began before is no traversal
@example([6, 8], 1, "range", False, 0)  # a traversal is under way when a run says `done`, and does not count in the round that follows
def test_runs_of_one_page_say_when_all_is_done(rows: list[int], page_rows: int, mode: Any, thread: bool, extra: int) -> None:
    con = apsw.Connection("")
    chosen: list[dict[str, Any]] = []
    for n, most in enumerate(rows):
        con.execute(f"CREATE TABLE t{n} (id INTEGER PRIMARY KEY, at INTEGER, up INTEGER); CREATE INDEX t{n}_up ON t{n} (up)")
        con.executemany(f"INSERT INTO t{n} VALUES (?, ?, ?)", [(i, OLD if i % 3 else FRESH, i - 1) for i in range(1, most + 1)])
        only = {"only": f"NOT EXISTS (SELECT 1 FROM t{n} AS r WHERE r.up = t{n}.id)"} if thread and n == 0 else {}
        chosen.append(rule(f"t{n}", page_rows=page_rows, mode=mode, **only))
    policy = {"version": 1, "rules": chosen}
    plan = retention.plan(con, policy, now=NOW)
    store, limit = retention.MemoryStore(), plan.statements + plan.smallest + extra

    def call() -> retention.Receipt:
        return retention.run(con, policy, store=store, now=NOW, limits={"statements": limit})

    def left() -> list[set[int]]:
        return [ids(con, f"t{n}") for n in range(len(rows))]

    for _ in range(2):
        assert any(call().outcome == "done" for _ in range(400)), "never done"
        ended = left()
        assert retention.run(con, policy, now=NOW, until_done=True).deleted == 0, "it was not done"
        assert left() == ended
        for n in range(len(rows)):
            con.executemany(f"INSERT INTO t{n} (at) VALUES (?)", [(OLD,)] * 3)


def test_until_done_does_not_take_the_word_of_earlier_runs() -> None:
    con = database(6, "CREATE TABLE u (id INTEGER PRIMARY KEY, at INTEGER)")
    con.executemany("INSERT INTO u VALUES (?, ?)", [(i, OLD) for i in range(6)])
    policy = {"version": 1, "rules": [rule(walk="rowid"), rule("u")]}
    plan, store = retention.plan(con, policy, now=NOW), retention.MemoryStore()
    few = {"statements": plan.statements + plan.smallest}
    assert retention.run(con, policy, store=store, now=NOW, limits=few).outcome == "more"
    assert ids(con) == set(), "the first rule has ended its traversal"
    con.execute("INSERT INTO t (at) VALUES (?)", (OLD,))
    assert retention.run(con, policy, store=store, now=NOW, limits=few, until_done=True).outcome == "done"
    assert (ids(con), ids(con, "u")) == (set(), set())

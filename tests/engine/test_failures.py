"""What one row, one statement or one lost answer may do: end its page, never its rule; and nothing is lost or counted twice."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import apsw
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from retention.engine.deletes import BLOCKED_ROWS
from retention.errors import HostError
from retention.hosts.sqlite import SQLite
from retention.steps import Batch, Step
from tests.conformance.calls import Before, Call, Calls, Died, is_delete

NOW_S = 1_788_962_400
OLD = NOW_S - 90 * 86_400
MODES: list[Any] = ["range", {"chunk": 3}, {"chunk": 1}]
WALKS: dict[str, tuple[str, Any]] = {
    "rowid": ("id INTEGER PRIMARY KEY, at INTEGER, w TEXT NOT NULL DEFAULT 'w'", "rowid"),
    "age": ("id INTEGER PRIMARY KEY, at INTEGER, w TEXT NOT NULL DEFAULT 'w'", {"index": "i"}),
    "key": ("id INTEGER, at INTEGER, w TEXT NOT NULL DEFAULT 'w', PRIMARY KEY (w, id)) WITHOUT ROWID; --", "primary_key"),
}
walks, modes = st.sampled_from(list(WALKS)), st.sampled_from(MODES)


def table(walk: str, rows: int, young: frozenset[int] = frozenset()) -> apsw.Connection:
    con = apsw.Connection("")
    con.execute(f"CREATE TABLE t ({WALKS[walk][0]})\n")
    con.execute("CREATE INDEX i ON t (at)")
    con.executemany("INSERT INTO t (id, at) VALUES (?, ?)", [(i, NOW_S if i in young else OLD + i // 3) for i in range(1, rows + 1)])
    return con


def calls(con: apsw.Connection, walk: str, mode: Any, page: int, **limits: Any) -> Calls:
    age = {"column": "at", "format": "unix_s"}
    rule = {"table": "t", "keep": "30d", "age": age, "page_rows": page, "mode": mode, "walk": WALKS[walk][1]}
    return Calls(con, {"version": 1, "rules": [rule], "limits": limits})


def left(con: apsw.Connection) -> set[int]:
    return {i for (i,) in con.execute("SELECT id FROM t")}


# --- rows that cannot go


@settings(max_examples=80, deadline=None)
@given(
    walks, modes, st.integers(1, 25), st.integers(1, 30), st.frozensets(st.integers(1, 30), max_size=6), st.sampled_from(["ABORT", "FAIL"])
)
@example("age", {"chunk": 3}, 25, 8, frozenset({5}), "ABORT")  # the failed chunk begins within an age
def test_a_row_that_a_trigger_will_not_let_go_is_passed(
    walk: str, mode: Any, page: int, rows: int, vetoed: frozenset[int], action: str
) -> None:
    con = table(walk, rows)
    con.execute(
        f"CREATE TABLE vetoed (id); CREATE TRIGGER veto BEFORE DELETE ON t WHEN OLD.id IN (SELECT id FROM vetoed) "
        f"BEGIN SELECT RAISE({action}, 'no'); END"
    )
    con.executemany("INSERT INTO vetoed VALUES (?)", [(i,) for i in vetoed])
    done = calls(con, walk, mode, page).call()
    kept = {i for i in vetoed if i <= rows}
    found = done.rules["t"]
    assert left(con) == kept
    assert (found.deleted, found.blocked, found.finished) == (rows - len(kept), len(kept), True)
    assert ("no" in (found.error or "")) == bool(kept)
    assert done.ended
    assert done.ended.outcome == ("failed" if kept else "done")


@settings(max_examples=60, deadline=None)
@given(walks, st.integers(1, 4), st.integers(1, 25), st.integers(1, 20), st.frozensets(st.integers(1, 20), max_size=8))
@example("rowid", 3, 20, 20, frozenset({1, 2, 3, 4}))
@example("age", 2, 20, 20, frozenset({2, 3, 4, 5}))
def test_runs_of_one_chunk_get_past_rows_that_stay_without_an_error(
    walk: str, chunk: int, page: int, rows: int, kept: frozenset[int]
) -> None:
    """They would else be the first chunk of each run, and the last that its deadline lets it do."""
    con = table(walk, rows)
    con.execute("CREATE TABLE kept (id); CREATE TRIGGER keep BEFORE DELETE ON t WHEN OLD.id IN kept BEGIN SELECT RAISE(IGNORE); END")
    con.executemany("INSERT INTO kept VALUES (?)", [(i,) for i in kept])
    caller = calls(con, walk, {"chunk": chunk}, page)
    stay = {i for i in kept if i <= rows}
    blocked: list[int] = []
    while left(con) != stay:
        done = caller.call(takes=lambda step: 11.0 if is_delete(step) else 0.0)
        blocked.append(done.rules["t"].blocked)
        assert len(blocked) <= 2 * rows + 2
    assert sum(blocked) <= len(stay)


@pytest.mark.parametrize("mode", MODES, ids=["range", "chunk", "single"])
def test_each_half_is_a_page_of_its_own(mode: Any) -> None:
    """Admitted and saved for itself, so that a limit may fall between them."""
    con = table("rowid", 16)
    con.execute("CREATE TRIGGER veto BEFORE DELETE ON t WHEN OLD.id = 11 BEGIN SELECT RAISE(ABORT, 'no'); END")
    one_page = calls(con, "rowid", mode, 16)
    limit = one_page.plan.smallest
    for _ in range(60):
        done = one_page.call(statements=limit)
        if left(con) == {11}:
            break
    assert left(con) == {11}
    assert done.ended


def test_a_rule_with_very_many_blocked_rows_stops_for_this_run() -> None:
    con = table("rowid", BLOCKED_ROWS + 50)
    con.execute("CREATE TRIGGER veto BEFORE DELETE ON t BEGIN SELECT RAISE(ABORT, 'no'); END")
    done = calls(con, "rowid", "range", 10).call()
    assert done.rules["t"].blocked == BLOCKED_ROWS
    assert done.ended
    assert done.ended.outcome == "failed"


@settings(max_examples=60, deadline=None)
@given(modes, st.integers(1, 20), st.lists(st.integers(0, 7), min_size=1, max_size=15), st.integers(2, 6))
def test_a_cascade_is_cut_until_it_fits_and_a_row_too_large_alone_is_kept(mode: Any, page: int, children: list[int], most: int) -> None:
    con = table("rowid", len(children))
    con.execute("CREATE TABLE child (ref INTEGER REFERENCES t (id) ON DELETE CASCADE); CREATE INDEX r ON child (ref)")
    con.executemany("INSERT INTO child VALUES (?)", [(i + 1,) for i, n in enumerate(children) for _ in range(n)])
    rows = "SELECT (SELECT count(*) FROM t) + (SELECT count(*) FROM child)"
    counts = [con.execute(rows).get]
    done = calls(con, "rowid", mode, page, rows_changed=most).call(takes=lambda step: counts.append(con.execute(rows).get) or 0.0)
    large = {i + 1 for i, n in enumerate(children) if n + 1 > most}
    assert left(con) == large
    assert done.rules["t"].too_large == len(large)
    assert max((before - after for before, after in pairwise(counts)), default=0) <= most
    assert con.execute("SELECT count(*) FROM child").get == sum(n for n in children if n + 1 > most)


# --- answers that never come


def losing(con: apsw.Connection, plan: dict[int, bool], writes_only: bool = False) -> Before:
    """The nth batches of `plan` get no answer; True means that they had been executed."""
    seen = 0

    def before(step: Step) -> None:
        nonlocal seen
        if not isinstance(step, Batch) or (writes_only and not step.writes):
            return
        seen += 1
        if seen in plan:
            if plan[seen]:
                host = SQLite(con)
                host.execute(step)
                host.close()
            raise HostError("no answer", "network", applied=None if step.writes else False, retryable=True)

    return before


@settings(max_examples=150, deadline=None)
@given(walks, modes, st.integers(1, 9), st.integers(1, 25), st.dictionaries(st.integers(1, 12), st.booleans(), max_size=4), st.booleans())
@example("age", {"chunk": 3}, 5, 5, {1: False}, True)
@example("age", "range", 3, 3, {1: False}, True)
@example("age", "range", 2, 21, {8: True, 11: False, 1: False}, True)
def test_lost_answers_lose_no_row_and_count_none_twice(
    walk: str, mode: Any, page: int, rows: int, lost: dict[int, bool], writes_only: bool
) -> None:
    young = frozenset({2, 7})
    con = table(walk, rows, young)
    caller = calls(con, walk, mode, page)
    counted = 0
    for attempt in range(12):
        done: Call = caller.call(losing(con, lost if attempt == 0 else {}, writes_only))
        counted += done.rules["t"].deleted + done.rules["t"].unconfirmed
        if done.ended and done.ended.outcome == "done":
            break
    assert done.ended
    assert done.ended.outcome == "done"
    assert left(con) == {i for i in young if i <= rows}
    assert counted <= rows - len(left(con))


@settings(max_examples=60, deadline=None)
@given(walks, modes, st.integers(1, 9), st.integers(1, 25), st.integers(1, 4))
@example("age", {"chunk": 1}, 9, 8, 2)  # the chunk whose answer is lost ends within an age
def test_rows_that_went_without_an_answer_are_counted_as_unconfirmed(walk: str, mode: Any, page: int, rows: int, nth: int) -> None:
    if walk == "age":
        # Where an age is cut, other keys may be read again, which tells nothing.
        page += rows
    con = table(walk, rows)
    done = calls(con, walk, mode, page).call(losing(con, {nth: True}, writes_only=True))
    found = done.rules["t"]
    assert left(con) == set()
    if walk == "age" and mode == "range":
        # Nothing is read before such a delete, so nobody knows what the lost one did.
        assert (found.deleted < rows, found.unconfirmed) == (bool(done.failures), 0)
        return
    assert (found.unconfirmed >= 1) == bool(done.failures)
    assert found.deleted + found.unconfirmed == rows


def test_many_lost_answers_in_a_row_end_the_run() -> None:
    con = table("rowid", 20)
    done = calls(con, "rowid", "range", 5).call(losing(con, dict.fromkeys(range(1, 99), False), writes_only=True))
    assert done.ended
    assert done.ended.outcome == "busy"
    assert len(done.failures) <= 5
    assert len(left(con)) == 20


# --- errors of the database


def at_write(error: HostError, nth: int = 1) -> Before:
    seen = 0

    def before(step: Step) -> None:
        nonlocal seen
        if is_delete(step):
            seen += 1
            if seen == nth:
                raise error

    return before


@pytest.mark.parametrize("mode", MODES, ids=["range", "chunk", "single"])
@pytest.mark.parametrize(
    ("kind", "outcome", "why"),
    [
        ("busy", "busy", "locked"),
        ("quota", "busy", "quota"),
        ("overloaded", "busy", "overloaded"),
        ("interrupted", "more", "deadline"),
        ("corrupt", "failed", "error"),
        ("readonly", "failed", "error"),
        ("denied", "failed", "error"),
        ("schema", "failed", "error"),
        ("error", "failed", "error"),
    ],
)
def test_each_kind_ends_the_run_or_the_rule_and_the_next_run_finishes(mode: Any, kind: Any, outcome: str, why: str) -> None:
    con = table("rowid", 8)
    caller = calls(con, "rowid", mode, 4)
    done = caller.call(at_write(HostError(kind, kind, retryable=kind in ("busy", "quota", "overloaded")), nth=2))
    assert done.ended
    assert (done.ended.outcome, done.ended.why) == (outcome, why)
    assert done.deleted == 8 - len(left(con)) > 0
    again = caller.call()
    assert again.ended
    assert again.ended.outcome == "done"
    assert left(con) == set()


@pytest.mark.parametrize("mode", MODES[:2], ids=["range", "chunk"])
@pytest.mark.parametrize("kind", ["interrupted", "overloaded", "full", "too_many_changes"])
def test_a_page_that_was_too_much_is_taken_again_smaller(mode: Any, kind: Any) -> None:
    con = table("rowid", 40)
    caller = calls(con, "rowid", mode, 40)
    caller.call(at_write(HostError(kind, kind, retryable=kind == "overloaded")))
    if kind in ("interrupted", "overloaded"):
        assert caller.document["tables"]["t"]["rows"][0] < 40
        caller.call()
    assert left(con) == set()


def test_a_full_disk_that_takes_not_even_one_row_ends_the_run() -> None:
    con = table("rowid", 4)

    def full(step: Step) -> None:
        if is_delete(step):
            raise HostError("disk full", "full")

    done = calls(con, "rowid", "range", 4).call(full)
    assert done.ended
    assert (done.ended.outcome, done.ended.why) == ("failed", "error")
    assert len(left(con)) == 4


@settings(max_examples=100, deadline=None)
@given(walks, modes, st.integers(1, 7), st.integers(1, 20), st.integers(0, 40))
def test_a_crash_after_any_step_loses_nothing(walk: str, mode: Any, page: int, rows: int, steps: int) -> None:
    con = table(walk, rows, frozenset({3}))
    caller = calls(con, walk, mode, page)
    taken = 0

    def die(step: Step) -> None:
        nonlocal taken
        taken += 1
        if taken > steps:
            raise Died

    caller.call(die)
    for _ in range(3):
        done = caller.call()
    assert done.ended
    assert done.ended.outcome == "done"
    assert left(con) == ({3} if rows >= 3 else set())

"""Rows that cannot go are not forgotten between runs: the run that ends a traversal or a round says what earlier runs of it met."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import apsw
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import retention
from retention.report.receipt import problem

NOW = "2026-09-09T14:00:00Z"
OLD, FRESH = 1_700_000_000, 1_788_960_000
AGE = {"column": "at", "format": "unix_s"}
MANY = 300
"""runs, more than any of these rounds takes"""
WAYS: dict[str, dict[str, Any]] = {
    "range": {"walk": "rowid"},
    "chunk": {"walk": "rowid", "mode": {"chunk": 2}},
    "drain": {"walk": "rowid", "children": "drain"},
    "age": {"walk": {"index": "t_at"}},
    "ordered": {"walk": "rowid", "ordered": True},
}


def database(rows: int, vetoed: frozenset[int] = frozenset(), action: str = "ABORT, 'stays'") -> apsw.Connection:
    con = apsw.Connection("")
    con.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER, note TEXT); CREATE INDEX t_at ON t (at)")
    con.execute("CREATE TABLE u (id INTEGER PRIMARY KEY, at INTEGER); CREATE TABLE vetoed (id)")
    con.execute(f"CREATE TRIGGER veto BEFORE DELETE ON t WHEN OLD.id IN (SELECT id FROM vetoed) BEGIN SELECT RAISE({action}); END")
    con.executemany("INSERT INTO t (id, at) VALUES (?, ?)", [(i, OLD + i) for i in range(1, rows + 1)])
    con.executemany("INSERT INTO vetoed VALUES (?)", [(i,) for i in vetoed])
    return con


def rule(table: str = "t", **keys: Any) -> dict[str, Any]:
    return {"table": table, "keep": "30d", "age": AGE, "page_rows": 2, **keys}


def policy(*rules: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return {"version": 1, "rules": list(rules), **keys}


def of_one_page(con: apsw.Connection, document: dict[str, Any]) -> dict[str, int]:
    plan = retention.plan(con, document, now=NOW)
    return {"statements": plan.statements + plan.smallest}


def runs(con: apsw.Connection, document: dict[str, Any], store: retention.MemoryStore, **how: Any) -> Iterator[retention.Receipt]:
    """Runs of one page, until one says that all is done."""
    limits = of_one_page(con, document)
    for _ in range(MANY):
        receipt = retention.run(con, document, now=NOW, store=store, limits=limits, **how)
        yield receipt
        if receipt.outcome == "done":
            return


def ids(con: apsw.Connection, table: str = "t") -> set[int]:
    return {i for (i,) in con.execute(f"SELECT id FROM {table}")}


def earlier(receipt: retention.Receipt) -> int:
    """How many rows the first rule's error says that earlier runs met."""
    found = re.match(r"(\d+) rows? of t could not be deleted by earlier runs of this round", receipt.rules[0].error or "")
    return int(found[1]) if found else 0


# --- rows that a trigger keeps


def test_the_run_that_ends_a_traversal_says_what_an_earlier_one_met() -> None:
    con, store = database(9, frozenset({1})), retention.MemoryStore()
    document = policy(rule())
    told = [next(runs(con, document, store)) for _ in range(2)]
    while ids(con) != {1}:
        told.append(next(runs(con, document, store)))
    said = [(r.outcome, r.rules[0].blocked, earlier(r)) for r in told]
    assert ("failed", 1, 0) in said[:2], "the run that met the row"
    assert said[-1] == ("failed", 0, 1), "the one that ended the traversal"
    assert {outcome for outcome, *_ in said[2:-1]} == {"more"}
    assert "mend the data or the trigger, or leave such rows out" in (told[-1].rules[0].error or "")
    # The next traversal begins without it, and meets the row again.
    assert "blocked" not in store.document["tables"].get("t", {})
    assert next(runs(con, document, store)).rules[0].error != told[-1].rules[0].error


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 14),
    st.frozensets(st.integers(1, 14), min_size=1, max_size=4),
    st.sampled_from(list(WAYS)),
    st.sampled_from(["ABORT, 'stays'", "FAIL, 'stays'", "IGNORE"]),
    st.booleans(),
    st.lists(st.integers(1, 4), max_size=6),
)
@example(9, frozenset({1}), "ordered", "ABORT, 'stays'", False, [])
@example(9, frozenset({1}), "range", "ABORT, 'stays'", True, [2, 2, 2])
def test_no_round_is_done_while_a_row_of_it_could_not_go(
    rows: int, vetoed: frozenset[int], way: str, action: str, beside: bool, crashes: list[int]
) -> None:
    con, store = database(rows, vetoed, action), Failing()
    stay = {i for i in vetoed if i <= rows}
    document = policy(rule(**WAYS[way]), *([rule("u")] if beside else []))
    con.executemany("INSERT INTO u VALUES (?, ?)", [(i, OLD) for i in range(9)])
    for saves in crashes:
        # A process that dies between a page and its save: counts and cursor are of one document.
        store.left = saves
        next(runs(con, document, store))
    store.left = None
    outcomes: list[str] = []
    for receipt in runs(con, document, store):
        outcomes.append(receipt.outcome)
        assert earlier(receipt) <= len(stay)
        if ids(con) == stay and not ids(con, "u") and outcomes.count("failed") >= 3:
            break
    assert ids(con) == stay
    if way == "ordered" and stay:
        # It comes to the row again when it looks at the whole table again, and not before.
        assert "failed" in outcomes or crashes
    else:
        assert ("done" in outcomes) == (not stay)
    # Mended, all of it goes, and a round says so.
    con.execute("DROP TRIGGER veto")
    assert [r.outcome for r in runs(con, document, store)][-1] == "done"
    assert way == "ordered" or ids(con) == set()


@pytest.mark.parametrize("size", [13, 16, 19])
def test_a_round_does_not_end_while_a_second_traversal_of_it_has_met_a_row(size: int) -> None:
    """The rule has ended one traversal well, and begins another before the others are done."""
    con, store = database(0, frozenset({1})), retention.MemoryStore()
    con.executemany("INSERT INTO t (id, at) VALUES (?, ?)", [(i, FRESH) for i in range(2, 12)])
    con.executemany("INSERT INTO u VALUES (?, ?)", [(i, FRESH) for i in range(size)])
    receipts = runs(con, policy(rule(walk="rowid"), rule("u")), store)
    while not next(receipts).rules[0].finished:
        pass
    con.execute("INSERT INTO t (id, at) VALUES (1, ?)", (OLD,))
    outcomes = [receipt.outcome for _, receipt in zip(range(40), receipts, strict=False)]
    assert "failed" in outcomes
    assert "done" not in outcomes[outcomes.index("failed") :]


class Failing(retention.MemoryStore):
    """A store that fails once it has saved so often."""

    left: int | None = None

    def save(self, document: dict[str, Any]) -> None:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise OSError("the process ended here")
        super().save(document)


def test_an_ordered_rule_that_goes_on_where_it_was_says_so_too() -> None:
    """Its traversal begins in the middle of the table, and its end is not kept between runs."""
    con, store = database(4, frozenset({10})), retention.MemoryStore()
    con.executemany("INSERT INTO t (id, at) VALUES (?, ?)", [(i, FRESH + i) for i in range(10, 19)])
    document = policy(rule(ordered=True, revisit="90d"))
    assert [r.outcome for r in runs(con, document, store)][-1] == "done"
    limits, later = of_one_page(con, document), "2026-10-15T00:00:00Z"
    told = [retention.run(con, document, now=later, store=store, limits=limits) for _ in range(8)]
    assert ids(con) == {10}
    said = [(r.outcome, r.rules[0].blocked, earlier(r)) for r in told]
    assert ("failed", 1, 0) in said[:2]
    assert said.count(("failed", 0, 1)) == 1, "the run that ended it"


@pytest.mark.parametrize("kept", range(4))
@pytest.mark.parametrize("young", [0, 1, 3, 6])
def test_each_round_of_an_ordered_rule_ends_however_few_pages_a_run_has(kept: int, young: int) -> None:
    """A page that holds kept rows and young ones is where each of its traversals begins, and need not be where it ends."""
    con, store = database(4), retention.MemoryStore()
    con.executemany("INSERT INTO t VALUES (?, ?, 'kept')", [(i, OLD + i) for i in range(5, 5 + kept)])
    con.executemany("INSERT INTO t VALUES (?, ?, 'new')", [(i, FRESH + i) for i in range(10, 10 + young)])
    document = policy(rule(ordered=True, only="note IS NOT 'kept'"))
    for _ in range(4):
        assert [r.outcome for r in runs(con, document, store)][-1] == "done"
    assert len(ids(con)) == kept + young


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("few", [False, True])
def test_an_ordered_rule_looks_behind_itself_where_later_deletions_made_rows_due(first: int, few: bool) -> None:
    con, store = database(4), retention.MemoryStore()
    con.executemany("INSERT INTO t (id, at) VALUES (?, ?)", [(i, FRESH + i) for i in range(10, 15)])
    con.executemany("INSERT INTO u VALUES (?, ?)", [(i, OLD) for i in range(1, 5)])
    both = [rule(ordered=True, only="NOT EXISTS (SELECT 1 FROM u WHERE u.id = t.id)"), rule("u")]
    document = policy(*(both if first == 0 else reversed(both)))
    if few:
        assert [r.outcome for r in runs(con, document, store)][-1] == "done"
    else:
        outcomes = [retention.run(con, document, now=NOW, store=store).outcome for _ in range(4)]
        assert "done" in outcomes
    assert ids(con) == set(range(10, 15))


@pytest.mark.parametrize("kept", [0, 1])
def test_an_ordered_rule_goes_on_before_the_first_row_that_was_young(kept: int) -> None:
    """The first row of the table may be that, and has no key before it."""
    con, store = database(kept), retention.MemoryStore()
    con.executemany("INSERT INTO t (id, at) VALUES (?, ?)", [(i, FRESH + i) for i in range(10, 19)])
    document = policy(rule(ordered=True, revisit="90d", only="id <> 1"))
    assert [r.outcome for r in runs(con, document, store)][-1] == "done"
    retention.run(con, document, now="2026-10-15T00:00:00Z", store=store)
    assert ids(con) == set(range(1, kept + 1))


def test_a_rule_that_now_leaves_the_row_out_is_done() -> None:
    con, store = database(9, frozenset({1})), retention.MemoryStore()
    for _, receipt in zip(range(2), runs(con, policy(rule()), store), strict=False):
        assert receipt.outcome in ("failed", "more")
    assert [r.outcome for r in runs(con, policy(rule(only="id <> 1")), store)][-1] == "done"


@pytest.mark.parametrize("mended", [False, True])
def test_one_call_for_all_of_it_looks_again_at_what_earlier_runs_met(mended: bool) -> None:
    con, store = database(9, frozenset({1})), retention.MemoryStore()
    for _ in zip(range(2), runs(con, policy(rule()), store), strict=False):
        pass
    if mended:
        con.execute("DROP TRIGGER veto")
    receipt = retention.run(con, policy(rule()), now=NOW, store=store, until_done=True)
    assert (receipt.outcome, ids(con)) == (("done", set()) if mended else ("failed", {1}))
    assert (receipt.rules[0].blocked, "stays" in (receipt.rules[0].error or "")) == ((0, False) if mended else (1, True))


def test_a_sweep_says_so_too() -> None:
    con, store = database(9), retention.MemoryStore()
    con.execute("CREATE TRIGGER stay BEFORE UPDATE ON t WHEN OLD.id = 1 BEGIN SELECT RAISE(ABORT, 'stays'); END")
    sweep = {
        "name": "s",
        "table": "t",
        "where": "note IS NULL",
        "age": AGE,
        "timeout": "1h",
        "set": {"note": "x"},
        "batch": 2,
        "max_batches": 1,
    }
    document = {"version": 1, "sweeps": [sweep], "limits": {"page_rows": 2}}
    limits = of_one_page(con, document)
    errors: list[str | None] = []
    while con.execute("SELECT count(*) FROM t WHERE note IS NULL").get > 1 or errors[-1] is None:
        receipt = retention.run(con, document, now=NOW, store=store, limits=limits)
        errors.append(receipt.sweeps[0].error)
        assert len(errors) < MANY
    assert errors[-1] is not None
    assert errors[-1].startswith("1 row of t could not be ended by earlier runs of this round")


# --- rows whose cascade is too large


def family(children: int = 9, more: str = "") -> apsw.Connection:
    con = database(9)
    con.execute("CREATE TABLE child (up INTEGER REFERENCES t ON DELETE CASCADE); CREATE INDEX child_up ON child (up)")
    con.executemany("INSERT INTO child VALUES (?)", [(1,)] * children)
    con.execute(more)
    return con


def stayed(receipt: retention.Receipt) -> list[str]:
    return [w for w in receipt.warnings if "limits.rows_changed" in w]


@pytest.mark.parametrize("one_run", [True, False])
def test_rows_too_large_are_told_by_the_run_that_meets_them_and_by_the_one_that_ends_the_round(one_run: bool) -> None:
    con, store = family(), retention.MemoryStore()
    con.executemany("INSERT INTO u VALUES (?, ?)", [(i, OLD) for i in range(60)])
    document = policy(rule(), rule("u"), limits={"rows_changed": 5})
    told = list(runs(con, document, store)) if not one_run else [retention.run(con, document, now=NOW, store=store)]
    assert (ids(con), ids(con, "u")) == ({1}, set())
    assert (told[-1].outcome, len(stayed(told[-1]))) == ("done", 1)
    assert all(len(stayed(r)) == 1 for r in told if r.rules[0].too_large)
    for receipt in told:
        for words in stayed(receipt):
            assert words.startswith('rule "t": 1 row of t stayed')
            assert 'raise it, or write children = "drain"' in words
    # Raised, the rows go and nothing is said any more once they have gone.
    limits = of_one_page(con, document) | {"rows_changed": 50}
    receipts = [retention.run(con, document, now=NOW, store=store, limits=limits) for _ in range(40)]
    assert ids(con) == set()
    assert not any(stayed(r) for r in receipts)


def test_what_cannot_be_drained_is_not_told_to_be() -> None:
    """Triggers alone make the row dear: draining would not help."""
    con = database(2)
    con.execute("CREATE TRIGGER dear AFTER DELETE ON t WHEN OLD.id = 1 BEGIN UPDATE u SET at = 0; END")
    con.executemany("INSERT INTO u VALUES (?, ?)", [(i, FRESH) for i in range(9)])
    receipt = retention.run(con, policy(rule(), limits={"rows_changed": 5}), now=NOW)
    assert (receipt.outcome, ids(con)) == ("done", {1})
    assert [w.endswith("; raise it") for w in stayed(receipt)] == [True]


def test_why_a_run_was_refused_is_not_hidden_behind_what_is_told() -> None:
    con = family(more="CREATE TABLE jobs (id INTEGER PRIMARY KEY, at INTEGER, note TEXT)")
    con.executemany("INSERT INTO jobs VALUES (?, ?, NULL)", [(i, OLD) for i in range(400)])
    mass = {"name": "mass", "table": "jobs", "where": "note IS NULL", "age": AGE, "timeout": "1h", "set": {"note": "x"}}
    receipt = retention.run(con, policy(rule(), limits={"rows_changed": 5}, sweeps=[mass]), now=NOW)
    assert (receipt.outcome, len(stayed(receipt))) == ("refused", 1)
    assert "looks like a wrong clock" in (problem(receipt) or "")


def test_a_closure_says_so_too() -> None:
    con = family()
    con.execute("UPDATE t SET note = 'over'")
    closure = {
        "name": "c", "table": "t", "terminal": "note = 'over'", "age": [AGE], "keep": "30d",
        "members": [{"table": "child", "on": "child.up = t.id"}],
    }  # fmt: skip
    receipt = retention.run(con, {"version": 1, "closures": [closure], "limits": {"rows_changed": 5}}, now=NOW, until_done=True)
    assert (receipt.outcome, receipt.closures[0].too_large) == ("done", ["1"])
    assert [w.startswith('closure "c": 1 row of t stayed') and w.endswith("; raise it") for w in stayed(receipt)] == [True]

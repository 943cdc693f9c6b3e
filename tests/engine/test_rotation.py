"""Rules take turns: a budget of one page a run serves k rules in k runs, whatever fails; and what an ordered rule reads."""

from __future__ import annotations

from typing import Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retention.errors import HostError
from retention.steps import Save, Step
from tests.conformance.calls import Calls, Died, is_delete

NOW_S = 1_788_962_400
DAY = 86_400
MODES: list[Any] = ["range", {"chunk": 2}]


def tables(count: int, rows: int = 4) -> apsw.Connection:
    con = apsw.Connection("")
    for number in range(count):
        con.execute(f"CREATE TABLE t{number} (id INTEGER PRIMARY KEY, at INTEGER)")
        con.executemany(f"INSERT INTO t{number} VALUES (?, ?)", [(i, NOW_S - 90 * DAY + i) for i in range(1, rows + 1)])
    return con


def rules(count: int, **more: Any) -> dict[str, Any]:
    age = {"column": "at", "format": "unix_s"}
    return {"version": 1, "rules": [{"table": f"t{n}", "keep": "30d", "age": age, "page_rows": 2} | more for n in range(count)]}


def left(con: apsw.Connection, table: str = "t0") -> list[int]:
    return [i for (i,) in con.execute(f"SELECT id FROM {table} ORDER BY id")]


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 6), st.data())
def test_one_page_a_run_serves_k_rules_in_k_runs(count: int, data: st.DataObject) -> None:
    """Also where some rules fail, or take the process with them."""
    con = tables(count)
    calls = Calls(con, rules(count, mode=data.draw(st.sampled_from(MODES))))
    calls.document = {"version": 1, "next": data.draw(st.integers(0, count - 1)), "tables": {}}
    broken = data.draw(st.dictionaries(st.integers(0, count - 1), st.sampled_from([HostError("broken"), Died()])))

    def before(step: Step) -> None:
        for number, error in broken.items():
            if is_delete(step, f"t{number}"):
                raise error

    served: set[str] = set()
    for _ in range(count):
        done = calls.call(before, takes=lambda step: 1.0 if is_delete(step) else 0.0, deadline=0.5)
        tried = {name for name, receipt in done.rules.items() if receipt.pages or receipt.error}
        served |= tried | {f"t{n}" for n, e in broken.items() if isinstance(e, Died) and done.ended is None}
    assert served == {f"t{n}" for n in range(count)}
    assert all((len(left(con, f"t{n}")) == 4) == (n in broken) for n in range(count))


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 5), st.integers(0, 40), st.sampled_from(MODES))
def test_a_statement_limit_is_never_passed_and_reaches_the_end(count: int, extra: int, mode: Any) -> None:
    con = tables(count)
    calls = Calls(con, rules(count, mode=mode))
    limit = calls.plan.smallest + extra
    for _ in range(20):
        done = calls.call(statements=limit)
        assert done.ended
        assert (done.ended.outcome, done.ended.why) in (("done", "finished"), ("more", "statements"))
    assert not any(left(con, f"t{n}") for n in range(count))


def test_the_turn_is_saved_before_its_page_and_passes_only_if_the_page_is_run() -> None:
    con = tables(3)
    calls = Calls(con, rules(3))
    done = calls.call(takes=lambda step: 1.0 if is_delete(step) else 0.0, deadline=1.5)
    # Announced: t0 (next 1), t1 (next 2). Then the deadline: the turn stays with t2, which did not run.
    assert [s["next"] for s in done.saves] == [1, 2, 2]
    assert isinstance(done.steps[0], Save)


def test_a_rule_at_its_page_cap_leaves_the_rest_to_others() -> None:
    con = tables(2, rows=6)
    policy = rules(2)
    policy["rules"][0]["max_pages"] = 1
    done = Calls(con, policy).call()
    assert [len(left(con, t)) for t in ("t0", "t1")] == [4, 0]
    assert done.ended
    assert (done.ended.outcome, done.ended.why) == ("more", "pages")


# --- ordered rules


@pytest.mark.parametrize("mode", MODES, ids=["range", "chunk"])
def test_an_ordered_rule_reads_its_young_rows_once_a_revisit(mode: Any) -> None:
    con = apsw.Connection("")
    con.execute("CREATE TABLE t0 (id INTEGER PRIMARY KEY, at INTEGER)")
    con.executemany("INSERT INTO t0 VALUES (?, ?)", [(i, NOW_S - (100 - i) * DAY) for i in range(1, 101)])
    policy = rules(1, ordered=True, mode=mode) | {"limits": {}}
    calls = Calls(con, policy)
    first = calls.call()
    assert left(con) == list(range(70, 101))
    assert first.rules["t0"].scanned == 100
    second = calls.call()
    assert (second.deleted, second.rules["t0"].scanned) == (0, 2)
    assert second.ended
    assert second.ended.outcome == "done"
    calls.now_ms += 2 * DAY * 1000
    third = calls.call()
    assert left(con) == list(range(72, 101))
    assert third.rules["t0"].scanned <= 6
    con.execute("UPDATE t0 SET at = ? WHERE id = 95", (NOW_S - 90 * DAY,))
    assert calls.call().deleted == 0, "a late row waits for the next whole traversal"
    calls.now_ms += 5 * DAY * 1000
    fourth = calls.call()
    assert 95 not in left(con)
    assert fourth.rules["t0"].scanned >= 29 - 5


@pytest.mark.parametrize("mode", MODES, ids=["range", "chunk"])
def test_an_ordered_rule_that_is_cut_short_forgets_nothing(mode: Any) -> None:
    con = tables(1, rows=9)
    calls = Calls(con, rules(1, ordered=True, mode=mode, max_pages=1))
    for _ in range(8):
        calls.call()
    assert left(con) == []
    assert "whole" in calls.document["tables"]["t0"]
    con.execute("INSERT INTO t0 VALUES (20, ?)", (NOW_S - 80 * DAY,))
    assert sum(calls.call().deleted for _ in range(2)) == 1


def test_a_dry_rule_says_so_and_costs_nothing() -> None:
    con = tables(1)
    done = Calls(con, rules(1, keep="forever")).call()
    assert not done.statements
    assert done.rules["t0"].finished

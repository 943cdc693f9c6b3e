"""statements.used <= ceiling <= limit, counted by the database's own trace, for limits from the smallest that is allowed."""

from __future__ import annotations

from typing import Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import retention

from .world import NOW_MS, World, worlds


def counted(con: apsw.Connection) -> list[str]:
    """Statements that this connection executes from now on: SQLITE_TRACE_STMT does not see EXPLAIN, the tracer of cursors does."""
    seen: list[str] = []

    def trace(_cursor: Any, sql: str, _bindings: Any) -> bool:
        seen.append(sql)
        return True

    con.exec_trace = trace
    return seen


@settings(max_examples=150, deadline=None)
@given(worlds(), st.integers(0, 12), st.booleans(), st.integers(1, 3))
def test_used_is_what_the_trace_counts_and_never_passes_the_limit(world: World, spare: int, capped: bool, pages: int) -> None:
    con = world.build()
    policy = world.policy()
    if capped:
        policy["rules"][0]["max_pages"] = pages
    smallest = retention.run(con, policy, now=NOW_MS, limits={"statements": 5})
    assert smallest.outcome == "refused"
    limit = int(smallest.warnings[-1].rsplit(" ", 1)[1].rstrip(".")) + spare
    store, too_large = retention.MemoryStore(), 0
    for _ in range(400):
        seen = counted(con)
        receipt = retention.run(con, policy, store=store, now=NOW_MS, limits={"statements": limit})
        con.exec_trace = None
        count = receipt.statements
        assert count.used == count.total == len(seen)
        assert count.ceiling is not None
        assert count.used <= count.ceiling <= limit
        assert receipt.outcome in ("done", "more"), receipt
        too_large += sum(r.too_large for r in receipt.rules)
        if receipt.outcome == "done":
            break
    else:
        pytest.fail("a limit above the smallest made no progress")
    if not too_large:
        assert world.eligible(con) == set()


@settings(max_examples=50, deadline=None)
@given(worlds())
def test_without_a_limit_the_ceiling_is_what_bounds_the_rules(world: World) -> None:
    con = world.build()
    policy = world.policy()
    receipt = retention.run(con, policy, now=NOW_MS)
    assert receipt.statements.ceiling is None
    policy["rules"][0]["max_pages"] = 2
    receipt = retention.run(con, policy, now=NOW_MS)
    assert receipt.statements.ceiling is not None
    assert receipt.statements.used <= receipt.statements.ceiling

"""A row that should stay stays, and every row that should go goes, whatever the table, the walk, the mode and the policy."""

from __future__ import annotations

from typing import Any

import apsw
from hypothesis import given, settings

from retention.steps import Batch, Step

from .drive import drive, make
from .world import NOW_MS, World, worlds


@settings(max_examples=300, deadline=None)
@given(worlds())
def test_what_is_left_is_the_fixpoint(world: World) -> None:
    con = world.build()
    ran = drive(con, make(con, world.policy(), NOW_MS), NOW_MS, passes=100)
    stuck = sum(r.too_large for r in ran.rules)
    assert ran.outcome == "done" or stuck
    left = world.keys(con)
    if not stuck:
        assert left == world.fixpoint()
    before = len(world.keys(world.build()))
    assert ran.deleted == before - len(left)
    again = drive(con, make(con, world.policy(), NOW_MS), NOW_MS, ran.document, passes=100)
    assert again.deleted == 0
    assert con.execute("PRAGMA foreign_key_check").fetchall() == []


@settings(max_examples=200, deadline=None)
@given(worlds())
def test_no_statement_deletes_a_row_that_may_not_go(world: World) -> None:
    con = world.build()
    may: list[set[Any]] = [set(), set()]

    def watch(con: apsw.Connection, step: Step) -> None:
        if isinstance(step, Batch) and step.writes:
            may[:] = [world.eligible(con), world.keys(con)]

    def check(step: Step, _answer: Any) -> None:
        if isinstance(step, Batch) and step.writes:
            assert may[1] - world.keys(con) <= may[0]

    drive(con, make(con, world.policy(), NOW_MS), NOW_MS, between=watch, answered=check, passes=100)

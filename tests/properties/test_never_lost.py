"""A crash after any step, at any moment, loses nothing: later runs end in the same rows as an uncrashed one."""

from __future__ import annotations

import contextlib
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from .drive import Crash, Ran, drive, make
from .world import NOW_MS, World, worlds


@settings(max_examples=200, deadline=None)
@given(worlds(), st.lists(st.integers(0, 12), max_size=8))
def test_crashes_change_nothing_about_the_end(world: World, crashes: list[int]) -> None:
    con = world.build()
    plan = make(con, world.policy(), NOW_MS)
    document: Any = None
    for after in crashes:
        saved: list[Any] = []
        with contextlib.suppress(Crash):
            drive(con, plan, NOW_MS, document, crash_after=after, saved=saved)
        # What a host stores is JSON.
        document = json.loads(json.dumps(saved[-1])) if saved else document
    ran = drive(con, plan, NOW_MS, document, passes=100)
    assert not complaints(ran)
    if not any(r.too_large for r in ran.rules):
        assert world.keys(con) == world.fixpoint()


def complaints(ran: Ran) -> list[str]:
    """Warnings about the checkpoint."""
    return [w for w in ran.warnings if "checkpoint" in w]


GARBAGE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["cursor", "high", "rows", "walk", "t", "int"]), inner, max_size=3)
    ),
    max_leaves=8,
)
DOCUMENTS = GARBAGE | st.fixed_dictionaries(
    {"version": st.just(1), "next": st.integers(-1, 3), "tables": st.dictionaries(st.sampled_from(["t", "other"]), GARBAGE, max_size=2)}
)


@settings(max_examples=300, deadline=None)
@given(worlds(), DOCUMENTS)
def test_a_garbage_checkpoint_costs_a_traversal_and_no_row(world: World, document: Any) -> None:
    con = world.build()
    plan = make(con, world.policy(), NOW_MS)
    first = drive(con, plan, NOW_MS, document)
    ran = drive(con, plan, NOW_MS, first.document, passes=100)
    assert not complaints(ran)
    if not any(r.too_large for r in first.rules + ran.rules):
        assert world.keys(con) == world.fixpoint()

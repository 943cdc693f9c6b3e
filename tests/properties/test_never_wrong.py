"""Another writer's change between any two steps: no row goes that is not expired and eligible when the statement that deletes it starts."""

from __future__ import annotations

from typing import Any

import apsw
from hypothesis import given, settings
from hypothesis import strategies as st

from retention.steps import Batch, Step

from .drive import drive, make
from .world import DOCUMENTS, NOW_S, World, worlds

from .world import NOW_MS  # isort: skip

CHANGES = (
    "UPDATE t SET at = {fresh} WHERE {identity} = {row}",
    "UPDATE t SET at = NULL WHERE {identity} = {row}",
    "UPDATE t SET kind = 'held' WHERE {identity} = {row}",
    "UPDATE t SET kind = 'go', at = {old} WHERE {identity} = {row}",
    "UPDATE t SET w = {tenant} WHERE {identity} = {row}",
    "UPDATE ws SET doc = {document} WHERE id = {tenant}",
    "DELETE FROM ws WHERE id = {tenant}",
    "DELETE FROM t WHERE {identity} = {row}",
    "INSERT OR IGNORE INTO t (id, w, seq, at, kind) VALUES ({id}, {tenant}, 3, {fresh}, 'go')",
    "INSERT OR IGNORE INTO t (id, w, seq, at, kind) VALUES ({id}, {tenant}, 9, {old}, 'go')",
    "INSERT OR REPLACE INTO t (id, w, seq, at, kind) SELECT id, w, seq, {fresh}, kind FROM t WHERE {identity} = {row}",
    "VACUUM",
)
PARENTS = (
    "INSERT INTO pin SELECT id FROM t WHERE {identity} = {row}",
    "DELETE FROM pin",
    "INSERT INTO child SELECT id, 1 FROM t WHERE {identity} = {row}",
    "UPDATE child SET hold = 1 - hold",
)


def literal(value: Any) -> str:
    return "NULL" if value is None else str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


def change(con: Any, world: World, data: st.DataObject) -> None:
    """Another writer's change. A server may refuse VACUUM."""
    changes = CHANGES if isinstance(con, apsw.Connection) else CHANGES[:-1]
    templates = changes + (PARENTS if world.parent else ())
    keys = sorted(world.keys(con), key=str) or [0]
    sql = data.draw(st.sampled_from(templates)).format(
        identity=world.identity,
        row=literal(data.draw(st.sampled_from(keys))),
        id=literal(data.draw(st.sampled_from([r[0] for r in world.rows] or [7]))),
        tenant=literal(data.draw(st.sampled_from(list(DOCUMENTS)))),
        document=literal(data.draw(st.sampled_from(list(DOCUMENTS.values())))),
        fresh=NOW_S - 5,
        old=NOW_S - 90 * 86_400,
    )
    try:
        con.execute(sql)
    except apsw.ConstraintError:
        con.execute("SELECT 1")


@settings(max_examples=300, deadline=None)
@given(worlds(), st.data(), st.integers(1, 4))
def test_a_writer_between_any_two_steps(world: World, data: st.DataObject, every: int) -> None:
    con = world.build()
    plan = make(con, world.policy(), NOW_MS)
    may: list[set[Any]] = [set(), set()]
    steps = 0

    def meddle(con: apsw.Connection, step: Step) -> None:
        nonlocal steps
        steps += 1
        if steps < 40 and steps % every == 0:
            change(con, world, data)
        if isinstance(step, Batch) and step.writes:
            may[:] = [world.eligible(con), world.keys(con)]

    def check(step: Step, _answer: Any) -> None:
        if isinstance(step, Batch) and step.writes:
            assert may[1] - world.keys(con) <= may[0]

    ran = drive(con, plan, NOW_MS, between=meddle, answered=check, passes=100)
    quiet = drive(con, plan, NOW_MS, ran.document, passes=100)
    if quiet.outcome == "done" and not any(r.too_large for r in quiet.rules):
        # The checkpoint may be in the middle of a traversal that has passed rows which changed: one more ends it.
        drive(con, plan, NOW_MS, quiet.document, passes=100)
        assert world.eligible(con) == set()

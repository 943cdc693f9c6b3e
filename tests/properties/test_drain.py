"""`children = "drain"`: only families of parents that may go, whole in the end, whatever the keys say and whoever writes in between."""

from __future__ import annotations

from typing import Any

import apsw
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from retention.capabilities import D1
from retention.steps import Batch, Step

from .drive import Crash, Ran, drive, make
from .families import FRESH, IDS, OLD, TABLES, Families, families
from .world import NOW_MS


class Watch:
    """Checks each write against the oracle's answer at the moment before it."""

    def __init__(self, world: Families, rows_changed: int | None = None) -> None:
        self.world = world
        self.most = world.rows_changed if rows_changed is None else rows_changed
        self.before: dict[str, dict[Any, Any]] = {}

    def between(self, con: apsw.Connection, step: Step) -> None:
        if isinstance(step, Batch) and step.writes:
            self.before = self.world.read(con)

    def check(self, con: apsw.Connection, step: Step) -> None:
        if not (isinstance(step, Batch) and step.writes):
            return
        after, eligible = self.world.read(con), self.world.eligible(self.before)
        may = {table: set().union(*(family[table] for family in eligible.values())) for table in TABLES}
        may["t"] = set(eligible)
        gone = {table: self.before[table].keys() - after[table].keys() for table in TABLES}
        assert all(gone[table] <= may[table] for table in TABLES), (gone, may)
        assert sum(map(len, gone.values())) <= self.most
        for table in TABLES:
            for key in after[table].keys() - may[table]:
                assert after[table][key] == self.before[table][key], "a row outside the families was changed"


def watched(con: apsw.Connection, world: Families, watch: Watch, document: Any = None, **options: Any) -> Ran:
    plan = make(con, world.policy(), NOW_MS, options.pop("capabilities", None))
    return drive(
        con, plan, NOW_MS, document, between=options.pop("between", watch.between),
        answered=lambda step, _: watch.check(con, step), passes=100, **options,
    )  # fmt: skip


def settled(con: apsw.Connection, world: Families, ran: Ran) -> None:
    """Nothing is left that may go, but for families that a key which is not followed holds fast."""
    assert con.execute("PRAGMA foreign_key_check").fetchall() == []
    data = world.read(con)
    (rule,) = ran.rules
    stuck = [key for key, family in world.eligible(data).items() if not world.referred(data, family)]
    assert stuck == []
    assert ran.outcome == "done" or rule.blocked or rule.too_large


def snapshot(con: apsw.Connection) -> list[Any]:
    return [sorted(con.execute(f"SELECT hex(id) FROM {table}").fetchall()) for table in TABLES]


@settings(max_examples=200, deadline=None)
@given(families())
def test_families_go_whole_and_nothing_else_does(world: Families) -> None:
    con = world.build()
    before = {table: len(rows) for table, rows in world.read(con).items()}
    ran = watched(con, world, Watch(world))
    settled(con, world, ran)
    left = {table: len(rows) for table, rows in world.read(con).items()}
    (rule,) = ran.rules
    assert rule.deleted == before["t"] - left["t"]
    assert {table: before[table] - left[table] for table in TABLES[1:]} == {table: rule.drained.get(table, 0) for table in TABLES[1:]}
    if not world.eligible(world.read(con)):
        again = drive(con, make(con, world.policy(), NOW_MS), NOW_MS, ran.document, passes=100)
        assert again.deleted == 0


@settings(max_examples=150, deadline=None)
@given(families(back=False))
def test_without_keys_that_lead_back_nothing_is_left(world: Families) -> None:
    con = world.build()
    ran = watched(con, world, Watch(world))
    assert world.eligible(world.read(con)) == {}
    assert ran.outcome == "done"
    (rule,) = ran.rules
    assert (rule.blocked, rule.too_large, rule.partial, rule.referenced) == (0, 0, 0, 0)


@settings(max_examples=100, deadline=None)
@given(families())
def test_the_fence_alone_bounds_a_batch_where_the_host_cannot_measure(world: Families) -> None:
    con = world.build()
    ran = watched(con, world, Watch(world), capabilities=D1)
    settled(con, world, ran)


@settings(max_examples=100, deadline=None)
@given(families(), st.integers(1, 40))
def test_a_crash_after_any_step_loses_nothing(world: Families, after: int) -> None:
    whole = world.build()
    ran = watched(whole, world, Watch(world))
    con, saved = world.build(), [None]
    try:
        watched(con, world, Watch(world), crash_after=after, saved=saved)
    except Crash:
        rest = watched(con, world, Watch(world), saved[-1])
        if rest.outcome == "done":
            rest = watched(con, world, Watch(world), rest.document)
        settled(con, world, rest)
    if not world.back and ran.outcome == "done":
        assert snapshot(con) == snapshot(whole)


WRITES = (
    "UPDATE t SET at = {fresh} WHERE id = {t}",
    "UPDATE t SET at = {old} WHERE id = {t}",
    "UPDATE {table} SET held = 1 WHERE id = {row}",
    "UPDATE {table} SET held = 0 WHERE id = {row}",
    "INSERT OR IGNORE INTO {child} (id, at, {column}) VALUES ({new}, {fresh}, {above})",
    "INSERT OR IGNORE INTO {child} (id, at, {column}) VALUES ({new}, {fresh}, {above})",
    "UPDATE {child} SET {column} = {above} WHERE id = {below}",
    "UPDATE {child} SET {column} = NULL WHERE id = {below}",
    "DELETE FROM {child} WHERE id = {below}",
    "VACUUM",
)


def literal(value: Any) -> str:
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    return str(value) if isinstance(value, int) else "'" + str(value).replace("'", "''") + "'"


def write(con: apsw.Connection, world: Families, data: st.DataObject) -> None:
    def one(table: str) -> str:
        return literal(IDS[world.kinds[table]][2](data.draw(st.integers(0, 9))))

    table = data.draw(st.sampled_from(TABLES))
    child, column, parent = data.draw(st.sampled_from(world.down + world.back))
    new = literal(IDS[world.kinds[child]][2](data.draw(st.integers(10, 15))))
    sql = data.draw(st.sampled_from(WRITES)).format(
        fresh=FRESH, old=OLD, t=one("t"), table=table, row=one(table),
        child=child, column=column, new=new, above=one(parent), below=one(child),
    )  # fmt: skip
    try:
        con.execute(sql)
    except apsw.ConstraintError:
        con.execute("SELECT 1")


@settings(max_examples=250, deadline=None)
@given(families(), st.data(), st.integers(1, 4))
def test_a_writer_between_any_two_steps(world: Families, data: st.DataObject, every: int) -> None:
    assume(world.down or world.back)
    con, watch, steps = world.build(), Watch(world), 0

    def meddle(con: apsw.Connection, step: Step) -> None:
        nonlocal steps
        steps += 1
        if steps < 40 and steps % every == 0:
            write(con, world, data)
        watch.between(con, step)

    ran = watched(con, world, watch, between=meddle)
    quiet = watched(con, world, Watch(world), ran.document)
    settled(con, world, watched(con, world, Watch(world), quiet.document) if quiet.outcome == "done" else quiet)


@settings(max_examples=100, deadline=None)
@given(families(), st.integers(0, 6))
def test_no_run_passes_its_limit_and_each_makes_progress(world: Families, spare: int) -> None:
    con = world.build()
    plan, document = make(con, world.policy(), NOW_MS), None
    for _ in range(400):
        watch = Watch(world)
        ran = drive(
            con, plan, NOW_MS, document, statements=plan.smallest + spare, between=watch.between,
            answered=lambda step, _, watch=watch: watch.check(con, step),
        )  # fmt: skip
        assert ran.used <= plan.smallest + spare
        document = ran.document
        if ran.outcome != "more":
            break
    else:
        raise AssertionError("no progress")
    if ran.outcome == "done":
        settled(con, world, ran)

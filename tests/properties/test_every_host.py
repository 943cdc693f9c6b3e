"""The properties of the random worlds on every host: the same model, the same worlds, fewer examples."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import retention
from retention.steps import Batch, Step
from tests.d1.fixtures import Servers, d1_server
from tests.places import PLACES, Place, opened, said

from .drive import Crash, drive, make
from .test_never_wrong import change
from .world import NOW_MS, World, unbounded, worlds

__all__ = ["d1_server"]

FEW = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@pytest.fixture(scope="module", params=PLACES)
def place(request: pytest.FixtureRequest, d1_server: Servers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with opened(request.param, d1_server, tmp_path_factory.mktemp("place")) as found:
        yield found


@FEW
@given(world=worlds())
def test_the_rows_and_the_receipt_are_those_of_a_file(place: Place, world: World) -> None:
    con = world.build()
    place.load(con)
    here = retention.run(con, world.policy(), now=NOW_MS, until_done=True, limits={"deadline": "10m"})
    there = retention.run(place.host, world.policy(), now=NOW_MS, until_done=True, limits={"deadline": "10m"})
    assert (there.outcome, there.why, there.exit_status) == (here.outcome, here.why, here.exit_status)
    assert said(there) == said(here)
    assert world.keys(place.beside) == world.keys(con)
    if not there.rules[0].too_large:
        assert world.keys(place.beside) == world.fixpoint()


@FEW
@given(world=unbounded(), crashes=st.lists(st.integers(0, 12), max_size=4))
def test_crashes_change_nothing_about_the_end(place: Place, world: World, crashes: list[int]) -> None:
    place.load(world.build())
    plan = make(place.host, world.policy(), NOW_MS)
    document: Any = None
    for after in crashes:
        saved: list[Any] = []
        with contextlib.suppress(Crash):
            drive(place.beside, plan, NOW_MS, document, crash_after=after, saved=saved, host=place.host)
        document = json.loads(json.dumps(saved[-1])) if saved else document
    drive(place.beside, plan, NOW_MS, document, passes=100, host=place.host)
    assert world.keys(place.beside) == world.fixpoint()


@FEW
@given(world=unbounded(), data=st.data(), every=st.integers(1, 4))
def test_a_writer_between_any_two_steps(place: Place, world: World, data: st.DataObject, every: int) -> None:
    place.load(world.build())
    plan = make(place.host, world.policy(), NOW_MS)
    may: list[set[Any]] = [set(), set()]
    steps = 0

    def meddle(beside: Any, step: Step) -> None:
        nonlocal steps
        steps += 1
        if steps < 40 and steps % every == 0:
            change(beside, world, data)
        if isinstance(step, Batch) and step.writes:
            may[:] = [world.eligible(beside), world.keys(beside)]

    def check(step: Step, _answer: Any) -> None:
        if isinstance(step, Batch) and step.writes:
            assert may[1] - world.keys(place.beside) <= may[0]

    ran = drive(place.beside, plan, NOW_MS, between=meddle, answered=check, passes=100, host=place.host)
    quiet = drive(place.beside, plan, NOW_MS, ran.document, passes=100, host=place.host)
    drive(place.beside, plan, NOW_MS, quiet.document, passes=100, host=place.host)
    assert world.eligible(place.beside) == set()


@FEW
@given(world=unbounded(), spare=st.integers(0, 12))
def test_used_is_what_the_server_counts_and_never_passes_the_limit(place: Place, world: World, spare: int) -> None:
    place.load(world.build())
    smallest = retention.run(place.host, world.policy(), now=NOW_MS, limits={"statements": 5})
    assert smallest.outcome == "refused"
    limit = int(smallest.warnings[-1].rsplit(" ", 1)[1].rstrip(".")) + spare
    store = retention.MemoryStore()
    for _ in range(400):
        place.empty_log()
        receipt = retention.run(place.host, world.policy(), store=store, now=NOW_MS, limits={"statements": limit})
        count = receipt.statements
        assert count.ceiling is not None
        assert count.used == count.total <= count.ceiling <= limit
        if place.log is not None:
            assert count.used == len(place.log())
        if receipt.outcome == "done":
            break
        assert receipt.outcome == "more", receipt
    else:
        pytest.fail("a limit above the smallest made no progress")
    assert world.eligible(place.beside) == set()


@FEW
@given(
    families=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 4), st.booleans()), min_size=1, max_size=12),
    bound=st.integers(1, 9),
    page_rows=st.integers(1, 6),
    mode=st.sampled_from(["range", "chunk", {"chunk": 2}]),
    index=st.booleans(),
)
def test_no_write_changes_more_than_it_may_children_included(
    place: Place, families: list[tuple[int, int, bool]], bound: int, page_rows: int, mode: Any, index: bool
) -> None:
    """Parents with children that go with them, children that let go of them, and parents that are fresh."""
    con = apsw.Connection("")
    con.execute("PRAGMA foreign_keys = ON")
    con.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER); CREATE INDEX t_at ON t (at)")
    con.execute("CREATE TABLE c (t INTEGER REFERENCES t ON DELETE CASCADE); CREATE INDEX c_t ON c (t)")
    con.execute("CREATE TABLE n (t INTEGER REFERENCES t ON DELETE SET NULL); CREATE INDEX n_t ON n (t)")
    for key, (cascade, null, fresh) in enumerate(families):
        con.execute("INSERT INTO t VALUES (?, ?)", (key, NOW_MS // 1000 if fresh else 1_700_000_000 + key // 3))
        con.executemany("INSERT INTO c VALUES (?)", [(key,)] * cascade)
        con.executemany("INSERT INTO n VALUES (?)", [(key,)] * null)
    place.load(con)
    rule = {"table": "t", "keep": "30d", "age": {"column": "at", "format": "unix_s"}, "page_rows": page_rows, "mode": mode}
    policy = {"version": 1, "limits": {"rows_changed": bound}, "rules": [rule | ({"walk": {"index": "t_at"}} if index else {})]}

    def watch(step: Step, answer: Any, _seconds: float) -> None:
        if isinstance(step, Batch) and step.writes and isinstance(answer, list) and answer[0].total_changes is not None:
            assert answer[0].total_changes <= bound

    here = retention.run(con, policy, now=NOW_MS)
    there = retention.run(place.host, policy, now=NOW_MS, on_step=watch)
    assert (here.outcome, there.outcome, said(there)) == ("done", "done", said(here)), here
    kept = [key for key, (cascade, null, fresh) in enumerate(families) if fresh or 1 + cascade + null > bound]
    for table in ("t", "c", "n"):
        sql = f"SELECT * FROM {table} ORDER BY 1, 2" if table == "t" else f"SELECT * FROM {table} ORDER BY 1"
        assert place.beside.execute(sql).fetchall() == con.execute(sql).fetchall()
    assert [key for key, _ in place.beside.execute("SELECT * FROM t ORDER BY 1").fetchall()] == kept

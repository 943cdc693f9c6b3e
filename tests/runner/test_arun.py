"""`arun` is `run`, awaited: the same rows and the same receipt, on files and on remote hosts, and the event loop stays free."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import retention
from tests.d1.fixtures import Servers, d1_server
from tests.places import Place, opened, said
from tests.properties.world import NOW_MS, World, worlds

__all__ = ["d1_server"]

FEW = settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
LEASE = "CREATE TABLE lease (name TEXT PRIMARY KEY NOT NULL, owner TEXT NOT NULL, until INTEGER NOT NULL)"


@pytest.fixture(scope="module", params=["d1", "libsql"])
def place(request: pytest.FixtureRequest, d1_server: Servers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with opened(request.param, d1_server, tmp_path_factory.mktemp("place")) as found:
        yield found


async def remote(place: Place, policy: dict[str, Any], **given: Any) -> retention.Receipt:
    assert place.aconnect is not None
    host = place.aconnect()
    try:
        return await retention.arun(host, policy, now=NOW_MS, **given)
    finally:
        await host.aclose()


@FEW
@given(world=worlds(), limit=st.none() | st.integers(0, 8))
def test_on_a_remote_host(place: Place, world: World, limit: int | None) -> None:
    con = world.build()
    place.load(con)
    limits = None if limit is None else {"statements": 60 + limit}
    here = retention.run(con, world.policy(), now=NOW_MS, until_done=True)
    there = asyncio.run(remote(place, world.policy(), until_done=True, store=retention.MemoryStore(), limits=limits))
    assert (there.outcome, said(there)) == (here.outcome, said(here))
    assert world.keys(place.beside) == world.keys(con)


@settings(max_examples=30, deadline=None)
@given(world=worlds())
def test_on_a_connection(world: World) -> None:
    here, there = world.build(), world.build()
    expected = retention.run(here, world.policy(), now=NOW_MS, until_done=True)
    receipt = asyncio.run(retention.arun(there, world.policy(), now=NOW_MS, until_done=True))
    assert (receipt.outcome, receipt.statements, said(receipt)) == (expected.outcome, expected.statements, said(expected))
    assert world.keys(there) == world.keys(here)


def filled(path: Path, rows: int = 2_000) -> Path:
    con = apsw.Connection(str(path))
    con.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER)")
    con.execute(
        f"INSERT INTO t WITH RECURSIVE n (v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < {rows}) SELECT v, 1700000000 FROM n"
    )
    con.execute(LEASE)
    con.close()
    return path


def policy(**more: Any) -> dict[str, Any]:
    return {"version": 1, "rules": [{"table": "t", "keep": "30d", "age": {"column": "at", "format": "unix_s"}, "page_rows": 100}]} | more


def test_files_beside_each_other_leave_the_loop_free(tmp_path: Path) -> None:
    files = [filled(tmp_path / f"{n}.db") for n in range(3)]
    stores = [retention.FileStore(path.with_suffix(".json")) for path in files]

    async def work() -> tuple[list[retention.Receipt], int]:
        runs = asyncio.gather(*(retention.arun(f, policy(), store=s, now=NOW_MS) for f, s in zip(files, stores, strict=True)))
        turns = 0
        while not runs.done():
            turns += 1
            await asyncio.sleep(0)
        return await runs, turns

    receipts, turns = asyncio.run(work())
    assert [(r.outcome, r.deleted) for r in receipts] == [("done", 2_000)] * 3
    assert turns > 10
    assert all(store.load() is not None for store in stores)


def test_a_lease_an_archive_and_a_stop(tmp_path: Path) -> None:
    path, archive = filled(tmp_path / "a.db"), tmp_path / "rows.jsonl"
    given = policy(lease={"table": "lease", "ttl": "2m"})
    given["rules"][0]["archive"] = str(archive)
    pages: list[int] = []
    stopped = asyncio.run(retention.arun(path, given, now=NOW_MS, stop=lambda: pages.append(1) is not None or len(pages) > 20))
    assert (stopped.outcome, stopped.why) == ("more", "paused")
    assert 0 < stopped.deleted < 2_000
    done = asyncio.run(retention.arun(path, given, now=NOW_MS))
    assert (done.outcome, stopped.deleted + done.deleted) == ("done", 2_000)
    assert len([line for line in archive.read_text().splitlines() if '"archive"' not in line]) == 2_000
    assert apsw.Connection(str(path)).execute("SELECT count(*) FROM lease").get == 0


def test_what_a_callers_store_raises_ends_the_run_by_its_name(tmp_path: Path) -> None:
    class Full(retention.MemoryStore):
        def save(self, document: Any) -> None:
            raise OSError("the disk of the store is full")

    receipt = asyncio.run(retention.arun(filled(tmp_path / "a.db"), policy(), store=Full(), now=NOW_MS))
    assert receipt.outcome == "failed"
    assert "the disk of the store is full" in receipt.warnings[-1]


def test_a_cancelled_run_leaves_a_database_that_the_next_one_goes_on_with(place: Place) -> None:
    place.empty()
    place.setup(
        (
            "CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER)",
            "INSERT INTO t WITH RECURSIVE n (v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 400) SELECT v, 1700000000 FROM n",
        )
    )
    given = policy()
    given["rules"][0]["page_rows"] = 10

    async def cancelled() -> None:
        task = asyncio.ensure_future(remote(place, given))
        while place.beside.execute("SELECT count(*) FROM t").fetchall()[0][0] > 380:
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    left = place.beside.execute("SELECT count(*) FROM t").fetchall()[0][0]
    assert 0 < left <= 380
    # The page that was under way may still have been committed after that.
    done = asyncio.run(remote(place, given))
    assert (done.outcome, left - done.deleted in (0, 10)) == ("done", True)
    assert place.beside.execute("SELECT count(*) FROM t").fetchall() == [(0,)]

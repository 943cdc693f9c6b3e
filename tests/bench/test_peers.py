"""Every peer and both of our modes leave the same rows; what each sends for them is fixed by the data."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import compare, ours
from bench.client import FileClient, digest
from bench.data import Job, build, copy, eligible
from bench.peers import PEERS, Peer, keyset_ids, relaycast

ROWS = 4_000
JOBS = (Job(ROWS), Job(ROWS, "ordered"), Job(ROWS, tenants=True))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bench")


def drained(peer: Peer, job: Job, folder: Path) -> FileClient:
    client = FileClient(copy(build(job, folder), folder / "run.db"), peer.cache_kib)
    peer.drain(client, job)
    client.close()
    return client


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
def test_a_peer_deletes_all_that_the_condition_selects(peer: Peer, job: Job, folder: Path) -> None:
    expected = eligible(job, build(job, folder))
    client = drained(peer, job, folder)
    assert client.reading.rows == expected
    assert eligible(job, folder / "run.db") == 0


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
@pytest.mark.parametrize("mode", ["range", "chunk"])
def test_our_modes_leave_what_one_delete_leaves(mode: ours.Mode, job: Job, folder: Path) -> None:
    drained(PEERS[0], job, folder)
    left = digest(folder / "run.db")
    target = copy(build(job, folder), folder / "run.db")
    reading, _ = ours.drain(target, ours.policy(job, mode))
    assert digest(target) == left
    assert reading.rows == eligible(job, build(job, folder))


def test_range_mode_sends_few_statements(folder: Path) -> None:
    """Page sizes follow the time that writes take; capped, they do not, and the count is the same on every machine."""
    job = Job(ROWS)
    target = copy(build(job, folder), folder / "run.db")
    reading, _ = ours.drain(target, ours.policy(job, page_rows=1_000))
    pages = ROWS // 1_000 + 1
    planning = 12
    assert reading.statements <= planning + 3 * pages
    assert reading.saves <= 2 * pages + 2


def test_the_bare_loop_repeats_a_run(folder: Path) -> None:
    job = Job(ROWS, tenants=True)
    target = copy(build(job, folder), folder / "run.db")
    reading, host = ours.drain(target, ours.policy(job))
    left = digest(target)
    client = FileClient(copy(build(job, folder), target))
    ours.replay(client, host.sent, host.capabilities)
    client.close()
    assert digest(target) == left
    assert client.reading.statements == reading.statements
    assert client.reading.rows == reading.rows


def test_relaycast_statement_counts(folder: Path) -> None:
    """One high-water read, a page each 200 rows and the page that finds the end, a DELETE for each 10 candidates of a page."""
    job = Job(ROWS)
    client = drained(next(p for p in PEERS if p.name == "relaycast"), job, folder)
    pages = ROWS // relaycast.PAGE
    at_least = 1 + pages + -(-client.reading.rows // relaycast.CHUNK)
    assert at_least <= client.reading.statements <= at_least + pages
    assert client.reading.saves == 2 * pages
    assert len(client.reading.writes) == client.reading.statements - 1 - pages


def test_relaycast_refuses_a_row_that_changed_after_the_read(folder: Path) -> None:
    """The peer is no straw man: its clauses do guard."""
    job = Job(400)
    client = FileClient(copy(build(job, folder), folder / "run.db"))
    read = client.read

    def rescue(sql: str, params: object = ()) -> list[tuple[object, ...]]:
        rows = read(sql, params)  # type: ignore[arg-type]
        if "WITH page" in sql:
            read("UPDATE deliveries SET status = 'queued' WHERE id = 1")
        return rows

    client.read = rescue  # type: ignore[method-assign]
    assert eligible(job, folder / "run.db")
    relaycast.drain(client, job)
    assert read("SELECT status FROM deliveries WHERE id = 1") == [("queued",)]
    client.close()


def test_keyset_lists_fit_d1() -> None:
    assert keyset_ids.CHUNK <= 100


def test_peers_that_disagree_void_the_comparison(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    half = Peer("limit_loop", "stops early", lambda client, job: client.write("DELETE FROM deliveries WHERE id < 100") and None)
    monkeypatch.setattr(compare, "PEERS", (PEERS[0], half))
    job = Job(400)
    with pytest.raises(compare.Disagreement, match="left different rows"):
        compare._round(job, ("bare_delete", "limit_loop"), build(job, folder))  # pyright: ignore[reportPrivateUsage]

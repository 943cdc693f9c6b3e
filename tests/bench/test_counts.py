"""What the benchmark shows as far as it is the same on every machine: steps, statements and rows, ours and the peers'."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import apsw
import pytest

import retention
from bench import ours
from bench.client import FileClient, digest
from bench.data import NOW, Job, build, copy
from bench.peers import PEERS
from bench.trace import Trace
from retention.hosts.sqlite import SQLite

ROWS = 8_000
PAGE = 1_000


@dataclass(frozen=True)
class Count:
    """For each deleted row steps, for each thousand statements; planning and kept rows included."""

    steps: float
    statements: float


MOST = {
    "range": Count(150, 12),
    "chunk": Count(240, 12),
    "bare_delete": Count(25, 1),
    "bare_delete_16mb": Count(25, 1),
    "limit_loop": Count(50, 2),
    "keyset_ids": Count(50, 12),
    "relaycast": Count(200, 130),
    "relaycast_unsaved": Count(200, 130),
    "home_assistant": Count(50, 1),
    "sqlite_utils": Count(45, 3),
}
"""One scattered index, no tenants, 47 % of the rows expired, pages of 1,000; SQLite 3.54. A step more than these is worth a look."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("counts")


def counted(name: str, job: Job, folder: Path) -> tuple[Count, int, str]:
    """A contender's counts, the rows that it deleted, and a digest of those that it left."""
    path = copy(build(job, folder), folder / "run.db")
    if name in ("range", "chunk"):
        connection = apsw.Connection(str(path))
        trace = Trace(connection)
        host = SQLite(connection)
        mode: ours.Mode = "range" if name == "range" else "chunk"
        receipt = retention.run(host, ours.policy(job, mode, page_rows=PAGE), now=ours.instant(NOW))
        host.close()
        connection.close()
        rows = receipt.rules[0].deleted
    else:
        peer = next(p for p in PEERS if p.name == name)
        client = FileClient(path, peer.cache_kib)
        trace = Trace(client.connection)
        peer.drain(client, job)
        client.close()
        rows = client.reading.rows
    return Count(trace.vm_steps / rows, trace.statements * 1_000 / rows), rows, digest(path)


def test_every_contender_has_its_line() -> None:
    assert set(MOST) == {"range", "chunk", *(peer.name for peer in PEERS)}


@pytest.mark.parametrize("name", MOST)
def test_steps_and_statements(name: str, folder: Path) -> None:
    job = Job(ROWS)
    found, rows, left = counted(name, job, folder)
    _, expected, same = counted("bare_delete", job, folder)
    assert (rows, left) == (expected, same)
    assert MOST[name].steps / 2 <= found.steps <= MOST[name].steps
    assert found.statements <= MOST[name].statements


@pytest.mark.parametrize("mode", ["range", "chunk"])
def test_ours_do_not_grow_for_each_row_and_the_limit_loop_does(mode: str, folder: Path) -> None:
    """The loop finds its rows anew behind all that stay."""
    small, large = Job(4_000), Job(32_000)
    mine = [counted(mode, job, folder)[0].steps for job in (small, large)]
    loop = [counted("limit_loop", job, folder)[0].steps for job in (small, large)]
    assert mine[1] <= mine[0]
    assert loop[1] >= 1.3 * loop[0]


@pytest.mark.parametrize("tenants", [False, True])
def test_statements_beside_relaycasts(tenants: bool, folder: Path) -> None:
    job = Job(ROWS, tenants=tenants)
    mine, theirs = (counted(name, job, folder)[0].statements for name in ("range", "relaycast"))
    assert mine * 10 <= theirs

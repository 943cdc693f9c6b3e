"""Two callers on one remote database, as two processes of the command: the rows are right without a lease, and with one the second waits
its turn.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import retention
from retention.steps import Batch, Statement
from tests.libsql.fixtures import libsql

from . import fixtures

__all__ = ["libsql"]

NOW = "2026-09-09T14:00:00Z"
ROWS, GONE = 1_000, 750
LEASE = '[lease]\ntable = "lease"\nttl = "2m"\n'
LEASE_TABLE = "CREATE TABLE lease (name TEXT PRIMARY KEY NOT NULL, owner TEXT NOT NULL, until INTEGER NOT NULL)"
POLICY = """version = 1
{lease}
[[rules]]
table = "t"
keep = "30d"
age = {{ column = "at", format = "unix_s" }}
page_rows = 10
"""


@dataclass(frozen=True)
class Remote:
    """Where the callers go."""

    database: Any
    target: str
    environment: dict[str, str]

    def call(self, policy: Path, state: Path) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "retention", "run", self.target, "-p", str(policy), "--state", str(state), "--now", NOW, "--json"]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(command, env=os.environ | self.environment, text=True, **pipes)  # type: ignore[call-overload]


@pytest.fixture(params=["d1", "libsql"])
def remote(request: pytest.FixtureRequest) -> Remote:
    database = request.getfixturevalue(request.param)
    old, new = 1_700_000_000, 1_788_962_300
    numbers = f"WITH RECURSIVE n (v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < {ROWS})"
    kept = ROWS // (ROWS - GONE)
    database.setup(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER)", LEASE_TABLE,
        f"INSERT INTO t SELECT v, CASE WHEN v % {kept} THEN {old} ELSE {new} END FROM ({numbers} SELECT v FROM n)",
    )  # fmt: skip
    if isinstance(database, fixtures.Database):
        environment = {"CLOUDFLARE_API_TOKEN": database.token, "CLOUDFLARE_API_BASE_URL": database.url}
        return Remote(database, f"d1://{database.account}/{database.id}", environment)
    return Remote(database, database.url, {})


def left(remote: Remote) -> tuple[int, int]:
    """Rows that are left, and those of them that should have gone."""
    (row,) = remote.database.rows("SELECT count(*), coalesce(sum(at < 1750000000), 0) FROM t")
    return row


def ended(caller: subprocess.Popen[str]) -> tuple[int, dict[str, Any]]:
    """Exit status and receipt."""
    out, err = caller.communicate(timeout=120)
    assert out, err
    return caller.returncode, json.loads(out)


def test_without_a_lease_each_row_goes_once(remote: Remote, tmp_path: Path) -> None:
    """At once, in whatever order the server takes their batches."""
    policy = tmp_path / "retention.toml"
    policy.write_text(POLICY.format(lease=""))
    started = [remote.call(policy, tmp_path / f"state-{n}.json") for n in (1, 2)]
    callers = [ended(caller) for caller in started]
    assert [status for status, _ in callers] == [0, 0], callers
    assert left(remote) == (ROWS - GONE, 0)
    assert sum(receipt["rules"][0]["deleted"] for _, receipt in callers) == GONE
    assert sum(receipt["rules"][0]["unconfirmed"] for _, receipt in callers) == 0


def test_with_a_lease_one_works_and_the_other_is_told_to_come_again(remote: Remote, tmp_path: Path) -> None:
    policy = tmp_path / "retention.toml"
    policy.write_text(POLICY.format(lease=LEASE))
    others: list[tuple[int, dict[str, Any]]] = []

    def beside(step: Any, _answer: Any, _seconds: float) -> None:
        if isinstance(step, Batch) and step.writes and not others:
            others.append(ended(remote.call(policy, tmp_path / "other.json")))

    with remote.database.host() as host:
        winner = retention.run(host, policy, now=NOW, on_step=beside)
    ((status, loser),) = others
    assert (winner.outcome, winner.deleted) == ("done", GONE)
    assert (status, loser["outcome"], loser["why"]) == (75, "busy", "lease")
    assert loser["rules"] == []
    assert "another caller holds the lease" in loser["warnings"][-1]
    assert left(remote) == (ROWS - GONE, 0)
    assert remote.database.rows("SELECT count(*) FROM lease") == [(0,)]
    assert ended(remote.call(policy, tmp_path / "other.json"))[0] == 0


@pytest.mark.parametrize("taken", ["by another", "by time", "by a dropped row"])
def test_a_caller_that_loses_its_lease_midway_deletes_nothing_more(remote: Remote, taken: str) -> None:
    sql = {
        "by another": "UPDATE lease SET owner = 'thief', until = unixepoch() + 100",
        "by time": "UPDATE lease SET until = unixepoch() - 1",
        "by a dropped row": "DELETE FROM lease",
    }[taken]
    pages = 0

    def steal(step: Any, _answer: Any, _seconds: float) -> None:
        nonlocal pages
        pages += isinstance(step, Batch) and step.writes
        if pages == 5:
            pages += 1
            with remote.database.host() as other:
                other.execute(Batch((Statement(sql),), writes=True))

    with remote.database.host() as host:
        receipt = retention.run(host, POLICY.format(lease=LEASE), now=NOW, on_step=steal)
    assert (receipt.outcome, receipt.why, receipt.exit_status) == ("busy", "lease", 75)
    rows, expired = left(remote)
    # The lease itself was taken by a write, so four pages.
    assert 0 < receipt.deleted == ROWS - rows <= 4 * 10
    assert expired == GONE - receipt.deleted
    assert remote.database.rows("SELECT count(*), coalesce(sum(owner = 'thief'), 0) FROM lease") == [
        {"by another": (1, 1), "by time": (1, 0), "by a dropped row": (0, 0)}[taken]
    ]

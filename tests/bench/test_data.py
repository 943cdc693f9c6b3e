"""The file that all peers share is always the same, and a copy of it is really fresh."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.client import FileClient, digest
from bench.data import DAY, KEEP_DAYS, NOW, Job, build, copy, deliveries, eligible, workspaces


def gone(job: Job) -> int:
    """The rows that go, by an evaluation of its own."""
    documents = dict(workspaces(job))
    days = {name: KEEP_DAYS if text is None else json.loads(text)["delivery_ttl_days"] for name, text in documents.items()}
    settled = ("acked", "failed", "dead_lettered")
    return sum(row[3] in settled and row[5] < NOW - days[row[1]] * DAY for row in deliveries(job))


@pytest.mark.parametrize(
    "job", [Job(2_000), Job(2_000, "ordered"), Job(2_000, tenants=True), Job(2_000, journal="delete")], ids=lambda job: job.name
)
def test_a_job_selects_the_same_rows_each_time(job: Job, tmp_path: Path) -> None:
    path = build(job, tmp_path)
    assert eligible(job, path) == gone(job)
    assert 0.4 < gone(job) / job.rows < 0.5
    again = tmp_path / "again"
    again.mkdir()
    assert digest(build(job, again)) == digest(path)


def test_a_copy_forgets_the_run_before(tmp_path: Path) -> None:
    source = build(Job(100), tmp_path)
    target = copy(source, tmp_path / "run.db")
    client = FileClient(target)
    client.write("DELETE FROM deliveries")
    # The log is still there: nobody has closed the connection.
    copy(source, target)
    assert digest(target) == digest(source)
    client.close()

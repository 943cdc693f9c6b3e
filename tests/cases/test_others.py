"""Other connections: a commit between reading and deleting, a lock half way, a process that looks while another deletes."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import apsw
import pytest

import retention
from retention.steps import Archive, Batch, Save
from tests.cli.tools import create

from .cases import FRESH, NOW, OLD, rule, series

BELOW = "CREATE TABLE part (of INTEGER REFERENCES outbox (id) ON DELETE CASCADE)"
OUTBOX = "CREATE TABLE outbox (id INTEGER PRIMARY KEY, state TEXT NOT NULL, at INTEGER NOT NULL)"


@pytest.mark.parametrize("mode", ["range", "chunk"])
@pytest.mark.parametrize("below", [(), (BELOW, "CREATE INDEX of_outbox ON part (of)")], ids=["autocommit", "transaction"])
@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_a_commit_between_reading_and_deleting_makes_nobody_busy(tmp_path: Path, journal: str, below: tuple[str, ...], mode: str) -> None:
    """No write begins with a read: it would be refused at once, whatever the busy timeout, when others had committed meanwhile."""
    sent = f"INSERT INTO outbox VALUES (1, 'sent', {OLD}), (2, 'sent', {OLD} + 100), (3, 'new', {FRESH})"
    path = create(tmp_path / "app.db", OUTBOX, *below, sent, journal=journal)
    other, steps = apsw.Connection(str(path)), list[str]()

    def commit(step: Any, answer: Any, _seconds: float) -> None:
        assert isinstance(answer, list | None), answer
        steps.append(type(step).__name__)
        other.execute("INSERT INTO outbox (state, at) VALUES ('new', ?)", (FRESH,))

    only = "only = \"state = 'sent'\""
    done = retention.run(path, rule("outbox", only, f'mode = "{mode}"'), now=NOW, until_done=True, on_step=commit)
    assert (done.outcome, done.deleted, done.warnings) == ("done", 2, [])
    assert other.execute("SELECT count(*), min(id) FROM outbox").fetchall() == [(1 + len(steps), 3)]


LOCK = """
import sqlite3, sys
con = sqlite3.connect(sys.argv[1], isolation_level=None)
con.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.readline()
con.execute("ROLLBACK")
"""


@pytest.mark.parametrize("journal", ["wal", "delete"])
@pytest.mark.parametrize("mode", ['"range"', "{ chunk = 1000 }"])
def test_a_lock_half_way_is_told_apart_from_a_failure_and_no_row_is_counted_twice(tmp_path: Path, journal: str, mode: str) -> None:
    rows = series(5_000, f"INSERT INTO job SELECT i, {OLD} + i FROM n")
    path = create(tmp_path / "app.db", "CREATE TABLE job (id INTEGER PRIMARY KEY, done_at INTEGER NOT NULL)", rows, journal=journal)
    store, holders = retention.FileStore(tmp_path / "state.json"), list[subprocess.Popen[str]]()
    policy = rule("job", "page_rows = 1000", f"mode = {mode}", age="done_at")
    pages = 0

    def hold(step: Any, _answer: Any, _seconds: float) -> None:
        """After the third page, until the run has ended."""
        nonlocal pages
        pages += isinstance(step, Batch) and step.writes
        if pages == 3 and isinstance(step, Save) and not holders:
            holders.append(
                subprocess.Popen([sys.executable, "-c", LOCK, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            )
            assert holders[0].stdout is not None
            assert holders[0].stdout.readline() == "held\n"

    began = time.monotonic()
    first = retention.run(path, policy, store=store, limits={"deadline": "1500ms"}, now=NOW, on_step=hold)
    assert time.monotonic() - began < 5
    holders[0].communicate("\n")
    assert (first.outcome, first.why, first.exit_status) == ("busy", "locked", 75)
    assert "another connection holds" in " ".join(first.warnings)
    con = apsw.Connection(str(path))
    left = 5_000 - first.deleted
    assert 0 < left < 5_000
    assert con.execute("SELECT min(id), count(*) FROM job").fetchall() == [(first.deleted + 1, left)]
    second = retention.run(path, policy, store=store, now=NOW)
    assert (second.outcome, second.deleted, con.execute("SELECT count(*) FROM job").get) == ("done", left, 0)


LOOK = "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute('SELECT count(*) FROM r').fetchone()[0])"


def test_a_row_is_counted_when_its_delete_is_committed_and_no_statement_returns_rows_as_it_deletes(tmp_path: Path) -> None:
    """DELETE ... RETURNING hands out rows whose deletion is not yet committed. Rows for an archive are read before, and deleted by key."""
    path, archive = tmp_path / "app.db", tmp_path / "r.jsonl"
    create(path, "CREATE TABLE r (id INTEGER PRIMARY KEY, at INTEGER NOT NULL)", series(10, f"INSERT INTO r SELECT i, {OLD} FROM n"))
    seen: list[tuple[str, int, int]] = []

    def look(step: Any, _answer: Any, _seconds: float) -> None:
        if isinstance(step, Batch):
            assert not any("RETURNING" in statement.sql.upper() for statement in step.statements)
        if isinstance(step, Archive) or (isinstance(step, Batch) and step.writes):
            left = subprocess.run([sys.executable, "-c", LOOK, str(path)], capture_output=True, text=True, check=True).stdout
            kept = sum(1 for line in archive.read_text().splitlines() if "row" in json.loads(line))
            seen.append((type(step).__name__, int(left), kept))

    done = retention.run(path, rule("r", f"archive = '{archive}'"), now=NOW, on_step=look)
    assert (done.outcome, done.deleted) == ("done", 10)
    assert seen == [("Archive", 10, 10), ("Batch", 0, 10)]

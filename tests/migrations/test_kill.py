"""SIGKILL at every statement boundary, inside transactions too: the next call finishes the work, whatever was left."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import apsw

from retention.hosts.sqlite import SQLite
from retention.migrations import Migrator
from retention.stores import FileStore
from tests.migrations.test_migrate import ALL, REQUEST, ROWS, SLOTS, policy


def dies_at(path: Path, steps: dict[str, Any], statement: int) -> bool:
    """Migrate in a process that is killed when the n-th statement begins. Returns whether it was."""
    child = os.fork()
    if child == 0:
        begun = 0

        def count(_: Any) -> None:
            nonlocal begun
            begun += 1
            if begun == statement:
                os.kill(os.getpid(), signal.SIGKILL)

        connection = apsw.Connection(str(path))
        connection.trace_v2(apsw.SQLITE_TRACE_STMT, count)
        Migrator(SQLite(connection), steps, store=FileStore(f"{path}.state")).migrate()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def everywhere(folder: Path, before: tuple[str, ...], steps: dict[str, Any], want: list[Any]) -> int:
    """Kill at each statement in turn, each time on a new file, and finish. Returns how many statements there were."""
    statement = 0
    while True:
        statement += 1
        path = folder / f"{statement}.db"
        connection = apsw.Connection(str(path))
        connection.pragma("journal_mode", "wal")
        for sql in before:
            connection.execute(sql)
        connection.close()
        killed = dies_at(path, steps, statement)
        receipt = Migrator(str(path), steps, store=FileStore(f"{path}.state")).migrate()
        assert (receipt.outcome, [step.finished for step in receipt.migrations]) == ("done", [True] * len(receipt.migrations))
        connection = apsw.Connection(str(path))
        made = "SELECT name, sql LIKE 'CREATE UNIQUE%' FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name"
        assert connection.execute(made).fetchall() == want
        assert connection.execute("PRAGMA integrity_check").get == "ok"
        connection.close()
        if not killed:
            return statement


def test_killed_at_any_statement_it_is_finished_by_the_next_call(tmp_path: Path) -> None:
    want = [("cursors", 0), ("slots", 0), ("slots_request", 1), ("slots_seen", 0)]
    assert everywhere(tmp_path, (SLOTS, ROWS), policy(*ALL), want) > 20


def test_killed_while_a_plain_index_becomes_unique_there_is_never_none(tmp_path: Path) -> None:
    plain = "CREATE INDEX slots_request ON slots (request) WHERE request IS NOT NULL"
    want = [("slots", 0), ("slots_request", 1)]
    count = everywhere(tmp_path, (SLOTS, ROWS, plain), policy(REQUEST), want)
    assert count > 8
    for statement in range(1, count):
        path = tmp_path / f"again{statement}.db"
        connection = apsw.Connection(str(path))
        for sql in (SLOTS, ROWS, plain):
            connection.execute(sql)
        dies_at(path, policy(REQUEST), statement)
        assert connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'slots_request'").get == 1
        connection.close()

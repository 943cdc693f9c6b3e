"""A commit is durable before anybody is told of it, and the lock is not held for that."""

from __future__ import annotations

import os

import apsw
import pytest

import retention
from retention.errors import HostError
from retention.hosts import sqlite, sqlite_durable, sqlite_wal
from retention.hosts.sqlite import SQLite
from tests.hosts.databases import create, look, read, write

FAILS = (
    "CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1), (2), (3);"
    "CREATE TRIGGER no BEFORE DELETE ON t WHEN old.id = 2 BEGIN SELECT RAISE(FAIL, 'no'); END"
)


@pytest.fixture
def synced(monkeypatch):
    """Each time the log is brought to the disk: what another connection could do just then."""
    paths: list[str] = []
    seen: list[str] = []
    really = sqlite_durable._to_disk

    def spy(descriptor: int) -> None:
        other = apsw.Connection(paths[0])
        try:
            other.execute("BEGIN IMMEDIATE; ROLLBACK")
            seen.append("write")
        except apsw.BusyError:
            seen.append("nothing")
        other.close()
        really(descriptor)

    monkeypatch.setattr(sqlite_durable, "_to_disk", spy)
    return paths, seen


@pytest.mark.parametrize("batch", [write("DELETE FROM t WHERE id = 1"), write("DELETE FROM t WHERE id = 1", "SELECT 1")])
def test_a_write_is_durable_when_it_is_answered_and_nobody_waits_for_that(tmp_path, synced, batch):
    paths, seen = synced
    paths.append(str(create(tmp_path / "x.db")))
    with SQLite(paths[0]) as host:
        assert host._set_up_statement("PRAGMA synchronous") == 1
        host.execute(batch)
        assert seen == ["write"]


def test_what_a_failed_statement_kept_is_durable_too(tmp_path, synced):
    paths, seen = synced
    paths.append(str(create(tmp_path / "x.db", FAILS)))
    with SQLite(paths[0]) as host:
        with pytest.raises(HostError) as caught:
            host.execute(write("DELETE FROM t"))
        assert caught.value.applied is True
        assert seen == ["write"]
        assert look(paths[0], "SELECT id FROM t") == [(2,), (3,)]


def test_a_batch_that_is_rolled_back_needs_no_disk(tmp_path, synced):
    paths, seen = synced
    paths.append(str(create(tmp_path / "x.db")))
    with SQLite(paths[0]) as host:
        with pytest.raises(HostError):
            host.execute(write("DELETE FROM t", "SELECT nothing"))
        assert seen == []


def test_who_settles_later_says_when(tmp_path, synced):
    paths, seen = synced
    paths.append(str(create(tmp_path / "x.db")))
    with SQLite(paths[0]) as host:
        host.settle_later(True)
        host.execute(write("DELETE FROM t WHERE id = 1"))
        assert seen == []
        host.settle()
        assert seen == ["write"]


def test_a_rollback_journal_is_left_to_sqlite(tmp_path):
    """There NORMAL could damage the file at a power failure (sqlite.org/pragma.html#pragma_synchronous)."""
    with SQLite(create(tmp_path / "x.db", journal="delete")) as host:
        assert not host._log
        assert host._set_up_statement("PRAGMA synchronous") == 2
        host.settle()


def test_a_borrowed_connection_keeps_its_own_setting(tmp_path, synced):
    paths, seen = synced
    paths.append(str(create(tmp_path / "x.db")))
    con = apsw.Connection(paths[0])
    for setting in (0, 1, 2, 3):
        con.pragma("synchronous", setting)
        host = SQLite(con)
        host.execute(write("DELETE FROM t WHERE id = 1"))
        host.close()
        assert con.pragma("synchronous") == setting
    con.close()
    assert seen == [], "SQLite does what it is set to"


def test_who_wrote_nothing_pays_for_no_disk(tmp_path, synced):
    paths, seen = synced
    paths.append(str(create(tmp_path / "x.db")))
    with SQLite(paths[0]) as host:
        host.execute(read("SELECT count(*) FROM t"))
        host.settle()
        assert seen == []
        host.execute(write("DELETE FROM t WHERE id = 1"))
        host.settle()
        assert seen == ["write"]
        assert host.settled_seconds > 0


def test_a_log_that_cannot_be_opened_by_its_name_is_left_to_sqlite(tmp_path, monkeypatch):
    path = create(tmp_path / "x.db")

    def no(*_):
        raise PermissionError(13, "no")

    monkeypatch.setattr(sqlite_durable.os, "open", no)
    with SQLite(path) as host:
        monkeypatch.undo()
        assert not host._log
        assert host._set_up_statement("PRAGMA synchronous") == 2


def test_the_log_that_is_synced_is_the_one_that_is_there(tmp_path, monkeypatch):
    """While we opened the file another connection switched it to WAL and was closed, which deleted the log that we had just looked at."""
    path = create(tmp_path / "x.db", journal="delete")
    others: list[apsw.Connection] = []

    def switched(con):
        if not others:
            others.append(apsw.Connection(str(path)))
            others[0].pragma("journal_mode", "wal")
            others[0].execute("DELETE FROM t WHERE id = 9")
        return sqlite_wal.journal_is_wal(con)

    def seen(log):
        found = sqlite_durable.can_be_brought(log)
        others[0].close()
        assert not os.path.exists(log)
        return found

    synced: list[int] = []
    monkeypatch.setattr(sqlite, "journal_is_wal", switched)
    monkeypatch.setattr(sqlite, "can_be_brought", seen)
    monkeypatch.setattr(sqlite_durable, "_to_disk", lambda descriptor: synced.append(os.fstat(descriptor).st_ino))
    with SQLite(path) as host:
        host.settle()
        host.execute(write("DELETE FROM t WHERE id = 1"))
        assert synced == [os.stat(f"{path}-wal").st_ino]


def test_no_descriptor_is_left_behind(tmp_path):
    path = create(tmp_path / "x.db")
    SQLite(path).close()
    before = len(os.listdir("/dev/fd"))
    for _ in range(3):
        SQLite(path).close()
        (tmp_path / "no.db").write_bytes(b"no database" * 100)
        with pytest.raises(HostError):
            SQLite(tmp_path / "no.db")
    assert len(os.listdir("/dev/fd")) == before


def test_a_disk_that_fails_there_says_so(tmp_path, monkeypatch):
    """What was committed can be seen, and nobody knows whether it stays."""
    path = create(tmp_path / "x.db")

    def fail(_: int) -> None:
        raise OSError(5, "Input/output error")

    with SQLite(path) as host:
        monkeypatch.setattr(sqlite_durable, "_to_disk", fail)
        with pytest.raises(
            HostError, match="could not be brought to the disk \\(Input/output error\\); look whether the disk is full"
        ) as caught:
            host.execute(write("DELETE FROM t WHERE id = 1"))
        assert caught.value.applied is None
        assert look(path, "SELECT count(*) FROM t WHERE id = 1") == [(0,)]


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_a_plan_counts_what_a_run_sends_to_open_the_file(tmp_path, journal):
    path = create(tmp_path / "x.db", journal=journal)
    rules = {"version": 1, "rules": [{"table": "t", "keep": "0s", "only": "a = 3", "walk": "rowid"}]}
    with SQLite(path, readonly=True) as reads:
        planned = retention.plan(reads, rules).statements
    (tmp_path / "x.db").chmod(0o444)
    assert retention.plan(path, rules).statements == planned
    (tmp_path / "x.db").chmod(0o644)
    assert retention.run(path, rules).statements.planning == planned

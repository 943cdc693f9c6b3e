"""Opening: what is no database is told in a sentence, nothing is created, and a borrowed connection comes back as it was."""

from __future__ import annotations

import os
from pathlib import Path

import apsw
import pytest

from retention.errors import HostError, PolicyError
from retention.hosts import sqlite, sqlite_open
from retention.hosts.sqlite import SQLite

from .databases import create, look, read, write


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda p: None, "no database at"),
        (lambda p: p.touch(), "empty file"),
        (lambda p: p.mkdir(), "directory"),
        (lambda p: os.mkfifo(p), "no regular file"),
    ],
    ids=["missing", "empty", "directory", "fifo"],
)
@pytest.mark.parametrize("readonly", [False, True])
def test_what_is_no_database_file_is_the_callers_mistake(tmp_path, make, says, readonly):
    path = tmp_path / "x.db"
    make(path)
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(PolicyError, match=says):
        SQLite(path, readonly=readonly)
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.parametrize("path", ["a\0b", "/dev/null/x.db", "file:x.db?mode=rwc", ":memory:"])
def test_odd_paths_create_nothing(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PolicyError):
        SQLite(path)
    assert os.listdir(tmp_path) == []


def test_a_relative_path_that_looks_like_a_uri_is_a_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    create(tmp_path / "file:x.db")
    with SQLite("file:x.db") as host:
        assert host.execute(read("SELECT count(*) FROM t"))[0].rows == [(20,)]
        assert host.name == "file:x.db"


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"not a database, but long enough to have a header. " * 200,
        lambda data: os.urandom(len(data)),  # what an encrypted file looks like
        lambda data: data[:16] + b"\x00\x07" + data[18:],  # a page size that cannot be
        lambda data: data[:100] + b"\xff" * 3000 + data[3100:],  # the schema's page
        lambda data: data[:4096],  # the rest is missing
        lambda data: data[:50],
    ],
    ids=["text", "encrypted", "page size", "schema page", "truncated", "half a header"],
)
def test_a_damaged_file_is_corrupt(tmp_path, damage):
    path = create(tmp_path / "x.db", journal="delete")
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(HostError, match=r"x\.db.*(damaged|not a database)") as caught, SQLite(path) as host:
        host.execute(read("SELECT count(*) FROM t"))
    assert (caught.value.kind, caught.value.retryable, caught.value.exit_status) == ("corrupt", False, 1)


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_a_locked_file_is_busy_after_the_wait(tmp_path, journal):
    path = create(tmp_path / "x.db", journal=journal)
    other = apsw.Connection(str(path))
    other.pragma("locking_mode", "exclusive")
    other.execute("BEGIN EXCLUSIVE; DELETE FROM t WHERE id = 1")
    with pytest.raises(HostError, match="locked") as caught:
        SQLite(path, busy_seconds=0.05)
    assert (caught.value.kind, caught.value.retryable, caught.value.applied) == ("busy", True, False)
    other.close()


def test_a_file_that_cannot_be_written_is_refused_for_writing_only(tmp_path, monkeypatch):
    path = create(tmp_path / "x.db", journal="delete")
    allowed = os.access
    monkeypatch.setattr(sqlite_open.os, "access", lambda p, mode: mode != os.W_OK and allowed(p, mode))
    with pytest.raises(HostError, match="cannot be written") as caught:
        SQLite(path)
    assert caught.value.kind == "readonly"
    with SQLite(path, readonly=True) as host:
        assert host.execute(read("SELECT count(*) FROM t"))[0].rows == [(20,)]


@pytest.mark.parametrize("failure", [apsw.ReadOnlyError, apsw.CantOpenError])
def test_a_wal_file_where_nothing_can_be_written_beside_it(tmp_path, monkeypatch, failure):
    def refuse(wait, *args, **kwargs):
        raise failure("attempt to write a readonly database")

    monkeypatch.setattr(sqlite.LockWait, "allow", refuse)
    with pytest.raises(HostError, match="is in WAL mode") as caught:
        SQLite(create(tmp_path / "x.db"), readonly=True)
    assert caught.value.kind == "readonly"


def test_a_fallback_to_reading_is_noticed(tmp_path, monkeypatch):
    path = create(tmp_path / "x.db")
    monkeypatch.setattr(apsw, "SQLITE_OPEN_READWRITE", apsw.SQLITE_OPEN_READONLY)
    with pytest.raises(HostError, match="cannot be written") as caught:
        SQLite(path)
    assert caught.value.kind == "readonly"


@pytest.mark.parametrize("statements", [("DELETE FROM t",), ("DELETE FROM t", "SELECT 1")])
def test_a_readonly_host_refuses_writes(tmp_path, statements):
    path = create(tmp_path / "x.db")
    with SQLite(path, readonly=True) as host, pytest.raises(HostError) as caught:
        host.execute(write(*statements))
    assert (caught.value.kind, caught.value.applied) == ("readonly", False)
    assert look(path, "SELECT count(*) FROM t") == [(20,)]


@pytest.mark.parametrize("keys", ["on", "off"])
def test_foreign_keys_are_as_asked(tmp_path, keys):
    path = create(tmp_path / "x.db")
    with SQLite(path, foreign_keys=keys) as host:
        assert host.execute(read("PRAGMA foreign_keys"))[0].rows == [(int(keys == "on"),)]


def test_triggers_do_no_more_for_us_than_for_the_application(tmp_path):
    path = create(
        tmp_path / "x.db",
        "CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1),(2),(3);"
        "CREATE TRIGGER gone AFTER DELETE ON t BEGIN DELETE FROM t WHERE id = old.id + 1; END",
    )
    with SQLite(path) as host:
        assert host.execute(write("DELETE FROM t WHERE id = 1"))[0].total_changes == 2
    assert look(path, "SELECT id FROM t") == [(3,)]


def test_the_statements_of_the_opening_are_counted(tmp_path):
    path = create(tmp_path / "x.db")
    sent: list[str] = []

    def trace(con):
        con.trace_v2(apsw.SQLITE_TRACE_STMT, lambda event: sent.append(event["sql"]))

    apsw.connection_hooks.append(trace)
    try:
        with SQLite(path) as host:
            assert len(sent) == host.setup_statements == 2
    finally:
        apsw.connection_hooks.remove(trace)


def test_a_borrowed_connection_comes_back_as_it_was(tmp_path):
    path = create(tmp_path / "x.db")
    con = apsw.Connection(str(path))
    con.set_busy_timeout(1234)
    con.wal_autocheckpoint(77)
    con.config(apsw.SQLITE_DBCONFIG_ENABLE_FKEY, 0)
    con.row_trace = lambda cursor, row: ("traced", *row)
    sent: list[str] = []
    con.trace_v2(apsw.SQLITE_TRACE_STMT, lambda event: sent.append(event["sql"]))
    host = SQLite(con)
    assert len(sent) == host.setup_statements
    assert host.execute(write("DELETE FROM t WHERE id < 5", "SELECT changes()"))[1].rows == [(4,)]
    host.close()
    con.row_trace = None
    settings = [con.pragma(name) for name in ("busy_timeout", "wal_autocheckpoint", "foreign_keys", "journal_mode")]
    assert settings == [1234, 77, 0, "wal"]
    con.close()


def test_a_borrowed_row_trace_comes_back(tmp_path):
    con = apsw.Connection(str(create(tmp_path / "x.db")))
    con.row_trace = keep = lambda cursor, row: row
    SQLite(con).close()
    assert con.row_trace is keep
    con.close()


def test_a_borrowed_connection_in_a_transaction_is_refused(tmp_path):
    con = apsw.Connection(str(create(tmp_path / "x.db")))
    con.execute("BEGIN")
    with pytest.raises(PolicyError, match="in a transaction"):
        SQLite(con)
    assert con.in_transaction
    con.close()


@pytest.mark.parametrize("journal", ["wal", "delete", "truncate", "persist"])
def test_persistent_settings_stay(tmp_path, journal):
    path = create(tmp_path / "x.db", journal=journal)
    header = path.read_bytes()[:24]
    with SQLite(path) as host:
        host.execute(write("DELETE FROM t WHERE id < 5", "DELETE FROM t WHERE id = 9"))
    assert path.read_bytes()[:24] == header


def test_nothing_but_the_file_is_left_behind(tmp_path):
    path = create(tmp_path / "x.db")
    with SQLite(path) as host:
        host.execute(write("DELETE FROM t"))
    assert [p.name for p in Path(tmp_path).iterdir()] == ["x.db"]


def test_a_closed_host_says_so_and_closes_twice(tmp_path):
    host = SQLite(create(tmp_path / "x.db"))
    host.close()
    host.close()
    with pytest.raises(HostError, match="closed"):
        host.execute(read("SELECT 1"))


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_reading_leaves_the_folder_as_it_was(tmp_path, journal):
    path = create(tmp_path / "x.db", "CREATE TABLE t(a); INSERT INTO t VALUES (1)", journal=journal)
    before = (sorted(os.listdir(tmp_path)), Path(path).read_bytes(), os.stat(path).st_mtime_ns)
    with SQLite(path, readonly=True) as host:
        assert host.execute(read("SELECT a FROM t"))[0].rows == [(1,)]
        with pytest.raises(HostError) as caught:
            host.execute(write("DELETE FROM t"))
        assert caught.value.kind == "readonly"
    assert (sorted(os.listdir(tmp_path)), Path(path).read_bytes(), os.stat(path).st_mtime_ns) == before


def test_a_wal_file_where_nothing_can_be_written_is_read(tmp_path, monkeypatch):
    path = create(tmp_path / "x y%z.db", "CREATE TABLE t(a); INSERT INTO t VALUES (1)")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with SQLite(path, readonly=True) as host:
        assert host.execute(read("SELECT a FROM t"))[0].rows == [(1,)]
    assert os.listdir(tmp_path) == ["x y%z.db"]

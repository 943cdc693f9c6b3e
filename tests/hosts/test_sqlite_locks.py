"""Beside other connections: waiting where it costs nobody, giving up where it does, and a log that stays short."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from itertools import pairwise

import apsw
import pytest

from retention.errors import HostError
from retention.hosts import sqlite, sqlite_locks, sqlite_neighbours, sqlite_wal
from retention.hosts.sqlite import SQLite
from retention.hosts.sqlite_neighbours import SHUTTING_AIM_S

from .databases import create, look, read, traced, write

WRITES = pytest.mark.parametrize(
    "batch", [write("DELETE FROM t WHERE id <= 5"), write("DELETE FROM t WHERE id <= 5", "SELECT 1")], ids=["alone", "transaction"]
)


@contextmanager
def held(path, sql):
    """Another connection that holds a lock."""
    con = apsw.Connection(str(path))
    cursor = con.cursor()
    try:
        cursor.execute(sql)
        yield con
    finally:
        cursor.close(True)
        con.close()


def sleeps(monkeypatch, then):
    """No real sleeping: each pause moves the clock and calls `then(pauses so far)`."""
    clock, pauses = [1000.0], []

    def sleep(seconds):
        clock[0] += max(seconds, 1e-4)
        pauses.append(seconds)
        then(len(pauses))

    monkeypatch.setattr(sqlite_locks.time, "sleep", sleep)
    monkeypatch.setattr(sqlite_locks.time, "monotonic", lambda: clock[0])
    return clock


@WRITES
@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_a_writer_that_stays_is_busy_and_nothing_is_applied(tmp_path, monkeypatch, journal, batch):
    path = create(tmp_path / "x.db", journal=journal)
    with SQLite(path, busy_seconds=3.0) as host, held(path, "BEGIN IMMEDIATE; DELETE FROM t WHERE id = 9"):
        clock = sleeps(monkeypatch, lambda n: None)
        began = clock[0]
        with traced(host) as sent, pytest.raises(HostError, match="locked") as caught:
            host.execute(batch)
        error = caught.value
        assert (error.kind, error.retryable, error.applied, error.exit_status) == ("busy", True, False, 75)
        assert error.retry_after is not None
        assert error.retry_after > 0
        assert clock[0] - began <= 3.011
        assert len(sent) <= 1
    assert look(path, "SELECT count(*) FROM t") == [(20,)]


@WRITES
@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_the_wait_ends_with_the_batchs_time_limit(tmp_path, monkeypatch, journal, batch):
    path = create(tmp_path / "x.db", journal=journal)
    with SQLite(path) as host, held(path, "BEGIN IMMEDIATE"):
        clock = sleeps(monkeypatch, lambda n: None)
        began = clock[0]
        with pytest.raises(HostError) as caught:
            host.execute(batch, 0.2)
        assert caught.value.kind == "busy"
        assert clock[0] - began <= 0.211


@WRITES
def test_a_writer_that_leaves_is_waited_for(tmp_path, monkeypatch, batch):
    path = create(tmp_path / "x.db")
    with SQLite(path) as host, held(path, "BEGIN IMMEDIATE; DELETE FROM t WHERE id = 9") as other:
        sleeps(monkeypatch, lambda n: other.execute("COMMIT") if n == 30 else None)
        with traced(host) as sent:
            (first, *_) = host.execute(batch)
        assert first.changes == 5
        assert first.seconds < 0.001, "waiting is not writing"
        assert host.waited > 0.1
        assert len(sent) == host.capabilities.cost(batch)
    assert look(path, "SELECT count(*) FROM t") == [(14,)]


@WRITES
def test_readers_of_a_rollback_journal_are_locked_out_for_50_ms_at_most(tmp_path, monkeypatch, batch):
    path = create(tmp_path / "x.db", journal="delete")
    fresh = apsw.Connection(str(path))
    locked_out = []

    def enter(n):
        try:
            fresh.execute("SELECT count(*) FROM t").fetchall()
            locked_out.append(False)
        except apsw.BusyError:
            locked_out.append(True)

    with SQLite(path) as host, held(path, "SELECT * FROM t"):
        clock = sleeps(monkeypatch, enter)
        began = clock[0]
        with traced(host) as sent, pytest.raises(HostError) as caught:
            host.execute(batch)
        assert (caught.value.kind, caught.value.applied, caught.value.retryable) == ("busy", False, True)
        assert clock[0] - began <= sqlite_locks.HELD_SECONDS + 0.001
        assert any(locked_out), "the test must have met the lock"
        assert len(sent) <= host.capabilities.cost(batch)
        enter(0)
        assert not locked_out[-1], "the lock is let go"
    fresh.close()
    assert look(path, "SELECT count(*) FROM t") == [(20,)]


@WRITES
def test_a_reader_of_a_rollback_journal_that_leaves_in_time_is_waited_for(tmp_path, monkeypatch, batch):
    path = create(tmp_path / "x.db", journal="delete")
    other = apsw.Connection(str(path))
    other.execute("BEGIN; SELECT * FROM t")
    with SQLite(path) as host:
        sleeps(monkeypatch, lambda n: other.execute("COMMIT") if n == 4 else None)
        with traced(host) as sent:
            assert host.execute(batch)[0].changes == 5
        assert len(sent) == host.capabilities.cost(batch)
        assert host.waited > 0
        assert host.aim == SHUTTING_AIM_S, "who only reads needs no shorter writes"
    other.close()


def test_a_snapshot_that_is_behind_is_busy(tmp_path):
    """A read that turns into a write after somebody else wrote can only begin again."""
    path = create(tmp_path / "x.db")
    con = apsw.Connection(str(path))
    with SQLite(con) as host:
        con.execute("BEGIN; SELECT * FROM t").fetchall()
        look(path, "DELETE FROM t WHERE id = 9")
        with pytest.raises(HostError) as caught:
            host.execute(write("DELETE FROM t WHERE id = 1"))
        assert (caught.value.kind, caught.value.retryable, caught.value.applied) == ("busy", True, False)
        con.execute("ROLLBACK")
    con.close()


def test_other_connections_work_between_our_batches(tmp_path):
    path = create(tmp_path / "x.db", journal="delete")
    with SQLite(path) as host:
        host.execute(read("SELECT * FROM t"))
        look(path, "DELETE FROM t WHERE id = 1")
        host.execute(write("DELETE FROM t WHERE id = 2", "SELECT * FROM t"))
        look(path, "DELETE FROM t WHERE id = 3")
        with pytest.raises(HostError):
            host.execute(write("DELETE FROM t", "SELECT * FROM nowhere"))
        look(path, "BEGIN EXCLUSIVE; DELETE FROM t WHERE id = 4; COMMIT")


def test_two_hosts_on_one_file_lose_nothing(tmp_path):
    path = create(tmp_path / "x.db", "CREATE TABLE n(v); INSERT INTO n VALUES (0)")

    def work():
        with SQLite(path) as host:
            for _ in range(40):
                host.execute(write("UPDATE n SET v = v + 1", "SELECT 1"))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert look(path, "SELECT v FROM n") == [(80,)]


# --- the write-ahead log --------------------------------------------------------------------------------------------

FILL = "INSERT INTO t(a, b) WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 100) SELECT v, zeroblob(3500) FROM n"


@pytest.fixture
def small(monkeypatch):
    """The same policy at a tenth of the size."""
    monkeypatch.setattr(sqlite_wal, "PASSIVE_FRAMES", 100)
    monkeypatch.setattr(sqlite_wal, "RESTART_FRAMES", 200)


def frames(path):
    return path.with_name(path.name + "-wal").stat().st_size // 4120


def test_the_log_stays_short_alone(tmp_path, small):
    path = create(tmp_path / "x.db")
    with SQLite(path) as host:
        for _ in range(20):
            host.execute(write(FILL))
        assert frames(path) < 500
        assert host.wal_bytes == 0


def test_no_checkpoint_is_part_of_a_write(tmp_path, small, monkeypatch):
    """Each runs after the lock is let go: another connection can write meanwhile."""
    path = create(tmp_path / "x.db")
    modes = []
    with SQLite(path) as host:
        checkpoint = host._wal._checkpoint
        monkeypatch.setattr(sqlite_wal, "BUSY_FRAMES", sqlite_wal.PASSIVE_FRAMES)

        def spy(mode, until):
            look(path, "INSERT INTO t(a) VALUES (0)")
            modes.append(mode)
            checkpoint(mode, until)

        monkeypatch.setattr(host._wal, "_checkpoint", spy)
        for _ in range(8):
            host.execute(write(FILL, "SELECT 1"))
    assert modes.count(apsw.SQLITE_CHECKPOINT_PASSIVE) >= 4


def test_beside_a_steady_writer_the_log_begins_anew(tmp_path, small, monkeypatch):
    """A frame that comes while PASSIVE copies keeps the log from ever being copied whole, so RESTART has to stop the writer."""
    path = create(tmp_path / "x.db")
    other = apsw.Connection(str(path))
    other.wal_autocheckpoint(0)
    sizes = []
    with SQLite(path) as host:
        checkpoint = host._wal._checkpoint

        def beside(mode, until):
            checkpoint(mode, until)
            if mode == apsw.SQLITE_CHECKPOINT_PASSIVE:
                other.execute("INSERT INTO t(a) VALUES (0)")

        monkeypatch.setattr(host._wal, "_checkpoint", beside)
        for _ in range(30):
            host.execute(write(FILL))
            sizes.append(frames(path))
    assert max(sizes) < 500
    other.close()


def test_what_we_wrote_is_copied_although_others_let_the_log_begin_anew(tmp_path, small, monkeypatch):
    """A log that is longer now than it was may be another one: what counts is what we wrote since we last copied."""
    path = create(tmp_path / "x.db")
    other = apsw.Connection(str(path))
    other.wal_autocheckpoint(0)
    modes = []
    with SQLite(path) as host:
        checkpoint = host._wal._checkpoint
        monkeypatch.setattr(host._wal, "_checkpoint", lambda mode, until: (modes.append(mode), checkpoint(mode, until)))
        for more in range(1, 6):
            host.execute(write(FILL))
            assert modes.count(apsw.SQLITE_CHECKPOINT_PASSIVE) == more
            other.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_RESTART)
            # So that the new log, with our next write, is longer than the old one was.
            other.execute("INSERT INTO t(a) VALUES (0)")
    other.close()


@pytest.mark.parametrize(("beside", "order"), [(True, ["rest", "RESTART", "write"]), (False, ["PASSIVE", "RESTART", "rest"])])
def test_when_the_log_begins_anew(tmp_path, small, monkeypatch, beside, order):
    """Beside others right before a write: in the rest behind one, who waited for it would find the lock held once more."""
    path = create(tmp_path / "x.db")
    names = {apsw.SQLITE_CHECKPOINT_PASSIVE: "PASSIVE", apsw.SQLITE_CHECKPOINT_RESTART: "RESTART"}
    done = []
    monkeypatch.setattr(sqlite_wal, "BUSY_FRAMES", 50)
    monkeypatch.setattr(sqlite_wal, "RESTART_FRAMES", 50)
    monkeypatch.setattr(sqlite_neighbours.Neighbours, "writing", beside)
    with SQLite(path) as host:
        checkpoint, send = host._wal._checkpoint, host._send
        monkeypatch.setattr(host._wal, "_checkpoint", lambda mode, until: (done.append(names[mode]), checkpoint(mode, until)))
        monkeypatch.setattr(host, "_send", lambda *a, **k: (done.append("write"), send(*a, **k))[1])
        for _ in range(6):
            host.execute(write(FILL))
            done.append("rest")
        restarts = [place for place, what in enumerate(done) if what == "RESTART"]
        assert len(restarts) >= 5
        assert all(done[place - 1 : place + 2] == order for place in restarts)


def test_a_reader_that_pins_the_log_is_told_and_left_alone(tmp_path, small, monkeypatch):
    path = create(tmp_path / "x.db")
    restarts = []
    with SQLite(path) as host, held(path, "SELECT * FROM t"):
        checkpoint = host._wal._checkpoint

        def spy(mode, until):
            if mode == apsw.SQLITE_CHECKPOINT_RESTART:
                restarts.append(time.monotonic())
            checkpoint(mode, until)

        monkeypatch.setattr(host._wal, "_checkpoint", spy)
        for _ in range(10):
            host.execute(write(FILL))
        assert host.wal_bytes >= 10 * 100 * 3500
        assert abs(host.wal_bytes - frames(path) * 4120) <= 4120
        assert len(restarts) == 1, "a restart in vain is not repeated at once"


def test_a_pinned_log_is_copied_only_as_it_grows(tmp_path, small, monkeypatch):
    path = create(tmp_path / "x.db")
    modes = []
    with SQLite(path) as host, held(path, "SELECT * FROM t"):
        checkpoint = host._wal._checkpoint
        monkeypatch.setattr(host._wal, "_checkpoint", lambda mode, until: (modes.append(mode), checkpoint(mode, until)))
        monkeypatch.setattr(sqlite_wal, "PASSIVE_FRAMES", 350)
        for _ in range(12):
            host.execute(write(FILL))
    assert 3 <= modes.count(apsw.SQLITE_CHECKPOINT_PASSIVE) <= 5


def test_a_restart_in_vain_is_repeated_after_1_2_4_seconds(tmp_path, small, monkeypatch):
    path = create(tmp_path / "x.db")
    restarts = []
    with SQLite(path) as host, held(path, "SELECT * FROM t"):
        clock = sleeps(monkeypatch, lambda n: None)
        checkpoint = host._wal._checkpoint

        def spy(mode, until):
            if mode == apsw.SQLITE_CHECKPOINT_RESTART:
                restarts.append(clock[0])
                assert until - clock[0] <= 0.0201
            checkpoint(mode, until)

        monkeypatch.setattr(host._wal, "_checkpoint", spy)
        for _ in range(80):
            host.execute(write(FILL))
            clock[0] += 0.1
    gaps = [b - a for a, b in pairwise(restarts)]
    assert [round(gap) for gap in gaps] == [1, 2, 4]


CHECKPOINTING = """
import fcntl, sys
with open(sys.argv[1], "r+b") as file:
    fcntl.lockf(file, fcntl.LOCK_EX, 1, 121)  # WAL_CKPT_LOCK (sqlite.org/walformat.html, section 2.3)
    print("held", flush=True)
    sys.stdin.read()
"""


def test_another_connections_checkpoint_is_outlived(tmp_path, small, monkeypatch):
    """SQLite does not wait for one, and beside a writer of many small commits there is one in every other moment."""
    path = create(tmp_path / "x.db")
    command = [sys.executable, "-c", CHECKPOINTING, f"{path}-shm"]
    with SQLite(path) as host:
        for _ in range(3):
            host.execute(write(FILL))
        host._wal._restart_due = True
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
            other.stdout.readline()
            looks = []
            checkpoint = host._wal._checkpoint

            def spy(mode, until):
                looks.append(mode)
                if len(looks) == 3:
                    other.communicate()
                checkpoint(mode, until)

            monkeypatch.setattr(host._wal, "_checkpoint", spy)
            monkeypatch.setattr(sqlite_wal, "RESTART_SECONDS", 5.0)
            monkeypatch.setattr(sqlite_wal.time, "sleep", lambda _: None)
            host._wal.restart()
        assert looks == [apsw.SQLITE_CHECKPOINT_RESTART] * 3
        assert host._wal._next_restart == 0.0, "nobody waited in vain"


def test_the_log_is_free_again_when_the_reader_has_left(tmp_path, small):
    path = create(tmp_path / "x.db")
    with SQLite(path) as host:
        with held(path, "SELECT * FROM t"):
            for _ in range(5):
                host.execute(write(FILL))
            assert host.wal_bytes > 0
        for _ in range(3):
            host.execute(write(FILL))
        assert host.wal_bytes == 0


def test_a_checkpoint_that_fails_does_not_fail_the_write(tmp_path, small, monkeypatch):
    path = create(tmp_path / "x.db")

    def fail(mode, until):
        raise apsw.FullError("database or disk is full")

    with SQLite(path) as host:
        monkeypatch.setattr(host._wal, "_checkpoint", fail)
        for _ in range(4):
            assert host.execute(write(FILL))[0].changes == 100
        assert host.wal_bytes > 0


def test_the_close_leaves_little_for_the_last_checkpoint(tmp_path):
    path = create(tmp_path / "x.db")
    other = apsw.Connection(str(path))
    other.execute("SELECT * FROM t").fetchall()
    with SQLite(path) as host:
        host.execute(write(FILL))
    assert len(path.read_bytes()) > 300_000, "the pages are in the file although another connection is still open"
    other.close()


@pytest.mark.parametrize("size", [512, 4096, 65536])
def test_page_sizes(tmp_path, size):
    path = tmp_path / "x.db"
    con = apsw.Connection(str(path))
    con.pragma("page_size", size)
    con.execute("CREATE TABLE t(a)")
    assert sqlite_wal.page_bytes(con) == size
    assert not sqlite_wal.journal_is_wal(con)
    con.pragma("journal_mode", "wal")
    assert sqlite_wal.journal_is_wal(con)
    con.close()
    assert not sqlite_wal.journal_is_wal(apsw.Connection(""))


@pytest.mark.parametrize(("journal", "pause"), [("wal", 0.0), ("delete", sqlite.POLL_SECONDS)])
def test_a_rollback_journal_is_left_alone_between_writes(tmp_path, journal, pause):
    with SQLite(create(tmp_path / "x.db", journal=journal)) as host:
        assert host.pause == 0.0
        host.execute(write("DELETE FROM t WHERE id = 1"))
        assert (host.pause > 0) == (pause > 0)
        assert host.pause <= pause


@pytest.mark.parametrize("sign", ["another's commit", "a wait"])
def test_while_others_write_our_writes_are_short_and_apart(tmp_path, sign, monkeypatch):
    path = create(tmp_path / "x.db")
    with SQLite(path) as host:
        host.execute(write("DELETE FROM t WHERE id = 1"))
        assert (host.aim, host.pause) == (None, 0.0)
        if sign == "a wait":
            host._wait.seconds += 0.001
        else:
            look(path, "INSERT INTO t(a) VALUES (0)")
            host.execute(read("SELECT count(*) FROM t"))
        host.execute(write("DELETE FROM t WHERE id = 2"))
        assert host.aim == sqlite_neighbours.AIM_S
        assert 0 < host.pause <= sqlite_neighbours.GAP_S
        clock = time.monotonic() + sqlite_neighbours.REMEMBERED_S
        monkeypatch.setattr(time, "monotonic", lambda: clock)
        assert (host.aim, host.pause) == (None, 0.0)


def test_who_writes_while_we_plan_is_known_before_our_first_write(tmp_path, monkeypatch):
    """The first two pages, without a rest between them, would make it wait for both."""
    path = create(tmp_path / "x.db")
    with SQLite(path) as host:
        host.execute(read("SELECT count(*) FROM t"))
        assert host.aim is None, "what we read and set up ourselves is no sign"
        look(path, "INSERT INTO t(a) VALUES (0)")
        host.execute(read("SELECT count(*) FROM t"))
        host.execute(read("SELECT count(*) FROM t"))
        assert host.aim == sqlite_neighbours.AIM_S
        clock = time.monotonic() + sqlite_neighbours.REMEMBERED_S
        monkeypatch.setattr(time, "monotonic", lambda: clock)
        host.execute(read("SELECT count(*) FROM t"))
        assert host.aim is None, "one commit is one sign, however often we look"


def test_a_rollback_journal_with_another_writer_is_left_alone_for_three_looks(tmp_path):
    """The other writer may fill the first gap: who only reads is in by the next look."""
    path = create(tmp_path / "x.db", journal="delete")
    with SQLite(path) as host:
        host.execute(write("DELETE FROM t WHERE id = 1"))
        look(path, "DELETE FROM t WHERE id = 2")
        host.execute(read("SELECT count(*) FROM t"))
        host.execute(write("DELETE FROM t WHERE id = 3"))
        assert 2 * sqlite.POLL_SECONDS < host.pause <= 3 * sqlite.POLL_SECONDS


def test_a_database_in_memory_is_nobody_elses():
    con = apsw.Connection("")
    con.execute("CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1), (2)")
    with SQLite(con) as host:
        host.execute(write("DELETE FROM t WHERE id = 1"))
        assert (host.pause, host.aim) == (0.0, None)
    con.close()

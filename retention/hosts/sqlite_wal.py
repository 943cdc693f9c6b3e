"""Keeping the write-ahead log short without holding a lock for it.

Auto-checkpoint runs inside whatever commit happens to pass 1,000 pages, and makes that write several times longer.
So it is switched off for our connection, and the log is looked after between writes.
"""

from __future__ import annotations

import time

import apsw

from .sqlite_locks import LockWait

__all__ = ["Wal"]

PASSIVE_FRAMES = 1_000
"""Growth that is worth a checkpoint: SQLite's own default for auto-checkpoint (sqlite.org/wal.html, section 3)."""

BUSY_FRAMES = 250
"""The same while others write, whose own auto-checkpoint would else copy what we wrote."""

RESTART_FRAMES = 1_750
"""Above this the log has to begin anew: beside a steady writer PASSIVE never catches up, and the log grows past 100 MB. With one more
write, of up to 2,100 frames where an index is scattered, and pages of 4 KiB it stays below 16 MB."""

RESTART_SECONDS = 0.020
"""A RESTART holds the write lock while it waits for readers."""

OTHERS_LOOKS = 20
"""So often in that time we try again where another connection's checkpoint is under way: beside a steady writer that is a common moment."""

RESTART_PAUSE = 1.0
"""Seconds after a RESTART in vain, doubling: one after every page starves the writers."""

FRAME_HEADER = 24
"""Bytes before each page in the log (sqlite.org/fileformat2.html, section 4.1)."""


class Wal:
    """The log of one connection's main database."""

    def __init__(self, connection: apsw.Connection, wait: LockWait) -> None:
        self._connection = connection
        self._wait = wait
        self._frames = 0
        self._copied = self._written
        self._pinned = self._restart_due = self._tight = False
        self._pause = RESTART_PAUSE
        self._next_restart = 0.0
        connection.set_wal_hook(self._committed)

    @property
    def pinned_bytes(self) -> int:
        """Size of a log that could not begin anew, because a reader or another writer uses its old part; else 0."""
        return self._frames * (page_bytes(self._connection) + FRAME_HEADER) if self._pinned else 0

    @property
    def _written(self) -> int:
        """Frames that this connection has written since its opening. The log's own length tells less: others may have let it begin anew."""
        return self._connection.status(apsw.SQLITE_DBSTATUS_CACHE_WRITE)[0]

    def _committed(self, _connection: apsw.Connection, schema: str, frames: int) -> int:
        if schema == "main":
            if frames < self._frames:
                self._pinned, self._pause, self._next_restart = False, RESTART_PAUSE, 0.0
            self._frames = frames
        return apsw.SQLITE_OK

    def tend(self, *, busy: bool = False) -> None:
        """Copy what the last writes added, if it is much. To be called between transactions. Never raises for the database.

        Args:
            busy: others write too. Whatever lies uncopied when they pass 1,000 frames, their commit copies: they would wait for our pages.
        """
        enough = 1 if self._tight else BUSY_FRAMES if busy else PASSIVE_FRAMES
        if self._written - self._copied < enough:
            return
        self._copied = self._written
        now = time.monotonic()
        try:
            self._checkpoint(apsw.SQLITE_CHECKPOINT_PASSIVE, now)
        except apsw.Error:
            self._failed()
            return
        self._restart_due = self._frames > (0 if self._tight else RESTART_FRAMES) and now >= self._next_restart
        if not busy:
            self.restart()

    def no_room(self) -> None:
        """The disk has no room for a longer log: it gives back what it takes, now and after each write, as far as readers let it. What a
        write in vain had added would else keep the room that our own progress needs. Never raises for the database."""
        self._tight, self._copied = True, self._written
        try:
            self._checkpoint(apsw.SQLITE_CHECKPOINT_PASSIVE, time.monotonic())
        except apsw.Error:
            self._failed()
            return
        self._restart_due = True
        self.restart()

    def restart(self) -> None:
        """Let the log begin anew, if it is time for it. To be called before a transaction. Never raises for the database.

        Beside other writers this goes right before our next write and not behind the last: it holds their lock too, and in the rest
        between two writes they would find it held when they look.
        """
        if not self._restart_due:
            return
        self._restart_due = False
        mode = apsw.SQLITE_CHECKPOINT_TRUNCATE if self._tight else apsw.SQLITE_CHECKPOINT_RESTART
        until = time.monotonic() + RESTART_SECONDS
        for _ in range(OTHERS_LOOKS):
            try:
                self._checkpoint(mode, until)
                self._pinned, self._pause = False, RESTART_PAUSE
                return
            except apsw.BusyError:
                # Another connection's checkpoint, short as it is, is not waited for by SQLite (`sqlite3WalCheckpoint` in wal.c).
                if (left := until - time.monotonic()) <= 0:
                    break
                time.sleep(min(left, RESTART_SECONDS / OTHERS_LOOKS))
            except apsw.Error:
                break
        self._failed()

    def _failed(self) -> None:
        """The writes themselves are durable in the log. Whatever keeps it from being copied shows as its size."""
        self._pinned = self._frames > RESTART_FRAMES
        self._next_restart, self._pause = time.monotonic() + self._pause, 2 * self._pause

    def leave(self) -> None:
        """Copy what can be copied without a lock, so that the checkpoint of the last connection's close is short."""
        if self._frames:
            try:
                self._checkpoint(apsw.SQLITE_CHECKPOINT_PASSIVE, 0.0)
            except apsw.Error:
                return

    def _checkpoint(self, mode: int, until: float) -> None:
        waited = self._wait.seconds
        self._wait.allow(until)
        try:
            self._connection.wal_checkpoint("main", mode)
        finally:
            # Readers were waited for, not writers, and no statement was late for it.
            self._wait.seconds = waited


def journal_is_wal(connection: apsw.Connection) -> bool:
    """Whether the main database is in WAL mode, by the file's header: no statement, and through SQLite's own descriptor
    (closing any other one would drop the process's locks on the file)."""
    return _header(connection, 18, 1) == b"\2"


def page_bytes(connection: apsw.Connection) -> int:
    """The page size; in the header 1 stands for 65,536 (sqlite.org/fileformat2.html, section 1.3.2)."""
    size = int.from_bytes(_header(connection, 16, 2), "big")
    return 65_536 if size == 1 else size


def _header(connection: apsw.Connection, offset: int, size: int) -> bytes:
    try:
        return connection.read("main", 0, offset, size)[1]
    except apsw.Error:  # a database in memory has no file
        return bytes(size)

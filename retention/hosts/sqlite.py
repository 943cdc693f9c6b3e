"""A SQLite file as a host, over apsw."""

from __future__ import annotations

import math
import os
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal, NamedTuple, Self

import apsw

from ..capabilities import Capabilities
from ..errors import HostError, PolicyError
from ..steps import Batch, Result, Statement, Value
from .sqlite_durable import bring_to_disk, can_be_brought
from .sqlite_errors import FAILURES, host_error
from .sqlite_limits import HAS_PREUPDATE, read_limits
from .sqlite_locks import LockWait
from .sqlite_neighbours import AIM_S, SHUTTING_AIM_S, Neighbours
from .sqlite_open import open_file
from .sqlite_wal import Wal, journal_is_wal

__all__ = ["SQLite"]

PROGRESS_STEPS = 1_000
"""Virtual machine steps between two looks at the clock: some 20 µs, and not measurable in a statement's time."""

POLL_SECONDS = 0.025
"""How often a connection that waits with SQLite's own busy timeout looks again."""

CACHE_KIB = -16_384
"""Page cache of our connection, KiB (negative as PRAGMA cache_size has it). The default of 2 MB spills the pages of a scattered index into
the log again and again: measured 1.3 times slower deletes."""


class _Answer(NamedTuple):
    rows: list[tuple[Value, ...]]
    changes: int
    total_changes: int
    cascaded: dict[str, int] | None


class _Found(NamedTuple):
    """Settings of a connection that was handed in."""

    busy_timeout: int
    wal_autocheckpoint: int
    foreign_keys: int
    row_trace: Any


@dataclass(slots=True)
class _Hold:
    """How long a write may hold the lock, s; when it began, on a clock that stands still while we wait for others; whether longer."""

    longest: float = math.inf
    began: float = 0.0
    passed: bool = False


class SQLite:
    """A database file, or a connection that the caller opened.

    It may be used from any thread, by one at a time. Persistent settings (journal mode, auto-vacuum, ...) are never changed.
    A connection handed in is the caller's again after `close()`, with its busy timeout, auto-checkpoint and foreign keys
    as they were; a busy handler, WAL hook or progress handler written in Python cannot be read back and is removed.

    Args:
        database: path of an existing file, or an open connection that is in no transaction.
        readonly: open the file for reading only: enough for plan and audit.
        foreign_keys: whether this connection enforces foreign keys.
        busy_seconds: longest wait for another connection's lock, in one batch.

    Raises:
        PolicyError: no such file, an empty one, a directory; a connection that is closed or in a transaction.
        HostError: the file is no database, locked (`busy`), or cannot be written (`readonly`).
    """

    def __init__(
        self,
        database: str | os.PathLike[str] | apsw.Connection,
        *,
        readonly: bool = False,
        foreign_keys: Literal["on", "off"] = "on",
        busy_seconds: float = 5.0,
    ) -> None:
        self._owned = not isinstance(database, apsw.Connection)
        self._setup_statements = 0
        self._busy_seconds = busy_seconds
        self._until, self._hold, self._watching = math.inf, _Hold(), False
        self._writing = False
        self._closed = False
        self._found: _Found | None = None
        self._log = ""
        self._later = self._unsettled = False
        self._settled_seconds = 0.0
        if isinstance(database, apsw.Connection):
            try:
                begun = database.in_transaction
            except apsw.ConnectionClosedError:
                raise PolicyError("the connection is closed; hand over an open one") from None
            if begun:
                raise PolicyError("the connection is in a transaction; commit or roll back before you hand it over")
            self._name = database.filename or ":memory:"
            self._connection = database
        else:
            self._name = os.fspath(database)
            self._connection = open_file(database, readonly=readonly)
        try:
            self._set_up(foreign_keys == "on")
            if self._owned and readonly and not self._connection.readonly("main"):
                # Not counted: a run, for which statements are counted, opens for writing and does not send it.
                self._cursor.execute("PRAGMA query_only = ON")
        except BaseException as error:
            self._give_back()
            if isinstance(error, apsw.ReadOnlyError | apsw.CantOpenError):
                message = (
                    f"{self._name} is in WAL mode, and reading it needs files beside it that cannot be made there; use a copy elsewhere"
                )
                raise HostError(message, "readonly") from error
            if isinstance(error, FAILURES):
                raise host_error(error, self._name) from error
            raise

    def _set_up(self, enforce: bool) -> None:
        con = self._connection
        self._found = None if self._owned else self._read_settings()
        # Typed loosely because apsw's stubs are not complete on Python 3.11.
        self._cursor: Any = apsw.Cursor(con)
        self._wait = LockWait(con)
        self._wait.allow(time.monotonic() + self._busy_seconds)
        self._wal = Wal(con, self._wait)
        # Loads the schema: a file that is no database, damaged or locked shows here, and no statement is spent on it.
        con.column_metadata("main", "sqlite_schema", "name")
        self._neighbours = Neighbours(con, self._wait)
        if con.config(apsw.SQLITE_DBCONFIG_ENABLE_FKEY, int(enforce)) != enforce:
            raise HostError(f"{self._name}: foreign keys could not be switched {'on' if enforce else 'off'} in this build of SQLite")
        if self._owned:
            self._set_up_statement(f"PRAGMA cache_size = {CACHE_KIB}")
            self._settle_apart()
        self._capabilities = read_limits(con)

    def _settle_apart(self) -> None:
        """From here on commits to a WAL file are made durable outside the lock. Who only reads sends the statement too: a plan counts what
        a run will send."""
        con = self._connection
        if journal_is_wal(con) and (con.readonly("main") or can_be_brought(con.filename_wal)):
            self._set_up_statement("PRAGMA synchronous = NORMAL")
            self._log = con.filename_wal

    def _read_settings(self) -> _Found:
        con: Any = self._connection
        found = _Found(
            busy_timeout=self._set_up_statement("PRAGMA busy_timeout"),
            wal_autocheckpoint=self._set_up_statement("PRAGMA wal_autocheckpoint"),
            foreign_keys=con.config(apsw.SQLITE_DBCONFIG_ENABLE_FKEY, -1),
            row_trace=con.row_trace,
        )
        con.row_trace = None
        return found

    def _set_up_statement(self, sql: str) -> Any:
        self._setup_statements += 1
        cursor: Any = apsw.Cursor(self._connection)
        return cursor.execute(sql).get

    @property
    def name(self) -> str:
        """The path as it was given, or the connection's file name."""
        return self._name

    @property
    def capabilities(self) -> Capabilities:
        """SQLite's, with the limits that this connection has."""
        return self._capabilities

    @property
    def setup_statements(self) -> int:
        """Statements sent while opening: one for a path, two if it is in WAL mode, two for a connection. What apsw can do by a C call is
        no statement."""
        return self._setup_statements

    @property
    def waited(self) -> float:
        """Seconds spent waiting for other connections' locks, since the opening."""
        return self._wait.seconds

    @property
    def pause(self) -> float:
        """Seconds that the file is to be left alone before our next write, or waiting connections may never get in.

        A rollback-journal file is closed to everyone while a write commits, and who waits looks again every 25 ms at the latest
        (`sqliteDefaultBusyCallback` in SQLite's main.c, for the first 178 ms). A shorter gap between two writes is easily missed:
        measured, readers beside writes in close order waited for 0.5 to 6 s. Another writer may fill one gap; so while there is one, a gap
        is for three looks. On a WAL file only writers wait, and only if there are any.
        """
        looks = (3 if self._neighbours.writing else 1) if self._shuts else 0
        return self._neighbours.pause(looks * POLL_SECONDS)

    @property
    def aim(self) -> float | None:
        """Seconds that a write should take while others write too, or where it shuts readers out; None where nobody may be waiting."""
        if self._neighbours.writing:
            return AIM_S
        return SHUTTING_AIM_S if self._shuts else None

    @property
    def _shuts(self) -> bool:
        """Whether our commits keep readers out: on a file in rollback-journal mode. A database in memory is nobody else's."""
        return bool(self._connection.filename) and not journal_is_wal(self._connection)

    @property
    def wal_bytes(self) -> int:
        """Bytes of a write-ahead log that cannot begin anew because someone still reads its old part; else 0."""
        return self._wal.pinned_bytes

    def execute(self, batch: Batch, timeout: float | None = None) -> Sequence[Result]:
        """Execute one batch; see `Host.execute`.

        One statement, or reads, run in autocommit; several writes in one transaction. Nothing is sent
        twice. `Result.seconds` leaves out the wait for other connections' locks.

        On a WAL file, and before any lock is held, another connection's lock is waited for up to `busy_seconds`. On a
        rollback-journal file a wait that locks new readers out ends after 25 ms; the batch has then failed with kind `busy`,
        nothing applied, and may be tried again after `retry_after` seconds.

        Args:
            batch: the statements.
            timeout: seconds after which a statement is interrupted and the batch rolled back. A COMMIT is never interrupted.

        Raises:
            HostError: `applied` is True where a statement had changed rows and kept them (RAISE(FAIL)); `changes` says how many.
            Fenced: a fence did not hold.
        """
        if self._closed:
            raise HostError(f"{self._name} is closed")
        if batch.writes:
            self._unsettled = True
            self._wal.restart()
        started, waited = time.monotonic(), self._wait.seconds
        stop = math.inf if timeout is None else started + timeout
        self._wait.allow(min(started + self._busy_seconds, stop), commits=batch.writes)
        self._writing = batch.writes
        self._hold = _Hold(math.inf if batch.max_seconds is None else batch.max_seconds)
        in_transaction = batch.writes and self._capabilities.cost(batch) > len(batch.statements)
        before = self._connection.total_changes()
        self._neighbours.look()
        try:
            answers = self._transaction(batch, stop) if in_transaction else self._autocommit(batch, stop)
        except (*FAILURES, HostError) as failure:
            error = failure
            if self._hold.passed and isinstance(failure, apsw.InterruptError):
                held = f"the lock was held for {self._hold.longest * 1000:.0f} ms; rolled back"
                error = HostError(f"{self._name}: {held}", "too_many_changes")
            kept = 0 if in_transaction else self._connection.total_changes() - before
            if kept and not self._later:
                self.settle()
            if batch.writes and isinstance(error, apsw.FullError):
                self._wal.no_room()
            raise host_error(
                error,
                self._name,
                # A disk that fails at the commit leaves open which side of it the file is on.
                applied=None if batch.writes and isinstance(error, apsw.IOError) else kept > 0,
                changes=self._connection.changes() if kept else 0,
                seconds=time.monotonic() - started - (self._wait.seconds - waited),
            ) from failure
        finally:
            self._unwatch()
        seconds = time.monotonic() - started - (self._wait.seconds - waited)
        if batch.writes:
            self._neighbours.wrote()
            self._wal.tend(busy=self._neighbours.writing)
            if not self._later:
                self.settle()
        return [Result(a.rows, a.changes, a.total_changes, a.cascaded, seconds=seconds) for a in answers]

    def settle_later(self, later: bool) -> None:
        """Whether from now on `execute` may return when a write is committed, before it is durable: the caller will `settle`, or close."""
        self._later = later

    def settle(self) -> None:
        """Return when all that was committed is durable. May be called from another thread while one executes a batch.

        Raises:
            HostError: it can be seen, and may be gone after a power failure.
        """
        if not (self._log and self._unsettled):
            return
        began = time.monotonic()
        bring_to_disk(self._log, self._name)
        self._unsettled = False
        self._settled_seconds += time.monotonic() - began

    @property
    def settled_seconds(self) -> float:
        """Seconds that `settle` took, since the opening: they belong to the writes, as far as the disk goes."""
        return self._settled_seconds

    def _autocommit(self, batch: Batch, stop: float) -> list[_Answer]:
        self._watch(stop)
        return [self._send(statement, most=batch.max_changes) for statement in batch.statements]

    def _transaction(self, batch: Batch, stop: float) -> list[_Answer]:
        con, before = self._connection, self._connection.total_changes()
        answers: list[_Answer] = []
        most = math.inf if batch.max_changes is None else batch.max_changes
        try:
            # Inside the try: a BEGIN that fails, at an interrupt or by Ctrl-C, may have begun all the same.
            self._begin()
            self._watch(stop)
            for statement in batch.statements:
                answers.append(self._send(statement, most=batch.max_changes))
                if (changed := con.total_changes() - before) > most:
                    raise HostError(f"{self._name}: {changed} rows changed, more than {most}; rolled back", "too_many_changes")
            if con.status(apsw.SQLITE_DBSTATUS_DEFERRED_FKS)[0]:
                raise HostError(f"{self._name}: FOREIGN KEY constraint failed at the commit (a deferred key); rolled back", "constraint")
            self._unwatch()
            self._cursor.execute("COMMIT")
        except BaseException:
            self._unwatch()
            if con.in_transaction:
                self._cursor.execute("ROLLBACK")
            raise
        return answers

    def _begin(self) -> None:
        """On a rollback-journal file the readers are waited for before the work, not after it, when all would be done in vain."""
        if journal_is_wal(self._connection):
            self._cursor.execute("BEGIN IMMEDIATE")
            return
        self._wait.hold()
        self._cursor.execute("BEGIN EXCLUSIVE")

    def _send(self, statement: Statement, *, most: int | None = None) -> _Answer:
        con = self._connection
        before = con.total_changes()
        tally = _Tally(con, most) if most is not None and HAS_PREUPDATE else None
        try:
            rows: list[tuple[Value, ...]] = self._cursor.execute(statement.sql, statement.params).fetchall()
        except BaseException as error:
            # An open cursor would keep its snapshot, and so the log.
            self._cursor.close(True)
            self._cursor = apsw.Cursor(con)
            if tally and tally.exceeded and isinstance(error, apsw.Error):
                raise HostError(f"{self._name}: more than {most} rows would change; rolled back", "too_many_changes") from error
            raise
        finally:
            if tally:
                tally.stop()
        total = con.total_changes() - before
        # changes() still tells of the last write when this statement was none.
        changes = con.changes() if total else 0
        return _Answer(rows, changes, total, tally.cascaded(statement.sql) if tally else None)

    def _watch(self, stop: float) -> None:
        """From here on interrupt what runs past `stop` or past what the batch may hold the lock."""
        self._until, self._hold.began = stop, time.monotonic() - self._wait.seconds
        if min(stop, self._hold.longest) < math.inf:
            self._watching = True
            self._connection.set_progress_handler(self._late, PROGRESS_STEPS)

    def _unwatch(self) -> None:
        self._until = math.inf
        if self._watching:
            self._watching = False
            self._connection.set_progress_handler(None)

    def _late(self) -> bool:
        now = time.monotonic()
        self._hold.passed = now - self._wait.seconds - self._hold.began > self._hold.longest
        # SQLite asks once more after an autocommitted write has been committed: an interrupt there would deny what was done.
        return (now >= self._until or self._hold.passed) and not (
            self._writing and self._connection.txn_state("main") == apsw.SQLITE_TXN_NONE
        )

    def close(self) -> None:
        """Close the file; a connection that was handed in is left open, as it was."""
        if self._closed:
            return
        self._closed = True
        self._wal.leave()
        self._cursor.close(True)
        self._give_back()

    def _give_back(self) -> None:
        con: Any = self._connection
        if self._owned:
            con.close(True)
        elif self._found:
            con.set_busy_handler(None)
            con.set_busy_timeout(self._found.busy_timeout)
            con.set_wal_hook(None)
            con.wal_autocheckpoint(self._found.wal_autocheckpoint)
            con.config(apsw.SQLITE_DBCONFIG_ENABLE_FKEY, self._found.foreign_keys)
            con.row_trace = self._found.row_trace

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"SQLite({self._name!r})"


class _Tally:
    """Counts changed rows by table, through the pre-update hook, and stops a statement that changes too many.

    The interrupt ends it early; the commit hook makes sure of the last row, behind which SQLite looks for no interrupt.
    """

    def __init__(self, connection: apsw.Connection, most: int) -> None:
        self._connection = connection
        self._left = most
        self._rows: Counter[tuple[str, bool]] = Counter()
        connection.preupdate_hook(self._changed, id=self)
        connection.set_commit_hook(lambda: self.exceeded, id=self)

    @property
    def exceeded(self) -> bool:
        """Whether more rows changed than may."""
        return self._left < 0

    def _changed(self, update: Any) -> None:
        self._rows[update.table_name, update.depth > 0] += 1
        self._left -= 1
        if self._left == -1:
            self._connection.interrupt()

    def stop(self) -> None:
        self._connection.preupdate_hook(None, id=self)
        self._connection.set_commit_hook(None, id=self)

    def cascaded(self, sql: str) -> dict[str, int]:
        """Rows by table beyond the statement's own: foreign key actions, triggers, and the tables behind a virtual table.

        The rows behind a virtual table come as directly as the statement's own, so its text decides whose they are.
        """
        places = {table: sql.lower().find(table.lower().replace('"', '""')) for table, indirect in self._rows if not indirect}
        own = min((table for table in places if places[table] >= 0), key=lambda table: places[table], default=None)
        tables: Counter[str] = Counter()
        for (table, indirect), rows in self._rows.items():
            if indirect or table != own:
                tables[table] += rows
        return dict(tables)

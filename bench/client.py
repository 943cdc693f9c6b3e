"""How a peer talks to its database: two verbs, counted and timed alike for all of them."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import apsw

from retention import FileStore, MemoryStore

from .measure import Reading

__all__ = ["Client", "FileClient", "digest", "digest_keys", "timed"]

Rows = list[tuple[Any, ...]]


class Client(Protocol):
    """Bound integers travel as text with `CAST(?n AS INTEGER)`, so that one peer's text serves a file and D1."""

    reading: Reading

    def read(self, sql: str, params: Sequence[Any] = ()) -> Rows:
        """Rows of a SELECT."""
        ...

    def write(self, sql: str, params: Sequence[Any] = ()) -> int:
        """Rows that a DELETE removed, in a transaction of its own unless one is open."""
        ...

    def save(self, document: dict[str, Any]) -> None:
        """Store the peer's progress, where it keeps any."""
        ...


class FileClient:
    """A connection as a program opens it that knows nothing of tuning: WAL as the file has it, auto-checkpoint on, synchronous FULL.

    Args:
        path: of the database.
        cache_kib: page cache, KiB; None leaves SQLite's 2,000.
        stores: progress goes to the same durable file as in our runs; else storing it costs nothing.
    """

    def __init__(self, path: Path, cache_kib: int | None = None, *, stores: bool = True) -> None:
        self.reading = Reading()
        self._store = FileStore(f"{path}.retention.json") if stores else MemoryStore()
        self.connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        self.connection.set_busy_timeout(5_000)
        self.connection.pragma("foreign_keys", True)
        # Said, because a build of SQLite may have another default.
        self.connection.pragma("synchronous", 2)
        if cache_kib is not None:
            self.connection.pragma("cache_size", -cache_kib)
        self._cursor: Any = self.connection.cursor()

    def read(self, sql: str, params: Sequence[Any] = ()) -> Rows:
        self.reading.statements += 1
        return self._cursor.execute(sql, params).fetchall()

    def write(self, sql: str, params: Sequence[Any] = ()) -> int:
        self.reading.statements += 1
        began = time.perf_counter()
        self._cursor.execute(sql, params).fetchall()
        if not self.connection.in_transaction:
            self.reading.writes.append(time.perf_counter() - began)
        changes = self.connection.changes()
        self.reading.rows += changes
        return changes

    @contextmanager
    def transaction(self) -> Generator[None]:
        """Several writes in one transaction."""
        began = time.perf_counter()
        self._cursor.execute("BEGIN IMMEDIATE")
        yield
        self._cursor.execute("COMMIT")
        self.reading.statements += 2
        self.reading.writes.append(time.perf_counter() - began)

    def save(self, document: dict[str, Any]) -> None:
        self.reading.saves += 1
        self._store.save(document)

    def close(self) -> None:
        self.connection.close()


def timed(path: Path, drain: Callable[[FileClient], None], cache_kib: int | None = None, *, stores: bool = True) -> Reading:
    """The drain and the closing of the file, which copies what the log still holds: who checkpoints late pays then."""
    client = FileClient(path, cache_kib, stores=stores)
    try:
        began = time.perf_counter()
        drain(client)
    finally:
        client.close()
    client.reading.seconds = time.perf_counter() - began
    return client.reading


def digest_keys(keys: Iterable[int]) -> str:
    """Of keys in rising order."""
    whole = hashlib.sha256()
    for key in keys:
        whole.update(b"%d," % key)
    return whole.hexdigest()[:16]


def digest(path: Path) -> str:
    """Of the keys that are left in `deliveries`, and a check of the whole file."""
    db = apsw.Connection(str(path))
    try:
        assert db.execute("PRAGMA integrity_check").get == "ok", f"{path} is damaged"
        return digest_keys(key for (key,) in db.execute("SELECT id FROM deliveries ORDER BY id"))
    finally:
        db.close()

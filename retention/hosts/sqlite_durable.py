"""Making commits durable without holding the write lock for it.

A COMMIT with `synchronous = FULL` brings the log to the disk while everybody else waits: a third of a write's time, measured on a virtual
disk. With NORMAL it does not (sqlite.org/pragma.html#pragma_synchronous), the file stays as consistent, and the log is brought to the disk
right behind it, before the batch is answered. So a checkpoint that is stored afterwards is never ahead of its deletes, as with FULL.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import apsw

from ..errors import HostError
from .sqlite_errors import DISK

__all__ = ["Log"]

_to_disk: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)
"""What SQLite itself calls; not every system has `fdatasync`."""


class Log:
    """The write-ahead log of a connection's main database as a file: there as long as the connection is open.

    A descriptor of our own is harmless here: the locks that closing it would drop are on the database and its -shm, never on the log.
    """

    def __init__(self, connection: apsw.Connection, name: str) -> None:
        """Raises OSError where it cannot be opened, as with a VFS whose names are no paths."""
        self._name = name
        self._file = os.open(connection.filename_wal, os.O_RDWR | getattr(os, "O_BINARY", 0))

    def bring_to_disk(self) -> None:
        """Return when all that was committed is durable. Raises HostError: it can be seen, and may be gone after a power failure."""
        try:
            _to_disk(self._file)
        except OSError as error:
            words = f"{self._name}: what was written could not be brought to the disk ({error.strerror}); {DISK}"
            raise HostError(words, applied=None) from error

    def close(self) -> None:
        """To be called before the connection is closed: the last one deletes the log."""
        os.close(self._file)

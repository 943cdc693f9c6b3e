"""Making commits durable without holding the write lock for it.

A COMMIT with `synchronous = FULL` brings the log to the disk while everybody else waits: a third of a write's time, measured on a virtual
disk. With NORMAL it does not (sqlite.org/pragma.html#pragma_synchronous), the file stays as consistent, and the log is brought to the disk
right behind it, before the batch is answered. So a checkpoint that is stored afterwards is never ahead of its deletes, as with FULL.

The log is opened by its name each time, some 5 µs: what is kept open could be a log that another connection has deleted since. Closing it
is harmless: the locks that this drops are on the database and its -shm, never on the log.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from ..errors import HostError
from .sqlite_errors import DISK

__all__ = ["bring_to_disk", "can_be_brought"]

_to_disk: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)
"""What SQLite itself calls; not every system has `fdatasync`."""

_FLAGS = os.O_RDWR | getattr(os, "O_BINARY", 0)


def can_be_brought(log: str) -> bool:
    """Whether a log is a file that we can open: with some VFS its name is no path."""
    try:
        os.close(os.open(log, _FLAGS))
    except OSError:
        return False
    return True


def bring_to_disk(log: str, name: str) -> None:
    """Return when all that was committed to a log is durable.

    Args:
        log: its path. Where it is not there, the file is not in WAL mode after all, and SQLite has brought each commit to the disk.
        name: the database as a person knows it.

    Raises:
        HostError: what was committed can be seen, and may be gone after a power failure.
    """
    try:
        descriptor = os.open(log, _FLAGS)
        try:
            _to_disk(descriptor)
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        return
    except OSError as error:
        words = f"{name}: what was written could not be brought to the disk ({error.strerror}); {DISK}"
        raise HostError(words, applied=None) from error

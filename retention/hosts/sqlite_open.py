"""Opening a file that must be there, and saying in one sentence why it cannot be."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from urllib.parse import quote

import apsw

from ..errors import HostError, PolicyError

__all__ = ["open_file"]


def open_file(path: str | os.PathLike[str], *, readonly: bool) -> apsw.Connection:
    """A connection to an existing database file. Nothing is read from it yet, and it is never created.

    Raises:
        PolicyError: the path is no database file: missing, empty, a directory or a device.
        HostError: `readonly` if it cannot be written and `readonly` was not asked for; `denied` if it cannot be opened.
    """
    name = os.fspath(path)
    _check(name)
    writable = os.access(name, os.W_OK) and os.access(Path(name).resolve().parent, os.W_OK)
    if not readonly and not writable:
        raise _unwritable(name)
    target, flags = _target(name, readonly, writable)
    try:
        connection = apsw.Connection(target, flags=flags)
    except apsw.Error as error:
        raise HostError(f"{name} cannot be opened ({error}); check the permissions of the file and its directory", "denied") from error
    # SQLite falls back to reading where it may not write, without a word.
    if not readonly and connection.readonly("main"):
        connection.close()
        raise _unwritable(name)
    return connection


def _target(name: str, readonly: bool, writable: bool) -> tuple[str, int]:
    """What to open, and how.

    A WAL file at rest (no `-wal` beside it, so nobody has it open) needs a shared-memory file even for reading. Opened for reading only,
    SQLite would leave both behind; opened for writing it removes them (the host then sets query_only). Where nothing can be written, such
    a file cannot change either: `immutable`.
    """
    path = os.path.abspath(name)
    if not readonly:
        return path, apsw.SQLITE_OPEN_READWRITE
    if _is_wal(path) and not os.path.exists(f"{path}-wal"):
        if writable:
            return path, apsw.SQLITE_OPEN_READWRITE
        return f"file:{quote(path)}?immutable=1", apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    return path, apsw.SQLITE_OPEN_READONLY


def _is_wal(path: str) -> bool:
    """Byte 19 of the header: the read version, 2 for WAL (sqlite.org/fileformat2.html, section 1.3)."""
    try:
        with open(path, "rb") as file:
            header = file.read(20)
    except OSError:
        return False
    return header[19:] == b"\x02"


def _check(name: str) -> None:
    try:
        status = os.stat(name)
    except (FileNotFoundError, NotADirectoryError):
        raise PolicyError(f"there is no database at {name}; check the path: it is never created") from None
    except ValueError:
        raise PolicyError(f"{name!r} is no path: it holds a NUL character") from None
    except OSError as error:
        raise HostError(f"{name} cannot be reached ({error.strerror}); check the permissions of its directory", "denied") from error
    if stat.S_ISDIR(status.st_mode):
        raise PolicyError(f"{name} is a directory; give the database file in it")
    if not stat.S_ISREG(status.st_mode):
        raise PolicyError(f"{name} is no regular file; give a database file")
    if status.st_size == 0:
        raise PolicyError(f"{name} is an empty file, not a database; check the path")


def _unwritable(name: str) -> HostError:
    return HostError(f"{name} or its directory cannot be written, and a run writes both; change the permissions or the user", "readonly")

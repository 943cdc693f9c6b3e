"""Opening a file that must be there, and saying in one sentence why it cannot be."""

from __future__ import annotations

import os
import stat
from pathlib import Path

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
    if not readonly and not (os.access(name, os.W_OK) and os.access(Path(name).resolve().parent, os.W_OK)):
        raise _unwritable(name)
    flags = apsw.SQLITE_OPEN_READONLY if readonly else apsw.SQLITE_OPEN_READWRITE
    try:
        connection = apsw.Connection(os.path.abspath(name), flags=flags)
    except apsw.Error as error:
        raise HostError(f"{name} cannot be opened ({error}); check the permissions of the file and its directory", "denied") from error
    # SQLite falls back to reading where it may not write, without a word.
    if not readonly and connection.readonly("main"):
        connection.close()
        raise _unwritable(name)
    return connection


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

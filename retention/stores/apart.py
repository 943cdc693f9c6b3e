"""Which files a run has besides one another: a state or an archive that is one of them would destroy it."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ..errors import PolicyError

__all__ = ["database_files", "keep_apart", "state_files"]

_BESIDE = {"": "the database", "-wal": "the database's log", "-shm": "the database's shared memory", "-journal": "the database's journal"}


def database_files(path: str) -> dict[str, str]:
    """What SQLite keeps for a database (sqlite.org/tempfiles.html, section 2): names of files, and what each is."""
    return {os.path.realpath(path) + suffix: what for suffix, what in _BESIDE.items()}


def state_files(path: str | os.PathLike[str]) -> dict[str, str]:
    """The state file and its lock."""
    real = os.path.realpath(path)
    return {real: "the state file", f"{real}.lock": "the state file's lock"}


def keep_apart(path: str | os.PathLike[str], what: str, others: Mapping[str, str]) -> None:
    """Make sure that a file is none of the others, whatever name leads there.

    Raises:
        PolicyError: it is one of them.
    """
    for other, its in others.items():
        if _same(path, other):
            raise PolicyError(f"{what} {os.fspath(path)} is {its}, which it would destroy; name a file of its own.")


def _same(one: str | os.PathLike[str], other: str) -> bool:
    if os.path.realpath(one) == os.path.realpath(other):
        return True
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False

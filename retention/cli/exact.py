"""`retention plan --exact`: the policy carried out on a private copy of the file."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw

from ..errors import HostError, PolicyError
from ..hosts import is_remote
from ..hosts.sqlite_errors import host_error
from ..hosts.sqlite_open import open_file
from ..policy.models import Policy
from ..runner.runs import run as carry_out
from ..steps import Archive
from ..stores import FileStore, MemoryStore
from .output import show_receipt, watching
from .run import given_limits

__all__ = ["exact_plan"]

ROOM = 2
"""Times the file's size that must be free: the copy, and at worst as much again in its journal."""

PAGES = 2_000
"""Database pages copied at a time; between two of them other connections may write (8 MB at the usual page size)."""

RESTARTS = 5
"""A copy that other writers made begin anew so often is finished in one go, under a read lock."""


class _Nowhere:
    """An archive for rows that are not really deleted."""

    def write(self, step: Archive) -> None:
        """Forget the rows."""

    def close(self) -> None:
        """Nothing to close."""


def exact_plan(db: str, policy: Policy, now: str | None, state: Path, as_json: bool) -> int:
    """Run until done on a copy, from the stored checkpoint, and show the receipt. Returns the exit status of such a run.

    Raises:
        PolicyError: the database is remote or not there; the checkpoint is neither read nor written otherwise.
        HostError: the copy does not fit the disk, or cannot be made.
    """
    if is_remote(db):
        raise PolicyError("--exact runs on a private copy of the file, and a remote database cannot be copied; leave --exact out.")
    with tempfile.TemporaryDirectory(prefix="retention-exact-") as folder:
        copy = Path(folder) / Path(db).name
        _copy(db, copy)
        nowhere = {rule.name: _Nowhere() for rule in policy.rules if rule.archive is not None}
        store = MemoryStore(FileStore(state).load())
        with watching(policy, as_json) as observers:
            receipt = carry_out(
                copy,
                policy,
                store=store,
                limits=given_limits(None, None),
                now=now,
                until_done=True,
                archives=nowhere,
                on_step=observers,
            )
    receipt.warnings = [warning.replace(str(copy), db) for warning in receipt.warnings]
    show_receipt(receipt, as_json, "would be deleted")
    return receipt.exit_status


def _copy(db: str, copy: Path) -> None:
    with closing(open_file(db, readonly=True)) as source:
        source.set_busy_timeout(5_000)
        try:
            size = _size(source)
            free = shutil.disk_usage(copy.parent).free
            if free < ROOM * size:
                raise HostError(
                    f"a private copy of {db} needs {ROOM * size:,} bytes in {copy.parent.parent}, and {free:,} are free; "
                    f"free some space, or set TMPDIR to a folder that has it.",
                    "full",
                )
            with closing(apsw.Connection(str(copy))) as target, target.backup("main", source, "main") as backup:
                left, restarts = 0, 0
                while not backup.done:
                    backup.step(PAGES if restarts < RESTARTS else -1)
                    restarts += backup.remaining >= left > 0
                    left = backup.remaining
        except apsw.Error as error:
            raise host_error(error, db) from error


def _size(database: Any) -> int:
    """Bytes of a database. Typed loosely because apsw's stubs are not complete on Python 3.11."""
    return database.pragma("page_count") * database.pragma("page_size")

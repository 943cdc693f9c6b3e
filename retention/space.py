"""Free pages inside a SQLite file, given back to the file system. See docs/space.md.

space = reclaim("app.db", deadline_s=10)
"""

from __future__ import annotations

import math
import os
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import closing

from .engine.budget import Budget
from .errors import HostError, PolicyError
from .hosts import is_remote, open_host
from .runner.conduct import conduct
from .runner.drive import drive
from .steps import Result, Step
from .stores.base import MemoryStore
from .upkeep.reclaim import Space
from .upkeep.reclaim import reclaim as _engine

__all__ = ["Space", "reclaim"]

WAL_BYTES = 64_000_000
"""A write-ahead log that a reader keeps from beginning anew ends the call at this size, as it ends a run."""


def reclaim(
    db: str | os.PathLike[str],
    *,
    vacuum: bool = False,
    deadline_s: float = math.inf,
    stop: Callable[[], bool] | None = None,
) -> Space:
    """Give free pages back, in short writes where the file was made with `auto_vacuum = INCREMENTAL`.

    Args:
        db: path of an existing file.
        vacuum: where steps are not possible, rewrite the file by VACUUM, which locks everyone out meanwhile.
        deadline_s: seconds for the call; a VACUUM that takes longer is rolled back.
        stop: asked before each step; True ends the call.

    Raises:
        PolicyError: no such file, or a remote database, whose host looks after its space itself.
        Refused: VACUUM needs more room than the disk has.
        HostError: the database failed or is busy.
    """
    if is_remote(os.fspath(db)):
        raise PolicyError(f"{db}: a remote host gives freed space back by itself; reclaim is for files.")
    budget = Budget(deadline=time.monotonic() + deadline_s)
    with closing(open_host(os.fspath(db))) as host:

        def watch(_step: Step, _answer: Sequence[Result] | HostError | None, _seconds: float) -> None:
            if stop is not None and stop():
                budget.halt = "paused"
            elif getattr(host, "wal_bytes", 0) > WAL_BYTES:
                budget.halt = "wal"

        def pause() -> float:
            return getattr(host, "pause", 0.0)

        disk_free = shutil.disk_usage(os.path.dirname(os.path.abspath(os.fspath(db)))).free
        engine = _engine(budget, vacuum=vacuum, disk_free=disk_free, file_size=lambda: os.path.getsize(db))
        return drive(conduct(engine, host.capabilities, budget, time.monotonic, [watch], pause=pause), host, MemoryStore(), {})

"""Whether others write to the file, and what they are owed.

Nobody can see who waits for a lock that we hold. What can be seen: that we had to wait, and that the file changed although we did not
change it. Then writes get shorter, and between two of them the lock is left alone for as long as a waiter sleeps between two looks.
"""

from __future__ import annotations

import math
import time

import apsw

from .sqlite_locks import LockWait

__all__ = ["AIM_S", "GAP_S", "SHUTTING_AIM_S", "Neighbours"]

REMEMBERED_S = 1.0
"""So long after the last sign of another writer we still make room for one."""

AIM_S = 0.0145
"""Aim for a write while others write. A waiter looks again after 1, 3, 8, 18 and 33 ms (`sqliteDefaultBusyCallback` in SQLite's main.c):
behind a write of 14.5 ms, or of 16 where chance or a fixed part makes it longer, it is in by its fourth look. A shorter write does it no
good: it sleeps on, while our checkpoint uses the gap that it could have had (with 12 ms its median commit took twice as long as alone, with
15 ms a third longer)."""

SHUTTING_AIM_S = 0.025
"""Aim for a write to a rollback-journal file, which no one can read meanwhile, and who waits shows only afterwards."""

GAP_S = 0.0115
"""Between two of our writes then: the sleep between a waiter's third and fourth look, so that one of them falls into the gap, and as much
more as lets others in behind it. (With 10 ms the median commit of a process that makes one each millisecond took 1.6 times as long.)"""


class Neighbours:
    """What one connection notices of other writers. It is to be made when the connection has read the schema: what changes from then on
    and not by a write of ours was another's."""

    def __init__(self, connection: apsw.Connection, wait: LockWait) -> None:
        self._connection = connection
        self._wait = wait
        self._waited = 0.0
        self._version = connection.data_version()
        self._seen_at = -math.inf
        self._wrote_at = -math.inf

    @property
    def writing(self) -> bool:
        """Whether another connection wrote, or made us wait, a short time ago."""
        return time.monotonic() - self._seen_at < REMEMBERED_S

    def pause(self, least: float) -> float:
        """Seconds until our next write may begin: `least` after the last one, and more while others write."""
        return max(0.0, self._wrote_at + max(least, GAP_S if self.writing else 0.0) - time.monotonic())

    @property
    def _for_writers(self) -> float:
        """Seconds that we waited for other writers. Who only reads does not need shorter writes."""
        return self._wait.seconds - self._wait.for_readers

    def look(self) -> None:
        """To be called before a batch."""
        before, self._version = self._version, self._connection.data_version()
        if self._version != before or self._for_writers > self._waited:
            self._seen_at = time.monotonic()

    def wrote(self) -> None:
        """To be called after a write: what has changed until now was us."""
        if self._for_writers > self._waited:
            self._seen_at = time.monotonic()
        self._waited, self._version = self._for_writers, self._connection.data_version()
        self._wrote_at = time.monotonic()

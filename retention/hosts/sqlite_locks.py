"""Waiting for other connections, so that nobody waits long for us.

SQLite calls the busy handler in two situations. Before a lock is got nothing is held, and waiting costs nobody anything.
At the commit of a rollback-journal transaction the PENDING lock is held: it lets no new reader in while it waits for the old
ones to leave, so that wait is cut short, the transaction is rolled back, and the caller tries again later, each time after a
longer rest (sqlite.org/lockingv3.html, section 3). In WAL mode the second situation does not arise.
"""

from __future__ import annotations

import math
import time

import apsw

__all__ = ["HELD_SECONDS", "LockWait"]

HELD_SECONDS = 0.025
"""Longest wait for readers while new ones are locked out. With the write that may follow, at its aim of 25 ms, a new reader is in by its
look after 53 or 78 ms (`sqliteDefaultBusyCallback` in SQLite's main.c)."""

_STEP, _LONGEST_STEP = 0.001, 0.010
"""Seconds slept between attempts, growing: SQLite's own handler goes from 1 to 100 ms, too coarse beside a busy writer."""


class LockWait:
    """The connection's busy handler.

    Attributes:
        seconds: slept so far, in all.
        for_readers: the part of it in which a lock was held, so that readers were what we waited for.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self.seconds = self.for_readers = 0.0
        self._connection = connection
        self._until = -math.inf
        self._commits = self._held = False
        self._since = math.inf
        connection.set_busy_handler(self._again)

    def allow(self, until: float, *, commits: bool = False) -> None:
        """Set how long the next calls may wait.

        Args:
            until: monotonic clock, seconds.
            commits: a statement may write and commit by itself, so that some of its waiting may hold a lock.
        """
        self._until, self._commits, self._held, self._since = until, commits, False, math.inf

    def hold(self) -> None:
        """The next statement may hold a lock from its first wait on: bound it by `HELD_SECONDS`."""
        self._held = True

    def _again(self, calls: int) -> bool:
        now, until = time.monotonic(), self._until
        held = self._held or (self._commits and self._connection.txn_state("main") == apsw.SQLITE_TXN_WRITE)
        if held:
            self._since = min(self._since, now)
            until = min(until, self._since + HELD_SECONDS)
        if now >= until:
            return False
        time.sleep(min(_STEP * (calls + 1), _LONGEST_STEP, until - now))
        slept = time.monotonic() - now
        self.seconds += slept
        self.for_readers += slept if held else 0.0
        return True

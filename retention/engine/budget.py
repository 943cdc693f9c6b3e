"""What a run may use. A step is admitted only if its worst case fits what is left."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["Budget", "Why"]

Why = Literal[
    "finished",
    "deadline",
    "statements",
    "pages",
    "rows_read",
    "rows_written",
    "wal",
    "paused",
    "locked",
    "lease",
    "quota",
    "overloaded",
    "policy",
    "schema",
    "guard",
    "error",
]
"""Why a run ended: the receipt's `why`."""


@dataclass(slots=True)
class Budget:
    """Limits, and what was used of them. Whoever executes the steps charges it and moves `now`; the engine only reads it.

    Attributes:
        statements: the most statements, or infinity.
        deadline: seconds on the clock of `now` (monotonic).
        rows_read, rows_written: the host's meters, or infinity; never passed by more than one page.
        used: statements sent so far, planning included.
        now: the monotonic clock, s, when the last step was answered.
        aim: seconds that a write should take now, where others want the lock; None leaves it to the rule.
        halt: a reason to stop before the next page that only the runner can see (`"wal"`, `"paused"`), or None.
    """

    statements: float = math.inf
    deadline: float = math.inf
    rows_read: float = math.inf
    rows_written: float = math.inf
    used: int = 0
    read: int = 0
    written: int = 0
    now: float = 0.0
    halt: Why | None = field(default=None)
    aim: float | None = None

    def refuses(self, statements: int) -> Why | None:
        """Why a step of at most so many statements is not admitted, or None where it is."""
        if self.halt is not None:
            return self.halt
        if self.now >= self.deadline:
            return "deadline"
        if self.used + statements > self.statements:
            return "statements"
        if self.read >= self.rows_read:
            return "rows_read"
        if self.written >= self.rows_written:
            return "rows_written"
        return None

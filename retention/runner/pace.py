"""How long a run rests before its next write, so that others get in."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import HostError
from ..steps import Batch, Result, Step

__all__ = ["Pace"]


@dataclass(slots=True)
class Pace:
    """A policy's `duty`, and what the host itself asks for.

    Attributes:
        host: its `pause`, if it has one, is how long it would be left alone, s; its `settled_seconds` how long its disk took for what was
            written.
        duty: share of the time in which the run may write, above 0 and up to 1.
        clock: monotonic, s.
    """

    host: Any
    duty: float
    clock: Callable[[], float]
    _wrote: float = 0.0
    _ended: float = -math.inf
    _asked: float = 0.0  # the disk's seconds when a pause was last asked for: before the latest write ...
    _before: float = 0.0  # ... as that write remembers it, ...
    _behind: float = 0.0  # ... and when it had ended

    def __post_init__(self) -> None:
        self._asked = self._disk

    @property
    def _disk(self) -> float:
        return getattr(self.host, "settled_seconds", 0.0)

    def watch(self, step: Step, answer: Sequence[Result] | HostError | None, _seconds: float) -> None:
        """An observer: a write of t seconds, its disk's included, is followed by a rest of t / duty - t."""
        if isinstance(step, Batch) and step.writes:
            self._wrote = answer.seconds if isinstance(answer, HostError) else answer[0].seconds if answer else 0.0
            self._ended, self._before, self._behind = self.clock(), self._asked, self._disk

    def pause(self) -> float:
        """Seconds until the next write may begin."""
        self._asked = disk = self._disk
        owed = (self._wrote + disk - self._before) * (1 / self.duty - 1)
        rested = self.clock() - self._ended - (disk - self._behind)
        return max(0.0, getattr(self.host, "pause", 0.0), owed - rested)

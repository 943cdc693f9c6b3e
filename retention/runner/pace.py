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
        host: its `pause`, if it has one, is how long it would be left alone, s.
        duty: share of the time in which the run may write, above 0 and up to 1.
        clock: monotonic, s.
    """

    host: Any
    duty: float
    clock: Callable[[], float]
    _rests_until: float = -math.inf

    def watch(self, step: Step, answer: Sequence[Result] | HostError | None, _seconds: float) -> None:
        """An observer: a write of t seconds is followed by a rest of t / duty - t."""
        if isinstance(step, Batch) and step.writes:
            seconds = answer.seconds if isinstance(answer, HostError) else answer[0].seconds if answer else 0.0
            self._rests_until = self.clock() + seconds * (1 / self.duty - 1)

    def pause(self) -> float:
        """Seconds until the next write may begin."""
        return max(0.0, getattr(self.host, "pause", 0.0), self._rests_until - self.clock())

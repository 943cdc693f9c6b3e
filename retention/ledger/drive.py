"""Drives an engine on a host without a runner: no budget, no checkpoint, no pacing. For the small operations of the ledger."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from ..errors import HostError
from ..hosts.base import AsyncHost, Host
from ..steps import Batch, Engine, Result

__all__ = ["ATTEMPTS", "PATIENCE", "adrive", "drive"]

T = TypeVar("T")
Answer = list[Result] | HostError | None

ATTEMPTS = 5
"""How often a batch is sent at most (the relay's own number, and that of D1's published sample)."""

PATIENCE = 10.0
"""Seconds of pauses for other connections' locks, for one batch. A batch that found the database locked has not been an attempt."""

_PAUSE = 0.05
"""Seconds before the second attempt; doubles with each further one."""


def drive(engine: Engine[T], host: Host, *, attempts: int = ATTEMPTS, sleep: Callable[[float], None] = time.sleep) -> T:
    """Run an engine to its end.

    A batch that failed and may be sent again is sent again, up to `attempts` times in all; any other error is thrown into the engine.

    Raises:
        RetentionError: whatever the engine lets pass.
    """
    answer: Answer = None
    while True:
        try:
            batch = _advance(engine, answer)
        except StopIteration as stop:
            return stop.value
        tries = _Tries(batch, attempts)
        while True:
            try:
                answer = list(host.execute(batch))
                break
            except HostError as error:
                answer = error
                if (pause := tries.pause(error)) is None:
                    break
                sleep(pause)


async def adrive(
    engine: Engine[T], host: AsyncHost, *, attempts: int = ATTEMPTS, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
) -> T:
    """The same on an asynchronous host."""
    answer: Answer = None
    while True:
        try:
            batch = _advance(engine, answer)
        except StopIteration as stop:
            return stop.value
        tries = _Tries(batch, attempts)
        while True:
            try:
                answer = list(await host.execute(batch))
                break
            except HostError as error:
                answer = error
                if (pause := tries.pause(error)) is None:
                    break
                await sleep(pause)


def _advance(engine: Engine[T], answer: Answer) -> Batch:
    step = engine.throw(answer) if isinstance(answer, HostError) else engine.send(answer)
    if not isinstance(step, Batch):
        raise TypeError(f"an operation of the ledger yields batches only, not {type(step).__name__}; use the runner")
    return step


@dataclass(slots=True)
class _Tries:
    """What is left for one batch."""

    batch: Batch
    attempts: int
    failed: int = 0
    waited: float = 0.0

    def pause(self, error: HostError) -> float | None:
        """Seconds before the batch is sent again, or None if it is not."""
        if not self._may_repeat(error):
            return None
        if error.kind == "busy" and self.waited < PATIENCE:
            seconds = error.retry_after or _PAUSE
            self.waited += seconds
            return seconds
        self.failed += 1
        return max(error.retry_after or 0.0, _PAUSE * 2 ** (self.failed - 1)) if self.failed < self.attempts else None

    def _may_repeat(self, error: HostError) -> bool:
        # A write may be sent again if it certainly did nothing, or if doing it twice is doing it once.
        return error.retryable and (not self.batch.writes or self.batch.repeatable or error.applied is False)

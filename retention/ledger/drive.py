"""Drives an engine on a host without a runner: no budget, no checkpoint, no pacing. For the small operations of the ledger."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from ..errors import HostError
from ..hosts.base import AsyncHost, Host
from ..steps import Batch, Engine, Result

__all__ = ["ATTEMPTS", "adrive", "drive"]

T = TypeVar("T")
Answer = list[Result] | HostError | None

ATTEMPTS = 5
"""How often a batch is sent at most (the relay's own number, and that of D1's published sample)."""

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
        for attempt in range(1, attempts + 1):
            try:
                answer = list(host.execute(batch))
                break
            except HostError as error:
                answer = error
                if attempt == attempts or not _again(batch, error):
                    break
                sleep(_pause(attempt, error))


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
        for attempt in range(1, attempts + 1):
            try:
                answer = list(await host.execute(batch))
                break
            except HostError as error:
                answer = error
                if attempt == attempts or not _again(batch, error):
                    break
                await sleep(_pause(attempt, error))


def _advance(engine: Engine[T], answer: Answer) -> Batch:
    step = engine.throw(answer) if isinstance(answer, HostError) else engine.send(answer)
    if not isinstance(step, Batch):
        raise TypeError(f"an operation of the ledger yields batches only, not {type(step).__name__}; use the runner")
    return step


def _again(batch: Batch, error: HostError) -> bool:
    # A write may be sent again if it certainly did nothing, or if doing it twice is doing it once.
    return error.retryable and (not batch.writes or batch.repeatable or error.applied is False)


def _pause(attempt: int, error: HostError) -> float:
    return max(error.retry_after or 0.0, _PAUSE * 2 ** (attempt - 1))

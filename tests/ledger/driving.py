"""Engines carried out by the runner's own rules, with pauses that a test chooses."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from retention.capabilities import Capabilities
from retention.engine.budget import Budget
from retention.errors import HostError
from retention.hosts.base import Host
from retention.runner.conduct import Execute, Settle, Sleep, conduct
from retention.steps import Batch, Engine, Result

T = TypeVar("T")


def drive(engine: Engine[T], host: Host, *, sleep: Callable[[float], None] = time.sleep) -> T:
    """What the engine returns. Without real pauses the clock is moved on by each, so that patience ends."""
    slept = 0.0
    actions = conduct(engine, host.capabilities, Budget(), lambda: time.monotonic() + slept)
    reply: Any = None
    failure: HostError | None = None
    while True:
        try:
            action = actions.send(reply) if failure is None else actions.throw(failure)
        except StopIteration as stop:
            return stop.value
        reply, failure = None, None
        match action:
            case Execute():
                try:
                    reply = host.execute(action.batch, action.timeout)
                except HostError as error:
                    failure = error
            case Sleep():
                sleep(action.seconds)
                slept += 0.0 if sleep is time.sleep else action.seconds
            case Settle():
                pass
            case _:
                raise AssertionError(f"an operation of the ledger keeps nothing: {action}")


class Awaited:
    """A synchronous host, awaited."""

    def __init__(self, host: Any) -> None:
        self.host = host

    @property
    def name(self) -> str:
        return self.host.name

    @property
    def capabilities(self) -> Capabilities:
        return self.host.capabilities

    async def execute(self, batch: Batch, timeout: float | None = None) -> Sequence[Result]:
        await asyncio.sleep(0)
        return self.host.execute(batch, timeout)

    async def aclose(self) -> None: ...

"""A database to which small operations are bound: opened when it is first needed, looked at once, then one engine a call."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import AsyncExitStack, ExitStack
from typing import TYPE_CHECKING, Self, TypeVar

from ..capabilities import Capabilities
from ..engine.budget import Budget
from ..hosts.base import AsyncHost, Host
from ..policy.models import Policy
from ..steps import Engine
from ..stores.base import MemoryStore
from .conduct import Conducted, conduct
from .drive import adrive, drive
from .opening import aopened, opened

if TYPE_CHECKING:
    import apsw

__all__ = ["AsyncBound", "Bound", "Look", "milliseconds"]

T = TypeVar("T")

Look = Callable[[Capabilities], Engine[None]]
"""An engine that refuses a database which cannot serve; sent once, before the first operation."""


def milliseconds() -> int:
    """The clock: ms since 1970."""
    return time.time_ns() // 1_000_000


class Bound:
    """What the synchronous faces share. Use it from one thread at a time, in a `with`, or `close` it; a host of the caller's stays open."""

    def __init__(self, db: str | os.PathLike[str] | apsw.Connection | Host, policy: Policy, look: Look) -> None:
        self._db, self._policy, self._look = db, policy, look
        self._stack = ExitStack()
        self._host: Host | None = None

    def _run(self, engine: Callable[[Capabilities], Engine[T]]) -> T:
        """Carry an operation out. Raises what the engine raises; what could not be repeated safely is raised as the host said it."""
        if self._host is None:
            host = self._stack.enter_context(opened(self._db, self._policy))
            drive(_conducted(self._look(host.capabilities), host), host, MemoryStore(), {})
            self._host = host
        return drive(_conducted(engine(self._host.capabilities), self._host), self._host, MemoryStore(), {})

    def close(self) -> None:
        """Close the database, where this object opened it. The next operation opens it again."""
        self._host = None
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncBound:
    """What the asynchronous faces share: `Bound`, awaited. Await one operation at a time."""

    def __init__(self, db: str | os.PathLike[str] | apsw.Connection | Host | AsyncHost, policy: Policy, look: Look) -> None:
        self._db, self._policy, self._look = db, policy, look
        self._stack = AsyncExitStack()
        self._host: AsyncHost | None = None

    async def _run(self, engine: Callable[[Capabilities], Engine[T]]) -> T:
        """Carry an operation out. See `Bound`."""
        if self._host is None:
            host = await self._stack.enter_async_context(aopened(self._db, self._policy))
            await adrive(_conducted(self._look(host.capabilities), host), host, MemoryStore(), {})
            self._host = host
        return await adrive(_conducted(engine(self._host.capabilities), self._host), self._host, MemoryStore(), {})

    async def aclose(self) -> None:
        """Close the database, where this object opened it. The next operation opens it again."""
        self._host = None
        await self._stack.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def _conducted(engine: Engine[T], host: Host | AsyncHost) -> Conducted[T]:
    return conduct(engine, host.capabilities, Budget(), time.monotonic)

"""A synchronous host for asynchronous callers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from ..capabilities import Capabilities
from ..steps import Batch, Result
from .base import Host

__all__ = ["Threaded"]


class Threaded:
    """Runs a host in one thread of its own, so that the event loop never waits for a file.

    A call that is cancelled lets its statement end in the thread; the next one waits for it.
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="retention")

    @property
    def name(self) -> str:
        """The wrapped host's."""
        return self._host.name

    @property
    def capabilities(self) -> Capabilities:
        """The wrapped host's."""
        return self._host.capabilities

    @property
    def setup_statements(self) -> int:
        """The wrapped host's, 0 where it has none."""
        return getattr(self._host, "setup_statements", 0)

    @property
    def wal_bytes(self) -> int:
        """The wrapped host's, 0 where it has none."""
        return getattr(self._host, "wal_bytes", 0)

    @property
    def aim(self) -> float | None:
        """The wrapped host's, None where it has none."""
        return getattr(self._host, "aim", None)

    @property
    def pause(self) -> float:
        """The wrapped host's, 0 where it has none."""
        return getattr(self._host, "pause", 0.0)

    @property
    def settled_seconds(self) -> float:
        """The wrapped host's, 0 where it has none."""
        return getattr(self._host, "settled_seconds", 0.0)

    async def execute(self, batch: Batch, timeout: float | None = None) -> Sequence[Result]:
        """As `Host.execute`."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._host.execute, batch, timeout)

    async def aclose(self) -> None:
        """Close the wrapped host and end the thread."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._host.close)
        self._thread.shutdown()

"""What a host is to the runner: something that executes batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ..capabilities import Capabilities
from ..steps import Batch, Result

__all__ = ["AsyncHost", "Host"]


class Host(Protocol):
    """A database, from one thread at a time.

    `execute` returns one `Result` a statement or raises `HostError`; it never resends a write, and it sends exactly
    `capabilities.cost(batch)` statements when it succeeds (at most, when it fails).
    """

    @property
    def name(self) -> str:
        """The database as a person knows it: a path, `d1://...`. Never a credential."""
        ...

    @property
    def capabilities(self) -> Capabilities: ...

    def execute(self, batch: Batch, timeout: float | None = None) -> Sequence[Result]:
        """Execute one batch.

        Args:
            batch: the statements.
            timeout: seconds after which the statement is to be interrupted, or None. A write on a remote host is not interrupted.

        Raises:
            HostError: with `kind`, `retryable` and `applied` set.
        """
        ...

    def close(self) -> None: ...


class AsyncHost(Protocol):
    """The same, awaited."""

    @property
    def name(self) -> str: ...

    @property
    def capabilities(self) -> Capabilities: ...

    async def execute(self, batch: Batch, timeout: float | None = None) -> Sequence[Result]: ...

    async def aclose(self) -> None: ...

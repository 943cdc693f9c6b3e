"""The event log bound to a host: `Log`, and `AsyncLog` for an asynchronous one. Each operation is an engine of its own beneath."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TypeVar

from ..capabilities import Capabilities
from ..hosts.base import AsyncHost, Host
from ..policy.ledger_models import Callback, Cursors, Events, Stamp
from ..schema.reader import read
from ..steps import Engine, Value
from .append import Appended, append, append_once
from .awaiting import START, Awaiting, Mark, awaiting
from .cursors import Acked, ack
from .drive import adrive, drive
from .listing import Counts, Page, counts, list_after
from .log import Event, parse_event_id
from .log_retention import Place, Pruned, prune
from .log_schema import Advice, advise, check

__all__ = [
    "Acked",
    "Advice",
    "Appended",
    "AsyncLog",
    "Awaiting",
    "Callback",
    "Counts",
    "Cursors",
    "Event",
    "Events",
    "Log",
    "Mark",
    "Page",
    "Place",
    "Pruned",
    "Stamp",
    "ack",
    "advice",
    "append",
    "append_once",
    "awaiting",
    "counts",
    "inspect",
    "list_after",
    "milliseconds",
    "parse_event_id",
    "prune",
]

T = TypeVar("T")


def milliseconds() -> int:
    """The clock: ms since 1970."""
    return time.time_ns() // 1_000_000


def inspect(log: Events, capabilities: Capabilities) -> Engine[None]:
    """Refuse a log that cannot be trusted. Raises Refused (`retention.ledger.log_schema.check`)."""
    check(log, (yield from read(capabilities)))


def advice(log: Events, capabilities: Capabilities) -> Engine[tuple[Advice, ...]]:
    """The indexes that the log's tables lack, with what is slow without each."""
    return advise(log, (yield from read(capabilities)))


class Log:
    """An event log in a database. The first operation reads the schema and refuses a log that cannot be trusted.

    Args:
        host: executes; from one thread at a time.
        log: the tables and columns.
        clock: ms since 1970.
    """

    def __init__(self, host: Host, log: Events, *, clock: Callable[[], int] = milliseconds) -> None:
        self._host, self._log, self._clock, self._inspected = host, log, clock, False

    def append(
        self,
        kind: str,
        *,
        stream: str | None,
        at: int | None = None,
        payload: Mapping[str, object] | None = None,
        extra: Mapping[str, Value] | None = None,
    ) -> Appended:
        """See `retention.ledger.append.append`."""
        return self._run(append(self._log, kind, stream=stream, now=self._clock(), at=at, payload=payload, extra=extra))

    def append_once(
        self,
        kind: str,
        *,
        stream: str,
        at: int | None = None,
        payload: Mapping[str, object] | None = None,
        extra: Mapping[str, Value] | None = None,
    ) -> Appended:
        """See `retention.ledger.append.append_once`."""
        return self._run(append_once(self._log, kind, stream=stream, now=self._clock(), at=at, payload=payload, extra=extra))

    def list_after(self, stream: str, after: int | str | None = 0, *, consumer: str | None = None, limit: object = None) -> Page:
        """See `retention.ledger.listing.list_after`."""
        return self._run(list_after(self._log, stream, after, consumer=consumer, limit=limit))

    def counts(self, stream: str, *, consumer: str | None = None) -> Counts:
        """See `retention.ledger.listing.counts`."""
        return self._run(counts(self._log, stream, consumer=consumer))

    def ack(self, stream: str, through: int | str, *, consumer: str | None = None) -> Acked:
        """See `retention.ledger.cursors.ack`."""
        return self._run(ack(self._log, stream, through, now=self._clock(), consumer=consumer))

    def awaiting(self, mark: Mark = START, *, limit: object = None) -> Awaiting:
        """See `retention.ledger.awaiting.awaiting`."""
        return self._run(awaiting(self._log, mark, limit=limit))

    def prune(self, place: Place = Place(), *, rows: int = 1_000, pages: int = 1) -> Pruned:  # noqa: B008 (a frozen value)
        """See `retention.ledger.log_retention.prune`."""
        return self._run(prune(self._log, place, now=self._clock(), rows=rows, pages=pages))

    def advice(self) -> tuple[Advice, ...]:
        """The indexes that are missing, and what each would save."""
        return self._run(advice(self._log, self._host.capabilities))

    def _run(self, engine: Engine[T]) -> T:
        if not self._inspected:
            drive(inspect(self._log, self._host.capabilities), self._host)
            self._inspected = True
        return drive(engine, self._host)


class AsyncLog:
    """The same on an asynchronous host, awaited."""

    def __init__(self, host: AsyncHost, log: Events, *, clock: Callable[[], int] = milliseconds) -> None:
        self._host, self._log, self._clock, self._inspected = host, log, clock, False

    async def append(
        self,
        kind: str,
        *,
        stream: str | None,
        at: int | None = None,
        payload: Mapping[str, object] | None = None,
        extra: Mapping[str, Value] | None = None,
    ) -> Appended:
        """See `retention.ledger.append.append`."""
        return await self._run(append(self._log, kind, stream=stream, now=self._clock(), at=at, payload=payload, extra=extra))

    async def append_once(
        self,
        kind: str,
        *,
        stream: str,
        at: int | None = None,
        payload: Mapping[str, object] | None = None,
        extra: Mapping[str, Value] | None = None,
    ) -> Appended:
        """See `retention.ledger.append.append_once`."""
        return await self._run(append_once(self._log, kind, stream=stream, now=self._clock(), at=at, payload=payload, extra=extra))

    async def list_after(self, stream: str, after: int | str | None = 0, *, consumer: str | None = None, limit: object = None) -> Page:
        """See `retention.ledger.listing.list_after`."""
        return await self._run(list_after(self._log, stream, after, consumer=consumer, limit=limit))

    async def counts(self, stream: str, *, consumer: str | None = None) -> Counts:
        """See `retention.ledger.listing.counts`."""
        return await self._run(counts(self._log, stream, consumer=consumer))

    async def ack(self, stream: str, through: int | str, *, consumer: str | None = None) -> Acked:
        """See `retention.ledger.cursors.ack`."""
        return await self._run(ack(self._log, stream, through, now=self._clock(), consumer=consumer))

    async def awaiting(self, mark: Mark = START, *, limit: object = None) -> Awaiting:
        """See `retention.ledger.awaiting.awaiting`."""
        return await self._run(awaiting(self._log, mark, limit=limit))

    async def prune(self, place: Place = Place(), *, rows: int = 1_000, pages: int = 1) -> Pruned:  # noqa: B008 (a frozen value)
        """See `retention.ledger.log_retention.prune`."""
        return await self._run(prune(self._log, place, now=self._clock(), rows=rows, pages=pages))

    async def advice(self) -> tuple[Advice, ...]:
        """The indexes that are missing, and what each would save."""
        return await self._run(advice(self._log, self._host.capabilities))

    async def _run(self, engine: Engine[T]) -> T:
        if not self._inspected:
            await adrive(inspect(self._log, self._host.capabilities), self._host)
            self._inspected = True
        return await adrive(engine, self._host)

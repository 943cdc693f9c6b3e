"""An event log in a database: append, list, ack, await, prune. `Log`, and `AsyncLog` for asynchronous callers. See docs/events.md.

with Log("ledger.db", retention.load("retention.toml")) as log:
    log.append_once("job.requested", stream="job-1")
    page = log.list_after("job-1", None)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from .errors import PolicyError
from .hosts.base import AsyncHost, Host
from .ledger.append import Appended, append, append_once
from .ledger.awaiting import START, Awaiting, Mark, awaiting
from .ledger.cursors import Acked, ack
from .ledger.listing import Counts, Page, counts, list_after
from .ledger.log import Event
from .ledger.log_retention import Place, Pruned, prune
from .ledger.log_schema import Advice, advice, inspect
from .policy.ledger_models import Callback, Cursors, Events, Stamp
from .policy.models import Policy
from .runner.bound import AsyncBound, Bound, milliseconds
from .steps import Value

if TYPE_CHECKING:
    import apsw

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
]

Payload = Mapping[str, object] | None
Extra = Mapping[str, Value] | None


def _events(log: Events | Policy) -> Events:
    found = log.events if isinstance(log, Policy) else log
    if found is None:
        raise PolicyError("the policy has no [events]; name the log's table and columns there")
    return found


def _policy(log: Events | Policy) -> Policy:
    return log if isinstance(log, Policy) else Policy()


class Log(Bound):
    """An event log. The first operation reads the schema and refuses a log that cannot be trusted.

    Args:
        db: a path, `d1://...`, `libsql://...`, an open apsw connection, or a host.
        log: the tables and columns, or a policy that has them in [events].
        clock: ms since 1970.
    """

    def __init__(
        self,
        db: str | os.PathLike[str] | apsw.Connection | Host,
        log: Events | Policy,
        *,
        clock: Callable[[], int] = milliseconds,
    ) -> None:
        self._log, self._clock = _events(log), clock
        super().__init__(db, _policy(log), partial(inspect, self._log))

    def append(self, kind: str, *, stream: str | None, at: int | None = None, payload: Payload = None, extra: Extra = None) -> Appended:
        """See `retention.ledger.append.append`."""
        return self._run(lambda _: append(self._log, kind, stream=stream, now=self._clock(), at=at, payload=payload, extra=extra))

    def append_once(self, kind: str, *, stream: str, at: int | None = None, payload: Payload = None, extra: Extra = None) -> Appended:
        """See `retention.ledger.append.append_once`."""
        return self._run(lambda _: append_once(self._log, kind, stream=stream, now=self._clock(), at=at, payload=payload, extra=extra))

    def list_after(self, stream: str, after: int | str | None = 0, *, consumer: str | None = None, limit: object = None) -> Page:
        """See `retention.ledger.listing.list_after`."""
        return self._run(lambda _: list_after(self._log, stream, after, consumer=consumer, limit=limit))

    def counts(self, stream: str, *, consumer: str | None = None) -> Counts:
        """See `retention.ledger.listing.counts`."""
        return self._run(lambda _: counts(self._log, stream, consumer=consumer))

    def ack(self, stream: str, through: int | str, *, consumer: str | None = None) -> Acked:
        """See `retention.ledger.cursors.ack`."""
        return self._run(lambda _: ack(self._log, stream, through, now=self._clock(), consumer=consumer))

    def awaiting(self, mark: Mark = START, *, limit: object = None) -> Awaiting:
        """See `retention.ledger.awaiting.awaiting`. Keep `next` of the answer: it is where the next call begins."""
        return self._run(lambda _: awaiting(self._log, mark, limit=limit))

    def prune(self, place: Place = Place(), *, rows: int = 1_000, pages: int = 1) -> Pruned:  # noqa: B008 (a frozen value)
        """See `retention.ledger.log_retention.prune`."""
        return self._run(lambda _: prune(self._log, place, now=self._clock(), rows=rows, pages=pages))

    def advice(self) -> tuple[Advice, ...]:
        """The indexes that the log's tables lack, and what is slow without each."""
        return self._run(partial(advice, self._log))


class AsyncLog(AsyncBound):
    """`Log`, awaited: on an asynchronous host, or on anything that `Log` takes."""

    def __init__(
        self,
        db: str | os.PathLike[str] | apsw.Connection | Host | AsyncHost,
        log: Events | Policy,
        *,
        clock: Callable[[], int] = milliseconds,
    ) -> None:
        self._log, self._clock = _events(log), clock
        super().__init__(db, _policy(log), partial(inspect, self._log))

    async def append(
        self, kind: str, *, stream: str | None, at: int | None = None, payload: Payload = None, extra: Extra = None
    ) -> Appended:
        """See `retention.ledger.append.append`."""
        return await self._run(lambda _: append(self._log, kind, stream=stream, now=self._clock(), at=at, payload=payload, extra=extra))

    async def append_once(self, kind: str, *, stream: str, at: int | None = None, payload: Payload = None, extra: Extra = None) -> Appended:
        """See `retention.ledger.append.append_once`."""
        return await self._run(
            lambda _: append_once(self._log, kind, stream=stream, now=self._clock(), at=at, payload=payload, extra=extra)
        )

    async def list_after(self, stream: str, after: int | str | None = 0, *, consumer: str | None = None, limit: object = None) -> Page:
        """See `retention.ledger.listing.list_after`."""
        return await self._run(lambda _: list_after(self._log, stream, after, consumer=consumer, limit=limit))

    async def counts(self, stream: str, *, consumer: str | None = None) -> Counts:
        """See `retention.ledger.listing.counts`."""
        return await self._run(lambda _: counts(self._log, stream, consumer=consumer))

    async def ack(self, stream: str, through: int | str, *, consumer: str | None = None) -> Acked:
        """See `retention.ledger.cursors.ack`."""
        return await self._run(lambda _: ack(self._log, stream, through, now=self._clock(), consumer=consumer))

    async def awaiting(self, mark: Mark = START, *, limit: object = None) -> Awaiting:
        """See `retention.ledger.awaiting.awaiting`."""
        return await self._run(lambda _: awaiting(self._log, mark, limit=limit))

    async def prune(self, place: Place = Place(), *, rows: int = 1_000, pages: int = 1) -> Pruned:  # noqa: B008 (a frozen value)
        """See `retention.ledger.log_retention.prune`."""
        return await self._run(lambda _: prune(self._log, place, now=self._clock(), rows=rows, pages=pages))

    async def advice(self) -> tuple[Advice, ...]:
        """The indexes that the log's tables lack, and what is slow without each."""
        return await self._run(partial(advice, self._log))

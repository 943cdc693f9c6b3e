"""Which streams asked for a callback and have no end yet: read in pages, oldest first, round and round, so that none is starved.

A stream that has ended, or never asked, stays so: a low-water mark passes the leading ones for good.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from ..errors import PolicyError
from ..policy.ledger_models import Callback, Events
from ..statements.quoting import text
from ..steps import Engine
from .log import column, table
from .sql import Params, ask, clamp

__all__ = ["START", "Awaiting", "Mark", "awaiting"]

LIMIT = 50
"""Start events looked at in a page unless the caller says otherwise (the ledger's own number); 500 at most."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Where the next page begins; to be kept between calls.

    Attributes:
        low: every start event up to this id belongs to a stream that has ended or never asked.
        after: the id after which the next page begins.
    """

    low: int = 0
    after: int = 0


START = Mark()
"""From the oldest."""


@dataclass(frozen=True, slots=True)
class Awaiting:
    """One page.

    Attributes:
        streams: still open, oldest first.
        next: where the next page begins; after the last page that is the low-water mark again.
        wrapped: this page was the last one.
    """

    streams: tuple[str, ...]
    next: Mark
    wrapped: bool


def awaiting(log: Events, mark: Mark = START, *, limit: object = LIMIT) -> Engine[Awaiting]:
    """The next page of open streams.

    Raises:
        PolicyError: if the log has no [events.callback], so that nothing says what opens and what ends a stream.
    """
    if log.callback is None:
        raise PolicyError("the log does not say what opens and ends a stream; add [events.callback] with start, target and terminal")
    size = clamp(limit, LIMIT)
    p = Params()
    key = column(log, "id", "s")
    # The kind is a literal, because a partial index serves only a query that holds its condition word for word.
    page = (
        f"SELECT {key} AS id, {column(log, 'stream', 's')} AS stream, {_wants(log, log.callback, p)} AS wants FROM {table(log)} AS s "
        f"WHERE {column(log, 'kind', 's')} = {text(log.callback.start)} AND {key} > {p(mark.after)} ORDER BY {key} LIMIT {size}"
    )
    ended = (
        f"SELECT 1 FROM {table(log)} AS t WHERE {column(log, 'stream', 't')} = s.stream "
        f"AND {column(log, 'kind', 't')} IN {p.list(log.callback.terminal)}"
    )
    is_open = f"s.wants AND s.stream IS NOT NULL AND NOT EXISTS ({ended})"
    (found,) = yield from ask(p.statement(f"SELECT CAST(s.id AS TEXT), s.stream, {is_open} FROM ({page}) AS s ORDER BY s.id"))
    rows = [(int(cast(str, key)), str(stream), bool(wanted)) for key, stream, wanted in found.rows]
    streams = dict.fromkeys(stream for _, stream, wanted in rows if wanted)
    low = _low(mark, rows)
    wrapped = len(rows) < size
    return Awaiting(tuple(streams), Mark(low, low if wrapped else rows[-1][0]), wrapped)


def _wants(log: Events, callback: Callback, p: Params) -> str:
    payload = column(log, "payload", "s")
    return f"NULLIF(CASE WHEN json_valid({payload}) THEN {payload} ->> {p(callback.target)} END, '') IS NOT NULL"


def _low(mark: Mark, rows: list[tuple[int, str, bool]]) -> int:
    """The mark moves over leading rows that are not open, and only while the page began at it."""
    low = mark.low
    if mark.after == low:
        for key, _, is_open in rows:
            if is_open:
                break
            low = key
    return low

"""Reading a stream: the events after a place, and how many there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from ..policy.ledger_models import Events
from ..steps import Engine, Statement
from .log import STOPPED, Event, column, columns, event, kind_test, parse_event_id, position, require_cursors, stopped_stream, table
from .sql import Params, ask, clamp, unit

__all__ = ["Counts", "Page", "count_statement", "counts", "list_after", "named", "read_counts"]

LIMIT = 200
"""Events in a page unless the caller says otherwise (the ledger's own number); 500 at most."""


@dataclass(frozen=True, slots=True)
class Page:
    """Events in the order of their ids.

    Attributes:
        next: the place to go on from, or None where the stream ends here.
        gap: events may be missing between the place asked for and this page: the event at that place is not kept any more, or the
            consumer was given up since.
    """

    events: tuple[Event, ...]
    next: int | None
    gap: bool


@dataclass(frozen=True, slots=True)
class Counts:
    """A stream's events as one consumer sees them.

    Attributes:
        total: public events kept; `acked` of them are at or before the cursor, `unacked` after it.
        unknown: events of kinds that are neither public nor hidden: nobody is shown them.
        position: the id of the last event acked, 0 if none.
    """

    total: int
    acked: int
    unacked: int
    unknown: int
    position: int


def list_after(
    log: Events, stream: str, after: int | str | None = 0, *, consumer: str | None = None, limit: object = LIMIT
) -> Engine[Page]:
    """The public events of a stream after a place, oldest first.

    Args:
        after: an event's id or `event_id`, exclusive; 0, or a text that names no event of this stream: from the start (a consumer
            that starts over sees events again, one that skips does not). None: from the consumer's cursor.
        consumer: who asks; needed where `after` is None and the cursors name their consumers.
        limit: events, 1 to 500; anything else is cut to that, and what is no number means 200.
    """
    if log.public is not None and not log.public:
        return Page((), None, False)
    size = clamp(limit, LIMIT)
    p = Params()
    place = _place(log, p, stream, after, consumer)
    wanted = f"{column(log, 'stream')} = {p(stream)} AND {column(log, 'id')} > {place} AND {kind_test(log, p)}"
    listing = p.statement(f"SELECT {columns(log)} FROM {table(log)} WHERE {wanted} ORDER BY {column(log, 'id')} LIMIT {size + 1}")
    # The gap is looked for after the events: what a prune removes in between is then reported, not overlooked.
    listed, gap = yield from ask(listing, _gap(log, stream, after, consumer))
    events = tuple(event(log, row) for row in listed.rows)
    return Page(events[:size], events[size - 1].id if len(events) > size else None, bool(gap.rows[0][0]))


def counts(log: Events, stream: str, *, consumer: str | None = None) -> Engine[Counts]:
    """How much of a stream a consumer has acked, by its durable cursor."""
    (found,) = yield from ask(count_statement(log, stream, consumer))
    return read_counts(found.rows[0])


def count_statement(log: Events, stream: str, consumer: str | None) -> Statement:
    """The statement whose row `read_counts` reads."""
    p = Params()
    own = p(stream)
    cursor = position(require_cursors(log, consumer), p, own, consumer) if log.cursors else "0"
    public = f"({kind_test(log, p)})"
    known = public if not log.hidden else f"({public} OR {column(log, 'kind')} IN {p.list(log.hidden)})"
    return p.statement(
        f"SELECT count(*) FILTER (WHERE {public}), count(*) FILTER (WHERE {public} AND {column(log, 'id')} > {cursor}), "
        f"count(*) FILTER (WHERE NOT {known}), CAST({cursor} AS TEXT) FROM {table(log)} WHERE {column(log, 'stream')} = {own}"
    )


def read_counts(row: tuple[object, ...]) -> Counts:
    total, unacked, unknown = (int(cast(float, value)) for value in row[:3])
    return Counts(total, total - unacked, unacked, unknown, int(cast(str, row[3])))


def named(log: Events, p: Params, stream: str, event_id: str) -> str:
    """The id that an `event_id` names among the public events of a stream, as SQL: NULL where it names none."""
    parsed = parse_event_id(event_id)
    if parsed is None:
        return "NULL"
    at, key = parsed
    same = f"{column(log, 'stream', 'retention_n')} = {p(stream)} AND {unit(log.at.format).ms(column(log, 'at', 'retention_n'))} = {p(at)}"
    own = column(log, "id", "retention_n")
    return f"(SELECT {own} FROM {table(log)} AS retention_n WHERE {own} = {p(key)} AND {same} AND {kind_test(log, p, 'retention_n')})"


def _place(log: Events, p: Params, stream: str, after: int | str | None, consumer: str | None) -> str:
    """SQL of the id after which events are wanted."""
    match after:
        case None:
            return position(require_cursors(log, consumer), p, p(stream), consumer)
        case int():
            return p(after)
        case str():
            return f"COALESCE({named(log, p, stream, after)}, 0)"


def _gap(log: Events, stream: str, after: int | str | None, consumer: str | None) -> Statement:
    p = Params()
    if isinstance(after, str):
        return p.statement(f"SELECT {named(log, p, stream, after)} IS NULL")
    place = _place(log, p, stream, after, consumer)
    kept = f"SELECT 1 FROM {table(log)} WHERE {column(log, 'id')} = {place} AND {column(log, 'stream')} = {p(stream)}"
    given_up = ""
    if log.stopped_after is not None and (consumer is not None or (log.cursors and log.cursors.consumer is None)):
        about = f"{column(log, 'stream')} = {stopped_stream(p(consumer or ''))} AND {column(log, 'kind')} = {p(STOPPED)}"
        given_up = f" OR EXISTS (SELECT 1 FROM {table(log)} WHERE {about} AND {column(log, 'id')} > {place})"
    return p.statement(f"SELECT {place} > 0 AND (NOT EXISTS ({kept}){given_up})")

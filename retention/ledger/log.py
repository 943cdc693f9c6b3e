"""What the operations on an event log share: an event, its columns in SQL, and which kinds are meant."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from ..errors import PolicyError
from ..policy.ledger_models import Cursors, Events
from ..statements.quoting import name, text
from ..steps import Value
from .sql import MAX_INTEGER, Params, unit

__all__ = [
    "STOPPED",
    "Event",
    "acked_id",
    "column",
    "columns",
    "consumer_test",
    "event",
    "kind_test",
    "never_back",
    "parse_event_id",
    "position",
    "require_cursors",
    "stopped_stream",
    "table",
]

STOPPED = "consumer.stopped"
"""The kind of the event that says a consumer was given up. Like a once-kind it is never deleted by retention."""

_EVENT_ID = re.compile(r"evt-([0-9]{1,19})-([0-9]{1,19})")


@dataclass(frozen=True, slots=True)
class Event:
    """One event.

    Attributes:
        id: its place in the log; later events have larger ids.
        kind: as stored.
        public: the kind's public name, or None for a hidden kind.
        at: ms since 1970.
        payload: JSON text as stored, or None.
    """

    id: int
    stream: str | None
    kind: str
    public: str | None
    at: int
    payload: str | None

    @property
    def event_id(self) -> str:
        """An opaque name for the event that a client can send back."""
        return f"evt-{self.at}-{self.id}"


def parse_event_id(value: str) -> tuple[int, int] | None:
    """The `(at, id)` of an `event_id`, or None for any other text."""
    match = _EVENT_ID.fullmatch(value)
    if match is None or int(match[2]) > MAX_INTEGER or int(match[1]) > MAX_INTEGER:
        return None
    return int(match[1]), int(match[2])


def table(log: Events) -> str:
    """The log's table, quoted."""
    return name(log.table)


def column(log: Events, part: str, alias: str | None = None) -> str:
    """One of the log's columns, qualified by the table or by an alias: `id`, `stream`, `kind`, `at`, `payload`."""
    found = log.at.column if part == "at" else getattr(log, part)
    return f"{alias or table(log)}.{name(found)}"


def columns(log: Events, alias: str | None = None) -> str:
    """What `event` reads: exact on every host, because integers leave as text."""
    payload = column(log, "payload", alias) if log.payload else "NULL"
    key, stream, kind, at = (column(log, part, alias) for part in ("id", "stream", "kind", "at"))
    return f"CAST({key} AS TEXT), {stream}, {kind}, {unit(log.at.format).read(at)}, {payload}"


def event(log: Events, row: Sequence[Value]) -> Event:
    """The event of a row of `columns`."""
    key, stream, kind, at, payload = row
    public = str(kind) if log.public is None else log.public.get(str(kind))
    return Event(
        int(cast(str, key)),
        None if stream is None else str(stream),
        str(kind),
        public,
        unit(log.at.format).decode(str(at or 0)),
        None if payload is None else str(payload),
    )


def kind_test(log: Events, p: Params, alias: str | None = None) -> str:
    """Whether consumers see the event. `IS 1` keeps the planner from walking an index by kind instead of by id."""
    if log.public is None:
        return "1"
    if not log.public:
        return "0"
    return f"({column(log, 'kind', alias)} IN {p.list(log.public)}) IS 1"


def never_back(log: Events, asked: str, stream: str) -> str:
    """The time an event gets, as SQL: the one `asked` for, or the newest of its stream where that is later."""
    at = f"retention_t.{name(log.at.column)}"
    # What is no time is passed over: MAX would take a text among numbers for the largest.
    own = f"FROM {table(log)} AS retention_t WHERE retention_t.{name(log.stream)} = {stream} AND {unit(log.at.format).valid(at)}"
    if log.at.format == "utc_text":
        return f"MAX({asked}, COALESCE((SELECT {at} {own} ORDER BY {at} DESC LIMIT 1), {asked}))"
    return f"MAX({asked}, COALESCE(CAST((SELECT MAX({at}) {own}) AS INTEGER), {asked}))"


def require_cursors(log: Events, consumer: str | None) -> Cursors:
    """The cursor table. Raises PolicyError if there is none, or if the consumer is named where the table has one only, or not named."""
    cursors = log.cursors
    if cursors is None:
        raise PolicyError("the log has no cursors; name their table in [events.cursors]")
    if (cursors.consumer is None) != (consumer is None):
        wrong = "has one consumer only; leave the name out" if cursors.consumer is None else "serves several consumers; say which"
        raise PolicyError(f"the cursor table {cursors.table} {wrong}")
    return cursors


def consumer_test(cursors: Cursors, who: str, alias: str) -> str:
    """Whether a cursor belongs to the consumer whose name is the SQL `who`."""
    return "1" if cursors.consumer is None else f"{alias}.{name(cursors.consumer)} = {who}"


def position(cursors: Cursors, p: Params, stream: str, consumer: str | None) -> str:
    """The id that a consumer has acked in a stream, 0 if none; `stream` is SQL."""
    # A value that no parameter takes is an error, so the name is bound only where it is asked for.
    who = "" if cursors.consumer is None else p(consumer)
    return (
        f"COALESCE((SELECT {acked_id(cursors, 'retention_k')} FROM {name(cursors.table)} AS retention_k "
        f"WHERE retention_k.{name(cursors.stream)} = {stream} AND {consumer_test(cursors, who, 'retention_k')}), 0)"
    )


def acked_id(cursors: Cursors, alias: str) -> str:
    """The id at which a cursor stands, as SQL: NULL for what is no number, which counts as 0 wherever cursors are compared."""
    value = f"{alias}.{name(cursors.position)}"
    return f"CASE WHEN typeof({value}) = 'integer' THEN {value} END"


def stopped_stream(who: str) -> str:
    """The stream of the events about a consumer; `who` is SQL."""
    return f"{text('consumer:')} || {who}"

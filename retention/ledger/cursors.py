"""Acking: a consumer's cursor moves forward to an event of the stream, and never back."""

from __future__ import annotations

from dataclasses import dataclass

from ..policy.ledger_models import Events
from ..statements.quoting import name
from ..steps import Engine
from .listing import Counts, count_statement, named, read_counts
from .log import acked_id, column, kind_test, require_cursors, table
from .sql import Params, ask, unit

__all__ = ["Acked", "ack"]


@dataclass(frozen=True, slots=True)
class Acked:
    """The cursor after an ack.

    Attributes:
        moved: whether this call moved it. After a lost reply that was sent again it is False, though the first try moved it.
    """

    moved: bool
    counts: Counts


def ack(log: Events, stream: str, through: int | str, *, now: int, consumer: str | None = None) -> Engine[Acked]:
    """Say that a consumer has seen a stream up to an event, that one included.

    An event that is older than the cursor, of another stream, hidden or unknown moves nothing; the counts say where the cursor stands.

    Args:
        through: an event's id or `event_id`.
        now: ms; when the cursor moved.

    Raises:
        PolicyError: if there is no cursor table, or the consumer is named where it has one only, or not named.
    """
    cursors = require_cursors(log, consumer)
    p = Params()
    key, at = column(log, "id"), column(log, "at")
    values = {cursors.stream: p(stream), cursors.position: key}
    if cursors.consumer is not None:
        values[cursors.consumer] = p(consumer)
    if cursors.at is not None:
        values[cursors.at.column] = _converted(log, at, cursors.at.format)
    if cursors.moved is not None:
        values[cursors.moved.column] = p(unit(cursors.moved.format).encode(now))
    place = p(through) if isinstance(through, int) else named(log, p, stream, through)
    own = f"{column(log, 'stream')} = {p(stream)} AND {key} = {place} AND {kind_test(log, p)}"
    unique = [cursors.stream] if cursors.consumer is None else [cursors.consumer, cursors.stream]
    moving = [part for part in values if part not in unique]
    forward = f"excluded.{name(cursors.position)} > COALESCE({acked_id(cursors, name(cursors.table))}, 0)"
    found = f"SELECT {', '.join(values.values())} FROM {table(log)} WHERE {own}"
    upsert = p.statement(
        f"INSERT INTO {name(cursors.table)} ({', '.join(map(name, values))}) {found} "
        f"ON CONFLICT ({', '.join(map(name, unique))}) DO UPDATE SET {', '.join(f'{name(c)} = excluded.{name(c)}' for c in moving)} "
        f"WHERE {forward} RETURNING 1"
    )
    moved, counted = yield from ask(upsert, count_statement(log, stream, consumer), writes=True, repeatable=True)
    return Acked(bool(moved.rows), read_counts(counted.rows[0]))


def _converted(log: Events, at: str, wanted: str) -> str:
    """A time of the log, in the unit of another column."""
    if log.at.format == wanted:
        return at
    ms = unit(log.at.format).ms(at)
    texts = f"strftime('%Y-%m-%d %H:%M:%S', ({ms}) / 1000, 'unixepoch')"
    return {"unix_ms": ms, "unix_s": f"({ms}) / 1000", "unix_us": f"({ms}) * 1000", "utc_text": texts}[wanted]

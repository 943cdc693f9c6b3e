"""Appending to the log: any event, or one that a stream has only once, with the row that tells whoever asked to be told.

Time never falls within a stream, because the insert itself takes the larger of the caller's time and the stream's newest. A caller's
time in the future is cut to now + skew. If the stream's newest time is already beyond that, an older writer poisoned it: the event
must follow it, and is returned as `poisoned`.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..errors import PolicyError
from ..policy.ledger_models import Callback, Events
from ..schema.model import fold
from ..statements.quoting import name, text
from ..steps import Engine, Statement, Value
from .canonical import canonical
from .log import Event, column, columns, event, kind_test, never_back, table
from .sql import Params, ask, unit

__all__ = ["Appended", "append", "append_once", "callback_rows"]

Payload = Mapping[str, object] | None

_EVENT = ("event_id", "stream", "public", "at", "target")
"""What `{event}` holds, as a JSON object."""


@dataclass(frozen=True, slots=True)
class Appended:
    """What became of an event.

    Attributes:
        event: the event as it stands; of a once-event that was there already, the first one.
        inserted: whether this call wrote it. After a lost reply that was sent again it is False, though the first try wrote it.
        poisoned: the stream's newest time lies beyond now + skew.
    """

    event: Event
    inserted: bool
    poisoned: bool


def append(
    log: Events,
    kind: str,
    *,
    stream: str | None,
    now: int,
    at: int | None = None,
    payload: Payload = None,
    extra: Mapping[str, Value] | None = None,
) -> Engine[Appended]:
    """Append an event, always. Not repeatable: after a lost reply nobody knows whether it stands.

    Args:
        stream: whose event it is; None for one that belongs to no stream, whose time is not compared with others.
        now, at: ms; `at` is the event's own time, by default now.
        payload: a JSON object.
        extra: further columns of the log.

    Raises:
        PolicyError: if `extra` names a column that the log writes itself, or a value cannot be stored exactly.
    """
    p = Params()
    insert = _insert(log, p, kind, stream, at, now, payload, extra)
    (added,) = yield from ask(p.statement(f"{insert} RETURNING {columns(log)}"), writes=True)
    return _appended(log, added.rows[0], True, now)


def append_once(
    log: Events,
    kind: str,
    *,
    stream: str,
    now: int,
    at: int | None = None,
    payload: Payload = None,
    extra: Mapping[str, Value] | None = None,
) -> Engine[Appended]:
    """Append the one event of that kind in that stream; a repeat changes nothing.

    Where the stream asked for a callback ([events.callback]) the callback's row is written in the same batch: both or neither.
    """
    p = Params()
    insert = _insert(log, p, kind, stream, at, now, payload, extra)
    own = f"retention_e.{name(log.stream)} = {p(stream)} AND retention_e.{name(log.kind)} = {p(kind)}"
    once = p.statement(f"{insert} WHERE NOT EXISTS (SELECT 1 FROM {table(log)} AS retention_e WHERE {own}) RETURNING {columns(log)}")
    callback = () if log.callback is None or log.callback.table is None else (callback_rows(log, log.callback, kind, now, stream),)
    results = yield from ask(once, *callback, _find(log, kind, stream), writes=True, repeatable=True)
    return _appended(log, results[-1].rows[0], bool(results[0].rows), now)


def _insert(
    log: Events, p: Params, kind: str, stream: str | None, at: int | None, now: int, payload: Payload, extra: Mapping[str, Value] | None
) -> str:
    own = p(stream)
    asked = p(unit(log.at.format).encode(min(now if at is None else at, now + log.skew)))
    values = {log.stream: own, log.kind: p(kind), log.at.column: never_back(log, asked, own)}
    if log.payload is not None:
        values[log.payload] = p(None if payload is None else canonical(payload))
    further = extra or {}
    own = set(map(fold, (log.id, *values)))
    clash = next((key for key in further if fold(key) in own), None)
    if clash is not None:
        raise PolicyError(f"extra names {clash}, which the log writes itself, so that ids and times never go back; leave it out")
    values |= {key: p(value) for key, value in further.items()}
    return f"INSERT INTO {table(log)} ({', '.join(map(name, values))}) SELECT {', '.join(values.values())}"


def _find(log: Events, kind: str, stream: str) -> Statement:
    p = Params()
    own = f"{column(log, 'stream')} = {p(stream)} AND {column(log, 'kind')} = {p(kind)}"
    return p.statement(f"SELECT {columns(log)} FROM {table(log)} WHERE {own} ORDER BY {column(log, 'id')} LIMIT 1")


def _appended(log: Events, row: tuple[Value, ...], inserted: bool, now: int) -> Appended:
    found = event(log, row)
    return Appended(found, inserted, found.at > now + log.skew)


def callback_rows(log: Events, callback: Callback, kind: str, now: int, stream: str | None = None) -> Statement:
    """The callback's row for the event of that kind in a stream, or, without one, for each that the statement before it wrote.

    Only if that statement wrote any, and if the stream's start event said whither.
    """
    p = Params()
    key, own = f"retention_e.{name(log.id)}", f"retention_e.{name(log.stream)}"
    # An INSERT numbers its rows one after the other (AUTOINCREMENT, and one writer at a time).
    fresh = f"{key} > last_insert_rowid() - changes() AND {key} <= last_insert_rowid()"
    which = fresh if stream is None else f"{own} = {p(stream)}"
    payload = f"retention_s.{name(log.payload or '')}"
    target = f"NULLIF(CASE WHEN json_valid({payload}) THEN {payload} ->> {p(callback.target)} END, '')"
    first = f"retention_x.{name(log.stream)} = {own} AND retention_x.{name(log.kind)} = {p(callback.start)}"
    oldest = f"FROM {table(log)} AS retention_x WHERE {first} ORDER BY retention_x.{name(log.id)} LIMIT 1"
    start = f"retention_s.{name(log.id)} = (SELECT retention_x.{name(log.id)} {oldest})"
    ms = unit(log.at.format).ms(f"retention_e.{name(log.at.column)}")
    # Each is bound only where it is used: D1 refuses values that no parameter takes.
    fields: dict[str, Callable[[], str]] = {
        "uuid": lambda: "lower(hex(randomblob(16)))",
        "stream": lambda: own,
        "kind": lambda: f"retention_e.{name(log.kind)}",
        "public": lambda: p(kind if log.public is None else log.public.get(kind)),
        "id": lambda: key,
        "at": lambda: ms,
        "event_id": lambda: f"'evt-' || {ms} || '-' || {key}",
        "target": lambda: target,
        "now": lambda: p(now),
        "event": lambda: f"json_object({', '.join(f'{text(m)}, {fields[m]()}' for m in _EVENT)})",
    }
    values = {key: _template(p, value, fields) for key, value in callback.columns.items()}
    return p.statement(
        f"INSERT INTO {name(callback.table or '')} ({', '.join(map(name, values))}) SELECT {', '.join(values.values())} "
        f"FROM {table(log)} AS retention_e JOIN {table(log)} AS retention_s ON {start} WHERE changes() > 0 AND {which} "
        f"AND retention_e.{name(log.kind)} = {p(kind)} AND {target} IS NOT NULL AND {kind_test(log, p, 'retention_e')}"
    )


def _template(p: Params, value: str | int, fields: Mapping[str, Callable[[], str]]) -> str:
    """A column's SQL: a lone placeholder keeps its type, mixed text is concatenated."""
    if isinstance(value, int):
        return p(value)
    parts: list[str] = []
    for literal, field, _, _ in string.Formatter().parse(value):
        parts += [p(literal)] if literal else []
        parts += [fields[field]()] if field is not None else []
    return " || ".join(f"({part})" for part in parts) or "''"

"""Retention of the log: one guarded DELETE a page, which decides about every event itself.

An event goes when it is older than the keep, is no once-event, and no live consumer still needs it. A consumer needs a public event
that it has not acked, and the event at its cursor (by which a listing knows that nothing is missing behind it). A consumer that has
moved no cursor in any stream since `stopped_after` ago does not protect unacked events that are older than that: it is given up, and
the same batch says so in the log before it deletes. A consumer that comes back protects again at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from ..policy.ledger_models import Cursors, Events
from ..statements.quoting import name
from ..steps import Engine, Result, Statement
from .consumers import CONSUMERS, acked, common_table, given_up, with_cursors
from .log import STOPPED, column, consumer_test, kind_test, never_back, stopped_stream, table
from .sql import Params, ask, unit

__all__ = ["Place", "Pruned", "count_statement", "delete_statements", "prune", "read_deleted", "verdict"]

ROWS = 1_000
"""Events looked at in a page (the design's first guess)."""


@dataclass(frozen=True, slots=True)
class Place:
    """How far a traversal has come: events after `after`, up to `high`, the newest when it began. None: from the start."""

    after: int | None = None
    high: int | None = None


@dataclass(frozen=True, slots=True)
class Pruned:
    """What pages of a traversal did.

    Attributes:
        scanned, deleted: events.
        stopped: the streams in which events now say that a consumer was given up.
        next: where the traversal goes on; `finished` tells that this one has ended and the next call begins a new one.
    """

    scanned: int
    deleted: int
    stopped: tuple[str, ...]
    next: Place
    finished: bool


def prune(log: Events, place: Place, *, now: int, rows: int = ROWS, pages: int = 1) -> Engine[Pruned]:
    """Delete what has outlived `log.keep`, over at most `pages` pages of `rows` events.

    Args:
        now: ms, one reading for the whole call.

    Raises:
        HostError: as the host raised it; pages before it stand, and a new call goes on where this one began.
    """
    scanned, deleted, stopped = 0, 0, list[str]()
    if log.keep == "forever":
        return Pruned(0, 0, (), Place(), True)
    cutoff = now - log.keep
    for _ in range(pages):
        edge = yield from _boundary(log, place, cutoff, rows)
        if edge.upto is None:
            return Pruned(scanned, deleted, tuple(stopped), Place(), True)
        scanned += edge.seen
        if edge.expired:
            said, gone = yield from _delete(log, place.after, edge.upto, cutoff, now)
            deleted, stopped = deleted + gone, stopped + said
        place = Place(edge.upto, edge.high)
        if edge.upto >= edge.high:
            return Pruned(scanned, deleted, tuple(stopped), Place(), True)
    return Pruned(scanned, deleted, tuple(stopped), place, False)


@dataclass(frozen=True, slots=True)
class _Edge:
    upto: int | None
    seen: int
    expired: bool
    high: int


def _boundary(log: Events, place: Place, cutoff: int, rows: int) -> Engine[_Edge]:
    p = Params()
    key = column(log, "id")
    high = p(place.high) if place.high is not None else f"(SELECT MAX({key}) FROM {table(log)})"
    span = _range(log, p, place.after, high)
    page = f"SELECT {key} AS id, {_old(log, p, cutoff)} AS old FROM {table(log)} NOT INDEXED WHERE {span} ORDER BY {key} LIMIT {rows:d}"
    edge = f"CAST(MAX(id) AS TEXT), count(*), COALESCE(MAX(old), 0), CAST({high} AS TEXT)"
    (found,) = yield from ask(p.statement(f"SELECT {edge} FROM ({page})"))
    upto, seen, expired, top = found.rows[0]
    return _Edge(None if upto is None else int(cast(str, upto)), int(cast(float, seen)), bool(expired), int(cast(str, top or "0")))


def _delete(log: Events, after: int | None, upto: int, cutoff: int, now: int) -> Engine[tuple[list[str], int]]:
    results = yield from ask(*delete_statements(log, after, upto, cutoff, now), writes=True)
    return read_deleted(results)


def delete_statements(log: Events, after: int | None, upto: int, cutoff: int, now: int) -> list[Statement]:
    """The batch of a page: who is given up, the delete, and how many it took."""
    cursors = log.cursors
    says = [_say_stopped(log, cursors, after, upto, cutoff, now)] if cursors and log.stopped_after is not None else []
    return [*says, _doomed("DELETE", log, after, upto, cutoff, now), Statement("SELECT changes()")]


def count_statement(log: Events, after: int | None, upto: int, cutoff: int, now: int) -> Statement:
    """How many events of a page that batch would delete."""
    return _doomed("SELECT count(*)", log, after, upto, cutoff, now)


def _doomed(verb: str, log: Events, after: int | None, upto: int, cutoff: int, now: int) -> Statement:
    """The events of a page that are old and that nobody needs."""
    p = Params()
    cursors = log.cursors
    consumers = f"{common_table(log, cursors, p, now)} " if cursors else ""
    needed = f" AND NOT {_needed(log, cursors, p, now)}" if cursors else ""
    condition = f"({_mortal(log, p, cutoff)}{needed}) IS 1"
    return p.statement(f"{consumers}{verb} FROM {table(log)} NOT INDEXED WHERE {_range(log, p, after, p(upto))} AND {condition}")


def read_deleted(results: Sequence[Result]) -> tuple[list[str], int]:
    """What that batch did: the streams in which somebody was given up, and the events deleted."""
    said = [str(row[0]) for row in results[0].rows] if len(results) > 2 else []
    return said, int(cast(float, results[-1].rows[0][0]))


def verdict(log: Events, p: Params, cutoff: int) -> str:
    """What the age and the kind say of an event: 1 it may go, 0 it is old and stays, NULL it is young."""
    return f"CASE WHEN {_old(log, p, cutoff)} THEN ({_mortal(log, p, cutoff)}) IS 1 END"


def _range(log: Events, p: Params, after: int | None, upto: str) -> str:
    key = column(log, "id")
    return f"{key} <= {upto}" if after is None else f"{key} > {p(after)} AND {key} <= {upto}"


def _old(log: Events, p: Params, cutoff: int) -> str:
    return unit(log.at.format).older(column(log, "at"), cutoff, p)


def _mortal(log: Events, p: Params, cutoff: int) -> str:
    return f"{_old(log, p, cutoff)} AND {column(log, 'kind')} NOT IN {p.list((*log.once, STOPPED))}"


def _shown(log: Events, p: Params) -> str:
    """Whether consumers see the event; what is hidden or in no stream needs nobody's ack."""
    return f"{kind_test(log, p)} AND {column(log, 'stream')} IS NOT NULL"


def _needed(log: Events, cursors: Cursors, p: Params, now: int) -> str:
    at_cursor = f"retention_k.{name(cursors.position)} = {column(log, 'id')}"
    needs = f"CASE WHEN {acked(log, cursors)} THEN {at_cursor} ELSE NOT {given_up(log, p, now)} END"
    return f"({_shown(log, p)} AND EXISTS (SELECT 1 FROM {CONSUMERS} AS retention_c {with_cursors(log, cursors)} WHERE {needs}))"


def _say_stopped(log: Events, cursors: Cursors, after: int | None, upto: int, cutoff: int, now: int) -> Statement:
    """The event that a consumer was given up, for each that stands in the way of an event of this page; once until it moves again."""
    p = Params()
    consumers = common_table(log, cursors, p, now)
    stream, encode = stopped_stream("retention_c.name"), unit(log.at.format).encode
    lost = (
        f"SELECT 1 FROM {table(log)} NOT INDEXED {with_cursors(log, cursors)} WHERE {_range(log, p, after, p(upto))} "
        f"AND ({_mortal(log, p, cutoff)} AND {_shown(log, p)} AND NOT {acked(log, cursors)} AND {given_up(log, p, now)}) IS 1"
    )
    last = "-1"
    if cursors.moved is not None:
        moved = unit(cursors.moved.format).ms(f"MAX(retention_m.{name(cursors.moved.column)})")
        own = consumer_test(cursors, "retention_c.name", "retention_m")
        last = f"COALESCE((SELECT {moved} FROM {name(cursors.table)} AS retention_m WHERE {own}), -1)"
    said = (
        f"SELECT 1 FROM {table(log)} AS retention_s WHERE {column(log, 'stream', 'retention_s')} = {stream} "
        f"AND {column(log, 'kind', 'retention_s')} = {p(STOPPED)} AND {unit(log.at.format).ms(column(log, 'at', 'retention_s'))} > {last}"
    )
    values = {
        log.stream: stream,
        log.kind: p(STOPPED),
        log.at.column: never_back(log, p(encode(now)), stream),
        log.payload or "": f"json_object('consumer', retention_c.name, 'stopped_after_ms', {p(log.stopped_after)})",
    }
    return p.statement(
        f"{consumers} INSERT INTO {table(log)} ({', '.join(map(name, values))}) SELECT {', '.join(values.values())} "
        f"FROM {CONSUMERS} AS retention_c WHERE retention_c.quiet AND EXISTS ({lost}) AND NOT EXISTS ({said}) RETURNING {name(log.stream)}"
    )

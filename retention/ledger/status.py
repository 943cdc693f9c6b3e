"""An event's effect on its owner's status, exactly once: the owner's row and the event's marker move in one batch, in that order.

The marker is set for every event that is looked at; the row moves only if no newer event of its kind exists, if it is not released,
and, for events from before markers were kept, if its status is known to be older than the event.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..errors import PolicyError
from ..policy.ledger_models import Claims, Record, Status
from ..statements.quoting import name
from ..steps import Engine, Statement
from .record import require_record
from .rows import Row, following
from .sql import Params, ask, unit

__all__ = ["STATUSES", "Effect", "apply", "status_of"]

STATUSES = ("active", "idle", "blocked", "waiting", "offline")
"""What an event can move a status to (the relay's)."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What applying an event did.

    Attributes:
        claimed: this call set the marker; every other call finds it set.
        mutated: this call also moved the status. Only then may it tell others.
    """

    claimed: bool
    mutated: bool


def status_of(kind: str, payload: Mapping[str, object], prefix: str = "status.") -> str | None:
    """The status an event moves its owner to: its kind's suffix, or for `changed` the payload's `status`; None if there is none."""
    if not kind.startswith(prefix):
        return None
    suffix = kind.removeprefix(prefix)
    status = payload.get("status") if suffix == "changed" else suffix
    return status if isinstance(status, str) and status in STATUSES else None


def apply(claims: Claims, scope: Sequence[str], event: str, status: str | None, *, now: int, effects: Sequence[Row] = ()) -> Engine[Effect]:
    """Let an event take effect.

    Args:
        scope: the event's, as it was recorded.
        event: its id.
        status: where it moves its owner (`status_of`); None: nowhere, it is only marked as dealt with.
        now: ms.
        effects: rows that tell others, written in the same batch if the status moved, and only then.

    Raises:
        HostError: as the host raised it; nothing was done, unless `applied` says otherwise.
    """
    record = require_record(claims, scope)
    if claims.status is None:
        raise PolicyError("nothing says whose status the events move; name the table in [claims.status]")
    moves = () if status is None else (_move(record, claims.status, scope, event, status), *(following(r.table, r.values) for r in effects))
    results = yield from ask(*moves, _mark(record, scope, event, now), writes=True)
    claimed = bool(results[-1].rows)
    return Effect(claimed, claimed and bool(moves) and bool(results[0].rows))


def _move(record: Record, table: Status, scope: Sequence[str], event: str, status: str) -> Statement:
    p = Params()
    own, new = name(table.table), p(status)
    row = " AND ".join(f"{own}.{name(column)} = {p(value)}" for column, value in zip(table.scope, scope, strict=True))
    unheard = f"{_event(record, p, scope, event)} AND {_known_older(record, table, new)}"
    owner = record.scope[-1]
    # A range instead of LIKE: no pattern limit, and case counts.
    moving = f"retention_n.{name(record.kind)} >= {p(table.prefix)} AND retention_n.{name(record.kind)} < {p(_after(table.prefix))}"
    newer = (
        f"SELECT 1 FROM {name(record.table)} AS retention_n WHERE retention_n.{name(owner)} = retention_e.{name(owner)} "
        f"AND retention_n.{name(record.sequence)} > retention_e.{name(record.sequence)} AND {moving}"
    )
    return p.statement(
        f"UPDATE {own} SET {name(table.status)} = {new} WHERE {row} AND {own}.{name(table.status)} <> {p(table.released)} "
        f"AND EXISTS (SELECT 1 FROM {name(record.table)} AS retention_e WHERE {unheard} AND NOT EXISTS ({newer})) RETURNING 1"
    )


def _mark(record: Record, scope: Sequence[str], event: str, now: int) -> Statement:
    p = Params()
    stamp = p(unit(record.applied.format).encode(now))
    return p.statement(
        f"UPDATE {name(record.table)} AS retention_e SET {name(record.applied.column)} = {stamp} "
        f"WHERE {_event(record, p, scope, event)} RETURNING 1"
    )


def _event(record: Record, p: Params, scope: Sequence[str], event: str) -> str:
    """Whether `e` is the event, and has not been dealt with."""
    same = {record.id: event, **dict(zip(record.scope, scope, strict=True))}
    terms = [f"retention_e.{name(c)} = {p(v)}" for c, v in same.items()]
    return " AND ".join([*terms, f"retention_e.{name(record.applied.column)} IS NULL"])


def _known_older(record: Record, table: Status, new: str) -> str:
    """For an event from before markers were kept: whether the row's status is another one, and older than the event."""
    if record.legacy is None:
        return "1"
    if table.witness is None:
        return f"retention_e.{name(record.legacy)} = 0"
    own = name(table.table)
    witness = f"{own}.{name(table.witness.column)}"
    older = f"{unit(table.witness.format).ms(witness)} < {unit(record.at.format).ms(f'retention_e.{name(record.at.column)}')}"
    # A witness that is NULL is older than nothing.
    return f"(retention_e.{name(record.legacy)} = 0 OR ({own}.{name(table.status)} <> {new} AND {older}))"


def _after(prefix: str) -> str:
    """The first text after all that begin with the prefix."""
    return prefix[:-1] + chr(ord(prefix[-1]) + 1)

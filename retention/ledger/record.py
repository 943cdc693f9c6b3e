"""Recording an event under a caller's idempotency key: the first call writes it, each further one is answered with it.

The key is hashed before it is stored, and the request is kept as a digest over its canonical JSON. Both texts are as the relay has
stored them since version 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from ..errors import PolicyError
from ..policy.ledger_models import Claims, Record
from ..statements.quoting import name
from ..steps import Engine, Statement, Value
from .canonical import canonical, sha256
from .claim_errors import ClaimRefused, ClaimUnreadable
from .sql import Params, ask, unit

__all__ = ["Recorded", "key_hash", "record", "request_digest", "require_record"]

KEY_DOMAIN = "session-event-key-v1"
DIGEST_DOMAIN = "session-event-payload-v1"


@dataclass(frozen=True, slots=True)
class Recorded:
    """The event as it stands.

    Attributes:
        payload: JSON text.
        sequence: its place among its owner's events.
        at: ms since 1970.
        replayed: an earlier call with this key wrote it.
        pending: it moves a status and has not done so yet (`retention.ledger.status.apply`).
    """

    id: str
    kind: str
    payload: str
    sequence: int
    at: int
    replayed: bool
    pending: bool


def key_hash(key: str) -> str:
    """What is stored of a caller's key."""
    return sha256(f"{KEY_DOMAIN}\0{key}")


def request_digest(kind: str, payload: Mapping[str, object]) -> str:
    """What is stored of a request, so that the same key with another payload is noticed."""
    return sha256(f"{DIGEST_DOMAIN}\0{canonical({'type': kind, 'payload': payload})}")


def record(
    claims: Claims,
    scope: Sequence[str],
    kind: str,
    payload: Mapping[str, object],
    *,
    id: str,
    now: int,
    key: str | None = None,
) -> Engine[Recorded]:
    """Record an event once for each key, or always where there is no key.

    Args:
        scope: whose event it is, a value for each of the scope's columns; a key counts within it.
        id: for a new event; never used before.
        now: ms.
        key: the caller's idempotency key.

    Raises:
        ClaimRefused: `idempotency_key_reused` (409): the key stands for another request.
        ClaimUnreadable: `idempotency_unavailable` (503): the key is taken, and what for cannot be read.
        HostError: as the host raised it. Without a key a lost reply leaves open whether the event stands.
    """
    table = require_record(claims, scope)
    values: dict[str, Value] = {
        table.id: id,
        **dict(zip(table.scope, scope, strict=True)),
        table.kind: kind,
        table.payload: canonical(payload),
        table.at.column: unit(table.at.format).encode(now),
    }
    if key is None:
        (added,) = yield from ask(_insert(table, values, ""), writes=True)
        return _recorded(claims, table, added.rows[0], replayed=False)
    digest = request_digest(kind, payload)
    values |= {table.key: key_hash(key), table.digest: digest}
    # The target is named: without it a clash of ids would pass for a replay.
    target = ", ".join(map(name, (*table.scope, table.key)))
    insert = _insert(table, values, f" ON CONFLICT ({target}) DO NOTHING")
    _, found = yield from ask(insert, _find(table, scope, key_hash(key)), writes=True, repeatable=True)
    if not found.rows or found.rows[0][-1] is None:
        raise ClaimUnreadable(
            "idempotency_unavailable", "the event recorded under this key cannot be read now; call again with the same key"
        )
    row = found.rows[0]
    if row[-1] != digest:
        raise ClaimRefused("idempotency_key_reused", 409, "the idempotency key stands for another event; use a new key for a new event")
    return _recorded(claims, table, row, replayed=row[0] != id)


def require_record(claims: Claims, scope: Sequence[str]) -> Record:
    """The table. Raises PolicyError if the policy names none, or if the scope has another number of values."""
    if claims.record is None:
        raise PolicyError("there is no table to record events in; name it in [claims.record]")
    if len(scope) != len(claims.record.scope):
        raise PolicyError(f"the scope of {claims.record.table} is ({', '.join(claims.record.scope)}); give a value for each")
    return claims.record


def _insert(table: Record, values: Mapping[str, Value], conflict: str) -> Statement:
    p = Params()
    selected = {column: p(value) for column, value in values.items()}
    owner = table.scope[-1]
    newest = f"SELECT MAX(s.{name(table.sequence)}) FROM {name(table.table)} AS s WHERE s.{name(owner)} = {selected[owner]}"
    selected[table.sequence] = f"COALESCE(({newest}), 0) + 1"
    columns, expressions = ", ".join(map(name, selected)), ", ".join(selected.values())
    # WHERE 1: without it SQLite reads ON as the beginning of a join (sqlite.org/lang_upsert.html, 2.2).
    return p.statement(f"INSERT INTO {name(table.table)} ({columns}) SELECT {expressions} WHERE 1{conflict} RETURNING {_columns(table)}")


def _find(table: Record, scope: Sequence[str], hashed: str) -> Statement:
    p = Params()
    key = {**dict(zip(table.scope, scope, strict=True)), table.key: hashed}
    wanted = " AND ".join(f"{name(column)} = {p(value)}" for column, value in key.items())
    return p.statement(f"SELECT {_columns(table)} FROM {name(table.table)} WHERE {wanted}")


def _columns(table: Record) -> str:
    numbers = (f"CAST({name(table.sequence)} AS TEXT)", unit(table.at.format).read(name(table.at.column)))
    texts = map(name, (table.id, table.kind, table.payload))
    return ", ".join((*texts, *numbers, f"{name(table.applied.column)} IS NULL", name(table.digest)))


def _recorded(claims: Claims, table: Record, row: Sequence[Value], *, replayed: bool) -> Recorded:
    id, kind, payload, sequence, at, waits, _ = row
    moves = claims.status is not None and str(kind).startswith(claims.status.prefix)
    decoded = unit(table.at.format).decode(str(at))
    return Recorded(str(id), str(kind), str(payload), int(cast(str, sequence)), decoded, replayed, moves and bool(waits))

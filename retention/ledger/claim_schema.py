"""What the tables of claims must be like. Decided from the schema alone."""

from __future__ import annotations

from collections.abc import Sequence

from ..capabilities import Capabilities
from ..errors import Refused
from ..policy.ledger_models import Claims, Creation, Record
from ..schema.model import Schema
from ..schema.reader import read
from ..steps import Engine
from .log_schema import is_unique, numbers, require_numbers, require_table

__all__ = ["check", "inspect"]


def inspect(claims: Claims, capabilities: Capabilities) -> Engine[None]:
    """Read the schema, and refuse tables that cannot hold a claim. Raises Refused (`check`)."""
    check(claims, (yield from read(capabilities)))


def check(claims: Claims, schema: Schema) -> None:
    """Refuse tables that cannot hold a claim.

    Raises:
        Refused: if a table or column is missing, or a key that decides who was first is not unique.
    """
    if claims.record is not None:
        _check_record(claims.record, schema)
    if claims.status is not None:
        witness = claims.status.witness.column if claims.status.witness else None
        require_table(schema, claims.status.table, (*claims.status.scope, claims.status.status, witness), "[claims.status]")
    if claims.creation is not None:
        _check_creation(claims.creation, schema)


def _check_record(table: Record, schema: Schema) -> None:
    columns = (table.id, *table.scope, table.kind, table.payload, table.key, table.digest, table.sequence, table.legacy)
    found = require_table(schema, table.table, (*columns, table.at.column, table.applied.column), "[claims.record]")
    require_numbers(found, (table.sequence, *numbers(table.at, table.applied)))
    if not is_unique(found, (*table.scope, table.key)):
        raise _not_unique(table.table, (*table.scope, table.key))


def _check_creation(table: Creation, schema: Schema) -> None:
    require_table(schema, table.table, (table.id, table.secret), "[claims.creation]")
    columns = (table.scope, table.key, table.digest, table.bound, table.state, table.at.column, table.ended.column)
    found = require_table(schema, table.binding, columns, "[claims.creation]")
    if not is_unique(found, (table.scope, table.key)):
        raise _not_unique(table.binding, (table.scope, table.key))


def _not_unique(table: str, key: Sequence[str]) -> Refused:
    why = f"{table} is not unique by ({', '.join(key)}), so two callers could both be the first"
    return Refused(f"{why}; create a unique index over these columns, without WHERE", "schema")

"""Claims bound to a host: `Claims`, and `AsyncClaims` for an asynchronous one. Each operation is an engine of its own beneath."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from ..capabilities import Capabilities
from ..errors import PolicyError, Refused
from ..hosts.base import AsyncHost, Host
from ..policy import ledger_models as models
from ..policy.ledger_models import Creation, Record, Status
from ..schema.model import Schema
from ..schema.reader import read
from ..steps import Engine, Value
from .claim_errors import ClaimRefused, ClaimUnreadable
from .creation import Caller, Created, Row, create, terminalize
from .drive import adrive, drive
from .events import milliseconds
from .log_schema import is_unique, require_numbers, require_table
from .record import Recorded, record
from .status import Effect, apply, status_of

__all__ = [
    "AsyncClaims",
    "Caller",
    "ClaimRefused",
    "ClaimUnreadable",
    "Claims",
    "Created",
    "Creation",
    "Effect",
    "Record",
    "Recorded",
    "Row",
    "Status",
    "apply",
    "check",
    "create",
    "inspect",
    "record",
    "status_of",
    "terminalize",
]

T = TypeVar("T")


def check(claims: models.Claims, schema: Schema) -> None:
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
    require_numbers(found, (table.sequence, table.at.column, table.applied.column))
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


def inspect(claims: models.Claims, capabilities: Capabilities) -> Engine[None]:
    """Refuse tables that cannot hold a claim. Raises Refused (`check`)."""
    check(claims, (yield from read(capabilities)))


def _creation(claims: models.Claims) -> Creation:
    if claims.creation is None:
        raise PolicyError("there is no table to create rows in; name it in [claims.creation]")
    return claims.creation


class Claims:
    """Claims in a database. The first operation reads the schema and refuses tables that cannot hold a claim.

    Args:
        host: executes; from one thread at a time.
        claims: the tables and columns.
        clock: ms since 1970.
    """

    def __init__(self, host: Host, claims: models.Claims, *, clock: Callable[[], int] = milliseconds) -> None:
        self._host, self._claims, self._clock, self._inspected = host, claims, clock, False

    def record(self, scope: Sequence[str], kind: str, payload: Mapping[str, object], *, id: str, key: str | None = None) -> Recorded:
        """See `retention.ledger.record.record`."""
        return self._run(record(self._claims, scope, kind, payload, id=id, now=self._clock(), key=key))

    def apply(self, scope: Sequence[str], event: str, status: str | None) -> Effect:
        """See `retention.ledger.status.apply`."""
        return self._run(apply(self._claims, scope, event, status, now=self._clock()))

    def create(self, caller: Caller, digest: str, values: Mapping[str, Value], members: Sequence[Row] = ()) -> Created:
        """See `retention.ledger.creation.create`."""
        return self._run(create(_creation(self._claims), caller, digest, values, members, now=self._clock()))

    def terminalize(self, id: str, *, first: Sequence[tuple[str, str]] = ()) -> bool:
        """See `retention.ledger.creation.terminalize`."""
        return self._run(terminalize(_creation(self._claims), id, now=self._clock(), first=first))

    def _run(self, engine: Engine[T]) -> T:
        if not self._inspected:
            drive(inspect(self._claims, self._host.capabilities), self._host)
            self._inspected = True
        return drive(engine, self._host)


class AsyncClaims:
    """The same on an asynchronous host, awaited."""

    def __init__(self, host: AsyncHost, claims: models.Claims, *, clock: Callable[[], int] = milliseconds) -> None:
        self._host, self._claims, self._clock, self._inspected = host, claims, clock, False

    async def record(self, scope: Sequence[str], kind: str, payload: Mapping[str, object], *, id: str, key: str | None = None) -> Recorded:
        """See `retention.ledger.record.record`."""
        return await self._run(record(self._claims, scope, kind, payload, id=id, now=self._clock(), key=key))

    async def apply(self, scope: Sequence[str], event: str, status: str | None) -> Effect:
        """See `retention.ledger.status.apply`."""
        return await self._run(apply(self._claims, scope, event, status, now=self._clock()))

    async def create(self, caller: Caller, digest: str, values: Mapping[str, Value], members: Sequence[Row] = ()) -> Created:
        """See `retention.ledger.creation.create`."""
        return await self._run(create(_creation(self._claims), caller, digest, values, members, now=self._clock()))

    async def terminalize(self, id: str, *, first: Sequence[tuple[str, str]] = ()) -> bool:
        """See `retention.ledger.creation.terminalize`."""
        return await self._run(terminalize(_creation(self._claims), id, now=self._clock(), first=first))

    async def _run(self, engine: Engine[T]) -> T:
        if not self._inspected:
            await adrive(inspect(self._claims, self._host.capabilities), self._host)
            self._inspected = True
        return await adrive(engine, self._host)

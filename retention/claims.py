"""What must happen once although callers ask twice: `Claims`, and `AsyncClaims` for asynchronous callers. See docs/claims.md.

with Claims("relay.db", retention.load("retention.toml")) as claims:
    event = claims.record(("w1", "a1"), "status.idle", {}, id="evt_1", key="client-key")
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from .errors import PolicyError
from .hosts.base import AsyncHost, Host
from .ledger.claim_errors import ClaimRefused, ClaimUnreadable
from .ledger.claim_schema import inspect
from .ledger.creation import Caller, Created, create, terminalize
from .ledger.record import Recorded, record
from .ledger.reuse import reuse
from .ledger.rows import Row
from .ledger.status import Effect, apply, status_of
from .policy import ledger_models as models
from .policy.ledger_models import Creation, Record, Status
from .policy.models import Policy
from .runner.bound import AsyncBound, Bound, milliseconds
from .steps import Value

if TYPE_CHECKING:
    import apsw

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
    "status_of",
]


def _claims(given: models.Claims | Policy) -> models.Claims:
    found = given.claims if isinstance(given, Policy) else given
    if found is None:
        raise PolicyError("the policy has no [claims]; name the tables there")
    return found


def _policy(given: models.Claims | Policy) -> Policy:
    return given if isinstance(given, Policy) else Policy()


def _creation(claims: models.Claims) -> Creation:
    if claims.creation is None:
        raise PolicyError("there is no table to create rows in; name it in [claims.creation]")
    return claims.creation


class Claims(Bound):
    """Claims in a database. The first operation reads the schema and refuses tables that cannot hold a claim.

    Args:
        db: a path, `d1://...`, `libsql://...`, an open apsw connection, or a host.
        claims: the tables and columns (`retention.policy.ledger_models.Claims`), or a policy that has them in [claims].
        clock: ms since 1970.
    """

    def __init__(
        self,
        db: str | os.PathLike[str] | apsw.Connection | Host,
        claims: models.Claims | Policy,
        *,
        clock: Callable[[], int] = milliseconds,
    ) -> None:
        self._claims, self._clock = _claims(claims), clock
        super().__init__(db, _policy(claims), partial(inspect, self._claims))

    def record(self, scope: Sequence[str], kind: str, payload: Mapping[str, object], *, id: str, key: str | None = None) -> Recorded:
        """See `retention.ledger.record.record`."""
        return self._run(lambda _: record(self._claims, scope, kind, payload, id=id, now=self._clock(), key=key))

    def apply(self, scope: Sequence[str], event: str, status: str | None, *, effects: Sequence[Row] = ()) -> Effect:
        """See `retention.ledger.status.apply`."""
        return self._run(lambda _: apply(self._claims, scope, event, status, now=self._clock(), effects=effects))

    def create(self, caller: Caller, digest: str, values: Mapping[str, Value], members: Sequence[Row] = ()) -> Created:
        """See `retention.ledger.creation.create`."""
        creation = _creation(self._claims)
        return self._run(lambda _: create(creation, caller, digest, values, members, now=self._clock()))

    def reuse(self, owner_key: str, values: Mapping[str, Value], members: Sequence[Row] = ()) -> Created:
        """See `retention.ledger.reuse.reuse`."""
        creation = _creation(self._claims)
        return self._run(lambda _: reuse(creation, owner_key, values, members, now=self._clock()))

    def terminalize(self, id: str, *, first: Sequence[tuple[str, str]] = ()) -> bool:
        """See `retention.ledger.creation.terminalize`."""
        creation = _creation(self._claims)
        return self._run(lambda _: terminalize(creation, id, now=self._clock(), first=first))


class AsyncClaims(AsyncBound):
    """`Claims`, awaited: on an asynchronous host, or on anything that `Claims` takes."""

    def __init__(
        self,
        db: str | os.PathLike[str] | apsw.Connection | Host | AsyncHost,
        claims: models.Claims | Policy,
        *,
        clock: Callable[[], int] = milliseconds,
    ) -> None:
        self._claims, self._clock = _claims(claims), clock
        super().__init__(db, _policy(claims), partial(inspect, self._claims))

    async def record(self, scope: Sequence[str], kind: str, payload: Mapping[str, object], *, id: str, key: str | None = None) -> Recorded:
        """See `retention.ledger.record.record`."""
        return await self._run(lambda _: record(self._claims, scope, kind, payload, id=id, now=self._clock(), key=key))

    async def apply(self, scope: Sequence[str], event: str, status: str | None, *, effects: Sequence[Row] = ()) -> Effect:
        """See `retention.ledger.status.apply`."""
        return await self._run(lambda _: apply(self._claims, scope, event, status, now=self._clock(), effects=effects))

    async def create(self, caller: Caller, digest: str, values: Mapping[str, Value], members: Sequence[Row] = ()) -> Created:
        """See `retention.ledger.creation.create`."""
        creation = _creation(self._claims)
        return await self._run(lambda _: create(creation, caller, digest, values, members, now=self._clock()))

    async def reuse(self, owner_key: str, values: Mapping[str, Value], members: Sequence[Row] = ()) -> Created:
        """See `retention.ledger.reuse.reuse`."""
        creation = _creation(self._claims)
        return await self._run(lambda _: reuse(creation, owner_key, values, members, now=self._clock()))

    async def terminalize(self, id: str, *, first: Sequence[tuple[str, str]] = ()) -> bool:
        """See `retention.ledger.creation.terminalize`."""
        creation = _creation(self._claims)
        return await self._run(lambda _: terminalize(creation, id, now=self._clock(), first=first))

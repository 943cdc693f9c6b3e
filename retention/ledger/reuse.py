"""Creation without a key: an owner's own row of a name, made if it is not there. The owner's secret is the row's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..errors import HostError, PolicyError
from ..policy.ledger_models import Creation
from ..statements.quoting import name
from ..steps import Engine, Statement, Value
from .canonical import sha256
from .claim_errors import ClaimRefused, ClaimUnreadable
from .creation import Created, own_id
from .rows import Row, following, insert
from .sql import Params, ask, unit

__all__ = ["reuse"]


def reuse(creation: Creation, owner_key: str, values: Mapping[str, Value], members: Sequence[Row] = (), *, now: int) -> Engine[Created]:
    """Find the row that the owner has under this name, or make it with its members, in one batch.

    Args:
        owner_key: the owner's secret; its hash is what the row holds.
        values: of the row: a new id and the name among them.
        now: ms; a row that has expired is not used again.

    Raises:
        ClaimRefused: `owner_key_in_use` 409: the owner's row has another name; `owner_row_expired` 409; `id_collision` 500.
        ClaimUnreadable: `readback_unavailable` 503: nobody can tell what stands.
        HostError: the writes failed and nothing stands.
    """
    hashed, id = sha256(owner_key), own_id(creation, values)
    if values.get(creation.called) is None:
        raise PolicyError(f"the values of a new row of {creation.table} need its name; give it as {creation.called!r}")
    p = Params()
    taken = [f"SELECT 1 FROM {name(creation.table)} AS r WHERE r.{name(creation.secret)} = {p(hashed)}"]
    rows = (Row(creation.table, creation.id, values), *members)
    taken += [f"SELECT 1 FROM {name(r.table)} AS r WHERE r.{name(r.id)} = {p(r.values[r.id])}" for r in rows]
    first = insert(p, creation.table, {**values, creation.secret: hashed}, " AND ".join(f"NOT EXISTS ({one})" for one in taken))
    rest = [following(member.table, member.values) for member in members]
    try:
        *_, found = yield from ask(first, *rest, _find(creation, hashed, now), writes=True, repeatable=True)
    except HostError as error:
        if error.applied is False:
            raise
        raise ClaimUnreadable("readback_unavailable", f"what stands cannot be told ({error}); call again with the same key") from error
    if not found.rows:
        raise ClaimRefused("id_collision", 500, f"the new id {id}, or that of a row made with it, is taken; call again with new ids")
    bound, called, expired = found.rows[0]
    if expired:
        raise ClaimRefused("owner_row_expired", 409, "the owner's row has expired; create another with a key of its own")
    if called != values[creation.called]:
        raise ClaimRefused("owner_key_in_use", 409, "the owner has a row of another name already; create this one with an idempotency key")
    return Created(bound == id, str(bound), owner_key)


def _find(creation: Creation, hashed: str, now: int) -> Statement:
    p = Params()
    expired = "0"
    if creation.expires is not None:
        expired = f"COALESCE({name(creation.expires.column)} <= {p(unit(creation.expires.format).encode(now))}, 0)"
    columns = f"{name(creation.id)}, {name(creation.called)}, {expired}"
    return p.statement(f"SELECT {columns} FROM {name(creation.table)} WHERE {name(creation.secret)} = {p(hashed)}")

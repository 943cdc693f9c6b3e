"""Making a row once for each caller's key, with a secret that is revealed and never stored.

The secret is derived from the owner's (or the deployment's) secret, the caller's key and the request's digest, so that a replay can
reveal it again; the row holds its hash only. A binding remembers key, digest and row, and outlives the row.

One batch makes the row, its members and the binding, or nothing, and reads the binding back. Each insert depends on the one before
it by `changes()`, so that a batch that is sent again after a lost reply does nothing and still finds what the first one made.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..errors import Fenced, HostError, PolicyError, Refused
from ..policy.ledger_models import Creation
from ..statements.quoting import name
from ..steps import Engine, Result, Statement, Value
from .canonical import sha256, utf16_length
from .claim_errors import ClaimRefused, ClaimUnreadable
from .rows import Row, following, insert
from .sql import Params, ask, unit

__all__ = ["Caller", "Created", "check_owner", "child_secret", "create", "own_id", "terminalize"]

KEY_LENGTH = 32
"""The least length, in UTF-16 code units, of a key without an owner: it is all that stands between a guesser and the secret."""

SECRET_PREFIX = "rk_live_"
SECRET_DOMAIN = "relaycast:workspace-create:v1:"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who creates, and by what right. Secrets stay out of the repr.

    Attributes:
        key: the caller's idempotency key.
        owner_key: the owner's own secret; None: an anonymous caller.
        owner_hash: the hash of the owner's secret, where the caller gave one.
        secret: the deployment's secret, from which anonymous callers' secrets are derived.
        proof: what an anonymous caller gave to show that it knows the deployment's secret.
        needs_proof: whether it has to.
    """

    key: str = field(repr=False)
    owner_key: str | None = field(default=None, repr=False)
    owner_hash: str | None = None
    secret: str | None = field(default=None, repr=False)
    proof: str | None = field(default=None, repr=False)
    needs_proof: bool = False


@dataclass(frozen=True, slots=True)
class Created:
    """The row that the key stands for.

    Attributes:
        created: this call made it (also if its reply was lost and it was sent again).
        secret: to be given to the caller, and nowhere stored.
    """

    created: bool
    id: str
    secret: str = field(repr=False)


def check_owner(caller: Caller) -> None:
    """Raises ClaimRefused `invalid_owner_api_key_hash` (400) if the owner's secret and its hash do not belong together."""
    if caller.owner_key is not None and caller.owner_hash is not None and not _same(sha256(caller.owner_key), caller.owner_hash):
        raise ClaimRefused("invalid_owner_api_key_hash", 400, "the owner's key and its hash do not belong together; send one of them")


def own_id(creation: Creation, values: Mapping[str, Value]) -> str:
    """The new row's id. Raises PolicyError if the values have none."""
    if values.get(creation.id) is None:
        raise PolicyError(f"the values of a new row of {creation.table} need an id; give a new one as {creation.id!r}")
    return str(values[creation.id])


def child_secret(secret: str, key: str, digest: str) -> str:
    """The secret of the row made under a key."""
    mac = hmac.new(secret.encode(), f"{SECRET_DOMAIN}{key}:{digest}".encode(), hashlib.sha256)
    return SECRET_PREFIX + mac.hexdigest()[:32]


def create(
    creation: Creation, caller: Caller, digest: str, values: Mapping[str, Value], members: Sequence[Row] = (), *, now: int
) -> Engine[Created]:
    """Make a row, or find the one that the key already made.

    Args:
        digest: of the request; the same key with another digest is a conflict.
        values: of the row, its new id among them; the secret's hash is added.
        members: rows made with it, after it.
        now: ms.

    Raises:
        ClaimRefused: before the database is asked: `invalid_owner_api_key_hash` 400, `idempotency_key_too_weak` 400,
            `idempotency_unavailable` 503, `bootstrap_secret_invalid` 401, `idempotency_owner_required` 401. After it:
            `idempotency_conflict` 409, `idempotency_terminalized` 409, `idempotency_unusable` 409, `id_collision` 500.
        ClaimUnreadable: `readback_unavailable` (503): the writes failed in a way that leaves open what stands.
        Refused: a trigger breaks the chain without an error, so that a part would be missing; nothing stands.
        HostError: the writes failed and nothing stands.
    """
    scope, secret = _authorize(caller)
    key = sha256(caller.key)
    revealed = child_secret(secret, caller.key, digest)
    row = Row(creation.table, creation.id, {**values, creation.secret: sha256(revealed)})
    id = own_id(creation, values)
    binding = {
        creation.scope: scope,
        creation.key: key,
        creation.digest: digest,
        creation.bound: id,
        creation.state: creation.active,
        creation.at.column: unit(creation.at.format).encode(now),
    }
    find = _find(creation, scope, key)
    try:
        *_, found = yield from ask(*_make(creation, row, members, binding), find, writes=True, repeatable=True)
    except Fenced as error:
        raise Refused(
            f"a trigger keeps a row that belongs to the new one of {creation.table} from being written, so nothing was made; let the "
            f"trigger pass it, or leave that row out",
            "schema",
        ) from error
    except HostError as error:
        if not error.retryable and error.applied is False:
            raise
        found = yield from _read_back(find, error)
        if not found.rows:
            message = f"nothing stands as far as can be told ({error}); call again with the same key"
            raise ClaimUnreadable("readback_unavailable", message) from error
    if not found.rows:
        raise ClaimRefused("id_collision", 500, f"the new id {id}, or that of a row made with it, is taken; call again with new ids")
    return _judge(creation, found.rows[0], id, digest, revealed)


def _authorize(caller: Caller) -> tuple[str, str]:
    """The binding's scope, and the secret to derive from."""
    check_owner(caller)
    if not caller.key:
        raise ClaimRefused("idempotency_key_too_weak", 400, "the idempotency key is empty; send a random one")
    if caller.owner_key is not None:
        return sha256(caller.owner_key), caller.owner_key
    if caller.owner_hash is not None:
        raise ClaimRefused("idempotency_owner_required", 401, "the owner's hash is not enough to derive a secret; send the owner's key")
    if utf16_length(caller.key) < KEY_LENGTH:
        weak = f"a key without an owner needs at least {KEY_LENGTH} characters; send a random one"
        raise ClaimRefused("idempotency_key_too_weak", 400, weak)
    if caller.secret is None:
        unable = "this deployment has no secret to derive from; configure one, or send an owner's key"
        raise ClaimRefused("idempotency_unavailable", 503, unable)
    if caller.needs_proof and (caller.proof is None or not _same(caller.secret, caller.proof)):
        raise ClaimRefused("bootstrap_secret_invalid", 401, "the deployment's secret is missing or wrong; send it as the proof")
    return sha256(f"bootstrap:{caller.key}"), caller.secret


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "surrogatepass"), other.encode("utf-8", "surrogatepass"))


def _make(creation: Creation, row: Row, members: Sequence[Row], binding: Mapping[str, Value]) -> list[Statement]:
    p = Params()
    table = name(creation.binding)
    key = f"b.{name(creation.scope)} = {p(binding[creation.scope])} AND b.{name(creation.key)} = {p(binding[creation.key])}"
    bound = f"b.{name(creation.bound)} = {p(binding[creation.bound])}"
    taken = [f"SELECT 1 FROM {table} AS b WHERE ({key}) OR {bound}"]
    taken += [f"SELECT 1 FROM {name(r.table)} AS r WHERE r.{name(r.id)} = {p(r.values[r.id])}" for r in (row, *members)]
    first = insert(p, row.table, row.values, " AND ".join(f"NOT EXISTS ({rows})" for rows in taken))
    rest = [(member.table, member.values) for member in members] + [(creation.binding, binding)]
    return [first, *(following(table, values) for table, values in rest), _whole(creation, row, binding)]


def _whole(creation: Creation, row: Row, binding: Mapping[str, Value]) -> Statement:
    """A fence that our row has its binding, the last link of the chain: a trigger may break it without an error."""
    p = Params()
    ours = " AND ".join(f"r.{name(column)} = {p(row.values[column])}" for column in (creation.id, creation.secret))
    bound = f"SELECT 1 FROM {name(creation.binding)} AS b WHERE b.{name(creation.bound)} = r.{name(creation.id)}"
    half = f"SELECT 1 FROM {name(creation.table)} AS r WHERE {ours} AND NOT EXISTS ({bound})"
    return p.statement(f"SELECT CASE WHEN NOT EXISTS ({half}) THEN 1 ELSE json_extract('1', 'fence:whole') END")


def _find(creation: Creation, scope: str, key: str) -> Statement:
    p = Params()
    columns = ", ".join(f"b.{name(column)}" for column in (creation.digest, creation.state, creation.bound))
    return p.statement(
        f"SELECT {columns}, r.{name(creation.secret)} FROM {name(creation.binding)} AS b "
        f"LEFT JOIN {name(creation.table)} AS r ON r.{name(creation.id)} = b.{name(creation.bound)} "
        f"WHERE b.{name(creation.scope)} = {p(scope)} AND b.{name(creation.key)} = {p(key)}"
    )


def _read_back(find: Statement, error: HostError) -> Engine[Result]:
    try:
        (found,) = yield from ask(find)
    except HostError as second:
        raise ClaimUnreadable("readback_unavailable", f"what stands cannot be read ({second}); call again with the same key") from error
    return found


def _judge(creation: Creation, row: tuple[Value, ...], id: str, digest: str, revealed: str) -> Created:
    bound_digest, state, bound, secret = row
    if bound_digest != digest:
        raise ClaimRefused("idempotency_conflict", 409, "the key stands for another request; use a new key for a new request")
    if state != creation.active:
        raise ClaimRefused("idempotency_terminalized", 409, f"what the key made was deleted ({state}); use a new key to make another")
    if secret is None or not _same(str(secret), sha256(revealed)):
        raise ClaimRefused(
            "idempotency_unusable", 409, "what the key made is gone or has another secret now; use a new key to make another"
        )
    return Created(bound == id, str(bound), revealed)


def terminalize(creation: Creation, id: str, *, now: int, first: Sequence[tuple[str, str]] = ()) -> Engine[bool]:
    """Delete a row for good: its key makes no other one. The binding stays.

    Args:
        first: `(table, column)` of rows without a foreign key to it, deleted with it.

    Returns:
        Whether the row was there.
    """
    p = Params()
    stamp = p(unit(creation.ended.format).encode(now))
    ended = f"{name(creation.state)} = {p(creation.terminalized)}, {name(creation.ended.column)} = {stamp}"
    active = f"{name(creation.bound)} = {p(id)} AND {name(creation.state)} = {p(creation.active)}"
    end = p.statement(f"UPDATE {name(creation.binding)} SET {ended} WHERE {active}")
    *_, gone = yield from ask(
        *(_delete(table, column, id) for table, column in first),
        end,
        _delete(creation.table, creation.id, id, " RETURNING 1"),
        writes=True,
        repeatable=True,
    )
    return bool(gone.rows)


def _delete(table: str, column: str, id: str, returning: str = "") -> Statement:
    p = Params()
    return p.statement(f"DELETE FROM {name(table)} WHERE {name(column)} = {p(id)}{returning}")

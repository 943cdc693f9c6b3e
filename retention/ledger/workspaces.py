"""The relay's workspaces, made once for each key together with their first channel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..policy.ledger_models import Creation
from ..steps import Engine
from .canonical import canonical, sha256, string
from .claim_errors import ClaimRefused
from .creation import Caller, Created, check_owner, create
from .rows import Row

__all__ = ["WORKSPACES", "Workspace", "create_workspace", "workspace_digest"]

WORKSPACES = Creation(table="workspaces", binding="workspace_create_idempotency")


@dataclass(frozen=True, slots=True)
class Workspace:
    """What a caller asks for.

    Attributes:
        metadata: a JSON object, or None.
        expires_in: seconds after which the workspace may go, or None.
        provenance: `source` and perhaps `origin_id` and `classification`, or None.
    """

    name: str
    metadata: object = None
    expires_in: int | None = None
    provenance: Mapping[str, object] | None = None


def workspace_digest(request: Workspace) -> str:
    """The digest of a request, over members in a fixed order; what is absent is left out.

    Raises:
        ClaimRefused: `invalid_metadata` (400) if the metadata is no JSON object.
    """
    members = {"name": string(request.name)}
    if request.metadata is not None:
        metadata: object = request.metadata
        if not isinstance(metadata, Mapping):
            raise ClaimRefused("invalid_metadata", 400, "metadata must be a JSON object; leave it out or send an object")
        members["metadata"] = canonical(request.metadata)
    if request.expires_in is not None:
        members["expires_in_seconds"] = canonical(request.expires_in)
    if request.provenance is not None:
        given = {key: request.provenance.get(key) for key in ("source", "origin_id", "classification")}
        members["provenance"] = _object({key: canonical(value) for key, value in given.items() if value is not None})
    return sha256(_object(members))


def _object(members: Mapping[str, str]) -> str:
    return "{" + ",".join(f"{string(key)}:{text}" for key, text in members.items()) + "}"


def create_workspace(caller: Caller, request: Workspace, *, id: str, channel: str, now: int) -> Engine[Created]:
    """Make a workspace and its channel `general`, or find the one that the key already made. See `create` for what is raised.

    Args:
        id, channel: new ids.
        now: ms.
    """
    check_owner(caller)
    digest = workspace_digest(request)
    metadata = {} if request.metadata is None else {"metadata": canonical(request.metadata)}
    provenance = {} if request.provenance is None else {"provenance": canonical(request.provenance)}
    expires = {} if request.expires_in is None else {"expires_at": now // 1000 + request.expires_in}
    values = {"id": id, "name": request.name, "created_at": now // 1000, **metadata, **provenance, **expires}
    general = Row("channels", "id", {"id": channel, "workspace_id": id, "name": "general", "created_at": now // 1000})
    return (yield from create(WORKSPACES, caller, digest, values, (general,), now=now))

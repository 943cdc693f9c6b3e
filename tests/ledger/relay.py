"""A relay's rows for tests of claims, and hosts that fail when told to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from retention.capabilities import Capabilities
from retention.errors import HostError
from retention.hosts.base import Host
from retention.policy.ledger_models import Claims, Record, Status
from retention.steps import Batch, Result
from tests.ledger.databases import NOW, Database

RELAY = Claims(record=Record(table="session_events", scope=("workspace_id", "agent_id")), status=Status(table="agents"))

SCOPE = ("w1", "a1")
S = NOW // 1000


def workspace(relay: Database, id: str = "w1") -> None:
    relay.script(f"INSERT INTO workspaces (id, name, api_key_hash) VALUES ('{id}', '{id}', 'hash-{id}')")


def agent(relay: Database, id: str = "a1", status: str = "active", workspace: str = "w1", witness: int | None = None) -> None:
    relay.script(
        "INSERT INTO agents (id, workspace_id, name, token_hash, status, status_updated_at) "
        f"VALUES ('{id}', '{workspace}', '{id}', 'token-{id}', '{status}', {'NULL' if witness is None else witness})"
    )


def legacy_event(relay: Database, *, at: int, kind: str = "status.blocked", id: str = "e1", sequence: int = 1) -> None:
    """A keyed event from before markers were kept."""
    relay.script(
        "INSERT INTO session_events (id, workspace_id, agent_id, type, idempotency_key_hash, request_digest, sequence, created_at, "
        f"status_legacy_pending) VALUES ('{id}', 'w1', 'a1', '{kind}', 'k-{id}', 'd', {sequence}, {at}, 1)"
    )


def status(relay: Database, id: str = "a1") -> str:
    return relay.value("SELECT status FROM agents WHERE id = ?1", id)


def marker(relay: Database, id: str) -> bool:
    return relay.value("SELECT status_applied_at IS NOT NULL FROM session_events WHERE id = ?1", id) == 1


@dataclass
class Faulty:
    """A host whose first batches fail: `before` leaves nothing, `after` loses the reply, `refused` is no matter of trying again."""

    host: Host
    faults: Sequence[str] = ()
    sent: list[Batch] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.host.name

    @property
    def capabilities(self) -> Capabilities:
        return self.host.capabilities

    def execute(self, batch: Batch, timeout: float | None = None) -> Sequence[Result]:
        fault = self.faults[len(self.sent)] if len(self.sent) < len(self.faults) else ""
        self.sent.append(batch)
        if fault == "refused":
            raise HostError("no such table", "schema")
        if fault == "before":
            raise HostError("connection refused", "network", retryable=True)
        results = self.host.execute(batch, timeout)
        if fault == "after":
            raise HostError("the reply was lost", "network", retryable=True, applied=None)
        return results

    def close(self) -> None: ...

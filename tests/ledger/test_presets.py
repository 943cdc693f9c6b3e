"""What the presets say of the log and of claims, carried out."""

from __future__ import annotations

from typing import Any

import apsw
import pytest

import retention
from retention.claims import Claims
from retention.events import Log
from retention.hosts.sqlite import SQLite
from retention.policy.load import parse
from retention.policy.models import Policy
from retention.presets import preset, presets
from tests.ledger.databases import JOBS, NOW, Database
from tests.ledger.relay import SCOPE, S, agent, status, workspace

DAY_S = 86_400
FORGETFUL = ("session-events", "session-status-events", "terminalized-workspaces")


def relay_policy() -> Policy:
    """The relay's, with the rules alone that delete memory, switched on."""
    policy = parse(preset("relay").policy)
    rules = [rule.model_copy(update={"enabled": True}) for rule in policy.rules if rule.name in FORGETFUL]
    return policy.model_copy(update={"rules": tuple(rules)})


def event(relay: Database, n: int, kind: str, *, days: int, applied: bool = True) -> None:
    marker = S - days * DAY_S if applied else "NULL"
    relay.script(
        "INSERT INTO session_events (id, workspace_id, agent_id, type, idempotency_key_hash, request_digest, sequence, created_at, "
        f"status_applied_at) VALUES ('e{n}', 'w1', 'a1', '{kind}', 'k{n}', 'd', {n}, {S - days * DAY_S}, {marker})"
    )


def left(relay: Database) -> list[int]:
    return [int(n) for (n,) in relay.rows("SELECT CAST(sequence AS TEXT) FROM session_events ORDER BY sequence")]


def run(relay: Database, policy: Policy, now: int = NOW) -> Any:
    receipt = retention.run(relay.host, policy, now=now, until_done=True)
    assert (receipt.outcome, receipt.warnings) == ("done", [])
    return receipt


def test_the_presets_load() -> None:
    assert {"ledger", "relay"} <= set(presets())
    assert parse(preset("ledger").policy).events is not None
    assert parse(preset("relay").policy).claims is not None


def test_session_events_age_but_for_the_newest_and_what_waits(relay: Database) -> None:
    workspace(relay)
    agent(relay)
    story = [
        (1, "log", 100, True), (2, "status.idle", 100, True), (3, "status.blocked", 100, False), (4, "status.waiting", 99, True),
        (5, "log", 98, True), (6, "log", 95, True),
    ]  # fmt: skip
    for n, kind, days, applied in story:
        event(relay, n, kind, days=days, applied=applied)
    receipt = run(relay, relay_policy())
    assert {rule.rule: rule.deleted for rule in receipt.rules} == {FORGETFUL[0]: 2, FORGETFUL[1]: 1, FORGETFUL[2]: 0}
    assert left(relay) == [3, 4, 6]


def test_after_it_no_older_event_moves_a_status_back(relay: Database) -> None:
    workspace(relay)
    agent(relay, status="waiting")
    event(relay, 1, "status.blocked", days=100, applied=False)
    event(relay, 2, "status.waiting", days=99)
    event(relay, 3, "status.idle", days=98)
    run(relay, relay_policy())
    claims = Claims(relay.host, parse(preset("relay").policy), clock=lambda: NOW)
    effect = claims.apply(SCOPE, "e1", "blocked")
    assert ((effect.claimed, effect.mutated), status(relay)) == ((True, False), "waiting")
    assert claims.record(SCOPE, "log", {}, id="new").sequence == 4


def test_bindings_go_a_year_after_their_workspace(relay: Database) -> None:
    rows = [("a", "active", "NULL"), ("b", "terminalized", S - 366 * DAY_S), ("c", "terminalized", S - 364 * DAY_S)]
    for key, state, ended in rows:
        relay.script(
            "INSERT INTO workspace_create_idempotency (owner_scope_hash, idempotency_key_hash, request_digest, workspace_id, status, "
            f"created_at, terminalized_at) VALUES ('o', '{key}', 'd', 'w{key}', '{state}', {S - 800 * DAY_S}, {ended})"
        )
    run(relay, relay_policy())
    assert relay.rows("SELECT workspace_id FROM workspace_create_idempotency ORDER BY 1") == [("wa",), ("wc",)]


def test_the_ledgers_log_ages_in_a_run(jobs: Database) -> None:
    policy = parse(preset("ledger").policy)
    assert policy.events == JOBS.model_copy(update={"keep": 30 * DAY_S * 1000, "stopped_after": 14 * DAY_S * 1000})
    then = Log(jobs.host, policy, clock=lambda: NOW - 40 * DAY_S * 1000)
    for kind in ("outbox.claimed", "job.progressed", "job.requested"):
        then.append(kind, stream="j")
    then.ack("j", 3)
    receipt = run(jobs, policy)
    assert [log.deleted for log in receipt.events] == [2]
    assert jobs.rows("SELECT event FROM delivery_events") == [("job.requested",)]


@pytest.mark.parametrize("name", ["ledger", "relay"])
def test_the_presets_tables_are_what_log_and_claims_need(name: str) -> None:
    connection = apsw.Connection(":memory:")
    connection.execute(preset(name).schema)
    policy = parse(preset(name).policy)
    if policy.events is not None:
        assert Log(SQLite(connection), policy).counts("nobody").total == 0
    if policy.claims is not None:
        assert Claims(SQLite(connection), policy).reuse("owner", {"id": "w", "name": "room"}).created

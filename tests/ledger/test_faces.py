"""`Log` and `Claims`, and their asynchronous twins: each operation does what its engine does, with the clock's time."""

from __future__ import annotations

import asyncio
import inspect
import time

import pytest

from retention.claims import AsyncClaims, Caller, Claims
from retention.errors import PolicyError, Refused
from retention.events import AsyncLog, Log
from retention.ledger.canonical import sha256
from retention.ledger.workspaces import WORKSPACES
from retention.runner.bound import milliseconds
from tests.ledger.databases import JOBS, NOW, Database
from tests.ledger.driving import Awaited
from tests.ledger.relay import RELAY, SCOPE, agent, status, workspace

ALL = RELAY.model_copy(update={"creation": WORKSPACES})


def use(log: Log) -> list[object]:
    first = log.append_once("job.requested", stream="j", payload={"callback_url": "u"})
    log.append("job.progressed", stream="j", at=NOW - 5)
    page = log.list_after("j")
    acked = log.ack("j", page.events[-1].event_id)
    return [first, page, acked, log.counts("j"), log.awaiting(), log.prune(), len(log.advice())]


async def use_async(log: AsyncLog) -> list[object]:
    first = await log.append_once("job.requested", stream="j", payload={"callback_url": "u"})
    await log.append("job.progressed", stream="j", at=NOW - 5)
    page = await log.list_after("j")
    acked = await log.ack("j", page.events[-1].event_id)
    return [first, page, acked, await log.counts("j"), await log.awaiting(), await log.prune(), len(await log.advice())]


def test_both_logs_do_the_same(jobs: Database) -> None:
    one = use(Log(jobs.host, JOBS, clock=lambda: NOW))
    jobs.script("DELETE FROM delivery_events", "DELETE FROM job_event_cursors", "DELETE FROM outbox", "DELETE FROM sqlite_sequence")
    two = asyncio.run(use_async(AsyncLog(Awaited(jobs.host), JOBS, clock=lambda: NOW)))
    assert one == two
    assert one[4].streams == ("j",)  # type: ignore[attr-defined]


def test_both_claims_do_the_same(relay: Database) -> None:
    workspace(relay)
    agent(relay)
    claims = Claims(relay.host, ALL, clock=lambda: NOW)
    event = claims.record(SCOPE, "status.idle", {}, id="e1", key="k")
    assert claims.apply(SCOPE, event.id, "idle").mutated
    made = claims.create(Caller(key="k", owner_key="o"), "digest", {"id": "w2", "name": "two"})
    assert claims.terminalize(made.id)

    async def again() -> None:
        twin = AsyncClaims(Awaited(relay.host), ALL, clock=lambda: NOW)
        replay = await twin.record(SCOPE, "status.idle", {}, id="e2", key="k")
        assert (replay.id, replay.pending) == ("e1", False)
        assert not (await twin.apply(SCOPE, "e1", "idle")).claimed
        other = await twin.create(Caller(key="k2", owner_key="o"), "digest", {"id": "w3", "name": "three"})
        assert sha256(other.secret) == relay.value("SELECT api_key_hash FROM workspaces WHERE id = 'w3'")
        assert await twin.terminalize("w3")

    asyncio.run(again())
    assert status(relay) == "idle"


@pytest.mark.parametrize(("one", "two"), [(Log, AsyncLog), (Claims, AsyncClaims)])
def test_twins_have_the_same_operations(one: type, two: type) -> None:
    def operations(face: type) -> dict[str, list[str]]:
        return {n: list(inspect.signature(f).parameters) for n, f in vars(face).items() if callable(f) and not n.startswith("_")}

    assert operations(one) == operations(two)
    assert operations(one)


def test_tables_that_cannot_hold_a_claim_are_refused(relay: Database) -> None:
    relay.script("DROP INDEX session_events_idempotency_unique")
    claims = Claims(relay.host, ALL)
    with pytest.raises(Refused, match="session_events is not unique by"):
        claims.record(SCOPE, "log", {}, id="e", key="k")


def test_a_binding_that_is_not_unique_is_refused(relay: Database) -> None:
    relay.script(
        "CREATE TABLE loose AS SELECT * FROM workspace_create_idempotency",
        "CREATE INDEX loose_key ON loose (owner_scope_hash, idempotency_key_hash)",
    )
    claims = Claims(relay.host, ALL.model_copy(update={"creation": WORKSPACES.model_copy(update={"binding": "loose"})}))
    with pytest.raises(Refused, match="loose is not unique by"):
        claims.create(Caller(key="k", owner_key="o"), "digest", {"id": "w2", "name": "two"})


def test_claims_without_a_table_to_create_in(relay: Database) -> None:
    with pytest.raises(PolicyError, match="no table to create rows in"):
        Claims(relay.host, RELAY).create(Caller(key="k", owner_key="o"), "digest", {"id": "w"})


def test_the_clock_is_in_milliseconds() -> None:
    assert abs(milliseconds() - time.time() * 1000) < 60_000

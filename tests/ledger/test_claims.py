"""Recording under a key and applying a status. SE-numbers are the relay's own catalogue."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retention.errors import HostError, PolicyError
from retention.ledger.claim_errors import ClaimRefused, ClaimUnreadable
from retention.ledger.record import Recorded, key_hash, record
from retention.ledger.status import STATUSES, Effect, apply, status_of
from retention.policy.ledger_models import Claims
from retention.steps import Batch
from tests.ledger.conftest import HERE
from tests.ledger.databases import NOW, Database
from tests.ledger.driving import drive
from tests.ledger.relay import RELAY, SCOPE, Faulty, S, agent, legacy_event, marker, status, workspace


@pytest.fixture
def one(relay: Database) -> Database:
    """A workspace with an active agent."""
    workspace(relay)
    agent(relay)
    return relay


def write(relay: Database, kind: str = "status.blocked", *, id: str = "e1", scope: tuple[str, str] = SCOPE, **given: Any) -> Recorded:
    """Record an event, under the key `k` unless told otherwise."""
    return relay.do(record(RELAY, scope, kind, given.get("payload") or {}, id=id, now=NOW, key=given.get("key", "k")))


def applied(relay: Database, event: str, kind: str = "status.blocked") -> Effect:
    return relay.do(apply(RELAY, SCOPE, event, status_of(kind, {}), now=NOW))


def test_se_1_an_effect_that_fails_halfway_leaves_nothing(one: Database) -> None:
    event = write(one)
    one.script("CREATE TRIGGER broken BEFORE UPDATE OF status ON agents BEGIN SELECT RAISE(ABORT, 'agent is broken'); END")
    with pytest.raises(HostError, match="agent is broken"):
        applied(one, event.id)
    assert (status(one), marker(one, event.id)) == ("active", False)


def test_se_1_a_marker_that_fails_takes_the_status_back(one: Database) -> None:
    event = write(one)
    one.script("CREATE TRIGGER broken BEFORE UPDATE ON session_events BEGIN SELECT RAISE(ABORT, 'event is broken'); END")
    with pytest.raises(HostError, match="event is broken"):
        applied(one, event.id)
    assert (status(one), marker(one, event.id)) == ("active", False)


def test_se_2_a_crash_before_the_effect_is_found_by_the_replay(one: Database) -> None:
    first = write(one)
    replay = write(one, id="e2")
    assert (first.replayed, first.pending) == (False, True)
    assert (replay.id, replay.replayed, replay.pending) == (first.id, True, True)
    assert applied(one, replay.id) == Effect(claimed=True, mutated=True)
    assert status(one) == "blocked"
    assert write(one, id="e3").pending is False
    assert one.value("SELECT count(*) FROM session_events") == 1


LEGACY = [
    ("SE-3", "blocked", S + 1, (True, False), "blocked"),
    ("SE-4", "active", S - 1, (True, True), "blocked"),
    ("SE-5", "waiting", S + 1, (True, False), "waiting"),
    ("SE-7", "blocked", S, (True, False), "blocked"),
    ("SE-8", "active", S, (True, False), "active"),
    ("older, same status", "blocked", S - 1, (True, False), "blocked"),
    ("no witness", "active", None, (True, False), "active"),
]


@pytest.mark.parametrize(("case", "before", "witness", "effect", "after"), LEGACY, ids=[row[0] for row in LEGACY])
def test_legacy_events(relay: Database, case: str, before: str, witness: int | None, effect: tuple[bool, bool], after: str) -> None:
    workspace(relay)
    agent(relay, status=before, witness=witness)
    legacy_event(relay, at=S)
    assert applied(relay, "e1") == Effect(*effect)
    assert (status(relay), marker(relay, "e1")) == (after, True)


def test_se_6_a_heartbeat_after_a_legacy_event_is_newer(one: Database) -> None:
    """The relay's own trigger moves the witness to the database's clock."""
    legacy_event(one, at=1_000_000_000)
    one.script("UPDATE agents SET last_seen = last_seen + 1")
    assert applied(one, "e1") == Effect(claimed=True, mutated=False)
    assert status(one) == "active"


def test_se_9_of_two_legacy_replays_one_wins(relay: Database) -> None:
    workspace(relay)
    agent(relay, witness=S - 1)
    legacy_event(relay, at=S)
    assert [applied(relay, "e1"), applied(relay, "e1")] == [Effect(True, True), Effect(False, False)]


def test_se_10_one_batch_the_agent_first_then_the_marker(one: Database) -> None:
    event = write(one)
    faulty = Faulty(one.host)
    drive(apply(RELAY, SCOPE, event.id, "blocked", now=NOW), faulty)
    (batch,) = faulty.sent
    assert batch.writes
    assert [s.sql.split()[1] for s in batch.statements] == ['"agents"', '"session_events"']


def test_se_11_an_older_event_is_claimed_and_moves_nothing(one: Database) -> None:
    older, newer = write(one, id="e1", key="k1"), write(one, "status.active", id="e2", key="k2")
    assert applied(one, newer.id, "status.active") == Effect(True, True)
    assert applied(one, older.id) == Effect(claimed=True, mutated=False)
    assert status(one) == "active"


@pytest.mark.parametrize("older_first", [True, False])
def test_se_12_se_13_older_and_newer_in_any_order(one: Database, older_first: bool) -> None:
    events = [(write(one, id="e1", key="k1").id, "status.blocked"), (write(one, "status.active", id="e2", key="k2").id, "status.active")]
    effects = {event: applied(one, event, kind) for event, kind in (events if older_first else reversed(events))}
    assert effects == {"e1": Effect(True, False), "e2": Effect(True, True)}
    assert (status(one), marker(one, "e1"), marker(one, "e2")) == ("active", True, True)


def test_se_14_se_15_a_released_agent_is_not_touched(relay: Database) -> None:
    workspace(relay)
    agent(relay, status="released")
    event = write(relay)
    assert applied(relay, event.id) == Effect(claimed=True, mutated=False)
    assert (status(relay), marker(relay, event.id)) == ("released", True)


def test_se_16_the_effect_is_one_batch_whatever_the_host(one: Database) -> None:
    """A host without atomic batches cannot be written: a batch that writes is atomic by contract, so there is one and no other."""
    engine = apply(RELAY, SCOPE, write(one).id, "blocked", now=NOW)
    step = next(engine)
    assert isinstance(step, Batch)
    with pytest.raises(StopIteration):
        engine.send(list(one.host.execute(step)))


def test_se_17_se_18_two_posts_with_one_key(one: Database) -> None:
    """Both are answered with the event; one of them, and only one, may tell others."""
    posts = [write(one, "status.waiting", id=id) for id in ("e1", "e2")]
    effects = [applied(one, post.id, "status.waiting") for post in reversed(posts)]
    assert [post.id for post in posts] == ["e1", "e1"]
    assert sum(effect.mutated for effect in effects) == 1
    assert (status(one), one.value("SELECT count(*) FROM session_events")) == ("waiting", 1)


@pytest.mark.parametrize(("kind", "payload"), [("status.blocked", {"a": 1}), ("status.idle", None), ("log", None)])
def test_se_19_the_same_key_for_another_request_is_a_conflict(one: Database, kind: str, payload: object) -> None:
    write(one)
    with pytest.raises(ClaimRefused) as refused:
        write(one, kind, id="e2", payload=payload)
    assert (refused.value.code, refused.value.status) == ("idempotency_key_reused", 409)
    assert one.value("SELECT count(*) FROM session_events") == 1


def test_se_20_a_key_counts_within_its_scope(one: Database) -> None:
    workspace(one, "w2")
    agent(one, "a2")
    agent(one, "a3", workspace="w2")
    events = [write(one, id=f"e-{scope}", scope=scope) for scope in (SCOPE, ("w1", "a2"), ("w2", "a3"))]
    assert [event.replayed for event in events] == [False] * 3
    assert [event.sequence for event in events] == [1, 1, 1]


def test_se_21_the_order_of_keys_in_the_payload_does_not_matter(one: Database) -> None:
    first = write(one, "log", payload={"b": [1, {"d": 1, "c": 2}], "a": "é"})
    assert write(one, "log", id="e2", payload={"a": "é", "b": [1, {"c": 2, "d": 1}]}).id == first.id


def test_the_key_is_not_stored(one: Database) -> None:
    write(one, key="my secret key")
    stored = one.rows("SELECT * FROM session_events")[0]
    assert "my secret key" not in map(str, stored)
    assert key_hash("my secret key") in stored


def test_without_a_key_every_call_is_an_event(one: Database) -> None:
    events = [write(one, "log", id=f"e{n}", key=None) for n in range(3)]
    assert [(e.replayed, e.sequence, e.pending) for e in events] == [(False, 1, False), (False, 2, False), (False, 3, False)]


def test_a_clash_of_ids_is_no_replay(one: Database) -> None:
    write(one, id="e1", key="k1")
    with pytest.raises(HostError) as failed:
        write(one, id="e1", key="k2")
    assert failed.value.kind == "constraint"


def test_a_claim_that_cannot_be_read_is_to_be_tried_again(one: Database) -> None:
    one.script(
        "INSERT INTO session_events (id, workspace_id, agent_id, type, idempotency_key_hash, sequence) "
        f"VALUES ('old', 'w1', 'a1', 'log', '{key_hash('k')}', 1)"
    )
    with pytest.raises(ClaimUnreadable) as failed:
        write(one)
    assert (failed.value.code, failed.value.status, failed.value.retryable) == ("idempotency_unavailable", 503, True)


@pytest.mark.parametrize("fault", ["before", "after"])
def test_a_lost_reply_is_answered_with_our_own_event(one: Database, fault: str) -> None:
    faulty = Faulty(one.host, [fault, fault])
    event = drive(record(RELAY, SCOPE, "log", {}, id="e1", now=NOW, key="k"), faulty, sleep=lambda _: None)
    assert (event.id, event.replayed, len(faulty.sent)) == ("e1", False, 3)
    assert one.value("SELECT count(*) FROM session_events") == 1


def test_an_event_without_a_key_is_never_sent_twice_after_a_lost_reply(one: Database) -> None:
    faulty = Faulty(one.host, ["after"])
    with pytest.raises(HostError):
        drive(record(RELAY, SCOPE, "log", {}, id="e1", now=NOW), faulty, sleep=lambda _: None)
    assert len(faulty.sent) == 1


def test_an_event_that_is_not_there_is_not_claimed(one: Database) -> None:
    assert applied(one, "none") == Effect(False, False)
    event = write(one)
    assert one.do(apply(RELAY, ("w1", "a2"), event.id, "blocked", now=NOW)) == Effect(False, False)


def test_an_event_that_names_no_status_is_only_marked(one: Database) -> None:
    event = write(one, "status.changed")
    assert one.do(apply(RELAY, SCOPE, event.id, None, now=NOW)) == Effect(claimed=True, mutated=False)
    assert (status(one), write(one, "status.changed", id="e2").pending) == ("active", False)


@pytest.mark.parametrize(
    ("kind", "payload", "found"),
    [(f"status.{name}", {}, name) for name in STATUSES]
    + [("status.changed", {"status": "idle"}, "idle")]
    + [("status.changed", payload, None) for payload in ({"status": "released"}, {"status": 1}, {})]
    + [(kind, {"status": "idle"}, None) for kind in ("status.other", "log", "statusXidle")],
)  # fmt: skip
def test_the_status_that_an_event_names(kind: str, payload: dict[str, object], found: str | None) -> None:
    assert status_of(kind, payload) == found


BOTH = (False, True)
TRUTH = list(product(["NULL", "set", "absent"], BOTH, BOTH, BOTH, ["older", "equal", "newer", "none"], BOTH))


def truth(event: str, released: bool, newer: bool, legacy: bool, witness: str, same: bool) -> Effect:
    """The relay's table, row by row."""
    if event != "NULL":
        return Effect(False, False)
    if released or newer:
        return Effect(True, False)
    return Effect(True, not legacy or (witness == "older" and not same))


@pytest.mark.parametrize("connect", HERE, indirect=True)
def test_the_truth_table(relay: Database) -> None:
    workspace(relay)
    witnesses = {"older": S - 1, "equal": S, "newer": S + 1, "none": None}
    for event, released, newer, legacy, witness, same in TRUTH:
        relay.script("DELETE FROM session_events", "DELETE FROM agents")
        before = "released" if released else "blocked" if same else "active"
        agent(relay, status=before, witness=witnesses[witness])
        if event != "absent":
            legacy_event(relay, at=S)
            relay.script(f"UPDATE session_events SET status_legacy_pending = {legacy:d}")
        if event == "set":
            relay.script("UPDATE session_events SET status_applied_at = 1")
        if newer:
            legacy_event(relay, at=S, id="e2", sequence=2, kind="status.idle")
        expected = truth(event, released, newer, legacy, witness, same)
        assert applied(relay, "e1") == expected, (event, released, newer, legacy, witness, same)
        assert status(relay) == ("blocked" if expected.mutated else before)


def test_only_events_that_move_a_status_are_newer(one: Database) -> None:
    event = write(one)
    for n, kind in enumerate(("log", "statusy.x", "status/x", "STATUS.idle")):
        write(one, kind, id=f"f{n}", key=None)
    assert applied(one, event.id).mutated


@pytest.mark.parametrize("connect", HERE, indirect=True)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(order=st.permutations(range(5)), kinds=st.lists(st.sampled_from(STATUSES), min_size=5, max_size=5))
def test_in_whatever_order_events_are_applied_the_newest_decides(relay: Database, order: list[int], kinds: list[str]) -> None:
    relay.script("DELETE FROM session_events", "DELETE FROM agents", "DELETE FROM workspaces")
    workspace(relay)
    agent(relay, status="starting")
    for n, name in enumerate(kinds):
        write(relay, f"status.{name}", id=f"e{n}", key=f"k{n}")
    effects = {n: applied(relay, f"e{n}", f"status.{kinds[n]}") for n in order}
    assert effects == {n: Effect(True, n == 4) for n in range(5)}
    assert status(relay) == kinds[4]


@pytest.mark.parametrize("scope", [(), ("w1",), ("w1", "a1", "x")])
def test_a_scope_of_another_shape_is_refused(one: Database, scope: tuple[str, ...]) -> None:
    with pytest.raises(PolicyError, match="workspace_id, agent_id"):
        one.do(record(RELAY, scope, "log", {}, id="e", now=NOW))


def test_what_the_policy_does_not_name_is_refused(one: Database) -> None:
    for engine in (
        record(Claims(), SCOPE, "log", {}, id="e", now=NOW),
        apply(RELAY.model_copy(update={"status": None}), SCOPE, "e", "idle", now=NOW),
    ):
        with pytest.raises(PolicyError, match="claims"):
            one.do(engine)

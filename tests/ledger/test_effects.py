"""A caller that tells others of a status, in the batch that moves it. SE-numbers are the relay's own catalogue."""

from __future__ import annotations

from itertools import permutations

import pytest

from retention.errors import HostError
from retention.ledger.record import record
from retention.ledger.rows import Row
from retention.ledger.status import Effect, apply, status_of
from tests.ledger.databases import NOW, Database
from tests.ledger.driving import drive
from tests.ledger.relay import RELAY, SCOPE, Faulty, S, agent, legacy_event, marker, status, workspace


@pytest.fixture
def told(relay: Database) -> Database:
    """An agent, and an outbox beside the workspace's events."""
    workspace(relay)
    agent(relay)
    relay.script("CREATE TABLE outbox (id TEXT PRIMARY KEY, body TEXT NOT NULL)")
    return relay


def post(relay: Database, n: int, *, kind: str = "status.waiting", key: str = "k") -> tuple[str, list[Row]]:
    """Record the event; what the caller would tell others once it takes effect."""
    event = relay.do(record(RELAY, SCOPE, kind, {}, id=f"e{n}", now=NOW, key=key))
    happened = {"workspace_id": "w1", "seq": n, "type": f"agent.{kind}", "payload": event.payload}
    return event.id, [Row("workspace_events", "seq", happened), Row("outbox", "id", {"id": f"o{n}", "body": event.id})]


def take_effect(relay: Database, event: str, effects: list[Row], kind: str = "status.waiting") -> Effect:
    return relay.do(apply(RELAY, SCOPE, event, status_of(kind, {}), now=NOW, effects=effects))


def tally(relay: Database) -> tuple[int, int]:
    """Workspace events, outbox rows."""
    return relay.rows("SELECT (SELECT count(*) FROM workspace_events), count(*) FROM outbox")[0]


def test_se_15_a_released_agent_tells_nobody(told: Database) -> None:
    told.script("UPDATE agents SET status = 'released'")
    event, effects = post(told, 1)
    assert take_effect(told, event, effects) == Effect(True, False)
    assert (tally(told), marker(told, event)) == ((0, 0), True)


def test_se_16_all_of_it_is_one_batch(told: Database) -> None:
    """The relay refuses a handle that cannot write atomically; a batch that writes is atomic by contract."""
    event, effects = post(told, 1)
    faulty = Faulty(told.host)
    assert drive(apply(RELAY, SCOPE, event, "waiting", now=NOW, effects=effects), faulty).mutated
    assert [(b.writes, b.repeatable, len(b.statements)) for b in faulty.sent] == [(True, False, 4)]
    assert tally(told) == (1, 1)


@pytest.mark.parametrize("order", list(permutations((0, 1))))
def test_se_17_se_18_two_posts_under_one_key_tell_once(told: Database, order: tuple[int, int]) -> None:
    posts = [post(told, 1), post(told, 2)]
    assert posts[0][0] == posts[1][0]
    effects = [take_effect(told, *posts[n]) for n in order]
    assert [(e.claimed, e.mutated) for e in effects] == [(True, True), (False, False)]
    assert tally(told) == (1, 1)
    assert told.value("SELECT type FROM workspace_events") == "agent.status.waiting"
    assert status(told) == "waiting"


def test_an_event_that_is_overtaken_tells_nobody(told: Database) -> None:
    older, newer = post(told, 1, key="a"), post(told, 2, kind="status.idle", key="b")
    assert take_effect(told, *newer, kind="status.idle").mutated
    assert take_effect(told, *older) == Effect(True, False)
    assert told.rows("SELECT body FROM outbox") == [("e2",)]


def test_a_legacy_event_that_moves_nothing_tells_nobody(told: Database) -> None:
    legacy_event(told, at=S, kind="status.waiting")
    effects = [Row("outbox", "id", {"id": "o", "body": "b"})]
    assert take_effect(told, "e1", effects) == Effect(True, False)
    assert tally(told) == (0, 0)


def test_an_effect_that_cannot_be_written_takes_the_status_back(told: Database) -> None:
    event, effects = post(told, 1)
    told.script("INSERT INTO outbox VALUES ('o1', 'taken')")
    with pytest.raises(HostError):
        take_effect(told, event, effects)
    assert (status(told), marker(told, event), tally(told)) == ("active", False, (0, 1))
    assert take_effect(told, event, effects[:1]).mutated


def test_an_event_without_a_status_tells_nobody(told: Database) -> None:
    event, effects = post(told, 1, kind="status.changed")
    assert take_effect(told, event, effects, kind="status.changed") == Effect(True, False)
    assert tally(told) == (0, 0)

"""Creating once for each key. WB-numbers are the relay's own catalogue."""

from __future__ import annotations

import re

import pytest

from retention.errors import HostError, PolicyError, Refused
from retention.ledger.canonical import sha256
from retention.ledger.claim_errors import ClaimRefused, ClaimUnreadable
from retention.ledger.creation import Caller, Created, child_secret, create, terminalize
from retention.ledger.reuse import reuse
from retention.ledger.workspaces import WORKSPACES, Workspace, create_workspace, workspace_digest
from tests.ledger.databases import NOW, Database
from tests.ledger.driving import drive
from tests.ledger.relay import Faulty

KEY = "x" * 32
OWNER = Caller(key="job-1", owner_key="rk_live_owner")
ANYONE = Caller(key=KEY, secret="deployment")
ROOM = Workspace("room")


def make(relay: Database | Faulty, caller: Caller = OWNER, request: Workspace = ROOM, *, n: int = 1) -> Created:
    host = relay if isinstance(relay, Faulty) else relay.host
    return drive(create_workspace(caller, request, id=f"w{n}", channel=f"c{n}", now=NOW), host, sleep=lambda _: None)


def code(relay: Database | Faulty, caller: Caller = OWNER, request: Workspace = ROOM, *, n: int = 2) -> tuple[int, str]:
    with pytest.raises((ClaimRefused, ClaimUnreadable)) as refused:
        make(relay, caller, request, n=n)
    return refused.value.status, refused.value.code


def tally(relay: Database) -> tuple[int, int, int]:
    """Workspaces, channels, bindings."""
    return relay.rows(
        "SELECT (SELECT count(*) FROM workspaces), (SELECT count(*) FROM channels), count(*) FROM workspace_create_idempotency"
    )[0]


def test_wb_1_a_first_batch_that_fails_in_passing(relay: Database) -> None:
    faulty = Faulty(relay.host, ["before"])
    assert make(faulty).created
    assert (len(faulty.sent), tally(relay)) == (2, (1, 1, 1))
    assert relay.rows("SELECT name FROM channels WHERE workspace_id = 'w1'") == [("general",)]


def test_wb_2_a_channel_that_cannot_be_made_leaves_nothing(relay: Database) -> None:
    relay.script("CREATE TRIGGER full BEFORE INSERT ON channels BEGIN SELECT RAISE(ABORT, 'no channels'); END")
    with pytest.raises(HostError, match="no channels"):
        make(relay)
    assert tally(relay) == (0, 0, 0)


@pytest.mark.parametrize("table", ["channels", "workspace_create_idempotency"])
def test_a_trigger_that_ignores_a_part_in_silence_leaves_nothing(relay: Database, table: str) -> None:
    """Without its binding a workspace would be made once more by each replay."""
    relay.script(f"CREATE TRIGGER quiet BEFORE INSERT ON {table} BEGIN SELECT RAISE(IGNORE); END")
    for _ in range(2):
        with pytest.raises(Refused, match="a trigger keeps a row"):
            make(relay)
        assert tally(relay) == (0, 0, 0)
    relay.script("DROP TRIGGER quiet")
    assert (make(relay).created, tally(relay)) == (True, (1, 1, 1))


def test_wb_3_everything_is_in_one_batch(relay: Database) -> None:
    """The relay refuses a handle that cannot write atomically; a batch that writes is atomic by contract."""
    faulty = Faulty(relay.host)
    make(faulty)
    assert [(b.writes, b.repeatable, len(b.statements)) for b in faulty.sent] == [(True, True, 5)]


@pytest.mark.parametrize(("case", "workspace", "channel"), [("WB-4", "w2", "c9"), ("WB-5", "w9", "c2")])
def test_a_generated_id_that_is_taken(relay: Database, case: str, workspace: str, channel: str) -> None:
    relay.script(
        f"INSERT INTO workspaces (id, name, api_key_hash) VALUES ('{workspace}', 'old', 'h')",
        f"INSERT INTO channels (id, workspace_id, name) VALUES ('{channel}', '{workspace}', 'old')",
    )
    assert code(relay) == (500, "id_collision")
    assert tally(relay) == (1, 1, 0)
    assert relay.rows("SELECT name FROM workspaces UNION ALL SELECT name FROM channels") == [("old",), ("old",)]


def test_an_id_that_a_binding_remembers_is_taken_too(relay: Database) -> None:
    make(relay)
    relay.do(terminalize(WORKSPACES, "w1", now=NOW))
    assert code(relay, Caller(key="job-2", owner_key="other"), n=1) == (500, "id_collision")


def test_wb_6_a_lost_reply_makes_one_pair(relay: Database) -> None:
    faulty = Faulty(relay.host, ["after"])
    assert make(faulty).created
    assert (len(faulty.sent), tally(relay)) == (2, (1, 1, 1))


@pytest.mark.parametrize(("case", "caller", "secret"), [("WB-7", OWNER, "rk_live_owner"), ("WB-8", ANYONE, "deployment")])
def test_the_secret_is_derived_and_revealed_again_and_never_stored(relay: Database, case: str, caller: Caller, secret: str) -> None:
    first = make(Faulty(relay.host, ["after"]), caller)
    replay = make(relay, caller, n=2)
    assert (first.created, replay.created) == (True, False)
    assert (replay.id, replay.secret) == (first.id, first.secret)
    assert re.fullmatch("rk_live_[0-9a-f]{32}", first.secret)
    assert first.secret == child_secret(secret, caller.key, workspace_digest(ROOM))
    stored = [
        str(v) for table in ("workspaces", "workspace_create_idempotency") for row in relay.rows(f"SELECT * FROM {table}") for v in row
    ]
    assert sha256(first.secret) in stored
    assert not {first.secret, caller.key, secret} & set(stored)
    assert first.secret not in repr(first) + repr(caller)


def test_wb_9_scopes_are_apart_and_another_digest_is_a_conflict(relay: Database) -> None:
    owner = make(relay, Caller(key=KEY, owner_key="o"), n=1)
    anyone = make(relay, ANYONE, n=2)
    assert (owner.created, anyone.created, owner.id == anyone.id) == (True, True, False)
    assert code(relay, ANYONE, Workspace("other"), n=3) == (409, "idempotency_conflict")
    assert tally(relay) == (2, 2, 2)


@pytest.mark.parametrize(("given", "allowed"), [(None, False), ("", False), ("wrong", False), ("é", False), ("deployment", True)])
def test_wb_11_proof(relay: Database, given: str | None, allowed: bool) -> None:
    caller = Caller(key=KEY, secret="deployment", proof=given, needs_proof=True)
    if allowed:
        assert make(relay, caller).created
    else:
        assert code(relay, caller) == (401, "bootstrap_secret_invalid")
        assert tally(relay) == (0, 0, 0)


@pytest.mark.parametrize("key", ["", "a", "job-123", "bootstrap:run-1", "x" * 31, "é" * 31])
def test_wb_12_a_key_without_an_owner_must_be_long(relay: Database, key: str) -> None:
    assert code(relay, Caller(key=key, secret="deployment")) == (400, "idempotency_key_too_weak")
    assert tally(relay) == (0, 0, 0)


@pytest.mark.parametrize("key", ["x" * 32, "😀" * 16])
def test_wb_12_thirty_two_units_are_enough(relay: Database, key: str) -> None:
    assert make(relay, Caller(key=key, secret="deployment")).created


def test_wb_13_another_callers_row_under_our_key(relay: Database) -> None:
    theirs = make(relay, n=1)
    ours = make(relay, n=2)
    assert ours == Created(False, theirs.id, theirs.secret)


def test_wb_14_what_cannot_be_read_back_is_to_be_tried_again(relay: Database) -> None:
    faulty = Faulty(relay.host, ["after"] * 5 + ["before"] * 5)
    assert code(faulty, n=1) == (503, "readback_unavailable")
    assert make(relay, n=1).created


def test_wb_14_writes_that_never_arrived(relay: Database) -> None:
    faulty = Faulty(relay.host, ["before"] * 5)
    assert code(faulty) == (503, "readback_unavailable")
    assert tally(relay) == (0, 0, 0)


def test_wb_15_the_order_of_provenance_and_metadata_does_not_matter() -> None:
    one = Workspace("n", {"b": 1, "a": {"d": 1, "c": 2}}, 60, {"source": "cli", "origin_id": "o", "classification": "internal"})
    two = Workspace("n", {"a": {"c": 2, "d": 1}, "b": 1}, 60, {"classification": "internal", "origin_id": "o", "source": "cli"})
    assert workspace_digest(one) == workspace_digest(two)
    text = (
        '{"name":"n","metadata":{"a":{"c":2,"d":1},"b":1},"expires_in_seconds":60,'
        '"provenance":{"source":"cli","origin_id":"o","classification":"internal"}}'
    )
    assert workspace_digest(one) == sha256(text)
    assert workspace_digest(Workspace("n")) == sha256('{"name":"n"}')


def test_wb_16_a_key_whose_row_was_deleted_makes_no_other(relay: Database) -> None:
    first = make(relay)
    relay.script(f"INSERT INTO workspace_events (workspace_id, seq, type, payload, created_at) VALUES ('{first.id}', 1, 't', '{{}}', 1)")
    assert relay.do(terminalize(WORKSPACES, first.id, now=NOW, first=[("workspace_events", "workspace_id")]))
    assert code(relay) == (409, "idempotency_terminalized")
    assert tally(relay) == (0, 0, 1)
    assert relay.rows("SELECT count(*) FROM workspace_events") == [(0,)]
    assert relay.rows("SELECT status, terminalized_at FROM workspace_create_idempotency") == [("terminalized", NOW // 1000)]
    assert not relay.do(terminalize(WORKSPACES, first.id, now=NOW + 5_000))
    assert relay.value("SELECT terminalized_at FROM workspace_create_idempotency") == NOW // 1000


def test_wb_17_retries_that_run_out_after_the_commit(relay: Database) -> None:
    faulty = Faulty(relay.host, ["after"] * 3)
    assert make(faulty).created
    assert [batch.writes for batch in faulty.sent] == [True] * 3 + [False]
    assert tally(relay) == (1, 1, 1)


def test_wb_18_an_error_that_will_not_pass_is_raised_at_once(relay: Database) -> None:
    faulty = Faulty(relay.host, ["refused"])
    with pytest.raises(HostError, match="no such table"):
        make(faulty)
    assert len(faulty.sent) == 1


@pytest.mark.parametrize("change", ["DELETE FROM workspaces", "UPDATE workspaces SET api_key_hash = 'rotated'"])
def test_a_row_that_is_gone_or_has_another_secret_is_unusable(relay: Database, change: str) -> None:
    make(relay)
    relay.script(change)
    assert code(relay) == (409, "idempotency_unusable")


@pytest.mark.parametrize(
    ("caller", "request_", "answer"),
    [
        (Caller(key="", owner_key="o", owner_hash="x"), Workspace("n", 5), (400, "invalid_owner_api_key_hash")),
        (Caller(key=""), Workspace("n", [1]), (400, "invalid_metadata")),
        (Caller(key="short"), ROOM, (400, "idempotency_key_too_weak")),
        (Caller(key=KEY, needs_proof=True), ROOM, (503, "idempotency_unavailable")),
        (Caller(key=KEY, secret="s", needs_proof=True), ROOM, (401, "bootstrap_secret_invalid")),
        (Caller(key=KEY, owner_hash="h"), ROOM, (401, "idempotency_owner_required")),
    ],
)
def test_each_check_comes_in_its_place_and_before_the_database(caller: Caller, request_: Workspace, answer: tuple[int, str]) -> None:
    with pytest.raises(ClaimRefused) as refused:
        next(create_workspace(caller, request_, id="w", channel="c", now=NOW))
    assert (refused.value.status, refused.value.code) == answer


def test_values_without_an_id_or_a_name_are_refused_with_a_sentence(relay: Database) -> None:
    with pytest.raises(PolicyError, match="give a new one as 'id'"):
        relay.do(create(WORKSPACES, OWNER, "digest", {"name": "room"}, now=NOW))
    with pytest.raises(PolicyError, match="give a new one as 'id'"):
        relay.do(reuse(WORKSPACES, "rk_live_owner", {"id": None, "name": "room"}, now=NOW))
    with pytest.raises(PolicyError, match="give it as 'name'"):
        relay.do(reuse(WORKSPACES, "rk_live_owner", {"id": "w1"}, now=NOW))
    assert tally(relay) == (0, 0, 0)


def test_an_owner_may_send_the_hash_beside_the_key(relay: Database) -> None:
    assert make(relay, Caller(key="k", owner_key="o", owner_hash=sha256("o"))).created

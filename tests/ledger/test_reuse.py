"""Creation without a key: the owner's own row, found by its name."""

from __future__ import annotations

import pytest

from retention.claims import Claims, Row
from retention.errors import PolicyError
from retention.ledger.canonical import sha256
from retention.ledger.claim_errors import ClaimRefused, ClaimUnreadable
from retention.ledger.creation import Created
from retention.ledger.reuse import reuse
from retention.ledger.workspaces import WORKSPACES
from retention.policy.ledger_models import Claims as Tables
from retention.policy.ledger_models import Stamp
from retention.policy.models import Policy
from tests.ledger.databases import NOW, Database
from tests.ledger.driving import drive
from tests.ledger.relay import Faulty

EXPIRING = WORKSPACES.model_copy(update={"expires": Stamp(column="expires_at", format="unix_s")})


def make(
    relay: Database | Faulty, n: int = 1, *, called: str = "room", owner: str = "o", now: int = NOW, expires: int | None = None
) -> Created:
    host = relay if isinstance(relay, Faulty) else relay.host
    general = Row("channels", "id", {"id": f"c{n}", "workspace_id": f"w{n}", "name": "general"})
    values = {"id": f"w{n}", "name": called, "expires_at": expires}
    return drive(reuse(EXPIRING, owner, values, (general,), now=now), host, sleep=lambda _: None)


def tally(relay: Database) -> tuple[int, int]:
    return relay.rows("SELECT (SELECT count(*) FROM workspaces), count(*) FROM channels")[0]


def test_the_second_call_finds_the_first_ones_row(relay: Database) -> None:
    assert make(relay) == Created(True, "w1", "o")
    assert make(relay, 2) == Created(False, "w1", "o")
    assert tally(relay) == (1, 1)
    assert relay.value("SELECT api_key_hash FROM workspaces") == sha256("o")


def test_each_owner_has_a_row_of_the_name(relay: Database) -> None:
    assert (make(relay).created, make(relay, 2, owner="p").created) == (True, True)
    assert tally(relay) == (2, 2)


def test_another_name_an_expired_row_and_a_taken_id_are_refused(relay: Database) -> None:
    make(relay, expires=NOW // 1000 + 1)
    cases = [
        ("owner_key_in_use", {"called": "other"}),
        ("owner_row_expired", {"now": NOW + 1_000}),
        ("id_collision", {"owner": "p", "n": 1}),
    ]
    for code, arguments in cases:
        with pytest.raises(ClaimRefused) as refused:
            make(relay, **{"n": 2, **arguments})  # type: ignore[arg-type]
        assert refused.value.code == code
    assert tally(relay) == (1, 1)


def test_a_lost_reply_is_sent_again_and_is_still_our_own_row(relay: Database) -> None:
    faulty = Faulty(relay.host, ["after"])
    assert make(faulty).created
    assert (len(faulty.sent), tally(relay)) == (2, (1, 1))


def test_when_every_reply_is_lost_nobody_can_tell(relay: Database) -> None:
    with pytest.raises(ClaimUnreadable) as failed:
        make(Faulty(relay.host, ["after"] * 9))
    assert (failed.value.code, failed.value.retryable) == ("readback_unavailable", True)
    assert not make(relay, 2).created


def test_the_face_makes_it_too_and_needs_a_table(relay: Database) -> None:
    tables = Tables(creation=EXPIRING)
    made = Claims(relay.host, Policy(claims=tables), clock=lambda: NOW).reuse("o", {"id": "w9", "name": "room"})
    assert (made.created, made.id) == (True, "w9")
    with pytest.raises(PolicyError, match=r"\[claims\]"):
        Claims(relay.host, Policy())
    with pytest.raises(PolicyError, match="no table to create rows in"):
        Claims(relay.host, Tables()).reuse("o", {"id": "w"})

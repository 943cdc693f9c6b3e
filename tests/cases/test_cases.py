from __future__ import annotations

from typing import Any

import apsw
import pytest

from retention.errors import PolicyError
from retention.policy.load import parse
from tests.naive import keys, settle

from .cases import CASES, NOW, Case

RUN = [c for c in CASES if c.outcome in ("done", "failed")]
READ = [c for c in CASES if not c.seen_in_file]
REFUSED = [c for c in CASES if c.seen_in_file]


def database(case: Case) -> apsw.Connection:
    db = apsw.Connection(":memory:")
    db.execute(case.setup)
    return db


def left(db: apsw.Connection, case: Case) -> dict[str, set[Any]]:
    found = {t: keys(db, t) for t in case.left}
    return {t: {k[0] if len(k) == 1 else k for k in rows} for t, rows in found.items()}


def test_ids_are_unique() -> None:
    assert len({c.id for c in CASES}) == len(CASES)


@pytest.mark.parametrize("case", RUN, ids=[c.id for c in RUN])
def test_the_expectation_follows_from_the_policy(case: Case) -> None:
    """By row-at-a-time judgement, so that a wrong table is told apart from a wrong engine."""
    db = database(case)
    deleted = settle(db, case.policy, NOW)
    assert left(db, case) == case.left
    assert case.counts.get("deleted") == sum(deleted.values())


@pytest.mark.parametrize("case", [c for c in CASES if c.outcome in ("refused", "policy")], ids=lambda c: c.id)
def test_a_refused_policy_had_something_to_lose(case: Case) -> None:
    assert left(database(case), case) == case.left != {t: set() for t in case.left}


@pytest.mark.parametrize("case", REFUSED, ids=[c.id for c in REFUSED])
def test_a_wrong_policy_is_refused_when_it_is_read(case: Case) -> None:
    with pytest.raises(PolicyError) as caught:
        parse(case.policy, "retention.toml")
    assert case.message in str(caught.value)


@pytest.mark.parametrize("case", READ, ids=[c.id for c in READ])
def test_the_other_policies_are_read(case: Case) -> None:
    assert parse(case.policy).rules

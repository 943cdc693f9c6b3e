from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest

import retention

from .cases import CASES, NOW, Case
from .test_cases import database, left


@pytest.fixture(params=["UTC", "America/Los_Angeles", "Asia/Tokyo"])
def zone(request: pytest.FixtureRequest) -> Iterator[str]:
    before = os.environ.get("TZ")
    os.environ["TZ"] = request.param
    time.tzset()
    yield request.param
    if before is None:
        del os.environ["TZ"]
    else:
        os.environ["TZ"] = before
    time.tzset()


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_case(case: Case) -> None:
    db = database(case)
    if case.outcome == "policy":
        with pytest.raises(retention.PolicyError) as caught:
            retention.run(db, case.policy, now=NOW, until_done=True)
        said, status = str(caught.value), caught.value.exit_status
    else:
        receipt = retention.run(db, case.policy, now=NOW, until_done=True)
        assert receipt.outcome == case.outcome, receipt.warnings
        said, status = " ".join([*receipt.warnings, *(r.error or "" for r in receipt.rules)]), receipt.exit_status
        assert {name: sum(getattr(r, name) for r in receipt.rules) for name in case.counts} == case.counts
    assert left(db, case) == case.left
    assert case.message in said
    assert status == case.exit_status


@pytest.mark.parametrize("case", [c for c in CASES if "time zone" in c.id or "T and Z" in c.id], ids=lambda c: c.id)
def test_the_zone_of_the_process_plays_no_part(case: Case, zone: str) -> None:
    db = database(case)
    assert retention.run(db, case.policy, now=NOW).deleted == case.counts["deleted"], zone
    assert left(db, case) == case.left


@pytest.mark.parametrize("case", [c for c in CASES if c.outcome == "done"], ids=lambda c: c.id)
def test_a_second_run_finds_nothing(case: Case) -> None:
    db = database(case)
    retention.run(db, case.policy, now=NOW, until_done=True)
    again = retention.run(db, case.policy, now=NOW, until_done=True)
    assert (again.outcome, again.deleted) == ("done", 0)

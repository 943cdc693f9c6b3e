"""The catalogue on every host: the same rows as on a file, and a receipt that says the same."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import retention
from tests.d1.fixtures import Servers
from tests.places import PLACES, Place, opened, said

from .catalogue import CASES, Case
from .relay import KEYS

NO_HURRY = {"deadline": "10m"}
KEPT_WHOLE = [c for c in CASES if c.keeps and not list(c.database()[0].execute("PRAGMA foreign_key_check"))]
"""Remote hosts always enforce foreign keys, so there can be no receipts without their message."""


@pytest.fixture(scope="module", params=PLACES)
def place(request: pytest.FixtureRequest, d1_server: Servers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with opened(request.param, d1_server, tmp_path_factory.mktemp("place")) as found:
        yield found


@pytest.mark.parametrize("case", KEPT_WHOLE, ids=[c.id for c in KEPT_WHOLE])
def test_the_rows_that_the_catalogue_says_are_left(case: Case, place: Place) -> None:
    db, left = case.database()
    place.load(db)
    receipt = retention.run(place.host, case.policy, now=case.now, until_done=True, limits=NO_HURRY)
    assert (receipt.outcome, receipt.why) == ("done", "finished"), receipt.warnings
    for table, keys in left.items():
        rows = place.beside.execute(f"SELECT {', '.join(KEYS[table])} FROM {table}").fetchall()
        assert {r[0] if len(r) == 1 else tuple(r) for r in rows} == keys
    here = retention.run(db, case.policy, now=case.now, until_done=True, limits=NO_HURRY)
    assert said(receipt) == said(here)


def test_a_cascade_that_a_remote_host_cannot_measure_is_refused(place: Place) -> None:
    """An agent takes its actions with it, and those change invocations: two levels."""
    case = next(c for c in CASES if c.id == "AR-1")
    place.load(case.database()[0])
    receipt = retention.run(place.host, case.policy, now=case.now, limits=NO_HURRY)
    assert (receipt.outcome, receipt.why, receipt.exit_status) == ("refused", "schema", 4)
    assert "more than one level" in receipt.warnings[0]
    assert len(place.beside.execute("SELECT id FROM agents").fetchall()) == 4

"""The catalogue on real D1: the same rows as on a file."""

from __future__ import annotations

import pytest

import retention
from tests.d1.fixtures import Database

from .catalogue import CASES, Case
from .relay import KEYS
from .script import script

NO_HURRY = {"deadline": "10m"}
KEPT_WHOLE = [c for c in CASES if c.keeps and not list(c.database()[0].execute("PRAGMA foreign_key_check"))]
"""D1 always enforces foreign keys, so there can be no receipts without their message."""


@pytest.mark.parametrize("case", KEPT_WHOLE, ids=[c.id for c in KEPT_WHOLE])
def test_the_rows_that_the_catalogue_says_are_left(case: Case, d1: Database) -> None:
    db, left = case.database()
    d1.setup(*script(db))
    with d1.host() as host:
        receipt = retention.run(host, case.policy, now=case.now, until_done=True, limits=NO_HURRY)
    assert (receipt.outcome, receipt.why) == ("done", "finished"), receipt.warnings
    for table, keys in left.items():
        rows = d1.rows(f"SELECT {', '.join(KEYS[table])} FROM {table}")
        assert {r[0] if len(r) == 1 else tuple(r) for r in rows} == keys


def test_a_cascade_that_d1_cannot_measure_is_refused(d1: Database) -> None:
    """An agent takes its actions with it, and those change invocations: two levels."""
    case = next(c for c in CASES if c.id == "AR-1")
    db, _ = case.database()
    d1.setup(*script(db))
    with d1.host() as host:
        receipt = retention.run(host, case.policy, now=case.now, limits=NO_HURRY)
    assert (receipt.outcome, receipt.why, receipt.exit_status) == ("refused", "schema", 4)
    assert "more than one level" in receipt.warnings[0]
    assert len(d1.rows("SELECT id FROM agents")) == 4

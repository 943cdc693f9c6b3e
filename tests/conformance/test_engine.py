from __future__ import annotations

from pathlib import Path

import apsw
import pytest

import retention
from retention.presets.relay.sample import NOW, make_sample, sample_policy

from .catalogue import CASES, Case
from .relay import Keeps, expected_left, policy, rows_left

NO_HURRY = {"deadline": "10m"}


@pytest.mark.parametrize("mode", ['mode = "range"', 'mode = "chunk"', "mode = { chunk = 10 }\npage_rows = 200"])
@pytest.mark.parametrize("case", CASES, ids=[c.id for c in CASES])
def test_the_rows_that_the_catalogue_says_are_left(case: Case, mode: str) -> None:
    db, left = case.database()
    policy = case.policy.replace("page_rows = 1000\n", "").replace("[[rules]]\n", f"[[rules]]\n{mode}\n")
    receipt = retention.run(db, policy, now=case.now, until_done=True)
    assert (receipt.outcome, receipt.why) == ("done", "finished"), receipt.warnings
    assert rows_left(db, tuple(left)) == left
    assert {row[0] for row in db.execute("PRAGMA foreign_key_check")} == set()


@pytest.mark.parametrize("mode", ['"range"', '"chunk"'])
def test_the_sample_ends_as_computed(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "sample.db"
    make_sample(path, rows=6_000, tenants=14)
    left = expected_left(apsw.Connection(str(path)), NOW, Keeps(holds=True))
    text = sample_policy().replace("[[rules]]\n", f"[[rules]]\nmode = {mode}\n")
    receipt = retention.run(path, text, now=NOW, until_done=True, limits=NO_HURRY)
    assert receipt.outcome == "done", receipt.warnings
    db = apsw.Connection(str(path))
    assert rows_left(db) == left
    named = {r.rule: r.malformed_tenants for r in receipt.rules}
    assert named["deliveries"] == ["ws_0010", "ws_0011"]
    assert named["messages"] == ["ws_0010"]
    assert sum(r.held for r in receipt.rules) > 0
    db.execute("INSERT INTO messages_fts (messages_fts, rank) VALUES ('integrity-check', 1)")


def test_fifty_statements_a_run_reach_the_same_rows(tmp_path: Path) -> None:
    path, store = tmp_path / "sample.db", retention.MemoryStore()
    make_sample(path, rows=3_000, tenants=12)
    left = expected_left(apsw.Connection(str(path)), NOW)
    for _ in range(100):
        receipt = retention.run(path, policy(Keeps()), store=store, now=NOW, limits={"statements": 50} | NO_HURRY)
        assert receipt.statements.used <= 50
        assert receipt.outcome in ("done", "more")
        if receipt.outcome == "done" and receipt.deleted == 0:
            break
    assert rows_left(apsw.Connection(str(path))) == left

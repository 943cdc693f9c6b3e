"""A lease: one caller works, a caller that lost it deletes nothing more."""

from __future__ import annotations

from typing import Any

import apsw
import pytest

import retention
from retention.steps import Batch

NOW = "2026-01-01T00:00:00Z"
LEASE = "CREATE TABLE lease (name TEXT PRIMARY KEY NOT NULL, owner TEXT NOT NULL, until INTEGER NOT NULL)"


def policy(**rule: Any) -> dict[str, Any]:
    age = {"column": "at", "format": "unix_s"}
    return {
        "version": 1,
        "lease": {"table": "lease", "ttl": "2m"},
        "rules": [{"table": "e", "keep": "30d", "age": age, "page_rows": 10} | rule],
    }


@pytest.fixture
def db() -> apsw.Connection:
    con = apsw.Connection("")
    con.execute("CREATE TABLE e (id INTEGER PRIMARY KEY, at INTEGER)")
    con.execute(
        "WITH RECURSIVE n (v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 100) INSERT INTO e SELECT v, 1700000000 + v FROM n"
    )
    return con


def test_without_its_table_the_run_is_refused_with_the_statement_that_makes_it(db: apsw.Connection) -> None:
    receipt = retention.run(db, policy(), now=NOW)
    assert (receipt.outcome, receipt.why, receipt.deleted) == ("refused", "policy", 0)
    db.execute(receipt.warnings[-1].split("with: ")[1].rstrip("."))
    assert retention.run(db, policy(), now=NOW).deleted == 100


def test_it_is_given_back(db: apsw.Connection) -> None:
    db.execute(LEASE)
    assert retention.run(db, policy(), now=NOW).outcome == "done"
    assert db.execute("SELECT * FROM lease").fetchall() == []


@pytest.mark.parametrize(("left", "outcome", "deleted"), [(50, "busy", 0), (0, "done", 100), (-5, "done", 100)])
def test_anothers_lease_counts_until_it_runs_out(db: apsw.Connection, left: int, outcome: str, deleted: int) -> None:
    db.execute(LEASE)
    db.execute("INSERT INTO lease VALUES ('retention', 'another', unixepoch() + ?)", (left,))
    receipt = retention.run(db, policy(), now=NOW)
    assert (receipt.outcome, receipt.deleted) == (outcome, deleted)
    if outcome == "busy":
        assert (receipt.why, receipt.exit_status) == ("lease", 75)
        assert db.execute("SELECT owner FROM lease").get == "another"


@pytest.mark.parametrize("mode", ["range", "chunk"])
def test_a_caller_that_lost_its_lease_deletes_nothing_more(db: apsw.Connection, mode: str) -> None:
    db.execute(LEASE)

    def steal(step: Any, _answer: Any, _seconds: float) -> None:
        if isinstance(step, Batch) and step.writes and db.execute("SELECT count(*) FROM e").get == 80:
            db.execute("UPDATE lease SET owner = 'thief'")

    receipt = retention.run(db, policy(mode=mode), now=NOW, on_step=steal)
    assert (receipt.outcome, receipt.why, receipt.deleted) == ("busy", "lease", 20)
    assert db.execute("SELECT count(*) FROM e").get == 80
    assert db.execute("SELECT owner FROM lease").get == "thief"


def test_its_statements_are_counted(db: apsw.Connection) -> None:
    db.execute(LEASE)
    sent: list[str] = []

    def trace(_cursor: Any, sql: str, _bindings: Any) -> bool:
        sent.append(sql)
        return True

    db.exec_trace = trace
    receipt = retention.run(db, policy(), now=NOW, limits={"statements": 60})
    assert receipt.statements.used == len(sent) <= 60
    assert receipt.statements.ceiling == 60

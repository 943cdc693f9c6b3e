"""What failed or was refused is said, whichever limit ends the run: a rule that never works would else hide behind `more` for ever."""

from __future__ import annotations

from typing import Any

import apsw
import pytest

import retention

NOW = "2026-01-01T00:00:00Z"
AGE = {"column": "at", "format": "unix_s"}
RULE: dict[str, Any] = {"table": "plenty", "keep": "1d", "age": AGE, "page_rows": 5}
BLOCKED: dict[str, Any] = {"table": "kept", "keep": "1d", "age": AGE}
MASS: dict[str, Any] = {"name": "mass", "table": "kept", "where": "id > 0", "age": AGE, "timeout": "1h", "set": {"note": "x"}}


def database() -> apsw.Connection:
    con = apsw.Connection("")
    con.execute(
        "CREATE TABLE plenty (id INTEGER PRIMARY KEY, at INTEGER); CREATE TABLE kept (id INTEGER PRIMARY KEY, at INTEGER, note TEXT)"
    )
    con.execute("CREATE TRIGGER veto BEFORE DELETE ON kept WHEN old.id = 7 BEGIN SELECT RAISE(ABORT, 'stays'); END")
    con.execute(
        "WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 400) INSERT INTO plenty SELECT v, 1700000000 FROM n"
    )
    con.execute("INSERT INTO kept (id, at) SELECT id, at FROM plenty")
    return con


@pytest.mark.parametrize("limits", [{"statements": 80}, {"statements": 120}])
@pytest.mark.parametrize(
    ("policy", "outcome", "says"),
    [({"rules": [BLOCKED, RULE]}, "failed", "stays"), ({"rules": [RULE], "sweeps": [MASS]}, "refused", "looks like a wrong clock")],
)
def test_a_limit_hides_neither_an_error_nor_a_refusal(policy: dict[str, Any], outcome: str, says: str, limits: dict[str, Any]) -> None:
    con, store = database(), retention.MemoryStore()
    receipt = retention.run(con, policy, now=NOW, limits=limits, store=store)
    assert con.execute("SELECT count(*) FROM plenty").get > 0
    assert (receipt.outcome, receipt.exit_status) == (outcome, {"failed": 1, "refused": 4}[outcome])
    assert says in str([line.error for line in (*receipt.rules, *receipt.sweeps)])
    # The others go on all the same, in this command and in the next run.
    receipt = retention.run(con, policy, now=NOW, limits=limits, store=store, until_done=True)
    assert con.execute("SELECT count(*) FROM plenty").get == 0
    assert receipt.outcome == outcome
    assert len(receipt.warnings) == len(set(receipt.warnings))


def test_a_limit_alone_is_no_failure() -> None:
    receipt = retention.run(database(), {"rules": [RULE]}, now=NOW, limits={"statements": 60})
    assert (receipt.outcome, receipt.why, receipt.exit_status) == ("more", "statements", 3)

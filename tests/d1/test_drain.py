"""`children = "drain"` on real D1 and libSQL: what goes is what goes on a file, in as many statements as the server counts."""

from __future__ import annotations

from typing import Any

import apsw
import pytest

import retention
from tests.libsql.fixtures import libsql

__all__ = ["libsql"]

NOW = "2026-01-31T12:00:00Z"
OLD, FRESH = 1_760_000_000, 1_769_860_000
COLUMNS = {"exp": "id", "run": "id", "metric": "run", "model": "id", "param": "model"}

SCHEMA = (
    "CREATE TABLE exp (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, up INTEGER REFERENCES exp (id))",
    "CREATE TABLE run (id TEXT PRIMARY KEY NOT NULL, exp INTEGER NOT NULL REFERENCES exp (id) ON DELETE CASCADE,"
    " up TEXT REFERENCES run (id)) WITHOUT ROWID",
    "CREATE TABLE metric (run TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE, k INTEGER NOT NULL, held INTEGER NOT NULL,"
    " PRIMARY KEY (run, k))",
    "CREATE TABLE model (id BLOB PRIMARY KEY NOT NULL, exp INTEGER REFERENCES exp (id) ON DELETE SET NULL) WITHOUT ROWID",
    "CREATE TABLE param (model BLOB NOT NULL REFERENCES model (id) ON DELETE RESTRICT, exp INTEGER NOT NULL REFERENCES exp (id))",
    "CREATE INDEX exp_up ON exp (up)",
    "CREATE INDEX run_exp ON run (exp)",
    "CREATE INDEX run_up ON run (up)",
    "CREATE INDEX model_exp ON model (exp)",
    "CREATE INDEX param_model ON param (model)",
    "CREATE INDEX param_exp ON param (exp)",
)
BIG = 2**62 + 1


def rows() -> list[str]:
    """Ten experiments, the first with a large family; 3 is held two levels down, 8 is fresh, 5 waits for 6, which is expired, 7 for 8."""
    up = {6: BIG + 5, 8: BIG + 7}
    found = [f"INSERT INTO exp VALUES ({BIG + i}, {FRESH if i == 8 else OLD}, {up.get(i, 'NULL')})" for i in range(10)]
    for i in range(10):
        many = 40 if i == 0 else 2
        found += [
            f"INSERT INTO run SELECT 'r''{i}-' || value, {BIG + i}, NULL FROM json_each('[{','.join(map(str, range(many)))}]')",
            f"UPDATE run SET up = 'r''{i}-0' WHERE id = 'r''{i}-1'",
            f"INSERT INTO metric SELECT run.id, k.value, {i} = 3 AND k.value = 1 FROM run, json_each('[1,2,3]') AS k WHERE exp = {BIG + i}",
            f"INSERT INTO model VALUES (x'00{i:02x}', {BIG + i})",
            f"INSERT INTO param VALUES (x'00{i:02x}', {BIG + i}), (x'00{i:02x}', {BIG + i})",
        ]
    return found


def policy(rows_changed: int) -> dict[str, Any]:
    rule = {"table": "exp", "keep": "30d", "age": {"column": "at", "format": "unix_s"}, "children": "drain"}
    return {
        "version": 1,
        "rules": [rule],
        "holds": [{"table": "metric", "where": "held = 1"}],
        "limits": {"rows_changed": rows_changed},
    }


def kept(read: Any) -> dict[str, list[Any]]:
    return {table: sorted(read(f"SELECT quote({column}) FROM {table}")) for table, column in COLUMNS.items()}


def on_a_file(rows_changed: int) -> tuple[dict[str, list[Any]], retention.Receipt]:
    con = apsw.Connection(":memory:")
    for sql in (*SCHEMA, *rows()):
        con.execute(sql)
    receipt = retention.run(con, policy(rows_changed), now=NOW, until_done=True)
    return kept(lambda sql: con.execute(sql).fetchall()), receipt


@pytest.mark.parametrize("server", ["d1", "libsql"])
@pytest.mark.parametrize("rows_changed", [10_000, 7])
def test_the_same_families_go_as_on_a_file(server: str, rows_changed: int, request: pytest.FixtureRequest) -> None:
    database = request.getfixturevalue(server)
    database.setup(*SCHEMA, *rows())
    expected, on_file = on_a_file(rows_changed)
    with database.host() as host:
        if server == "d1":
            database.reset()
        receipt = retention.run(host, policy(rows_changed), now=NOW, until_done=True)
    if server == "d1":
        assert receipt.statements.total == sum(len(entry["statements"]) for entry in database.log())
    assert receipt.outcome == on_file.outcome == "done"
    assert kept(database.rows) == expected
    mine, theirs = receipt.rules[0], on_file.rules[0]
    assert (mine.deleted, mine.drained, mine.held, mine.referenced) == (theirs.deleted, theirs.drained, theirs.held, theirs.referenced)
    assert (mine.deleted, mine.held, mine.referenced, mine.partial) == (7, 1, 1, 0)
    assert mine.drained == {"run": 52, "metric": 156, "model": 7, "param": 14}
    assert database.rows("PRAGMA foreign_key_check") == []


def test_no_batch_deletes_more_than_rows_changed(d1: Any) -> None:
    d1.setup(*SCHEMA, *rows())
    written: list[int] = []
    with d1.host() as host:

        def watch(step: Any, answer: Any, _seconds: float) -> None:
            if getattr(step, "writes", False) and isinstance(answer, list):
                written.append(sum(int(r.rows[0][0]) for s, r in zip(step.statements, answer, strict=True) if s.sql == "SELECT changes()"))

        retention.run(host, policy(7), now=NOW, until_done=True, on_step=watch)
    assert written
    assert max(written) <= 7

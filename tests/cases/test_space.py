"""Rows are gone for everybody before a file is rewritten, and only the file that was named is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import apsw
import pytest

import retention
from tests.cli.tools import call, create, policy

from .cases import FRESH, NOW, OLD, rule, series

CLOCK = "2026-01-31T12:00:00Z"


def filled(path: Path, table: str, journal: str) -> Path:
    return create(
        path,
        f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, at INTEGER, b BLOB)",
        series(200, f"INSERT INTO {table} SELECT i, CASE i WHEN 2 THEN {FRESH} ELSE {OLD} END, randomblob(4000) FROM n"),
        journal=journal,
    )


@pytest.mark.parametrize("journal", ["delete", "wal"])
@pytest.mark.parametrize("table", ["t", "main_logs", "logs", "main", "temp"])
def test_rows_are_gone_before_the_rewrite_and_the_rewrite_works(tmp_path: Path, table: str, journal: str) -> None:
    """No transaction is left open, by the archive neither; VACUUM takes no table's name, and the archive beside it is not touched."""
    path, archive = filled(tmp_path / "app.db", table, journal), tmp_path / "old.jsonl"
    file = policy(tmp_path / "p.toml", rule(table, f"archive = '{archive}'"))
    ran = call("run", path, "-p", file, "--now", CLOCK, "--until-done", "--json")
    assert (ran.exit_code, json.loads(ran.stdout)["rules"][0]["deleted"]) == (0, 199), ran.stderr
    other, kept = apsw.Connection(str(path)), archive.read_bytes()
    assert other.execute(f'SELECT id FROM main."{table}"').fetchall() == [(2,)], "seen from elsewhere before VACUUM starts"
    other.close()
    size = path.stat().st_size
    reclaimed = call("reclaim", path, "--vacuum", "--json")
    said = json.loads(reclaimed.stdout)
    assert (reclaimed.exit_code, said["outcome"], said["steps"], said["free"]) == (0, "done", 1, 0)
    assert path.stat().st_size == said["size"] < size / 10
    assert archive.read_bytes() == kept


@pytest.mark.parametrize("begin", ["BEGIN", "BEGIN IMMEDIATE", "SAVEPOINT s"])
@pytest.mark.parametrize("way", [retention.run, retention.plan], ids=["run", "plan"])
def test_a_connection_in_a_transaction_is_refused_and_its_transaction_goes_on(tmp_path: Path, begin: str, way: Any) -> None:
    path = filled(tmp_path / "app.db", "t", "delete")
    con = apsw.Connection(str(path))
    con.execute(begin)
    con.execute("INSERT INTO t VALUES (1000, ?, NULL)", (OLD,))
    with pytest.raises(retention.PolicyError, match="in a transaction"):
        way(con, rule("t"), now=NOW)
    assert con.in_transaction
    assert con.execute("SELECT count(*) FROM t").get == 201
    con.execute("ROLLBACK")
    assert con.execute("SELECT count(*) FROM t").get == 200

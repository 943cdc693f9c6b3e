"""Faults of other people's clean-up that need a file: damage that is met midway, a column that comes between two runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import apsw
import pytest

import retention
from retention.archive.jsonl import read

NOW = "2026-09-09T14:00:00Z"
OLD = 1_700_000_000


def rule(table: str, **keys: Any) -> dict[str, Any]:
    return {"table": table, "keep": "30d", "age": {"column": "at", "format": "unix_s"}, **keys}


@pytest.mark.parametrize("mode", ["range", "chunk"])
def test_damage_that_is_met_midway_ends_the_run_and_is_said(tmp_path: Path, mode: str) -> None:
    """Nothing more is deleted from a file that is damaged, and nothing that is still sound is lost."""
    path = tmp_path / "app.db"
    con = apsw.Connection(str(path))
    for table in ("first", "second", "third"):
        con.execute(f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, at INTEGER, b TEXT)")
        con.executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", [(i, OLD, "x" * 400) for i in range(200)])
    (damaged,) = (con.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'second'").get,)
    con.close()
    with path.open("r+b") as file:
        file.seek((damaged - 1) * 4096)
        file.write(b"\xff" * 4096)
    policy = {"version": 1, "rules": [rule(table, mode=mode, page_rows=20, plausible=False) for table in ("first", "second", "third")]}
    done = retention.run(path, policy, now=NOW, until_done=True)
    assert (done.outcome, done.exit_status) == ("failed", 1)
    said = " ".join([*done.warnings, *(line.error or "" for line in done.rules)])
    assert "damaged" in said
    assert done.rules[1].deleted == 0
    con = apsw.Connection(str(path))
    assert con.execute("SELECT count(*) FROM third").get == 200 - done.rules[2].deleted
    assert done.rules[2].deleted < 200, "the run ended"


def test_a_column_that_comes_between_two_runs_is_in_the_archive(tmp_path: Path) -> None:
    con, archive = apsw.Connection(""), tmp_path / "t.jsonl"
    con.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER)")
    con.execute("INSERT INTO t VALUES (1, ?)", (OLD,))
    policy = {"version": 1, "rules": [rule("t", archive=str(archive))]}
    assert retention.run(con, policy, now=NOW).deleted == 1
    con.execute("ALTER TABLE t ADD COLUMN note TEXT")
    con.execute("INSERT INTO t VALUES (2, ?, 'said')", (OLD,))
    assert retention.run(con, policy, now=NOW).deleted == 1
    assert [json.loads(line).get("columns") for line in archive.read_text().splitlines()] == [
        ["id", "at"],
        None,
        ["id", "at", "note"],
        None,
    ]
    rows = [dict(zip(step.columns, row, strict=True)) for step in read(archive) for row in step.rows]
    assert rows == [{"id": 1, "at": OLD}, {"id": 2, "at": OLD, "note": "said"}]

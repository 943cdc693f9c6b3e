"""Databases, policies, and the command called in this process and as a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import apsw
from typer.testing import CliRunner

from retention.cli.app import app

NOW = "2026-09-09T14:00:00Z"
NOW_S = 1_788_962_400
DAY = 86_400

RULE = """
[[rules]]
table = "t"
keep  = "90d"
age   = { column = "at", format = "unix_s" }
"""
TABLE = "CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER, tenant TEXT, status TEXT)"


def create(path: Path, *sql: str, journal: str = "wal") -> Path:
    """A database made by these statements."""
    con = apsw.Connection(str(path))
    con.execute(f"PRAGMA journal_mode = {journal}").fetchall()
    for statement in sql:
        con.execute(statement).fetchall()
    con.close()
    return path


def aged(rows: int, old: int, table: str = "t") -> str:
    """Rows 1 to `rows`, of which the first `old` are a year old and the rest a day."""
    return (
        f"INSERT INTO {table} (id, at, status) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows}) "
        f"SELECT i, {NOW_S} - CASE WHEN i <= {old} THEN {365 * DAY} ELSE {DAY} END, 'acked' FROM n"
    )


def rows(path: Path, sql: str = "SELECT id FROM t ORDER BY id") -> list[tuple[Any, ...]]:
    con = apsw.Connection(str(path))
    try:
        return con.execute(sql).fetchall()
    finally:
        con.close()


def policy(path: Path, text: str = RULE, version: str = "version = 1\n") -> Path:
    path.write_text(version + text, encoding="utf-8")
    return path


def call(*args: object):
    """The command in this process: `exit_code`, `stdout`, `stderr`."""
    return CliRunner().invoke(app, [str(a) for a in args])


def start(*args: object, **options: Any) -> subprocess.Popen[str]:
    """The command as a process."""
    command = [sys.executable, "-m", "retention.cli", *(str(a) for a in args)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)

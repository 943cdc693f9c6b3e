"""`cascade`: a parent with very many children, drained, and how much one write takes of them at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw

import retention
from retention.hosts.sqlite import SQLite

from .data import DAY, NOW
from .measure import percentile, rounded
from .ours import instant
from .report import Outcome
from .trace import Trace

__all__ = ["PARENTS", "TARGET_MS", "cascade", "family"]

TARGET_MS = 25
"""ms; the aim for one write on a file"""
PARENTS = 100
"""parents beside the large one, with a hundredth of its children between them"""


def family(path: Path, children: int) -> Path:
    """Expired threads with messages below them, ON DELETE CASCADE, indexed; one thread has them nearly all."""
    db = apsw.Connection(str(path))
    with db:
        db.execute(
            "CREATE TABLE threads (id INTEGER PRIMARY KEY, at INTEGER NOT NULL);"
            "CREATE TABLE messages (id INTEGER PRIMARY KEY, thread_id INTEGER NOT NULL REFERENCES threads ON DELETE CASCADE, body TEXT);"
            "CREATE INDEX messages_thread ON messages (thread_id);"
        )
        db.execute(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1) INSERT INTO threads SELECT i, ?2 + i FROM n",
            (PARENTS + 1, NOW - 100 * DAY),
        )
        db.execute(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1) "
            "INSERT INTO messages SELECT i, CASE WHEN i <= ?2 THEN ?3 ELSE 1 + i % ?4 END, 'some forty bytes, as they often are' FROM n",
            (children + children // 100, children, PARENTS // 2, PARENTS),
        )
    db.pragma("journal_mode", "wal")
    db.close()
    return path


def policy() -> dict[str, Any]:
    """Threads of 90 days, with all that is below them."""
    rule = {"table": "threads", "keep": "90d", "age": {"column": "at", "format": "unix_s"}, "children": "drain"}
    return {"version": 1, "rules": [rule]}


def cascade(folder: Path, *, rows: int, rounds: int) -> Outcome:
    """Several rounds on fresh files; the longest lock of all of them counts."""
    runs = [_run(family(folder / f"drain-{number}.db", rows)) for number in range(rounds)]
    worst = max(runs, key=lambda run: run["max_lock_ms"])
    result = {**runs[0], "max_lock_ms": worst["max_lock_ms"], "target_ms": TARGET_MS}
    head = ("children", "rows", "too large", "largest write, rows", "longest lock ms", "p50 ms", "statements")
    numbers = [f"{result[key]:,}" for key in ("rows", "too_large", "max_changes", "max_lock_ms", "lock_ms_p50", "statements")]
    note = f"aim: {TARGET_MS} ms a write, rows_changed 10,000"
    return Outcome("cascade", result, head, [[result["children"], *numbers]], note)


def _run(path: Path) -> dict[str, Any]:
    connection = apsw.Connection(str(path))
    before = _count(connection)
    trace = Trace(connection)
    host = SQLite(connection)
    receipt = retention.run(host, policy(), now=instant(NOW), until_done=True)
    host.close()
    statements = trace.statements
    gone = before - _count(connection)
    connection.close()
    return {
        "children": "drain",
        "outcome": receipt.outcome,
        "rows": gone,
        "too_large": receipt.rules[0].too_large,
        "max_changes": max(trace.changes, default=0),
        "max_lock_ms": rounded(max(trace.locks, default=0.0) * 1e3),
        "lock_ms_p50": rounded(percentile(trace.locks, 0.5) * 1e3),
        "statements": statements,
    }


def _count(connection: apsw.Connection) -> int:
    return connection.execute("SELECT (SELECT count(*) FROM threads) + (SELECT count(*) FROM messages)").get

"""`growth`: what a run costs that finds 1,000 newly expired rows, in tables of growing kept history."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw

import retention
from retention.hosts.sqlite import SQLite
from retention.steps import Batch, Result

from .data import NOW
from .measure import rounded
from .ours import instant
from .report import Outcome
from .trace import Trace

__all__ = ["EXPIRING", "RULES", "events", "growth", "steady_run"]

EXPIRING = 1_000
"""rows that pass their keep between two runs"""
SPACING = 2
"""s between two rows' ages"""
KEEP_S = 400 * 86_400
"""longer than the ages of 10^7 rows span, so that no row is in the future"""

RULES: dict[str, dict[str, Any]] = {
    "ordered": {"walk": "rowid", "ordered": True},
    "index": {"walk": {"index": "events_at"}},
    "rowid": {"walk": "rowid"},
}


def events(path: Path, rows: int) -> Path:
    """A table of events in order of age, the first of which have just passed their keep at `NOW`."""
    db = apsw.Connection(str(path))
    db.pragma("journal_mode", "off")
    db.pragma("synchronous", 0)
    with db:
        db.execute("CREATE TABLE events (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, body TEXT NOT NULL)")
        db.execute(
            "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?1) "
            "INSERT INTO events SELECT i + 1, ?2 + i * ?3, 'an event of the usual size, some sixty bytes of text in all' FROM n",
            (rows, NOW - KEEP_S - EXPIRING * SPACING, SPACING),
        )
        db.execute("CREATE INDEX events_at ON events (at)")
    db.pragma("journal_mode", "wal")
    db.close()
    return path


def policy(kind: str, **rule: Any) -> dict[str, Any]:
    """One of `RULES` as a policy."""
    events = {"table": "events", "keep": f"{KEEP_S // 86_400}d", "age": {"column": "at", "format": "unix_s"}}
    return {"version": 1, "rules": [events | RULES[kind] | rule]}


def steady_run(path: Path, kind: str, **rule: Any) -> dict[str, int]:
    """The third of three runs, each of which finds `EXPIRING` new rows: the first makes a whole traversal, the second learns."""
    store = retention.MemoryStore()
    for tick in range(2):
        _run(path, kind, tick, store, rule)
    return _run(path, kind, 2, store, rule)


class _Timeless(SQLite):
    """A host without a clock: page sizes stay as they are, so that steps do not depend on how fast a machine writes."""

    def execute(self, batch: Batch, timeout: float | None = None) -> Sequence[Result]:
        return [replace(result, seconds=0.0) for result in super().execute(batch, timeout)]


def _run(path: Path, kind: str, tick: int, store: retention.CursorStore, rule: dict[str, Any]) -> dict[str, int]:
    connection = apsw.Connection(str(path))
    trace = Trace(connection)
    host = _Timeless(connection)
    receipt = retention.run(host, policy(kind, **rule), store=store, now=instant(NOW + tick * EXPIRING * SPACING))
    host.close()
    connection.close()
    deleted = receipt.rules[0].deleted if receipt.rules else 0
    assert receipt.outcome == "done", receipt
    assert deleted == EXPIRING, f"{kind}, tick {tick}: {deleted} rows went instead of {EXPIRING}"
    return {"vm_steps": trace.vm_steps, "statements": trace.statements}


def growth(folder: Path, *, rows: int, rounds: int) -> Outcome:
    """Tables of 100,000 rows and so on in tens, up to `rows`."""
    sizes = [size for size in (10**n for n in range(5, 9)) if size < rows] + [rows]
    found: dict[str, dict[str, dict[str, int]]] = {kind: {} for kind in RULES}
    for size in sizes:
        for kind in RULES:
            path = events(folder / f"{kind}-{size}.db", size)
            found[kind][str(size)] = steady_run(path, kind)
    largest = folder / f"rowid-{rows}.db"
    seconds = statistics.median(_traversal(largest) for _ in range(rounds))
    kept = rows - 3 * EXPIRING
    result = {"rows": rows, "expiring": EXPIRING, **found, "rowid_us_per_kept_row": rounded(seconds * 1e6 / kept, 3)}
    head = ("walk", *(f"{size:,} rows: VM steps" for size in sizes), "statements", "growth")
    lines = [_line(kind, found[kind]) for kind in RULES]
    note = f"a whole rowid traversal that deletes nothing: {result['rowid_us_per_kept_row']:g} µs for each kept row"
    return Outcome("growth", result, head, lines, note)


def _line(kind: str, by_size: dict[str, dict[str, int]]) -> list[str]:
    steps = [of["vm_steps"] for of in by_size.values()]
    statements = [str(of["statements"]) for of in by_size.values()]
    return [kind, *(f"{n:,}" for n in steps), " / ".join(statements), f"{steps[-1] / steps[0]:.2f} x"]


def _traversal(path: Path) -> float:
    """Seconds of one traversal in which no row is old enough."""
    began = time.perf_counter()
    receipt = retention.run(path, policy("rowid"), now=instant(NOW))
    assert receipt.rules[0].deleted == 0
    return time.perf_counter() - began

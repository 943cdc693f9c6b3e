"""`wide`: rows that are dear to delete (long, with blobs, in many indexes, in a full-text index), ours against one bare DELETE of each."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from . import ours
from .client import digest, timed
from .data import DAY, NOW, SCHEMA, Job, copy
from .measure import Reading, percentile, rounded, summary
from .peers import bare_delete
from .report import Outcome

__all__ = ["KINDS", "Kind", "fill", "wide"]


@dataclass(frozen=True, slots=True)
class Kind:
    """Rows that are dear in one way.

    Attributes:
        title: for the table.
        share: of the rows asked for, so that no file is larger than some 100 MB at the default.
        payload: SQL over n(i).
        more: statements that make what hangs on the table.
    """

    title: str
    share: float
    payload: str
    more: tuple[str, ...] = ()


WORDS = " || ' ' || ".join(f"'w' || (i * {prime} % {most})" for prime, most in ((7, 50), (31, 500), (101, 2_000), (7_919, 20_000)) * 5)
"""twenty words, some rare and some in every second row"""

SCATTERED = "CREATE INDEX deliveries_{0} ON deliveries (substr(token, {0}))"

KINDS = {
    "plain": Kind("120 bytes, one scattered index", 1, "printf('%.120c', 'x')"),
    "wide": Kind("2 KB a row", 0.5, "printf('%.2000c', 'x')"),
    "blobs": Kind("100 KB a row, on pages of their own", 0.01, "CAST(zeroblob(100000) AS TEXT)"),
    "indexes": Kind("twelve indexes, eight of them scattered", 0.5, "printf('%.120c', 'x')", (
        *(SCATTERED.format(place) for place in range(2, 9)),
        *(f"CREATE INDEX deliveries_created_{n} ON deliveries (created_at, {column})" for n, column in enumerate(("seq", "status", "id"))),
        "CREATE INDEX deliveries_tenant ON deliveries (workspace_id, created_at)",
    )),
    "fts": Kind("a full-text index of twenty words, kept by triggers", 0.2, WORDS, (
        "CREATE VIRTUAL TABLE found USING fts5 (payload, content = 'deliveries', content_rowid = 'id')",
        "INSERT INTO found (found) VALUES ('rebuild')",
        "CREATE TRIGGER deliveries_gone AFTER DELETE ON deliveries BEGIN "
        "INSERT INTO found (found, rowid, payload) VALUES ('delete', OLD.id, OLD.payload); END",
    )),
}  # fmt: skip


def fill(path: Path, kind: Kind, rows: int) -> Path:
    """A file with `rows` rows of the kind; seven in ten are settled, and two thirds older than the keep."""
    db = apsw.Connection(str(path))
    db.pragma("journal_mode", "off")
    db.pragma("synchronous", 0)
    with db:
        db.execute(SCHEMA)
        db.execute(
            f"INSERT INTO deliveries WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows}) "
            "SELECT i, 'ws_' || (i * 17 % 100), i, CASE WHEN i * 13 % 10 < 7 THEN 'acked' ELSE 'queued' END, "
            f"printf('%08x%08x', i * 40503 % 65521 * 65536, i), {NOW - 270 * DAY} + i * {270 * DAY // rows}, {kind.payload} FROM n"
        )
        db.execute("CREATE INDEX deliveries_created ON deliveries (created_at); CREATE INDEX deliveries_token ON deliveries (token)")
        for statement in kind.more:
            db.execute(statement)
    db.pragma("journal_mode", "wal")
    db.close()
    return path


def wide(folder: Path, *, rows: int, rounds: int) -> Outcome:
    """Each kind: we and the bare DELETE in turn, each on a fresh copy."""
    found: dict[str, Any] = {}
    for name, kind in KINDS.items():
        size = max(1, round(rows * kind.share))
        source, target = fill(folder / f"{name}.db", kind, size), folder / "run.db"
        mine, bare = list[Reading](), list[Reading]()
        for _ in range(rounds):
            mine.append(ours.drain(copy(source, target), ours.policy(Job(size)))[0])
            left = digest(target)
            bare.append(timed(copy(source, target), lambda client: bare_delete.drain(client, Job())))
            assert digest(target) == left, f"{name}: the two left different rows"
        source.unlink()
        ratio = statistics.median(a.rate / b.rate for a, b in zip(mine, bare, strict=True))
        found[name] = {"table_rows": size, "ratio": rounded(ratio, 3), "range": summary(mine), "bare_delete": summary(bare)}
        found[name]["rows_a_write"] = _rows_a_write(mine)
    result = {"rows": rows, "rounds": rounds, **found}
    head = ("rows", "deleted", "rows/s", "of bare DELETE", "rows a write", "write p50 ms", "max", "bare DELETE ms")
    return Outcome("wide", result, head, [_line(KINDS[name].title, of) for name, of in found.items()])


def _rows_a_write(readings: Sequence[Reading]) -> int:
    return round(percentile([reading.rows / max(1, len(reading.writes)) for reading in readings], 0.5))


def _line(title: str, of: dict[str, Any]) -> list[str]:
    mine, bare = of["range"], of["bare_delete"]
    numbers = [f"{mine['rows']:,}", f"{mine['rows_per_second']:,.0f}", f"{of['ratio']:.2f}", f"{of['rows_a_write']:,}"]
    return [title, *numbers, f"{mine['write_ms_p50']:,.1f}", f"{mine['write_ms_max']:,.1f}", f"{bare['write_ms_max']:,.0f}"]

"""The one file that every peer empties: same rows, same indexes, built once and copied for each run."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import apsw

__all__ = [
    "CUTOFF",
    "DAY",
    "INDEXES",
    "KEEP_DAYS",
    "NOW",
    "SCHEMA",
    "SETTLED",
    "Job",
    "build",
    "copy",
    "deliveries",
    "eligible",
    "workspaces",
]

DAY = 86_400
"""seconds"""
NOW = 1_788_962_400
"""unix s; 2026-09-09T14:00:00Z"""
KEEP_DAYS = 90
"""days; the keep of every row without a tenant's own"""
CUTOFF = NOW - KEEP_DAYS * DAY
"""unix s; a row goes if its `created_at` is strictly below"""
SETTLED = "status IN ('acked', 'failed', 'dead_lettered')"
"""the rule's condition beside the age"""

SPAN_DAYS = 270
"""days that the rows' ages cover, so that two thirds are older than the keep and, 70 % of them settled, 47 % of all rows go"""
TENANTS = 100
STATUSES = ("acked", "acked", "acked", "acked", "acked", "failed", "dead_lettered", "queued", "queued", "delivered")


@dataclass(frozen=True, slots=True)
class Job:
    """A table to empty.

    Attributes:
        rows: in `deliveries`.
        indexes: `ordered`: both secondary indexes follow insertion order; `scattered`: one of them is on a random token.
        tenants: the keep of each row comes from its tenant's JSON document (100 tenants, keeps of 60 to 120 days, a third without).
        journal: `wal` or `delete`.
        payload: bytes of text in each row.
    """

    rows: int = 300_000
    indexes: Literal["ordered", "scattered"] = "scattered"
    tenants: bool = False
    journal: Literal["wal", "delete"] = "wal"
    payload: int = 120

    @property
    def name(self) -> str:
        return f"{self.indexes}{'-tenants' if self.tenants else ''}-{self.rows}-{self.journal}-{self.payload}"

    @property
    def condition(self) -> str:
        """What a person writes in the WHERE of one DELETE; binds ?1, the cutoff (or with tenants `now`), as text."""
        if not self.tenants:
            return f"{SETTLED} AND created_at < CAST(?1 AS INTEGER)"
        setting = "(SELECT json_extract(w.retention, '$.delivery_ttl_days') FROM workspaces AS w WHERE w.id = deliveries.workspace_id)"
        return f"{SETTLED} AND created_at < CAST(?1 AS INTEGER) - {DAY} * coalesce({setting}, {KEEP_DAYS})"

    @property
    def bound(self) -> int:
        """The value for ?1 in `condition`, unix s."""
        return NOW if self.tenants else CUTOFF


SCHEMA = """
CREATE TABLE workspaces (id TEXT PRIMARY KEY, retention TEXT);
CREATE TABLE deliveries (
    id INTEGER PRIMARY KEY,
    workspace_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    status TEXT NOT NULL,
    token TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    payload TEXT NOT NULL
);
"""

INDEXES = {
    "ordered": ("CREATE INDEX deliveries_created ON deliveries (created_at)", "CREATE INDEX deliveries_seq ON deliveries (seq)"),
    "scattered": ("CREATE INDEX deliveries_created ON deliveries (created_at)", "CREATE INDEX deliveries_token ON deliveries (token)"),
}


def workspaces(job: Job) -> Iterator[tuple[str, str | None]]:
    """The tenants' rows: id and JSON document, NULL where the job has one keep for all."""
    for number in range(TENANTS):
        days = (None, 60, 120)[number % 3] if job.tenants else None
        yield f"ws_{number:03d}", None if days is None else f'{{"delivery_ttl_days": {days}}}'


def deliveries(job: Job) -> Iterator[tuple[int, str, int, str, str, int, str]]:
    """The rows, the same for the same job: `created_at` rises with `id`, status, tenant and token are random."""
    dice = random.Random(job.rows)
    text = "x" * job.payload
    for number in range(job.rows):
        created = NOW - SPAN_DAYS * DAY + number * SPAN_DAYS * DAY // job.rows
        workspace = f"ws_{dice.randrange(TENANTS):03d}"
        yield number + 1, workspace, number + 1, dice.choice(STATUSES), f"{dice.getrandbits(64):016x}", created, text


def build(job: Job, folder: Path) -> Path:
    """The job's file in `folder`, made if it is not there yet. It is closed, checkpointed and on disk."""
    path = folder / f"{job.name}.db"
    if path.exists():
        return path
    part = path.with_suffix(".part")
    part.unlink(missing_ok=True)
    db = apsw.Connection(str(part))
    db.pragma("journal_mode", "off")
    db.pragma("synchronous", 0)
    with db:
        db.execute(SCHEMA)
        db.executemany("INSERT INTO workspaces VALUES (?, ?)", workspaces(job))
        db.executemany("INSERT INTO deliveries VALUES (?, ?, ?, ?, ?, ?, ?)", deliveries(job))
        for statement in INDEXES[job.indexes]:
            db.execute(statement)
    db.pragma("journal_mode", job.journal)
    db.close()
    part.rename(path)
    return path


def copy(source: Path, target: Path) -> Path:
    """A fresh copy, flushed to disk so that no peer pays for writing back the copy itself, and warm in the page cache."""
    for suffix in ("", "-wal", "-shm", "-journal", ".retention.json", ".retention.json.lock"):
        Path(f"{target}{suffix}").unlink(missing_ok=True)
    shutil.copyfile(source, target)
    with target.open("rb+") as file:
        os.fsync(file.fileno())
    return target


def eligible(job: Job, path: Path) -> int:
    """Rows that the job deletes, counted by one SELECT."""
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return db.execute(f"SELECT count(*) FROM deliveries WHERE {job.condition}", (str(job.bound),)).get
    finally:
        db.close()

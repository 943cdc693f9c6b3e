"""Keyset paging: read a page of ids, delete them in lists, go on behind the last."""

from __future__ import annotations

from ..client import Client
from ..data import Job

__all__ = ["CHUNK", "PAGE", "drain"]

PAGE = 1_000
"""ids a read"""
CHUNK = 100
"""ids a DELETE: D1 takes no more bound values"""


def drain(client: Client, job: Job) -> None:
    """The ids are deleted on the word of the read: a row that changed in between goes all the same."""
    page = f"SELECT id FROM deliveries WHERE id > CAST(?2 AS INTEGER) AND {job.condition} ORDER BY id LIMIT {PAGE}"
    after = 0
    while rows := client.read(page, (str(job.bound), str(after))):
        ids = [str(row[0]) for row in rows]
        for start in range(0, len(ids), CHUNK):
            chunk = ids[start : start + CHUNK]
            marks = ", ".join(f"CAST(?{n} AS INTEGER)" for n in range(1, len(chunk) + 1))
            client.write(f"DELETE FROM deliveries WHERE id IN ({marks})", chunk)
        after = int(ids[-1])

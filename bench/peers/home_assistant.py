"""The shape of Home Assistant's recorder purge: ids by the age's index with a limit, then one DELETE with a bound list."""

from __future__ import annotations

from ..client import Client
from ..data import Job

__all__ = ["IDS", "drain"]

IDS = 4_000
"""ids a statement: the recorder's limit of bound values on SQLite"""


def drain(client: Client, job: Job) -> None:
    """Two statements for each list; the recorder commits after each."""
    select = f"SELECT id FROM deliveries WHERE {job.condition} LIMIT {IDS}"
    while rows := client.read(select, (str(job.bound),)):
        marks = ", ".join(f"?{n}" for n in range(1, len(rows) + 1))
        client.write(f"DELETE FROM deliveries WHERE id IN ({marks})", [row[0] for row in rows])

"""The loop that everybody writes: delete a thousand, until none is left."""

from __future__ import annotations

from ..client import Client
from ..data import Job

__all__ = ["BATCH", "drain"]

BATCH = 1_000
"""rows a statement"""


def drain(client: Client, job: Job) -> None:
    """Each statement finds its rows anew, by whatever index the condition invites."""
    inner = f"SELECT rowid FROM deliveries WHERE {job.condition} LIMIT {BATCH}"
    while client.write(f"DELETE FROM deliveries WHERE rowid IN ({inner})", (str(job.bound),)):
        pass

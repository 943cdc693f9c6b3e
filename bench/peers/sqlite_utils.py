"""sqlite-utils' `table.delete_where(where, args, analyze=True)`: one DELETE in a transaction, then ANALYZE of the table."""

from __future__ import annotations

from ..client import FileClient
from ..data import Job

__all__ = ["drain"]


def drain(client: FileClient, job: Job) -> None:
    """Its SQL, sent by our connection, so that the driver is no part of the difference."""
    with client.transaction():
        client.write(f"DELETE FROM [deliveries] WHERE {job.condition}", (str(job.bound),))
    client.read("ANALYZE [deliveries]")

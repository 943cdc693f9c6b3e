"""One DELETE: the physical limit, and one lock for as long as it takes."""

from __future__ import annotations

from ..client import Client
from ..data import Job

__all__ = ["drain"]


def drain(client: Client, job: Job) -> None:
    """One statement."""
    client.write(f"DELETE FROM deliveries WHERE {job.condition}", (str(job.bound),))

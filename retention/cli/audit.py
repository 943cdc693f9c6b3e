"""`retention audit`."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict

from ..hosts import open_host
from ..policy.models import Policy
from ..report.audit import audit_text
from ..schema.reader import read
from ..upkeep.audit import audit as compare
from .output import write, write_json
from .reading import answered

__all__ = ["audit"]


def audit(db: str, policy: Policy, as_json: bool) -> None:
    """Show what a schema and a policy mean for each other. Reads the schema alone.

    Raises:
        PolicyError, HostError: the database is not there or cannot be read.
    """
    with closing(open_host(db, readonly=True)) as host:
        found = compare(answered(read(host.capabilities), host), policy)
    if as_json:
        write_json({"version": 1, "database": db, "findings": [asdict(finding) for finding in found.findings]})
    else:
        write(audit_text(found))

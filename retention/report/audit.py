"""An audit for people."""

from __future__ import annotations

from collections import Counter

from ..upkeep.audit import Audit
from .words import counted

__all__ = ["audit_text"]


def audit_text(audit: Audit) -> str:
    """Each finding with what follows and what to do, the most severe first, and their number."""
    lines: list[str] = []
    for finding in audit.findings:
        lines.append(f"{finding.severity}: {finding.table}: {finding.what} {finding.why} {finding.fix}".rstrip())
        if finding.sql is not None:
            lines.append(f"    {finding.sql}")
    numbers = Counter(finding.severity for finding in audit.findings)
    lines.append(
        ", ".join(counted(rows, word) for word, rows in numbers.items()) or "nothing to say: every table is covered, every key is indexed"
    )
    return "\n".join(lines)

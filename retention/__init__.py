"""Deletes rows that have outlived their keep, on SQLite and Cloudflare D1, in bounded, resumable steps.

    import retention
    receipt = retention.run("app.db", "retention.toml", store=retention.FileStore("app.db.retention.json"))

See `run` for the call, `Policy` for what to keep, `Receipt` for what was done.
"""

from __future__ import annotations

from .engine.receipt import Receipt, RuleReceipt
from .errors import Fenced, HostError, PolicyError, Refused, RetentionError
from .plan.model import Plan
from .policy.load import load
from .policy.models import Policy
from .runner.runs import arun, plan, run
from .stores import CursorStore, FileStore, MemoryStore

__all__ = [
    "CursorStore",
    "Fenced",
    "FileStore",
    "HostError",
    "MemoryStore",
    "Plan",
    "Policy",
    "PolicyError",
    "Receipt",
    "Refused",
    "RetentionError",
    "RuleReceipt",
    "arun",
    "load",
    "plan",
    "run",
]

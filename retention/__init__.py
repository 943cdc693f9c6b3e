"""Deletes rows that have outlived their keep, on SQLite and Cloudflare D1, in bounded, resumable steps.

    import retention
    receipt = retention.run("app.db", "retention.toml", store=retention.FileStore("app.db.retention.json"))

See `run` for the call, `Policy` for what to keep, `Receipt` for what was done.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .engine.receipt import ClosureReceipt, Receipt, RuleReceipt, SweepReceipt
from .errors import Fenced, HostError, PolicyError, Refused, RetentionError
from .plan.model import Plan
from .policy.load import load
from .policy.models import Policy
from .runner.runs import arun, plan, run
from .runner.sweeps import asweep, sweep
from .stores import CursorStore, FileStore, MemoryStore

if TYPE_CHECKING:
    from .hosts.d1 import D1, AsyncD1
    from .hosts.libsql import AsyncLibSQL, LibSQL
    from .hosts.sqlite import SQLite

__all__ = [
    "D1",
    "AsyncD1",
    "AsyncLibSQL",
    "ClosureReceipt",
    "CursorStore",
    "Fenced",
    "FileStore",
    "HostError",
    "LibSQL",
    "MemoryStore",
    "Plan",
    "Policy",
    "PolicyError",
    "Receipt",
    "Refused",
    "RetentionError",
    "RuleReceipt",
    "SQLite",
    "SweepReceipt",
    "arun",
    "asweep",
    "load",
    "plan",
    "run",
    "sweep",
]

_HOSTS = {"SQLite": "sqlite", "D1": "d1", "AsyncD1": "d1", "LibSQL": "libsql", "AsyncLibSQL": "libsql"}


def __getattr__(name: str) -> Any:
    # A host brings its libraries with it: whoever works on a file need not load an HTTP client.
    if name in _HOSTS:
        return getattr(import_module(f".hosts.{_HOSTS[name]}", __name__), name)
    raise AttributeError(f"module 'retention' has no attribute {name!r}")

"""Our side: `retention.run` on a job's file, with each batch that it sends counted, timed and kept for the bare loop."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import retention
from retention.capabilities import Capabilities
from retention.hosts.base import Host
from retention.hosts.sqlite import SQLite
from retention.steps import Batch, Result

from .client import FileClient
from .data import KEEP_DAYS, NOW, SETTLED, Job
from .measure import Reading

__all__ = ["Metered", "NotDone", "drain", "instant", "policy", "replay"]

Mode = Literal["range", "chunk"]


class NotDone(Exception):
    """A run that should have drained its table did not."""


def instant(seconds: int) -> datetime:
    """A run's clock at so many unix seconds."""
    return datetime.fromtimestamp(seconds, UTC)


def policy(job: Job, mode: Mode = "range", **rule: Any) -> dict[str, Any]:
    """The job as a policy; `rule` adds keys to its one rule."""
    deliveries: dict[str, Any] = {
        "table": "deliveries",
        "keep": f"{KEEP_DAYS}d",
        "age": {"column": "created_at", "format": "unix_s"},
        "only": SETTLED,
        "walk": "rowid",
        "mode": mode,
    }
    if job.tenants:
        deliveries["tenant"] = {"column": "workspace_id", "setting": "delivery_ttl_days"}
    tenants = {"tenants": {"table": "workspaces", "key": "id", "settings": "retention"}} if job.tenants else {}
    return {"version": 1, **tenants, "rules": [deliveries | rule]}


class Metered:
    """A host around a host: what was sent, how many statements it cost, how long each write took.

    Attributes:
        reading: `statements`, `writes` and `requests` so far.
        sent: the batches in order.
    """

    def __init__(self, host: Host) -> None:
        self.host = host
        self.reading = Reading()
        self.sent: list[Batch] = []

    @property
    def name(self) -> str:
        return self.host.name

    @property
    def capabilities(self) -> Capabilities:
        return self.host.capabilities

    @property
    def wal_bytes(self) -> int:
        return getattr(self.host, "wal_bytes", 0)

    @property
    def pause(self) -> float:
        return getattr(self.host, "pause", 0.0)

    @property
    def aim(self) -> float | None:
        return getattr(self.host, "aim", None)

    @property
    def setup_statements(self) -> int:
        return getattr(self.host, "setup_statements", 0)

    def execute(self, batch: Batch, timeout: float | None = None) -> Sequence[Result]:
        results = self.host.execute(batch, timeout)
        reading = self.reading
        reading.statements += self.host.capabilities.cost(batch)
        reading.requests += 1
        reading.rows_read += sum(result.rows_read or 0 for result in results)
        if batch.writes:
            reading.writes.append(results[0].seconds)
        self.sent.append(batch)
        return results

    def close(self) -> None:
        self.host.close()


class MeteredFile(Metered):
    """A file's host, with what it does beside `execute`."""

    host: SQLite

    def settle_later(self, later: bool) -> None:
        self.host.settle_later(later)

    def settle(self) -> None:
        self.host.settle()

    @property
    def settled_seconds(self) -> float:
        return self.host.settled_seconds


def drain(path: Path, rules: dict[str, Any], now: int = NOW) -> tuple[Reading, Metered]:
    """One whole run on a file, planning, checkpoint file and closing included. Raises NotDone if it does not end `done`."""
    host = MeteredFile(SQLite(path))
    store = Saves(retention.FileStore(f"{path}.retention.json"))
    try:
        began = time.perf_counter()
        receipt = retention.run(host, rules, store=store, now=instant(now))
    finally:
        host.close()
    seconds = time.perf_counter() - began
    if receipt.outcome != "done":
        raise NotDone(f"{path.name}: the run ended {receipt.outcome} ({receipt.why}): {'; '.join(receipt.warnings)}")
    reading = host.reading
    reading.seconds, reading.saves = seconds, store.count
    reading.rows = sum(rule.deleted for rule in receipt.rules)
    return reading, host


class Saves:
    """A store around a store that counts.

    Attributes:
        count: saves so far.
    """

    any_thread = True

    def __init__(self, store: retention.CursorStore) -> None:
        self.store = store
        self.count = 0

    def load(self) -> dict[str, Any] | None:
        return self.store.load()

    def save(self, document: dict[str, Any]) -> None:
        self.count += 1
        self.store.save(document)


def replay(client: FileClient, sent: Sequence[Batch], capabilities: Capabilities) -> None:
    """The bare loop: the same statements with the same values, as a run sent them, and nothing around them."""
    for batch in sent:
        one_by_one = client.write if batch.writes else client.read
        if capabilities.cost(batch) == len(batch.statements):
            for statement in batch.statements:
                one_by_one(statement.sql, statement.params)
        else:
            with client.transaction():
                for statement in batch.statements:
                    one_by_one(statement.sql, statement.params)

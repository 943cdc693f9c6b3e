"""`d1`: requests, statements and rows read over D1's REST interface, in front of a real D1 (workerd) on this machine.

Needs the packages of the tests against D1: `tests/d1/install.sh`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import retention
from retention.hosts.base import Host
from retention.hosts.d1 import D1
from retention.hosts.http import Options, Pace
from retention.steps import Batch, Statement
from tests.d1.fixtures import Database, Server

from . import ours
from .client import Client
from .data import INDEXES, NOW, SCHEMA, Job, deliveries, workspaces
from .measure import Reading, rounded, summary
from .peers import limit_loop, relaycast
from .report import Outcome

__all__ = ["RemoteClient", "d1"]

LOADED = 1_000
"""rows an INSERT while a database is filled"""


class RemoteClient:
    """A peer's client: each statement is a request of its own, through the same host that ours uses."""

    def __init__(self, host: Host) -> None:
        self._host = ours.Metered(host)
        self.reading = self._host.reading

    def read(self, sql: str, params: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return list(self._host.execute(Batch((Statement(sql, tuple(params)),)))[0].rows)

    def write(self, sql: str, params: Sequence[Any] = ()) -> int:
        # D1 reports the change of total_changes(), which is exact here: there is no trigger and no foreign key.
        changes = self._host.execute(Batch((Statement(sql, tuple(params)),), writes=True))[0].total_changes or 0
        self.reading.rows += changes
        return changes

    def save(self, document: dict[str, Any]) -> None:
        """Requests are compared, and a store is the host's own business."""
        self.reading.saves += 1


def d1(folder: Path, *, rows: int, rounds: int) -> Outcome:
    """Each contender on a fresh database of one server."""
    job = Job(rows, tenants=True)
    contenders: dict[str, Callable[[Host], Reading]] = {
        "range": lambda host: _run(host, ours.policy(job)),
        "chunk": lambda host: _run(host, ours.policy(job, "chunk")),
        "relaycast": lambda host: _peer(host, lambda client: relaycast.drain(client, job)),
        "limit_loop": lambda host: _peer(host, lambda client: limit_loop.drain(client, job)),
    }
    readings: dict[str, list[Reading]] = {name: [] for name in contenders}
    server = Server(len(contenders) * rounds)
    try:
        for _ in range(rounds):
            for name, drain in contenders.items():
                readings[name].append(_on(server.fresh(), job, drain))
    finally:
        server.stop()
    lefts = {reading.left for each in readings.values() for reading in each}
    assert len(lefts) == 1, f"the contenders left different rows: {lefts}"
    found = {name: _summary(each) for name, each in readings.items()}
    ratio = found["relaycast"]["requests"] / found["range"]["requests"]
    fewest = min(found, key=lambda name: found[name]["rows_read_per_1000"])
    ratios = {"relaycast_requests_vs_range": rounded(ratio, 3)}
    result = {"rows": rows, "rounds": rounds, **found, "ratios": ratios, "fewest_rows_read": fewest}
    head = ("", "rows/s", "requests", "statements", "requests / 1,000", "statements / 1,000", "rows read / 1,000")
    keys = ("rows_per_second", "requests", "statements", "requests_per_1000", "statements_per_1000", "rows_read_per_1000")
    lines = [[TITLES[name], *(f"{of[key]:,g}" for key in keys)] for name, of in found.items()]
    return Outcome("d1", result, head, lines, f"relaycast's algorithm sends {ratio:.0f} times the requests of range mode")


TITLES = {
    "range": "retention, range mode",
    "chunk": "retention, chunk mode",
    "relaycast": "relaycast's rowid pruner",
    "limit_loop": "DELETE .. IN (SELECT .. LIMIT 1000)",
}


def _summary(readings: Sequence[Reading]) -> dict[str, Any]:
    last = readings[-1]
    per = 1_000 / last.rows if last.rows else 0.0
    return summary(readings) | {
        "requests": last.requests,
        "requests_per_1000": rounded(last.requests * per),
        "rows_read": last.rows_read,
        "rows_read_per_1000": rounded(last.rows_read * per),
    }


def _on(database: Database | None, job: Job, drain: Callable[[Host], Reading]) -> Reading:
    assert database is not None, "the server has a database for each contender"
    # The real service's quota would only make the chatty ones wait; their requests are counted instead.
    options = Options(pace=Pace(requests=1_000_000, seconds=1.0))
    host = D1(database.account, database.id, token=database.token, base_url=database.url, options=options)
    try:
        _fill(host, job)
        reading = drain(host)
        rows = host.execute(Batch((Statement("SELECT count(*), sum(id), sum(id * (id % 1009)) FROM deliveries"),)))[0].rows
        reading.left = json.dumps(list(rows))
        return reading
    finally:
        host.close()


def _fill(host: Host, job: Job) -> None:
    schema = [s for s in (*SCHEMA.split(";"), *INDEXES[job.indexes]) if s.strip()]
    host.execute(Batch(tuple(map(Statement, schema)), writes=True))
    _insert(host, "workspaces", 2, list(workspaces(job)))
    rows = list(deliveries(job))
    for start in range(0, len(rows), LOADED):
        _insert(host, "deliveries", 7, rows[start : start + LOADED])


def _insert(host: Host, table: str, columns: int, rows: Sequence[tuple[Any, ...]]) -> None:
    values = ", ".join(f"value ->> {n}" for n in range(columns))
    host.execute(Batch((Statement(f"INSERT INTO {table} SELECT {values} FROM json_each(?1)", (json.dumps(rows),)),), writes=True))


def _run(host: Host, rules: dict[str, Any]) -> Reading:
    metered = ours.Metered(host)
    store = ours.Saves(retention.MemoryStore())
    began = time.perf_counter()
    receipt = retention.run(metered, rules, store=store, now=ours.instant(NOW))
    reading = metered.reading
    reading.seconds, reading.saves = time.perf_counter() - began, store.count
    if receipt.outcome != "done":
        raise ours.NotDone(f"{host.name}: the run ended {receipt.outcome} ({receipt.why}): {'; '.join(receipt.warnings)}")
    reading.rows = sum(rule.deleted for rule in receipt.rules)
    return reading


def _peer(host: Host, drain: Callable[[Client], None]) -> Reading:
    client = RemoteClient(host)
    began = time.perf_counter()
    drain(client)
    client.reading.seconds = time.perf_counter() - began
    return client.reading

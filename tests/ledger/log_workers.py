"""Processes that use one database at once. Each prints what it saw as JSON."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

from retention.hosts.base import Host
from retention.hosts.d1 import D1
from retention.hosts.http import Options, Pace
from retention.hosts.sqlite import SQLite
from retention.ledger.append import append, append_once
from retention.ledger.awaiting import START, awaiting
from retention.ledger.cursors import ack
from retention.ledger.listing import list_after
from retention.ledger.log_retention import Place, prune
from retention.ledger.record import record
from retention.ledger.status import apply
from retention.ledger.workspaces import Caller, Workspace, create_workspace
from retention.runner.bound import milliseconds
from tests.ledger.databases import JOBS, TERMINAL
from tests.ledger.driving import drive
from tests.ledger.relay import RELAY, SCOPE


def connect(address: dict[str, str]) -> Host:
    if "path" in address:
        return SQLite(address["path"], busy_seconds=30.0)
    options = Options(pace=Pace(1_000_000, 1.0))
    return D1("account", address["id"], token=address["token"], base_url=address["url"], options=options)


def log(host: Host, n: int, seconds: float) -> dict[str, Any]:
    """Append, append once, ack, list, sweep and prune, with a clock that is wrong by up to a minute."""
    rng, until, wrong = random.Random(n), time.monotonic() + seconds, (n - 2) * 20_000
    aged = JOBS.model_copy(update={"keep": 50})
    inserted: list[list[str]] = []
    acked: dict[str, int] = {}
    faults: list[str] = []
    mark, turns = START, 0
    while time.monotonic() < until or turns < 20:
        turns += 1
        stream, now = f"j{rng.randrange(6)}", milliseconds() + wrong
        kind = rng.choice(["job.requested", "job.execution_started", *TERMINAL])
        if drive(append_once(JOBS, kind, stream=stream, now=now, payload={"callback_url": "u", "by": n}), host).inserted:
            inserted.append([stream, kind])
        drive(append(JOBS, "job.progressed", stream=stream, now=now), host)
        events = drive(list_after(JOBS, stream), host).events
        ids = [event.id for event in events]
        if ids != sorted(set(ids)):
            faults.append(f"out of order: {ids}")
        if events:
            position = drive(ack(JOBS, stream, rng.choice(ids), now=now), host).counts.position
            if position < acked.get(stream, 0):
                faults.append(f"cursor of {stream} went back from {acked[stream]} to {position}")
            acked[stream] = position
        if turns % 5 == 0:
            mark = drive(awaiting(JOBS, mark, limit=2), host).next
            drive(prune(aged, Place(), now=now, rows=50), host)
    return {"inserted": inserted, "faults": faults, "turns": turns}


def claims(host: Host, n: int, seconds: float) -> dict[str, Any]:
    """Record under the same keys as the others, and let the events take effect; make workspaces under the same keys."""
    until, turn = time.monotonic() + seconds, 0
    created, claimed, mutated, ids, secrets = [], [], [], {}, {}
    while time.monotonic() < until or turn < 10:
        kind = f"status.{('active', 'idle', 'blocked')[turn % 3]}"
        event = drive(record(RELAY, SCOPE, kind, {"turn": turn}, id=f"e{n}-{turn}", now=milliseconds(), key=f"k{turn}"), host)
        ids[turn] = event.id
        effect = drive(apply(RELAY, SCOPE, event.id, kind.removeprefix("status."), now=milliseconds()), host)
        claimed += [event.id] * effect.claimed
        mutated += [event.id] * effect.mutated
        caller = Caller(key=f"job-{turn}", owner_key="owner")
        made = drive(create_workspace(caller, Workspace("room"), id=f"w{n}-{turn}", channel=f"c{n}-{turn}", now=milliseconds()), host)
        created += [turn] * made.created
        secrets[turn] = [made.id, made.secret]
        turn += 1
    return {"ids": ids, "claimed": claimed, "mutated": mutated, "created": created, "secrets": secrets}


def run(what: str, address: dict[str, str], *, count: int = 4, seconds: float = 1.0) -> list[dict[str, Any]]:
    """Several processes at once, and what each of them saw."""
    commands = [[sys.executable, "-m", "tests.ledger.log_workers", what, json.dumps(address), str(n), str(seconds)] for n in range(count)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in commands]
    outputs = [process.communicate(timeout=120)[0] for process in running]
    assert [process.returncode for process in running] == [0] * count
    return [json.loads(output) for output in outputs]


def main(arguments: Sequence[str]) -> None:
    what, address, n, seconds = arguments
    host = connect(json.loads(address))
    print(json.dumps({"log": log, "claims": claims}[what](host, int(n), float(seconds))))
    host.close()


if __name__ == "__main__":
    main(sys.argv[1:])

"""Processes that make, do, abandon, sweep and close work on one database. Each prints what went wrong as JSON."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

import retention
from retention.errors import HostError
from retention.events import Log
from retention.hosts.base import Host
from retention.policy.load import parse
from retention.policy.models import Policy
from retention.policy.sweep_models import Timeout
from retention.steps import Batch, Statement
from tests.ledger.ledgers import POLICY
from tests.ledger.log_workers import connect

LEASE_MS = 1_500
KEEP_MS = 300


def policy() -> Policy:
    """The preset at a pace at which work stalls, ends and goes within a second, and a reader counts as gone within two."""
    chosen = parse(POLICY)
    assert chosen.events is not None
    timeout = Timeout(default="200ms", floor="100ms")  # type: ignore[arg-type]
    # Seconds, as the ledger's texts have, are too coarse for this pace.
    ages = [parse_age("occurrence_at"), *chosen.sweeps[1].age[:1]]
    sweeps = tuple(
        s.model_copy(update={"timeout": timeout, "age": (age,), "set": s.set | {"occurrence_at": "{now:unix_ms}"}})
        for s, age in zip(chosen.sweeps, ages, strict=True)
    )
    closures = tuple(c.model_copy(update={"keep": KEEP_MS, "replay": None, "age": (ages[0],)}) for c in chosen.closures)
    events = chosen.events.model_copy(update={"stopped_after": 2_000})
    limits = chosen.limits.model_copy(update={"statements": None, "deadline": None})
    return chosen.model_copy(update={"sweeps": sweeps, "closures": closures, "events": events, "limits": limits})


def parse_age(column: str) -> Any:
    age = parse(POLICY).sweeps[1].age[0]
    return age.model_copy(update={"column": column})


def now() -> int:
    return time.time_ns() // 1_000_000


def work(host: Host, n: int, seconds: float) -> dict[str, Any]:
    rng, until, chosen = random.Random(n), time.monotonic() + seconds, policy()
    log = Log(host, chosen)
    faults: list[str] = []
    acked: dict[str, int] = {}
    done = {"ended": 0, "closed": 0, "finished": 0, "turns": 0}
    names = [s.name for s in chosen.sweeps]

    def send(sql: str, *params: str) -> list[tuple[Any, ...]]:
        while True:
            try:
                (result,) = host.execute(Batch((Statement(sql, params),), writes=True))
                return [tuple(row) for row in result.rows]
            except HostError as error:
                if not error.retryable:
                    raise

    while time.monotonic() < until or done["turns"] < 10:
        done["turns"] += 1
        id = f"p{n}-{done['turns']}"
        send("INSERT INTO schedule_slots (id, schedule_id, occurrence_at) VALUES (?1, 'p', CAST(?2 AS INTEGER))", id, str(now()))
        send("INSERT INTO schedule_slot_items (slot_id, target_id) VALUES (?1, 'a'), (?1, 'b')", id)
        log.append_once("job.requested", stream=id, payload={"callback_url": "u"})
        if rng.random() < 0.6:
            _do(send, log, id, faults, done, abandon=rng.random() < 0.4)
        _ack(send, log, acked, faults)
        if rng.random() < 0.7:
            receipt = retention.sweep(host, chosen, allow_mass=names)
            done["ended"] += sum(s.ended for s in receipt.sweeps)
            faults += [f"sweep: {receipt.warnings}"] * (receipt.outcome in ("failed", "refused"))
        else:
            send("UPDATE outbox SET status = 'done' WHERE status = 'pending' AND substr(id, 1, 1) <= ?1", "b")
            receipt = retention.run(host, chosen.model_copy(update={"sweeps": ()}))
            done["closed"] += receipt.closures[0].closed if receipt.closures else 0
            faults += [f"run: {receipt.warnings}, {receipt.closures}"] * (receipt.outcome in ("failed", "refused"))
    return {"faults": faults, **done}


def _do(send: Any, log: Log, id: str, faults: list[str], done: dict[str, int], abandon: bool) -> None:
    """Claim the slot and do its work within the lease, in which nobody may end it; or leave it."""
    began = now()
    claim = (
        "UPDATE schedule_slots SET status = 'running', lease_owner = ?1, heartbeat_at = CAST(?2 AS INTEGER), "
        "lease_until = CAST(?3 AS INTEGER) WHERE id = ?1 AND status = 'pending' RETURNING 1"
    )
    if not send(claim, id, str(began), str(began + (1 if abandon else LEASE_MS))) or abandon:
        return
    log.append_once("job.execution_started", stream=id)
    send("UPDATE schedule_slot_items SET status = 'submitted' WHERE slot_id = ?1 AND target_id = 'a'", id)
    finish = (
        "UPDATE schedule_slots SET status = 'partial', occurrence_at = CAST(?2 AS INTEGER), lease_owner = NULL, lease_until = NULL "
        "WHERE id = ?1 AND lease_owner = ?1 AND status = 'running' RETURNING 1"
    )
    finished = send(finish, id, str(now()))
    if not finished and now() < began + LEASE_MS:
        faults.append(f"{id} was ended {now() - began} ms after its claim")
    if finished:
        done["finished"] += 1
        send("UPDATE schedule_slot_items SET status = 'failed' WHERE slot_id = ?1 AND status = 'pending'", id)
        log.append_once("job.outcome_succeeded", stream=id)


def _ack(send: Any, log: Log, acked: dict[str, int], faults: list[str]) -> None:
    streams = send("SELECT slot_id FROM delivery_events WHERE ?1 = '' GROUP BY slot_id ORDER BY random() LIMIT 3", "")
    for (stream,) in streams:
        events = log.list_after(stream).events
        ids = [event.id for event in events]
        if ids != sorted(set(ids)) or [e.at for e in events] != sorted(e.at for e in events):
            faults.append(f"out of order: {stream} {events}")
        if not events:
            continue
        position = log.ack(stream, ids[-1]).counts.position
        # A unit that goes takes its reader's place with it.
        if position < acked.get(stream, 0) and log.list_after(stream).events:
            faults.append(f"the place in {stream} went back from {acked[stream]} to {position}")
        acked[stream] = position


def run(address: dict[str, str], *, count: int = 2, seconds: float = 5.0) -> list[dict[str, Any]]:
    """Several processes at once, and what each of them saw."""
    commands = [[sys.executable, "-m", "tests.ledger.job_workers", json.dumps(address), str(n), str(seconds)] for n in range(count)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in commands]
    outputs = [process.communicate(timeout=120)[0] for process in running]
    assert [process.returncode for process in running] == [0] * count
    return [json.loads(output) for output in outputs]


def main(arguments: Sequence[str]) -> None:
    address, n, seconds = arguments
    host = connect(json.loads(address))
    print(json.dumps(work(host, int(n), float(seconds))))
    host.close()


if __name__ == "__main__":
    main(sys.argv[1:])

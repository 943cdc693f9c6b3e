"""`startup`: an empty tick of a schedule, as a process and as a library call."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import retention
from retention.hosts.sqlite import SQLite

from .data import NOW
from .growth import events, policy
from .measure import rounded
from .ours import instant
from .report import Outcome

__all__ = ["startup", "tick"]

BEFORE = "2026-01-01T00:00:00Z"
"""A clock at which no row of the table has passed its keep."""

POLICY = """version = 1

[[rules]]
table = "events"
keep = "400d"
age = { column = "at", format = "unix_s" }
ordered = true
"""


def startup(folder: Path, *, rows: int, rounds: int) -> Outcome:
    """A small table, `ordered`, nothing expired; the first tick, which walks the whole table, is left out."""
    database = events(folder / "app.db", rows)
    file = folder / "retention.toml"
    file.write_text(POLICY)
    ticks = [tick(database, file) for _ in range(rounds + 1)][1:]
    result = {
        "rows": rows,
        "tick_seconds": rounded(statistics.median(seconds for seconds, _ in ticks), 3),
        "tick_mb": rounded(max(mb for _, mb in ticks), 3),
        "python_seconds": rounded(statistics.median(_process([sys.executable, "-c", "pass"])[0] for _ in range(rounds)), 3),
        "library_ms": rounded(_library(database, rounds) * 1e3, 3),
        "library_with_plan_ms": rounded(_library(database, rounds, planned=False) * 1e3, 3),
    }
    names = ("tick_seconds", "tick_mb", "python_seconds", "library_ms", "library_with_plan_ms")
    note = "a tick is `retention run` as a process; python_seconds is an interpreter that does nothing"
    return Outcome("startup", result, names, [[f"{result[name]:g}" for name in names]], note)


def tick(database: Path, policy_file: Path) -> tuple[float, float]:
    """Seconds and peak memory (MB) of one `retention run` that deletes nothing."""
    command = [
        sys.executable,
        "-c",
        "from retention.cli import main; main()",
        "run",
        str(database),
        "-p",
        str(policy_file),
        "--now",
        BEFORE,
        "--json",
    ]
    return _process(command)


def _process(command: list[str]) -> tuple[float, float]:
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    said = process.stderr.read()
    process.stderr.close()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    # wait4 took the status from under Popen, which would else look for it.
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}: {said.decode()}")
    kib = usage.ru_maxrss / 1024 if sys.platform == "darwin" else usage.ru_maxrss
    return seconds, kib / 1024


def _library(database: Path, rounds: int, *, planned: bool = True) -> float:
    """Seconds of one call on an open host, with or without a plan made before."""
    rules = retention.Policy.model_validate(policy("ordered"))
    host, store = SQLite(database), retention.MemoryStore()
    now = instant(NOW - 86_400)
    plan = retention.plan(host, rules, now=now) if planned else None
    taken: list[float] = []
    for _ in range(5 * rounds + 1):
        began = time.perf_counter()
        receipt = retention.run(host, rules, store=store, now=now, plan=plan)
        taken.append(time.perf_counter() - began)
        assert receipt.outcome == "done", receipt
    host.close()
    return statistics.median(taken[1:])

"""`steady`: what other processes see while a run drains the table, and what they cost the run."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import retention

from . import ours
from .client import FileClient
from .data import NOW, Job, build, copy
from .measure import percentile, rounded, waits
from .neighbour import Habit
from .peers import bare_delete, limit_loop
from .report import Outcome
from .svg import Axis, Series, curves

__all__ = ["Beside", "neighbour", "steady"]

ALONE_S = 2.0
"""how long the writer runs with nobody beside it, s"""

ROLLBACK_S = 8
"""deadline of a run on a rollback-journal file, s: a few of the long reads beside it"""

SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9998)


@dataclass(slots=True)
class Beside:
    """What another process saw.

    Attributes:
        taken: (start, s) of each of its statements that began in the span of interest.
        wal_bytes: the largest log file.
    """

    taken: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    wal_bytes: int = 0

    @property
    def waits(self) -> list[float]:
        """Seconds, one for each statement."""
        return [seconds for _, seconds in self.taken]

    def without(self, other: Beside) -> Beside:
        """The same with what fell into the other's statements taken off."""
        spans = [(at, at + seconds) for at, seconds in other.taken]
        taken = [(a, s - sum(max(0.0, min(a + s, end) - max(a, begin)) for begin, end in spans)) for a, s in self.taken]
        return Beside(taken, self.wal_bytes)


def steady(folder: Path, *, rows: int, rounds: int) -> Outcome:
    """Rounds of: the writer alone, a run alone, both together; the peers once each beside the writer."""
    job = Job(rows)
    source = build(job, folder)
    target = folder / "run.db"
    alone, beside = Beside(), Beside()
    ratios: list[float] = []
    for _ in range(rounds):
        copy(source, target)
        with neighbour(target, "insert", alone):
            time.sleep(ALONE_S)
        copy(source, target)
        lone = ours.drain(target, ours.policy(job))[0]
        copy(source, target)
        with neighbour(target, "insert", beside):
            busy = ours.drain(target, ours.policy(job))[0]
        ratios.append(busy.rate / lone.rate)
    peers = {"bare_delete": Beside(), "limit_loop": Beside()}
    for name, drain in (("bare_delete", bare_delete.drain), ("limit_loop", limit_loop.drain)):
        copy(source, target)
        with neighbour(target, "insert", peers[name]):
            client = FileClient(target)
            drain(client, job)
            client.close()
    rollback, ended = _rollback(folder, rows, "read")
    writer, ended_too = _rollback(folder, rows, "trickle")
    seen = {"alone": alone, "beside": beside, **peers, "rollback_journal": rollback, "rollback_writer": writer}
    result = {
        "rows": rows,
        "rounds": rounds,
        **{name: waits(of.waits) | {"count": len(of.waits)} for name, of in seen.items()},
        "wal_mb": rounded(beside.wal_bytes / 1e6),
        "peers_wal_mb": {name: rounded(of.wal_bytes / 1e6) for name, of in peers.items()},
        "rollback_journal_run": ended,
        "rollback_writer_run": ended_too,
        "speed_ratio": rounded(statistics.median(ratios), 3),
        "p50_ratio": rounded(percentile(beside.waits, 0.5) / (percentile(alone.waits, 0.5) or 1e-9), 3),
    }
    head = ("the other process", "statements", "p50 ms", "p99 ms", "max ms", "WAL MB")
    lines = [_line(TITLES[name], of) for name, of in seen.items()]
    note = f"speed beside the writer against alone: {result['speed_ratio']:g}"
    return Outcome("steady", result, head, lines, note, {"steady.svg": _plot(seen)})


TITLES = {
    "alone": "alone",
    "beside": "beside retention, range mode",
    "bare_delete": "beside one bare DELETE",
    "limit_loop": "beside the LIMIT loop",
    "rollback_journal": "a short reader on a rollback journal, beside retention and a reader of 3 s",
    "rollback_writer": "a small writer there, its waits for that reader taken off",
}


def _rollback(folder: Path, rows: int, habit: Habit) -> tuple[Beside, dict[str, object]]:
    """A rollback-journal file: someone reads for seconds at a time, someone else wants one row now and then, and we delete."""
    job = Job(rows, journal="delete")
    target = copy(build(job, folder), folder / "rollback.db")
    short, long = Beside(), Beside()
    with neighbour(target, "hold", long, whole=True), neighbour(target, habit, short):
        receipt = retention.run(target, ours.policy(job), now=ours.instant(NOW), limits={"deadline": f"{ROLLBACK_S}s"})
    # Nobody can commit while someone reads: what a writer waits for the long reader is not for us.
    seen = short if habit == "read" else short.without(long)
    return seen, {"outcome": receipt.outcome, "why": receipt.why, "rows": sum(rule.deleted for rule in receipt.rules)}


def _line(title: str, of: Beside) -> list[str]:
    ms = waits(of.waits)
    numbers = [f"{ms[key]:,.2f}" for key in ("p50_ms", "p99_ms", "max_ms")]
    return [title, f"{len(of.waits):,}", *numbers, f"{of.wal_bytes / 1e6:.1f}"]


@contextmanager
def neighbour(path: Path, habit: Habit, into: Beside, *, whole: bool = False) -> Generator[None]:
    """Run another process beside the block; only what it began inside it counts, unless the `whole` of it is asked for."""
    log = path.with_suffix(f".{habit}.json")
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.neighbour", str(path), str(log), habit], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdout.readline()
        time.sleep(0.2)
        began = time.monotonic()
        yield
        ended = time.monotonic()
        # The log never shrinks while a connection is open, so its size now is the largest that it had.
        wal = Path(f"{path}-wal")
        into.wal_bytes = max(into.wal_bytes, wal.stat().st_size if wal.exists() else 0)
    finally:
        process.stdin.close()
        process.wait(timeout=60)
        process.stdout.close()
    into.taken += [(at, seconds) for at, seconds in json.loads(log.read_text()) if whole or began <= at <= ended]


def _rising(seconds: list[float]) -> list[tuple[float, float]]:
    """(one in so many, waits at least so many ms), as far as there were so many."""
    ones = [1 / (1 - share) for share in SHARES if 1 / (1 - share) < len(seconds)]
    dots = [(one, percentile(seconds, 1 - 1 / one)) for one in ones] + [(max(len(seconds), 1), max(seconds, default=0.0))]
    return [(one, max(wait, 1e-6) * 1e3) for one, wait in dots]


def _plot(seen: dict[str, Beside]) -> str:
    drawn = {name: of for name, of in seen.items() if not name.startswith("rollback")}
    lines = [Series(TITLES[name], _rising(of.waits)) for name, of in drawn.items()]
    x = Axis("one insert in so many waits at least so long", 1, 10_000)
    y = Axis.around("wait for one insert, ms", [dot[1] for line in lines for dot in line.dots])
    return curves("The other writer's waits", x, y, lines)

"""Another process on the same database, which writes down how long each of its statements took.

`python -m bench.neighbour DB LOG HABIT` until its standard input closes; LOG gets `[start, seconds]` pairs as JSON, on the system's
monotonic clock, which all processes share.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import apsw

from .data import NOW

__all__ = ["HABITS", "HELD_S", "Habit", "Life", "main"]

Habit = Literal["insert", "trickle", "read", "hold"]

HELD_S = 3.0
"""s for which `hold` keeps a read open"""

RESTED_S = 1.0
"""s between two of its reads: without a rest nobody could ever commit to a rollback-journal file"""

PATIENCE_S = 30
"""busy timeout, s"""

INSERT = (
    "INSERT INTO deliveries (workspace_id, seq, status, token, created_at, payload) "
    "VALUES ('ws_000', 0, 'queued', hex(randomblob(8)), ?1, '')"
)


def insert(db: apsw.Connection) -> None:
    """One small commit."""
    db.execute(INSERT, (NOW,))


def read(db: apsw.Connection) -> None:
    """One row by its key."""
    db.execute("SELECT payload FROM deliveries WHERE id = 1").fetchall()


def hold(db: apsw.Connection) -> None:
    """A report that takes its time: nobody may commit to a rollback-journal file meanwhile."""
    with db:
        read(db)
        time.sleep(HELD_S)


@dataclass(frozen=True, slots=True)
class Life:
    """Attributes:
    act: one statement or transaction.
    interval: s from its beginning to the next one's, if it has returned by then.
    rest: s that it leaves at least.
    looks: s between two looks at a lock; None for SQLite's own busy handler, which sleeps up to 100 ms.
    """

    act: Callable[[apsw.Connection], None]
    interval: float = 0.001
    rest: float = 0.0
    looks: float | None = None


HABITS: dict[Habit, Life] = {
    "insert": Life(insert),
    "trickle": Life(insert, interval=0.02, looks=0.001),
    "read": Life(read),
    "hold": Life(hold, rest=RESTED_S),
}


def main(path: str, log: str, habit: Habit) -> None:
    """Follow the habit until told to stop. A wait for a lock counts as part of the statement, as it does for an application."""
    db = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    life, taken, stopped = HABITS[habit], list[tuple[float, float]](), _stopped()
    _wait(db, life.looks)
    print("ready", flush=True)
    due = time.monotonic()
    while not stopped():
        began = time.monotonic()
        life.act(db)
        ended = time.monotonic()
        taken.append((began, ended - began))
        due = max(due + life.interval, ended + life.rest)
        time.sleep(max(0.0, due - time.monotonic()))
    db.close()
    Path(log).write_text(json.dumps(taken))


def _wait(db: apsw.Connection, looks: float | None) -> None:
    if looks is None:
        db.set_busy_timeout(PATIENCE_S * 1_000)
        return
    step = looks

    def again(calls: int) -> bool:
        time.sleep(step)
        return calls * step < PATIENCE_S

    db.set_busy_handler(again)


def _stopped() -> Callable[[], bool]:
    """A question that costs the loop nothing: a thread waits for the end of standard input."""
    end = threading.Event()

    def wait() -> None:
        sys.stdin.read()
        end.set()

    threading.Thread(target=wait, daemon=True).start()
    return end.is_set


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], next(habit for habit in HABITS if habit == sys.argv[3]))

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
from pathlib import Path
from typing import Literal

import apsw

from .data import NOW

__all__ = ["HABITS", "HELD_S", "INTERVAL_S", "Habit", "main"]

Habit = Literal["insert", "read", "hold"]

INTERVAL_S = 0.001
"""s between two statements, if the first has returned by then"""

HELD_S = 3.0
"""s for which `hold` keeps a read open"""

RESTED_S = 1.0
"""s between two of its reads: without a rest nobody could ever commit to a rollback-journal file"""

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
    time.sleep(RESTED_S)


HABITS: dict[Habit, Callable[[apsw.Connection], None]] = {"insert": insert, "read": read, "hold": hold}


def main(path: str, log: str, habit: Habit) -> None:
    """Follow the habit until told to stop. A wait for a lock counts as part of the statement, as it does for an application."""
    db = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    db.set_busy_timeout(30_000)
    act, taken, stopped = HABITS[habit], list[tuple[float, float]](), _stopped()
    print("ready", flush=True)
    due = time.monotonic()
    while not stopped():
        began = time.monotonic()
        act(db)
        ended = time.monotonic()
        taken.append((began, ended - began))
        due = max(due + INTERVAL_S, ended)
        time.sleep(max(0.0, due - time.monotonic()))
    db.close()
    Path(log).write_text(json.dumps(taken))


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

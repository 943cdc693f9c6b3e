"""The application beside a run: a process that commits one small insert every millisecond and writes down how long each took.

`python -m bench.writer DB LOG` until its standard input closes; LOG gets `[start, seconds]` pairs as JSON, on the system's monotonic clock.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import apsw

from .data import NOW

__all__ = ["INTERVAL", "main"]

INTERVAL = 0.001
"""s between two inserts, if the first has returned by then"""

INSERT = (
    "INSERT INTO deliveries (workspace_id, seq, status, token, created_at, payload) "
    "VALUES ('ws_000', 0, 'queued', hex(randomblob(8)), ?, '')"
)


def main(path: str, log: str) -> None:
    """Insert until told to stop. A wait for a lock counts as part of the insert, as it does for an application."""
    db = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    db.set_busy_timeout(30_000)
    taken: list[tuple[float, float]] = []
    stopped = _stopped()
    print("ready", flush=True)
    due = time.monotonic()
    while not stopped():
        began = time.monotonic()
        db.execute(INSERT, (NOW,))
        ended = time.monotonic()
        taken.append((began, ended - began))
        due = max(due + INTERVAL, ended)
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
    main(*sys.argv[1:])

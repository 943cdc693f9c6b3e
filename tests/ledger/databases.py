"""A database for a test of the ledger, whichever host it is on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from retention.hosts.base import Host
from retention.policy.ledger_models import Callback, Cursors, Events, Stamp
from retention.steps import Batch, Statement
from tests.ledger.driving import drive

NOW = 1_788_962_400_000
"""2026-09-09T14:00:00Z in ms."""

MS = "unix_ms"

PUBLIC = {
    "job.requested": "job.accepted",
    "job.execution_started": "job.started",
    "job.progressed": "job.progress",
    "job.outcome_succeeded": "job.succeeded",
    "job.outcome_failed": "job.failed",
    "job.outcome_expired": "job.expired",
    "job.outcome_cancelled": "job.cancelled",
}
HIDDEN = (
    "execution.summary", "delivery.duplicate", "media.fallback", "outbox.claimed", "outbox.deferred", "outbox.delivered",
    "outbox.retry_scheduled", "outbox.dead", "outbox.cancelled", "outbox.replay_requested",
)  # fmt: skip
TERMINAL = ("job.outcome_succeeded", "job.outcome_failed", "job.outcome_expired", "job.outcome_cancelled")

CALLBACK = Callback(
    start="job.requested",
    target="callback_url",
    terminal=TERMINAL,
    table="outbox",
    columns={
        "id": "{uuid}",
        "kind": "event_callback",
        "idempotency_key": "job-event:{stream}:{event_id}",
        "delivery_target": "{target}",
        "payload_json": "{event}",
        "max_attempts": 8,
        "next_attempt_at": "{now}",
        "created_at": "{now}",
        "updated_at": "{now}",
    },
)

JOBS = Events(
    table="delivery_events",
    stream="slot_id",
    kind="event",
    at=Stamp(column="ts", format=MS),
    payload="detail",
    public=PUBLIC,
    hidden=HIDDEN,
    once=("job.requested", "job.execution_started", *TERMINAL, "execution.summary"),
    cursors=Cursors(
        table="job_event_cursors",
        stream="job_id",
        position="acked_row_id",
        at=Stamp(column="acked_at", format=MS),
        moved=Stamp(column="updated_at", format=MS),
    ),
    callback=CALLBACK,
)
"""The ledger's own log: one consumer, a public name for some kinds, callbacks into the outbox."""

NOTES_SCHEMA = """
CREATE TABLE "note log" ("key" INTEGER PRIMARY KEY AUTOINCREMENT, "of" TEXT, "what" TEXT NOT NULL, "when" INTEGER, "body" TEXT);
CREATE INDEX notes_time ON "note log" ("of", "when");
CREATE INDEX notes_kind ON "note log" ("of", "what");
CREATE TABLE "readers" ("who" TEXT NOT NULL, "of" TEXT NOT NULL, "upto" INTEGER NOT NULL, "moved" INTEGER, PRIMARY KEY ("who", "of"));
"""

NOTES = Events(
    table="note log",
    id="key",
    stream="of",
    kind="what",
    at=Stamp(column="when", format="unix_s"),
    payload="body",
    once=("opened", "closed"),
    keep="30d",
    stopped_after="14d",
    cursors=Cursors(table="readers", consumer="who", stream="of", position="upto", moved=Stamp(column="moved", format="unix_s")),
)
"""A log with awkward names, times in seconds, several consumers, and every kind public."""


class Database:
    """One database, and as many hosts on it as a test asks for."""

    def __init__(self, connect: Callable[[], Host]) -> None:
        self._connect = connect
        self._opened: list[Host] = []
        self.host = self.open()

    def open(self) -> Host:
        host = self._connect()
        self._opened.append(host)
        return host

    def script(self, *statements: str) -> None:
        """Several writes, in one batch."""
        self.host.execute(Batch(tuple(Statement(s) for s in statements if s.strip()), writes=True))

    def rows(self, sql: str, *params: Any) -> list[tuple[Any, ...]]:
        (result,) = self.host.execute(Batch((Statement(sql, params),)))
        return [tuple(row) for row in result.rows]

    def value(self, sql: str, *params: Any) -> Any:
        return self.rows(sql, *params)[0][0]

    def do(self, engine: Any) -> Any:
        """Drive an engine without pauses."""
        return drive(engine, self.host, sleep=lambda _: None)

    def close(self) -> None:
        for host in self._opened:
            host.close()


def split(script: str) -> Sequence[str]:
    """The statements of a script, where no statement but a trigger holds a semicolon."""
    import sqlite3

    statements, rest = [], ""
    for part in script.split(";"):
        rest += part + ";"
        if sqlite3.complete_statement(rest):
            bare = "\n".join(line for line in rest.splitlines() if not line.lstrip().startswith("--")).strip()
            if bare.strip(";").strip():
                statements.append(bare)
            rest = ""
    return statements

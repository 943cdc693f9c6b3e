"""What each operation may cost: VM steps that do not grow with the log, and the indexes that this takes."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from typing import Any

import apsw
import pytest

from retention.hosts.sqlite import SQLite
from retention.ledger.append import append, append_once
from retention.ledger.awaiting import Mark, awaiting
from retention.ledger.cursors import ack
from retention.ledger.listing import counts, list_after
from retention.ledger.log_retention import Place, prune
from retention.ledger.log_schema import advice
from retention.steps import Engine
from tests.ledger.databases import JOBS, NOTES, NOTES_SCHEMA, NOW
from tests.ledger.driving import drive

DAY = 86_400_000
AGED = JOBS.model_copy(update={"keep": 30 * DAY, "stopped_after": 14 * DAY})


def filled(streams: int, *, advised: bool) -> apsw.Connection:
    """Ended jobs of four events each, all acked, and one open job, `last`, that has 300 events."""
    connection = apsw.Connection(":memory:")
    connection.execute((files("retention.presets") / "ledger" / "schema.sql").read_text())
    kinds = "VALUES (1, 'job.requested'), (2, 'job.execution_started'), (3, 'outbox.delivered'), (4, 'job.outcome_succeeded')"
    connection.execute(
        f"""
        WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < {streams}), k(place, event) AS ({kinds})
        INSERT INTO delivery_events (ts, slot_id, event, detail)
        SELECT {NOW - 100 * DAY} + v, 'j' || v, event, '{{"callback_url":"u"}}' FROM n, k ORDER BY v, place;
        INSERT INTO job_event_cursors SELECT slot_id, max(ts), max(id), max(ts) FROM delivery_events GROUP BY slot_id;
        WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 300)
        INSERT INTO delivery_events (ts, slot_id, event, detail)
        SELECT {NOW} + v, 'last', iif(v = 1, 'job.requested', 'job.progressed'), '{{"callback_url":"u"}}' FROM n
        """
    )
    if advised:
        host = SQLite(connection)
        for needed in drive(advice(AGED, host.capabilities), host):
            connection.execute(needed.sql)
    return connection


def steps(connection: apsw.Connection, engine: Engine[object]) -> int:
    """VM steps of everything an operation sends (sqlite.org/c3ref/c_stmtstatus_counter.html)."""
    spent = 0

    def note(event: dict[str, Any]) -> None:
        nonlocal spent
        spent += event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"]

    host = SQLite(connection)
    connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, note)
    drive(engine, host)
    connection.trace_v2(0, None)
    return spent


OPERATIONS: dict[str, Callable[[], Engine[object]]] = {
    "append": lambda: append(AGED, "job.progressed", stream="last", now=NOW),
    "append_once": lambda: append_once(AGED, "job.outcome_failed", stream="last", now=NOW),
    "list_after": lambda: list_after(AGED, "j100", 1),
    "counts": lambda: counts(AGED, "j100"),
    "ack": lambda: ack(AGED, "last", "evt-1-1", now=NOW),
    "awaiting": lambda: awaiting(AGED, Mark(0, 0), limit=50),
    "prune": lambda: prune(AGED, Place(), now=NOW, rows=200),
}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_no_operation_grows_with_the_log(operation: str) -> None:
    small, large = (steps(filled(streams, advised=True), OPERATIONS[operation]()) for streams in (200, 4_000))
    assert large <= small * 1.05 + 50


def test_an_append_reads_one_row_through_the_advised_index_and_else_the_whole_stream() -> None:
    without, with_it = (steps(filled(200, advised=advised), OPERATIONS["append"]()) for advised in (False, True))
    assert without > 300 * 5 > 5 * with_it


def test_the_awaiting_sweep_skips_what_is_no_start_event_through_the_advised_index() -> None:
    """Behind the mark stand one start event and 299 others."""
    without, with_it = (steps(filled(200, advised=advised), awaiting(AGED, Mark(800, 800))) for advised in (False, True))
    assert without > 5 * with_it


def test_a_pages_delete_costs_the_page_and_not_the_consumers_cursors() -> None:
    """A consumer's cursors are many; its name and its last move are looked up once a page, each through an index."""
    connection = apsw.Connection(":memory:")
    connection.execute(NOTES_SCHEMA)
    host = SQLite(connection)
    for needed in drive(advice(NOTES, host.capabilities), host):
        connection.execute(needed.sql)
    numbers = "WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < {})"
    events = f"""INSERT INTO "note log" ("of", what, "when") SELECT 's' || v, 'edited', {(NOW - 60 * DAY) // 1000} FROM n"""
    connection.execute(f"{numbers.format(500)} {events}")
    spent: list[int] = []
    for count in (500, 5_000):
        cursors = f"INSERT INTO readers SELECT column1, 's' || v, 0, {NOW // 1000} FROM n, (VALUES ('a'), ('b'), ('c'))"
        connection.execute(f"DELETE FROM readers; {numbers.format(count)} {cursors}")
        spent.append(steps(connection, prune(NOTES, Place(), now=NOW, rows=100)))
    assert spent[1] <= spent[0] * 1.05 + 50

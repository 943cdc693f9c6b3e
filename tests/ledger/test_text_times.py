"""A log whose times are text does what one with numbers does, to the second."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retention.ledger.append import append, append_once
from retention.ledger.cursors import ack
from retention.ledger.listing import list_after
from retention.ledger.log_retention import Place, prune
from retention.ledger.record import record
from retention.ledger.sql import unit
from retention.ledger.status import apply
from retention.policy.ledger_models import Cursors, Stamp
from tests.ledger.databases import NOTES, NOW, Database
from tests.ledger.relay import RELAY, SCOPE, agent, workspace

DAY = 86_400_000
MOVED = Cursors(table="readers", consumer="who", stream="of", position="upto", moved=Stamp(column="moved", format="utc_text"))
TEXT = NOTES.model_copy(update={"at": Stamp(column="when", format="utc_text"), "cursors": MOVED})


@pytest.fixture
def texts(notes: Database) -> Database:
    """The same tables with a DATETIME column, which is what such a log has, and a TEXT one."""
    notes.script(
        'DROP TABLE "note log"', "DROP TABLE readers",
        'CREATE TABLE "note log" ("key" INTEGER PRIMARY KEY AUTOINCREMENT, "of" TEXT, "what" TEXT NOT NULL, "when" DATETIME, "body" TEXT)',
        'CREATE TABLE readers ("who" TEXT NOT NULL, "of" TEXT NOT NULL, "upto" INTEGER NOT NULL, "moved" TEXT, PRIMARY KEY ("who", "of"))',
    )  # fmt: skip
    return notes


def story(database: Database, log: Any) -> list[object]:
    def write(stream: str, days: float, kind: str = "edited") -> int:
        return database.do(append(log, kind, stream=stream, now=int(NOW - days * DAY))).event.id

    told: list[object] = [database.do(append_once(log, "opened", stream="s", now=NOW - 50 * DAY, payload={"by": "me"}))]
    told.append(database.do(append_once(log, "opened", stream="s", now=NOW)))
    read = write("s", 48)
    told.append(database.do(append(log, "edited", stream="s", now=NOW - 49 * DAY)).event.at)
    told.append(database.do(append(log, "edited", stream="s", now=NOW - 45 * DAY, at=NOW)).poisoned)
    write("t", 20)
    told.append(database.do(ack(log, "s", read, now=NOW - 44 * DAY, consumer="anna")))
    page = database.do(list_after(log, "s", None, consumer="anna"))
    told += [page, [event.event_id for event in page.events]]
    told.append(database.do(list_after(log, "s", page.events[0].event_id)))
    told.append(database.do(prune(log, Place(), now=NOW, rows=100)))
    told.append(database.do(prune(log, Place(), now=NOW + DAY, rows=100)))
    told.append(database.do(list_after(log, "s", None, consumer="anna")))
    return told


def test_it_does_what_numbers_do(notes: Database, request: pytest.FixtureRequest) -> None:
    by_numbers = story(notes, NOTES)
    assert story(request.getfixturevalue("texts"), TEXT) == by_numbers


def test_what_is_stored_is_the_time_of_the_application(texts: Database) -> None:
    texts.do(append(TEXT, "edited", stream="s", now=NOW + 999))
    assert texts.rows('SELECT "when" FROM "note log"') == [("2026-09-09 14:00:00",)]
    texts.do(ack(TEXT, "s", 1, now=NOW, consumer="anna"))
    assert texts.rows("SELECT moved FROM readers") == [("2026-09-09 14:00:00",)]


def test_time_never_falls_behind_a_fraction_and_is_not_taken_from_what_is_no_time(texts: Database) -> None:
    insert = """INSERT INTO "note log" ("of", what, "when") VALUES """
    texts.script(
        insert + "('s', 'edited', '2026-09-09 13:59:59.25')",
        insert + "('s', 'edited', 'tomorrow'), ('s', 'edited', '2026-09-10'), ('s', 'edited', 7), ('s', 'edited', NULL)",
    )
    event = texts.do(append(TEXT, "edited", stream="s", now=NOW - 60_000)).event
    assert event.at == NOW - 750
    assert texts.rows('SELECT "when" FROM "note log" WHERE "key" = 6') == [("2026-09-09 13:59:59.25",)]


@pytest.mark.parametrize("at", ["'x'", "'2020-01-01'", "'2020-01-01T00:00:00Z'", "1577836800", "NULL", "x'00'", "'2020-02-30 00:00:00'"])
def test_an_event_whose_time_cannot_be_read_stays(texts: Database, at: str) -> None:
    texts.script(f"""INSERT INTO "note log" ("of", what, "when") VALUES (NULL, 'edited', {at}), (NULL, 'edited', '2020-01-01 00:00:00')""")
    assert texts.do(prune(TEXT, Place(), now=NOW)).deleted == 1


def test_claims_with_text_times(relay: Database) -> None:
    workspace(relay)
    agent(relay)
    text = {"at": Stamp(column="created_at", format="utc_text"), "applied": Stamp(column="status_applied_at", format="utc_text")}
    claims = RELAY.model_copy(update={"record": RELAY.record.model_copy(update=text)})  # type: ignore[union-attr]
    event = relay.do(record(claims, SCOPE, "status.idle", {}, id="e1", now=NOW, key="k"))
    assert (event.at, relay.do(record(claims, SCOPE, "status.idle", {}, id="e2", now=NOW + DAY, key="k")).at) == (NOW, NOW)
    assert relay.do(apply(claims, SCOPE, "e1", "idle", now=NOW)).mutated
    assert relay.rows("SELECT created_at, status_applied_at FROM session_events") == [("2026-09-09 14:00:00",) * 2]


@given(st.integers(0, 253_402_300_799_999))
def test_a_text_reads_back_as_the_second_it_was_written_in(ms: int) -> None:
    text = unit("utc_text")
    assert text.decode(str(text.encode(ms))) == ms // 1000 * 1000


@pytest.mark.parametrize(
    ("text", "ms"),
    [("2026-09-09 14:00:00.5", NOW + 500), ("2026-09-09 14:00:00.1234", NOW + 124), ("2026-09-09 14:00:00.1230", NOW + 123), ("x", 0)],
)
def test_a_fraction_is_read_as_sql_reads_it(texts: Database, text: str, ms: int) -> None:
    texts.script(f"""INSERT INTO "note log" ("of", what, "when") VALUES ('s', 'edited', '{text}')""")
    (event,) = texts.do(list_after(TEXT, "s")).events
    assert event.at == ms
    if ms:
        assert texts.do(list_after(TEXT, "s", event.event_id)).gap is False

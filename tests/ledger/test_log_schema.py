from __future__ import annotations

import pytest

from retention.errors import Refused
from retention.events import Log
from retention.ledger.log_schema import Advice, advice, inspect
from retention.policy.ledger_models import Events
from tests.ledger.databases import JOBS, NOTES, Database


def advised(database: Database, log: Events) -> tuple[Advice, ...]:
    return database.do(advice(log, database.host.capabilities))


def inspected(database: Database, log: Events) -> None:
    database.do(inspect(log, database.host.capabilities))


def test_the_preset_and_a_log_with_awkward_names_are_fine(jobs: Database) -> None:
    inspected(jobs, JOBS)


def test_awkward_names(notes: Database) -> None:
    inspected(notes, NOTES)


@pytest.mark.parametrize(
    "key", ["INTEGER PRIMARY KEY", "INT PRIMARY KEY", "TEXT PRIMARY KEY", "INTEGER", "INTEGER PRIMARY KEY /* AUTOINCREMENT */"]
)
def test_a_log_whose_ids_are_given_again_is_refused(empty: Database, key: str) -> None:
    empty.script(f"CREATE TABLE log (id {key}, s TEXT, k TEXT, at INTEGER)")
    log = Events(table="log", stream="s", kind="k", at=JOBS.at.model_copy(update={"column": "at"}))
    with pytest.raises(Refused, match="AUTOINCREMENT") as refused:
        inspected(empty, log)
    assert refused.value.why == "schema"
    with pytest.raises(Refused, match="AUTOINCREMENT"):
        Log(empty.host, log).append("x", stream="s")
    assert empty.rows("SELECT * FROM log") == []


def test_an_id_that_is_not_the_key_is_refused(jobs: Database) -> None:
    with pytest.raises(Refused, match="AUTOINCREMENT"):
        inspected(jobs, JOBS.model_copy(update={"id": "ts"}))


@pytest.mark.parametrize(
    "key",
    ['"of" TEXT', '"of" TEXT PRIMARY KEY', '"of" TEXT, PRIMARY KEY ("who", "of", "upto")', '"of" TEXT, UNIQUE ("who")'],
)
def test_cursors_without_their_unique_key_are_refused_with_the_index_to_create(notes: Database, key: str) -> None:
    notes.script("DROP TABLE readers", f'CREATE TABLE readers ("who" TEXT, "upto" INTEGER, "moved" INTEGER, {key})')
    with pytest.raises(Refused, match="CREATE UNIQUE INDEX") as refused:
        inspected(notes, NOTES)
    notes.script(str(refused.value).rpartition("; run ")[2])
    inspected(notes, NOTES)


@pytest.mark.parametrize(
    "index", ['("who", "of") WHERE "upto" > 0', '("who", lower("of"))', '("who", "of", "upto")', '("who")'],
)  # fmt: skip
def test_an_index_that_a_conflict_cannot_name_is_no_unique_key(notes: Database, index: str) -> None:
    notes.script("DROP TABLE readers", 'CREATE TABLE readers ("who" TEXT, "of" TEXT, "upto" INTEGER, "moved" INTEGER)')
    notes.script(f"CREATE UNIQUE INDEX i ON readers {index}")
    with pytest.raises(Refused, match="not unique"):
        inspected(notes, NOTES)


def test_the_order_of_a_unique_key_does_not_matter(notes: Database) -> None:
    notes.script(
        "DROP TABLE readers", 'CREATE TABLE readers ("who" TEXT, "of" TEXT, "upto" INTEGER, "moved" INTEGER, UNIQUE ("of", "WHO"))'
    )
    inspected(notes, NOTES)


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"table": "nowhere"}, "nowhere, which this database does not have"),
        ({"stream": "job"}, "delivery_events.job, which is not a column"),
        ({"payload": "body"}, "delivery_events.body"),
        ({"cursors": JOBS.cursors and JOBS.cursors.model_copy(update={"position": "p"})}, "job_event_cursors.p"),
        ({"callback": JOBS.callback and JOBS.callback.model_copy(update={"table": "inbox"})}, "table inbox"),
    ],
)
def test_names_that_are_not_there(jobs: Database, change: dict[str, object], wrong: str) -> None:
    with pytest.raises(Refused, match=wrong):
        inspected(jobs, JOBS.model_copy(update=change))


@pytest.mark.parametrize(("table", "column"), [("note log", "when"), ("readers", "upto"), ("readers", "moved")])
def test_numbers_in_a_text_column_are_refused(notes: Database, table: str, column: str) -> None:
    notes.script(f'ALTER TABLE "{table}" RENAME COLUMN "{column}" TO "old"', f'ALTER TABLE "{table}" ADD COLUMN "{column}" VARCHAR')
    with pytest.raises(Refused, match=f"{column} is declared VARCHAR"):
        inspected(notes, NOTES)


def test_a_view_is_no_log(jobs: Database) -> None:
    jobs.script("CREATE VIEW v AS SELECT * FROM delivery_events")
    with pytest.raises(Refused, match="table v"):
        inspected(jobs, JOBS.model_copy(update={"table": "v"}))


def test_advice_is_taken(jobs: Database) -> None:
    patient = JOBS.model_copy(update={"stopped_after": 1})
    found = advised(jobs, patient)
    assert [a.sql for a in found] == [
        'CREATE INDEX "idx_delivery_events_time" ON "delivery_events" ("slot_id", "ts")',
        'CREATE INDEX "idx_delivery_events_stream" ON "delivery_events" ("slot_id")',
        'CREATE INDEX "idx_delivery_events_start" ON "delivery_events" ("id") WHERE "event" = \'job.requested\'',
        'CREATE INDEX "idx_job_event_cursors_moved" ON "job_event_cursors" ("updated_at")',
    ]
    jobs.script(*(a.sql for a in found))
    assert advised(jobs, patient) == ()


def test_advice_for_several_consumers(notes: Database) -> None:
    assert [a.sql.partition(" ON ")[2] for a in advised(notes, NOTES)] == ['"note log" ("of")', '"readers" ("who", "moved")']

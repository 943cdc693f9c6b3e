"""Closures: what a unit waits for, that it goes whole, and what is refused; on every host."""

from __future__ import annotations

import re
from typing import Any

import apsw
import pytest

import retention
from retention.engine.receipt import ClosureReceipt
from retention.errors import PolicyError, Refused
from retention.policy.load import parse
from retention.policy.models import Policy
from tests.ledger.databases import NOW, Database
from tests.ledger.ledgers import DAY, POLICY, SCHEMA, text

OLD = text(NOW - 91 * DAY)


def only_closures(**changes: Any) -> Policy:
    """The preset without its sweeps, with changes to its one closure."""
    chosen = parse(POLICY)
    closures = tuple(closure.model_copy(update=changes) for closure in chosen.closures)
    return chosen.model_copy(update={"sweeps": (), "closures": closures})


def unit(jobs: Database, id: str, status: str = "success", ended: str | None = OLD, *more: str, **columns: Any) -> None:
    """An old slot with two cells, a hidden event and a delivered delivery; `more` are statements with {id} in them."""
    values = {"id": id, "schedule_id": "plan", "status": status, "created_at": OLD, "completed_at": ended} | columns
    shown = ", ".join("NULL" if v is None else str(v) if isinstance(v, int) else f"'{v}'" for v in values.values())
    jobs.script(
        f"INSERT INTO schedule_slots ({', '.join(values)}) VALUES ({shown})",
        f"INSERT INTO schedule_slot_items (slot_id, target_id, status) VALUES ('{id}', 'a', 'submitted'), ('{id}', 'b', 'failed')",
        f"INSERT INTO delivery_events (ts, slot_id, event) VALUES ({NOW - 91 * DAY}, '{id}', 'execution.summary')",
        "INSERT INTO deliveries (id, delivery_target, work_type, pixiv_id, slot_id, idempotency_key, status, created_at) "
        f"VALUES ('d-{id}', 't', 'i', '1', '{id}', 'k-{id}', 'delivered', '{OLD}')",
        *(one.format(id=id) for one in more),
    )


def event(kind: str, detail: str = "{{}}", at: int = NOW - 91 * DAY) -> str:
    return f"INSERT INTO delivery_events (ts, slot_id, event, detail) VALUES ({at}, '{{id}}', '{kind}', '{detail}')"


ASKED = event("job.requested", '{{"callback_url":"u"}}')
ENDED = event("job.outcome_succeeded")
READ = "INSERT INTO job_event_cursors SELECT '{id}', 1, max(id), " + str(NOW - 20 * DAY) + " FROM delivery_events WHERE slot_id = '{id}'"
ALIVE = f"INSERT INTO job_event_cursors VALUES ('another', 1, 1, {NOW})"
CALLED = (
    "INSERT INTO outbox (id, kind, idempotency_key, delivery_target, payload_json, status, next_attempt_at, created_at, updated_at) "
    "VALUES ('o-{id}', 'event_callback', 'job-event:{id}:evt-1-1', 'u', '{{}}', '%s', 0, 0, 0)"
)


def run(jobs: Database, policy: Any = None, **options: Any) -> ClosureReceipt:
    receipt = retention.run(jobs.host, policy or only_closures(), now=NOW, **options)
    assert receipt.outcome != "refused", receipt.warnings
    return receipt.closures[0]


def left(jobs: Database) -> set[str]:
    return {id for (id,) in jobs.rows("SELECT id FROM schedule_slots")}


def members(jobs: Database, id: str) -> list[int]:
    """Rows of a unit: cells, events, places, callbacks; and what is remembered of it."""
    return [
        jobs.value(f"SELECT count(*) FROM {table} WHERE {column} = ?1", id)
        for table, column in (("schedule_slot_items", "slot_id"), ("delivery_events", "slot_id"), ("job_event_cursors", "job_id"))
    ] + [
        jobs.value("SELECT count(*) FROM outbox WHERE idempotency_key GLOB 'job-event:' || ?1 || ':*'", id),
        jobs.value("SELECT count(*) FROM deliveries WHERE slot_id = ?1", id),
    ]


def test_a_unit_goes_whole_and_what_refuses_a_repeat_stays(jobs: Database) -> None:
    unit(jobs, "s1", "success", OLD, ASKED, ENDED, READ, CALLED % "done")
    unit(jobs, "s10", "running", None)
    receipt = run(jobs)
    assert (receipt.visited, receipt.due, receipt.closed, receipt.finished) == (2, 1, 1, True)
    assert receipt.members == {"outbox": 1, "schedule_slot_items": 2, "delivery_events": 3, "job_event_cursors": 1}
    assert left(jobs) == {"s10"}
    assert members(jobs, "s1") == [0, 0, 0, 0, 1]
    assert members(jobs, "s10") == [2, 1, 0, 0, 1]


def test_a_unit_takes_nothing_of_one_whose_id_begins_with_its_own(jobs: Database) -> None:
    """Request ids are the clients': `a` and `a:1` may both be there, and a range up to the next character took the other's callbacks."""
    for id in ("a:1", "a:evt", "a-1", "a;", "a"):
        unit(jobs, id, "success", OLD if id == "a" else text(NOW), ASKED, ENDED, READ, CALLED % ("done" if id == "a" else "pending"))
    receipt = run(jobs)
    assert (receipt.closed, receipt.open, receipt.members["outbox"]) == (1, 0, 1)
    assert jobs.value("SELECT count(*) FROM outbox") == 4


@pytest.mark.parametrize(
    ("why", "status", "ended", "more", "columns"),
    [
        ("", "success", OLD, (), {}),
        ("", "failed", OLD, (), {"lease_until": NOW}),
        ("", "success", None, (), {}),
        ("", "success", OLD, (ASKED, ENDED, READ), {}),
        ("", "success", OLD, (CALLED % "done",), {}),
        ("", "success", OLD, (CALLED % "dead",), {}),
        ("young", "success", text(NOW - 90 * DAY), (), {}),
        ("live", "running", OLD, (), {}),
        ("live", "odd", OLD, (), {}),
        ("leased", "failed", OLD, (), {"lease_until": NOW + 1}),
        ("unreadable", "failed", OLD, (), {"lease_until": "soon"}),
        ("unreadable", "failed", "then", (), {}),
        ("undated", "failed", None, (), {"created_at": None}),
        ("open", "success", OLD, (CALLED % "pending",), {}),
        ("open", "success", OLD, (CALLED % "processing",), {}),
        ("open", "success", OLD, (CALLED % "retry_wait",), {}),
        ("open", "failed", OLD, ("UPDATE schedule_slot_items SET status = 'delivery_pending' WHERE slot_id = '{id}'",), {}),
        ("unread", "success", OLD, (ASKED, ENDED, ALIVE), {}),
        ("unread", "success", OLD, (ASKED, READ, ENDED, ALIVE), {}),
        ("unread", "success", OLD, (ASKED, READ), {}),
        ("unread", "success", OLD, (ASKED, ENDED, READ, f"UPDATE job_event_cursors SET updated_at = {NOW - 13 * DAY}"), {}),
    ],
)
def test_what_a_unit_waits_for(
    jobs: Database, why: str, status: str, ended: str | None, more: tuple[str, ...], columns: dict[str, Any]
) -> None:
    unit(jobs, "s", status, ended, *more, **columns)
    before = members(jobs, "s")
    receipt = run(jobs)
    assert (receipt.closed, left(jobs)) == ((0, {"s"}) if why else (1, set()))
    assert members(jobs, "s") == (before if why else [0, 0, 0, 0, 1])
    reasons = {r: getattr(receipt, r) for r in ("leased", "unreadable", "undated", "open", "unread")}
    assert reasons == {r: int(r == why) for r in reasons}


def test_a_consumer_that_is_gone_keeps_nothing(jobs: Database) -> None:
    """It has moved no place since `stopped_after`, 14 days."""
    unit(jobs, "s", "success", OLD, ASKED, ENDED, f"INSERT INTO job_event_cursors VALUES ('another', 1, 1, {NOW - 15 * DAY})")
    assert run(jobs).closed == 1


def test_closing_a_unit_does_not_make_its_reader_look_gone(jobs: Database) -> None:
    unit(jobs, "read", "success", OLD, ASKED, ENDED, READ, f"UPDATE job_event_cursors SET updated_at = {NOW}")
    unit(jobs, "unread", "success", OLD, ASKED, ENDED)
    receipt = run(jobs, until_done=True)
    assert (receipt.closed, receipt.unread) == (0, 2)


def test_several_consumers_must_all_have_read(jobs: Database) -> None:
    jobs.script(
        "CREATE TABLE places (who TEXT, job TEXT, upto INTEGER, moved INTEGER, PRIMARY KEY (who, job))", "CREATE INDEX j ON places (job)"
    )
    for id in ("both", "one", "none"):
        unit(jobs, id, "success", OLD, ASKED, ENDED)
    jobs.script(
        f"INSERT INTO places SELECT 'x', slot_id, max(id), {NOW} FROM delivery_events WHERE slot_id IN ('both', 'one') GROUP BY 2",
        f"INSERT INTO places SELECT 'y', slot_id, max(id), {NOW - 20 * DAY} FROM delivery_events WHERE slot_id = 'both'",
        f"INSERT INTO places VALUES ('x', 'elsewhere', 1, {NOW}), ('y', 'elsewhere', 1, {NOW})",
    )
    chosen = only_closures()
    assert chosen.events is not None
    assert chosen.events.cursors is not None
    cursors = chosen.events.cursors.model_copy(
        update={"table": "places", "consumer": "who", "stream": "job", "position": "upto", "at": None, "moved": None}
    )
    events = chosen.events.model_copy(update={"cursors": cursors, "stopped_after": None})
    places = chosen.closures[0].members[-1].model_copy(update={"table": "places", "on": "places.job = schedule_slots.id"})
    closures = (chosen.closures[0].model_copy(update={"members": (*chosen.closures[0].members[:-1], places)}),)
    receipt = run(jobs, chosen.model_copy(update={"events": events, "closures": closures}))
    assert (receipt.closed, receipt.unread, left(jobs)) == (1, 2, {"one", "none"})


def test_a_hold_on_any_part_keeps_the_unit(jobs: Database) -> None:
    for id in ("free", "parent", "cell"):
        unit(jobs, id)
    jobs.script("UPDATE schedule_slot_items SET work_id = 'hold' WHERE slot_id = 'cell' AND target_id = 'b'")
    holds = [{"table": "schedule_slots", "where": "id = 'parent'"}, {"table": "schedule_slot_items", "where": "work_id = 'hold'"}]
    receipt = run(jobs, only_closures().model_copy(update={"holds": Policy(holds=holds).holds}))  # type: ignore[arg-type]
    assert (receipt.closed, receipt.held, left(jobs)) == (1, 2, {"parent", "cell"})


def test_a_unit_larger_than_a_write_is_kept_and_named(jobs: Database) -> None:
    for id in ("a", "b", "large", "z"):
        unit(jobs, id)
    jobs.script(*(f"INSERT INTO schedule_slot_items (slot_id, target_id, status) VALUES ('large', 't{n}', 'failed')" for n in range(20)))
    limits = {"rows_changed": 12}
    receipt = retention.run(jobs.host, only_closures(), now=NOW, limits=limits, until_done=True).closures[0]
    assert (receipt.closed, receipt.too_large, receipt.due, receipt.raced) == (3, ["large"], 4, 0)
    assert left(jobs) == {"large"}
    assert members(jobs, "large")[0] == 22


def test_memory_has_a_keep_of_its_own_and_goes_after_its_parent(jobs: Database) -> None:
    for id in ("gone", "here", "odd"):
        unit(jobs, id, "running" if id == "here" else "success")
    jobs.script("UPDATE deliveries SET status = 'pending' WHERE slot_id = 'odd'")
    memory = {
        "table": "deliveries", "on": "deliveries.slot_id = schedule_slots.id", "open": "status = 'pending'", "memory": True,
        "keep": "60d", "age": {"column": "created_at", "format": "utc_text"},
    }  # fmt: skip
    from retention.policy.closure_models import Member

    jobs.script("CREATE INDEX deliveries_slot ON deliveries (slot_id)")
    chosen = only_closures(members=(*only_closures().closures[0].members, Member(**memory)))  # type: ignore[arg-type]
    receipt = retention.run(jobs.host, chosen, now=NOW, until_done=True)
    assert receipt.closures[0].closed == 1
    assert receipt.closures[0].open == 1
    assert [(rule.rule, rule.deleted) for rule in receipt.rules] == [("jobs.deliveries", 1)]
    assert [id for (id,) in jobs.rows("SELECT id FROM deliveries ORDER BY id")] == ["d-here", "d-odd"]


def test_a_row_that_cannot_go_keeps_its_whole_unit(jobs: Database) -> None:
    for id in ("a", "cell", "ignored", "slot", "z"):
        unit(jobs, id)
    jobs.script(
        "CREATE TRIGGER no_slot BEFORE DELETE ON schedule_slots WHEN old.id = 'slot' BEGIN SELECT RAISE(ABORT, 'kept'); END",
        "CREATE TRIGGER no_cell BEFORE DELETE ON schedule_slot_items WHEN old.slot_id = 'cell' BEGIN SELECT RAISE(ABORT, 'kept'); END",
        "CREATE TRIGGER hush BEFORE DELETE ON schedule_slot_items WHEN old.slot_id = 'ignored' AND old.target_id = 'b' "
        "BEGIN SELECT RAISE(IGNORE); END",
    )
    receipt = run(jobs)
    assert (receipt.closed, sorted(receipt.blocked)) == (2, ["cell", "ignored", "slot"])
    assert left(jobs) == {"cell", "ignored", "slot"}
    assert all(members(jobs, id)[:2] == [2, 1] for id in receipt.blocked)


def test_a_second_run_finds_nothing(jobs: Database) -> None:
    for n in range(7):
        unit(jobs, f"s{n}")
    store = retention.MemoryStore()
    assert run(jobs, store=store).closed == 7
    assert run(jobs, store=store).closed == 0


# --- refused


@pytest.fixture
def con() -> apsw.Connection:
    connection = apsw.Connection("")
    connection.execute(SCHEMA)
    return connection


BASE = {
    "table": "schedule_slots", "keep": "90d", "age": {"column": "completed_at", "format": "utc_text"},
    "terminal": "status IN ('success', 'failed')",
}  # fmt: skip
CELLS = {"table": "schedule_slot_items", "on": "schedule_slot_items.slot_id = schedule_slots.id"}
DELIVERIES = {"table": "deliveries", "on": "deliveries.slot_id = schedule_slots.id"}
OUTBOX = {"table": "outbox", "on": "outbox.delivery_id IN (SELECT d.id FROM deliveries AS d WHERE d.slot_id = schedule_slots.id)"}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"replay": "91d"}, "shorter than the 91d"),
        ({"acked": True}, "no cursors are named"),
        ({"members": [CELLS | {"keep": "1d"}]}, "only memory has"),
        ({"members": [CELLS | {"keep": "1d", "memory": True}]}, "keep is measured by it"),
        ({"members": [{"table": "schedule_slots", "on": "1 = 1"}]}, "ties the table to itself"),
        ({"members": [CELLS | {"on": "slot_id"}]}, "yes or no"),
        ({"members": [CELLS | {"on": "schedule_slot_items.slot = schedule_slots.id"}]}, "slot"),
        ({"members": [CELLS, CELLS]}, "is a member already"),
        ({"members": [DELIVERIES, OUTBOX]}, "put 'outbox' before it"),
        ({"members": [DELIVERIES]}, 'CREATE INDEX "deliveries_slot_id" ON "deliveries" ("slot_id")'),
        ({"terminal": "state = 'done'"}, "state"),
        ({"key": "schedule_id"}, "is not unique"),
        ({"lease": {"until": "lease", "format": "unix_ms"}}, "lease column"),
    ],
)
def test_a_closure_that_could_leave_halves_or_means_nothing_is_refused(con: apsw.Connection, changes: dict[str, Any], says: str) -> None:
    with pytest.raises((PolicyError, Refused), match=re.escape(says)):
        retention.plan(con, {"closures": [BASE | changes]}, now=NOW)


def test_a_rule_that_has_the_name_of_a_memorys_own_is_refused(con: apsw.Connection) -> None:
    age = {"column": "created_at", "format": "utc_text"}
    con.execute("CREATE INDEX d ON deliveries (slot_id)")
    rule = {"name": "schedule_slots.deliveries", "table": "outbox", "keep": "1d", "age": {"column": "created_at", "format": "unix_ms"}}
    closure = BASE | {"members": [DELIVERIES | {"memory": True, "keep": "1d", "age": age}]}
    with pytest.raises(PolicyError, match="another rule has that name"):
        retention.plan(con, {"rules": [rule], "closures": [closure]}, now=NOW)
    assert retention.plan(con, {"rules": [rule | {"name": "other"}], "closures": [closure]}, now=NOW).rules[1].name == rule["name"]


def test_a_hold_that_a_cascade_would_pass_by_is_refused(con: apsw.Connection) -> None:
    con.execute("CREATE TABLE note (slot TEXT REFERENCES schedule_slots (id) ON DELETE CASCADE, hold); CREATE INDEX n ON note (slot)")
    policy = {"closures": [BASE], "holds": [{"table": "note", "where": "hold = 1"}]}
    with pytest.raises(Refused, match="make 'note' a member"):
        retention.plan(con, policy, now=NOW)
    assert retention.plan(con, {"closures": [BASE]}, now=NOW).further

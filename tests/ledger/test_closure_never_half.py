"""A unit goes whole or stays whole, and a row ends whole or goes on, whatever another writer does between any two steps."""

from __future__ import annotations

from functools import cache
from typing import Any

import apsw
from hypothesis import given, settings
from hypothesis import strategies as st

import retention
from retention.plan.model import Plan
from retention.policy.load import parse
from retention.policy.models import Policy
from retention.steps import Batch, Step
from retention.testing import Crashed
from tests.ledger.databases import NOW
from tests.ledger.ledgers import DAY, POLICY, SCHEMA, text

OLD = text(NOW - 91 * DAY)
UNITS = 8

REVIVE = [
    "UPDATE schedule_slots SET status = 'running', heartbeat_at = {now} WHERE id = '{id}'",
    "UPDATE schedule_slots SET lease_owner = 'w', lease_until = {now} + 1 WHERE id = '{id}'",
    "UPDATE schedule_slots SET completed_at = '{fresh}' WHERE id = '{id}'",
    "INSERT INTO schedule_slot_items (slot_id, target_id, status) "
    "SELECT id, 'n' || random(), 'pending' FROM schedule_slots WHERE id = '{id}'",
    "UPDATE schedule_slot_items SET status = 'delivery_pending' WHERE slot_id = '{id}'",
    "INSERT INTO delivery_events (ts, slot_id, event) SELECT 1, id, 'job.progressed' FROM schedule_slots WHERE id = '{id}'",
    "UPDATE outbox SET status = 'pending' WHERE idempotency_key = 'job-event:{id}:evt-1-1'",
    "UPDATE schedule_slots SET status = 'success', completed_at = '{old}', lease_until = NULL WHERE id = '{id}'",
    "UPDATE schedule_slot_items SET status = 'submitted' WHERE slot_id = '{id}'",
    "INSERT OR REPLACE INTO job_event_cursors SELECT '{id}', 1, coalesce(max(id), 0), {now} - 1728000000 FROM delivery_events "
    "WHERE slot_id = '{id}' HAVING EXISTS (SELECT 1 FROM schedule_slots WHERE id = '{id}')",
]


def database() -> apsw.Connection:
    con = apsw.Connection("")
    con.execute(SCHEMA)
    con.execute(f"INSERT INTO job_event_cursors VALUES ('elsewhere', 1, 1, {NOW})")
    for n in range(UNITS):
        con.execute(
            "INSERT INTO schedule_slots (id, schedule_id, status, created_at, completed_at) VALUES (?, 'p', 'success', ?, ?)",
            (f"u{n}", OLD, OLD),
        )
        cells = "INSERT INTO schedule_slot_items (slot_id, target_id, status) VALUES"
        con.execute(f"{cells} (?1, 'a', 'submitted'), (?1, 'b', 'failed')", (f"u{n}",))
        con.execute("INSERT INTO delivery_events (ts, slot_id, event) VALUES (1, ?, 'execution.summary')", (f"u{n}",))
        con.execute(
            "INSERT INTO outbox "
            "(id, kind, idempotency_key, delivery_target, payload_json, status, next_attempt_at, created_at, updated_at) "
            "VALUES (?1, 'event_callback', 'job-event:' || ?1 || ':evt-1-1', 'u', '{}', 'done', 0, 0, 0)",
            (f"u{n}",),
        )
    return con


def orphans(con: apsw.Connection) -> list[Any]:
    """Members without their parent, and parents that lost what each of them had."""
    alone = "NOT IN (SELECT id FROM schedule_slots)"
    return con.execute(
        f"SELECT 'cell', slot_id FROM schedule_slot_items WHERE slot_id {alone} "
        f"UNION ALL SELECT 'event', slot_id FROM delivery_events WHERE slot_id {alone} "
        f"UNION ALL SELECT 'place', job_id FROM job_event_cursors WHERE job_id <> 'elsewhere' AND job_id {alone} "
        f"UNION ALL SELECT 'callback', id FROM outbox WHERE id {alone} "
        "UNION ALL SELECT 'robbed', id FROM schedule_slots AS s WHERE "
        "(SELECT count(*) FROM schedule_slot_items WHERE slot_id = s.id) < 2 OR NOT EXISTS (SELECT 1 FROM outbox WHERE id = s.id) "
        "OR NOT EXISTS (SELECT 1 FROM delivery_events WHERE slot_id = s.id AND event = 'execution.summary')"
    ).fetchall()


def may_go(con: apsw.Connection) -> set[str]:
    """Units that meet the whole condition, judged row by row in Python."""
    found: set[str] = set()
    for id, status, ended, lease in con.execute("SELECT id, status, completed_at, lease_until FROM schedule_slots").fetchall():
        cells = [s for (s,) in con.execute("SELECT status FROM schedule_slot_items WHERE slot_id = ?", (id,))]
        sent = [s for (s,) in con.execute("SELECT status FROM outbox WHERE id = ?", (id,))]
        place = con.execute("SELECT acked_row_id FROM job_event_cursors WHERE job_id = ?", (id,)).fetchall()
        unread = con.execute(
            "SELECT count(*) FROM delivery_events WHERE slot_id = ? AND event LIKE 'job.%' AND id > ?", (id, place[0][0] if place else 0)
        ).get
        terminal = all(c in ("submitted", "no_candidate", "duplicate", "failed") for c in cells)
        old = status in ("success", "failed") and ended == OLD and (lease is None or lease <= NOW)
        if old and terminal and not unread and not {"pending", "processing", "retry_wait"} & set(sent):
            found.add(id)
    return found


def slots(con: apsw.Connection) -> set[str]:
    return {id for (id,) in con.execute("SELECT id FROM schedule_slots")}


@cache
def planned(batch: int, rows_changed: int) -> tuple[Policy, Plan]:
    """The preset's closure in small batches; planned once, because each example has the same schema."""
    chosen = parse(POLICY)
    closures = tuple(c.model_copy(update={"batch": batch}) for c in chosen.closures)
    limits = chosen.limits.model_copy(update={"rows_changed": rows_changed})
    chosen = chosen.model_copy(update={"closures": closures, "sweeps": (), "limits": limits})
    return chosen, retention.plan(database(), chosen, now=NOW)


writes = st.tuples(st.sampled_from(REVIVE), st.integers(0, UNITS - 1))


@settings(max_examples=120, deadline=None)
@given(st.lists(st.lists(writes, max_size=3), max_size=40), st.integers(1, 8), st.sampled_from([10_000, 9, 5]), st.integers(0, 25))
def test_never_half_a_unit_beside_a_writer_that_revives_parts(
    between: list[list[tuple[str, int]]], batch: int, rows_changed: int, crash: int
) -> None:
    con = database()
    chosen, plan = planned(batch, rows_changed)
    script, steps, store = iter(between), 0, retention.MemoryStore()

    here, eligible = slots(con), may_go(con)

    def other_writer(step: Step, answer: Any, _seconds: float) -> None:
        nonlocal steps, here, eligible
        steps += 1
        if isinstance(step, Batch) and step.writes and isinstance(answer, list):
            assert orphans(con) == []
            assert here - slots(con) <= eligible, "a unit went that had been revived"
        for sql, n in next(script, []):
            con.execute(sql.format(id=f"u{n}", now=NOW, fresh=text(NOW - DAY), old=OLD))
        here, eligible = slots(con), may_go(con)
        if steps == crash:
            raise Crashed

    try:
        receipt = retention.run(con, chosen, now=NOW, store=store, plan=plan, on_step=other_writer)
        closure = receipt.closures[0]
        assert closure.due == closure.closed + closure.raced + len(closure.blocked) + len(closure.too_large) + closure.unconfirmed
        assert closure.blocked == []
    except Crashed:
        pass
    assert orphans(con) == []
    # At rest, what may go goes: all of it, and nothing else.
    expected = slots(con) - may_go(con)
    ample, plan = planned(batch, 10_000)
    for at in (store, None):
        retention.run(con, ample, now=NOW, store=at, plan=plan, until_done=True)
    assert slots(con) == expected
    assert orphans(con) == []


CLAIM = [
    "UPDATE schedule_slots SET lease_owner = 'w', lease_until = {now} + 60000, heartbeat_at = {now} WHERE id = '{id}'",
    "UPDATE schedule_slots SET heartbeat_at = {now} WHERE id = '{id}'",
    "UPDATE schedule_slots SET status = 'success' WHERE id = '{id}' AND status = 'running'",
    "UPDATE schedule_slots SET lease_until = 1, heartbeat_at = 1 WHERE id = '{id}'",
    "UPDATE schedule_slot_items SET status = 'submitted' WHERE slot_id = '{id}' AND status = 'pending'",
    "INSERT INTO schedule_slot_items (slot_id, target_id, status) VALUES ('{id}', 'n' || random(), 'pending')",
    "DELETE FROM schedule_slots WHERE id = '{id}'",
]


claims = st.tuples(st.sampled_from(CLAIM), st.integers(0, UNITS - 1))


@settings(max_examples=120, deadline=None)
@given(st.lists(st.lists(claims, max_size=3), max_size=40), st.integers(1, 8), st.booleans())
def test_never_half_an_end_and_no_healthy_work_ended(between: list[list[tuple[str, int]]], batch: int, indexed: bool) -> None:
    con = apsw.Connection("")
    con.execute(SCHEMA)
    if indexed:
        con.execute("CREATE INDEX live ON schedule_slots (id) WHERE status = 'running'")
    for n in range(UNITS):
        con.execute("INSERT INTO schedule_slots (id, schedule_id, status, heartbeat_at) VALUES (?, 'p', 'running', 1)", (f"u{n}",))
        con.execute("INSERT INTO schedule_slot_items (slot_id, target_id, status) VALUES (?, 'a', 'pending')", (f"u{n}",))
    chosen = parse(POLICY)
    sweeps = tuple(s.model_copy(update={"batch": batch, "max_batches": 1_000}) for s in chosen.sweeps)
    script = iter(between)
    healthy: set[str] = set()

    def other_writer(step: Step, answer: Any, _seconds: float) -> None:
        if isinstance(step, Batch) and step.writes and isinstance(answer, list):
            ended = {id for (id,) in con.execute("SELECT id FROM schedule_slots WHERE last_error IS NOT NULL")}
            open_cells = {id for (id,) in con.execute("SELECT slot_id FROM schedule_slot_items WHERE status = 'pending'")}
            told = {id for (id,) in con.execute("SELECT slot_id FROM delivery_events")}
            closed = {id for (id,) in con.execute("SELECT slot_id FROM schedule_slot_items WHERE terminal_reason_code IS NOT NULL")}
            gone = {f"u{n}" for n in range(UNITS)} - slots(con)
            assert told - gone == ended
            assert closed - gone <= ended
            assert not (ended - late) & open_cells
            assert not ended & healthy - late
        for sql, n in next(script, []):
            id = f"u{n}"
            con.execute(sql.format(id=id, now=NOW))
            if "INSERT" in sql or con.execute("SELECT count(*) FROM schedule_slots WHERE id = ? AND last_error IS NOT NULL", (id,)).get:
                late.add(id)
            alive = "SELECT count(*) FROM schedule_slots WHERE id = ? AND (lease_until > ? OR heartbeat_at = ? OR status = 'success')"
            (healthy.add if con.execute(alive, (id, NOW, NOW)).get else healthy.discard)(id)

    late: set[str] = set()
    receipt = retention.sweep(con, chosen.model_copy(update={"sweeps": sweeps}), now=NOW, on_step=other_writer)
    stalled = receipt.sweeps[1]
    assert stalled.due == stalled.ended + stalled.raced
    assert stalled.blocked == []

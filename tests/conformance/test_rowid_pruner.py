"""The rowid pruner's catalogue, call by call: what each call deletes, sends and saves. Rows alone: `catalogue.py`.

Both modes where nothing else is said. Chunk mode is the original's way; range mode deletes a page in one statement.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from fractions import Fraction
from typing import Any

import apsw
import pytest

import retention
from retention.capabilities import D1
from retention.errors import HostError, PolicyError
from retention.steps import Batch, Save, Step
from tests.properties.drive import make

from .calls import IDS, MODES, Calls, Died, Mode, at_delete, at_save, fails, is_delete, relay, scanned
from .catalogue import THIRTY, ids
from .relay import DAY, NOW, NOW_S, Keeps, database, deliveries, delivery, event, message, policy, receipt, rows_left, workspace

OLD = 110  # days
CHUNK: Mode = {"chunk": 10}
both = pytest.mark.parametrize("mode", MODES, ids=IDS)


@pytest.fixture
def db() -> apsw.Connection:
    db = database()
    workspace(db)
    return db


def count(db: apsw.Connection, table: str) -> int:
    return db.execute(f"SELECT count(*) FROM {table}").get


@both
def test_rp_01_kept_history_costs_a_page_a_call(db: apsw.Connection, mode: Mode) -> None:
    deliveries(db, 1000, 1)
    calls = Calls(db, relay(mode=mode))
    cursors = []
    for _ in range(2):
        done = calls.call()
        assert done.deleted == 0
        assert not done.deletes
        page = done.of("deliveries")[-1]
        assert "LIMIT 2" in page.sql
        assert any("USING INTEGER PRIMARY KEY (rowid" in str(row[3]) for row in db.execute(f"EXPLAIN QUERY PLAN {page.sql}", page.params))
        cursors.append(calls.entry("deliveries")["cursor"])
    assert cursors == [2, 4]


@both
def test_rp_02_settled_and_old_by_the_tenants_keep(db: apsw.Connection, mode: Mode) -> None:
    workspace(db, "two", '{"delivery_ttl_days": null}')
    first, second = message(db, 1), message(db, 1, "two")
    for status in ("acked", "failed", "dead_lettered", "queued", "delivered"):
        delivery(db, OLD, status, of=first)
    delivery(db, 1, of=first)
    delivery(db, OLD, ws="two", of=second)
    db.execute("UPDATE agents SET delivery_seq = 41")
    calls = Calls(db, relay(mode=mode))
    assert [calls.call().deleted for _ in range(5)] == [2, 1, 0, 0, 0]
    assert count(db, "messages") == 2
    assert db.execute("SELECT DISTINCT delivery_seq FROM agents").get == 41


@pytest.mark.parametrize(("mode", "chunks"), [("range", [23]), (CHUNK, [10, 10, 3])], ids=IDS)
def test_rp_03_chunks_within_the_hosts_limits(db: apsw.Connection, mode: Mode, chunks: list[int]) -> None:
    deliveries(db, 23, OLD)
    gone: list[int] = []
    calls = Calls(db, relay(mode=mode, page=200))
    left = [count(db, "deliveries")]

    def watch(step: Step) -> float:
        if is_delete(step):
            left.append(count(db, "deliveries"))
            gone.append(left[-2] - left[-1])
        return 0.0

    done = calls.call(takes=watch)
    assert gone == chunks
    assert done.deleted == 23
    assert all(len(s.params) <= D1.max_params for s in done.statements)
    assert not scanned(db, done.statements)


@both
def test_rp_04_each_call_takes_one_level_of_a_thread(db: apsw.Connection, mode: Mode) -> None:
    parent = message(db, OLD)
    reply = message(db, OLD, thread=parent)
    receipt(db, parent)
    for seq in (1, 2, 3):
        event(db, seq, OLD)
    calls = Calls(db, relay(THIRTY, mode, page=200))
    calls.call()
    left = rows_left(db)
    assert reply not in left["messages"]
    assert (len(left["messages"]), len(left["workspace_events"]), len(left["read_receipts"])) == (1, 1, 1)
    calls.call()
    assert count(db, "messages") == 0
    assert not db.execute("PRAGMA foreign_key_check").fetchall()


@both
def test_rp_05_a_traversal_ends_at_the_high_water_of_its_beginning(db: apsw.Connection, mode: Mode) -> None:
    first = delivery(db, OLD, "delivered")
    for _ in range(2):
        delivery(db, OLD)
    calls = Calls(db, relay(mode=mode))
    calls.call()
    assert calls.entry("deliveries") == {"cursor": 2, "high": 3}
    for _ in range(4):
        delivery(db, OLD)
    calls.call()
    assert calls.entry("deliveries") == {}
    db.execute("UPDATE deliveries SET status = 'acked' WHERE id = ?", (first,))
    calls.call()
    assert first not in ids(db, "deliveries")


@both
def test_rp_06_orphan_events_age_by_the_rules_keep(db: apsw.Connection, mode: Mode) -> None:
    for seq in (1, 2):
        event(db, seq, OLD, "gone")
    assert Calls(db, relay(mode=mode)).call().deleted == 1
    assert rows_left(db)["workspace_events"] == {("gone", 2)}


@both
def test_rp_07_a_rule_that_fails_loses_its_turn_and_no_others(db: apsw.Connection, mode: Mode) -> None:
    """The original raises; here the error is on the receipt and the other rules run."""
    message(db, OLD)
    delivery(db, OLD)
    calls = Calls(db, relay(THIRTY, mode))
    done = calls.call(at_delete(fails(HostError("disk on fire")), table="messages"))
    assert done.saves[0]["next"] == 1
    assert calls.entry("messages").get("cursor") is None
    assert done.ended
    assert done.ended.outcome == "failed"
    assert "disk on fire" in (done.rules["messages"].error or "")
    assert done.rules["deliveries"].deleted == 1
    assert calls.call().rules["messages"].deleted == 1


@both
def test_rp_07_a_process_that_dies_leaves_the_turn_to_the_next_rule(db: apsw.Connection, mode: Mode) -> None:
    message(db, OLD)
    calls = Calls(db, relay(THIRTY, mode))
    calls.call(at_delete(fails(Died())))
    assert calls.document["next"] == 1
    assert calls.entry("messages") == {}
    assert calls.call().rules["messages"].deleted == 1


@pytest.mark.parametrize(("mode", "deleted"), [("range", 11), (CHUNK, 10)], ids=IDS)
def test_rp_08_the_deadline_is_looked_at_between_chunks(db: apsw.Connection, mode: Mode, deleted: int) -> None:
    """In range mode the page is one statement: there is nothing between."""
    for _ in range(11):
        message(db, OLD)
    calls = Calls(db, relay(THIRTY, mode, page=200))
    done = calls.call(takes=lambda step: 11.0 if is_delete(step) else 0.0)
    assert done.rules["messages"].deleted == deleted
    assert len(done.deletes) == 1
    assert done.ended
    assert (done.ended.outcome, done.ended.why) == ("more", "deadline")
    assert "cursor" not in calls.entry("messages")
    assert calls.document["next"] == 1


def test_rp_09_a_clock_that_is_no_time_sends_nothing(db: apsw.Connection) -> None:
    sent: list[Any] = []
    db.trace_v2(apsw.SQLITE_TRACE_STMT, sent.append)
    with pytest.raises(PolicyError, match="the clock nan is not a time"):
        retention.run(db, policy(THIRTY), now=float("nan"))  # type: ignore[arg-type]
    assert not sent


@both
def test_rp_10_no_statement_before_the_first_save_is_durable(db: apsw.Connection, mode: Mode) -> None:
    message(db, OLD)
    calls = Calls(db, relay(THIRTY, mode))
    done = calls.call(at_save(fails(HostError("the store is away")), 1))
    assert not done.statements
    assert calls.document is None
    assert count(db, "messages") == 1


FOREIGN: list[Any] = [
    {},
    {"version": 1},
    {"version": 9, "next": 0, "tables": {}},
    {"next": 0, "positions": {}, "highs": {}},
    {"version": 1, "next": 0, "tables": {"deliveries": {"cursor": "legacy-rowid"}}},
]


@both
@pytest.mark.parametrize("document", FOREIGN, ids=["empty", "half", "newer", "other", "bad cursor"])
def test_rp_11_12_a_document_that_cannot_be_read_restarts(db: apsw.Connection, mode: Mode, document: Any) -> None:
    delivery(db, OLD)
    calls = Calls(db, relay(mode=mode), document=document)
    assert calls.call().deleted == 1
    assert calls.document["version"] == 1
    assert calls.entry("deliveries") == {}


def _edit_policy(db: apsw.Connection) -> None:
    db.execute("UPDATE workspaces SET retention = '{\"delivery_ttl_days\": null}'")


def _requeue(db: apsw.Connection) -> None:
    db.execute("UPDATE deliveries SET status = 'queued'")


def _reuse_rowid(db: apsw.Connection) -> None:
    (rowid,) = db.execute("SELECT rowid FROM deliveries").fetchall()[0]
    db.execute("DELETE FROM deliveries")
    delivery(db, 0, id="another", rowid=rowid)


def _refresh(db: apsw.Connection) -> None:
    db.execute("UPDATE deliveries SET created_at = ?", (NOW_S,))


RACES = {
    "rp-13 policy edited": _edit_policy,
    "rp-14 queued again": _requeue,
    "rp-15 rowid reused": _reuse_rowid,
    "rp-16 created now": _refresh,
}


@both
@pytest.mark.parametrize("change", RACES.values(), ids=RACES)
def test_rp_13_to_16_a_change_before_the_delete_saves_the_row(db: apsw.Connection, mode: Mode, change: Callable[[Any], None]) -> None:
    delivery(db, OLD)
    done = Calls(db, relay(mode=mode)).call(at_delete(lambda: change(db)))
    assert len(done.deletes) == 1
    assert done.deleted == 0
    assert count(db, "deliveries") == 1
    assert done.rules["deliveries"].changed == (mode == CHUNK)


@both
def test_rp_15_even_an_old_row_under_the_same_rowid_is_not_the_row_that_was_read(db: apsw.Connection, mode: Mode) -> None:
    """In range mode nothing was read that could be stale: the row is old, so it goes. In chunk mode it is another row, so it stays."""
    delivery(db, OLD, rowid=1)
    swap = "UPDATE deliveries SET id = 'another', created_at = created_at - 5"
    done = Calls(db, relay(mode=mode)).call(at_delete(lambda: db.execute(swap)))
    assert (done.deleted, done.rules["deliveries"].changed) == ((0, 1) if mode == CHUNK else (1, 0))


@both
def test_rp_17_progress_lives_with_the_host_and_nothing_is_created(db: apsw.Connection, mode: Mode) -> None:
    schema = db.execute("SELECT * FROM sqlite_schema").fetchall()
    deliveries(db, 5, OLD)
    calls = Calls(db, relay(mode=mode))
    calls.call()
    assert calls.entry("deliveries")["cursor"] == 2
    calls.call()
    calls.call()
    assert count(db, "deliveries") == 0
    assert count(db, "maintenance_cursors") == 0
    assert db.execute("SELECT * FROM sqlite_schema").fetchall() == schema


@both
def test_rp_18_a_rule_can_only_lower_the_page_limit(db: apsw.Connection, mode: Mode) -> None:
    deliveries(db, 600, 1)
    rules = relay(mode=mode, page=500) | {"limits": {"page_rows": 200}}
    assert "LIMIT 200" in Calls(db, rules).call().of("deliveries")[-1].sql


# Recovery of deliveries that are active although they expired: a rule of its own, off by default.

WEEK = Keeps(recovery=7)


@pytest.mark.parametrize(
    ("case", "keeps", "given", "deleted"),
    [
        ("rp-19", WEEK, [(40, "queued", 30), (40, "delivered", 30)], 2),
        ("rp-20 within the grace", WEEK, [(9, "queued", 2)], 0),
        ("rp-21 never expires", WEEK, [(OLD, "queued", None)], 0),
        ("rp-22 grace 30", Keeps(deliveries=None, recovery=30), [(17, "queued", 10)], 0),
        ("rp-22 grace 7", Keeps(deliveries=None, recovery=7), [(17, "queued", 10)], 1),
        ("rp-24", WEEK, [(9, "queued", None), (9, "queued", 3), (17, "acked", 10), (27, "queued", 20)], 1),
        ("rp-28 off", Keeps(deliveries=None), [(37, "queued", 30)], 0),
        ("rp-29", WEEK, [(15, "queued", 8)], 1),
    ],
)
def test_rp_19_to_29_recovery(db: apsw.Connection, case: str, keeps: Keeps, given: list[Any], deleted: int) -> None:
    for days, status, expired in given:
        delivery(db, days, status, expired=expired)
    assert Calls(db, relay(keeps)).call().deleted == deleted


@pytest.mark.parametrize(("case", "rows", "status"), [("rp-23", 5000, "queued"), ("rp-27", 9000, "delivered")])
def test_rp_23_and_27_recovery_is_capped_and_goes_through_its_index(db: apsw.Connection, case: str, rows: int, status: str) -> None:
    deliveries(db, rows, 27, status, expired=20)
    done = Calls(db, relay(WEEK)).call()
    assert done.rules["expired-deliveries"].deleted == 4000
    assert len(done.deletes) == 4
    for statement in done.deletes:
        plan = " ".join(str(row[3]) for row in db.execute(f"EXPLAIN QUERY PLAN {statement.sql}", statement.params))
        assert "USING INDEX idx_deliveries_active_expiry" in plan


@pytest.mark.parametrize(
    ("case", "change"),
    [("rp-25 extended", f"UPDATE deliveries SET expires_at = {NOW_S + 30}"), ("rp-26 acked", "UPDATE deliveries SET status = 'acked'")],
)
def test_rp_25_and_26_a_change_before_the_delete_saves_the_row(db: apsw.Connection, case: str, change: str) -> None:
    delivery(db, 27, "queued", expired=20)
    done = Calls(db, relay(WEEK)).call(at_delete(lambda: db.execute(change)))
    assert len(done.deletes) == 1
    assert (done.deleted, count(db, "deliveries")) == (0, 1)


def test_rp_28_acked_in_between_with_the_keep_off(db: apsw.Connection) -> None:
    name = delivery(db, 37, "queued", expired=30)
    change = at_save(lambda: db.execute("UPDATE deliveries SET status = 'acked' WHERE id = ?", (name,)), 1)
    done = Calls(db, relay(Keeps(deliveries=None, recovery=7))).call(change)
    assert (done.deleted, count(db, "deliveries")) == (0, 1)


@both
def test_rp_30_the_hosted_calls_shape(db: apsw.Connection, mode: Mode) -> None:
    store = retention.MemoryStore()
    message(db, OLD)
    rules = relay(THIRTY, mode, page=200, pages=5)
    ends = []
    for _ in range(2):
        done = retention.run(db, rules, store=store, limits={"deadline": "10s", "statements": 1000}, now=NOW)
        ends.append((done.outcome, done.why, done.deleted))
    # The reply that went may have freed its parent, so the first call does not say that all is done.
    assert ends == [("more", "finished", 1), ("done", "finished", 0)]


@both
def test_rp_31_an_empty_database(db: apsw.Connection, mode: Mode) -> None:
    db = database()
    calls = Calls(db, relay(mode=mode))
    done = calls.call()
    assert len(done.saves) == 6 < 10
    assert calls.document["tables"] == {}
    assert calls.document["next"] == 0
    assert len(done.statements) == 5


@pytest.mark.parametrize(("mode", "deletes"), [("range", 5), (CHUNK, 100)], ids=IDS)
def test_rp_32_the_cost_of_a_full_call(db: apsw.Connection, mode: Mode, deletes: int) -> None:
    for number in range(1200):
        message(db, 40 + Fraction(number, 1000))
    calls = Calls(db, relay(THIRTY, mode, page=200, pages=5))
    done = calls.call()
    assert done.rules["messages"].deleted == 1000
    assert len(done.of("messages")) == 1 + 5 + deletes
    assert calls.entry("messages") == {"cursor": 1000, "high": 1200}
    assert len(done.saves) <= 18
    assert calls.call().deleted == 200


def test_rp_32_the_ceiling_is_the_originals(db: apsw.Connection) -> None:
    """530 = 5 rules of 1 high-water, 5 pages, 5 * 20 deletes."""
    plan = make(db, relay(THIRTY, CHUNK, page=200, pages=5), NOW_S * 1000)
    assert plan.ceiling == 530
    assert {r.first_cost + 5 * (1 + 20) for r in plan.rules} == {106}


def test_rp_32_the_ceiling_with_recovery(db: apsw.Connection) -> None:
    """534 = 530 and 4 deletes of recovery, which reads nothing before them."""
    rules = relay(Keeps(messages=30, recovery=7), CHUNK, page=200, pages=5)
    assert make(db, rules, NOW_S * 1000).ceiling == 534


@pytest.mark.parametrize(("mode", "first"), [("range", 25), (CHUNK, 20)], ids=IDS)
def test_rp_33_a_page_that_the_deadline_cut_is_taken_again(db: apsw.Connection, mode: Mode, first: int) -> None:
    for _ in range(25):
        message(db, OLD)
    calls = Calls(db, relay(THIRTY, mode, page=200))
    done = calls.call(takes=lambda step: 6.0 if is_delete(step) else 0.0)
    assert done.deleted == first
    if mode == CHUNK:
        assert calls.entry("messages") == {"high": 25}
    assert calls.call().deleted == 25 - first
    assert count(db, "messages") == 0


@both
def test_rp_34_rowids_below_zero(db: apsw.Connection, mode: Mode) -> None:
    for rowid in (-9000, -3, 0, 7):
        message(db, OLD, rowid=rowid)
    calls = Calls(db, relay(THIRTY, mode))
    assert [calls.call().deleted for _ in range(2)] == [2, 2]
    assert calls.entry("messages") == {}


@both
def test_rp_35_rowids_beyond_2_to_the_53(db: apsw.Connection, mode: Mode) -> None:
    """The original raises, and such a table is never pruned again. The document spells such integers as text."""
    for rowid in (-(2**63), 2**53 + 1, 2**63 - 2, 2**63 - 1):
        message(db, OLD, rowid=rowid)
    calls = Calls(db, relay(THIRTY, mode))
    assert calls.call().deleted == 2
    assert calls.entry("messages") == {"cursor": str(2**53 + 1), "high": str(2**63 - 1)}
    assert calls.call().deleted == 2
    assert calls.entry("messages") == {}


@both
@pytest.mark.parametrize(
    ("entry", "deleted"),
    [({"cursor": 2**53 - 1}, [3, 0]), ({"cursor": 2**53 - 1, "high": 2**53 - 1}, [0, 3]), ({"high": -5}, [0, 3])],
    ids=["cursor", "both", "high"],
)
def test_rp_36_a_position_that_is_nowhere_heals_itself(db: apsw.Connection, mode: Mode, entry: Any, deleted: list[int]) -> None:
    """The original reads a high-water for a cursor without one, and then an empty page; without one ours begins anew at once."""
    for _ in range(3):
        message(db, OLD)
    calls = Calls(db, relay(THIRTY, mode, page=200), document={"version": 1, "next": 0, "tables": {"messages": entry}})
    assert [calls.call().deleted for _ in range(2)] == deleted


@both
def test_rp_37_what_others_wrote_into_the_document_stays(db: apsw.Connection, mode: Mode) -> None:
    """The original drops top-level extras; a reader of a newer version may need them."""
    document = {"version": 1, "next": 0, "tables": {"of another": {"cursor": 5, "x": [1]}}, "note": "by hand"}
    calls = Calls(db, relay(mode=mode), document=document)
    calls.call()
    assert calls.document["tables"]["of another"] == {"cursor": 5, "x": [1]}
    assert calls.document["note"] == "by hand"


@both
@pytest.mark.parametrize("text", ["{broken", "[]", "5", '{"message_ttl_days": 1, "message_ttl_days": 2}'])
def test_rp_38_an_unreadable_document_keeps_its_tenant_and_stops_nobody(db: apsw.Connection, mode: Mode, text: str) -> None:
    """The original raises in each call and is stuck for all tenants of the page."""
    workspace(db, "broken", text)
    kept = message(db, OLD, "broken")
    message(db, OLD)
    delivery(db, OLD)
    done = Calls(db, relay(THIRTY, mode)).call()
    assert done.ended
    assert done.ended.outcome == "more"
    assert done.rules["messages"].deleted == 1
    assert done.rules["deliveries"].deleted == 1
    assert done.rules["messages"].malformed_tenants == ["broken"]
    assert kept in ids(db, "messages")


@both
def test_rp_38_at_most_twenty_tenants_are_named(db: apsw.Connection, mode: Mode) -> None:
    for number in range(30):
        message(db, OLD, workspace(db, f"broken {number:02}", "{"))
    done = Calls(db, relay(THIRTY, mode, page=7, pages=None)).call()
    assert done.rules["messages"].malformed_tenants == [f"broken {number:02}" for number in range(20)]


@both
def test_rp_39_json_null_is_no_document(db: apsw.Connection, mode: Mode) -> None:
    db.execute("UPDATE workspaces SET retention = 'null'")
    message(db, OLD)
    assert Calls(db, relay(THIRTY, mode)).call().deleted == 1


@both
@pytest.mark.parametrize("days", ["1.23456789", "0.5", "0.1", repr(1 / 3)])
def test_rp_40_fractions_of_a_day(db: apsw.Connection, mode: Mode, days: str) -> None:
    db.execute("UPDATE workspaces SET retention = ?", (f'{{"message_ttl_days": {days}}}',))
    second = Fraction(1, DAY)
    message(db, Fraction(days) + second)
    kept = message(db, Fraction(days) - second)
    assert Calls(db, relay(mode=mode)).call().deleted == 1
    assert ids(db, "messages") == {kept}


@both
def test_rp_41_ids_that_are_no_snowflakes_are_kept_and_counted(db: apsw.Connection, mode: Mode) -> None:
    odd = ("msg_gone", "message", "0000000001", "5d2f9c1e-7a4b-4c3d-9e8f-0a1b2c3d4e5f", "z" * 20)
    for name in odd:
        message(db, OLD, id=name)
    message(db, OLD)
    done = Calls(db, relay(THIRTY, mode, page=200)).call()
    assert (done.deleted, done.rules["messages"].unreadable) == (1, 5)
    assert ids(db, "messages") == set(odd)


@both
def test_rp_42_a_chain_goes_by_levels_or_in_one_command(db: apsw.Connection, mode: Mode) -> None:
    def chain() -> None:
        first = message(db, OLD)
        message(db, OLD - 2, thread=message(db, OLD - 1, thread=first))

    chain()
    calls = Calls(db, relay(THIRTY, mode, page=200))
    assert [calls.call().deleted for _ in range(4)] == [1, 1, 1, 0]
    chain()
    whole = retention.run(db, relay(THIRTY, mode, page=200, pages=None), now=NOW, until_done=True)
    assert (whole.outcome, whole.deleted) == ("done", 3)


@both
def test_rp_43_a_message_in_its_own_thread_is_kept(db: apsw.Connection, mode: Mode) -> None:
    own = message(db, OLD)
    db.execute("UPDATE messages SET thread_id = id")
    done = retention.run(db, relay(THIRTY, mode, pages=None), now=NOW, until_done=True)
    assert (done.outcome, done.deleted) == ("done", 0)
    assert ids(db, "messages") == {own}


@both
def test_rp_44_cascades_are_counted(db: apsw.Connection, mode: Mode) -> None:
    """The original does not see them."""
    deliveries(db, 500, 5, "queued", of=message(db, OLD))
    done = Calls(db, relay(THIRTY, mode)).call()
    found = done.rules["messages"]
    assert (found.deleted, done.rules["deliveries"].deleted) == (1, 0)
    assert (found.cascaded or {})["deliveries"] == 500
    assert found.side_changes >= 500
    assert count(db, "deliveries") == 0


@both
def test_rp_44_a_cascade_beyond_the_bound_is_kept_and_said(db: apsw.Connection, mode: Mode) -> None:
    large = message(db, OLD)
    deliveries(db, 500, 5, "queued", of=large)
    for _ in range(3):
        message(db, OLD)
    rules = relay(THIRTY, mode, page=200, pages=None) | {"limits": {"rows_changed": 100}}
    done = Calls(db, rules).call()
    assert (done.rules["messages"].deleted, done.rules["messages"].too_large) == (3, 1)
    assert large in ids(db, "messages")
    assert count(db, "deliveries") == 500


@both
def test_rp_45_a_reply_in_between_saves_its_parent(db: apsw.Connection, mode: Mode) -> None:
    parent = message(db, OLD)
    done = Calls(db, relay(THIRTY, mode)).call(at_delete(lambda: message(db, 0, thread=parent)))
    assert len(done.deletes) == 1
    assert done.deleted == 0


@both
def test_rp_46_an_edit_that_changes_no_keep_defers_nothing(db: apsw.Connection, mode: Mode) -> None:
    """The original compares the document's text and takes the row a call later; here the document is read again by the delete."""
    db.execute("UPDATE workspaces SET retention = '{\"message_ttl_days\":30}'")
    message(db, OLD)
    edit = "UPDATE workspaces SET retention = '{\"message_ttl_days\":  30}'"
    assert Calls(db, relay(mode=mode)).call(at_delete(lambda: db.execute(edit))).deleted == 1


@both
def test_rp_47_the_newest_that_is_left_is_kept(db: apsw.Connection, mode: Mode) -> None:
    for seq in (1, 2, 3):
        event(db, seq, OLD)
    change = at_delete(lambda: db.execute("DELETE FROM workspace_events WHERE seq = 3"))
    assert Calls(db, relay(mode=mode, page=200)).call(change).deleted == 1
    assert rows_left(db)["workspace_events"] == {("ws", 2)}


@both
def test_rp_48_a_tenant_that_appears_in_between(db: apsw.Connection, mode: Mode) -> None:
    for seq in (1, 2):
        event(db, seq, OLD, "new")
    done = Calls(db, relay(mode=mode)).call(at_delete(lambda: workspace(db, "new", '{"workspace_event_ttl_days": null}')))
    assert len(done.deletes) == 1
    assert done.deleted == 0


@both
def test_rp_49_a_save_that_fails_after_the_deletes(db: apsw.Connection, mode: Mode) -> None:
    """The original loses the counts; here they are on the receipt."""
    for _ in range(2):
        message(db, OLD)
    calls = Calls(db, relay(THIRTY, mode))
    done = calls.call(at_save(fails(HostError("the store is away")), 2))
    assert done.rules["messages"].deleted == 2
    assert count(db, "messages") == 0
    assert calls.document == {"version": 1, "next": 1, "tables": {}}
    assert calls.call().deleted == 0


@both
def test_rp_50_a_slow_store_cannot_starve_progress(db: apsw.Connection, mode: Mode) -> None:
    """The original does nothing once the save has used up the deadline, for ever. A page that a save has announced is run."""
    for _ in range(3):
        message(db, OLD)
    calls = Calls(db, relay(THIRTY, mode))
    done = calls.call(takes=lambda step: 0.002 if isinstance(step, Save) else 0.0, deadline=0.001)
    assert done.rules["messages"].deleted == 2
    assert len(done.saves) == 2
    assert calls.document["next"] == 1


@both
@pytest.mark.parametrize(
    ("age", "later_ms", "deleted"),
    [(Fraction(90), 0, 0), (90 + Fraction(1, DAY), 0, 1), (Fraction(90), 1, 0), (Fraction(90), 999, 0), (Fraction(90), 1000, 1)],
    ids=["exact", "a second older", "1 ms later", "999 ms later", "1 s later"],
)
def test_rp_51_strictly_older_in_the_columns_unit(db: apsw.Connection, mode: Mode, age: Fraction, later_ms: int, deleted: int) -> None:
    """The original takes the third: a row stored as a second could be up to 999 ms younger than its keep. Here the cutoff is floored."""
    delivery(db, age)
    assert Calls(db, relay(mode=mode), NOW + timedelta(milliseconds=later_ms)).call().deleted == deleted


@both
def test_rp_52_the_snowflake_bound_is_exclusive(db: apsw.Connection, mode: Mode) -> None:
    bound = 212570682163200000
    for name in (bound - 1, bound, bound + 1):
        message(db, 30, id=str(name))
    Calls(db, relay(THIRTY, mode, page=200)).call()
    assert ids(db, "messages") == {str(bound), str(bound + 1)}


@pytest.mark.parametrize(("expired", "later_ms", "deleted"), [(7, 0, 0), (7, 500, 0), (7, 999, 0), (7 + Fraction(1, DAY), 0, 1)])
def test_rp_53_recovery_in_whole_seconds(db: apsw.Connection, expired: Fraction, later_ms: int, deleted: int) -> None:
    delivery(db, 9, "queued", expired=expired)
    assert Calls(db, relay(WEEK), NOW + timedelta(milliseconds=later_ms)).call().deleted == deleted


@pytest.mark.parametrize("grace", ["nan", "inf", "-5d", "30", ""])
def test_rp_54_a_grace_that_is_no_duration_is_refused(db: apsw.Connection, grace: str) -> None:
    """The original deletes nothing for NaN and takes a negative grace for 0."""
    rules = relay(WEEK)
    rules["rules"][-1]["keep"] = grace
    with pytest.raises(PolicyError, match="keep"):
        Calls(db, rules)


def test_rp_54_a_grace_of_nothing(db: apsw.Connection) -> None:
    delivery(db, 1, "queued", expired=Fraction(10, DAY))
    assert Calls(db, relay(Keeps(recovery=0))).call().deleted == 1


@pytest.mark.parametrize(("pages", "deleted"), [(1, 1000), (2, 2000), (4, 4000), (99, 5000)])
def test_rp_55_recovery_pages(db: apsw.Connection, pages: int, deleted: int) -> None:
    """Here the policy's number holds, also above the original's cap of 4; the statement limit is what bounds a run."""
    deliveries(db, 5000, 17, "queued", expired=10)
    rules = relay(WEEK)
    rules["rules"][-1]["max_pages"] = pages
    assert Calls(db, rules).call().deleted == deleted


@pytest.mark.parametrize("pages", [0, -1, 1.5, float("nan")])
def test_rp_55_no_pages_is_a_mistake(db: apsw.Connection, pages: Any) -> None:
    rules = relay(WEEK)
    rules["rules"][-1]["max_pages"] = pages
    with pytest.raises(PolicyError, match="max_pages"):
        Calls(db, rules)


@both
def test_one_announced_page_is_all_that_a_late_save_allows(db: apsw.Connection, mode: Mode) -> None:
    """Beside RP-50: k slow calls serve k rules."""
    message(db, OLD)
    delivery(db, OLD)
    calls = Calls(db, relay(THIRTY, mode))
    served: list[set[str]] = []
    for _ in range(5):
        done = calls.call(takes=lambda step: 1.0 if isinstance(step, Save) else 0.0, deadline=0.5)
        served.append({r.rule for r in done.rules.values() if r.pages or r.finished})
    assert [len(s) for s in served] == [1] * 5
    assert len(set().union(*served)) == 5


def test_every_statement_of_a_call_is_a_batch_of_its_own(db: apsw.Connection) -> None:
    """So each delete decides on what is committed when it starts."""
    deliveries(db, 30, OLD)
    done = Calls(db, relay(mode=CHUNK, page=200)).call()
    assert all(len(step.statements) == 1 for step in done.steps if isinstance(step, Batch))

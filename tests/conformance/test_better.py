"""Weaknesses of the original, and what is done instead. Those that concern one entry of the catalogue stand with it."""

from __future__ import annotations

import time
from typing import Any

import apsw
import pytest

import retention
from retention.engine.receipt import EXIT_STATUS
from retention.steps import Batch, Save

from .calls import IDS, MODES, Calls, Mode, is_delete, relay
from .catalogue import THIRTY
from .relay import NOW, Keeps, database, deliveries, delivery, event, message, receipt, workspace

OLD = 110
both = pytest.mark.parametrize("mode", MODES, ids=IDS)


@pytest.fixture
def db() -> apsw.Connection:
    db = database()
    workspace(db)
    return db


@both
def test_one_rules_error_neither_stops_others_nor_loses_counts(db: apsw.Connection, mode: Mode) -> None:
    """The original raises, and the counts already earned are lost to the caller."""
    for _ in range(4):
        message(db, OLD)
    deliveries(db, 5, OLD)
    db.execute("CREATE TRIGGER veto BEFORE DELETE ON messages WHEN OLD.rowid = 3 BEGIN SELECT RAISE(ABORT, 'not this one'); END")
    done = retention.run(db, relay(THIRTY, mode, pages=None), now=NOW, until_done=True)
    messages, others = done.rules[0], done.rules[1]
    assert done.outcome == "failed"
    assert EXIT_STATUS[done.outcome] == 1
    # Blocked rows are counted each time that they are met.
    assert messages.deleted == 3
    assert messages.blocked >= 1
    assert "not this one" in (messages.error or "")
    assert others.deleted == 5


@both
def test_a_deadline_interrupts_a_running_statement(mode: Mode, tmp_path: Any) -> None:
    """The original looks at the clock between statements only."""
    db = database(str(tmp_path / "slow.db"))
    workspace(db)
    deliveries(db, 20, OLD)
    many = ", ".join(f"agents AS a{i}, workspaces AS w{i}, n AS n{i}" for i in range(12))
    db.execute("CREATE TABLE sums (n); CREATE TABLE n (i); INSERT INTO n VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)")
    db.execute(f"CREATE TRIGGER endless AFTER DELETE ON deliveries BEGIN INSERT INTO sums SELECT count(*) FROM {many}; END")
    store = retention.MemoryStore({"version": 1, "next": 1, "tables": {}})
    path, rules = tmp_path / "slow.db", relay(mode=mode, page=200, pages=None)
    plan = retention.plan(path, rules, now=NOW)
    done = retention.run(path, rules, now=NOW, limits={"deadline": "1s"}, store=store, plan=plan)
    assert (done.outcome, done.why) == ("more", "deadline")
    assert db.execute("SELECT count(*) FROM deliveries").get == 20
    # What holds the lock for four times the aim is cut, and taken again, smaller; a single row has until the deadline.
    assert store.document
    assert store.document["tables"]["deliveries"]["rows"][0] == 1


@both
def test_the_deadline_ignores_the_wall_clock(db: apsw.Connection, mode: Mode, monkeypatch: pytest.MonkeyPatch) -> None:
    """The original measures with a clock that may be set while it runs."""
    deliveries(db, 50, OLD)
    jumps = iter(range(10**9))
    monkeypatch.setattr(time, "time", lambda: next(jumps) * 1e6)
    monkeypatch.setattr(time, "time_ns", lambda: next(jumps) * 10**15)
    done = retention.run(db, relay(mode=mode, pages=None), now=NOW, limits={"deadline": "10m"})
    assert (done.outcome, done.deleted) == ("done", 50)


@both
def test_unused_pages_of_one_rule_serve_another(db: apsw.Connection, mode: Mode) -> None:
    """The original gives each table its share, also if four of the five are empty. Here only `max_pages` caps a rule."""
    deliveries(db, 100, OLD)
    calls = Calls(db, relay(mode=mode, pages=None))
    assert calls.call().deleted == 100


@both
def test_one_entry_that_cannot_be_read_restarts_its_rule_alone(db: apsw.Connection, mode: Mode) -> None:
    """The original drops the whole document."""
    for _ in range(3):
        message(db, OLD)
    for _ in range(3):
        delivery(db, OLD)
    tables = {"messages": {"cursor": "x"}, "deliveries": {"cursor": 2, "high": 3}}
    calls = Calls(db, relay(THIRTY, mode), document={"version": 1, "next": 0, "tables": tables})
    done = calls.call()
    assert done.rules["messages"].deleted == 2
    assert done.rules["deliveries"].scanned == 1


@both
def test_the_originals_stored_document_is_continued(db: apsw.Connection, mode: Mode) -> None:
    deliveries(db, 6, OLD)
    calls = Calls(db, relay(mode=mode), document={"version": 1, "next": 1, "tables": {"deliveries": {"cursor": 2, "high": 5}}})
    done = calls.call()
    assert done.rules["deliveries"].deleted == 2
    assert calls.entry("deliveries") == {"cursor": 4, "high": 5}
    first = next(step for step in done.steps if isinstance(step, Batch))
    assert 'FROM "deliveries"' in first.statements[0].sql
    assert isinstance(done.steps[0], Save)


@both
def test_two_callers_at_once_lose_nothing_but_work(db: apsw.Connection, mode: Mode) -> None:
    """The original leaves it to a comment. Every delete decides again, so neither deletes what it should not, nor fails."""
    deliveries(db, 20, OLD)
    first, second = Calls(db, relay(mode=mode, page=5, pages=None)), Calls(db, relay(mode=mode, page=7, pages=None))
    inner: list[int] = []
    busy = False

    def meddle(step: Any) -> None:
        nonlocal busy
        if is_delete(step) and not busy:
            busy = True
            inner.append(second.call().deleted)

    outer = first.call(meddle)
    assert inner == [20]
    assert outer.deleted == 0
    assert outer.ended
    assert outer.ended.outcome == "done"


@both
def test_what_was_kept_is_on_the_receipt(db: apsw.Connection, mode: Mode) -> None:
    """The original counts what it deleted, and nothing else."""
    parent = message(db, OLD)
    message(db, 1, thread=parent)
    message(db, OLD, id="msg_odd")
    workspace(db, "broken", "{")
    message(db, OLD, "broken")
    rules = relay(Keeps(messages=30), mode, page=50) | {"holds": [{"table": "messages", "where": "body = 'kept'"}]}
    held = message(db, OLD)
    db.execute("UPDATE messages SET body = 'kept' WHERE id = ?", (held,))
    found = Calls(db, rules).call().rules["messages"]
    # The parent is kept by the rule's own `only`, which needs no count.
    assert (found.scanned, found.deleted, found.unreadable, found.held) == (5, 0, 1, 1)
    assert found.malformed_tenants == ["broken"]


@both
@pytest.mark.parametrize("budget", [1, 2, 3])
def test_rules_are_all_served_within_as_many_calls_as_there_are(db: apsw.Connection, mode: Mode, budget: int) -> None:
    """By statements: so many pages a call at least, planning included. The original counts pages alone."""
    message(db, OLD)
    delivery(db, OLD)
    for seq in (1, 2):
        event(db, seq, OLD)
    receipt(db, "no such message")
    store, rules = retention.MemoryStore(), relay(THIRTY, mode, page=200)
    plan = retention.plan(db, rules, now=NOW)
    limit = plan.statements + plan.smallest * budget
    gone: set[str] = set()
    for _ in range(5):
        done = retention.run(db, rules, store=store, now=NOW, limits={"statements": limit})
        assert done.statements.used <= limit
        gone |= {r.rule for r in done.rules if r.deleted}
    assert gone == {"messages", "deliveries", "workspace_events", "read_receipts"}

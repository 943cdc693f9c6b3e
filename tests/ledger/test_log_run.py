"""The log's retention as a part of a run: within its limits, in turn with the rules, with its progress in the checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

import retention
from retention.engine.receipt import LogReceipt, Receipt
from retention.errors import HostError
from retention.ledger.append import append
from retention.ledger.cursors import ack
from retention.policy.models import Policy, Rule
from retention.steps import Batch, Result
from retention.stores import MemoryStore
from tests.ledger.databases import JOBS, NOTES, NOW, Database
from tests.ledger.relay import Faulty
from tests.ledger.test_log_retention import DAY, KEPT, edit, ids

POLICY = Policy(events=NOTES)


def run(database: Any, policy: Policy = POLICY, **given: Any) -> Receipt:
    return retention.run(database.host, policy, now=NOW, **given)


def log(receipt: Receipt) -> LogReceipt:
    (only,) = receipt.events
    return only


def test_a_run_deletes_what_nobody_needs_and_says_so(notes: Database) -> None:
    first, second, third = (edit(notes, "s", days) for days in (40, 39, 38))
    notes.do(ack(NOTES, "s", third, now=NOW, consumer="anna"))
    receipt = run(notes)
    assert (receipt.outcome, receipt.why) == ("done", "finished")
    assert receipt.to_dict()["events"] == [
        {
            "table": "note log", "cutoff": "2026-08-10T14:00:00Z", "pages": 1, "scanned": 3, "deleted": 2, "stopped": [], "unconfirmed": 0,
            "blocked": 0, "finished": True, "error": None,
        }
    ]  # fmt: skip
    assert ids(notes, NOTES) == [third]
    assert {first, second}.isdisjoint(ids(notes, NOTES))


def test_a_consumer_that_stopped_is_named(notes: Database) -> None:
    read, unread = edit(notes, "s", 50), edit(notes, "s", 45)
    notes.do(ack(NOTES, "s", read, now=NOW - 44 * DAY, consumer="anna"))
    receipt = run(notes)
    assert (log(receipt).deleted, log(receipt).stopped) == (1, ["consumer:anna"])
    assert unread not in ids(notes, NOTES)
    assert run(notes).events[0].stopped == []


def test_a_log_kept_for_ever_is_not_visited(jobs: Database) -> None:
    jobs.do(append(JOBS, "outbox.claimed", stream="j", now=NOW - 400 * DAY))
    receipt = run(jobs, Policy(events=JOBS))
    assert (receipt.outcome, receipt.events) == ("done", [])
    assert len(ids(jobs, JOBS)) == 1


def old(jobs: Database, count: int) -> None:
    numbers = f"WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < {count})"
    jobs.script(f"INSERT INTO delivery_events (ts, slot_id, event) {numbers} SELECT {NOW - 40 * DAY}, 'j', 'outbox.claimed' FROM n")


def test_limits_hold_and_the_next_run_goes_on(jobs: Database) -> None:
    old(jobs, 1_000)
    store, deleted, runs = MemoryStore(), 0, 0
    policy = Policy(events=KEPT, limits={"page_rows": 100})  # type: ignore[arg-type]
    limit = retention.plan(jobs.host, policy, now=NOW)
    needed = limit.statements + limit.smallest
    while True:
        receipt = run(jobs, policy, store=store, limits={"statements": needed + 6})
        assert receipt.statements.used <= needed + 6
        deleted, runs = deleted + log(receipt).deleted, runs + 1
        if receipt.outcome == "done":
            break
        assert (receipt.outcome, receipt.why) == ("more", "statements")
        assert store.document is not None
        assert store.document["events"]["delivery_events"]["cursor"] == deleted
        assert runs < 20
    assert (deleted, runs > 3) == (1_000, True)
    assert ids(jobs, JOBS) == []


def test_it_takes_turns_with_the_rules(jobs: Database) -> None:
    old(jobs, 500)
    jobs.script(
        "WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 500) INSERT INTO outbox (id, kind, delivery_target, "
        f"payload_json, status, next_attempt_at, created_at, updated_at) SELECT v, 'n', 't', '{{}}', 'done', 0, {NOW - 400 * DAY}, 0 FROM n"
    )
    rule = Rule(table="outbox", keep="90d", age={"column": "created_at", "format": "unix_ms"}, only="status = 'done'")  # type: ignore[arg-type]
    policy = Policy(events=KEPT, rules=[rule], limits={"page_rows": 100})  # type: ignore[arg-type]
    store = MemoryStore()
    planned = retention.plan(jobs.host, policy, now=NOW)
    limits = {"statements": planned.statements + planned.smallest + 8}
    touched: list[tuple[int, int]] = []
    for _ in range(2):
        receipt = run(jobs, policy, store=store, limits=limits)
        touched.append((receipt.rules[0].deleted, log(receipt).deleted))
    assert all(sum(kind) > 0 for kind in zip(*touched, strict=True))
    while run(jobs, policy, store=store).outcome != "done":
        pass
    assert (ids(jobs, JOBS), jobs.value("SELECT count(*) FROM outbox")) == ([], 0)


def test_a_lost_answer_is_counted_and_nothing_is_lost(jobs: Database) -> None:
    old(jobs, 50)

    class Lossy(Faulty):
        lost = False

        def execute(self, batch: Batch, timeout: float | None = None) -> Sequence[Result]:
            results = self.host.execute(batch, timeout)
            if batch.writes and not self.lost:
                self.lost = True
                raise HostError("the reply was lost", "network", retryable=True, applied=None)
            return results

    receipt = retention.run(Lossy(jobs.host), Policy(events=KEPT), now=NOW)
    assert (receipt.outcome, log(receipt).deleted, log(receipt).unconfirmed) == ("done", 0, 50)
    assert ids(jobs, JOBS) == []


def test_an_event_that_a_trigger_keeps_does_not_stop_the_others(jobs: Database) -> None:
    old(jobs, 40)
    jobs.script("CREATE TRIGGER kept BEFORE DELETE ON delivery_events WHEN OLD.id = 17 BEGIN SELECT RAISE(ABORT, 'kept'); END")
    receipt = run(jobs, Policy(events=KEPT))
    assert (receipt.outcome, log(receipt).blocked, log(receipt).deleted) == ("failed", 1, 39)
    assert "kept" in str(log(receipt).error)
    assert ids(jobs, JOBS) == [17]


def test_a_log_that_cannot_be_trusted_refuses_the_run(notes: Database) -> None:
    notes.script("DROP TABLE readers", 'CREATE TABLE readers ("who" TEXT, "of" TEXT, "upto" INTEGER, "moved" INTEGER)')
    receipt = run(notes)
    assert (receipt.outcome, receipt.why) == ("refused", "schema")


def test_a_plan_names_the_indexes_that_the_log_lacks(jobs: Database) -> None:
    plan = retention.plan(jobs.host, Policy(events=KEPT), now=NOW)
    (one,) = plan.further
    assert [query.label for query in one.plans] == ["high-water", "boundary", "delete"]
    assert any('("slot_id", "ts")' in note for note in one.notes)


@pytest.mark.parametrize(("change", "scanned"), [({}, 1), ({"keep": 20 * DAY}, 3), ({"once": ("opened",)}, 3)])
def test_what_decides_about_events_begins_anew_when_it_changes(notes: Database, change: dict[str, Any], scanned: int) -> None:
    for days in (40, 39, 25):
        edit(notes, "s", days)
    (plan,) = retention.plan(notes.host, POLICY, now=NOW).further
    entry = {"cursor": 2, "high": 3, "walk": "rowid", "policy": plan.digest}
    store = MemoryStore({"version": 1, "next": 0, "tables": {}, "events": {"note log": entry}})
    receipt = run(notes, Policy(events=NOTES.model_copy(update=change)), store=store)
    assert log(receipt).scanned == scanned

"""The catalogue as far as it is about calls: what one call does, what it stores, and what another writer may do in between.

A call of the original is `page_rows` (its batchLimit), `max_pages` (maxBatches) and, in chunk mode, chunks of ten. Its save counts are
upper bounds here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import apsw
import pytest

import retention
from retention.hosts.sqlite import SQLite
from retention.steps import Batch, Result

from .relay import (
    NOW,
    Keeps,
    database,
    deliveries,
    delivery,
    event,
    message,
    policy,
    receipt,
    rows_left,
    workspace,
)

OLD = 110
MODES = ("range", "chunk")
DEFAULT, THIRTY = Keeps(), Keeps(messages=30)
Writer = Callable[[apsw.Connection], Any]


class Watched:
    """A host that keeps every statement, and lets another writer in (or fails) before a batch that deletes."""

    def __init__(self, db: apsw.Connection, meanwhile: Writer | None = None) -> None:
        self.db, self.host, self.meanwhile = db, SQLite(db), meanwhile
        self.name, self.capabilities = self.host.name, self.host.capabilities
        self.sent: list[tuple[str, tuple[Any, ...]]] = []

    def execute(self, batch: Batch, timeout: float | None = None) -> Sequence[Result]:
        if batch.writes and self.meanwhile is not None:
            meanwhile, self.meanwhile = self.meanwhile, None
            meanwhile(self.db)
        self.sent += [(s.sql, s.params) for s in batch.statements]
        return self.host.execute(batch, timeout)

    def close(self) -> None:
        self.host.close()

    def deletes(self, table: str) -> list[tuple[str, tuple[Any, ...]]]:
        return [s for s in self.sent if s[0].startswith(f'DELETE FROM "{table}"')]


class Database:
    """A relay database and the document of its runs."""

    def __init__(self, keeps: Keeps, mode: str, rows: int, pages: int) -> None:
        self.db, self.store = database(), retention.MemoryStore()
        text = policy(keeps).replace("page_rows = 1000\nmax_pages = 4\n", "")
        added = f"page_rows = {rows}\nmax_pages = {pages}\nmode = " + ('"range"' if mode == "range" else "{ chunk = 10 }")
        self.policy = re.sub(r"\[\[rules\]\]\n", f"[[rules]]\n{added}\n", text)
        workspace(self.db)

    def call(self, meanwhile: Writer | None = None) -> tuple[dict[str, int], Watched]:
        """Rows deleted by rule, and the host."""
        host = Watched(self.db, meanwhile)
        try:
            done = retention.run(host, self.policy, store=self.store, now=NOW)
        finally:
            host.close()
        return {r.rule: r.deleted for r in done.rules}, host

    def entry(self, rule: str) -> dict[str, Any]:
        assert self.store.document is not None
        return self.store.document["tables"].get(rule, {})


@pytest.fixture(params=MODES)
def make(request: pytest.FixtureRequest) -> Callable[..., Database]:
    return lambda keeps=DEFAULT, rows=2, pages=1: Database(keeps, request.param, rows, pages)


Make = Callable[..., Database]


def test_rp_1_kept_history_costs_a_page_of_reads_and_no_write(make: Make) -> None:
    d = make()
    deliveries(d.db, 1000, 1)
    cursors = []
    for _ in range(2):
        deleted, host = d.call()
        assert sum(deleted.values()) == 0
        assert host.deletes("deliveries") == []
        cursors.append(d.entry("deliveries")["cursor"])
    assert cursors[0] < cursors[1] <= 4


def test_rp_3_chunks_of_ten_stay_under_a_hundred_values() -> None:
    d = Database(Keeps(), "chunk", 200, 1)
    deliveries(d.db, 23, OLD)
    deleted, host = d.call()
    assert deleted["deliveries"] == 23
    deletes = host.deletes("deliveries")
    assert len(deletes) == 3
    assert max(len(params) for _, params in deletes) <= 100


def test_rp_4_a_call_takes_the_reply_and_the_next_its_parent(make: Make) -> None:
    d = make(THIRTY, 200)
    parent = message(d.db, OLD)
    message(d.db, OLD, thread=parent)
    kept = receipt(d.db, parent)
    events = [event(d.db, seq, OLD) for seq in (1, 2, 3)]
    assert d.call()[0]["messages"] == 1
    assert rows_left(d.db)["workspace_events"] == {events[2]}
    assert rows_left(d.db)["read_receipts"] == {kept}
    assert d.call()[0]["messages"] == 1
    assert rows_left(d.db)["messages"] == rows_left(d.db)["read_receipts"] == set()


def test_rp_5_rows_above_the_mark_wait_and_kept_rows_are_visited_again(make: Make) -> None:
    d = make()
    first, *_ = (delivery(d.db, OLD, status) for status in ("delivered", "acked", "acked"))
    d.call()
    assert d.entry("deliveries")["high"] == 3
    for _ in range(4):
        delivery(d.db, OLD)
    d.call()
    assert "high" not in d.entry("deliveries")
    d.db.execute("UPDATE deliveries SET status = 'acked' WHERE id = ?", (first,))
    d.call()
    assert first not in rows_left(d.db)["deliveries"]


def test_rp_7_a_table_that_fails_loses_its_turn_and_no_row(make: Make) -> None:
    d = make(THIRTY)
    message(d.db, OLD)

    def fail(_: apsw.Connection) -> None:
        raise retention.HostError("out of order", "error")

    assert d.call(fail)[0]["messages"] == 0
    assert "cursor" not in d.entry("messages")
    assert d.call()[0]["messages"] == 1


def test_rp_9_a_clock_that_is_no_time_stops_before_anything_is_read() -> None:
    host = Watched(database())
    with pytest.raises(retention.PolicyError, match="not a time"):
        retention.run(host, policy(Keeps()), now=float("nan"))  # type: ignore[arg-type]
    assert host.sent == []


def test_rp_10_a_store_that_fails_stops_before_any_row_is_read() -> None:
    class Broken(retention.MemoryStore):
        def save(self, document: dict[str, Any]) -> None:
            raise retention.HostError("the store is gone")

    d = Database(Keeps(), "range", 2, 1)
    delivery(d.db, OLD)
    d.store = Broken()
    _, host = d.call()
    assert host.deletes("deliveries") == []
    assert len(rows_left(d.db)["deliveries"]) == 1


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"version": 1},
        {"version": 9, "next": 0, "tables": {}},
        {"next": 0, "positions": {}, "highs": {}},
        {"version": 1, "next": 0, "tables": {"deliveries": {"cursor": "legacy-rowid"}}},
        {"version": 1, "next": 99, "tables": {}},
        {"version": 1, "next": 0, "tables": []},
    ],
)
def test_rp_11_12_bd_4_a_document_that_is_none_starts_from_the_beginning(document: dict[str, Any], make: Make) -> None:
    d = make()
    delivery(d.db, OLD)
    d.store = retention.MemoryStore(document)
    assert d.call()[0]["deliveries"] == 1
    assert d.store.document is not None
    assert d.store.document["version"] == 1


CHANGES: dict[str, tuple[str, str]] = {
    "RP-13": ("deliveries", """UPDATE workspaces SET retention = '{"delivery_ttl_days": null}'"""),
    "RP-14": ("deliveries", "UPDATE deliveries SET status = 'queued'"),
    "RP-15": (
        "deliveries",
        "DELETE FROM deliveries; INSERT INTO deliveries (id, workspace_id, message_id, agent_id, status, created_at) "
        "SELECT 'another', 'ws', id, 'ag_ws', 'acked', 1788962399 FROM messages",
    ),
    "RP-16": ("deliveries", "UPDATE deliveries SET created_at = 1788962400"),
    "RP-45": (
        "messages",
        "INSERT INTO messages (id, workspace_id, channel_id, agent_id, thread_id, body) "
        "SELECT '223442318131200000', workspace_id, channel_id, agent_id, id, 'a reply' FROM messages",
    ),
    "RP-48": (
        "workspace_events",
        "INSERT INTO workspaces (id, name, api_key_hash, retention) VALUES ('gone', 'g', 'g', '{\"workspace_event_ttl_days\": null}')",
    ),
}


@pytest.mark.parametrize("id", CHANGES)
def test_a_row_that_is_rescued_before_its_delete_stays(id: str, make: Make) -> None:
    d = make(THIRTY, 200)
    table, change = CHANGES[id]
    match table:
        case "deliveries":
            delivery(d.db, OLD)
        case "messages":
            message(d.db, OLD)
        case _:
            event(d.db, 1, OLD, "gone")
            event(d.db, 2, OLD, "gone")
    deleted, host = d.call(lambda db: db.execute(change))
    assert host.meanwhile is None, "the writer had its turn"
    assert deleted[table] == 0
    assert len(rows_left(d.db)[table]) >= 1


@pytest.mark.parametrize(("id", "change"), [("RP-25", "expires_at = 1788962430"), ("RP-26", "status = 'acked'")])
def test_a_delivery_that_is_rescued_before_its_recovery_stays(id: str, change: str, make: Make) -> None:
    d = make(Keeps(deliveries=None, recovery=7), 200)
    kept = delivery(d.db, 27, "queued", expired=20)
    d.call(lambda db: db.execute(f"UPDATE deliveries SET {change}"))
    assert rows_left(d.db)["deliveries"] == {kept}, id


def test_rp_46_an_edit_of_white_space_costs_at_most_a_call(make: Make) -> None:
    """In range mode nothing at all: the database decides in the delete. In chunk mode the row was read with the older text."""
    d = make(THIRTY)
    d.db.execute("""UPDATE workspaces SET retention = '{"message_ttl_days": 30}'""")
    message(d.db, OLD)
    first = d.call(lambda db: db.execute("""UPDATE workspaces SET retention = '{"message_ttl_days":  30}'"""))[0]["messages"]
    assert first + d.call()[0]["messages"] == 1


def test_rp_47_the_newest_is_the_newest_at_the_delete(make: Make) -> None:
    d = make(DEFAULT, 200)
    for seq in (1, 2, 3):
        event(d.db, seq, OLD)
    deleted, _ = d.call(lambda db: db.execute("DELETE FROM workspace_events WHERE seq = 3"))
    assert deleted["workspace_events"] == 1
    assert rows_left(d.db)["workspace_events"] == {("ws", 2)}


def test_rp_17_the_store_is_the_hosts(make: Make) -> None:
    d = make()
    deliveries(d.db, 5, OLD)
    d.call()
    assert "cursor" in d.entry("deliveries")
    d.call()
    d.call()
    assert rows_left(d.db)["deliveries"] == set()
    assert d.db.execute("SELECT count(*) FROM maintenance_cursors").get == 0


@pytest.mark.parametrize(("rows", "status"), [(5000, "queued"), (9000, "delivered")])
def test_rp_23_27_recovery_is_capped_in_a_call(rows: int, status: str) -> None:
    d = Database(Keeps(), "range", 2, 1)
    d.policy = policy(Keeps(recovery=7))
    deliveries(d.db, rows, 27, status, expired=20)
    deleted, host = d.call()
    assert 1000 <= deleted["expired-deliveries"] <= 4000
    assert len(host.deletes("deliveries")) <= 4
    assert any("idx_deliveries_active_expiry" in sql for sql, _ in host.deletes("deliveries"))


def test_rp_31_a_quiet_database_costs_a_few_saves_and_keeps_its_turn(make: Make) -> None:
    d = make(DEFAULT, 200)
    assert sum(d.call()[0].values()) == 0
    assert d.store.saves <= 10
    assert d.store.document is not None
    assert d.store.document["next"] == 0


def test_rp_32_five_pages_of_two_hundred_in_chunks_of_ten() -> None:
    d = Database(THIRTY, "chunk", 200, 5)
    for number in range(1200):
        message(d.db, 40 + number % 7)
    deleted, host = d.call()
    assert deleted["messages"] == 1000
    assert len(host.deletes("messages")) == 100
    about = [sql for sql, _ in host.sent if '"messages"' in sql and not sql.startswith("EXPLAIN")]
    assert len(about) <= 1 + 5 + 100 + 2, "two look at the schema and the first ages"
    assert (d.entry("messages")["cursor"], d.entry("messages")["high"]) == (1000, 1200)
    assert d.store.saves <= 18


@pytest.mark.parametrize("entry", [{"cursor": 2**53 - 1}, {"high": -5}, {"cursor": 2**53 - 1, "high": -5}])
def test_rp_36_a_cursor_past_the_end_heals_itself(entry: dict[str, int], make: Make) -> None:
    d = make(THIRTY, 200)
    for _ in range(3):
        message(d.db, OLD)
    d.store = retention.MemoryStore({"version": 1, "next": 0, "tables": {"messages": entry}})
    assert d.call()[0]["messages"] + d.call()[0]["messages"] == 3


def test_rp_38_an_unreadable_document_stops_nobody_else(make: Make) -> None:
    d = make(THIRTY)
    workspace(d.db, "broken", "{broken")
    healthy, kept = message(d.db, OLD), message(d.db, OLD, "broken")
    event(d.db, 1, OLD)
    event(d.db, 2, OLD)
    deleted, _ = d.call()
    assert deleted["messages"] == deleted["workspace_events"] == 1
    assert rows_left(d.db)["messages"] == {kept}
    assert healthy != kept


def test_rp_44_a_cascade_is_counted(make: Make) -> None:
    d = make(THIRTY, 200)
    deliveries(d.db, 500, 5, "queued", of=message(d.db, OLD))
    host = Watched(d.db)
    done = retention.run(host, d.policy, now=NOW)
    host.close()
    messages, settled = done.rules[0], done.rules[1]
    assert (messages.deleted, settled.deleted) == (1, 0)
    assert messages.cascaded is not None
    assert messages.cascaded["deliveries"] == 500
    assert messages.side_changes >= 500


def test_rp_49_a_save_that_fails_after_the_deletes_loses_no_row(make: Make) -> None:
    class Second(retention.MemoryStore):
        def save(self, document: dict[str, Any]) -> None:
            if self.saves == 1:
                raise retention.HostError("the store is gone")
            super().save(document)

    d = make(THIRTY)
    message(d.db, OLD)
    d.store = Second()
    d.call()
    assert rows_left(d.db)["messages"] == set()
    assert "cursor" not in d.entry("messages")


def test_bd_6_an_eternal_keep_is_walked_in_order(make: Make) -> None:
    d = make(DEFAULT, 10)
    d.db.execute("""UPDATE workspaces SET retention = '{"delivery_ttl_days": null}'""")
    deliveries(d.db, 500, OLD)
    cursors = []
    for _ in range(2):
        assert sum(d.call()[0].values()) == 0
        cursors.append(d.entry("deliveries")["cursor"])
    assert cursors[0] < cursors[1] <= 20


def test_bd_7_many_quiet_workspaces_do_not_hide_one(make: Make) -> None:
    d = make(DEFAULT, 50)
    for number in range(250):
        event(d.db, 1, OLD, f"ws{number:03}")
    event(d.db, 1, OLD, "z-target")
    event(d.db, 2, OLD, "z-target")
    for _ in range(6):
        d.call()
    left = rows_left(d.db)["workspace_events"]
    assert len(left) == 251
    assert {seq for ws, seq in left if ws == "z-target"} == {2}


def test_bd_8_a_row_that_comes_behind_the_mark_has_its_turn(make: Make) -> None:
    d = make()
    for rowid in (1, 2, 3, 4):
        delivery(d.db, 1, rowid=rowid)
    d.call()
    assert (d.entry("deliveries")["cursor"], d.entry("deliveries")["high"]) == (2, 4)
    delivery(d.db, 1, rowid=5)
    d.call()
    assert "cursor" not in d.entry("deliveries")
    d.call()
    assert (d.entry("deliveries")["cursor"], d.entry("deliveries")["high"]) == (2, 5)


@pytest.mark.parametrize("budget", [1, 2, 3])
def test_rules_are_all_served_within_as_many_calls_as_there_are(budget: int, make: Make) -> None:
    """A budget of one page a call, by statements."""
    d = make(THIRTY, 200)
    message(d.db, OLD)
    delivery(d.db, OLD)
    event(d.db, 1, OLD)
    event(d.db, 2, OLD)
    receipt(d.db, "no such message")
    planned = retention.plan(d.db, d.policy, now=NOW)
    limit = planned.statements + planned.smallest * budget
    deleted = dict.fromkeys(("messages", "deliveries", "message_logs", "workspace_events", "read_receipts"), 0)
    for _ in range(5):
        done = retention.run(d.db, d.policy, store=d.store, now=NOW, limits={"statements": limit})
        assert done.statements.used <= limit
        for rule in done.rules:
            deleted[rule.rule] += rule.deleted
    assert {t for t, n in deleted.items() if n} == {"messages", "deliveries", "workspace_events", "read_receipts"}

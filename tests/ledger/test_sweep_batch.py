"""Sweeps against other writers, failures, lost answers, wrong clocks and large histories."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import apsw
import pytest

import retention
from retention.capabilities import Capabilities
from retention.errors import HostError, PolicyError, Refused
from retention.hosts.base import Host
from retention.hosts.sqlite import SQLite
from retention.policy.load import parse
from retention.steps import Batch, Result
from tests.ledger.databases import NOW
from tests.ledger.ledgers import DAY, MINUTE, POLICY, SCHEMA, ledger, text


class Between:
    """A host before whose writes, or after them, something else happens."""

    def __init__(self, host: Host, before: Callable[[Batch], None], after: Callable[[Batch], None] = lambda _: None) -> None:
        self._host, self._before, self._after = host, before, after
        self.writes: list[Batch] = []

    @property
    def name(self) -> str:
        return self._host.name

    @property
    def capabilities(self) -> Capabilities:
        return self._host.capabilities

    def execute(self, batch: Batch, timeout: float | None = None) -> Sequence[Result]:
        if batch.writes:
            self.writes.append(batch)
            self._before(batch)
        results = self._host.execute(batch, timeout)
        if batch.writes:
            self._after(batch)
        return results

    def close(self) -> None: ...


@pytest.fixture
def con() -> Iterator[apsw.Connection]:
    connection = apsw.Connection("")
    connection.execute(SCHEMA)
    yield connection
    connection.close()


def queue(con: apsw.Connection, count: int, at: int = NOW - 31 * MINUTE) -> None:
    con.executemany(
        "INSERT INTO schedule_slots (id, schedule_id, created_at) VALUES (?, 'plan', ?)", [(f"s{n:03d}", text(at)) for n in range(count)]
    )
    con.execute("INSERT INTO schedule_slot_items (slot_id, target_id) SELECT id, 'a' FROM schedule_slots")


def statuses(con: apsw.Connection) -> dict[str, int]:
    return dict(con.execute("SELECT status, count(*) FROM schedule_slots GROUP BY 1").fetchall())


def halves(con: apsw.Connection) -> Any:
    """Slots and cells that tell two stories: an end without its cell's, or the other way round."""
    pairs = "schedule_slots AS s JOIN schedule_slot_items AS c ON c.slot_id = s.id"
    return con.execute(f"SELECT count(*) FROM {pairs} WHERE (s.status = 'failed') <> (c.status = 'failed')").get


# --- other writers


def test_a_worker_that_comes_before_the_batch_wins(con: apsw.Connection) -> None:
    queue(con, 6)
    claims = [
        "UPDATE schedule_slots SET lease_owner = 'w', lease_until = ?1 + 1 WHERE id = 's000'",
        "UPDATE schedule_slots SET status = 'running', heartbeat_at = ?1 WHERE id = 's001'",
        "UPDATE schedule_slots SET created_at = datetime(?1 / 1000, 'unixepoch') WHERE id = 's002'",
        "DELETE FROM schedule_slots WHERE id = 's003' AND ?1",
    ]

    def claim(_batch: Batch) -> None:
        for sql in claims:
            con.execute(sql, (NOW,))

    receipt = retention.sweep(Between(SQLite(con), claim), POLICY, now=NOW).sweeps[0]
    assert (receipt.due, receipt.ended, receipt.raced, receipt.children) == (6, 2, 4, 2)
    assert statuses(con) == {"failed": 2, "pending": 2, "running": 1}
    assert con.execute("SELECT count(*) FROM schedule_slot_items WHERE status = 'failed'").get == 2
    assert con.execute("SELECT count(*) FROM delivery_events").get == 2


def test_a_worker_that_comes_after_it_finds_an_end(con: apsw.Connection) -> None:
    queue(con, 1)
    retention.sweep(con, POLICY, now=NOW)
    con.execute("UPDATE schedule_slots SET heartbeat_at = ? WHERE id = 's000' AND lease_owner = 'w'", (NOW,))
    assert con.changes() == 0


# --- rows that cannot end


def test_rows_that_cannot_end_are_named_and_stop_nobody(con: apsw.Connection) -> None:
    queue(con, 40)
    chosen = "old.id IN ('s000', 's017', 's039')"
    con.execute(f"CREATE TRIGGER veto BEFORE UPDATE ON schedule_slots WHEN {chosen} BEGIN SELECT RAISE(ABORT, 'not this one'); END")
    store = retention.MemoryStore()
    receipt = retention.sweep(con, _batches(100, 1_000), now=NOW, store=store)
    queued = receipt.sweeps[0]
    assert (queued.ended, queued.blocked, queued.due, queued.raced) == (37, ["s000", "s017", "s039"], 40, 0)
    assert (receipt.outcome, receipt.exit_status) == ("failed", 1)
    assert re.search("s000 cannot be ended: .*not this one", queued.error or "")
    assert halves(con) == 0


def test_a_row_that_a_trigger_keeps_in_silence_is_blocked_whole(con: apsw.Connection) -> None:
    """RAISE(IGNORE) is no error: without the fence the cells would end, and the slot would not."""
    queue(con, 5)
    con.execute("CREATE TRIGGER hush BEFORE UPDATE ON schedule_slots WHEN old.id = 's002' BEGIN SELECT RAISE(IGNORE); END")
    queued = retention.sweep(con, _batches(100, 1_000), now=NOW).sweeps[0]
    assert (queued.ended, queued.blocked) == (4, ["s002"])
    assert halves(con) == 0
    assert con.execute("SELECT count(*) FROM delivery_events WHERE slot_id = 's002'").get == 0


def test_a_set_that_leaves_where_true_ends_nothing(con: apsw.Connection) -> None:
    queue(con, 3)
    plain = {"name": "idle", "table": "schedule_slots", "where": "status = 'pending'", "timeout": "1m", "set": {"last_error": "{message}"}}
    policy = {"sweeps": [plain | {"age": {"column": "created_at", "format": "utc_text"}}]}
    receipt = retention.sweep(con, policy, now=NOW)
    assert receipt.sweeps[0].blocked == ["s000", "s001", "s002"]
    assert "set leaves where true" in (receipt.sweeps[0].error or "")
    assert con.execute("SELECT count(last_error) FROM schedule_slots").get == 0


def test_blocked_rows_starve_nobody_even_one_write_a_run(con: apsw.Connection) -> None:
    queue(con, 30)
    con.execute("CREATE TRIGGER veto BEFORE UPDATE ON schedule_slots WHEN old.id < 's010' BEGIN SELECT RAISE(ABORT, 'no'); END")
    store = retention.MemoryStore()
    for _ in range(60):
        retention.sweep(con, _batches(4, 1), now=NOW, store=store)
    assert statuses(con) == {"failed": 20, "pending": 10}


def _batches(batch: int, most: int) -> Any:
    chosen = parse(POLICY)
    return chosen.model_copy(update={"sweeps": tuple(s.model_copy(update={"batch": batch, "max_batches": most}) for s in chosen.sweeps)})


# --- lost answers and crashes


def test_a_lost_answer_is_counted_and_nothing_is_done_twice(con: apsw.Connection) -> None:
    queue(con, 5)
    lost: list[Batch] = []

    def lose(batch: Batch) -> None:
        if not lost:
            lost.append(batch)
            raise HostError("no answer", "network", applied=None)

    receipt = retention.sweep(Between(SQLite(con), lambda _: None, lose), POLICY, now=NOW)
    queued = receipt.sweeps[0]
    assert (queued.due, queued.ended, queued.unconfirmed, queued.raced) == (5, 0, 5, 0)
    assert statuses(con) == {"failed": 5}
    assert con.execute("SELECT count(*) FROM delivery_events").get == 5


def test_an_answer_lost_before_the_write_only_repeats_it(con: apsw.Connection) -> None:
    queue(con, 5)
    lost: list[Batch] = []

    def lose(batch: Batch) -> None:
        if not lost:
            lost.append(batch)
            raise HostError("no answer", "network", applied=None)

    queued = retention.sweep(Between(SQLite(con), lose), POLICY, now=NOW).sweeps[0]
    assert (queued.due, queued.ended, queued.unconfirmed) == (5, 5, 0)


@pytest.mark.parametrize("limit", [None, "smallest"])
def test_a_crash_at_any_step_leaves_no_half_and_the_next_run_finishes(limit: str | None) -> None:
    from retention.testing import Crashed, crash_after

    step, crashed = 0, True
    while crashed:
        step += 1
        con, store = apsw.Connection(""), retention.MemoryStore()
        con.execute(SCHEMA)
        queue(con, 12)
        limits = {"statements": 60} if limit else None
        try:
            retention.sweep(con, _batches(5, 10), now=NOW, store=store, limits=limits, on_step=crash_after(step))
            crashed = False
        except Crashed:
            assert halves(con) == 0
        for _ in range(20):
            receipt = retention.sweep(con, _batches(5, 10), now=NOW, store=store, limits=limits)
            if receipt.outcome == "done":
                break
        assert statuses(con) == {"failed": 12}
    assert step > 8


# --- the guard


def test_a_clock_that_would_end_most_of_it_is_refused_before_anything_is_written(con: apsw.Connection) -> None:
    queue(con, 101)
    con.execute("INSERT INTO schedule_slots (id, schedule_id, created_at) VALUES ('young', 'plan', ?)", (text(NOW),))
    receipt = retention.sweep(con, POLICY, now=NOW)
    assert (receipt.outcome, receipt.why, receipt.exit_status) == ("refused", "guard", 4)
    assert "101 of 102 live rows" in receipt.warnings[-1]
    assert "--allow-mass queued_too_long" in receipt.warnings[-1]
    assert statuses(con) == {"pending": 102}
    assert retention.sweep(con, POLICY, now=NOW, allow_mass=["queued_too_long"]).sweeps[0].ended == 101


@pytest.mark.parametrize(("due", "young"), [(100, 0), (101, 101)])
def test_a_hundred_or_half_of_them_may_end(con: apsw.Connection, due: int, young: int) -> None:
    queue(con, due)
    con.executemany(
        "INSERT INTO schedule_slots (id, schedule_id, created_at) VALUES (?, 'plan', ?)", [(f"y{n}", text(NOW)) for n in range(young)]
    )
    assert retention.sweep(con, POLICY, now=NOW).sweeps[0].ended == due


@pytest.mark.parametrize("live_are_newest", [True, False])
@pytest.mark.parametrize("indexed", [True, False])
def test_the_guard_says_where_it_looked_at_a_part(con: apsw.Connection, live_are_newest: bool, indexed: bool) -> None:
    """Its look is bounded: where no index holds the live rows, those behind the newest 50,000 are not in it."""
    finished = (
        "WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 50001) "
        "INSERT INTO schedule_slots (id, schedule_id, status, completed_at) SELECT 'done-' || v, 'plan', 'success', ?1 FROM n"
    )
    if live_are_newest:
        con.execute(finished, (text(NOW),))
    queue(con, 101)
    if not live_are_newest:
        con.execute(finished, (text(NOW),))
    if indexed:
        con.execute("CREATE INDEX live ON schedule_slots (id) WHERE status = 'pending'")
    receipt = retention.sweep(con, POLICY, now=NOW)
    blind = not live_are_newest and not indexed
    assert (receipt.sweeps[0].ended, receipt.outcome) == ((101, "done") if blind else (0, "refused"))
    assert [w for w in receipt.warnings if "looked at the 50,000 highest keys of 'schedule_slots' alone" in w] == receipt.warnings * blind
    assert retention.sweep(con, POLICY, now=NOW, allow_mass=["queued_too_long"]).warnings == []


def test_skipped_rows_are_not_due_for_the_guard(con: apsw.Connection) -> None:
    queue(con, 101)
    assert retention.sweep(con, POLICY, now=NOW, skip=["s000"]).sweeps[0].ended == 100


def test_a_refused_sweep_does_not_stop_the_other(con: apsw.Connection) -> None:
    queue(con, 101)
    con.execute("INSERT INTO schedule_slots (id, schedule_id, status, heartbeat_at) VALUES ('r', 'plan', 'running', ?)", (NOW - DAY,))
    receipt = retention.sweep(con, POLICY, now=NOW)
    assert [s.ended for s in receipt.sweeps] == [0, 1]
    assert receipt.outcome == "refused"


def test_mass_is_allowed_by_a_sweeps_own_name_only(con: apsw.Connection) -> None:
    with pytest.raises(PolicyError, match="no sweep is called 'queued'"):
        retention.sweep(con, POLICY, now=NOW, allow_mass=["queued"])


# --- large histories


def advised(con: apsw.Connection) -> None:
    notes = [note for one in retention.plan(con, POLICY, now=NOW).further for note in one.notes]
    wanted = {sql for note in notes for sql in re.findall(r"CREATE INDEX .*", note)}
    assert wanted
    for sql in sorted(wanted):
        con.execute(sql)


def meter(con: apsw.Connection) -> tuple[int, int]:
    """(statements, VM steps) of a sweep, planning left out."""
    spent = [0, 0]

    def note(event: dict[str, Any]) -> None:
        if not event["sql"].startswith(("EXPLAIN", "PRAGMA", "SELECT type")) and "sqlite_schema" not in event["sql"]:
            spent[0] += 1
            spent[1] += event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"]

    con.trace_v2(apsw.SQLITE_TRACE_PROFILE, note)
    receipt = retention.sweep(con, POLICY, now=NOW)
    con.trace_v2(0, None)
    assert [s.ended for s in receipt.sweeps] == [40, 25]
    return spent[0], spent[1]


def test_with_the_printed_index_history_costs_nothing() -> None:
    small, large = ledger(100), ledger(20_000)
    for con in (small, large):
        advised(con)
        sweeps = [one for one in retention.plan(con, POLICY, now=NOW).further if one.section == "sweeps"]
        assert all(one.walk.startswith("index:") and not one.notes for one in sweeps)
    (few, little), (many, much) = meter(small), meter(large)
    assert many == few
    assert much < little * 1.02 + 200


@pytest.mark.parametrize("indexed", [False, True])
def test_exactly_the_right_65_end_among_a_hundred_thousand(indexed: bool) -> None:
    con, store = ledger(100_000), retention.MemoryStore()
    if indexed:
        advised(con)
    receipt = retention.sweep(con, POLICY, now=NOW, store=store)
    assert (receipt.outcome, [(s.due, s.ended, s.unreadable) for s in receipt.sweeps]) == ("done", [(40, 40, 5), (25, 25, 0)])
    ended = con.execute("SELECT id, status FROM schedule_slots WHERE completed_at = ?", (text(NOW),)).fetchall()
    partial = {f"stalled-{n}" for n in range(0, 25, 5)}
    expected = {f"queued-{n}" for n in range(40)} | {f"stalled-{n}" for n in range(25)}
    assert dict(ended) == {id: "partial" if id in partial else "failed" for id in expected}
    ended_cells = "FROM schedule_slot_items WHERE completed_at IS NOT NULL"
    reasons = con.execute(f"SELECT terminal_reason_code, count(*) {ended_cells} GROUP BY 1").fetchall()
    assert dict(reasons) == {"queued_too_long": 80, "stalled_no_heartbeat": 45}
    again = retention.sweep(con, POLICY, now=NOW, store=store)
    assert (again.outcome, [s.ended for s in again.sweeps]) == ("done", [0, 0])


# --- what is refused when the policy is compiled


def compiled(con: apsw.Connection, **changes: Any) -> Any:
    sweep = parse(POLICY).sweeps[0].model_dump()
    base = {"name": "s", "table": "schedule_slots", "where": "status = 'pending'", "timeout": "30m", "set": {"status": "failed"}}
    base |= {"age": {"column": "created_at", "format": "utc_text"}, "children": sweep["children"]}
    policy = {"sweeps": [base | changes]} | ({"events": EVENTS} if "event" in changes else {})
    return retention.plan(con, policy, now=NOW)


EVENTS = {
    "table": "delivery_events", "stream": "slot_id", "kind": "event", "at": {"column": "ts", "format": "unix_ms"},
    "payload": "detail", "once": ["job.failed"],
}  # fmt: skip
BEAT = "BEGIN UPDATE schedule_slots SET heartbeat_at = 1 WHERE id = new.slot_id; END"
ON_CELLS = f"CREATE TRIGGER t AFTER UPDATE ON schedule_slot_items {BEAT}"
ON_LOG = f"CREATE TRIGGER t AFTER INSERT ON delivery_events {BEAT}"
BARE = "ALTER TABLE schedule_slot_items RENAME TO c; CREATE TABLE schedule_slot_items AS SELECT * FROM c"
FAR = (
    "CREATE TABLE x (a); CREATE TRIGGER t AFTER UPDATE ON schedule_slot_items BEGIN INSERT INTO x VALUES (1); END;"
    "CREATE TRIGGER u AFTER INSERT ON x BEGIN UPDATE schedule_slots SET heartbeat_at = 1; END"
)
READS = "status = 'pending' AND EXISTS (SELECT 1 FROM schedule_slot_items AS c WHERE c.slot_id = schedule_slots.id)"
READS_LOG = "status = 'pending' AND NOT EXISTS (SELECT 1 FROM delivery_events AS e WHERE e.slot_id = schedule_slots.id)"


@pytest.mark.parametrize(
    ("script", "changes", "says"),
    [
        ("", {"where": READS}, "where reads 'schedule_slot_items'"),
        ("", {"where": READS_LOG, "event": {"kind": "job.failed"}}, "where reads 'delivery_events'"),
        (ON_CELLS, {}, "a trigger on 'schedule_slot_items' writes to 'schedule_slots'"),
        (ON_LOG, {"event": {"kind": "job.failed"}}, "a trigger on 'delivery_events' writes to 'schedule_slots'"),
        (FAR, {}, "a trigger on 'schedule_slot_items' writes to 'schedule_slots'"),
        (BARE, {}, 'CREATE INDEX "schedule_slot_items_slot_id"'),
        ("", {"event": {"kind": "job.ended"}}, "does not list its kind in once"),
        ("", {"event": {"kind": "job.failed", "once": False}}, "is listed in once"),
        ("", {"set": {"status": "failed", "id": "x"}}, "names the row and must not change"),
        ("", {"set": {"statu": "failed"}}, "did you mean 'status'"),
        ("", {"set": {"status": "{now:ulid}"}}, "a time cannot be written as 'ulid'"),
        ("", {"lease": {"until": "lease", "format": "unix_ms"}}, "lease column 'lease'"),
        ("", {"key": "schedule_id"}, "is not unique"),
        ("", {"table": "slots"}, "there is no table 'slots'"),
    ],
)  # fmt: skip
def test_what_could_leave_halves_or_means_nothing_is_refused(con: apsw.Connection, script: str, changes: dict[str, Any], says: str) -> None:
    con.execute(script)
    with pytest.raises((PolicyError, Refused), match=re.escape(says)):
        compiled(con, **changes)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"timeout": {"default": "10s"}}, "below the floor of 1m"),
        ({"set": {"status": "{why}"}}, "known are {message}, {now:FORMAT}, {reason}"),
        ({"set": {"status": "{now}"}}, 'writes the clock as "{now:utc_text}"'),
        ({"set": {"status": "{rollup}"}}, "nothing fills"),
        ({"rollup": {"status": "status", "rules": [{"to": "x"}]}, "children": None}, "add [sweeps.children]"),
        ({"set": {"status": "{rollup}"}, "rollup": {"status": "s", "rules": [{"any": ["a"], "to": "x"}]}}, "one line that always holds"),
        ({"clear": ["status"]}, "which set writes as well"),
        ({"set": {"status": "failed", "STATUS": "x"}}, "is the column status once more"),
        ({"where": "status"}, "yes or no"),
        ({"batch": 0}, "at least 1"),
        ({"evnt": {}}, "did you mean event?"),
    ],
)
def test_what_the_policy_file_cannot_mean_is_refused_when_it_is_read(con: apsw.Connection, changes: dict[str, Any], says: str) -> None:
    with pytest.raises(PolicyError, match=re.escape(says)):
        compiled(con, **changes)


# --- beside rules


def test_rules_and_sweeps_take_turns_and_keep_each_others_progress(con: apsw.Connection) -> None:
    queue(con, 30)
    con.execute("CREATE TABLE old (id INTEGER PRIMARY KEY, at INTEGER)")
    con.executemany("INSERT INTO old (at) VALUES (?)", [(1_700_000_000,)] * 60)
    rule = {"table": "old", "keep": "1d", "age": {"column": "at", "format": "unix_s"}, "page_rows": 5}
    chosen = _batches(3, 1_000)
    assert chosen.events is not None
    events = chosen.events.model_copy(update={"keep": "forever"})
    policy = chosen.model_copy(update={"rules": parse_rules(rule), "closures": (), "events": events})
    store, turns = retention.MemoryStore(), list[tuple[int, int]]()
    for _ in range(200):
        receipt = retention.run(con, policy, now=NOW, store=store, limits={"statements": 41})
        turns.append((receipt.deleted, receipt.sweeps[0].ended))
        if receipt.outcome == "done":
            break
    assert statuses(con) == {"failed": 30}
    assert con.execute("SELECT count(*) FROM old").get == 0
    assert all(deleted and ended for deleted, ended in turns[:5]), "neither waits for the other to finish"


def parse_rules(*rules: dict[str, Any]) -> Any:
    return retention.Policy(rules=list(rules)).rules  # type: ignore[arg-type]


def test_a_sweep_leaves_the_rules_progress_and_turn_alone(con: apsw.Connection) -> None:
    queue(con, 3)
    kept = {"version": 1, "next": 4, "tables": {"deliveries": {"cursor": 4711, "high": 90210, "walk": "rowid"}}, "mine": {"x": [1]}}
    store = retention.MemoryStore(dict(kept))
    retention.sweep(con, POLICY, now=NOW, store=store)
    document = store.load()
    assert document is not None
    assert {key: document[key] for key in kept} == kept
    assert set(document["sweeps"]) <= {"queued_too_long", "stalled_no_heartbeat"}


@pytest.mark.parametrize("entry", [{"cursor": "x"}, 5, {"rows": [0, 0]}, {"cursor": 2**70, "walk": "rowid"}])
def test_a_damaged_entry_restarts_its_sweep(con: apsw.Connection, entry: Any) -> None:
    queue(con, 3)
    store = retention.MemoryStore({"version": 1, "next": 0, "tables": {}, "sweeps": {"queued_too_long": entry}})
    receipt = retention.sweep(con, POLICY, now=NOW, store=store)
    assert receipt.sweeps[0].ended == 3
    assert any("queued_too_long" in warning for warning in receipt.warnings)


def test_a_policy_without_sweeps_has_nothing_to_sweep(con: apsw.Connection) -> None:
    with pytest.raises(PolicyError, match="no sweep that is enabled"):
        retention.sweep(con, {"rules": [{"table": "outbox", "keep": "0s", "only": "status = 'done'"}]})


async def _awaited(con: apsw.Connection) -> int:
    return (await retention.asweep(con, POLICY, now=NOW)).sweeps[0].ended


def test_the_awaited_face_does_the_same(con: apsw.Connection) -> None:
    import asyncio

    queue(con, 3)
    assert asyncio.run(_awaited(con)) == 3

"""The ledger's own cases of sweeps, by their numbers in its catalogue, on every host."""

from __future__ import annotations

import time
from typing import Any

import pytest

import retention
from retention.engine.receipt import Receipt, SweepReceipt
from retention.ledger.listing import list_after
from retention.policy.load import parse
from retention.policy.models import Policy
from retention.policy.sweep_models import Rollup, Timeout
from tests.ledger.databases import JOBS, NOW, Database
from tests.ledger.ledgers import DAY, MINUTE, POLICY, text

QUEUED, STALLED = "The run waited too long to be started.", "The run stopped making progress."


def slot(jobs: Database, id: str = "s1", status: str = "pending", cells: dict[str, str] | None = None, **columns: Any) -> None:
    """A slot that was created now, and its cells (target and status; by default one that is pending)."""
    values = {"id": id, "schedule_id": "plan", "status": status, "created_at": text(NOW)} | columns
    shown = ", ".join("NULL" if v is None else str(v) if isinstance(v, int) else f"'{v}'" for v in values.values())
    inserts = [f"INSERT INTO schedule_slots ({', '.join(values)}) VALUES ({shown})"]
    for target, state in ({"a": "pending"} if cells is None else cells).items():
        inserts.append(f"INSERT INTO schedule_slot_items (slot_id, target_id, status) VALUES ('{id}', '{target}', '{state}')")
    jobs.script(*inserts)


def sweep(jobs: Database, now: int, policy: Any = POLICY, **options: Any) -> Receipt:
    return retention.sweep(jobs.host, policy, now=now, **options)


def counts(receipt: Receipt) -> tuple[int, int, int]:
    """(scanned, queued too long, stalled): what the original counts."""
    queued, stalled = receipt.sweeps
    return sum(s.due + s.skipped for s in receipt.sweeps), queued.ended, stalled.ended


def row(jobs: Database, id: str = "s1") -> tuple[Any, ...]:
    return jobs.rows("SELECT status, last_error, completed_at, lease_owner, lease_until FROM schedule_slots WHERE id = ?1", id)[0]


def cells(jobs: Database, id: str = "s1") -> list[tuple[Any, ...]]:
    sql = "SELECT status, terminal_reason_code, terminal_reason_message FROM schedule_slot_items WHERE slot_id = ?1 ORDER BY target_id"
    return jobs.rows(sql, id)


def policy(**timeouts: str) -> Policy:
    """The preset with timeouts that an operator has set."""
    chosen = parse(POLICY)
    sweeps = tuple(s.model_copy(update={"timeout": s.timeout.model_copy(update={"value": timeouts.get(s.name)})}) for s in chosen.sweeps)
    return chosen.model_copy(update={"sweeps": sweeps})


def timeouts(jobs: Database, chosen: Policy) -> tuple[list[int], list[str]]:
    plan = retention.plan(jobs.host, chosen, now=NOW)
    found = [one.shape.keep_ms or 0 for one in plan.further if one.section == "sweeps"]
    return found, [w for w in plan.warnings if "timeout" in w]


# --- budgets


def test_1_no_configuration_means_the_defaults(jobs: Database) -> None:
    assert timeouts(jobs, policy()) == ([1_800_000, 900_000], [])


def test_2_a_value_below_the_floor_or_unreadable_means_the_default(jobs: Database) -> None:
    found, warnings = timeouts(jobs, policy(queued_too_long="1s", stalled_no_heartbeat="nonsense"))
    assert found == [1_800_000, 900_000]
    assert [w.split(":")[0] for w in warnings] == ['sweep "queued_too_long"', 'sweep "stalled_no_heartbeat"']


def test_3_each_value_stands_for_itself(jobs: Database) -> None:
    assert timeouts(jobs, policy(queued_too_long="120s")) == ([120_000, 900_000], [])
    assert timeouts(jobs, policy(queued_too_long="60s")) == ([60_000, 900_000], [])


@pytest.mark.parametrize(
    ("case", "value", "warns"), [("16", "45m", False), ("17", "5ms", True), ("18", "90000.5ms", True), ("number", 120_000, True)]
)
def test_16_to_18_a_wrong_value_warns_and_never_stops(case: str, value: Any, warns: bool) -> None:
    ms, warning = Timeout(default="30m", value=value).resolved()  # type: ignore[arg-type]
    assert (warning is not None, ms) == (warns, 1_800_000 if warns else 2_700_000), case


# --- rule 1 and rule 2


def test_4_a_pending_slot_ends_with_its_cells_after_30_minutes(jobs: Database) -> None:
    slot(jobs)
    at = NOW + 31 * MINUTE
    assert counts(sweep(jobs, at)) == (1, 1, 0)
    assert row(jobs) == ("failed", QUEUED, text(at), None, None)
    assert cells(jobs) == [("failed", "queued_too_long", QUEUED)]


def test_5_a_fresh_slot_stays(jobs: Database) -> None:
    slot(jobs)
    assert counts(sweep(jobs, NOW)) == (0, 0, 0)
    assert (row(jobs)[0], cells(jobs)[0][0]) == ("pending", "pending")


def test_6_a_live_lease_keeps_a_pending_slot(jobs: Database) -> None:
    slot(jobs, lease_owner="w", lease_until=NOW + 4 * 60 * MINUTE)
    assert counts(sweep(jobs, NOW + 31 * MINUTE)) == (0, 0, 0)
    assert row(jobs)[0] == "pending"


def test_7_a_running_slot_whose_lease_and_heartbeat_are_old_ends(jobs: Database) -> None:
    slot(jobs, status="running", lease_owner="w", lease_until=NOW - 20 * MINUTE, heartbeat_at=NOW - 20 * MINUTE, cells={"a": "selected"})
    assert counts(sweep(jobs, NOW)) == (1, 0, 1)
    assert row(jobs)[0] == "failed"
    assert row(jobs)[3:] == (None, None)
    assert cells(jobs) == [("failed", "stalled_no_heartbeat", STALLED)]


def test_8_long_work_with_a_live_lease_stays(jobs: Database) -> None:
    at = NOW + 6 * 60 * MINUTE
    slot(jobs, status="running", lease_owner="w", lease_until=at + 3 * MINUTE, heartbeat_at=at)
    assert counts(sweep(jobs, at)) == (0, 0, 0)
    assert (row(jobs)[0], cells(jobs)[0][0]) == ("running", "pending")


def test_9_a_fresh_heartbeat_keeps_a_slot_whose_lease_ran_out(jobs: Database) -> None:
    slot(jobs, status="running", lease_owner="w", lease_until=NOW - 1, heartbeat_at=NOW)
    assert counts(sweep(jobs, NOW)) == (0, 0, 0)
    assert row(jobs)[0] == "running"


def test_10_a_skipped_slot_stays_and_counts_as_scanned(jobs: Database) -> None:
    for id in ("s1", "s2"):
        slot(jobs, id, "running", heartbeat_at=NOW - 20 * MINUTE)
    receipt = sweep(jobs, NOW, skip=["s2"])
    assert counts(receipt) == (2, 0, 1)
    assert receipt.sweeps[1].skipped == 1
    assert (row(jobs, "s1")[0], row(jobs, "s2")[0]) == ("failed", "running")


def test_11_a_limit_leaves_the_rest_for_the_next_run(jobs: Database) -> None:
    for n in range(3):
        slot(jobs, f"s{n}")
    chosen = parse(POLICY)
    small = tuple(s.model_copy(update={"batch": 2, "max_batches": 1}) for s in chosen.sweeps)
    chosen, store = chosen.model_copy(update={"sweeps": small}), retention.MemoryStore()
    first = sweep(jobs, NOW + 31 * MINUTE, chosen, store=store)
    assert (counts(first), first.outcome, first.why) == ((2, 2, 0), "more", "pages")
    assert jobs.value("SELECT count(*) FROM schedule_slots WHERE status = 'pending'") == 1
    assert counts(sweep(jobs, NOW + 31 * MINUTE, chosen, store=store)) == (1, 1, 0)


def test_12_to_15_a_slot_that_was_given_out_again_is_skipped_the_others_end(jobs: Database) -> None:
    """Whoever gives work out again says so; a slot that nobody can take (its plan is gone, the worker is stopped) ends in time."""
    slot(jobs, "vanished", "running", heartbeat_at=NOW - 5 * 60 * MINUTE)
    slot(jobs, "redispatched", "running", heartbeat_at=NOW - 5 * 60 * MINUTE)
    slot(jobs, "fresh", "pending")
    assert counts(sweep(jobs, NOW, skip=["redispatched"])) == (2, 0, 1)
    assert [row(jobs, s)[0] for s in ("vanished", "redispatched", "fresh")] == ["failed", "running", "pending"]
    assert cells(jobs, "vanished") == [("failed", "stalled_no_heartbeat", STALLED)]
    assert [cells(jobs, s)[0][0] for s in ("redispatched", "fresh")] == ["pending", "pending"]


def test_20_the_zone_of_the_machine_does_not_matter(jobs: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """In Shanghai the application once read a time of the database as local: everything was 8 h older than it is."""
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    try:
        slot(jobs, "young", created_at=text(NOW - 29 * MINUTE))
        slot(jobs, "old", created_at=text(NOW - 31 * MINUTE))
        assert counts(sweep(jobs, NOW)) == (1, 1, 0)
        assert row(jobs, "old")[:3] == ("failed", QUEUED, text(NOW))
    finally:
        monkeypatch.undo()
        time.tzset()


def test_21_and_22_a_lease_is_live_until_its_time(jobs: Database) -> None:
    for id, lease in (("live", NOW + 3 * MINUTE), ("dead", NOW - 10 * MINUTE)):
        slot(jobs, id, "running", lease_owner="w", lease_until=lease, heartbeat_at=NOW - 60 * MINUTE)
    assert counts(sweep(jobs, NOW)) == (1, 0, 1)
    assert (row(jobs, "live")[0], row(jobs, "live")[3:]) == ("running", ("w", NOW + 3 * MINUTE))
    assert row(jobs, "dead")[0] == "failed"


@pytest.mark.parametrize(
    ("done", "status"),
    [
        (["submitted"] * 4, "success"),
        (["submitted"] * 3 + ["no_candidate"], "partial"),
        (["duplicate", "failed"], "failed"),
        ([], "pending"),
    ],
)
def test_30_and_34_a_status_derived_from_finished_cells(jobs: Database, done: list[str], status: str) -> None:
    """The application's own derivation, which a policy can say; the preset's differs, because what a sweep ends was never healthy."""
    rules = [{"none": True, "to": "pending"}, {"all": ["submitted"], "to": "success"}, {"any": ["submitted"], "to": "partial"}]
    chosen = parse(POLICY)
    rollup = Rollup(status="status", rules=[*rules, {"to": "failed"}])  # type: ignore[list-item]
    sweeps = (chosen.sweeps[0].model_copy(update={"rollup": rollup, "where": "status = 'pending' AND last_error IS NULL"}),)
    slot(jobs, cells=dict(zip("abcd", done, strict=False)))
    assert sweep(jobs, NOW + 31 * MINUTE, chosen.model_copy(update={"sweeps": sweeps})).sweeps[0].ended == 1
    assert (row(jobs)[0], [cell[0] for cell in cells(jobs)]) == (status, done)


# --- what was not tested there


@pytest.mark.parametrize(("age", "lease", "ended"), [(0, 0, 1), (1, 0, 0), (0, 1, 0), (-1, -1, 1)])
def test_both_bounds_are_inclusive_to_the_millisecond(jobs: Database, age: int, lease: int, ended: int) -> None:
    slot(jobs, status="running", heartbeat_at=NOW - 15 * MINUTE + age, lease_until=NOW + lease)
    assert counts(sweep(jobs, NOW)) == (ended, 0, ended)


def test_a_second_that_was_cut_off_ends_nothing_early(jobs: Database) -> None:
    slot(jobs, status="running", heartbeat_at=NOW - 15 * MINUTE + 400)
    assert counts(sweep(jobs, NOW + 399)) == (0, 0, 0)
    assert counts(sweep(jobs, NOW + 400)) == (1, 0, 1)


def test_the_first_age_that_is_there_decides_even_where_it_is_older(jobs: Database) -> None:
    slot(jobs, "old-heartbeat", "running", heartbeat_at=NOW - 20 * MINUTE, started_at=text(NOW))
    slot(jobs, "started", "running", started_at=text(NOW - 20 * MINUTE), created_at=text(NOW))
    slot(jobs, "created", "running", created_at=text(NOW - 20 * MINUTE))
    slot(jobs, "young", "running", started_at=text(NOW), created_at=text(NOW - 20 * MINUTE))
    assert counts(sweep(jobs, NOW)) == (3, 0, 3)
    assert row(jobs, "young")[0] == "running"


@pytest.mark.parametrize(
    ("columns", "undated", "unreadable"),
    [
        ({"created_at": None}, 1, 0),
        ({"created_at": "garbage"}, 0, 1),
        ({"created_at": NOW - DAY}, 0, 1),
        ({"created_at": "2026-09-01T10:00:00.000Z"}, 0, 1),
        ({"created_at": text(NOW - DAY), "lease_until": "soon"}, 0, 1),
        ({"created_at": text(NOW - DAY), "lease_until": ""}, 0, 1),
    ],
)
def test_what_is_no_time_keeps_its_row_and_is_counted(jobs: Database, columns: dict[str, Any], undated: int, unreadable: int) -> None:
    slot(jobs, **columns)
    queued = sweep(jobs, NOW).sweeps[0]
    assert (queued.ended, queued.undated, queued.unreadable) == (0, undated, unreadable)
    assert row(jobs)[0] == "pending"


@pytest.mark.parametrize(
    ("before", "after", "status"),
    [
        ({}, [], "failed"),
        ({"a": "pending"}, ["failed"], "failed"),
        ({"a": "submitted"}, ["submitted"], "failed"),
        ({"a": "submitted", "b": "selected"}, ["submitted", "failed"], "partial"),
        ({"a": "submitted", "b": "no_candidate", "c": "duplicate"}, ["submitted", "no_candidate", "duplicate"], "partial"),
        ({"a": "no_candidate", "b": "duplicate"}, ["no_candidate", "duplicate"], "failed"),
        ({"a": "artifact_ready", "b": "pending"}, ["artifact_ready", "failed"], "failed"),
        ({"a": "delivery_pending", "b": "submitted"}, ["delivery_pending", "submitted"], "failed"),
        ({"a": "odd", "b": "submitted"}, ["odd", "submitted"], "partial"),
    ],
)
def test_the_status_follows_from_the_cells_and_is_never_healthy(
    jobs: Database, before: dict[str, str], after: list[str], status: str
) -> None:
    slot(jobs, cells=before)
    sweep(jobs, NOW + 31 * MINUTE)
    assert [cell[0] for cell in cells(jobs)] == after
    assert row(jobs)[0] == status


def test_32_only_open_cells_get_a_reason(jobs: Database) -> None:
    slot(jobs, cells={"a": "submitted", "b": "no_candidate", "c": "pending", "d": "duplicate", "e": "failed"})
    sweep(jobs, NOW + 31 * MINUTE)
    assert [cell[1] for cell in cells(jobs)] == [None, None, "queued_too_long", None, None]


def test_75_an_expired_job_has_its_event_once_and_whoever_asked_is_told(jobs: Database) -> None:
    for id in ("asked", "silent", "told"):
        slot(jobs, id)
    jobs.script(
        "INSERT INTO delivery_events (ts, slot_id, event, detail) VALUES "
        f"({NOW}, 'asked', 'job.requested', '{{\"callback_url\":\"https://u\"}}'), ({NOW}, 'silent', 'job.requested', '{{}}'), "
        f"({NOW}, 'told', 'job.requested', '{{\"callback_url\":\"https://u\"}}'), ({NOW + DAY}, 'told', 'job.outcome_expired', '{{}}')"
    )
    at = NOW + 31 * MINUTE
    assert counts(sweep(jobs, at)) == (3, 3, 0)
    events = jobs.rows("SELECT slot_id, ts, detail FROM delivery_events WHERE event = 'job.outcome_expired' ORDER BY slot_id")
    said = f'{{"message":"{QUEUED}","reason_code":"queued_too_long"}}'
    assert events == [("asked", at, said), ("silent", at, said), ("told", NOW + DAY, "{}")]
    (event,) = jobs.rows("SELECT id FROM delivery_events WHERE slot_id = 'asked' AND event = 'job.outcome_expired'")
    assert jobs.rows("SELECT kind, idempotency_key, delivery_target, status, max_attempts FROM outbox") == [
        ("event_callback", f"job-event:asked:evt-{at}-{event[0]}", "https://u", "pending", 8)
    ]
    assert counts(sweep(jobs, at + DAY)) == (0, 0, 0)
    assert jobs.value("SELECT count(*) FROM outbox") == 1
    page = jobs.do(list_after(JOBS, "asked"))
    assert [event.public for event in page.events] == ["job.accepted", "job.expired"]
    assert jobs.value("SELECT started_at FROM schedule_slots WHERE id = 'asked'") is None


def test_a_second_sweep_changes_nothing(jobs: Database) -> None:
    slot(jobs, "q")
    slot(jobs, "r", "running", heartbeat_at=NOW - DAY)
    at = NOW + 31 * MINUTE
    sweep(jobs, at)
    tables = ("schedule_slots", "schedule_slot_items", "delivery_events", "outbox")
    before = [jobs.rows(f"SELECT * FROM {t}") for t in tables]
    assert counts(sweep(jobs, at)) == (0, 0, 0)
    assert [jobs.rows(f"SELECT * FROM {t}") for t in tables] == before


def test_keys_of_every_kind(empty: Database) -> None:
    """Text with quotes and emoji, integers beyond 2^53, blobs: the list carries each, and `skip` names it as text."""
    empty.script(
        'CREATE TABLE "w k" (k PRIMARY KEY, s TEXT, at INTEGER)',
        "INSERT INTO \"w k\" VALUES ('it''s \"☃\"', 'on', 1), (9007199254740993, 'on', 1), (-1, 'on', 1), (x'00ff', 'on', 1), "
        "('9007199254740993', 'on', 1), (NULL, 'on', 1), ('free', 'on', NULL)",
    )
    policy = {
        "sweeps": [
            {
                "name": "stop", "table": "w k", "where": "s = 'on'", "age": {"column": "at", "format": "unix_s"}, "timeout": "1m",
                "set": {"s": "off {reason}"}, "clear": ["at"],
            }
        ]
    }  # fmt: skip
    (receipt,) = sweep(empty, NOW, policy, skip=["-1"]).sweeps
    expected = SweepReceipt("stop", "w k", visited=7, due=4, skipped=1, ended=4, undated=1, unreadable=1, finished=True)
    assert receipt == expected
    assert empty.value("SELECT count(*) FROM \"w k\" WHERE s = 'off stop' AND at IS NULL") == 4
    assert empty.value("SELECT group_concat(quote(k)) FROM (SELECT k FROM \"w k\" WHERE s = 'on' ORDER BY k)") == "NULL,-1,'free'"

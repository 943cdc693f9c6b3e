"""What `plan` counts of sweeps, closures and the log is what a run of each alone does."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import apsw
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import retention
from retention.cli.app import app
from retention.engine.preview import Preview, preview
from retention.hosts.sqlite import SQLite
from retention.plan.model import Plan
from retention.policy.load import parse
from retention.policy.models import Policy
from tests.ledger.databases import NOW
from tests.ledger.driving import drive
from tests.ledger.ledgers import DAY, MINUTE, POLICY, SCHEMA, ledger, text

OLD = NOW - 200 * DAY
STATES = ["pending", "running", "success", "failed", "odd"]

slots = st.fixed_dictionaries(
    {
        "status": st.sampled_from(STATES),
        "created_at": st.sampled_from([text(OLD), text(NOW), "soon", None]),
        "lease_until": st.sampled_from([None, NOW - 1, NOW + MINUTE]),
        "cell": st.sampled_from([None, "pending", "submitted"]),
        "events": st.lists(
            st.sampled_from(["job.requested", "job.progressed", "outbox.claimed", "job.outcome_failed"]), max_size=4, unique=True
        ),
        "acked": st.sampled_from([None, 0, 9]),
        "moved": st.sampled_from([OLD, NOW]),
    }
)


def filled(rows: list[dict[str, Any]]) -> apsw.Connection:
    con = apsw.Connection("")
    con.execute(SCHEMA)
    for n, row in enumerate(rows):
        con.execute(
            "INSERT INTO schedule_slots (id, schedule_id, status, created_at, lease_until) VALUES (?, 'plan', ?, ?, ?)",
            (f"s{n}", row["status"], row["created_at"], row["lease_until"]),
        )
        if row["cell"]:
            con.execute("INSERT INTO schedule_slot_items (slot_id, target_id, status) VALUES (?, 't', ?)", (f"s{n}", row["cell"]))
        for kind in row["events"]:
            con.execute("INSERT INTO delivery_events (slot_id, event, ts) VALUES (?, ?, ?)", (f"s{n}", kind, OLD))
        if row["acked"] is not None:
            con.execute("INSERT INTO job_event_cursors VALUES (?, ?, ?, ?)", (f"s{n}", OLD, row["acked"], row["moved"]))
    return con


def counted(con: apsw.Connection, policy: dict[str, Any] | str, pages: int = 20) -> Preview:
    host = SQLite(con)
    return drive(preview(retention.plan(host, policy, now=NOW), NOW, pages=pages), host)


@cache
def planned(part: str, page_rows: int) -> tuple[Policy, Plan]:
    """One part of the preset alone; planned once, because each example has the same schema."""
    whole = parse(POLICY)
    assert whole.events is not None
    kept = whole.events.model_copy(update={"keep": "forever"})
    left_out: dict[str, Any] = {
        "sweeps": {"closures": (), "events": kept},
        "closures": {"sweeps": (), "events": kept},
        "events": {"sweeps": (), "closures": ()},
    }[part]
    limits = whole.limits.model_copy(update={"page_rows": page_rows, "statements": None, "deadline": None})
    policy = whole.model_copy(update={**left_out, "limits": limits})
    return policy, retention.plan(filled([]), policy, now=NOW)


@settings(max_examples=40, deadline=None)
@given(st.lists(slots, max_size=25), st.sampled_from([3, 50_000]))
def test_each_alone_does_what_the_plan_says(rows: list[dict[str, Any]], page_rows: int) -> None:
    for part, what in (("sweeps", "ended"), ("closures", "closed"), ("events", "deleted")):
        policy, plan = planned(part, page_rows)
        con = filled(rows)
        said = drive(preview(plan, NOW), SQLite(con))
        receipt = retention.run(con, policy, now=NOW, plan=plan)
        did = [getattr(line, what) for line in getattr(receipt, part)]
        assert ([count.expired for count in said.further], said.whole) == (did, True)


def test_the_count_is_bounded_and_says_so() -> None:
    con = filled([{"status": "pending", "created_at": text(OLD), "lease_until": None, "cell": None, "events": [], "acked": None}] * 30)
    policy = parse(POLICY)
    small = policy.model_copy(update={"limits": policy.limits.model_copy(update={"page_rows": 5})})
    said = counted(con, small, pages=2)  # type: ignore[arg-type]
    assert [(count.pages, count.expired, count.whole) for count in said.further[:2]] == [(2, 10, False), (2, 0, False)]
    assert not said.whole


def test_a_sweep_takes_as_many_runs_as_its_batches_need() -> None:
    con = filled([{"status": "pending", "created_at": text(OLD), "lease_until": None, "cell": None, "events": [], "acked": None}] * 30)
    sweep = parse(POLICY).sweeps[0].model_copy(update={"batch": 4, "max_batches": 2})
    policy = parse(POLICY).model_copy(update={"sweeps": (sweep,), "closures": (), "events": parse(POLICY).events})
    said, store = counted(con, policy), retention.MemoryStore()  # type: ignore[arg-type]
    assert said.passes == 4
    ended = [retention.sweep(con, policy, now=NOW, store=store).sweeps[0].ended for _ in range(5)]
    assert ended == [8, 8, 8, 6, 0]


def test_the_command_shows_what_is_due_and_what_would_be_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "ledger.db")
    ledger(50, path).close()
    call = ["plan", path, "--preset", "ledger", "--now", "2026-09-09T14:00:00Z"]
    said = CliRunner().invoke(app, call).stdout
    assert "due         40 rows to end, of 1,050" in said
    assert "kept        unreadable 5" in said
    assert "total: 65 rows to end, 0 units to delete, 0 events to delete, each of them alone" in said
    exact = CliRunner().invoke(app, [*call, "--exact"]).stdout
    assert exact.startswith(
        "done: 65 rows would be ended by 2 sweeps, 0 units would be deleted by 1 closure, 0 events would be deleted from"
    )
    data = json.loads(CliRunner().invoke(app, [*call[:-1], "2026-12-30T14:00:00Z", "--json"]).stdout)
    assert [(sweep["due"], sweep["whole"]) for sweep in data["sweeps"]] == [(500, True), (495, True)]
    assert all("--allow-mass" in sweep["refused"] for sweep in data["sweeps"])
    assert [(closure["due"], closure["refused"]) for closure in data["closures"]] == [(50, None)]

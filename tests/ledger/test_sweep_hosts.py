"""Sweeps and closures on libSQL, and on the SQLite that D1 runs; and through the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import apsw
import pytest
from typer.testing import CliRunner

import retention
from retention.cli.app import app
from retention.testing import every_crash
from tests.ledger.databases import NOW, split
from tests.ledger.ledgers import DAY, MINUTE, POLICY, SCHEMA, ledger, text
from tests.libsql.fixtures import Database as LibSQLDatabase
from tests.libsql.fixtures import libsql
from tests.old_sqlite import run_on_old_sqlite

__all__ = ["libsql"]

AT = "2026-09-09T14:00:00Z"


def test_sweeps_and_closures_on_libsql(libsql: LibSQLDatabase) -> None:
    old = text(NOW - 91 * DAY)
    slots = ", ".join(
        f"('{id}', 'p', '{status}', '{created}', {ended})"
        for id, status, created, ended in (
            ("late", "pending", text(NOW - 31 * MINUTE), "NULL"),
            ("fresh", "pending", text(NOW), "NULL"),
            ("old", "success", old, f"'{old}'"),
            ("read", "success", old, f"'{old}'"),
        )
    )
    libsql.setup(
        *split(SCHEMA),
        f"INSERT INTO schedule_slots (id, schedule_id, status, created_at, completed_at) VALUES {slots}",
        "INSERT INTO schedule_slot_items (slot_id, target_id, status) SELECT id, 'a', iif(status = 'success', 'submitted', 'pending') "
        "FROM schedule_slots",
        f"INSERT INTO delivery_events (ts, slot_id, event) VALUES ({NOW}, 'read', 'job.progressed')",
        f"INSERT INTO job_event_cursors VALUES ('elsewhere', 1, 1, {NOW})",
    )
    with libsql.host() as host:
        receipt = retention.run(host, POLICY, now=NOW, until_done=True)
    assert [s.ended for s in receipt.sweeps] == [1, 0]
    closure = receipt.closures[0]
    assert (closure.closed, closure.unread, closure.members["schedule_slot_items"]) == (1, 1, 1)
    assert libsql.rows("SELECT id, status FROM schedule_slots ORDER BY id") == [
        ("fresh", "pending"), ("late", "failed"), ("read", "success")
    ]  # fmt: skip
    assert libsql.rows("SELECT event FROM delivery_events WHERE slot_id = 'late'") == [("job.outcome_expired",)]


def test_the_same_on_sqlite_3_47() -> None:
    run_on_old_sqlite("ledger/test_sweep.py", "ledger/test_closure.py", "-k", "sqlite or refused", "-p", "no:benchmark")


def test_no_crash_of_a_whole_run_leaves_another_end() -> None:
    def make() -> apsw.Connection:
        con = apsw.Connection("")
        con.execute(SCHEMA)
        old = text(NOW - 91 * DAY)
        con.executemany(
            "INSERT INTO schedule_slots (id, schedule_id, status, created_at, completed_at) VALUES (?, 'p', ?, ?, ?)",
            [(f"q{n}", "pending", text(NOW - DAY), None) for n in range(5)] + [(f"d{n}", "success", old, old) for n in range(5)],
        )
        con.execute(
            "INSERT INTO schedule_slot_items (slot_id, target_id, status, created_at, updated_at) "
            "SELECT id, 'a', iif(status = 'pending', 'pending', 'failed'), created_at, created_at FROM schedule_slots"
        )
        return con

    assert every_crash(make, POLICY, now=NOW) > 5


# --- the command


@pytest.fixture
def file(tmp_path: Path) -> Path:
    ledger(50, str(tmp_path / "ledger.db")).close()
    return tmp_path / "ledger.db"


def called(*arguments: Any) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    return result.exit_code, result.stdout, result.stderr


def test_the_command_ends_the_right_rows_and_says_so(file: Path) -> None:
    status, out, _ = called("sweep", file, "--preset", "ledger", "--now", AT, "--json")
    receipt = json.loads(out)
    keys = "sweep table visited due skipped ended children raced blocked unconfirmed undated unreadable finished error"
    assert (status, [list(s) for s in receipt["sweeps"]]) == (0, [keys.split()] * 2)
    assert [(s["ended"], s["unreadable"]) for s in receipt["sweeps"]] == [(40, 5), (25, 0)]
    assert called("sweep", file, "--preset", "ledger", "--now", AT)[:2][1].startswith("done: 0 rows ended by 2 sweeps in ")
    assert json.loads((file.parent / "ledger.db.retention.json").read_text())["next"] == 0


def test_rows_to_skip_by_name_and_from_a_file(file: Path, tmp_path: Path) -> None:
    (tmp_path / "names").write_text("queued-1\n\n  queued-2  \nunknown\n")
    _, out, _ = called("sweep", file, "--preset", "ledger", "--now", AT, "--json", "--skip", "queued-0", "--skip", f"@{tmp_path / 'names'}")
    assert [(s["due"], s["skipped"]) for s in json.loads(out)["sweeps"]] == [(37, 3), (25, 0)]
    con = apsw.Connection(str(file))
    left = con.execute("SELECT id FROM schedule_slots WHERE id GLOB 'queued-*' AND status = 'pending' ORDER BY 1").fetchall()
    assert left == [("queued-0",), ("queued-1",), ("queued-2",)]


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["--skip", "@nowhere"], 2, "--skip @nowhere: cannot be read"),
        (["--allow-mass", "nobody"], 2, "no sweep is called 'nobody'"),
        (["--now", "2026-09-10T14:00:00Z"], 4, "live rows are due at once"),
        (["--statements", "5"], 4, "allow at least"),
    ],
)
def test_what_the_command_refuses(file: Path, arguments: list[str], status: int, says: str) -> None:
    before = apsw.Connection(str(file)).execute("SELECT status, count(*) FROM schedule_slots GROUP BY 1").fetchall()
    code, _, err = called("sweep", file, "--preset", "ledger", *(["--now", AT] if "--now" not in arguments else []), *arguments)
    assert (code, says in err) == (status, True), err
    assert apsw.Connection(str(file)).execute("SELECT status, count(*) FROM schedule_slots GROUP BY 1").fetchall() == before


def test_mass_that_was_asked_for(file: Path) -> None:
    allowed = [part for name in ("queued_too_long", "stalled_no_heartbeat") for part in ("--allow-mass", name)]
    status, out, _ = called("sweep", file, "--preset", "ledger", "--now", "2026-09-10T14:00:00Z", "--json", *allowed)
    assert (status, [s["ended"] for s in json.loads(out)["sweeps"]]) == (0, [500, 495])


def test_a_database_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    assert called("sweep", tmp_path / "none.db", "--preset", "ledger")[0] != 0
    assert list(tmp_path.iterdir()) == []


def test_the_plan_shows_the_statements_and_the_missing_indexes(file: Path) -> None:
    _, out, _ = called("plan", file, "--preset", "ledger", "--now", AT)
    assert "sweep queued_too_long (table schedule_slots)" in out
    assert "closure jobs (table schedule_slots)" in out
    assert """CREATE INDEX "schedule_slots_queued_too_long" ON "schedule_slots" ("id") WHERE status = 'pending'""" in out
    data = json.loads(called("plan", file, "--preset", "ledger", "--now", AT, "--json")[1])
    assert [s["sweep"] for s in data["sweeps"]] == ["queued_too_long", "stalled_no_heartbeat"]
    assert data["closures"][0]["closure"] == "jobs"


def test_the_audit_knows_what_goes_with_a_closure(file: Path) -> None:
    _, out, _ = called("audit", file, "--preset", "ledger")
    assert "deliveries: No rule covers it" in out
    assert not any(f"{table}: No rule covers it" in out for table in ("schedule_slots", "schedule_slot_items", "delivery_events"))

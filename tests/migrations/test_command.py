"""`retention migrate`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from retention.policy.load import parse
from retention.stores import StateLock
from tests.cli.tools import call, create, rows
from tests.migrations.test_migrate import ROWS, SLOTS

POLICY = """version = 1
[[migrations]]
table = "slots"
add   = { column = "seen", definition = "INTEGER" }
[[migrations]]
table = "slots"
fill  = { set = { seen = "heartbeat" }, where = "seen IS NULL" }
[[migrations]]
table = "slots"
index = { name = "slots_request", on = ["request"], unique = true }
"""


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return create(tmp_path / "app.db", SLOTS, ROWS)


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "retention.toml"
    path.write_text(POLICY)
    return path


def test_a_dry_run_names_the_statements_and_leaves_no_trace(db: Path, policy: Path) -> None:
    before = sorted(path.name for path in db.parent.iterdir())
    result = call("migrate", db, "-p", policy, "--dry-run")
    assert result.exit_code == 3
    assert 'ALTER TABLE "slots" ADD COLUMN "seen" INTEGER' in result.stdout
    assert 'CREATE UNIQUE INDEX "slots_request" ON "slots" ("request")' in result.stdout
    assert result.stdout.splitlines()[-1].startswith("more: 0 of 3 steps made, 3 left in")
    assert sorted(path.name for path in db.parent.iterdir() if not path.name.endswith(("-wal", "-shm"))) == before


def test_it_is_done_and_then_there(db: Path, policy: Path) -> None:
    first = call("migrate", db, "-p", policy, "--json")
    assert first.exit_code == 0
    receipt = json.loads(first.stdout)
    assert [(step["migration"], step["does"], step["state"]) for step in receipt["migrations"]] == [
        ("slots.seen", "add", "made"), ("fill slots.seen", "fill", "filled"), ("slots_request", "index", "made"),
    ]  # fmt: skip
    assert rows(db, "SELECT seen FROM slots") == [(1,), (2,), (3,), (4,)]
    second = call("migrate", db, "-p", policy)
    assert (second.exit_code, second.stdout.count("there")) == (0, 3)


def test_duplicates_are_named_on_standard_error(db: Path, policy: Path) -> None:
    create(db, "UPDATE slots SET request = 'r1' WHERE id = 'b'")
    result = call("migrate", db, "-p", policy)
    assert result.exit_code == 3
    assert "2 rows of slots have (request) = ('r1')" in result.stderr
    assert "plain" in result.stdout


def test_a_refusal_is_four_and_long_work_must_be_allowed(db: Path, policy: Path) -> None:
    policy.write_text(POLICY.replace("version = 1", "version = 1\nlimits = { index_rows = 2 }"))
    result = call("migrate", db, "-p", policy)
    assert (result.exit_code, result.stderr.count("--allow-long")) == (4, 1)
    assert call("migrate", db, "-p", policy, "--allow-long").exit_code == 0


def test_one_runner_at_a_time(db: Path, policy: Path) -> None:
    with StateLock(Path(f"{db}.retention.json")):
        result = call("migrate", db, "-p", policy, "--json")
    assert (result.exit_code, json.loads(result.stdout)["outcome"]) == (75, "busy")


def test_a_database_that_is_not_there_is_not_made(tmp_path: Path, policy: Path) -> None:
    result = call("migrate", tmp_path / "none.db", "-p", policy)
    assert result.exit_code == 2
    assert not (tmp_path / "none.db").exists()


def test_a_policy_without_migrations(db: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text('version = 1\n[[rules]]\ntable = "slots"\nkeep = "0s"\nonly = "heartbeat = 0"\n')
    result = call("migrate", db, "-p", other)
    assert (result.exit_code, "[[migrations]]" in result.stderr) == (2, True)


def test_the_page_of_migrations_has_a_policy_that_loads() -> None:
    page = (Path(__file__).parents[2] / "docs" / "migrations.md").read_text()
    example = page.split("```toml\n")[1].split("```")[0]
    assert [step.name for step in parse(example).migrations] == [
        "job_event_cursors", "agents.status_updated_at", "fill agents.status_updated_at", "idx_slots_request",
    ]  # fmt: skip

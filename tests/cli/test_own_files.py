"""A state or an archive that is another file of the run, or of somebody else, is refused before anything is written."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from .tools import NOW, RULE, TABLE, aged, call, create, policy, rows


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a database, its policy and other people's files."""
    monkeypatch.chdir(tmp_path)
    create(Path("x.db"), TABLE, aged(30, 10), journal="delete")
    policy(Path("retention.toml"))
    Path("notes.txt").write_text("remember the milk\n", encoding="utf-8")
    Path("package.json").write_text('{"name": "x", "version": "1.0.0"}', encoding="utf-8")
    Path("link.json").symlink_to("x.db")
    os.link("retention.toml", "hard.json")
    os.mkfifo("pipe")
    create(Path("other.db"), TABLE)
    create(Path("y.lock"), TABLE, aged(30, 10), journal="delete")
    return tmp_path


def contents(place: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(place.iterdir()) if path.is_file()}


STATES = [
    "x.db", "x.db-wal", "x.db-shm", "x.db-journal", "./x.db", "link.json", "retention.toml", "hard.json", "notes.txt", "package.json",
    "other.db", ".", "pipe",
]  # fmt: skip


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("command", ["run", "migrate", "migrate --dry-run", "plan --exact"])
def test_a_state_that_is_something_else(place: Path, state: str, command: str) -> None:
    before = contents(place)
    done = call(*command.split(), "x.db", "--state", state)
    assert (done.exit_code, done.stderr.count("\n"), done.stdout) == (2, 1, ""), done.stderr
    assert f"the state file {Path(state)} " in done.stderr
    assert contents(place) == before


def test_a_lock_that_would_be_the_database(place: Path) -> None:
    before = contents(place)
    done = call("run", "y.lock", "--state", "y", "--now", NOW)
    assert (done.exit_code, "is the database" in done.stderr) == (2, True)
    assert contents(place) == before


@pytest.mark.parametrize("text", ["", "{}", '{"version": 9}', '{"version":1,"tab'])
def test_a_spoilt_checkpoint_only_warns(place: Path, text: str) -> None:
    Path("s.json").write_text(text, encoding="utf-8")
    done = call("run", "x.db", "--state", "s.json", "--now", NOW)
    assert (done.exit_code, len(rows(Path("x.db")))) == (0, 20)
    assert json.loads(Path("s.json").read_text())["version"] == 1


ARCHIVES = [
    "x.db", "x.db-wal", "x.db-shm", "x.db-journal", "./x.db", "link.json", "{table}.db", "retention.toml", "hard.json",
    "x.db.retention.json", "x.db.retention.json.lock",
]  # fmt: skip


@pytest.mark.parametrize("archive", ARCHIVES)
@pytest.mark.parametrize("enabled", [True, False])
def test_an_archive_that_is_another_file_of_the_run(place: Path, archive: str, enabled: bool) -> None:
    Path("t.db").symlink_to("x.db")
    policy(Path("retention.toml"), f'{RULE}archive = "{archive}"\nenabled = {str(enabled).lower()}\n')
    before = contents(place)
    done = call("run", "x.db", "--now", NOW)
    if enabled:
        assert (done.exit_code, done.stderr.count("\n")) == (2, 1), done.stderr
        assert 'rule "t": the archive' in done.stderr
    assert (len(rows(Path("x.db"))), {k: v for k, v in contents(place).items() if k in before}) == (30, before)


def test_an_archive_that_is_somebody_elses_file_deletes_nothing(place: Path) -> None:
    policy(Path("retention.toml"), f'{RULE}archive = "notes.txt"\n')
    done = call("run", "x.db", "--now", NOW)
    assert (done.exit_code, len(rows(Path("x.db")))) == (1, 30)
    assert "notes.txt is there and is no archive" in done.stderr
    assert Path("notes.txt").read_text() == "remember the milk\n"


def test_an_archive_path_with_a_nul(place: Path) -> None:
    policy(Path("retention.toml"), f'{RULE}archive = "a\\u0000b"\n')
    done = call("run", "x.db", "--now", NOW)
    assert (done.exit_code, done.stderr.count("\n"), len(rows(Path("x.db")))) == (2, 1, 30)
    assert "NUL" in done.stderr

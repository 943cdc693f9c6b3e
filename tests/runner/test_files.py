"""The files of a run keep apart, rules share an archive, and what a caller hands over may be broken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw
import pytest

import retention
from retention.archive import read

NOW = 1_788_962_400_000


def table(con: apsw.Connection, name: str) -> None:
    con.execute(f"CREATE TABLE {name} (id INTEGER PRIMARY KEY, at INTEGER)")
    con.execute(f"INSERT INTO {name} (at) VALUES (1000000000), (1000000001), ({NOW // 1000})")


@pytest.fixture
def db(tmp_path: Path) -> Path:
    con = apsw.Connection(str(tmp_path / "x.db"))
    table(con, "a")
    table(con, "b")
    con.close()
    return tmp_path / "x.db"


def rule(name: str, archive: object = None) -> dict[str, Any]:
    made: dict[str, Any] = {"table": name, "keep": "30d", "age": {"column": "at", "format": "unix_s"}}
    return made if archive is None else {**made, "archive": str(archive)}


def of(*rules: dict[str, Any]) -> dict[str, Any]:
    return {"version": 1, "rules": list(rules)}


@pytest.mark.parametrize("name", ["all.jsonl", "{table}-{date}.jsonl"])
def test_rules_share_an_archive(db: Path, tmp_path: Path, name: str) -> None:
    place = tmp_path / "kept"
    for _ in range(2):
        receipt = retention.run(db, of(rule("a", place / name), rule("b", place / name)), now=NOW)
        assert (receipt.outcome, receipt.warnings) == ("done", [])
    kept = [(step.table, row[0]) for path in sorted(place.iterdir()) for step in read(path) for row in step.rows]
    assert kept == [("a", 1), ("a", 2), ("b", 1), ("b", 2)]


def test_two_ways_to_write_one_archive_are_told(db: Path, tmp_path: Path) -> None:
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "all.jsonl")
    with pytest.raises(retention.PolicyError, match="another rule's too"):
        retention.run(db, of(rule("a", tmp_path / "all.jsonl"), rule("b", tmp_path / "link.jsonl")), now=NOW)


@pytest.mark.parametrize("name", ["x.db", "x.db-wal", "x.db-journal", "s.json", "s.json.lock"])
def test_an_archive_is_no_other_file_of_the_run(db: Path, tmp_path: Path, name: str) -> None:
    before, store = db.read_bytes(), retention.FileStore(tmp_path / "s.json")
    with pytest.raises(retention.PolicyError, match="would destroy"):
        retention.run(db, of(rule("a", tmp_path / name)), store=store, now=NOW)
    assert (db.read_bytes(), [path.name for path in tmp_path.iterdir()]) == (before, ["x.db"])


def test_a_state_that_is_somebody_elses_file_fails_the_run_and_deletes_nothing(db: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("remember the milk")
    before = db.read_bytes()
    receipt = retention.run(db, of(rule("a")), store=retention.FileStore(tmp_path / "notes.txt"), now=NOW)
    assert receipt.outcome == "failed"
    assert any("is not overwritten" in warning for warning in receipt.warnings)
    assert ((tmp_path / "notes.txt").read_text(), db.read_bytes()) == ("remember the milk", before)


class Broken(retention.MemoryStore):
    """A caller's store whose disk is gone."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def load(self) -> dict[str, Any] | None:
        raise self.error


@pytest.mark.parametrize("error", [OSError("gone"), KeyError("x"), retention.HostError("no answer", "network")])
def test_a_checkpoint_that_cannot_be_loaded_fails_the_run(db: Path, error: Exception) -> None:
    before = db.read_bytes()
    receipt = retention.run(db, of(rule("a")), store=Broken(error), now=NOW)
    own = isinstance(error, retention.HostError)
    says = str(error) if own else f"the checkpoint could not be loaded: {type(error).__name__}: {error}"
    assert (receipt.outcome, receipt.warnings, db.read_bytes()) == ("failed", [says], before)


def test_a_closed_connection_is_the_callers_mistake() -> None:
    con = apsw.Connection("")
    con.close()
    for call in (retention.run, retention.plan):
        with pytest.raises(retention.PolicyError, match="connection is closed"):
            call(con, of(rule("a")))

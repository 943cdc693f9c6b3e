"""`retention reclaim`: free pages go back to the disk in short steps, or it is said what VACUUM would take."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import apsw
import pytest

from retention.engine.budget import Budget
from retention.errors import PolicyError, Refused
from retention.hosts.sqlite import SQLite
from retention.space import Space, reclaim
from retention.steps import Batch
from retention.upkeep.reclaim import reclaim as engine

from .tools import call as command

WHOLE = {"outcome": "done", "why": "finished", "free": 0, "note": None}


def emptied(path: Path, mode: str, journal: str = "delete", kept: int = 20, rows: int = 400) -> apsw.Connection:
    con = apsw.Connection(str(path))
    con.execute(f"PRAGMA auto_vacuum = {mode}; PRAGMA journal_mode = {journal}; CREATE TABLE t (id INTEGER PRIMARY KEY, b BLOB)").fetchall()
    con.execute(
        f"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows}) INSERT INTO t SELECT i, randomblob(8000) FROM n"
    )
    con.execute("DELETE FROM t WHERE id > ?", (kept,))
    return con


def call(path: Path, *more: str) -> tuple[int, dict[str, Any]]:
    done = command("reclaim", path, "--json", *more)
    return done.exit_code, json.loads(done.stdout)


def driven(host: SQLite, budget: Budget, takes: float = 0.0, **how: Any) -> Space:
    """The engine, driven by hand: each write takes so long."""
    run, answer = engine(budget, **how), None
    while True:
        try:
            step = run.send(answer)
        except StopIteration as stop:
            return stop.value
        assert isinstance(step, Batch)
        budget.now += takes * step.writes
        answer = list(host.execute(step))


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_an_incremental_file_shrinks_in_steps(tmp_path: Path, journal: str) -> None:
    path = tmp_path / "app.db"
    con = emptied(path, "incremental", journal)
    before = con.execute("PRAGMA page_count").get
    status, said = call(path)
    assert (status, {k: said[k] for k in WHOLE}) == (0, WHOLE)
    assert said["steps"] > 1
    assert said["size"] == con.execute("PRAGMA page_count").get * 4096 < said["size_before"] == before * 4096
    assert con.execute("PRAGMA integrity_check").get == "ok"
    assert con.execute("SELECT count(*) FROM t").get == 20
    con.close()
    assert path.stat().st_size == said["size"]
    assert call(path)[1]["steps"] == 0


def test_a_deadline_ends_it_between_two_steps_and_the_next_call_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    emptied(path, "incremental").close()
    with SQLite(path) as host:
        space = driven(host, Budget(deadline=1.0), takes=2.0)
    assert (space.outcome, space.why, space.steps) == ("more", "deadline", 1)
    assert 0 < space.free < space.free_before
    assert reclaim(path).free == 0


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_any_other_file_is_told_what_vacuum_takes_and_gets_it_when_asked(tmp_path: Path, journal: str) -> None:
    path = tmp_path / "app.db"
    emptied(path, "none", journal).close()
    bytes_before = path.read_bytes()
    status, said = call(path)
    assert (status, said["outcome"], said["steps"], said["size"]) == (3, "more", 0, said["size_before"])
    assert "--vacuum does it" in said["note"]
    assert path.read_bytes() == bytes_before
    status, said = call(path, "--vacuum")
    assert (status, {k: said[k] for k in WHOLE}, said["steps"]) == (0, WHOLE, 1)
    assert path.stat().st_size == said["size"] < said["size_before"]


@pytest.mark.parametrize("mode", ["none", "incremental"])
def test_a_reader_that_holds_the_log_is_named_until_the_file_has_shrunk(tmp_path: Path, mode: str) -> None:
    """Each call tells what the disk has: nothing is called given back, or done, while the file is as long as before."""
    path = tmp_path / "app.db"
    emptied(path, mode, "wal").close()
    size = path.stat().st_size
    reader = apsw.Connection(str(path))
    reader.execute("BEGIN; SELECT count(*) FROM t")
    for steps in (1, 0, 0):
        status, said = call(path, "--vacuum")
        assert (status, said["outcome"], said["why"]) == (3, "more", "wal")
        assert "a reader still holds" in said["note"]
        assert said["size"] == path.stat().st_size >= size
        assert (said["free"] > size * 0.9, said["steps"] >= steps) == (True, True)
    assert "0 bytes given back in 0 steps" in command("reclaim", path).stdout
    reader.execute("COMMIT")
    status, said = call(path)
    assert (status, {k: said[k] for k in WHOLE}, said["steps"]) == (0, WHOLE, 0)
    assert said["size_before"] >= size > size * 0.1 > said["size"] == path.stat().st_size
    assert said["size"] == reader.execute("PRAGMA page_count").get * 4096
    reader.close()


def test_vacuum_is_left_out_where_it_gives_back_little(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    emptied(path, "none", kept=380).close()
    before = path.read_bytes()
    status, said = call(path, "--vacuum")
    assert (status, said["steps"], "left alone" in said["note"]) == (0, 0, True)
    assert path.read_bytes() == before


def test_vacuum_without_room_for_it_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    emptied(path, "none").close()
    before = path.read_bytes()
    with SQLite(path) as host, pytest.raises(Refused, match="make room there first"):
        driven(host, Budget(), vacuum=True, disk_free=1000)
    assert path.read_bytes() == before


def test_a_locked_file_is_busy_and_a_wrong_name_an_error(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    con = emptied(path, "incremental")
    con.execute("BEGIN IMMEDIATE")
    done = command("reclaim", path, "--deadline", "1s")
    assert done.exit_code in (3, 75)
    con.execute("ROLLBACK")
    assert command("reclaim", tmp_path / "none.db").exit_code == 2
    assert not (tmp_path / "none.db").exists()
    with pytest.raises(PolicyError, match="by itself"):
        reclaim("d1://account/database")

"""What an archive must not lose: rows that go with others, a key that is used again, a process that is killed between the two."""

from __future__ import annotations

import signal
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import apsw
import pytest

import retention
from retention.archive.jsonl import read
from tests.cli.tools import create

from .cases import FRESH, NOW, OLD, rule, series

FAMILY = """
CREATE TABLE cl (id INTEGER PRIMARY KEY, at INTEGER NOT NULL{own});
CREATE TABLE cl_item (id INTEGER PRIMARY KEY, cl_id INTEGER NOT NULL REFERENCES cl (id) ON DELETE CASCADE, v TEXT);
CREATE INDEX of_cl ON cl_item (cl_id);
CREATE TABLE note (id INTEGER PRIMARY KEY, item INTEGER REFERENCES cl_item (id) ON DELETE CASCADE); CREATE INDEX of_item ON note (item);
"""
ROWS = f"""
INSERT INTO cl (id, at) VALUES (1, {OLD}), (2, {FRESH});
INSERT INTO cl_item VALUES (10, 1, 'a'), (11, 1, 'b'), (12, 2, 'c'); INSERT INTO note VALUES (100, 10);
"""


def family(own: str = "") -> apsw.Connection:
    con = apsw.Connection("")
    con.execute(FAMILY.replace("{own}", own) + ROWS).fetchall()
    return con


def ids(con: apsw.Connection, table: str) -> list[Any]:
    return [row[0] for row in con.execute(f"SELECT id FROM {table} ORDER BY id")]


def archived(path: Path) -> list[tuple[Any, ...]]:
    return [row for step in read(path) for row in step.rows]


ITEMS_FIRST = 'only = "cl_id IN (SELECT id FROM cl WHERE at < 1767268800)"'


@pytest.mark.parametrize(
    "rules",
    [
        rule("cl", "archive = 'ARCHIVE'"),
        rule("cl_item", ITEMS_FIRST, "archive = 'ARCHIVE'", keep="0s", age="") + rule("cl"),
        rule("note", "only = 'id < 0'", "archive = 'ARCHIVE'", keep="0s", age="") + rule("cl"),
    ],
    ids=["of the parents", "of the children", "of their children"],
)
def test_rows_that_would_go_past_an_archive_are_not_deleted(tmp_path: Path, rules: str) -> None:
    con, policy = family(), rules.replace("ARCHIVE", str(tmp_path / "{table}.jsonl"))
    done = retention.run(con, policy, now=NOW, until_done=True)
    assert (done.outcome, done.why, ids(con, "cl"), ids(con, "cl_item")) == ("refused", "policy", [1, 2], [10, 11, 12])
    assert "by cascade" in done.warnings[0]
    assert not list(tmp_path.glob("*.jsonl"))
    assert retention.run(con, f'foreign_keys = "off"\n{policy}', now=NOW, until_done=True).outcome == "done", "then nothing goes with them"


def test_a_table_that_cascades_to_itself(tmp_path: Path) -> None:
    con = apsw.Connection("")
    con.execute(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER, up INTEGER REFERENCES t (id) ON DELETE CASCADE); CREATE INDEX u ON t (up)"
    )
    con.execute(f"INSERT INTO t VALUES (1, {OLD}, NULL), (2, {FRESH}, 1)")
    policy = rule("t", f"archive = '{tmp_path / 't.jsonl'}'")
    refused = retention.run(con, policy, now=NOW)
    assert (refused.outcome, ids(con, "t")) == ("refused", [1, 2])
    advised = tomllib.loads("only = " + refused.warnings[0].split("only = ")[1].split(". Then")[0])["only"]
    done = retention.run(con, rule("t", f"archive = '{tmp_path / 't.jsonl'}'", f"only = '{advised}'", 'children = "cascade"'), now=NOW)
    assert (done.outcome, ids(con, "t")) == ("done", [1, 2])


def test_what_the_refusal_says_archives_them_all(tmp_path: Path) -> None:
    """Children first, by a rule of their own, then the parents that have none left."""
    con, archive = family(), f"archive = '{tmp_path / '{table}.jsonl'}'"
    refusal = retention.run(con, rule("cl", archive), now=NOW).warnings[0]
    only = "only = " + refusal.split("only = ")[1].split(". Then")[0]
    said = 'children = "cascade"'
    policy = rule("cl_item", ITEMS_FIRST, archive, said, keep="0s", age="") + rule("cl", only, archive, said)
    done = retention.run(con, policy, now=NOW, until_done=True)
    assert (done.outcome, ids(con, "cl"), ids(con, "cl_item")) == ("done", [2], [12])
    assert archived(tmp_path / "cl.jsonl") == [(1, OLD)]
    assert archived(tmp_path / "cl_item.jsonl") == [(10, 1, "a"), (11, 1, "b")]


BM = f"""
CREATE TABLE bm (id INTEGER PRIMARY KEY, url TEXT, at INTEGER NOT NULL);
INSERT INTO bm VALUES (1, 'a', {OLD}), (2, 'b', {OLD}), (3, 'c', {OLD});
"""


@pytest.mark.parametrize("mode", ["range", "chunk"])
def test_a_plan_made_before_an_id_was_used_again_spares_the_new_row(mode: str) -> None:
    """A plan holds no ids: what goes is decided by the statement that deletes."""
    con = apsw.Connection("")
    con.execute(BM)
    policy = rule("bm", f'mode = "{mode}"')
    planned = retention.plan(con, policy, now=NOW)
    con.execute("DELETE FROM bm WHERE id = 3")
    con.execute("INSERT INTO bm (url, at) VALUES ('new', ?)", (FRESH,))
    assert ids(con, "bm") == [1, 2, 3]
    assert retention.run(con, policy, plan=planned, now=NOW, until_done=True).deleted == 2
    assert con.execute("SELECT id, url FROM bm").fetchall() == [(3, "new")]


@pytest.mark.parametrize("mode", ["range", "chunk"])
def test_an_id_that_is_used_again_between_two_steps_spares_the_new_row(mode: str) -> None:
    con = apsw.Connection("")
    con.execute(BM)
    swapped = False

    def swap(step: Any, _answer: Any, _seconds: float) -> None:
        """After the row has been seen, and before it is deleted."""
        nonlocal swapped
        if not swapped and isinstance(step, retention.steps.Batch) and any(" IS 1" in s.sql for s in step.statements) and not step.writes:
            swapped = not any("EXPLAIN" in s.sql for s in step.statements)
            if swapped:
                con.execute("DELETE FROM bm WHERE id = 3; INSERT INTO bm VALUES (3, 'new', ?)", (FRESH,))

    done = retention.run(con, rule("bm", f'mode = "{mode}"'), now=NOW, until_done=True, on_step=swap)
    assert swapped
    assert (done.outcome, done.deleted, con.execute("SELECT id, url FROM bm").fetchall()) == ("done", 2, [(3, "new")])


def test_two_rows_of_one_id_are_both_archived(tmp_path: Path) -> None:
    con, archive = apsw.Connection(""), tmp_path / "bm.jsonl"
    con.execute(BM)
    policy = rule("bm", f"archive = '{archive}'")
    assert retention.run(con, policy, now=NOW).deleted == 3
    con.execute("INSERT INTO bm (url, at) VALUES ('second', ?)", (OLD,))
    assert retention.run(con, policy, now=NOW).deleted == 1
    assert archived(archive) == [(1, "a", OLD), (2, "b", OLD), (3, "c", OLD), (1, "second", OLD)]


KILLED = """
import os, signal, sys
import retention
from retention.steps import Save

saves = steps = 0

def count(step, answer, seconds):
    global saves, steps
    if saves >= 2:
        steps += 1
        if steps == int(sys.argv[4]):
            os.kill(os.getpid(), signal.SIGKILL)
    saves += isinstance(step, Save)

done = retention.run(sys.argv[1], sys.argv[2], store=retention.FileStore(sys.argv[3]), now="2026-01-31T12:00:00Z", on_step=count)
print(done.outcome)
"""
"""Killed after its n-th step behind the save that ends the first page."""


@pytest.mark.parametrize("step", [1, 2, 3, 4], ids=["rows read", "rows archived", "rows deleted", "page saved"])
def test_a_kill_at_any_step_leaves_each_row_in_one_place_at_least(tmp_path: Path, step: int) -> None:
    """The archive is written and synced before the delete, so that a crash between the two repeats lines and never loses a row. A line
    that was written twice is equal to its first, byte by byte: whoever reads passes over it."""
    rows = {(i, OLD, f"m{i}") for i in range(1, 101)}
    path, state, archive, file = (tmp_path / name for name in ("app.db", "state.json", "al.jsonl", "policy.toml"))
    file.write_text(rule("al", "page_rows = 30", f"archive = '{archive}'"))
    al = "CREATE TABLE al (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, msg TEXT)"
    create(path, al, series(100, f"INSERT INTO al SELECT i, {OLD}, 'm' || i FROM n"))
    call = [sys.executable, "-c", KILLED, str(path), str(file), str(state)]
    killed = subprocess.run([*call, str(step)], capture_output=True, text=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    con = apsw.Connection(str(path))
    here, there = set(con.execute("SELECT * FROM al")), set(archived(archive))
    assert (here | there, len(here), len(there)) == (rows, 70 if step < 3 else 40, 30 if step < 2 else 60)
    again = subprocess.run([*call, "0"], capture_output=True, text=True, check=True)
    assert again.stdout.startswith("done")
    assert con.execute("SELECT count(*) FROM al").get == 0
    con.close()
    lines = Counter(line for line in archive.read_text().splitlines() if '"row"' in line)
    assert (len(lines), set(archived(archive))) == (100, rows), "each id once, values unchanged, but for equal lines"
    assert sum(lines.values()) == (130 if step == 2 else 100), "the page that was archived and not deleted stands twice"

"""`retention demo` and `retention init`, and what a terminal is shown."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import retention.cli.demo as demonstration
from retention.policy.load import load

from .tools import NOW, TABLE, aged, call, create, policy, rows


def test_the_demo_shows_everything_and_leaves_what_it_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demonstration, "ROWS", 20_000)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    done = call("demo")
    assert done.exit_code == 0, done.stderr
    (folder,) = tmp_path.iterdir()
    for said in ("1. A sample", "2. The plan", "3. The run", "done: ", "malformed", "raised", "kept", str(folder / "relay.db"), "Try next"):
        assert said in done.stdout
    assert {p.name for p in folder.iterdir()} >= {"relay.db", "retention.toml", "relay.db.retention.json"}
    again = next(line.strip() for line in done.stdout.splitlines() if "3. The run" in line).split("retention run ")[1]
    assert call("run", *again.split()).stdout.startswith("done: 0 rows deleted")
    audit = next(line.strip() for line in done.stdout.splitlines() if line.strip().startswith("retention audit"))
    assert call(*audit.split()[1:]).exit_code == 0


def test_init_writes_a_policy_that_waits_for_a_person(tmp_path: Path) -> None:
    db, file = create(tmp_path / "x.db", TABLE, aged(30, 10)), tmp_path / "new.toml"
    assert call("init", db, "-o", file).exit_code == 0
    written = load(file)
    assert [(rule.table, rule.enabled) for rule in written.rules] == [("t", False)]
    again = call("init", db, "-o", file)
    assert (again.exit_code, "is not overwritten" in again.stderr) == (2, True)
    assert call("init", db, "-o", "-").stdout == file.read_text(encoding="utf-8")


def test_audit_names_what_no_rule_covers(tmp_path: Path) -> None:
    db = create(tmp_path / "x.db", TABLE, aged(30, 10), "CREATE TABLE logs (id INTEGER PRIMARY KEY, at INTEGER)")
    file = policy(tmp_path / "p.toml")
    shown = call("audit", db, "-p", file)
    assert (shown.exit_code, "logs" in shown.stdout) == (0, True)
    assert '"findings"' in call("audit", db, "-p", file, "--json").stdout


def on_a_terminal(*args: object) -> str:
    """What the command writes where standard output is a terminal of 120 columns."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "retention.cli", *(str(a) for a in args)]
    process = subprocess.Popen(command, stdout=theirs, stderr=theirs, env=os.environ | {"TERM": "xterm", "COLUMNS": "120"})
    os.close(theirs)
    written = b""
    while True:
        try:
            part = os.read(ours, 65_536)
        except OSError:  # Linux says so when the last writer has closed it
            break
        if not part:
            break
        written += part
    os.close(ours)
    assert process.wait() == 0, written
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written.decode())


def test_a_terminal_gets_bars_and_a_table(tmp_path: Path) -> None:
    db = create(tmp_path / "x.db", TABLE, aged(2_000, 1_500))
    shown = on_a_terminal("run", db, "-p", policy(tmp_path / "p.toml"), "--now", NOW)
    assert "rows deleted" in shown
    assert "pages" in shown
    assert re.search(r"│ ?t +│ +1,500 │", shown), shown
    assert "done: 1,500 rows deleted" in shown
    assert len(rows(db)) == 500


def test_json_on_a_terminal_is_json_alone(tmp_path: Path) -> None:
    db = create(tmp_path / "x.db", TABLE, aged(20, 10))
    shown = on_a_terminal("run", db, "-p", policy(tmp_path / "p.toml"), "--now", NOW, "--json")
    assert shown.startswith("{")
    assert shown.count("\n") == 1

"""`retention run`: what it writes, where, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from retention.stores import StateLock

from .tools import NOW, RULE, TABLE, aged, call, create, policy, rows, start

SMALL_PAGES = f"{RULE}page_rows = 20\n"
"""Thousands of saves, so that a signal or a kill meets a run under way."""


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return create(tmp_path / "x.db", TABLE, aged(30, 10))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return policy(tmp_path / "p.toml")


def test_json_is_the_receipt_and_nothing_else(db: Path, file: Path) -> None:
    done = call("run", db, "-p", file, "--now", NOW, "--json")
    receipt = json.loads(done.stdout)
    assert (done.exit_code, done.stderr) == (0, "")
    assert (receipt["version"], receipt["outcome"], receipt["why"], receipt["now"]) == (1, "done", "finished", NOW)
    assert receipt["rules"][0]["deleted"] == 10
    assert rows(db) == [(i,) for i in range(11, 31)]


def test_a_pipe_gets_one_line(db: Path, file: Path) -> None:
    done = call("run", db, "-p", file, "--now", NOW)
    assert done.stdout.startswith("done: 10 rows deleted by 1 rule in ")
    assert done.stdout.count("\n") == 1
    assert call("run", db, "-p", file, "--now", NOW).stdout.startswith("done: 0 rows deleted")


def test_the_default_policy_and_state(db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    policy(Path("retention.toml"))
    assert call("run", "x.db", "--now", NOW).exit_code == 0
    assert json.loads(Path("x.db.retention.json").read_text())["version"] == 1
    assert call("run", "x.db", "--now", NOW, "--state", "elsewhere.json").exit_code == 0
    assert Path("elsewhere.json").exists()


def test_a_preset_stands_in_for_a_file(tmp_path: Path) -> None:
    from retention.presets.relay.sample import make_sample

    make_sample(tmp_path / "relay.db", rows=2_000)
    done = call("run", tmp_path / "relay.db", "--preset", "relay", "--now", NOW, "--until-done", "--json")
    assert (done.exit_code, {r["rule"] for r in json.loads(done.stdout)["rules"]}) == (
        0,
        {"messages", "deliveries", "message_logs", "workspace_events", "read_receipts"},
    )


def test_a_limit_on_statements_ends_more_and_goes_on(tmp_path: Path) -> None:
    db, file = create(tmp_path / "x.db", TABLE, aged(400, 300)), policy(tmp_path / "p.toml", SMALL_PAGES)
    seen: list[int] = []
    while True:
        done = call("run", db, "-p", file, "--now", NOW, "--statements", 20, "--json")
        receipt = json.loads(done.stdout)
        assert receipt["statements"]["used"] <= 20
        seen.append(receipt["rules"][0]["deleted"])
        if done.exit_code == 0:
            break
        assert (done.exit_code, receipt["outcome"], receipt["why"]) == (3, "more", "statements")
    assert (sum(seen), len(rows(db))) == (300, 100)
    assert len(seen) > 1
    assert all(seen[:-2])


def test_until_done_passes_the_policys_limits_and_not_its_own(tmp_path: Path) -> None:
    db = create(tmp_path / "x.db", TABLE, aged(400, 300))
    file = policy(tmp_path / "p.toml", f'[limits]\nstatements = 20\ndeadline = "10s"\n{SMALL_PAGES}')
    receipt = json.loads(call("run", db, "-p", file, "--now", NOW, "--until-done", "--json").stdout)
    assert (receipt["outcome"], receipt["rules"][0]["deleted"]) == ("done", 300)
    assert receipt["passes"] > 1
    assert receipt["statements"]["used"] <= 20 < receipt["statements"]["total"]


def test_a_deadline_ends_until_done(tmp_path: Path) -> None:
    db, file = create(tmp_path / "x.db", TABLE, aged(4_000, 4_000)), policy(tmp_path / "p.toml", SMALL_PAGES)
    done = call("run", db, "-p", file, "--now", NOW, "--until-done", "--deadline", "1ms", "--json")
    assert (done.exit_code, json.loads(done.stdout)["why"]) == (3, "deadline")


def test_a_refusal_has_a_receipt(db: Path, file: Path) -> None:
    done = call("run", db, "-p", file, "--statements", 1, "--json")
    receipt = json.loads(done.stdout)
    assert (done.exit_code, receipt["outcome"], receipt["why"]) == (4, "refused", "policy")
    assert done.stderr.strip() == f"retention: {receipt['warnings'][0]}"


def test_a_rule_that_fails_says_so_and_the_others_go_on(tmp_path: Path) -> None:
    db = create(
        tmp_path / "x.db", TABLE, TABLE.replace("TABLE t", "TABLE u"), aged(9, 9), aged(9, 9, "u"),
        "CREATE TRIGGER no BEFORE DELETE ON t BEGIN SELECT RAISE(ABORT, 'not this one'); END",
    )  # fmt: skip
    done = call("run", db, "-p", policy(tmp_path / "p.toml", RULE + RULE.replace('"t"', '"u"')), "--now", NOW)
    assert (done.exit_code, len(rows(db)), len(rows(db, "SELECT id FROM u"))) == (1, 9, 0)
    assert 'rule "t"' in done.stderr
    assert "not this one" in done.stderr


def test_a_second_run_is_busy_at_once(db: Path, file: Path) -> None:
    with StateLock(f"{db}.retention.json"):
        done = call("run", db, "-p", file, "--now", NOW, "--json")
    receipt = json.loads(done.stdout)
    assert (done.exit_code, receipt["outcome"], receipt["why"], receipt["rules"]) == (75, "busy", "locked", [])
    assert f"pid {os.getpid()}" in done.stderr
    assert len(rows(db)) == 30
    assert call("run", db, "-p", file, "--now", NOW).exit_code == 0


def test_a_state_file_that_cannot_be_written_fails_without_a_delete(db: Path, file: Path, tmp_path: Path) -> None:
    done = call("run", db, "-p", file, "--now", NOW, "--json", "--state", tmp_path / "none" / "state.json")
    assert (done.exit_code, json.loads(done.stdout)["outcome"], len(rows(db))) == (1, "failed", 30)


def test_a_spoilt_state_file_is_told_and_restarts(db: Path, file: Path, tmp_path: Path) -> None:
    Path(f"{db}.retention.json").write_text("{", encoding="utf-8")
    done = call("run", db, "-p", file, "--now", NOW)
    assert (done.exit_code, len(rows(db))) == (0, 20)
    assert "warning: the stored checkpoint is not valid" in done.stderr


def test_a_reader_that_went_away_does_not_change_the_end(db: Path, file: Path) -> None:
    shell = f'"{sys.executable}" -m retention.cli plan "{db}" -p "{file}" --now {NOW} | true'
    ended = subprocess.run(["bash", "-o", "pipefail", "-c", shell], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


# --- processes: signals, kills, two runners


@pytest.fixture
def long(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A database whose run takes some thousand saves, its policy and its state file."""
    db = create(tmp_path / "x.db", TABLE, aged(60_000, 50_000))
    return db, policy(tmp_path / "p.toml", SMALL_PAGES), Path(f"{db}.retention.json")


def under_way(state: Path, process: subprocess.Popen[str]) -> None:
    """Wait until the run has saved its first pages."""
    while process.poll() is None and not (state.exists() and '"cursor"' in state.read_text()):
        time.sleep(0.01)
    assert process.poll() is None, process.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_run_after_its_page(long: tuple[Path, Path, Path], number: signal.Signals) -> None:
    db, file, state = long
    process = start("run", db, "-p", file, "--now", NOW, "--json")
    under_way(state, process)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    receipt = json.loads(out)
    assert (process.returncode, receipt["outcome"], receipt["why"], err) == (3, "more", "paused", "")
    assert 0 < receipt["rules"][0]["deleted"] == 60_000 - len(rows(db))
    assert json.loads(state.read_text())["tables"]["t"]["cursor"] == receipt["rules"][0]["deleted"]


def test_a_killed_run_loses_nothing_and_leaves_no_lock(long: tuple[Path, Path, Path]) -> None:
    db, file, state = long
    for _ in range(3):
        process = start("run", db, "-p", file, "--now", NOW)
        before = state.read_text() if state.exists() else ""
        while process.poll() is None and (not state.exists() or state.read_text() == before):
            time.sleep(0.01)
        process.kill()
        process.communicate()
        left = [i for (i,) in rows(db)]
        assert left[-10_000:] == list(range(50_001, 60_001))
        assert json.loads(state.read_text())["version"] == 1
    file.write_text(file.read_text().replace("page_rows = 20", "page_rows = 20000"))
    assert call("run", db, "-p", file, "--now", NOW, "--until-done").exit_code == 0
    assert rows(db) == [(i,) for i in range(50_001, 60_001)]


def test_two_processes(long: tuple[Path, Path, Path]) -> None:
    db, file, state = long
    first = start("run", db, "-p", file, "--now", NOW)
    under_way(state, first)
    second = start("run", db, "-p", file, "--now", NOW)
    second.communicate(timeout=60)
    assert (second.returncode, first.poll()) == (75, None)
    first.terminate()
    first.communicate(timeout=60)
    assert first.returncode == 3


def test_a_tick_loads_no_more_than_it_needs(db: Path, file: Path) -> None:
    """Tables, bars and HTTP clients are loaded when they are shown or called: a tick in a pipe starts fast."""
    code = (
        "import sys; sys.argv[1:] = sys.argv[1:]\n"
        "from retention.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'rich.table', 'rich.progress', 'httpx', 'sqlite3', 'multiprocessing'} & set(sys.modules)))"
    )
    command = [sys.executable, "-c", code, "run", str(db), "-p", str(file), "--now", NOW]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines()[-1] == "[]"

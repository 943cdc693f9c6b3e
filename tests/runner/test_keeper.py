"""A checkpoint is stored beside the next read, behind the deletes that it tells of, and before the next delete."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import apsw
import pytest

import retention
from retention.archive.jsonl import JsonLines
from retention.errors import HostError
from retention.hosts import sqlite_durable
from retention.hosts.sqlite import SQLite
from retention.steps import Archive

NOW_MS = 1_789_000_000_000
POLICY: dict[str, Any] = {
    "version": 1,
    "rules": [{"table": "t", "keep": "1d", "age": {"column": "a", "format": "unix_s"}, "walk": "rowid"}],
    "limits": {"page_rows": 10},
}
ROWS = 60


@pytest.fixture
def path(tmp_path: Path) -> Path:
    con = apsw.Connection(str(tmp_path / "x.db"))
    con.pragma("journal_mode", "wal")
    con.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER)")
    con.executemany("INSERT INTO t VALUES (?, ?)", [(n, 1_700_000_000 + n) for n in range(ROWS)])
    con.close()
    return tmp_path / "x.db"


def left(path: Path) -> int:
    con = apsw.Connection(str(path))
    try:
        return con.execute("SELECT count(*) FROM t").get
    finally:
        con.close()


class Diary:
    """What happened, in order, and on which thread."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.threads: set[int] = set()

    def write(self, line: str) -> None:
        self.lines.append(line)


class Watched(SQLite):
    def __init__(self, path: Path, diary: Diary) -> None:
        super().__init__(path)
        self.diary = diary

    def execute(self, batch: Any, timeout: float | None = None) -> Any:
        kind = "delete" if batch.writes else "read"
        self.diary.write(f"{kind} begins")
        time.sleep(0 if batch.writes else 0.002)
        try:
            return super().execute(batch, timeout)
        finally:
            self.diary.write(f"{kind} ends")


class Slow(retention.FileStore):
    """A store on a slow disk, which fails at one of its saves if it is told to."""

    any_thread = True

    def __init__(self, path: Path, diary: Diary, fails: int | None = None) -> None:
        super().__init__(path)
        self.diary, self.fails, self.count = diary, fails, 0

    def save(self, document: dict[str, Any]) -> None:
        self.diary.threads.add(threading.get_ident())
        self.diary.write("save begins")
        self.count += 1
        time.sleep(0.005)
        if self.count == self.fails:
            raise HostError("the state file cannot be written", "full")
        super().save(document)
        self.diary.write("save ends")


@pytest.fixture
def diary(monkeypatch: pytest.MonkeyPatch) -> Diary:
    kept = Diary()
    really = sqlite_durable._to_disk

    def spy(descriptor: int) -> None:
        really(descriptor)
        kept.write("durable")

    monkeypatch.setattr(sqlite_durable, "_to_disk", spy)
    return kept


def run(host: SQLite, store: Any) -> retention.Receipt:
    return retention.run(host, POLICY, store=store, now=NOW_MS)


def test_the_order_on_the_disk(path: Path, diary: Diary) -> None:
    store = Slow(path.with_suffix(".json"), diary)
    with Watched(path, diary) as host:
        assert run(host, store).outcome == "done"
    assert left(path) == 0
    lines = diary.lines
    for place, line in enumerate(lines):
        before = lines[:place]
        if line == "save begins" and "delete ends" in before:
            assert "durable" in before[len(before) - before[::-1].index("delete ends") :], "a checkpoint ahead of its deletes"
        if line in ("delete begins", "save begins"):
            assert before.count("save begins") == before.count("save ends"), f"{line} beside a save"
    assert lines.count("save begins") == lines.count("save ends") >= ROWS // 10
    begun = False
    beside = 0
    for line in lines:
        begun = line == "save begins" or (begun and line != "save ends")
        beside += begun and line == "read ends"
    assert beside >= 3, "reads go on while a checkpoint is stored"
    assert threading.get_ident() not in diary.threads


@pytest.mark.parametrize("fails", [1, 2, 4])
def test_behind_a_save_that_failed_nothing_is_deleted(path: Path, diary: Diary, fails: int) -> None:
    store = Slow(path.with_suffix(".json"), diary, fails)
    with Watched(path, diary) as host:
        receipt = run(host, store)
        assert not host._later
    assert (receipt.outcome, receipt.why) == ("failed", "error")
    assert any("the state file cannot be written" in warning for warning in receipt.warnings)
    failed = [place for place, line in enumerate(diary.lines) if line == "save begins"][fails - 1]
    assert "delete begins" not in diary.lines[failed:]
    assert diary.lines.count("save begins") == fails
    assert left(path) == ROWS - receipt.rules[0].deleted


def test_a_log_that_cannot_be_brought_to_the_disk_ends_the_run(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = retention.FileStore(path.with_suffix(".json"))
    calls = 0

    def fail(_: int) -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(sqlite_durable, "_to_disk", fail)
    with SQLite(path) as host:
        receipt = run(host, store)
    assert receipt.outcome == "failed"
    assert any("could not be brought to the disk (Input/output error)" in warning for warning in receipt.warnings)
    assert calls == 3, "nothing was saved or deleted behind it"
    monkeypatch.undo()
    with SQLite(path) as host:
        assert run(host, store).outcome == "done"
    assert left(path) == 0


def test_a_store_that_may_be_bound_to_its_thread_is_called_on_it(path: Path) -> None:
    threads: set[int] = set()

    class Own(retention.MemoryStore):
        def save(self, document: dict[str, Any]) -> None:
            threads.add(threading.get_ident())
            super().save(document)

    with SQLite(path) as host:
        assert run(host, Own()).outcome == "done"
    assert threads == {threading.get_ident()}


def test_a_subclass_that_saves_otherwise_is_called_on_its_own_thread(path: Path) -> None:
    """It may save to what is bound to its thread, as a connection of the standard library's sqlite3 is."""
    threads: set[int] = set()

    class Own(retention.FileStore):
        def save(self, document: dict[str, Any]) -> None:
            threads.add(threading.get_ident())
            super().save(document)

    with SQLite(path) as host:
        assert run(host, Own(path.with_suffix(".json"))).outcome == "done"
    assert threads == {threading.get_ident()}


def test_where_no_thread_can_be_started_it_saves_all_the_same(path: Path, diary: Diary, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in an atexit handler."""

    def no(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", no)
    with Watched(path, diary) as host:
        assert run(host, Slow(path.with_suffix(".json"), diary)).outcome == "done"
    assert diary.lines.count("save ends") >= ROWS // 10
    assert diary.threads == {threading.get_ident()}


def test_an_interpreter_that_ends_can_still_run(path: Path) -> None:
    code = (
        "import atexit, json, sys, retention\n"
        "policy, path = json.loads(sys.argv[1]), sys.argv[2]\n"
        "def last():\n"
        "    print(retention.run(path, policy, store=retention.FileStore(path + '.json'), now=int(sys.argv[3])).outcome)\n"
        "atexit.register(last)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(POLICY), str(path), str(NOW_MS)], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("done\n", "")
    assert left(path) == 0


def test_who_stops_a_run_by_an_exception_leaves_all_of_it_durable(path: Path, diary: Diary) -> None:
    """Ctrl-C, for one: the save under way ends, and what was deleted is brought to the disk."""

    class Stopped(Watched):
        def execute(self, batch: Any, timeout: float | None = None) -> Any:
            result = super().execute(batch, timeout)
            if self.diary.lines.count("delete ends") == 2:
                raise KeyboardInterrupt
            return result

    host = Stopped(path, diary)
    with pytest.raises(KeyboardInterrupt):
        run(host, Slow(path.with_suffix(".json"), diary))
    assert not host._later
    assert diary.lines.count("save begins") == diary.lines.count("save ends")
    assert diary.lines.index("delete ends") < len(diary.lines) - 1 - diary.lines[::-1].index("durable")
    host.close()


def test_who_stops_a_run_twice_gets_the_host_back_as_it_was(path: Path, diary: Diary, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second time while the save under way is waited for."""
    host = Watched(path, diary)

    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("concurrent.futures.ThreadPoolExecutor.shutdown", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(host, Slow(path.with_suffix(".json"), diary))
    assert not host._later
    host.close()


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_run_that_raises_gives_its_archive_back(path: Path, tmp_path: Path, asynchronous: bool) -> None:
    rules = POLICY | {"rules": [POLICY["rules"][0] | {"archive": str(tmp_path / "gone.jsonl")}]}

    def stop(step: Any, *_: Any) -> None:
        if isinstance(step, Archive):
            raise ZeroDivisionError

    def call() -> Any:
        if asynchronous:
            return asyncio.run(retention.arun(path, rules, now=NOW_MS, on_step=stop))
        return retention.run(path, rules, now=NOW_MS, on_step=stop)

    with pytest.raises(ZeroDivisionError) as caught:
        call()
    assert retention.run(path, rules, now=NOW_MS, until_done=True).outcome == "done"
    assert caught
    assert left(path) == 0


class Dawdling(JsonLines):
    """An archive that is still at work when its run is cancelled."""

    begun = threading.Event()

    def write(self, step: Archive) -> None:
        self.begun.set()
        time.sleep(0.05)
        super().write(step)


async def cancelled_within_an_archive(path: Path, rules: Any, archive: Path) -> None:
    Dawdling.begun.clear()
    task = asyncio.ensure_future(retention.arun(path, rules, now=NOW_MS, archives={"t": Dawdling(str(archive))}))
    await asyncio.to_thread(Dawdling.begun.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_a_run_that_is_cancelled_gives_its_archive_back(path: Path, tmp_path: Path) -> None:
    archive = tmp_path / "gone.jsonl"
    rules = POLICY | {"rules": [POLICY["rules"][0] | {"archive": str(archive)}]}
    asyncio.run(cancelled_within_an_archive(path, rules, archive))
    assert retention.run(path, rules, now=NOW_MS, until_done=True).outcome == "done"

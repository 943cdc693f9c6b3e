"""What a command's DB argument may be."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import apsw
import pytest

from retention.errors import HostError, PolicyError
from retention.hosts import is_remote, open_async_host, open_host
from retention.hosts.d1 import D1, AsyncD1
from retention.hosts.libsql import AsyncLibSQL, LibSQL
from retention.hosts.sqlite import SQLite
from retention.hosts.threaded import Threaded
from retention.steps import Batch, Statement

UUID = "0b1c2d3e-0000-4000-8000-000000000001"


@pytest.fixture(autouse=True)
def token(monkeypatch):
    monkeypatch.setenv("CLOUDFLARE_API_TOKEN", "t")
    monkeypatch.delenv("LIBSQL_AUTH_TOKEN", raising=False)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "app.db"
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE t(x); INSERT INTO t VALUES (1), (2)")
    connection.close()
    return str(path)


@pytest.mark.parametrize(
    ("target", "kind", "name"),
    [
        (f"d1://acc/{UUID}", D1, f"d1://acc/{UUID}"),
        ("D1://acc/my-app/", D1, "d1://acc/my-app"),
        ("d1://acc/my%20app", D1, "d1://acc/my app"),
        ("libsql://db.example.org", LibSQL, "libsql://db.example.org"),
        ("libsql://127.0.0.1:8080", LibSQL, "libsql://127.0.0.1:8080"),
        ("libsql://db.example.org:81?tls=0", LibSQL, "libsql://db.example.org:81"),
    ],
)
def test_an_address(target, kind, name):
    with open_host(target) as host:
        assert type(host) is kind
        assert host.name == name
    assert is_remote(target)


@pytest.mark.parametrize(
    ("target", "address"),
    [
        ("libsql://db.example.org", "https://db.example.org"),
        ("libsql://db.example.org:81?tls=0", "http://db.example.org:81"),
        ("libsql://localhost:8080", "http://localhost:8080"),
        ("libsql://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("libsql://[::1]:8080", "http://[::1]:8080"),
        ("libsql://localhost?tls=1", "https://localhost"),
        ("libsql://localhost.example.org", "https://localhost.example.org"),
        ("https://db.example.org/", "https://db.example.org"),
    ],
)
def test_a_token_travels_in_clear_only_at_home_or_on_demand(target, address):
    with LibSQL(target) as host:
        assert host._wire.base_url == address


NO_ADDRESS = ["d1://", "d1://acc", "d1://acc/", "d1://acc/db/more", "d1:///db", "d1://user:s3cret@acc/db", "d1://s3cret%40@acc/db"]


@pytest.mark.parametrize("target", [*NO_ADDRESS, "postgres://x/y", "libsql://", "libsql://h?x=1"])
def test_an_address_of_another_form_is_refused(target):
    with pytest.raises(PolicyError) as caught:
        open_host(target)
    assert "s3cret" not in str(caught.value)
    with pytest.raises(PolicyError):
        open_async_host(target)


@pytest.mark.parametrize("target", [f"d1://acc/{UUID}", "libsql://localhost"])
def test_remote_hosts_always_enforce_foreign_keys(target):
    with pytest.raises(PolicyError, match="always enforced"):
        open_host(target, foreign_keys="off")


def test_a_path(file):
    host = open_host(file, foreign_keys="off")
    assert type(host) is SQLite
    assert host.execute(Batch((Statement("PRAGMA foreign_keys"),)))[0].rows == [(0,)]
    host.close()
    assert not is_remote(file)


def test_readonly_reaches_every_host(file):
    for target in (file, f"d1://acc/{UUID}", "libsql://localhost"):
        host = open_host(target, readonly=True)
        with pytest.raises(HostError) as caught:
            host.execute(Batch((Statement("DELETE FROM t"),), writes=True))
        assert caught.value.kind == "readonly"
        host.close()


def test_asynchronous_hosts(file):
    async def run() -> None:
        for target, kind in ((file, Threaded), (f"d1://acc/{UUID}", AsyncD1), ("libsql://localhost", AsyncLibSQL)):
            host = open_async_host(target, readonly=True)
            assert type(host) is kind
            with pytest.raises(HostError) as caught:
                await host.execute(Batch((Statement("DELETE FROM t"),), writes=True))
            assert caught.value.kind == "readonly"
            await host.aclose()

    asyncio.run(run())


def test_a_file_leaves_the_event_loop_free(file):
    async def run() -> None:
        host = open_async_host(file)
        count = "WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 300000) SELECT count(*) FROM n"
        running = asyncio.ensure_future(host.execute(Batch((Statement(count),))))
        turns = 0
        while not running.done():
            turns += 1
            await asyncio.sleep(0)
        assert turns > 1
        assert running.result()[0].rows == [(300_000,)]
        assert host.name == file
        assert host.capabilities.name == "sqlite"
        await host.aclose()

    asyncio.run(run())


@pytest.mark.parametrize(
    ("target", "absent"), [("{file}", "httpx"), ("d1://acc/db", "apsw"), ("libsql://localhost", "apsw")], ids=["file", "d1", "libsql"]
)
def test_only_the_libraries_of_the_host_are_loaded(file, target, absent):
    opened = f"from retention.hosts import open_host; open_host({target.format(file=file)!r}).close()"
    code = f"{opened}; import sys; sys.exit({absent!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

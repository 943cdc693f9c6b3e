"""What both remote hosts promise, against real servers of both."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import retention
from retention.errors import Fenced, HostError
from retention.hosts import open_async_host
from retention.hosts.http import Options
from retention.steps import Batch, Statement

SETUP = (
    "CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT UNIQUE)",
    "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')",
    "CREATE TABLE p(id INTEGER PRIMARY KEY)",
    "CREATE TABLE c(p REFERENCES p(id))",
    "INSERT INTO p VALUES (1), (2)",
    "INSERT INTO c VALUES (1)",
)
FENCE = "SELECT CASE WHEN 0 THEN 1 ELSE json_extract('1', 'fence:NAME') END"


@pytest.fixture(params=["d1", "libsql"])
def database(request: pytest.FixtureRequest) -> Any:
    made = request.getfixturevalue(request.param)
    made.setup(*SETUP)
    return made


def batch(*statements: str, **how: Any) -> Batch:
    return Batch(tuple(map(Statement, statements)), **how)


@pytest.mark.parametrize(
    ("bad", "kind"),
    [
        ("INSERT INTO t VALUES (3, 'x')", "constraint"),
        ("INSERT INTO t VALUES (9, 'c')", "constraint"),
        ("DELETE FROM p WHERE id = 1", "constraint"),
        ("SELECT nix FROM t", "schema"),
        ("DELETE FROM nix", "schema"),
        ("SELECT json('{')", "error"),
        ("SELEC 1", "error"),
        (FENCE, "error"),
    ],
)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_batch_takes_effect_whole_or_not_at_all(database, bad, kind, place):
    good = ["DELETE FROM t WHERE id = 1", "DELETE FROM t WHERE id = 2"]
    good.insert(place, bad)
    with database.host() as host, pytest.raises(HostError) as caught:
        host.execute(batch(*good, writes=True))
    assert (caught.value.kind, caught.value.retryable, caught.value.applied) == (kind, False, False)
    assert database.rows("SELECT id FROM t ORDER BY id") == [(1,), (2,), (3,), (4,)]
    assert database.setup("DELETE FROM t WHERE id = 4")[0].rows == []
    assert database.rows("SELECT count(*) FROM t") == [(3,)]


@pytest.mark.parametrize("writes", [True, False])
def test_a_fence_is_named(database, writes):
    with database.host() as host, pytest.raises(Fenced) as caught:
        host.execute(batch(FENCE, "SELECT 1", writes=writes))
    assert caught.value.name == "NAME"


def test_a_fence_that_holds_lets_the_batch_through(database):
    with database.host() as host:
        host.execute(batch(FENCE.replace("WHEN 0", "WHEN 1"), "DELETE FROM t", writes=True))
    assert database.rows("SELECT count(*) FROM t") == [(0,)]


def test_a_trigger_that_fails_after_half_the_rows_keeps_none(database):
    """RAISE(FAIL) keeps what was done before it, unless a transaction stands around it."""
    database.setup("CREATE TRIGGER keep AFTER DELETE ON t WHEN old.id = 3 BEGIN SELECT RAISE(FAIL, 'not this one'); END")
    with database.host() as host, pytest.raises(HostError, match="not this one") as caught:
        host.execute(batch("DELETE FROM t", writes=True))
    assert (caught.value.kind, caught.value.applied) == ("constraint", False)
    assert database.rows("SELECT count(*) FROM t") == [(4,)]


def test_a_read_stops_at_its_first_error(database):
    with database.host() as host, pytest.raises(HostError) as caught:
        host.execute(batch("SELECT 1", "SELECT nix FROM t", "SELECT 2"))
    assert (caught.value.kind, caught.value.applied) == ("schema", False)


def test_foreign_keys_are_enforced(database):
    assert database.rows("PRAGMA foreign_keys") == [(1,)]


def test_meters_are_the_servers(database):
    with database.host() as host:
        (scan,) = host.execute(batch("SELECT v FROM t"))
        deleted, after = host.execute(batch("DELETE FROM t WHERE id <= 2", "SELECT changes()", writes=True))
    assert (scan.rows_read, scan.rows_written) == (4, 0)
    assert deleted.rows_written == 2
    assert deleted.rows_read in (2, 3)
    assert after.rows == [(2,)]
    assert deleted.changes in (2, None)
    assert deleted.seconds > 0
    assert deleted.seconds == after.seconds


def test_returned_rows_arrive(database):
    with database.host() as host:
        deleted, _ = host.execute(batch("DELETE FROM t WHERE id <= 2 RETURNING id, v", "SELECT 1", writes=True))
    assert sorted(deleted.rows) == [(1, "a"), (2, "b")]


@pytest.mark.parametrize("value", ["", "x", "a\x00b", "é😀", "'\"\\", "1", None, 0.5, -0.0, 1e308, 5e-324, 7, -(2**53) + 1])
def test_values_arrive_as_they_were(database, value):
    statement = Statement("SELECT ?1 IS ?2, typeof(?1)", (value, value))
    with database.host() as host:
        ((same, kind),) = host.execute(Batch((Statement("SELECT ?1", (value,)), statement)))[1].rows
        ((back,),) = host.execute(Batch((Statement("SELECT ?1", (value,)),)))[0].rows
    assert same == 1
    assert kind == ("null" if value is None else "text" if isinstance(value, str) else "real" if host.name.startswith("d1:") else kind)
    assert back == value


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(st.text(max_size=8), max_size=8),
    numbers=st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=8),
    integers=st.lists(st.integers(-(2**63), 2**63 - 1), max_size=8),
    blobs=st.lists(st.binary(max_size=8), max_size=8),
)
@example(texts=[], numbers=[6.638719106816737e16, -0.0, 1e22], integers=[], blobs=[])  # digits that name a double, not that integer
def test_every_value_travels_exactly_by_its_storage_class(database, texts, numbers, integers, blobs):
    """Text as text, REAL as a number, INTEGER as text with CAST and read as text, BLOB as hex: how keys travel."""
    selects = [
        *(Statement("SELECT ?1, typeof(?1)", (text,)) for text in texts),
        *(Statement("SELECT ?1, typeof(?1)", (number,)) for number in numbers),
        *(Statement("SELECT CAST(CAST(?1 AS INTEGER) AS TEXT), typeof(CAST(?1 AS INTEGER))", (str(i),)) for i in integers),
        *(Statement("SELECT hex(unhex(?1)), typeof(unhex(?1))", (blob.hex(),)) for blob in blobs),
    ]
    expected = [
        *((text, "text") for text in texts),
        *((number, "real") for number in numbers),
        *((str(i), "integer") for i in integers),
        *((blob.hex().upper(), "blob") for blob in blobs),
    ]
    with database.host() as host:
        assert [r.rows for r in host.execute(Batch(tuple(selects)))] == [[row] for row in expected]


def test_a_large_batch_travels(database):
    with database.host() as host:
        results = host.execute(batch(*[f"INSERT INTO t VALUES ({i}, 'v{i}')" for i in range(10, 210)], writes=True))
        assert len(results) == 200
        (page,) = host.execute(batch("SELECT id, v FROM t ORDER BY id"))
    assert len(page.rows) == 204
    assert page.rows[-1] == (209, "v209")


def test_two_callers_delete_each_row_once(database):
    values = ", ".join(f"({i}, 'v{i}')" for i in range(10, 410))
    database.setup("DELETE FROM t", f"INSERT INTO t VALUES {values}")
    page = batch("DELETE FROM t WHERE id IN (SELECT id FROM t ORDER BY id LIMIT 10)", "SELECT changes()", writes=True)

    def work(_: int) -> int:
        deleted = 0
        with database.host() as host:
            while (n := int(host.execute(page, 20.0)[1].rows[0][0])) > 0:
                deleted += n
        return deleted

    with ThreadPoolExecutor(2) as pool:
        assert sum(pool.map(work, range(2))) == 400
    assert database.rows("SELECT count(*) FROM t") == [(0,)]


class Losing(httpx.BaseTransport):
    """Lets the server execute a request, then loses the answer."""

    def __init__(self) -> None:
        self._real = httpx.HTTPTransport()
        self.lose = 1
        self.sent = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.sent += 1
        response = self._real.handle_request(request)
        if self.lose > 0:
            self.lose -= 1
            response.read()
            response.close()
            raise httpx.ReadError("the connection broke")
        return response

    def close(self) -> None:
        self._real.close()


def test_an_answer_lost_after_the_commit_is_unknown(database):
    transport = Losing()
    with database.host(transport=transport) as host, pytest.raises(HostError) as caught:
        host.execute(batch("DELETE FROM t WHERE id = 1", "DELETE FROM t WHERE id = 2", writes=True))
    assert (caught.value.kind, caught.value.retryable, caught.value.applied) == ("network", True, None)
    assert transport.sent == 1
    assert database.rows("SELECT count(*) FROM t") == [(2,)]


def test_a_repeatable_write_is_sent_again_on_demand(database):
    transport = Losing()
    repeat = batch("INSERT INTO t VALUES (9, 'once') ON CONFLICT DO NOTHING", "SELECT count(*) FROM t", writes=True, repeatable=True)
    with database.host(transport=transport, options=Options(resend_unknown=True)) as host:
        assert host.execute(repeat, 20.0)[1].rows == [(5,)]
        assert (host.requests, host.retries, host.resent) == (2, 1, host.capabilities.cost(repeat))
    assert transport.sent == 2


def test_asynchronous_callers_share_a_loop(database, monkeypatch):
    monkeypatch.setenv("CLOUDFLARE_API_TOKEN", getattr(database, "token", "x"))
    if database.url.startswith("http"):
        monkeypatch.setenv("CLOUDFLARE_API_BASE_URL", database.url)
        target = f"d1://acc/{database.id}"
    else:
        target = database.url
    again = batch("UPDATE t SET v = v || 'x' WHERE id = 1", "SELECT v FROM t WHERE id = 1", writes=True)

    async def run() -> list[str]:
        hosts = [open_async_host(target) for _ in range(3)]
        try:
            results = await asyncio.gather(*(host.execute(again, 20.0) for host in hosts for _ in range(4)))
        finally:
            for host in hosts:
                await host.aclose()
        return [r[1].rows[0][0] for r in results]

    assert sorted(asyncio.run(run()), key=len) == ["a" + "x" * n for n in range(1, 13)]


@pytest.mark.parametrize("mode", ["range", "chunk"])
def test_text_of_any_bytes_is_a_key_like_another(database: Any, mode: str) -> None:
    """The servers cannot send such a text, or send another one; it travels as its bytes."""
    old = "'2026-01-01 00:00:00'"
    keys = ("ff", "c3", "c3a9", "610062", "efbfbd", "eda080")
    database.setup("CREATE TABLE odd (id TEXT PRIMARY KEY, at TEXT) WITHOUT ROWID")
    database.setup(*(f"INSERT INTO odd VALUES (CAST(x'{key}' AS TEXT), {old})" for key in keys))
    database.setup("INSERT INTO odd VALUES (CAST(x'fe' AS TEXT), CAST(x'ff' AS TEXT)), ('z', CAST(x'323032' AS TEXT))")
    rule = {"table": "odd", "keep": "30d", "age": {"column": "at", "format": "utc_text"}, "mode": mode, "page_rows": 3}
    with database.host() as host:
        done = retention.run(host, {"version": 1, "rules": [rule]}, now="2026-09-09T14:00:00Z", until_done=True)
        left = host.execute(batch("SELECT hex(id) FROM odd ORDER BY id"))[0].rows
    assert (done.outcome, done.deleted, done.rules[0].unreadable) == ("done", len(keys), 2), done.warnings
    assert [row[0] for row in left] == ["7A", "FE"]

"""The D1 host against real D1 objects."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

import retention
from retention.errors import Fenced, HostError
from retention.hosts.d1 import D1
from retention.hosts.http import Options
from retention.steps import Batch, Statement

from .fixtures import Database, Server


def batch(*statements: str | tuple, writes: bool = False) -> Batch:
    made = (Statement(s) if isinstance(s, str) else Statement(s[0], tuple(s[1:])) for s in statements)
    return Batch(tuple(made), writes=writes)


def failing(database: Database, *statements: str | tuple, writes: bool = False, timeout: float | None = None, **options) -> HostError:
    with database.host(**options) as host, pytest.raises(HostError) as caught:
        host.execute(batch(*statements, writes=writes), timeout)
    return caught.value


# --- types ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "value", "expected"),
    [
        ("typeof(?1)", "x", "text"),
        ("typeof(?1)", 5, "real"),
        ("typeof(?1)", 0.5, "real"),
        ("typeof(?1)", None, "null"),
        ("typeof(CAST(?1 AS INTEGER))", "5", "integer"),
        ("typeof(unhex(?1))", "00ff", "blob"),
        ("hex(unhex(?1))", "00FF", "00FF"),
        ("CAST(CAST(?1 AS INTEGER) AS TEXT)", "9223372036854775807", "9223372036854775807"),
        ("CAST(CAST(?1 AS INTEGER) AS TEXT)", "-9223372036854775808", "-9223372036854775808"),
        ("CAST(?1 AS INTEGER) = 9007199254740993", "9007199254740993", 1),
        ("hex(?1)", "a\x00b", "610062"),
        ("hex(?1)", "", ""),
        ("hex(?1)", "é😀", "C3A9F09F9880"),
        ("?1 = 0.1 + 0.2", 0.1 + 0.2, 1),
        ("?1 = 1e308", 1e308, 1),
        ("?1 = 5e-324", 5e-324, 1),
        ("?1 = 9007199254740991", 2**53 - 1, 1),
    ],
)
def test_what_goes_in(d1, expression, value, expected):
    with d1.host() as host:
        assert host.execute(batch((f"SELECT {expression}", value)))[0].rows == [(expected,)]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("9007199254740991", 2**53 - 1),
        ("CAST(9007199254740993 AS TEXT)", "9007199254740993"),
        ("CAST(-9223372036854775808 AS TEXT)", "-9223372036854775808"),
        ("0.1 + 0.2", 0.1 + 0.2),
        ("5e-324", 5e-324),
        ("6.638719106816737e+16", 6.638719106816737e16),
        ("-9007199254740994.0", -9007199254740994.0),
        ("1.0", 1),
        ("NULL", None),
        ("'a' || char(0) || 'b'", "a\x00b"),
        ("'é😀'", "é😀"),
        ("x'00ff'", b"\x00\xff"),
        ("x''", b""),
        ("CAST(x'ff41' AS TEXT)", "\ufffdA"),
        ("hex(CAST(x'ff41' AS TEXT))", "FF41"),
        ("9e999", None),
        ("CAST(-9e999 AS TEXT)", "-Inf"),
    ],
)
def test_what_comes_out(d1, expression, expected):
    (value,) = d1.rows(f"SELECT {expression}")[0]
    assert value == expected
    assert type(value) is type(expected)


def test_integers_past_2_to_53_come_back_as_others(d1):
    """What `Capabilities.integers` says: whoever needs them reads text. A float tells that it is not the integer itself."""
    ((value,),) = d1.rows("SELECT 9007199254740993")
    assert value == 9007199254740992
    assert type(value) is float


def test_columns_of_one_name_stay_apart(d1):
    assert d1.rows("SELECT 1 AS a, 2 AS a, 3 AS a") == [(1, 2, 3)]


def test_text_in_text_columns_stays_as_it_was(d1):
    d1.setup("CREATE TABLE t(v TEXT)", "INSERT INTO t VALUES ('5'), ('5.0'), ('05')")
    with d1.host() as host:
        for text in ("5", "5.0", "05"):
            assert host.execute(batch(("SELECT v FROM t WHERE v = ?1", text)))[0].rows == [(text,)]


# --- limits that only the server knows ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT " + " OR ".join(f"1 = {i}" for i in range(101)),
        " UNION ALL ".join(["SELECT 1"] * 6),
        "SELECT " + ", ".join("1" for _ in range(101)),
        "SELECT 'a' LIKE '" + "%a" * 26 + "'",
        "SELECT ?101",
        "SELECT ?1",
        "SELECT zeroblob(2200001)",
        "SELECT max(" + ", ".join("1" for _ in range(128)) + ")",
    ],
    ids=["depth", "compound", "columns", "pattern", "parameter", "unbound", "value", "arguments"],
)
def test_a_limit_is_named_as_one(d1, sql):
    error = failing(d1, sql)
    assert (error.kind, error.retryable, error.applied) == ("limit", False, False)


def test_what_just_fits_is_accepted(d1):
    with d1.host() as host:
        (parameters,) = host.execute(batch(("SELECT " + " || ".join(f"?{i + 1}" for i in range(100)), *["x"] * 100)))
        assert parameters.rows == [("x" * 100,)]
        (longest,) = host.execute(batch("SELECT '" + "x" * 99_991 + "'"))
        assert longest.rows == [("x" * 99_991,)]
        (value,) = host.execute(batch(("SELECT length(?1)", "x" * 2_000_000)))
        assert value.rows == [(2_000_000,)]
        assert len(host.execute(batch(*["SELECT 1"] * 500))) == 500


# --- atomicity and constraints ------------------------------------------------------------------------------------------


def test_a_deferred_key_left_violated_rolls_all_back_and_is_named(d1):
    d1.setup(
        "CREATE TABLE p(id INTEGER PRIMARY KEY)",
        "CREATE TABLE c(p REFERENCES p(id) DEFERRABLE INITIALLY DEFERRED)",
        "INSERT INTO p VALUES (1), (2)",
        "INSERT INTO c VALUES (1)",
    )
    error = failing(d1, "DELETE FROM p", "SELECT changes()", writes=True)
    assert (error.kind, error.retryable, error.applied) == ("constraint", False, False)
    assert "deferred foreign key" in str(error)
    assert d1.rows("SELECT count(*) FROM p") == [(2,)]


def test_what_a_trigger_let_go_before_it_failed_is_rolled_back_too(d1):
    d1.setup(
        "CREATE TABLE t(id INTEGER PRIMARY KEY)",
        "INSERT INTO t VALUES (1), (2), (3)",
        "CREATE TRIGGER keep AFTER DELETE ON t WHEN old.id = 3 BEGIN SELECT RAISE(FAIL, 'network connection lost'); END",
    )
    error = failing(d1, "DELETE FROM t", writes=True)
    assert (error.kind, error.applied) == ("constraint", False)
    assert d1.rows("SELECT count(*) FROM t") == [(3,)]


def test_changes_are_exact_only_when_asked_for(d1):
    d1.setup(
        "CREATE TABLE p(id INTEGER PRIMARY KEY)",
        "CREATE TABLE c(p REFERENCES p(id) ON DELETE CASCADE)",
        "CREATE INDEX cp ON c(p)",
        "INSERT INTO p VALUES (1), (2)",
        "INSERT INTO c VALUES (1), (1), (2)",
    )
    with d1.host() as host:
        deleted, counted = host.execute(batch("DELETE FROM p WHERE id = 1", "SELECT changes()", writes=True))
    assert (deleted.changes, deleted.total_changes, deleted.cascaded) == (None, 3, None)
    assert counted.rows == [(1,)]


# --- answers that are lost, late, broken or no answers at all -------------------------------------------------------------

TABLE = ("CREATE TABLE t(id INTEGER PRIMARY KEY)", "INSERT INTO t VALUES (1), (2), (3)")
LOST = [{}, {"html": True}, {"html": True, "status": 504}, {"drop": True}, {"status": 500, "message": "internal error; reference = abc"}]


@pytest.fixture
def table(d1: Database) -> Database:
    d1.setup(*TABLE)
    d1.reset()
    return d1


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("fault", LOST, ids=str)
def test_a_write_whose_answer_is_lost_is_unknown_and_sent_once(table, fault, when):
    table.fault(when=when, match="DELETE", times=9, **fault)
    error = failing(table, "DELETE FROM t WHERE id < 3", "SELECT changes()", writes=True)
    assert (error.kind, error.retryable, error.applied) == ("network", True, None)
    assert "not known whether" in str(error)
    assert len(table.log()) == (when == "after")
    assert table.rows("SELECT count(*) FROM t") == [(1 if when == "after" else 3,)]


@pytest.mark.parametrize("fault", LOST, ids=str)
def test_a_read_whose_answer_is_lost_is_read_again_on_demand(table, fault):
    table.fault(when="after", **fault)
    with table.host(options=Options(resend_unknown=True)) as host:
        assert host.execute(batch("SELECT count(*) FROM t"))[0].rows == [(3,)]
        assert (host.requests, host.retries, host.resent) == (2, 1, 1)
    assert len(table.log()) == 2


def test_a_429_is_waited_out_and_the_write_executed_once(table):
    table.fault(status=429, code=971, message="Please wait", headers={"retry-after": "0.2"})
    table.fault(status=429, code=971, message="Please wait")
    with table.host() as host:
        assert host.execute(batch("DELETE FROM t", "SELECT changes()", writes=True), 20.0)[1].rows == [(3,)]
        assert (host.requests, host.retries, host.resent) == (3, 2, 0)
    assert len(table.log()) == 1


def test_a_429_with_a_long_wait_ends_at_once(table):
    table.fault(status=429, code=971, message="Please wait", headers={"retry-after": "300"})
    error = failing(table, "DELETE FROM t", writes=True, timeout=20.0)
    assert (error.kind, error.retryable, error.applied, error.retry_after) == ("quota", True, False, 300.0)
    assert table.rows("SELECT count(*) FROM t") == [(3,)]


def test_an_export_is_waited_out(table):
    table.fault(status=400, message="Currently processing a long-running export.")
    with table.host() as host:
        assert host.execute(batch("SELECT count(*) FROM t"))[0].rows == [(3,)]


def test_a_slow_read_stops_at_its_timeout(table):
    table.fault(delay_ms=2_000, **{"pass": True})
    error = failing(table, "SELECT count(*) FROM t", timeout=0.2)
    assert (error.kind, error.retryable, error.applied) == ("interrupted", True, False)


def test_a_slow_write_is_waited_for(table):
    table.fault(delay_ms=600, **{"pass": True})
    with table.host() as host:
        assert host.execute(batch("DELETE FROM t", "SELECT changes()", writes=True), 0.2)[1].rows == [(3,)]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"token": "wrong"}, "CLOUDFLARE_API_TOKEN"),
        ({"id": "00000000-0000-4000-8000-999999999999"}, "wrangler d1 list"),
        ({"id": "no-such-name"}, "'no-such-name'"),
    ],
    ids=["token", "database", "name"],
)
def test_a_refusal_names_the_database_and_what_to_do(d1, changed, words):
    given = {"account": "acc", "id": d1.id, "token": d1.token} | changed
    with D1(given["account"], given["id"], token=given["token"], base_url=d1.url) as host, pytest.raises(HostError, match=words) as caught:
        host.execute(batch("SELECT 1"))
    error = caught.value
    assert (error.kind, error.retryable, error.applied, error.exit_status) == ("denied", False, False, 1)
    assert str(error).startswith(f"d1://acc/{given['id']}: ")


@pytest.mark.parametrize(
    ("fault", "kind", "status", "words"),
    [
        ({"status": 403, "code": 7403, "message": "not authorized"}, "denied", 1, "D1:Edit"),
        ({"status": 400, "message": "Exceeded maximum DB size"}, "full", 1, "raise its size limit"),
        ({"status": 500, "message": "D1 DB is overloaded. Requests queued for too long."}, "overloaded", 75, "smaller pages"),
        ({"status": 500, "message": "D1 DB exceeded its CPU time limit and was reset."}, "overloaded", 75, "CPU time"),
        ({"status": 400, "message": "Currently processing a long-running export.", "times": 9}, "busy", 75, "export"),
        ({"status": 400, "message": "exceeded D1's free tier daily row read limit.", "times": 9}, "quota", 75, "00:00 UTC"),
    ],
    ids=lambda value: value["message"] if isinstance(value, dict) else "",
)
def test_each_cause_has_its_exit_status_and_its_advice(table, fault, kind, status, words):
    table.fault(**fault)
    error = failing(table, "DELETE FROM t", writes=True, timeout=0.1)
    assert (error.kind, error.exit_status) == (kind, status)
    assert words in str(error)
    assert error.applied is (None if kind == "overloaded" else False)


def test_a_proxy_is_not_asked_for_this_machine(d1, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    assert d1.rows("SELECT 1") == [(1,)]


def test_nobody_listening(d1):
    with D1("acc", d1.id, token="t", base_url="http://127.0.0.1:9") as host, pytest.raises(HostError) as caught:
        host.execute(batch("DELETE FROM t", writes=True), 0.1)
    assert (caught.value.kind, caught.value.retryable, caught.value.applied) == ("network", True, False)


# --- several callers ------------------------------------------------------------------------------------------------------


def test_batches_of_several_callers_do_not_interleave(d1):
    d1.setup("CREATE TABLE t(n INTEGER)", "INSERT INTO t VALUES (0)")

    def work(_: int) -> list[int]:
        twice = batch("UPDATE t SET n = n + 1", "UPDATE t SET n = n + 1", "SELECT n FROM t", writes=True)
        with d1.host() as host:
            return [host.execute(twice)[2].rows[0][0] for _ in range(15)]

    with ThreadPoolExecutor(4) as pool:
        seen = [n for numbers in pool.map(work, range(4)) for n in numbers]
    assert sorted(seen) == list(range(2, 122, 2))


def test_a_lease_fences_a_caller_that_lost_it(table):
    """The first statement of a batch fails it whole, by a name that the caller knows."""
    table.setup("CREATE TABLE lease(name TEXT PRIMARY KEY, holder TEXT)", "INSERT INTO lease VALUES ('gc', 'b')")
    fence = (
        "SELECT CASE WHEN EXISTS (SELECT 1 FROM lease WHERE name = 'gc' AND holder = ?1) THEN 1 ELSE json_extract('1', 'fence:lease') END",
        "a",
    )
    error = failing(table, fence, "DELETE FROM t", writes=True)
    assert isinstance(error, Fenced)
    assert (error.name, error.applied, error.retryable) == ("lease", False, False)
    assert table.rows("SELECT count(*) FROM t") == [(3,)]


# --- the accounts ---------------------------------------------------------------------------------------------------------


def test_the_server_logs_what_the_host_says_it_costs(table):
    batches = [batch("SELECT 1"), batch("SELECT 1", "SELECT 2"), batch("DELETE FROM t", "SELECT changes()", "SELECT 1", writes=True)]
    with table.host() as host:
        for b in batches:
            host.execute(b)
        assert sum(len(entry["statements"]) for entry in table.log()) == sum(map(host.capabilities.cost, batches)) == 6
        assert host.requests == 3


def test_a_database_is_found_by_its_name(d1):
    d1.setup("CREATE TABLE here(x)")
    with D1("acc", d1.name, token=d1.token, base_url=d1.url) as host:
        assert host.execute(batch("SELECT name FROM sqlite_schema WHERE name = 'here'"))[0].rows == [("here",)]
        assert host.name == f"d1://acc/{d1.name}"


def test_the_servers_clock_can_be_read(d1):
    ((now,),) = d1.rows("SELECT unixepoch('subsec')")
    assert math.isclose(now, time.time(), abs_tol=60)


# --- the double itself -------------------------------------------------------------------------------------------------------


def test_the_server_leaves_no_process_behind():
    server = Server(1)
    group = server._process.pid
    server.stop()
    with pytest.raises(ProcessLookupError):
        os.killpg(group, 0)
    with pytest.raises(httpx.ConnectError), httpx.Client(trust_env=False) as client:
        client.get(server.url)
    assert not server.directory.exists()


def test_a_killed_test_run_leaves_no_process_behind():
    """Node sees the end of its standard input, however its parent died."""
    code = "from tests.d1.fixtures import Server; import time; print(Server(1)._process.pid, flush=True); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as parent:
        group = int(parent.stdout.readline())
        os.killpg(group, 0)
        parent.kill()
    until = time.monotonic() + 30
    while time.monotonic() < until:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("node or workerd outlived the test run")


def test_the_double_refuses_what_the_api_refuses(d1):
    address = f"{d1.url}/accounts/acc/d1/database/{d1.id}/raw"
    with httpx.Client(trust_env=False, headers={"authorization": f"Bearer {d1.token}"}) as client:
        assert client.post(address, content="no json").status_code == 400
        assert client.post(address, json={"batch": [{"sql": 1}]}).status_code == 400
        assert client.post(address, json={"batch": [{"sql": "SELECT ?1", "params": [{}]}]}).status_code == 400
        assert client.get(address).status_code == 405
        assert client.get(f"{d1.url}/elsewhere").status_code == 404
        one = {"sql": "SELECT 1 AS one"}
        assert client.post(address, json=one).json()["result"][0]["results"] == {"columns": ["one"], "rows": [[1]]}
        assert client.post(address.replace("/raw", "/query"), json=one).json()["result"][0]["results"] == [{"one": 1}]


# --- a whole run beside a server that will not serve: what the receipt and the exit status say ----------------------------------

BUSY = {
    "quota": {"status": 429, "code": 971, "message": "Please wait", "headers": {"retry-after": "300"}},
    "overloaded": {"status": 500, "message": "D1 DB is overloaded. Requests queued for too long."},
    "locked": {"status": 400, "message": "Currently processing a long-running export."},
    "deadline": {"delay_ms": 60_000, "pass": True},
}


@pytest.mark.parametrize("skip", [0, 4], ids=["planning", "a page"])
@pytest.mark.parametrize("why", BUSY)
def test_a_run_says_why_it_could_not_go_on(d1, why, skip):
    d1.setup(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER)",
        "INSERT INTO t WITH RECURSIVE n (v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 200) SELECT v, 1700000000 FROM n",
    )
    d1.fault(times=999, skip=skip, **BUSY[why])
    age = {"column": "at", "format": "unix_s"}
    policy = {"version": 1, "rules": [{"table": "t", "keep": "30d", "age": age, "page_rows": 50}]}
    with d1.host() as host:
        receipt = retention.run(host, policy, now="2026-09-09T14:00:00Z", limits={"deadline": "2s"})
    assert receipt.why == why, receipt
    assert receipt.outcome == ("more" if why == "deadline" and skip else "busy")
    assert receipt.exit_status == (3 if receipt.outcome == "more" else 75)

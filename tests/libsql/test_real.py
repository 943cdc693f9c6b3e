"""The libSQL host against a real server."""

from __future__ import annotations

import math
import time
from pathlib import Path

import pytest

from retention.errors import HostError
from retention.hosts.libsql import LibSQL
from retention.steps import Batch, Statement

from .fixtures import Server

# A key pair made for these tests: the server gets the public half, and each token names what it allows.
KEY = "H7R53Uvw5yjMauavLomb5WwyzslhdbDd5GV2INEHgvY"
MAY_WRITE = (
    "eyJhbGciOiJFZERTQSIsInR5cCI6IkpXVCJ9.eyJhIjoicncifQ."
    "j8dQfGa7dY0TvapSEyGjMfXAMfWazP44BICh-Qv5VDKv1el9AozreVslORnjLAaRin1WCy9-OTIz8WtMDoMRDA"
)
MAY_READ = (
    "eyJhbGciOiJFZERTQSIsInR5cCI6IkpXVCJ9.eyJhIjoicm8ifQ."
    "rsQZPYLqrD7z_4nosWxwXngLRzGmh8JBryM15DVJ5UpXslMMe15dw7ClCS2sudgWG020XVo5rWAHTQmBqSBHCQ"
)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("9007199254740993", 2**53 + 1),
        ("1.0", 1.0),
        ("-0.0", -0.0),
        ("5e-324", 5e-324),
        ("NULL", None),
        ("'a' || char(0) || 'b'", "a\x00b"),
        ("x'00ff'", b"\x00\xff"),
        ("x''", b""),
        ("9e999", None),
        ("CAST(9e999 AS TEXT)", "Inf"),
        ("hex(CAST(x'ff41' AS TEXT))", "FF41"),
    ],
)
def test_what_comes_out(libsql_module, expression, expected):
    ((value,),) = libsql_module.rows(f"SELECT {expression}")
    assert value == expected
    assert type(value) is type(expected)


@pytest.mark.parametrize(("value", "kind"), [(5, "integer"), (5.0, "real"), ("5", "text"), (None, "null"), (-(2**53) + 1, "integer")])
def test_what_goes_in(libsql_module, value, kind):
    with libsql_module.host() as host:
        assert host.execute(Batch((Statement("SELECT typeof(?1), ?1", (value,)),)))[0].rows == [(kind, value)]


def test_integers_bound_as_text_are_exact(libsql_module):
    statement = Statement("SELECT CAST(?1 AS INTEGER) = 9007199254740993, CAST(?1 AS INTEGER) = 9007199254740992", ("9007199254740993",))
    with libsql_module.host() as host:
        assert host.execute(Batch((statement,)))[0].rows == [(1, 0)]


def test_text_that_is_not_utf8_is_refused_with_the_reason(libsql_module):
    with libsql_module.host() as host, pytest.raises(HostError, match="not valid UTF-8") as caught:
        host.execute(Batch((Statement("SELECT CAST(x'ff41' AS TEXT)"),)))
    assert (caught.value.kind, caught.value.retryable) == ("error", False)


def test_changes_are_those_of_the_statement_alone(libsql):
    libsql.setup(
        "CREATE TABLE p(id INTEGER PRIMARY KEY)",
        "CREATE TABLE c(p REFERENCES p(id) ON DELETE CASCADE)",
        "INSERT INTO p VALUES (1), (2)",
        "INSERT INTO c VALUES (1), (1)",
    )
    with libsql.host() as host:
        deleted, read = host.execute(Batch((Statement("DELETE FROM p WHERE id = 1"), Statement("SELECT count(*) FROM c")), writes=True))
    assert (deleted.changes, deleted.total_changes) == (1, None)
    assert (read.changes, read.rows) == (0, [(0,)])


def test_a_deferred_key_left_violated_rolls_all_back(libsql):
    libsql.setup(
        "CREATE TABLE p(id INTEGER PRIMARY KEY)",
        "CREATE TABLE c(p REFERENCES p(id) DEFERRABLE INITIALLY DEFERRED)",
        "INSERT INTO p VALUES (1)",
        "INSERT INTO c VALUES (1)",
    )
    with libsql.host() as host, pytest.raises(HostError) as caught:
        host.execute(Batch((Statement("DELETE FROM p"), Statement("SELECT 1")), writes=True))
    assert (caught.value.kind, caught.value.applied) == ("constraint", False)
    assert libsql.rows("SELECT count(*) FROM p") == [(1,)]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT " + " || ".join(f"?{i + 1}" for i in range(999)),
        "SELECT " + " OR ".join(f"1 = {i}" for i in range(900)),
        " UNION ALL ".join(["SELECT 1"] * 499),
        "SELECT " + ", ".join("1" for _ in range(1_999)),
        "SELECT '" + "x" * 900_000 + "'",
    ],
    ids=["parameters", "depth", "compound", "columns", "bytes"],
)
def test_the_limits_are_sqlites_own(libsql_module, sql):
    params = ("x",) * sql.count("?")
    with libsql_module.host() as host:
        assert len(host.execute(Batch((Statement(sql, params),)))[0].rows) >= 1


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT " + " OR ".join(f"1 = {i}" for i in range(1_100)),
        " UNION ALL ".join(["SELECT 1"] * 501),
        "SELECT " + ", ".join("1" for _ in range(2_001)),
    ],
    ids=["depth", "compound", "columns"],
)
def test_a_limit_is_named_as_one(libsql_module, sql):
    with libsql_module.host() as host, pytest.raises(HostError) as caught:
        host.execute(Batch((Statement(sql),)))
    assert caught.value.kind == "limit"


def test_the_servers_clock_can_be_read(libsql_module):
    ((now,),) = libsql_module.rows("SELECT unixepoch('subsec')")
    assert math.isclose(now, time.time(), abs_tol=60)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    directory: Path = tmp_path_factory.mktemp("guarded")
    (directory / "key").write_text(KEY)
    server = Server(directory / "sqld", "--auth-jwt-key-file", str(directory / "key"))
    yield server.database.url
    server.stop()


def test_a_token_opens_the_door(guarded, monkeypatch):
    monkeypatch.setenv("LIBSQL_AUTH_TOKEN", MAY_WRITE)
    with LibSQL(guarded) as host:
        host.execute(Batch((Statement("CREATE TABLE IF NOT EXISTS t(x)"),), writes=True))
        assert host.execute(Batch((Statement("SELECT count(*) FROM t"),)))[0].rows == [(0,)]


@pytest.mark.parametrize("token", [None, "not-a-token", MAY_WRITE[:-4] + "AAAA"], ids=["none", "nonsense", "forged"])
def test_no_token_or_a_wrong_one_is_denied(guarded, token, monkeypatch):
    monkeypatch.delenv("LIBSQL_AUTH_TOKEN", raising=False)
    with LibSQL(guarded, token) as host, pytest.raises(HostError, match="LIBSQL_AUTH_TOKEN") as caught:
        host.execute(Batch((Statement("SELECT 1"),)))
    assert (caught.value.kind, caught.value.retryable, caught.value.applied) == ("denied", False, False)


def test_a_token_for_reading_may_not_write(guarded):
    with LibSQL(guarded, MAY_WRITE) as host:
        host.execute(Batch((Statement("CREATE TABLE IF NOT EXISTS kept(x)"),), writes=True))
    with LibSQL(guarded, MAY_READ) as host:
        assert host.execute(Batch((Statement("SELECT count(*) FROM kept"),)))[0].rows == [(0,)]
        with pytest.raises(HostError) as caught:
            host.execute(Batch((Statement("DELETE FROM kept"),), writes=True))
    assert (caught.value.kind, caught.value.retryable, caught.value.applied) == ("denied", False, False)

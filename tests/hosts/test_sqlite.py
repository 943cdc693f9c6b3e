"""Batches: exact counts, all or nothing, no driver's exception, never a statement more than announced."""

from __future__ import annotations

import asyncio
import math
import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retention.errors import Fenced, HostError
from retention.hosts import sqlite
from retention.hosts.sqlite import SQLite
from retention.steps import Batch, Statement

from .databases import FAMILY, create, look, read, traced, write

BOTH = pytest.mark.parametrize("journal", ["wal", "delete"])


@pytest.fixture(params=["wal", "delete"])
def path(request, tmp_path):
    return create(tmp_path / "x.db", journal=request.param)


@pytest.fixture
def host(path):
    with SQLite(path) as opened:
        yield opened


@pytest.fixture
def family(tmp_path):
    with SQLite(create(tmp_path / "f.db", FAMILY)) as opened:
        yield opened


# --- what is sent ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "batch",
    [
        read("SELECT 1"),
        read("SELECT count(*) FROM t", "SELECT max(id) FROM t", "PRAGMA table_info(t)"),
        write("DELETE FROM t WHERE id = 1"),
        write("DELETE FROM t WHERE id = 1", "SELECT changes()"),
        write("DELETE FROM t WHERE id < 9", max_changes=100),
        write("DELETE FROM t WHERE id = 0"),
        write("CREATE INDEX t_b ON t(b)"),
    ],
)
@pytest.mark.parametrize("timeout", [None, 60])
def test_exactly_the_announced_statements_are_sent(host, batch, timeout):
    with traced(host) as sent:
        assert len(host.execute(batch, timeout)) == len(batch.statements)
    assert len(sent) == host.capabilities.cost(batch)


@pytest.mark.parametrize(
    "batch",
    [
        write("DELETE FROM t", "SELECT * FROM nowhere"),
        write("DELETE FROM t WHERE id < 9", max_changes=3),
        write("DELETE FROM t WHERE id < 9", "INSERT INTO t(id) VALUES (15)", max_changes=300),
        write("SELECT CASE WHEN 0 THEN 1 ELSE json_extract('1', 'fence:lease') END", "DELETE FROM t"),
        write("DELETE FROM t WHERE id = 1", "SELECT ?1"),
    ],
)
def test_a_failed_transaction_sends_no_more_than_announced_and_leaves_nothing(host, path, batch):
    before = look(path, "SELECT * FROM t")
    with traced(host) as sent, pytest.raises(HostError) as caught:
        host.execute(batch)
    assert len(sent) <= host.capabilities.cost(batch)
    assert (caught.value.applied, host._connection.in_transaction) == (False, False)
    assert look(path, "SELECT * FROM t") == before


def test_rows_and_parameters(host):
    (result,) = host.execute(Batch((Statement("SELECT ?1, ?2, ?3, ?4, CAST(?5 AS INTEGER)", (1.5, "x", b"\0", None, "9007199254740993")),)))
    assert result.rows == [(1.5, "x", b"\0", None, 9007199254740993)]
    assert result.seconds > 0


# --- what is counted ------------------------------------------------------------------------------------------------


def test_changes_are_those_of_each_statement(host):
    batch = write("SELECT 1", "DELETE FROM t WHERE id <= 3", "SELECT count(*) FROM t", "DELETE FROM t WHERE id = 0", "DELETE FROM t")
    assert [(r.changes, r.total_changes) for r in host.execute(batch)] == [(0, 0), (3, 3), (0, 0), (0, 0), (17, 17)]
    assert [r.changes for r in host.execute(read("SELECT 1", "PRAGMA user_version"))] == [0, 0]


def test_cascades_and_triggers_are_counted_apart(family):
    (result,) = family.execute(write("DELETE FROM p WHERE id = 1"))
    assert (result.changes, result.total_changes, result.cascaded) == (1, 8, None)


def told(tables):
    """What a host tells: nothing where apsw is too old for the pre-update hook."""
    return tables if sqlite.HAS_PREUPDATE else None


def test_cascades_are_named_by_table_when_changes_are_bounded(family):
    (result,) = family.execute(write("DELETE FROM p WHERE id = 1", max_changes=8))
    assert result.cascaded == told({"p": 1, "c": 3, "log": 3})
    (result,) = family.execute(write("DELETE FROM p WHERE id = 3", max_changes=8))
    assert result.cascaded == told({})


@pytest.mark.parametrize("when", ["BEFORE", "AFTER"])
def test_the_tables_behind_a_full_text_index_are_not_the_rules_own(tmp_path, when):
    path = create(
        tmp_path / "f.db",
        "CREATE TABLE t(id INTEGER PRIMARY KEY, b); CREATE VIRTUAL TABLE f USING fts5(b, content='t', content_rowid='id');"
        f"CREATE TRIGGER gone {when} DELETE ON t BEGIN INSERT INTO f(f, rowid, b) VALUES ('delete', old.id, old.b); END;"
        "INSERT INTO t VALUES (1, 'one'), (2, 'two'), (3, 'three'); INSERT INTO f(f) VALUES ('rebuild')",
    )
    with SQLite(path) as host:
        (result,) = host.execute(write("DELETE FROM t WHERE id < 3", max_changes=1000))
    assert result.changes == 2
    assert told({"f_docsize": 2}) in (None, {k: v for k, v in (result.cascaded or {}).items() if k == "f_docsize"})
    assert "t" not in (result.cascaded or {})


@pytest.mark.parametrize("most", range(10))
def test_too_many_changes_are_rolled_back(tmp_path, most):
    path = create(tmp_path / "f.db", FAMILY)
    with SQLite(path) as host:
        if most >= 8:
            assert host.execute(write("DELETE FROM p WHERE id = 1", max_changes=most))[0].total_changes == 8
            return
        with pytest.raises(HostError, match=r"more than \d+( rows would change)?; rolled back") as caught:
            host.execute(write("DELETE FROM p WHERE id = 1", max_changes=most))
    assert (caught.value.kind, caught.value.retryable, caught.value.applied) == ("too_many_changes", False, False)
    assert look(path, "SELECT (SELECT count(*) FROM p), (SELECT count(*) FROM c), (SELECT count(*) FROM log)") == [(4, 3, 0)]


@pytest.mark.parametrize("statements", [1, 2])
def test_a_write_that_holds_the_lock_too_long_is_rolled_back(tmp_path, statements):
    path = create(tmp_path / "f.db", rows=5_000)
    with SQLite(path) as host:
        batch = write(*["DELETE FROM t WHERE b LIKE '%9%' OR id > 0"] * statements)
        with pytest.raises(HostError, match="the lock was held for 0 ms; rolled back") as caught:
            host.execute(replace(batch, max_seconds=0.0))
        assert (caught.value.kind, caught.value.retryable, caught.value.applied) == ("too_many_changes", False, False)
        assert look(path, "SELECT count(*) FROM t") == [(5_000,)]
        # The time is the batch's own: no later one is held to it.
        assert len(host.execute(read("SELECT * FROM t"))[0].rows) == 5_000
        with pytest.raises(HostError, match="time limit") as caught:
            host.execute(batch, timeout=0.0)
        assert caught.value.kind == "interrupted"
        assert host.execute(replace(batch, max_seconds=3600.0))[0].changes == 5_000


# --- what fails -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", [write("DELETE FROM p WHERE id = 4"), write("DELETE FROM p WHERE id = 4", "SELECT 1")])
def test_a_deferred_key_fails_at_the_commit(family, batch):
    with traced(family) as sent, pytest.raises(HostError, match="FOREIGN KEY") as caught:
        family.execute(batch)
    assert (caught.value.kind, caught.value.applied) == ("constraint", False)
    assert len(sent) <= family.capabilities.cost(batch)
    assert family.execute(read("SELECT count(*) FROM p WHERE id = 4"))[0].rows == [(1,)]


def test_a_deferred_key_that_is_mended_in_the_batch_is_no_failure(family):
    family.execute(write("DELETE FROM p WHERE id = 4", "DELETE FROM d"))
    assert family.execute(read("SELECT count(*) FROM p WHERE id = 4"))[0].rows == [(0,)]


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("action", ["FAIL", "ABORT", "ROLLBACK", "IGNORE"])
def test_a_triggers_raise(tmp_path, action, alone):
    raises = "RAISE(IGNORE)" if action == "IGNORE" else f"RAISE({action}, 'not this one')"
    path = create(
        tmp_path / "x.db",
        "CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1),(2),(3),(4);"
        f"CREATE TRIGGER veto BEFORE DELETE ON t WHEN old.id = 3 BEGIN SELECT {raises}; END",
    )
    batch = write("DELETE FROM t") if alone else write("DELETE FROM t", "SELECT 1")
    with SQLite(path) as host:
        if action == "IGNORE":
            assert host.execute(batch)[0].changes == 3
            left = 1
        else:
            with pytest.raises(HostError, match="not this one") as caught:
                host.execute(batch)
            kept = 2 if action == "FAIL" and alone else 0
            assert (caught.value.kind, caught.value.applied, caught.value.changes) == ("constraint", kept > 0, kept)
            left = 4 - kept
        assert not host._connection.in_transaction
    assert look(path, "SELECT count(*) FROM t") == [(left,)]


ERRORS = [
    ("SELECT * FROM nowhere", (), "schema", "no such table: nowhere"),
    ("SELECT absent FROM t", (), "schema", "no such column: absent"),
    ("SELECT absent(1)", (), "schema", "no such function"),
    ("SELECT * FROM t INDEXED BY t_gone", (), "schema", "no such index"),
    ("SELEC 1", (), "error", "syntax error"),
    ("SELECT ?1", (), "error", "number of bound values"),
    ("SELECT ?1", (1, 2), "error", "number of bound values"),
    ("SELECT ?1", (2**63,), "limit", "64 bits"),
    ("SELECT ?1", (-(2**63) - 1,), "limit", "64 bits"),
    ("SELECT ?1", ("\ud800secret",), "error", "surrogate"),
    ("SELECT ?1", ([1],), "error", "type"),
    ("SELECT CAST(x'ff' AS TEXT)", (), "error", "not valid UTF-8"),
    ("SELECT 1\0", (), "error", "NUL"),
    ("SELECT zeroblob(2000000000)", (), "limit", "too big"),
    ("SELECT ?40000", (), "limit", "variable number"),
    ("SELECT 1" + " + 1" * 2000, (), "limit", "Expression tree"),
    ("SELECT 1" + " UNION ALL SELECT 1" * 600, (), "limit", "compound"),
    ("SELECT json_extract('1', ?1)", ("secret",), "error", "bad JSON path"),
    ("SELECT json(?1)", ("secret",), "error", "malformed JSON"),
    ("INSERT INTO t(id) VALUES (?1)", (1,), "constraint", "UNIQUE constraint failed: t.id"),
]


@pytest.mark.parametrize(("sql", "params", "kind", "says"), ERRORS, ids=range(len(ERRORS)))
@pytest.mark.parametrize("writes", [False, True])
def test_every_failure_is_a_host_error_without_values(host, sql, params, kind, says, writes):
    batch = Batch((Statement(sql, params), Statement("SELECT 1")) if writes else (Statement(sql, params),), writes=writes)
    with pytest.raises(HostError) as caught:
        host.execute(batch)
    error = caught.value
    assert (error.kind, error.retryable, error.applied) == (kind, False, False)
    assert says in str(error)
    assert str(error).startswith(host.name)
    assert "secret" not in str(error)
    assert host.execute(read("SELECT count(*) FROM t"))[0].rows == [(20,)], "the host works on"


def test_a_write_that_returns_unreadable_text_tells_that_it_was_applied(host):
    host.execute(write("UPDATE t SET b = CAST(x'ff' AS TEXT) WHERE id = 2"))
    with pytest.raises(HostError, match="UTF-8") as caught:
        host.execute(write("DELETE FROM t WHERE id <= 2 RETURNING b"))
    gone = 20 - host.execute(read("SELECT count(*) FROM t"))[0].rows[0][0]
    assert (caught.value.applied, caught.value.changes) == (gone > 0, gone)


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20).filter(lambda s: "'" not in s and "\0" not in s))
def test_a_fence_is_named(label):
    with SQLite(apsw.Connection("")) as host, pytest.raises(Fenced) as caught:
        host.execute(read(f"SELECT CASE WHEN 0 THEN 1 ELSE json_extract('1', 'fence:{label}') END"))
    assert (caught.value.name, caught.value.applied) == (label, False)


def test_a_full_disk(host, path):
    con = host._connection
    con.pragma("max_page_count", con.pragma("page_count"))
    for statements in (["INSERT INTO t(b) VALUES (zeroblob(900000))"], ["INSERT INTO t(b) VALUES (zeroblob(900000))", "SELECT 1"]):
        with pytest.raises(HostError, match="full") as caught:
            host.execute(write(*statements))
        assert (caught.value.kind, caught.value.applied) == ("full", False)
        assert not con.in_transaction
    assert look(path, "SELECT count(*) FROM t") == [(20,)]


def test_a_failing_disk_at_the_commit_leaves_the_outcome_open(host, monkeypatch):
    def fail(batch, stop):
        raise apsw.IOError("disk I/O error")

    monkeypatch.setattr(host, "_transaction", fail)
    with pytest.raises(HostError, match="disk I/O error") as caught:
        host.execute(write("DELETE FROM t", "SELECT 1"))
    assert caught.value.applied is None


def test_a_page_that_is_damaged_midway(tmp_path):
    path = create(tmp_path / "x.db", journal="delete", rows=5000)
    data = bytearray(path.read_bytes())
    data[8 * 4096 : 9 * 4096] = b"\xee" * 4096
    path.write_bytes(data)
    with SQLite(path) as host, pytest.raises(HostError) as caught:
        host.execute(write("DELETE FROM t", "DELETE FROM t"))
    assert (caught.value.kind, caught.value.applied) == ("corrupt", False)


# --- time limits ----------------------------------------------------------------------------------------------------

ENDLESS = "WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n) "


@pytest.mark.parametrize(
    "batch",
    [
        read(ENDLESS + "SELECT count(*) FROM n"),
        write(ENDLESS + "DELETE FROM t WHERE id IN (SELECT v FROM n)"),
        write("DELETE FROM t", ENDLESS + "SELECT count(*) FROM n"),
        write("DELETE FROM t", ENDLESS + "DELETE FROM t WHERE id IN (SELECT v FROM n)"),
    ],
)
def test_a_statement_is_interrupted_at_its_time_limit(host, path, batch):
    with pytest.raises(HostError, match="time limit") as caught:
        host.execute(batch, 0.02)
    assert (caught.value.kind, caught.value.retryable, caught.value.applied) == ("interrupted", False, False)
    assert caught.value.seconds > 0
    assert look(path, "SELECT count(*) FROM t") == [(20,)]
    assert host.execute(write("DELETE FROM t WHERE id < 5"))[0].changes == 4, "the limit ends with its batch"


@pytest.mark.parametrize("statements", [["DELETE FROM t WHERE id < 5"], ["DELETE FROM t WHERE id < 5", "SELECT 1"]])
def test_an_interrupt_at_any_moment_tells_the_truth(monkeypatch, statements):
    """SQLite asks its progress handler once more after an autocommitted write has been committed."""
    con = apsw.Connection("")
    con.execute("CREATE TABLE t(id INTEGER PRIMARY KEY)")
    monkeypatch.setattr(sqlite, "PROGRESS_STEPS", 1)
    outcomes, denied = set(), None
    with SQLite(con) as host:
        for moment in range(1, 300):
            con.execute("INSERT OR IGNORE INTO t VALUES (1), (2), (3), (4), (5), (6)")
            looks = iter(range(1, 10**6))
            with monkeypatch.context() as patch:
                patch.setattr(sqlite.time, "monotonic", lambda looks=looks, moment=moment: 0.0 if next(looks) <= moment else 100.0)
                try:
                    host.execute(write(*statements), 50.0)
                    told = True
                except HostError as error:
                    told = False
                    denied = error.applied
            left = con.execute("SELECT count(*) FROM t").get
            assert told is (left == 2), f"at look {moment} at the clock"
            assert told or denied is False
            assert not con.in_transaction, f"at look {moment} at the clock"
            outcomes.add(told)
    assert outcomes == {True, False}
    con.close()


def test_a_commit_has_no_time_limit(host):
    limits = {}
    host._connection.trace_v2(apsw.SQLITE_TRACE_STMT, lambda event: limits.update({event["sql"]: host._until}))
    host.execute(write("DELETE FROM t", "SELECT 1"), 60)
    host._connection.trace_v2(0, None)
    assert limits["COMMIT"] == math.inf
    assert limits["DELETE FROM t"] < math.inf


# --- crashes --------------------------------------------------------------------------------------------------------


@BOTH
def test_kill_9_in_mid_batch_leaves_all_or_nothing(tmp_path, journal):
    path = create(
        tmp_path / "x.db", "CREATE TABLE a(n); CREATE TABLE b(n); INSERT INTO a VALUES (0); INSERT INTO b VALUES (0)", journal=journal
    )
    script = textwrap.dedent("""
        import sys
        from retention.hosts.sqlite import SQLite
        from retention.steps import Batch, Statement
        host = SQLite(sys.argv[1])
        batch = Batch((Statement("UPDATE a SET n = n + 1"), Statement("UPDATE b SET n = n + 1")), writes=True)
        print("ready", flush=True)
        while True:
            host.execute(batch)
    """)
    for pause in (0.0, 0.003, 0.01, 0.021):
        child = subprocess.Popen([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE)
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(pause)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        child.stdout.close()
        ((a, b),) = look(path, "SELECT a.n, b.n FROM a, b")
        assert a == b
        assert look(path, "PRAGMA integrity_check") == [("ok",)]


def test_an_exception_in_mid_batch_leaves_no_transaction(host, path, monkeypatch):
    class Stop(BaseException):
        pass

    def stop(*args, **kwargs):
        raise Stop

    monkeypatch.setattr(host, "_send", stop)
    with pytest.raises(Stop):
        host.execute(write("DELETE FROM t", "SELECT 1"))
    assert not host._connection.in_transaction
    assert look(path, "SELECT count(*) FROM t") == [(20,)]


# --- the schema, threads, values ------------------------------------------------------------------------------------


def test_a_table_that_goes_away_midway_is_a_schema_error(host, path):
    host.execute(read("SELECT count(*) FROM t"))
    look(path, "ALTER TABLE t RENAME TO u")
    with pytest.raises(HostError) as caught:
        host.execute(write("DELETE FROM t WHERE id = 1"))
    assert caught.value.kind == "schema"


def test_it_may_be_used_from_any_thread(host):
    async def work() -> int:
        for _ in range(20):
            await asyncio.to_thread(host.execute, write("DELETE FROM t WHERE id = (SELECT min(id) FROM t)", "SELECT 1"))
        return (await asyncio.to_thread(host.execute, read("SELECT count(*) FROM t")))[0].rows[0][0]

    assert asyncio.run(work()) == 0


@settings(deadline=None)
@given(
    st.one_of(
        st.none(),
        st.integers(-(2**63), 2**63 - 1),
        st.floats(allow_nan=False),
        st.text(st.characters(exclude_categories=["Cs"])),
        st.binary(),
    )
)
def test_values_arrive_exactly(value):
    with SQLite(apsw.Connection("")) as host:
        ((arrived,),) = host.execute(Batch((Statement("SELECT ?1", (value,)),)))[0].rows
    assert arrived == value
    assert type(arrived) is type(value)


def test_the_connections_own_limits_are_its_capabilities(tmp_path):
    con = apsw.Connection(str(create(tmp_path / "x.db")))
    con.limit(apsw.SQLITE_LIMIT_VARIABLE_NUMBER, 7)
    with SQLite(con) as host:
        assert host.capabilities.max_params == 7
        assert replace(host.capabilities, max_params=0).name == "sqlite"
    con.close()

"""The meter itself: what counts as one write transaction, and what it changed."""

from __future__ import annotations

import apsw
import pytest

from bench.trace import Trace


@pytest.fixture
def db() -> apsw.Connection:
    connection = apsw.Connection("")
    connection.pragma("foreign_keys", True)
    connection.execute(
        "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p REFERENCES p ON DELETE CASCADE); CREATE INDEX c_p ON c (p);"
        "CREATE TABLE log (id); CREATE TRIGGER gone AFTER DELETE ON p BEGIN INSERT INTO log VALUES (OLD.id); END;"
        "INSERT INTO p VALUES (1), (2); INSERT INTO c VALUES (1), (1), (2);"
    )
    return connection


def test_a_lone_write_is_one_lock_with_its_cascades(db: apsw.Connection) -> None:
    trace = Trace(db)
    db.execute("DELETE FROM p WHERE id = 1")
    assert trace.changes == [4]
    assert len(trace.locks) == 1


def test_a_transaction_is_one_lock_until_its_end(db: apsw.Connection) -> None:
    trace = Trace(db)
    for sql in ("BEGIN IMMEDIATE", "DELETE FROM c", "DELETE FROM p", "COMMIT"):
        db.execute(sql)
    assert trace.changes == [3 + 2 + 2]
    assert trace.statements == 4


def test_what_was_rolled_back_was_held_all_the_same(db: apsw.Connection) -> None:
    trace = Trace(db)
    for sql in ("BEGIN IMMEDIATE", "DELETE FROM c", "ROLLBACK"):
        db.execute(sql)
    assert trace.changes == [3]


def test_reads_hold_no_lock(db: apsw.Connection) -> None:
    trace = Trace(db)
    assert len(db.execute("SELECT * FROM c").fetchall()) == 3
    assert trace.locks == []
    assert trace.vm_steps > 0
    assert trace.full_scan_steps == 2

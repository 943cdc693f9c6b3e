"""Files for the host's tests, and what a test may ask of them from outside the host."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from retention.hosts.sqlite import SQLite
from retention.steps import Batch, Statement

SCHEMA = """
CREATE TABLE t(id INTEGER PRIMARY KEY, a, b TEXT);
CREATE INDEX t_a ON t(a);
WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < {rows}) INSERT INTO t SELECT v, v % 7, 'row ' || v FROM n;
"""

FAMILY = """
CREATE TABLE p(id INTEGER PRIMARY KEY, boss REFERENCES p ON DELETE CASCADE);
CREATE TABLE c(id INTEGER PRIMARY KEY, p REFERENCES p ON DELETE CASCADE);
CREATE TABLE d(id INTEGER PRIMARY KEY, p REFERENCES p DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE log(what);
CREATE INDEX p_boss ON p(boss); CREATE INDEX c_p ON c(p); CREATE INDEX d_p ON d(p);
CREATE TRIGGER c_gone AFTER DELETE ON c BEGIN INSERT INTO log VALUES (old.id); END;
INSERT INTO p VALUES (1, NULL), (2, 1), (3, NULL), (4, NULL);
INSERT INTO c VALUES (1, 1), (2, 1), (3, 2);
INSERT INTO d VALUES (1, 4);
"""


def create(path: Path, sql: str = SCHEMA, *, journal: str = "wal", rows: int = 20) -> Path:
    """A new database file."""
    con = apsw.Connection(str(path))
    con.pragma("journal_mode", journal)
    con.execute(sql.replace("{rows}", str(rows)))
    con.close()
    return path


def read(*statements: str) -> Batch:
    return Batch(tuple(Statement(s) for s in statements))


def write(*statements: str, max_changes: int | None = None) -> Batch:
    return Batch(tuple(Statement(s) for s in statements), writes=True, max_changes=max_changes)


def look(path: Path, sql: str) -> list[tuple[object, ...]]:
    """What another connection sees."""
    con = apsw.Connection(str(path))
    try:
        return con.execute(sql).fetchall()
    finally:
        con.close()


@contextmanager
def traced(host: SQLite) -> Iterator[list[str]]:
    """The statements that the connection really runs: not trigger programs, not those behind virtual tables.

    Counted by their end, told apart by their start: SQLite reports a start again for each foreign key action, and an end does
    not tell whose statement it is.
    """
    sent: list[str] = []
    inner: dict[object, bool] = {}
    con = host._connection

    def note(event: dict[str, object]) -> None:
        if event["code"] == apsw.SQLITE_TRACE_STMT:
            inner.setdefault(event["id"], bool(event["trigger"]))
        elif not inner.pop(event["id"], True):
            sent.append(str(event["sql"]))

    con.trace_v2(apsw.SQLITE_TRACE_STMT | apsw.SQLITE_TRACE_PROFILE, note)
    try:
        yield sent
    finally:
        con.trace_v2(0, None)

"""One database for the tests of conditions, as SQLite has it and as the reader of schemas gives it."""

from __future__ import annotations

import apsw
import pytest

from retention.schema.model import Column, Schema, Table

KEYWORDS = ("order", "date", "user", "key", "type")
TABLES = {
    "t": ("a", "b", "c", "d", "id", "k", "doc", "name", "h", "ts", "status", "größe", "my col", 'a"b', *KEYWORDS),
    "u": ("a", "b", "c", "d", "id", "k", "x"),
    "v": ("a", "b", "k"),
    "one": ("n",),
    "messages": ("id", "thread_id", "legal_hold"),
    "odd name": ("a", "b"),
}
OTHERS = """
    CREATE VIEW both AS SELECT u.a, v.b AS z FROM u JOIN v ON u.a = v.a;
    CREATE VIEW outer_view AS SELECT a FROM both;
    CREATE TABLE bare (a PRIMARY KEY, b) WITHOUT ROWID;
    CREATE VIRTUAL TABLE words USING fts5(body);
    CREATE INDEX u_a ON u (a);
"""


def quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _table(name: str, columns: tuple[str, ...], **known: object) -> Table:
    return Table(name, known.pop("kind", "table"), tuple(Column(c, "", "BLOB", False, None, 0) for c in columns), **known)  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def schema() -> Schema:
    views = {
        "both": (("a", "z"), "CREATE VIEW both AS SELECT u.a, v.b AS z FROM u JOIN v ON u.a = v.a"),
        "outer_view": (("a",), "CREATE VIEW outer_view AS SELECT a FROM both"),
        "strange": (("a",), "CREATE VIEW strange AS SELECT FROM WHERE"),
        "constant": (("a",), "CREATE VIEW constant AS SELECT 1 AS a"),
    }
    tables = [
        *(_table(name, columns) for name, columns in TABLES.items()),
        *(_table(name, columns, kind="view", rowid=None, sql=sql) for name, (columns, sql) in views.items()),
        _table("bare", ("a", "b"), without_rowid=True, rowid=None),
        _table("words", ("body",), kind="virtual"),
    ]
    return Schema({table.name: table for table in tables})


@pytest.fixture
def database() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    connection.config(apsw.SQLITE_DBCONFIG_DQS_DML, 0)
    for name, columns in TABLES.items():
        connection.execute(f"CREATE TABLE {quote(name)} ({', '.join(map(quote, columns))})")
    connection.execute(OTHERS)
    return connection

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from retention.hosts.base import Host
from retention.hosts.sqlite import SQLite
from retention.steps import Batch, Statement
from tests.d1.fixtures import d1_server
from tests.libsql.fixtures import libsql

__all__ = ["d1_server", "libsql"]


class Database:
    """A database on one of the hosts, and its schema and rows as a test asks for them."""

    def __init__(self, connect: Callable[[], Host]) -> None:
        self.connect = connect
        self.host = connect()

    def script(self, *statements: str) -> None:
        self.host.execute(Batch(tuple(map(Statement, statements)), writes=True))

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in self.host.execute(Batch((Statement(sql),)))[0].rows]

    def indexes(self) -> dict[str, bool]:
        """Name -> unique, of all that CREATE INDEX made."""
        found = self.rows("SELECT name, sql LIKE 'CREATE UNIQUE%' FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")
        return {name: bool(unique) for name, unique in found}

    def tables(self) -> set[str]:
        found = self.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")
        return {name for (name,) in found if not name.startswith(("sqlite_", "_cf_", "libsql_"))}

    def columns(self, table: str) -> list[str]:
        return [name for (name,) in self.rows(f"SELECT name FROM pragma_table_info('{table}') ORDER BY cid")]


@pytest.fixture(params=["sqlite", "d1", "libsql"])
def db(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    if request.param == "d1":
        connect = request.getfixturevalue("d1_server").fresh().host
    elif request.param == "libsql":
        connect = request.getfixturevalue("libsql").host
    else:
        path = tmp_path / "app.db"
        connection = apsw.Connection(str(path))
        connection.pragma("journal_mode", "wal")
        connection.close()
        connect = lambda: SQLite(path)  # noqa: E731
    database = Database(connect)
    yield database
    database.host.close()

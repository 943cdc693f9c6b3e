from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path

import apsw
import pytest

from retention.hosts.base import Host
from retention.hosts.sqlite import SQLite
from retention.hosts.sqlite_like_d1 import limited_like_d1
from tests.d1.fixtures import d1_server
from tests.ledger.databases import NOTES_SCHEMA, Database, split
from tests.libsql.fixtures import Database as LibSQLDatabase
from tests.libsql.fixtures import Server

__all__ = ["d1_server"]


HERE = ["sqlite", "like-d1"]
"""Hosts in this process: for tests with many examples, `@pytest.mark.parametrize("connect", HERE, indirect=True)`."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """On libSQL one example of each test: its SQL is SQLite's, and what differs, the wire, is the same for all examples."""
    seen: set[tuple[Path, str]] = set()
    for item in list(items):
        values = getattr(item, "callspec", None) and item.callspec.params  # type: ignore[attr-defined]
        if values and values.get("connect") == "libsql" and item.path.is_relative_to(Path(__file__).parent):
            test = (item.path, item.originalname)  # type: ignore[attr-defined]
            if test in seen:
                items.remove(item)
            seen.add(test)


@pytest.fixture(scope="session")
def libsql_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LibSQLDatabase]:
    """One libSQL server for all tests of the ledger; each empties its database before it begins."""
    server = Server(tmp_path_factory.mktemp("libsql") / "sqld")
    yield server.database
    server.stop()


def emptied(database: LibSQLDatabase) -> LibSQLDatabase:
    """The database without anything in it: children before their parents, which stand before them in the schema."""
    kinds = "type IN ('table', 'view') AND name NOT GLOB 'sqlite_*' AND name NOT GLOB 'libsql_*'"
    found = database.rows(f"SELECT type, name, sql FROM sqlite_schema WHERE {kinds} ORDER BY rowid DESC")
    virtual = [name for _, name, sql in found if str(sql).upper().startswith("CREATE VIRTUAL")]
    drops = [f'DROP {kind} "{name}"' for kind, name, _ in found if not any(name.startswith(f"{table}_") for table in virtual)]
    if drops:
        database.setup("PRAGMA defer_foreign_keys = ON", *drops)
    return database


@pytest.fixture(params=[*HERE, "d1", "libsql"])
def connect(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Host]:
    """Opens hosts, all on one new database."""
    if request.param == "d1":
        return request.getfixturevalue("d1_server").fresh().host
    if request.param == "libsql":
        return emptied(request.getfixturevalue("libsql_server")).host
    path = tmp_path / "ledger.db"
    connection = apsw.Connection(str(path))
    connection.pragma("journal_mode", "wal")
    connection.close()
    if request.param == "like-d1":
        return lambda: limited_like_d1(apsw.Connection(str(path)))
    return lambda: SQLite(path)


@pytest.fixture
def empty(connect: Callable[[], Host]) -> Iterator[Database]:
    database = Database(connect)
    yield database
    database.close()


@pytest.fixture
def jobs(empty: Database) -> Database:
    """The ledger preset's tables."""
    empty.script(*split((files("retention.presets") / "ledger" / "schema.sql").read_text()))
    return empty


@pytest.fixture
def notes(empty: Database) -> Database:
    empty.script(*split(NOTES_SCHEMA))
    return empty


CLAIMED = "workspaces|nodes|agents|channels|session_events|workspace_events|workspace_create_idempotency"
"""The relay preset's tables that claims are about, and those that these refer to."""


@pytest.fixture
def relay(empty: Database) -> Database:
    """The relay preset's tables, as far as claims go."""
    script = split((files("retention.presets") / "relay" / "schema.sql").read_text())
    about = re.compile(rf"CREATE (TABLE ({CLAIMED})\b|(UNIQUE )?INDEX \w+ ON ({CLAIMED})\b|TRIGGER (?s:.*?) ON ({CLAIMED})\b)")
    empty.script(*(statement for statement in script if about.match(statement)))
    return empty

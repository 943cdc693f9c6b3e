from __future__ import annotations

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

__all__ = ["d1_server"]


HERE = ["sqlite", "like-d1"]
"""Hosts in this process: for tests with many examples, `@pytest.mark.parametrize("connect", HERE, indirect=True)`."""


@pytest.fixture(params=[*HERE, "d1"])
def connect(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Host]:
    """Opens hosts, all on one new database."""
    if request.param == "d1":
        return request.getfixturevalue("d1_server").fresh().host
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


@pytest.fixture
def relay(empty: Database) -> Database:
    """The relay preset's tables."""
    empty.script(*split((files("retention.presets") / "relay" / "schema.sql").read_text()))
    return empty

"""Databases beside a plain file on which all must be the same: SQLite with D1's limits, real D1, real libSQL."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from retention import Receipt
from retention.errors import HostError
from retention.hosts.base import Host
from retention.hosts.d1 import AsyncD1
from retention.hosts.libsql import AsyncLibSQL
from retention.hosts.sqlite_like_d1 import limited_like_d1
from retention.steps import Batch, Statement
from tests.conformance.script import script
from tests.d1.fixtures import Servers
from tests.libsql import fixtures as libsql

__all__ = ["PLACES", "Place", "opened", "said"]

PLACES = ("sqlite-like-d1", "d1", "libsql")


SAME = (
    "rule", "table", "cutoff", "walk", "mode", "scanned", "deleted", "undated", "unreadable", "held", "referenced", "too_large",
    "malformed_tenants",
)  # fmt: skip
"""What a receipt says of a rule on every host alike: neither timings nor meters."""


def said(receipt: Receipt) -> list[dict[str, Any]]:
    """What a receipt must say on every host."""
    return [{name: getattr(rule, name) for name in SAME} for rule in receipt.rules]


class Answer(list[tuple[Any, ...]]):
    """Rows, as a cursor would give them."""

    def fetchall(self) -> list[tuple[Any, ...]]:
        return self


@dataclass(frozen=True)
class Client:
    """Another client of a libSQL server, with the part of a connection's face that the tests use."""

    database: libsql.Database

    def execute(self, sql: str) -> Answer:
        try:
            with self.database.host() as host:
                return Answer(host.execute(Batch((Statement(sql),), writes=not sql.startswith("SELECT")))[0].rows)
        except HostError as error:
            if error.kind == "constraint":
                raise apsw.ConstraintError(str(error)) from error
            raise


@dataclass(frozen=True)
class Place:
    """A database whose contents a test replaces.

    Attributes:
        name: of the host, for messages.
        host: what a run goes to.
        beside: another client: it looks past the host, and writes between its steps.
        setup: executes statements as one batch.
        connect: another host for the same database, over the network; its arguments are the host's.
        aconnect: an asynchronous one.
        log: the statements that the server executed since it was last emptied, where it says so.
        empty_log: empties it.
    """

    name: str
    host: Host
    beside: Any
    setup: Callable[[Sequence[str]], object]
    connect: Callable[..., Any] | None = None
    aconnect: Callable[[], Any] | None = None
    log: Callable[[], list[str]] | None = None
    empty_log: Callable[[], object] = lambda: None

    def empty(self) -> None:
        """Drop everything. Children first, which were made after their parents: dropping a table deletes its rows."""
        tables = (
            "SELECT s.name FROM sqlite_schema AS s JOIN pragma_table_list AS t ON t.schema = 'main' AND t.name = s.name "
            "WHERE s.type = 'table' AND t.type IN ('table', 'virtual') AND s.name NOT LIKE 'sqlite_%' AND s.name NOT LIKE '_cf_%' "
            "ORDER BY s.rowid DESC"
        )
        self.setup(("PRAGMA defer_foreign_keys = on", *(f'DROP TABLE "{t}"' for (t,) in self.beside.execute(tables).fetchall())))

    def load(self, source: apsw.Connection) -> None:
        """Make the database equal to `source`."""
        self.empty()
        self.setup(script(source))


@contextmanager
def opened(name: str, servers: Servers, directory: Path) -> Generator[Place]:
    """A place by its name."""
    match name:
        case "d1":
            database = servers.fresh()
            beside = apsw.Connection(str(servers.file(database)))
            beside.set_busy_timeout(5_000)
            beside.execute("PRAGMA foreign_keys = ON")

            def statements() -> list[str]:
                return [s if isinstance(s, str) else s["sql"] for request in database.log() for s in request["statements"]]

            def awaited() -> AsyncD1:
                return AsyncD1(database.account, database.id, token=database.token, base_url=database.url)

            with database.host() as host:
                yield Place(name, host, beside, lambda sql: database.setup(*sql), database.host, awaited, statements, database.reset)
            beside.close()
        case "libsql":
            server = libsql.Server(directory / "sqld")
            try:
                with server.database.host() as host:
                    url, connect = server.database.url, server.database.host
                    yield Place(
                        name, host, Client(server.database), lambda sql: server.database.setup(*sql), connect, lambda: AsyncLibSQL(url)
                    )
            finally:
                server.stop()
        case _:
            path = str(directory / "limited.db")
            con, beside = apsw.Connection(path), apsw.Connection(path)
            beside.execute("PRAGMA foreign_keys = ON")
            with limited_like_d1(con) as host:
                yield Place(name, host, beside, lambda sql: beside.execute("BEGIN;" + ";".join(sql) + ";COMMIT"))
            con.close()
            beside.close()

"""What the database is, as values. Read by `retention.schema.reader`, used by the planner."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

__all__ = ["Action", "Affinity", "Column", "ForeignKey", "Index", "IndexColumn", "Schema", "Table", "Trigger", "fold"]

Affinity = Literal["INTEGER", "REAL", "NUMERIC", "TEXT", "BLOB"]
Action = Literal["NO ACTION", "RESTRICT", "SET NULL", "SET DEFAULT", "CASCADE"]

_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def fold(name: str) -> str:
    """A name as SQLite compares it: the letters A to Z in lower case, all others as they are (`Ä` and `ä` are two names)."""
    return name.translate(_ASCII_LOWER)


@dataclass(frozen=True, slots=True)
class Column:
    """A column. `affinity` follows sqlite.org/datatype3.html section 3.1; `pk` is its 1-based place in the primary key, else 0.

    `collation` is the one declared for the column, in upper case. An index may use another.
    """

    name: str
    declared: str
    affinity: Affinity
    notnull: bool
    default: str | None
    pk: int
    generated: bool = False
    collation: str = "BINARY"


@dataclass(frozen=True, slots=True)
class IndexColumn:
    """A key column of an index; `name` is None for an expression, and for the rowid. `collation` is in upper case."""

    name: str | None
    descending: bool
    collation: str


@dataclass(frozen=True, slots=True)
class Index:
    """An index. `where` is a partial index's condition verbatim from the schema; `origin` is `c` (CREATE INDEX), `u` or `pk`."""

    name: str
    table: str
    columns: tuple[IndexColumn, ...]
    unique: bool
    origin: Literal["c", "u", "pk"]
    partial: bool
    where: str | None = None
    sql: str | None = None


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """`child.columns` refers to `parent.parent_columns` (resolved: never empty while the parent exists).

    `indexed` tells whether an index of the child starts with all of `columns` (in any order) and serves every row: not partial,
    but for an index whose whole WHERE is `column IS NOT NULL`, which a child look-up never needs more than. The child's rowid and its
    unique keys serve too, where all their columns are among `columns`. An index of another collation or affinity than the look-up's
    does not count, because SQLite cannot use it.

    `parent_columns` is empty after all where SQLite would answer "foreign key mismatch": an implicit reference to a table whose
    primary key does not fit, or a column that is not there.
    """

    child: str
    columns: tuple[str, ...]
    parent: str
    parent_columns: tuple[str, ...]
    on_delete: Action
    deferred: bool
    indexed: bool
    parent_exists: bool = True


@dataclass(frozen=True, slots=True)
class Trigger:
    """A trigger on `table`.

    Attributes:
        event: DELETE, UPDATE or INSERT.
        writes: the tables its body writes to, as far as its text tells. inserts: those that it inserts into.
        ignores: it may let a row stay without an error, by RAISE(IGNORE).
    """

    name: str
    table: str
    event: Literal["DELETE", "UPDATE", "INSERT"]
    sql: str
    writes: tuple[str, ...] = ()
    inserts: tuple[str, ...] = ()
    ignores: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table, view, virtual or shadow table.

    Attributes:
        columns: without any where SQLite cannot tell a view's or a virtual table's (a broken view, a module that is not loaded).
        rowid: the alias by which the rowid can be reached (`rowid`, `_rowid_`, `oid`, or an INTEGER PRIMARY KEY column's name where all
            three are shadowed); None for WITHOUT ROWID tables, views, and where no alias is left.
        integer_pk: the INTEGER PRIMARY KEY column that is the rowid, or None.
        primary_key: the primary key's columns in key order (empty where there is none).
        pk_collations: collation of each of them.
        autoincrement: whether rowids are never used again.
    """

    name: str
    kind: Literal["table", "view", "virtual", "shadow"]
    columns: tuple[Column, ...]
    without_rowid: bool = False
    strict: bool = False
    rowid: str | None = "rowid"
    integer_pk: str | None = None
    primary_key: tuple[str, ...] = ()
    pk_collations: tuple[str, ...] = ()
    autoincrement: bool = False
    sql: str | None = None
    indexes: tuple[Index, ...] = ()
    triggers: tuple[Trigger, ...] = ()
    parents: tuple[ForeignKey, ...] = ()
    children: tuple[ForeignKey, ...] = ()

    def column(self, name: str) -> Column | None:
        """The column of that name, compared as SQLite does (ASCII case-insensitive), or None."""
        low = fold(name)
        return next((c for c in self.columns if fold(c.name) == low), None)


@dataclass(frozen=True, slots=True)
class Schema:
    """All tables by name, without `sqlite_*`, `_cf_*` and `d1_migrations`.

    Attributes:
        fingerprint: a digest of the schema's text; equal while nothing was created, altered or dropped.
        hidden: those before which a temporary table of this connection stands.
    """

    tables: dict[str, Table] = field(default_factory=dict[str, Table])
    fingerprint: str = ""
    hidden: tuple[str, ...] = ()

    def table(self, name: str) -> Table | None:
        """The table of that name, compared as SQLite does, or None."""
        exact = self.tables.get(name)
        if exact is not None:
            return exact
        low = fold(name)
        return next((t for t in self.tables.values() if fold(t.name) == low), None)

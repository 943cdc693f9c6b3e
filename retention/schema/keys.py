"""The keys by which a table can be walked: its rowid, its primary key, or an index led by its age (design: "Walk").

A key is a run of columns in the order of one b-tree that is unique over the rows it visits. The functions say what a table offers;
the planner chooses, and checks what only a rule tells: whether the age's format is stored in the order of time, and whether a partial
index's WHERE fits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .ddl import not_null_terms
from .model import Affinity, Index, Table, fold

__all__ = ["Key", "KeyColumn", "age_index_keys", "never_null", "primary_key", "rowid_key"]


@dataclass(frozen=True, slots=True)
class KeyColumn:
    """A column of a key, or the rowid under the name that reaches it.

    Attributes:
        name: to be quoted.
        affinity: tells how a bound value must be cast.
        collation: of the b-tree, in upper case; the same as the column's own, so that a comparison needs no COLLATE.
    """

    name: str
    affinity: Affinity
    collation: str = "BINARY"


@dataclass(frozen=True, slots=True)
class Key:
    """A unique order in which a table's rows can be visited.

    Attributes:
        kind: the walk that it serves.
        columns: most significant first. Where the age is followed by the rowid (SQLite's own, or an INTEGER PRIMARY KEY that the
            index names), SQLite does not seek it as a part of a row value: pages are then whole ages, and one age is walked by rowid.
        index: the index's name, for INDEXED BY; None for a rowid and a primary key.
        where: a partial index's condition, verbatim: the walk visits only rows for which it is true.
        tie: whether the last column is such a rowid, under whichever name.
        descending: the b-tree is stored in falling order in every column, so that a rising walk reads it backwards.
    """

    kind: Literal["rowid", "primary_key", "index"]
    columns: tuple[KeyColumn, ...]
    index: str | None = None
    where: str | None = None
    tie: bool = False
    descending: bool = False


def rowid_key(table: Table) -> Key | None:
    """The rowid; None for a WITHOUT ROWID table, and where columns hide all of its names."""
    return None if table.rowid is None else Key("rowid", (KeyColumn(table.rowid, "INTEGER"),))


def primary_key(table: Table) -> Key | None:
    """A WITHOUT ROWID table's primary key; None for any other table, and for a key that no row value can seek.

    SQLite seeks a row value only in columns that all rise or all fall, and compares each with its column's collation.
    """
    stored = next((index for index in table.indexes if index.origin == "pk"), None)
    if not table.without_rowid or stored is None:
        return None
    columns = _columns(table, stored)
    directions = {part.descending for part in stored.columns}
    return Key("primary_key", columns, descending=True in directions) if columns and len(directions) == 1 else None


def age_index_keys(table: Table, column: str) -> tuple[Key, ...]:
    """The indexes led by an age column that can carry a walk, best first: whole before partial, then fewer columns, then by name.

    An index qualifies if it rises in every column, has no expression, keeps each column's own collation, has no NULL behind the age
    (a row value with a NULL compares as unknown, so its row would be passed over), and orders its rows uniquely: it is UNIQUE, or
    holds the primary key, or is the age alone or with the INTEGER PRIMARY KEY behind it, where the rowid breaks ties. A partial index
    whose WHERE tests a NOT NULL column for NOT NULL is passed over: SQLite drops that term from a query, and then finds that the query
    does not fit the index.

    Args:
        table: with its indexes.
        column: the age's column, in any ASCII case.
    """
    keys = [key for index in table.indexes if (key := _index_key(table, index, column)) is not None]
    return tuple(sorted(keys, key=lambda key: (key.where is not None, len(key.columns), key.index)))


def _index_key(table: Table, index: Index, column: str) -> Key | None:
    columns = _columns(table, index)
    if not columns or fold(columns[0].name) != fold(column) or any(part.descending for part in index.columns):
        return None
    if table.without_rowid and index.origin == "pk":
        return None  # It is the table itself, the walk by primary key.
    if not all(never_null(table, part.name) for part in columns[1:]):
        return None
    tested = not_null_terms(index.where or "")
    if any(name is not None and name != fold(column) and never_null(table, name) for name in tested):
        return None
    if table.integer_pk is not None and any(part.name == table.integer_pk for part in columns):
        # The rowid under its own name: SQLite seeks no row value in it, only `age = ? AND rowid > ?`.
        return Key("index", columns, index.name, index.where, tie=True) if len(columns) == 2 else None
    if index.unique or _holds_primary_key(table, columns):
        return Key("index", columns, index.name, index.where)
    if len(columns) == 1 and table.rowid is not None:
        return Key("index", (*columns, KeyColumn(table.rowid, "INTEGER")), index.name, index.where, tie=True)
    return None


def _columns(table: Table, index: Index) -> tuple[KeyColumn, ...]:
    """The index's columns; none at all where it has an expression, a column twice or another collation than the column's."""
    found = [(part, table.column(part.name)) for part in index.columns if part.name is not None]
    columns = tuple(KeyColumn(c.name, c.affinity, c.collation) for part, c in found if c is not None and part.collation == c.collation)
    return columns if len({c.name for c in columns}) == len(index.columns) else ()


def never_null(table: Table, name: str) -> bool:
    """Whether a column holds no NULL, as the schema says."""
    column = table.column(name)
    return column is not None and (column.notnull or column.name == table.integer_pk)


def _holds_primary_key(table: Table, columns: tuple[KeyColumn, ...]) -> bool:
    """Whether equal keys mean equal primary keys: each column of it is there, and compared no more coarsely than the primary key does."""
    own = {fold(column.name): column.collation for column in columns}
    key = [(fold(name), collation) for name, collation in zip(table.primary_key, table.pk_collations, strict=True)]
    return bool(key) and all(own.get(name) in ("BINARY", collation) for name, collation in key)

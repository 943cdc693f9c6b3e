"""Foreign keys: whether a child look-up has an index, the index that would serve it, and what a DELETE reaches through them.

Before a parent row goes, SQLite looks for its children with `child column = parent's value` (sqlite.org/foreignkeys.html, section 3).
The comparison has the parent column's collation and follows the affinity rules of sqlite.org/datatype3.html, section 4.2; an index
of another collation or affinity does not serve it, and then the whole child table is read for each parent row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .ddl import not_null_terms
from .model import Affinity, Column, ForeignKey, Index, Schema, Table, fold

__all__ = ["NUMBERS", "Reach", "child_index", "is_indexed", "reach"]

NUMBERS: frozenset[Affinity] = frozenset(("INTEGER", "REAL", "NUMERIC"))
"""The affinities of a column that makes a comparison one of numbers."""


@dataclass(frozen=True, slots=True)
class Reach:
    """One foreign key through which a DELETE changes another table (or its own).

    Attributes:
        level: 1 for the table's own children, 2 for theirs, ...
        key: the foreign key; its child's rows go with CASCADE, and are changed with SET NULL and SET DEFAULT.
    """

    level: int
    key: ForeignKey


def is_indexed(child: Table, parent: Table | None, columns: tuple[str, ...], parent_columns: tuple[str, ...]) -> bool:
    """Whether a look-up of the child's rows by `columns` reads only rows that match (`ForeignKey.indexed`)."""
    wanted = {fold(name) for name in columns}
    if child.integer_pk is not None and fold(child.integer_pk) in wanted:
        return True
    needed = dict(_lookups(child, parent, columns, parent_columns))
    return any(_serves(index, needed) for index in child.indexes)


def _lookups(
    child: Table, parent: Table | None, columns: tuple[str, ...], parent_columns: tuple[str, ...]
) -> Iterator[tuple[str, str | None]]:
    """For each child column, folded: the collation that an index of it must have, or None where none can serve."""
    referred = parent_columns or ("",) * len(columns)
    for name, parent_name in zip(columns, referred, strict=True):
        column, target = child.column(name), parent.column(parent_name) if parent else None
        if column is not None:
            yield fold(name), _collation(column, target, parent) if _comparable(column, target) else None


def _comparable(column: Column, target: Column | None) -> bool:
    """Whether the child's index keeps its values in the order of the comparison: a numeric one needs a numeric index."""
    return target is None or target.affinity not in NUMBERS or column.affinity in NUMBERS


def _collation(column: Column, target: Column | None, parent: Table | None) -> str:
    """The parent column's collation; a rowid has none, so that the child's own column decides."""
    if target is None or parent is None or target.name == parent.integer_pk:
        return column.collation
    return target.collation


def _serves(index: Index, needed: dict[str, str | None]) -> bool:
    if index.partial and not set(not_null_terms(index.where or "")) <= needed.keys():
        return False
    length = len(index.columns) if index.unique and len(index.columns) < len(needed) else len(needed)
    prefix = {fold(part.name): part.collation for part in index.columns[:length] if part.name is not None}
    return len(prefix) == length and all(needed.get(name) == collation for name, collation in prefix.items())


def child_index(schema: Schema, key: ForeignKey, called: str | None = None) -> str | None:
    """The CREATE INDEX that makes `key` indexed, or None where no index can, because the columns' declared types do not compare.

    `called` is the index's name, where the usual one is taken.
    """
    child, parent = schema.table(key.child), schema.table(key.parent)
    if child is None:
        return None
    needed = dict(_lookups(child, parent, key.columns, key.parent_columns))
    parts: list[str] = []
    for name in key.columns:
        collation, column = needed.get(fold(name)), child.column(name)
        if collation is None or column is None:
            return None
        parts.append(_quoted(name) + ("" if collation == column.collation else f" COLLATE {_quoted(collation)}"))
    index = called or "_".join(("idx", key.child, *key.columns))
    return f"CREATE INDEX {_quoted(index)} ON {_quoted(key.child)} ({', '.join(parts)})"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def reach(schema: Schema, table: str) -> tuple[Reach, ...]:
    """What a DELETE from `table` changes through foreign keys, nearest first. Each key stands once, so that cycles end."""
    found: list[Reach] = []
    seen = {fold(table)}
    level, tables = 1, [table]
    while tables:
        below: list[str] = []
        for name in tables:
            owner = schema.table(name)
            for key in owner.children if owner else ():
                if key.on_delete in ("NO ACTION", "RESTRICT"):
                    continue
                found.append(Reach(level, key))
                if key.on_delete == "CASCADE" and fold(key.child) not in seen:
                    seen.add(fold(key.child))
                    below.append(key.child)
        level, tables = level + 1, below
    return tuple(found)

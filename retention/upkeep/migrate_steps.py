"""What each step of a migration finds in a schema, and the statements that it takes: pure, no database.

What exists is found by what it is, not by its name alone: columns by affinity, NOT NULL and key; indexes by their columns, order,
collations, WHERE and uniqueness, whatever they are called.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from ..policy.migration_models import AddColumn, CreateTable, MakeIndex, Migration
from ..schema.model import Column, Index, IndexColumn, Schema, Table, fold
from ..schema.reader import affinity
from ..schema.tokens import name_of, split, tokens
from ..statements.quoting import name
from .index_shape import IndexKey, alike, index_key, key_text

__all__ = ["Finding", "State", "applied", "duplicates_statement", "inspect", "probe", "statements"]

State = Literal["there", "missing", "plain", "differs"]
"""What a step finds: all of it; nothing; a plain index where a unique one is wanted; something else of the same name."""

_CONSTRAINTS = frozenset({"CONSTRAINT", "PRIMARY", "NOT", "NULL", "UNIQUE", "CHECK", "DEFAULT", "COLLATE", "REFERENCES", "GENERATED", "AS"})
"""Words that end a column's type (sqlite.org/lang_createtable.html, column-constraint)."""

SHOWN = 5
"""Duplicated keys that are named (the ledger's own number)."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a step found. `why` says what differs, or what else serves in its place."""

    state: State
    why: str = ""


def statements(step: Migration, found: Finding, *, unique: bool = True) -> tuple[str, ...]:
    """What brings the step about, in one batch. `unique` False: a plain index in place of the unique one."""
    table = name(step.table)
    if step.create is not None:
        return (_create_table(table, step.create),)
    if step.add is not None:
        return (f"ALTER TABLE {table} ADD COLUMN {name(step.add.column)} {step.add.definition}".rstrip(),)
    if step.index is not None:
        return (f"DROP INDEX {name(step.index.name)}",) * (found.state == "plain") + (_create_index(table, step.index, unique),)
    return ()


def _create_table(table: str, wanted: CreateTable) -> str:
    parts = [f"{name(column)} {definition}".rstrip() for column, definition in wanted.columns.items()]
    options = ["WITHOUT ROWID"] * wanted.without_rowid + ["STRICT"] * wanted.strict
    return f"CREATE TABLE {table} ({', '.join((*parts, *wanted.constraints))}) {', '.join(options)}".rstrip()


def _create_index(table: str, wanted: MakeIndex, unique: bool) -> str:
    kind = "UNIQUE INDEX" if wanted.unique and unique else "INDEX"
    where = f" WHERE {wanted.where}" if wanted.where else ""
    return f"CREATE {kind} {name(wanted.name)} ON {table} ({', '.join(map(key_text, wanted.on))}){where}"


def duplicates_statement(table: str, wanted: MakeIndex) -> str:
    """The first duplicated keys of a unique index to be: one row each, its parts and how many rows have it.

    NULLs are never equal to each other in an index; the empty text is, unless the index's own WHERE leaves it out.
    """
    keys = [key_text(text, order=False) for text in wanted.on]
    terms = [f"({key}) IS NOT NULL" for key in keys] + ([f"({wanted.where})"] if wanted.where else [])
    shown = ", ".join((*(f"quote({key})" for key in keys), "CAST(count(*) AS TEXT)"))
    where, group = " AND ".join(terms), ", ".join(keys)
    return f"SELECT {shown} FROM {name(table)} WHERE {where} GROUP BY {group} HAVING count(*) > 1 LIMIT {SHOWN}"


def probe(wanted: AddColumn, table: Table) -> str:
    """A CREATE TABLE that is refused for what is wrong in the column's expressions, which ALTER TABLE says only when it runs."""
    kind, options = (" ANY", " STRICT") if table.strict else ("", "")
    columns = ", ".join([*(name(c.name) + kind for c in table.columns), f"{name(wanted.column)} {wanted.definition}".rstrip()])
    return f'CREATE TABLE "retention_probe" ({columns}){options}'


def inspect(step: Migration, schema: Schema, later: Sequence[Migration] = ()) -> Finding:
    """What a step finds in a schema.

    Args:
        later: the steps behind it: columns that they add may be missing from a table that is there.
    """
    table = schema.table(step.table)
    if step.create is not None:
        return _inspect_table(step.create, step.table, table, later)
    if table is None:
        return Finding("differs", f"there is no table {step.table}; correct the name, or add a step that creates it before this one")
    if table.kind != "table":
        return Finding("differs", f"{step.table} is a {table.kind}, not an ordinary table; correct the name")
    if step.add is not None:
        return _inspect_column(step.add.column, step.add.definition, table) or Finding("missing")
    if step.index is not None:
        return _inspect_index(step.index, table, schema)
    return Finding("missing")


def _inspect_table(wanted: CreateTable, called: str, table: Table | None, later: Sequence[Migration]) -> Finding:
    if table is None:
        return Finding("missing")
    if table.kind != "table":
        return Finding("differs", f"{called} is a {table.kind} here; choose another name")
    added = {fold(step.add.column) for step in later if step.add is not None and fold(step.table) == fold(called)}
    for column, definition in wanted.columns.items():
        found = _inspect_column(column, definition, table)
        if found is None and fold(column) not in added:
            return Finding("differs", f"{called} is there without the column {column}; add a step with add = {{ column = ... }} behind it")
        if found is not None and found.state == "differs":
            return found
    primary, unique = _keys(wanted)
    own = tuple(map(fold, table.primary_key))
    there = [tuple(fold(c.name or "") for c in index.columns) for index in table.indexes if index.unique and not index.partial]
    for what, wanted_keys, keys in (("primary key", primary, [own]), ("unique key", unique, [*there, own])):
        missing = next((key for key in wanted_keys if key not in keys), None)
        if missing is not None:
            return Finding("differs", f"{called} is there without its {what} ({', '.join(missing)}); {_rebuild(table)}")
    for what, one, other in (("WITHOUT ROWID", wanted.without_rowid, table.without_rowid), ("STRICT", wanted.strict, table.strict)):
        if one != other:
            return Finding("differs", f"{called} is there {'without' if one else 'with'} {what}; {_rebuild(table)}")
    return Finding("there")


Keys = list[tuple[str, ...]]


def _keys(wanted: CreateTable) -> tuple[Keys, Keys]:
    """The primary key, in a list that is empty without one, and the unique keys, as folded names."""
    primary: Keys = []
    unique: Keys = []
    for column, definition in wanted.columns.items():
        words = [token.keyword for token in tokens(definition) if token.depth == 0]
        primary += [(fold(column),)] * ("PRIMARY" in words)
        unique += [(fold(column),)] * ("UNIQUE" in words)
    for constraint in wanted.constraints:
        parts = tokens(constraint)
        start = 2 if parts[0].keyword == "CONSTRAINT" else 0
        kinds = {"PRIMARY": primary, "UNIQUE": unique}
        if len(parts) > start and parts[start].keyword in kinds:
            listed = split(tuple(part for part in parts if part.depth == 1), ",", 1)
            kinds[parts[start].keyword].append(tuple(fold(name_of(item[0])) for item in listed if item))
    return primary, unique


def _inspect_column(column: str, definition: str, table: Table) -> Finding | None:
    """The column as it is there; None if it is not."""
    there = table.column(column)
    if there is None:
        return None
    wanted = _column(column, definition, table.strict)
    # A primary key of an ordinary table may say NOT NULL or not; what it means depends on the rest of the table.
    same_null = there.pk > 0 or wanted.pk > 0 or wanted.notnull == there.notnull
    if wanted.affinity == there.affinity and same_null and wanted.generated == there.generated:
        return Finding("there")
    shown = " ".join([there.declared or "without a type", *["NOT NULL"] * there.notnull, *["and computed"] * there.generated])
    return Finding("differs", f"{table.name}.{there.name} is {shown} here, not {definition or 'without a type'}; {_rebuild(table)}")


def _rebuild(table: Table) -> str:
    """Why no step changes what is there."""
    losing = sorted({key.child for key in table.children if key.on_delete in ("CASCADE", "SET NULL", "SET DEFAULT")})
    loses = f", and to drop the old one would delete or change the rows of {', '.join(losing)}" if losing else ""
    return f"SQLite cannot change that without making the table anew{loses}; correct the step, or change the table by hand"


def _column(column: str, definition: str, strict: bool) -> Column:
    parts = tokens(definition)
    top = [part.keyword for part in parts if part.depth == 0]
    kind: list[str] = []
    for part in parts:
        if part.depth == 0 and part.keyword in _CONSTRAINTS:
            break
        kind.append(part.text)
    declared = " ".join(kind)
    return Column(
        name=column,
        declared=declared,
        affinity=affinity(declared, strict),
        notnull=any(word == "NULL" and before == "NOT" for before, word in pairwise(top)),
        default=None,
        pk=1 if "PRIMARY" in top else 0,
        generated="AS" in top or "GENERATED" in top,
    )


def _inspect_index(wanted: MakeIndex, table: Table, schema: Schema) -> Finding:
    # SQLite indexes the rowid only under the name of its column; another name in quotes it would take for a text.
    named = [key.name for text in wanted.on if (key := index_key(text)).name is not None]
    missing = next((called for called in named if table.column(called) is None), None)
    if missing is not None:
        return Finding("differs", f"{table.name} has no column {missing}; correct the name, or add a step that adds it before this one")
    twins = [index for index in table.indexes if alike(wanted, index, table)]
    serving = next((index for index in twins if index.unique or not wanted.unique), None)
    if serving is not None:
        return Finding("there", "" if fold(serving.name) == fold(wanted.name) else f"as {serving.name}")
    called = next((i for t in schema.tables.values() for i in t.indexes if fold(i.name) == fold(wanted.name)), None)
    if called is not None and called not in twins:
        return Finding("differs", f"{called.name} is another index here, on {called.table}; choose another name, or drop it by hand")
    return Finding("plain" if called is not None else "missing")


# --- the schema behind a step


def applied(step: Migration, schema: Schema) -> Schema:
    """The schema as it will be once the step is done, as far as later steps ask."""
    table = schema.table(step.table)
    if step.create is not None and table is None:
        table = _as_table(step.table, step.create)
    elif step.add is not None and table is not None and table.column(step.add.column) is None:
        table = replace(table, columns=(*table.columns, _column(step.add.column, step.add.definition, table.strict)))
    elif step.index is not None and table is not None:
        table = replace(table, indexes=(*table.indexes, _as_index(step.index, table)))
    return schema if table is None else replace(schema, tables={**schema.tables, table.name: table})


def _as_table(called: str, wanted: CreateTable) -> Table:
    primary, unique = _keys(wanted)
    key = primary[0] if primary else ()
    columns = tuple(_column(column, definition, wanted.strict) for column, definition in wanted.columns.items())
    columns = tuple(replace(c, pk=key.index(fold(c.name)) + 1 if fold(c.name) in key else 0) for c in columns)
    keyed = [c for c in columns if c.pk]
    rowid = keyed[0].name if len(keyed) == 1 and fold(keyed[0].declared) == "integer" and not wanted.without_rowid else None
    empty = Table(called, "table", columns, wanted.without_rowid, wanted.strict, None if wanted.without_rowid else "rowid", rowid, key)
    keys = [tuple(map(name, names)) for names in unique]
    made = [_as_index(MakeIndex(name=f"sqlite_autoindex_{called}_{n}", on=on, unique=True), empty) for n, on in enumerate(keys)]
    return replace(empty, indexes=tuple(made))


def _as_index(wanted: MakeIndex, table: Table) -> Index:
    keys = [index_key(text) for text in wanted.on]

    def collation(key: IndexKey) -> str:
        column = table.column(key.name) if key.name else None
        return key.collation or (column.collation if column else "BINARY")

    columns = tuple(IndexColumn(key.name, key.descending, collation(key)) for key in keys)
    sql = _create_index(name(table.name), wanted, True)
    return Index(wanted.name, table.name, columns, wanted.unique, "c", wanted.where is not None, wanted.where, sql)

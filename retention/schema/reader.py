"""Reads the whole live schema with one statement.

One statement is one snapshot: another connection's CREATE or DROP cannot fall between two of its parts, and it costs one statement of
a budget. Its five terms are the most that D1 takes in a compound SELECT. It uses the schema's PRAGMAs only as tables, which D1 allows,
and each row is a JSON object, in which integers arrive exactly on every host.

A broken view, or a virtual table whose module is not loaded, has no columns here: asking for them would fail the whole statement.
`pragma_table_list.ncol` is 0 for those, and beside one of those may be 0 for other views and virtual tables too, never for a table.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..capabilities import Capabilities
from ..errors import HostError
from ..steps import Batch, Engine, Statement, Value
from .ddl import autoincrement, column_collations, deferrals, index_where, trigger_event, trigger_ignores, trigger_inserts, trigger_writes
from .foreign_keys import is_indexed
from .model import Affinity, Column, ForeignKey, Index, IndexColumn, Schema, Table, Trigger, fold
from .taken import check_taken

__all__ = ["affinity", "fingerprint", "fingerprint_statement", "is_ours", "read"]

_READ = """
WITH every(name, kind, without_rowid, strict, columns, main) AS MATERIALIZED (
  SELECT name, type, wr, strict, ncol, schema = 'main' FROM pragma_table_list
  WHERE schema IN ('main', 'temp') AND lower(substr(name, 1, 7)) <> 'sqlite_' AND lower(substr(name, 1, 4)) <> '_cf_'),
t AS (SELECT * FROM every WHERE main)
SELECT 'object' AS part, tbl_name AS owner,
  json_object('place', rowid, 'type', type, 'name', name, 'sql', sql) AS value FROM sqlite_schema
UNION ALL
SELECT CASE WHEN main THEN 'table' ELSE 'temporary' END, name,
  json_object('kind', kind, 'without_rowid', without_rowid, 'strict', strict) FROM every
UNION ALL
SELECT 'column', t.name,
  json_object('place', c.cid, 'name', c.name, 'type', c.type, 'notnull', c."notnull", 'default', c.dflt_value,
    'pk', c.pk, 'hidden', c.hidden)
  FROM t CROSS JOIN pragma_table_xinfo(t.name, 'main') AS c WHERE t.columns > 0
UNION ALL
SELECT 'index', t.name,
  json_object('name', i.name, 'unique', i."unique", 'origin', i.origin, 'partial', i.partial,
    'place', x.seqno, 'column', x.name, 'descending', x."desc", 'collation', x.coll)
  FROM t CROSS JOIN pragma_index_list(t.name, 'main') AS i CROSS JOIN pragma_index_xinfo(i.name, 'main') AS x
  WHERE t.kind IN ('table', 'shadow') AND x."key" = 1
UNION ALL
SELECT 'key', t.name,
  json_object('id', f.id, 'place', f.seq, 'parent', f."table", 'from', f."from", 'to', f."to", 'on_delete', f.on_delete)
  FROM t CROSS JOIN pragma_foreign_key_list(t.name, 'main') AS f WHERE t.kind = 'table'
"""
_READ_TEMPORARY = f"""SELECT * FROM ({_READ}) UNION ALL
SELECT 'passing', tbl_name, json_object('type', type, 'name', name, 'sql', sql) FROM sqlite_temp_schema WHERE type = 'trigger'
"""
"""Temporary triggers of a connection that was handed over act on the database's own tables. Remote hosts have none."""
_FINGERPRINT = "SELECT type, name, tbl_name, sql FROM sqlite_schema"
_ROWID_NAMES = ("rowid", "_rowid_", "oid")
_GENERATED = (2, 3)  # table_xinfo's `hidden` for a virtual and for a stored generated column

Part = dict[str, Any]
"""One row of the statement: its JSON object, and its table's name as `owner`."""


def read(capabilities: Capabilities) -> Engine[Schema]:
    """Read the live schema with one statement.

    Args:
        capabilities: the host's.

    Raises:
        Refused: a table has a name that our statements need.
        HostError: as the host raised it.
    """
    try:
        results = yield Batch((Statement(_READ if capabilities.remote else _READ_TEMPORARY),))
    except HostError as error:
        if error.kind in ("schema", "error") and not error.retryable:
            # Perhaps because of a table that hides one of the statement's own.
            names = yield Batch((Statement("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')"),))
            check_taken(str(row[0]) for row in (names[0].rows if names else ()))
        raise
    return _schema(results[0].rows if results else ())


def fingerprint_statement() -> Statement:
    """One cheap statement whose rows `fingerprint` turns into `Schema.fingerprint`: equal while the schema has not changed."""
    return Statement(_FINGERPRINT)


def fingerprint(rows: Iterable[Sequence[Value]]) -> str:
    """The digest (16 hex digits of SHA-256) of rows `(type, name, tbl_name, sql)` of `sqlite_schema`, in any order."""
    ours = sorted(["" if value is None else str(value) for value in row] for row in rows if is_ours(str(row[2])))
    return hashlib.sha256(json.dumps(ours).encode()).hexdigest()[:16]


def is_ours(table: str) -> bool:
    """Whether a table is the application's: not SQLite's own, not D1's, not the list of D1's migrations."""
    name = fold(table)
    return not name.startswith(("sqlite_", "_cf_")) and name != "d1_migrations"


_AFFINITIES: tuple[tuple[tuple[str, ...], Affinity], ...] = (
    (("int",), "INTEGER"),
    (("char", "clob", "text"), "TEXT"),
    (("blob",), "BLOB"),
    (("real", "floa", "doub"), "REAL"),
)


def affinity(declared: str, strict: bool = False) -> Affinity:
    """A column's affinity by its declared type: the first rule that fits (sqlite.org/datatype3.html, 3.1; for ANY stricttables.html)."""
    name = fold(declared)
    if not name or (strict and name == "any"):
        return "BLOB"
    for parts, found in _AFFINITIES:
        if any(part in name for part in parts):
            return found
    return "NUMERIC"


@dataclass(frozen=True, slots=True)
class _Parts:
    """What was read, by table; each list in its own order."""

    columns: Mapping[str, list[Part]]
    indexes: Mapping[str, list[Part]]
    keys: Mapping[str, list[Part]]
    triggers: Mapping[str, list[Part]]
    texts: Mapping[tuple[str, str], str | None]


def _schema(rows: Sequence[Sequence[Any]]) -> Schema:
    found: dict[str, list[Part]] = defaultdict(list)
    for part, owner, value in rows:
        found[part].append({"owner": owner, **json.loads(value)})
    objects = sorted(found["object"], key=_place)
    check_taken(row["name"] for row in objects if row["type"] in ("table", "view"))
    parts = _Parts(
        columns=_grouped(found["column"]),
        indexes=_grouped(found["index"]),
        keys=_grouped(found["key"]),
        # A trigger's `tbl_name` is spelt as the trigger spells it.
        triggers=_grouped([row | {"owner": fold(row["owner"])} for row in (*objects, *found["passing"]) if row["type"] == "trigger"]),
        texts={(row["type"], row["name"]): row["sql"] for row in objects},
    )
    created = {row["name"]: row["place"] for row in objects}
    temporary = {fold(row["owner"]) for row in found["temporary"]}
    listed = sorted(found["table"], key=lambda row: created.get(row["owner"], 0))
    every = _with_keys({row["owner"]: _table(row, parts) for row in listed}, parts)
    return Schema(
        tables={name: table for name, table in every.items() if is_ours(name)},
        fingerprint=fingerprint((row["type"], row["name"], row["owner"], row["sql"]) for row in objects),
        hidden=tuple(name for name in every if fold(name) in temporary),
    )


def _place(part: Part) -> int:
    return part["place"]


def _grouped(rows: Iterable[Part], name: str = "owner") -> defaultdict[str, list[Part]]:
    found: defaultdict[str, list[Part]] = defaultdict(list)
    for row in rows:
        found[row[name]].append(row)
    return found


def _table(row: Part, parts: _Parts) -> Table:
    name, kind = row["owner"], row["kind"]
    stored, without_rowid, strict = kind in ("table", "shadow"), bool(row["without_rowid"]), bool(row["strict"])
    sql = parts.texts.get(("view" if kind == "view" else "table", name))
    collations = column_collations(sql) if stored and sql else {}
    columns = tuple(_column(column, strict, collations) for column in sorted(parts.columns[name], key=_place))
    indexes = tuple(_index(keys, parts) for _, keys in sorted(_grouped(parts.indexes[name], "name").items()))
    keyed = sorted((column for column in columns if column.pk), key=lambda column: column.pk)
    stored_key = next((index for index in indexes if index.origin == "pk"), None)
    # `PRIMARY KEY(id DESC)` is the rowid, a column's own `INTEGER PRIMARY KEY DESC` is not: only the latter has an index.
    integer_pk = keyed[0].name if len(keyed) == 1 and stored_key is None and fold(keyed[0].declared) == "integer" else None
    primary_key = stored_key.columns if stored_key else keyed
    return Table(
        name=name,
        kind=kind,
        columns=columns,
        without_rowid=without_rowid,
        strict=strict,
        rowid=_rowid(columns, integer_pk) if stored and not without_rowid else None,
        integer_pk=integer_pk,
        primary_key=tuple(part.name or "" for part in primary_key),
        pk_collations=tuple(part.collation for part in primary_key),
        autoincrement=integer_pk is not None and sql is not None and autoincrement(sql),
        sql=sql,
        indexes=indexes,
        triggers=tuple(_trigger(trigger, name) for trigger in parts.triggers[fold(name)]),
    )


def _column(row: Part, strict: bool, collations: Mapping[str, str]) -> Column:
    declared = row["type"] or ""
    return Column(
        name=row["name"],
        declared=declared,
        affinity=affinity(declared, strict),
        notnull=bool(row["notnull"]),
        default=row["default"],
        pk=row["pk"],
        generated=row["hidden"] in _GENERATED,
        collation=collations.get(fold(row["name"]), "BINARY"),
    )


def _rowid(columns: tuple[Column, ...], integer_pk: str | None) -> str | None:
    """The first name that still means the rowid: a column of that name hides it, unless the column is the rowid itself."""
    hidden = {fold(column.name) for column in columns if column.name != integer_pk}
    return next((name for name in _ROWID_NAMES if name not in hidden), integer_pk)


def _index(keys: list[Part], parts: _Parts) -> Index:
    first = keys[0]
    sql = parts.texts.get(("index", first["name"]))
    return Index(
        name=first["name"],
        table=first["owner"],
        columns=tuple(IndexColumn(key["column"], bool(key["descending"]), key["collation"].upper()) for key in sorted(keys, key=_place)),
        unique=bool(first["unique"]),
        origin=first["origin"],
        partial=bool(first["partial"]),
        where=index_where(sql) if sql else None,
        sql=sql,
    )


def _trigger(row: Part, table: str) -> Trigger:
    sql = row["sql"]
    return Trigger(
        row["name"], table, trigger_event(sql), sql, writes=trigger_writes(sql), inserts=trigger_inserts(sql), ignores=trigger_ignores(sql)
    )


def _with_keys(tables: dict[str, Table], parts: _Parts) -> dict[str, Table]:
    """The tables with their foreign keys, as parents and as children."""
    by_name = {fold(name): table for name, table in tables.items()}
    keys = [key for table in tables.values() for key in _foreign_keys(table, by_name, parts)]
    return {
        name: replace(
            table,
            parents=tuple(key for key in keys if key.child == name),
            children=tuple(key for key in keys if key.parent_exists and key.parent == name),
        )
        for name, table in tables.items()
    }


def _foreign_keys(child: Table, by_name: Mapping[str, Table], parts: _Parts) -> list[ForeignKey]:
    deferred = deferrals(child.sql or "")
    found: list[ForeignKey] = []
    # `foreign_key_list` numbers the keys from the last one written to the first.
    for number, rows in sorted(_grouped(parts.keys[child.name], "id").items(), reverse=True):
        rows = sorted(rows, key=_place)
        parent = by_name.get(fold(rows[0]["parent"]))
        columns = tuple(row["from"] for row in rows)
        parent_columns = _referred(parent, [row["to"] for row in rows])
        at = len(deferred) - 1 - int(number)
        found.append(
            ForeignKey(
                child=child.name,
                columns=columns,
                parent=parent.name if parent else rows[0]["parent"],
                parent_columns=parent_columns,
                on_delete=rows[0]["on_delete"],
                deferred=at >= 0 and deferred[at],
                indexed=is_indexed(child, parent, columns, parent_columns),
                parent_exists=parent is not None,
            )
        )
    return found


def _referred(parent: Table | None, names: list[str | None]) -> tuple[str, ...]:
    """The parent's columns as it spells them: those named, or its primary key; empty where they do not fit."""
    if parent is None:
        return ()
    wanted = parent.primary_key if all(name is None for name in names) else tuple(name or "" for name in names)
    found = tuple(column.name for name in wanted if (column := parent.column(name)) is not None)
    return found if len(found) == len(names) else ()

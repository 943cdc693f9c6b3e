"""What a log's tables must be like, and which indexes serve them. Decided from the schema alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..capabilities import Capabilities
from ..errors import Refused
from ..policy.ledger_models import Cursors, Events, Stamp
from ..schema.model import Index, Schema, Table, fold
from ..schema.reader import read
from ..schema.tokens import name_of, tokens
from ..statements.quoting import column, name, text
from ..steps import Engine

__all__ = [
    "NUMERIC",
    "Advice",
    "adds_to_itself",
    "advice",
    "advise",
    "check",
    "index_leaders",
    "inspect",
    "is_led_by",
    "is_unique",
    "key_as_stream",
    "numbers",
    "require_consumers",
    "require_index",
    "require_numbers",
    "require_table",
]

NUMERIC = ("INTEGER", "REAL", "NUMERIC")
"""Affinities under which a text in a comparison is taken for a number, and under which no index over texts serves."""


@dataclass(frozen=True, slots=True)
class Advice:
    """An index that is missing.

    Attributes:
        why: what is slow without it.
        sql: the statement that makes it.
    """

    why: str
    sql: str


def inspect(log: Events, capabilities: Capabilities) -> Engine[None]:
    """Read the schema, and refuse a log that cannot be trusted. Raises Refused (`check`)."""
    check(log, (yield from read(capabilities)))


def advice(log: Events, capabilities: Capabilities) -> Engine[tuple[Advice, ...]]:
    """The indexes that the log's tables lack, with what is slow without each."""
    return advise(log, (yield from read(capabilities)))


def check(log: Events, schema: Schema) -> None:
    """Refuse what the log cannot be trusted on.

    Raises:
        Refused: if a table or column is missing, the id is not AUTOINCREMENT, or the cursors lack their unique key.
    """
    found = require_table(schema, log.table, (log.id, log.stream, log.kind, log.at.column, log.payload), "[events]")
    if found.integer_pk is None or found.integer_pk.lower() != log.id.lower() or not found.autoincrement:
        raise Refused(
            f"{log.table}.{log.id} is not INTEGER PRIMARY KEY AUTOINCREMENT, so the id of a deleted newest event is given again and "
            "a cursor would pass the new one unseen; make the table anew with AUTOINCREMENT",
            "schema",
        )
    require_numbers(found, numbers(log.at))
    if log.cursors is not None:
        _check_cursors(log.cursors, schema)
    if log.callback is not None and log.callback.table is not None:
        require_table(schema, log.callback.table, tuple(log.callback.columns), "[events.callback]")


def _check_cursors(cursors: Cursors, schema: Schema) -> None:
    stamps = tuple(stamp for stamp in (cursors.at, cursors.moved) if stamp is not None)
    columns = (cursors.consumer, cursors.stream, cursors.position, *(stamp.column for stamp in stamps))
    found = require_table(schema, cursors.table, columns, "[events.cursors]")
    require_numbers(found, (cursors.position, *numbers(*stamps)))
    key = tuple(part for part in (cursors.consumer, cursors.stream) if part is not None)
    if not is_unique(found, key):
        columns = ", ".join(map(name, key))
        raise Refused(
            f"{cursors.table} is not unique by {', '.join(key)}, so a consumer could have two cursors in one stream; run "
            f"CREATE UNIQUE INDEX {name(f'idx_{cursors.table}_key')} ON {name(cursors.table)} ({columns})",
            "schema",
        )


def require_table(schema: Schema, wanted: str, columns: Sequence[str | None], where: str) -> Table:
    """The table. Raises Refused if it, or one of the columns (None is no column), is not there."""
    found = schema.table(wanted)
    if found is None or found.kind != "table":
        raise Refused(f"{where} names the table {wanted}, which this database does not have; correct the name or create it", "schema")
    missing = [column for column in columns if column is not None and found.column(column) is None]
    if missing:
        raise Refused(f"{where} names {wanted}.{missing[0]}, which is not a column of that table; correct the name or add it", "schema")
    return found


def numbers(*stamps: Stamp) -> tuple[str, ...]:
    """The columns of those times that are stored as numbers."""
    return tuple(stamp.column for stamp in stamps if stamp.format != "utc_text")


def require_numbers(table: Table, columns: Sequence[str]) -> None:
    """Raises Refused if a column would store whole numbers as text, which compare with each other as texts do."""
    textual = next((c for name in columns if (c := table.column(name)) is not None and c.affinity == "TEXT"), None)
    if textual is not None:
        raise Refused(
            f"{table.name}.{textual.name} is declared {textual.declared}, so numbers in it become text and no longer compare as numbers; "
            "declare it INTEGER",
            "schema",
        )


def is_unique(table: Table, columns: Sequence[str]) -> bool:
    """Whether ON CONFLICT can name exactly these columns: the primary key, or a unique index without WHERE or expressions."""
    wanted = sorted(column.lower() for column in columns)
    keys = [list(table.primary_key)] + [_keys(index, table) for index in table.indexes if index.unique and not index.partial]
    return any(sorted(column.lower() for column in key) == wanted for key in keys if key)


def index_leaders(table: Table, *, partial: bool = True) -> list[str]:
    """The columns with which its indexes begin; without `partial` those of whole indexes alone."""
    return [index.columns[0].name or "" for index in table.indexes if index.columns and (partial or not index.partial)]


def is_led_by(table: Table, wanted: str) -> bool:
    """Whether rows with a given value of the column are found without reading others."""
    keys = (*index_leaders(table, partial=False), *table.primary_key[:1], table.integer_pk or "")
    return fold(wanted) in map(fold, keys)


def require_index(table: Table, wanted: str, where: str, what: str) -> None:
    """Raises Refused, with the statement that makes it, where no index of the table begins with the column."""
    if not is_led_by(table, wanted):
        index = name(f"{table.name}_{wanted}")
        raise Refused(
            f"{where}: {what} by {wanted!r}, which has no index, so {table.name!r} would be scanned each time; "
            f"create one: CREATE INDEX {index} ON {name(table.name)} ({name(wanted)}).",
            "schema",
        )


def require_consumers(log: Events, schema: Schema, where: str, *, by_stream: bool = False) -> None:
    """Raises Refused where it would take all places to learn who reads the log or, `by_stream`, who has lately read a stream."""
    found = None if log.cursors is None else schema.table(log.cursors.table)
    if log.cursors is None or found is None or log.cursors.consumer is None:
        return
    require_index(found, log.cursors.consumer, where, "consumers are found")
    if by_stream and log.stopped_after is not None:
        require_index(found, log.cursors.stream, where, "the places in a stream are found")


def key_as_stream(log: Events, schema: Schema, table: Table, key: str) -> str:
    """A row's key as the log holds it, as SQL: streams are text, and a number would keep SQLite from the log's indexes."""
    own, found = table.column(key), schema.table(log.table)
    stream = None if found is None else found.column(log.stream)
    named = column(table.name, key)
    is_number = own is None or own.affinity in NUMERIC
    return f"CAST({named} AS TEXT)" if is_number and (stream is None or stream.affinity not in NUMERIC) else named


def adds_to_itself(table: Table) -> bool:
    """Whether a trigger adds rows to the table while rows are being added to it, so that their ids no longer follow one another."""
    for trigger in table.triggers:
        words = tokens(trigger.sql)
        into = {fold(name_of(then)) for word, then in pairwise(words) if word.keyword == "INTO"}
        if trigger.event == "INSERT" and fold(table.name) in into:
            return True
    return False


def advise(log: Events, schema: Schema) -> tuple[Advice, ...]:
    """The indexes that are missing, in the order of what they save."""
    found = require_table(schema, log.table, (), "[events]")
    return tuple(Advice(why, sql) for why, table, columns, where, sql in _needs(log, found, schema) if not _served(table, columns, where))


Need = tuple[str, Table, tuple[str, ...], str | None, str]


def _needs(log: Events, found: Table, schema: Schema) -> Iterator[Need]:
    def need(why: str, table: Table, suffix: str, columns: tuple[str, ...], where: str | None = None) -> Need:
        index, listed = name(f"idx_{table.name}_{suffix}"), ", ".join(map(name, columns))
        return why, table, columns, where, f"CREATE INDEX {index} ON {name(table.name)} ({listed})" + (f" WHERE {where}" if where else "")

    yield need("each append reads every event of its stream for the newest time", found, "time", (log.stream, log.at.column))
    yield need("each once-event reads its stream to see whether it is there", found, "kind", (log.stream, log.kind))
    yield need("a listing sorts its stream by id", found, "stream", (log.stream,))
    if log.callback is not None:
        start = f"{name(log.kind)} = {text(log.callback.start)}"
        yield need("the awaiting sweep reads the whole log for start events", found, "start", (log.id,), start)
    cursors = schema.table(log.cursors.table) if log.cursors else None
    if log.cursors is not None and cursors is not None and log.stopped_after is not None and log.cursors.moved is not None:
        who = (log.cursors.consumer,) if log.cursors.consumer is not None else ()
        yield need("each page of retention reads all cursors for the newest move", cursors, "moved", (*who, log.cursors.moved.column))


def _served(table: Table, columns: tuple[str, ...], where: str | None) -> bool:
    return any(_serves(index, table, columns, where) for index in table.indexes)


def _serves(index: Index, table: Table, columns: tuple[str, ...], where: str | None) -> bool:
    keys, wanted = _keys(index, table), [column.lower() for column in columns]
    # An index on the stream alone is in the order of the rowid; one that goes on with another column is not.
    whole = len(wanted) > 1 or len(keys) == 1
    return keys[: len(wanted)] == wanted and whole and _plain(index.where) == _plain(where)


def _keys(index: Index, table: Table) -> list[str]:
    """The key columns in lower case; the rowid, which an index does not name, by its column, and an expression by nothing."""
    rowid = table.integer_pk or ""
    return [(column.name if column.name is not None else "" if _has_expression(index) else rowid).lower() for column in index.columns]


def _has_expression(index: Index) -> bool:
    return index.sql is not None and "(" in index.sql.partition("(")[2].partition(" WHERE ")[0].rstrip(" );")


def _plain(where: str | None) -> str | None:
    return None if where is None else re.sub(r'[\s"`\[\]()]', "", where)

"""When two indexes are the same: by their keys, orders, collations and WHERE, whatever they are called and however they are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..policy.migration_models import MakeIndex
from ..schema.model import Index, IndexColumn, Table, fold
from ..schema.tokens import Token, name_of, split, tokens
from ..statements.quoting import name

__all__ = ["IndexKey", "alike", "index_key", "key_text"]


@dataclass(frozen=True, slots=True)
class IndexKey:
    """A key of an index: a column with its order, or an expression's tokens. `collation` is None where the column's own holds."""

    name: str | None
    descending: bool
    collation: str | None
    expression: tuple[str, ...] = ()


def index_key(text: str) -> IndexKey:
    """The key that stands in ON (...): a name with COLLATE and ASC or DESC, or an expression."""
    parts = list(tokens(text))
    descending = parts[-1].keyword == "DESC"
    if parts[-1].keyword in ("ASC", "DESC"):
        parts.pop()
    collation = None
    if len(parts) > 2 and parts[-2].keyword == "COLLATE":
        collation = name_of(parts[-1]).upper()
        del parts[-2:]
    parts = list(_bare(parts))
    if len(parts) == 1 and parts[0].kind in ("word", "name"):
        return IndexKey(name_of(parts[0]), descending, collation)
    return IndexKey(None, descending, collation, _plain(parts))


def _plain(parts: Sequence[Token]) -> tuple[str, ...]:
    """Tokens as they compare: names without quotes, in one case; numbers, strings and marks as they are."""
    return tuple(part.text if part.kind in ("string", "number", "mark", "blob") else fold(name_of(part)) for part in parts)


def _where(text: str | None) -> tuple[str, ...] | None:
    if text is None:
        return None
    return _plain(_bare(tokens(text)))


def _bare(parts: Sequence[Token]) -> Sequence[Token]:
    """Without parentheses around all of it."""
    outside = 0
    while len(parts) > 1 and parts[0].text == "(" and parts[-1].text == ")" and all(part.depth > outside for part in parts[1:-1]):
        parts, outside = parts[1:-1], outside + 1
    return parts


def alike(wanted: MakeIndex, index: Index, table: Table) -> bool:
    """Whether an index has the wanted one's keys and WHERE, unique or not."""
    if len(index.columns) != len(wanted.on) or _where(wanted.where) != _where(index.where):
        return False
    body = _body(index.sql) if index.sql else ()
    pairs = enumerate(zip(wanted.on, index.columns, strict=True))
    return all(_same(index_key(text), there, _key_of(body, place), table) for place, (text, there) in pairs)


def _body(sql: str) -> tuple[tuple[Token, ...], ...]:
    """The keys in a CREATE INDEX, as tokens."""
    parts = tokens(sql)
    opened = next(i for i, token in enumerate(parts) if token.text == "(" and token.depth == 0)
    closed = next(i for i, token in enumerate(parts) if token.text == ")" and token.depth == 0 and i > opened)
    return tuple(split(parts[opened + 1 : closed], ",", 1))


def _key_of(body: tuple[tuple[Token, ...], ...], place: int) -> IndexKey | None:
    return index_key(" ".join(token.text for token in body[place])) if place < len(body) else None


def _same(wanted: IndexKey, there: IndexColumn, written: IndexKey | None, table: Table) -> bool:
    if wanted.descending != there.descending:
        return False
    if wanted.name is None:
        return there.name is None and written is not None and wanted.expression == written.expression
    column = table.column(wanted.name)
    own = column.collation if column is not None else "BINARY"
    # The rowid has no name in an index; its INTEGER PRIMARY KEY column stands for it.
    called = there.name if there.name is not None else table.integer_pk if written is None or written.name is not None else None
    return called is not None and fold(called) == fold(wanted.name) and (wanted.collation or own) == there.collation


def key_text(text: str, *, order: bool = True) -> str:
    """A key as SQL. A column's name is quoted; without `order` what GROUP BY takes is left."""
    key = index_key(text)
    if key.name is None:
        return text
    collation = f" COLLATE {name(key.collation)}" if key.collation else ""
    return name(key.name) + collation + (" DESC" if key.descending and order else "")

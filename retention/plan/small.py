"""Tables that the database scans because they are small.

Where ANALYZE has found few rows in a table, SQLite scans it rather than seek, whatever indexes it has. That is bounded while the table
is as small as that, and is refused where it has grown since: its statistics then want to be made anew. Without statistics a scan is for
want of an index, which is refused while the table is small, too.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ..errors import HostError
from ..schema.model import Schema, fold
from ..schema.tokens import name_of, tokens
from ..statements.condition import KEEPS
from ..statements.quoting import name, text
from ..steps import Batch, Result, Statement, Step, Value
from .model import RulePlan

__all__ = ["SMALL_ROWS", "Size", "Small"]

SMALL_ROWS = 200
"""Rows of a table that may be scanned. By fresh statistics SQLite scans up to about three for one look-up, and up to about a hundred for a
list of keys."""

Size = Literal["small", "grown", "large"]
"""Of a table that has statistics: at most `SMALL_ROWS` rows; more, of which the statistics do not know; more, as they say."""

_NAMES = ("word", "name")
_SOURCES = ("FROM", "JOIN")
_MADE = ("MATERIALIZED", "NOT")

_STATISTICS = Statement("SELECT count(*) FROM sqlite_schema WHERE name = 'sqlite_stat1'")


@dataclass(slots=True)
class Small:
    """What is known of tables that a plan scans.

    Attributes:
        asked: statements sent so far.
    """

    schema: Schema
    asked: int = 0
    _analyzed: bool | None = None
    _sizes: dict[str, Size | None] = field(default_factory=dict[str, "Size | None"])

    def sizes(self, rule: RulePlan, sql: str, called: Iterable[str]) -> Generator[Step, list[Result] | None, dict[str, Size]]:
        """The sizes of tables that a statement scans, by what its plan calls them; without those that have no statistics or are unknown."""
        names = _called(sql)
        if rule.shape.tenant is not None:
            names[KEEPS] = {rule.shape.tenant.table}
        meant = {one: self._tables(one, names.get(fold(one.strip('"')), set())) for one in called}
        new = sorted({table for tables in meant.values() for table in tables} - self._sizes.keys())
        if new and self._analyzed is None:
            self._analyzed = bool((yield from self._ask(_STATISTICS))[0])
        if new and self._analyzed:
            yield from self._look(new)
        return {one: size for one, tables in meant.items() if (size := self._of(tables, rule.drain is not None)) is not None}

    def _look(self, tables: Sequence[str]) -> Generator[Step, list[Result] | None, None]:
        rows = [f"(SELECT count(*) FROM (SELECT 1 FROM {name(t)} LIMIT {SMALL_ROWS + 1}))" for t in tables]
        known = [f"(SELECT max(CAST(stat AS INTEGER)) FROM sqlite_stat1 WHERE tbl = {text(t)} COLLATE NOCASE)" for t in tables]
        found = yield from self._ask(Statement(f"SELECT {', '.join(rows + known)}"))
        self._sizes |= {t: _size(found[i], found[len(tables) + i]) for i, t in enumerate(tables)} if len(found) > 1 else {}

    def _ask(self, statement: Statement) -> Generator[Step, list[Result] | None, tuple[Value, ...]]:
        """The statement's one row; where the host shows no statistics, a scan is a scan: (None,)."""
        self.asked += 1
        try:
            results = yield Batch((statement,))
        except HostError as error:
            if error.retryable:
                raise
            return (None,)
        assert results is not None
        return results[0].rows[0]

    def _of(self, tables: frozenset[str], drained: bool) -> Size | None:
        found = {self._sizes.get(table) for table in tables}
        if not found or None in found:
            return None
        if drained and "small" in found:
            # One name for every level of a family, whose keys have indexes: what is known to be large is not what is scanned.
            found.discard("large")
        return next((size for size in ("large", "grown", "small") if size in found), None)

    def _tables(self, called: str, named: set[str]) -> frozenset[str]:
        """The tables that a name in a query plan may mean; none where one of them is not known."""
        own = self.schema.table(called.strip('"'))
        found = [self.schema.table(one) for one in named] + ([own] if own is not None else [])
        tables = [table.name for table in found if table is not None and table.kind == "table"]
        return frozenset(tables) if len(tables) == len(found) else frozenset()


def _size(rows: Value, known: Value) -> Size | None:
    """The size of a table that has, of the first `SMALL_ROWS` + 1, so many rows; `known` are those that the statistics know of."""
    if known is None:
        return None
    if int(rows or 0) <= SMALL_ROWS:  # type: ignore[arg-type]
        return "small"
    return "large" if int(known) > SMALL_ROWS else "grown"  # type: ignore[arg-type]


def _called(sql: str) -> dict[str, set[str]]:
    """By the names that a statement may give to what it reads: what is meant. Names of columns among them do no harm."""
    found: dict[str, set[str]] = {}
    parts = [None, *tokens(sql), None, None]
    for before, part, following, last in zip(parts, parts[1:], parts[2:], parts[3:], strict=False):
        if part is None or following is None or part.kind not in _NAMES or (before is not None and before.text == "."):
            continue
        if following.keyword == "AS" and last is not None and (last.text == "(" or last.keyword in _MADE):
            # A common table is none of the schema's.
            found.setdefault(fold(name_of(part)), set()).add("")
            continue
        alias = last if following.keyword == "AS" else following if before is not None and before.keyword in _SOURCES else None
        if alias is not None and alias.kind in _NAMES:
            found.setdefault(fold(name_of(alias)), set()).add(name_of(part))
    return found

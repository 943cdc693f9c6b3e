"""What sweeps and closures share as plans: pages of a walk, and writes that name their rows; and what names a row, and in which order
rows are visited."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ..capabilities import Capabilities
from ..errors import PolicyError, Refused
from ..plan.model import FurtherPlan
from ..plan.names import found_column
from ..policy.base import Model
from ..schema.keys import primary_key, rowid_key
from ..schema.model import Table
from ..statements.keys import Key
from ..statements.pages import Range, Walk
from ..steps import Batch, Statement, Value
from .log_schema import is_unique
from .sql import Params

__all__ = ["ListedPlan", "Writes", "digest_of", "found_key", "whole_walk", "write_cost"]

_READS = 3
"""Statements that find one batch of rows: the page's edges and counts, the due rows, and the counts again where not all of them fit."""


class Writes(Protocol):
    """The statements of a sweep or a closure."""

    def condition(self, p: Params, now_ms: int) -> str:
        """What becomes of a row, as SQL: 1 it is due, NULL it has time left, 0 it is none, or why it stays."""
        ...

    def shown(self) -> tuple[str, ...]:
        """SQL of what the list of due rows says of each beside its key."""
        ...

    def write(self, keys: Sequence[Key], now_ms: int) -> dict[str, Statement]:
        """The batch that deals with these rows if all of them are still due, each statement by its label."""
        ...


@dataclass(frozen=True, slots=True)
class ListedPlan(FurtherPlan):
    """A sweep or a closure, compiled.

    Attributes:
        batch: rows that one write deals with. max_batches: writes of one run.
        write_cost: statements of one write, BEGIN and COMMIT included.
    """

    batch: int = 100
    max_batches: int = 10
    write_cost: int = 0

    @property
    def statements(self) -> Writes:
        """Its statements."""
        raise NotImplementedError

    @property
    def most(self) -> int:
        return self.batch * self.max_batches

    @property
    def page_cost(self) -> int:
        return _READS + self.write_cost

    def cutoffs(self, now_ms: int) -> tuple[Value, ...]:
        p = Params()
        self.statements.condition(p, now_ms)
        return p.statement("").params

    def samples(self, now_ms: int) -> list[tuple[str, Statement]]:
        pages, values = self.pages, self.cutoffs(now_ms)
        key = (0,) if pages.walk.integers else ("",)
        page = Range(after=key, upto=key)
        reads = [
            ("high-water", pages.high()),
            ("boundary", pages.boundary(page, self.max_keys, values)),
            ("due rows", pages.due(page, self.batch, values, self.statements.shown())),
        ]
        writes = self.statements.write([("",)], now_ms)
        return reads + [(label, statement) for label, statement in writes.items() if not label.startswith("changes")]


def write_cost(sql: Writes, host: Capabilities, max_changes: int | None) -> int:
    """Statements of one write."""
    return host.cost(Batch(tuple(sql.write([("",)], 0).values()), writes=True, max_changes=max_changes))


def digest_of(model: Model, further: Iterable[object] = ()) -> str:
    """16 hex digits over what a part of the policy says; a change restarts its walk."""
    said = [model.model_dump(mode="json", exclude={"name", "batch", "max_batches", "enabled"}), *further]
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:16]


def found_key(table: Table, wanted: str | None, where: str) -> str:
    """The one column that names a row. Raises PolicyError or Refused where there is none."""
    if wanted is not None:
        key = found_column(table, wanted, where, "key").name
        if key != table.integer_pk and not is_unique(table, (key,)):
            raise PolicyError(f"{where}: key {key!r} is not unique in {table.name!r}; name a column with a UNIQUE index.")
        return key
    if len(table.primary_key) == 1:
        return table.primary_key[0]
    if table.rowid is not None and not table.primary_key:
        return table.rowid
    raise Refused(
        f"{where}: the primary key of {table.name!r} has several columns, and a row is named by one; name one unique column in key, or add "
        f"one to the table.",
        "policy",
    )


def whole_walk(table: Table, where: str) -> tuple[Walk, str]:
    """The order in which a whole table is visited, and why. Raises Refused where there is none."""
    rowid, primary = rowid_key(table), primary_key(table)
    if rowid is not None:
        return Walk("rowid", (rowid.columns[0].name,), "NOT INDEXED", integers=True), "the table's own order"
    if primary is not None:
        return Walk("primary_key", tuple(c.name for c in primary.columns)), "the table's own order"
    raise Refused(
        f"{where}: the rows of {table.name!r} cannot be visited in order; give it a primary key that rises in every column.", "schema"
    )

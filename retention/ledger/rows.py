"""Rows that are written only if the statement before them changed something: so a batch that does nothing does nothing in all its parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..statements.quoting import name
from ..steps import Statement, Value
from .sql import Params

__all__ = ["Row", "following", "insert"]


@dataclass(frozen=True, slots=True)
class Row:
    """A row to make: its table, its key's column, and its values, the key among them."""

    table: str
    id: str
    values: Mapping[str, Value]


def insert(p: Params, table: str, values: Mapping[str, Value], where: str) -> Statement:
    """The row, if `where` holds."""
    columns, selected = ", ".join(map(name, values)), ", ".join(map(p, values.values()))
    return p.statement(f"INSERT INTO {name(table)} ({columns}) SELECT {selected} WHERE {where}")


def following(table: str, values: Mapping[str, Value]) -> Statement:
    """The row, if the statement before it changed a row. Several in a chain are all written or none."""
    return insert(Params(), table, values, "changes() > 0")

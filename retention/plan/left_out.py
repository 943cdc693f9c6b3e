"""Tables whose rows seem to belong to a closure's parent, and that the closure does not name: they would stay when it has gone."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import PolicyError
from ..policy.closure_models import Closure, tied
from ..policy.conditions import check_names, parse_condition
from ..schema.guess import words
from ..schema.model import Schema, Table, fold

__all__ = ["left_out"]


def left_out(closure: Closure, schema: Schema) -> tuple[tuple[str, str], ...]:
    """Table and column, by which it seems to belong: one that ties a member to its parent, or is called so (`slot_id` for `slots`).

    A list of tables that is kept by hand is out of date with the first table that is added behind it.
    """
    parent = schema.table(closure.table)
    if parent is None:
        return ()
    named = {fold(closure.table), *(fold(member.table) for member in closure.members)}
    ties = {fold(column) for column in (*_ties(closure, schema), *_called(parent, closure.key))} - _own(parent)
    others = (table for table in schema.tables.values() if table.kind == "table" and fold(table.name) not in named)
    found = ((table.name, [column.name for column in table.columns if fold(column.name) in ties]) for table in others)
    return tuple((table, columns[0]) for table, columns in found if columns)


def _ties(closure: Closure, schema: Schema) -> Iterator[str]:
    """The members' columns that their `on` names; none where it cannot be read, of which a plan tells."""
    for member in closure.members:
        table = schema.table(member.table)
        try:
            if table is not None:
                yield from check_names(parse_condition(tied(member.on, closure.table), table.name), schema, table).columns
        except PolicyError:
            continue


def _called(parent: Table, key: str | None) -> Iterator[str]:
    column = key or (parent.primary_key[0] if len(parent.primary_key) == 1 else "id")
    said = [word.removesuffix("s") for word in words(parent.name)]
    yield f"{'_'.join(said)}_{column}"
    yield f"{said[-1]}_{column}" if said else column


def _own(parent: Table) -> set[str]:
    """The parent's own names: a column `id` ties nothing by being called so."""
    return {fold(column.name) for column in parent.columns}

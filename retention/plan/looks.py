"""Looks at other rows that one row may make dear.

A page bounds how many rows are judged, and not what each of them asks. Where such a look can pass very many rows, the plan says so, with
the index that leaves those rows out, if one can. SQLite takes a partial index where its WHERE is a term of the look, word for word.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..policy.conditions import parse_condition, storable
from ..policy.models import Policy
from ..schema.foreign_keys import child_index
from ..schema.keys import never_null
from ..schema.model import ForeignKey, Schema, Table, fold
from ..statements.condition import Reference, Shape
from ..statements.quoting import name, whether
from .advice import free_name

__all__ = ["dear_looks"]

_SMALLER = "no index can bound it, but a smaller page_rows keeps statements short"


def dear_looks(policy: Policy, schema: Schema, table: Table, shape: Shape) -> Iterator[str]:
    """A sentence for each kind of look that may be dear: keep_newest among rows that do not count, and holds on children."""
    yield from _newest(schema, table, shape)
    for hold in policy.holds:
        held = schema.table(hold.table)
        throughs = dict.fromkeys(one.through for one in shape.holds if one.through is not None)
        for through in throughs:
            if held is not None and through.child == held.name and not _single(held, through):
                yield from _hold(schema, held, through, hold.where)


def _newest(schema: Schema, table: Table, shape: Shape) -> Iterator[str]:
    if shape.newest is None:
        return
    passed: list[str] = []
    terms: list[str] = []
    bounded = True
    if shape.only is not None:
        passed.append("that `only` leaves out")
        terms.append(whether(f"({shape.only})"))
        bounded = storable(parse_condition(shape.only, table.name))
    if shape.age is not None and not any(c in shape.newest.by or never_null(table, c) for c in shape.age.columns):
        passed.append("that have no age")
        terms.append(f"{shape.age.value(table.name)} IS NOT NULL")
        # Other forms call functions that could fail for a row, which the table would then not take.
        bounded = bounded and shape.age.format.plain
    where = " AND ".join(terms)
    if not passed or _there(table, where):
        return
    columns = ", ".join(name(c) for c in (*shape.newest.per, *shape.newest.by))
    index = name(free_name(schema, f"idx_{table.name}_newest"))
    sql = f"CREATE INDEX {index} ON {name(table.name)} ({columns}) WHERE {where}"
    yield (
        f"keep_newest passes rows {' and '.join(passed)} on its way to the newest of a group, so that very many of them at its newest end "
        f"make a look dear whatever the page; {f'an index without them bounds it: {sql}' if bounded else _SMALLER}"
    )


def _hold(schema: Schema, held: Table, through: Reference, condition: str) -> Iterator[str]:
    where = whether(f"({condition})")
    if _there(held, where):
        return
    called = free_name(schema, f"idx_{held.name}_held")
    on = child_index(schema, _key(held, through), called) if storable(parse_condition(condition, held.name)) else None
    yield (
        f"a hold on {held.name} looks through the rows of it that refer to one row until one is held, so that very many of them make a "
        f"look dear whatever the page; {_SMALLER if on is None else f'an index of the held ones bounds it: {on} WHERE {where}'}"
    )


def _key(child: Table, through: Reference) -> ForeignKey:
    return next(key for key in child.parents if tuple(zip(key.columns, key.parent_columns, strict=False)) == through.pairs)


def _single(child: Table, through: Reference) -> bool:
    """Whether at most one row refers to a row."""
    columns = {fold(c) for c, _ in through.pairs}
    keys = [{fold(part.name or "") for part in index.columns} for index in child.indexes if index.unique and not index.partial]
    return any(key <= columns for key in keys) or fold(child.integer_pk or "") in columns


def _there(table: Table, where: str) -> bool:
    """Whether the table has an index of those rows, as it is advised."""
    return any(index.partial and (index.where or "").strip() == where for index in table.indexes)

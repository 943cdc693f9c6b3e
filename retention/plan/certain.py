"""Whether every row that a rule's walk meets goes, so that nothing needs to be read before it is deleted."""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from ..schema.model import Table, fold
from ..statements.condition import Shape
from ..statements.pages import Walk

__all__ = ["all_go"]

_ALIKE = (exp.Func, exp.Mod)
"""What sqlglot reads as one although SQLite tells it apart: `mod(a, 2)` and `a % 2`, of 2.5, are 0.5 and 0."""


def all_go(shape: Shape, walk: Walk, table: Table) -> bool:
    """Whether the walk's own bounds already are the rule's condition: it is led by the age and ends at the cutoff, its index holds only
    rows that `only` selects, nothing else keeps a row, and no trigger can keep one that SQLite should delete."""
    if not walk.by_age or shape.age is None or not shape.age.format.plain or shape.keep_ms is None:
        return False
    if shape.tenant is not None or shape.newest is not None or shape.holds or shape.references:
        return False
    if any(trigger.event == "DELETE" for trigger in table.triggers):
        return False
    return _terms(shape.only, table) <= _terms(walk.where, table)


def _terms(text: str | None, table: Table) -> frozenset[exp.Expr]:
    """What must hold together, each in one spelling; of what calls a function or cannot be read, the text as it stands."""
    if text is None:
        return frozenset()
    try:
        # In parentheses, or a function that is called like a statement (`replace`) is read as one.
        parsed = sqlglot.parse_one(f"({text})", dialect="sqlite").unnest()
    except SqlglotError:
        return frozenset([exp.Literal.string(text)])
    if any(not isinstance(part, exp.Connector) for part in parsed.find_all(*_ALIKE)):
        return frozenset([exp.Literal.string(text)])
    terms = parsed.flatten() if isinstance(parsed, exp.And) else [parsed]
    return frozenset(_plain(term.unnest(), table) for term in terms)


def _plain(term: exp.Expr, table: Table) -> exp.Expr:
    """Without its table's name, quotes and case in the names of columns."""

    def bare(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and fold(node.table) in ("", fold(table.name)):
            return exp.column(fold(node.name), quoted=False)
        return node

    return term.copy().transform(bare)

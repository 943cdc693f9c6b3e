"""Sweeps and closures of a plan, for people and as data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..plan.model import FurtherPlan
from .words import counted

__all__ = ["further_data", "further_lines"]


def further_lines(plan: FurtherPlan, statements: bool) -> Iterator[str]:
    """One sweep or closure: its walk, what a page costs, the index that it lacks; with `statements` also its SQL and query plans."""
    yield f"{plan.section.removesuffix('s')} {plan.name} (table {plan.table})"
    yield f"  walk        {plan.walk}: {plan.why_walk}"
    yield f"  page        at most {counted(plan.page_cost, 'statement')}, {counted(plan.max_keys, 'row')} read"
    for note in (*plan.notes, *plan.warnings):
        yield f"  note        {note}"
    if statements:
        for query in plan.plans:
            yield f"  {query.label}"
            yield f"    {query.sql}"
            yield from (f"      {line}" for line in query.lines)


def further_data(plan: FurtherPlan) -> dict[str, Any]:
    """The same as JSON-ready data."""
    return {
        plan.section.removesuffix("s"): plan.name,
        "table": plan.table,
        "walk": plan.walk,
        "why_walk": plan.why_walk,
        "page": {"statements": plan.page_cost, "rows": plan.max_keys},
        "notes": [*plan.notes, *plan.warnings],
        "statements": [{"label": query.label, "sql": query.sql, "plan": list(query.lines)} for query in plan.plans],
    }

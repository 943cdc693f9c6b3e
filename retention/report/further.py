"""Sweeps, closures and the log of a plan, for people and as data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..engine.preview import RulePreview
from ..plan.model import FurtherPlan
from .words import counted, listed, number

__all__ = ["further_data", "further_lines", "further_total"]

_DUE = {"sweeps": ("row", "to end"), "closures": ("unit", "to delete"), "events": ("event", "to delete")}
"""What each deals with, and how."""


def further_lines(plan: FurtherPlan, count: RulePreview, statements: bool) -> Iterator[str]:
    """One of them: what is due, its walk, what a page costs, the index that it lacks; with `statements` also its SQL and query plans."""
    yield f"{plan.section.removesuffix('s')} {plan.name} (table {plan.table})"
    least = "" if count.whole else "at least "
    scope = f"of {number(count.seen)}" if count.whole else f"in the first {number(count.seen)} looked at"
    yield f"  due         {least}{_due(plan.section, count.expired)}, {scope}"
    if count.kept:
        yield f"  kept        {listed(count.kept)}"
    if count.refused is not None:
        yield f"  refused     {count.refused}"
    yield f"  walk        {plan.walk}: {plan.why_walk}"
    most = "" if plan.most is None else f"; at most {_of(plan.section, plan.most)} a run"
    yield f"  page        at most {counted(plan.page_cost, 'statement')}, {counted(plan.max_keys, 'row')} read{most}"
    for note in (*plan.notes, *plan.warnings):
        yield f"  note        {note}"
    if statements:
        for query in plan.plans:
            yield f"  {query.label}"
            yield f"    {query.sql}"
            yield from (f"      {line}" for line in query.lines)


def further_total(plans: Sequence[FurtherPlan], counts: Sequence[RulePreview]) -> Iterator[str]:
    """`65 rows to end`, `40 units to delete`, `3 events to delete`, as far as the plan has them."""
    for section in _DUE:
        due = [count.expired for plan, count in zip(plans, counts, strict=True) if plan.section == section]
        if due:
            yield _due(section, sum(due))


def _of(section: str, rows: int) -> str:
    return counted(rows, _DUE[section][0])


def _due(section: str, rows: int) -> str:
    return f"{_of(section, rows)} {_DUE[section][1]}"


def further_data(plan: FurtherPlan, count: RulePreview) -> dict[str, Any]:
    """The same as JSON-ready data."""
    return {
        plan.section.removesuffix("s"): plan.name,
        "table": plan.table,
        "walk": plan.walk,
        "why_walk": plan.why_walk,
        "page": {"statements": plan.page_cost, "rows": plan.max_keys},
        "most": plan.most,
        "due": count.expired,
        "scanned": count.seen,
        "whole": count.whole,
        "kept": count.kept,
        "refused": count.refused,
        "notes": [*plan.notes, *plan.warnings],
        "statements": [{"label": query.label, "sql": query.sql, "plan": list(query.lines)} for query in plan.plans],
    }

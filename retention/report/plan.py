"""A plan for people, and as data: the walks and why, what a page costs, what is due, the statements and their query plans."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..engine.cost import Cost
from ..engine.preview import Preview, RulePreview
from ..engine.saving import Saving
from ..plan.model import Plan, RulePlan
from .further import further_data, further_lines, further_total
from .words import counted, listed, number

__all__ = ["plan_data", "plan_text"]


def plan_text(plan: Plan, preview: Preview, limit: int | None, *, lease: str | None = None, statements: bool = True) -> str:
    """The plan as text.

    Args:
        plan, preview: of one database and clock.
        limit: statements of one run, or None.
        lease: the statement that makes the policy's lease, or None.
        statements: whether to write the SQL and its query plans too.
    """
    return "\n".join(_lines(plan, preview, limit, lease, statements))


def _lines(plan: Plan, preview: Preview, limit: int | None, lease: str | None, statements: bool) -> Iterator[str]:
    for rule, count in zip(plan.rules, preview.rules, strict=True):
        yield from _rule_lines(rule, count, statements)
        yield ""
    for one, count in zip(plan.further, preview.further, strict=True):
        yield from further_lines(one, count, statements)
        yield ""
    if lease is not None:
        yield f"lease: one caller at a time; its table is made by you, once: {lease};"
    yield _total(plan, preview, limit)
    for warning in plan.warnings:
        yield f"warning: {warning}"


def _rule_lines(rule: RulePlan, count: RulePreview, statements: bool) -> Iterator[str]:
    title = rule.name if rule.name == rule.table else f"{rule.name} (table {rule.table})"
    yield title
    if rule.never:
        yield "  rows        kept for ever: nothing to delete"
        return
    yield f"  rows        {_rows(count)}"
    if count.kept:
        yield f"  kept        {listed(count.kept)}"
    if count.malformed:
        yield f"  malformed   settings of {', '.join(count.malformed)} cannot be read; their rows are kept"
    if count.raised:
        yield f"  raised      the keep of {', '.join(count.raised)} is shorter than `shortest`, which holds instead"
    yield f"  walk        {rule.walk}: {rule.why_walk}"
    if count.saving is not None:
        yield f"  advice      {_advice(rule, count.saving)}"
    unread = ", nothing is read before a delete: every row that the walk meets goes" if rule.certain else ""
    yield f"  mode        {f'range{unread}' if rule.chunk is None else f'chunk, {number(rule.chunk)} rows a delete'}"
    yield f"  page        {_page(rule)}"
    if count.cost is not None:
        yield f"  cost        {_cost(count, count.cost)}"
    for look_up in count.lookups:
        size = number(look_up.rows) if look_up.whole else f"more than {number(look_up.rows)}"
        yield f"  look-up     {look_up.table} is read whole, once a statement: {size} rows"
    for note in rule.notes:
        yield f"  note        {note}"
    if statements:
        for query in rule.plans:
            yield f"  {query.label}"
            yield f"    {query.sql}"
            yield from (f"      {line}" for line in query.lines)


def _advice(rule: RulePlan, saving: Saving) -> str:
    about = "" if saving.exact else "about "
    return f"{rule.advice}: a traversal would visit {about}{counted(saving.then, 'row')} instead of {about}{number(saving.now)}"


def _rows(count: RulePreview) -> str:
    at_least = "" if count.whole else "at least "
    scope = f"of {number(count.seen)}" if count.whole else f"in the first {number(count.seen)} looked at"
    return f"{at_least}{number(count.expired)} to delete {scope}"


def _cost(count: RulePreview, cost: Cost) -> str:
    about = "about" if count.whole else "more than"
    return f"{about} {counted(cost.read, 'row')} read and {number(cost.written)} written"


def _page(rule: RulePlan) -> str:
    most = f", at most {counted(rule.max_pages, 'page')} a run" if rule.max_pages is not None else ""
    return (
        f"at most {counted(rule.page_cost, 'statement')}, {counted(rule.max_keys, 'row')} read, "
        f"{counted(min(rule.max_writes, rule.max_keys), 'row')} deleted{most}"
    )


def _total(plan: Plan, preview: Preview, limit: int | None) -> str:
    due = sum(rule.expired for rule in preview.rules)
    ceiling = _ceiling(plan, limit)
    bound = "no ceiling: nothing limits the statements" if ceiling is None else f"ceiling {counted(ceiling, 'statement')} a run"
    at_least = "" if preview.whole else "at least "
    if preview.passes is None:
        runs = f"a limit of {limit} statements is too small for any page; allow {number(plan.statements + plan.smallest)}"
    else:
        runs = f"{at_least}{counted(preview.passes, 'run')} to drain"
    planning = f"{number(plan.statements)} of them for planning"
    work = [f"{counted(due, 'row')} to delete"] if plan.rules or not plan.further else []
    work += further_total(plan.further, preview.further)
    return f"total: {at_least}{', '.join(work)}, each {'rule' if not plan.further else 'of them'} alone; {bound}, {planning}; {runs}"


def _ceiling(plan: Plan, limit: int | None) -> int | None:
    worst = None if plan.ceiling is None else plan.statements + plan.ceiling
    return min((n for n in (worst, limit) if n is not None), default=None)


def plan_data(plan: Plan, preview: Preview, limit: int | None, *, lease: str | None = None) -> dict[str, Any]:
    """The plan as JSON-ready data."""
    return {
        "version": 1,
        "host": plan.capabilities.name,
        "statements": {
            "planning": plan.statements,
            "smallest": plan.statements + plan.smallest,
            "limit": limit,
            "ceiling": _ceiling(plan, limit),
        },
        "passes": preview.passes,
        "whole": preview.whole,
        "rules": [_rule_data(rule, count) for rule, count in zip(plan.rules, preview.rules, strict=True)],
        **{section: _further(plan, preview, section) for section in ("sweeps", "closures", "events")},
        "lease": lease,
        "warnings": list(plan.warnings),
    }


def _further(plan: Plan, preview: Preview, section: str) -> list[dict[str, Any]]:
    both = zip(plan.further, preview.further, strict=True)
    return [further_data(one, count) for one, count in both if one.section == section]


def _advice_data(rule: RulePlan, saving: Saving | None) -> dict[str, Any] | None:
    if saving is None:
        return None
    return {"write": rule.advice, "rows_now": saving.now, "rows_then": saving.then, "exact": saving.exact}


def _rule_data(rule: RulePlan, count: RulePreview) -> dict[str, Any]:
    return {
        "rule": rule.name,
        "table": rule.table,
        "walk": rule.walk,
        "why_walk": rule.why_walk,
        "advice": _advice_data(rule, count.saving),
        "mode": "range" if rule.chunk is None else "chunk",
        "page": {"statements": rule.page_cost, "rows": rule.max_keys, "writes": rule.max_writes, "max_pages": rule.max_pages},
        "to_delete": count.expired,
        "scanned": count.seen,
        "whole": count.whole,
        "rows_read": None if count.cost is None else count.cost.read,
        "rows_written": None if count.cost is None else count.cost.written,
        "kept": count.kept,
        "malformed_tenants": list(count.malformed),
        "raised_tenants": list(count.raised),
        "lookups": [{"table": look_up.table, "rows": look_up.rows, "whole": look_up.whole} for look_up in count.lookups],
        "statements": [{"label": query.label, "sql": query.sql, "plan": list(query.lines)} for query in rule.plans],
        "notes": list(rule.notes),
    }

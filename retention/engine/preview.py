"""What a rule, a sweep or a closure would do now, counted by its own boundary statements over a bounded number of pages. Reads only.

Each rule is counted alone, on the database as it is: what one rule's deletes make due for another is not in the number.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace

from ..plan.model import FurtherPlan, Plan, RulePlan
from ..schema.model import fold
from ..statements.ages import DAY_MS, is_number
from ..statements.condition import TenantKeep
from ..statements.pages import Boundary, Range
from ..statements.quoting import column, name, text
from ..steps import Batch, Result, Statement, Step, Value
from .cost import Cost, cost
from .receipt import NAMED_TENANTS, RuleReceipt
from .saving import Saving, sample
from .sizes import FIRST_ROWS
from .traversal import Traversal, ask

__all__ = ["PREVIEW_PAGES", "LookUp", "Preview", "RulePreview", "preview"]

PREVIEW_PAGES = 20
"""Pages that are counted for each rule, unless the caller says otherwise: a million rows at the default page size, a second or two."""

LOOKUP_ROWS = 100_000
"""A scanned look-up table is counted so far: beyond it, the scan costs each statement more than its own page does."""

TENANT_ROWS = 10_000
"""Tenants that are looked at for a keep below `shortest`."""

_SCAN = re.compile(r"^ *SCAN (\S+)", re.MULTILINE)

_SETTING = (
    "CASE WHEN json_valid(v) THEN CASE json_type(v) WHEN 'object' THEN "
    "(SELECT CASE count(*) WHEN 1 THEN min(CASE WHEN j.type IN ('integer', 'real') THEN j.value END) END "
    "FROM json_each(v) AS j WHERE j.key = {setting}) END END"
)
"""The days that a tenant's JSON document sets, NULL where it sets none that is a number."""


@dataclass(frozen=True, slots=True)
class LookUp:
    """A table that a statement scans once. `rows` is counted up to `LOOKUP_ROWS`; `whole` tells whether that was all of it."""

    table: str
    rows: int
    whole: bool


@dataclass(frozen=True, slots=True)
class RulePreview:
    """One rule's count.

    Attributes:
        rule: its name.
        pages, seen: boundaries sent, and the rows that they looked at.
        expired: rows that would go, or end.
        whole: the whole traversal was counted; else both numbers are at least so large.
        kept: rows kept, by reason (`undated`, `held`, ...).
        malformed: tenants whose document cannot be read, at most 20.
        raised: tenants whose keep is below `shortest` and is raised to it, at most 20.
        lookups: tables that its statements scan once each.
        statements: what a run sends for the rows counted, at a typical page (1,000 deleted rows; as many keys as a page may read).
        saving: what the plan's advice would save each traversal, where it is worth it.
        refused: why a run would not begin it, if it would not.
        cost: what a run would read and write for the rows counted, where the host meters it.
    """

    rule: str
    pages: int = 0
    seen: int = 0
    expired: int = 0
    whole: bool = True
    kept: dict[str, int] = field(default_factory=dict[str, int])
    malformed: tuple[str, ...] = ()
    raised: tuple[str, ...] = ()
    lookups: tuple[LookUp, ...] = ()
    statements: int = 0
    saving: Saving | None = None
    refused: str | None = None
    cost: Cost | None = None


@dataclass(frozen=True, slots=True)
class Preview:
    """What a plan's rules would do.

    Attributes:
        rules, further: in the plan's order.
        passes: runs that it takes, by the limits on statements and pages; None where they can make no progress.
        whole: every rule was counted to its end; else more runs may be needed.
    """

    rules: tuple[RulePreview, ...]
    further: tuple[RulePreview, ...]
    passes: int | None
    whole: bool


def preview(
    plan: Plan, now_ms: int, statements: int | None = None, pages: int = PREVIEW_PAGES
) -> Generator[Step, list[Result] | None, Preview]:
    """Count each rule of a plan.

    Args:
        plan: for the same database and clock.
        now_ms: the run's clock, ms since 1970.
        statements: the limit of one run, planning included; None for none.
        pages: at most so many are counted for each rule.

    Raises:
        HostError: from the host.
    """
    counted: list[RulePreview] = []
    for rule in (*plan.rules, *plan.further):
        counted.append((yield from _count_rule(rule, now_ms, pages)))
    rules, further = tuple(counted[: len(plan.rules)]), tuple(counted[len(plan.rules) :])
    return Preview(rules, further, _passes(plan, counted, statements), all(c.whole for c in counted))


def _passes(plan: Plan, counted: list[RulePreview], statements: int | None) -> int | None:
    by_pages = [
        -(-(c.statements - r.first_cost) // (r.page_cost * r.max_pages))
        for r, c in zip((*plan.rules, *plan.further), counted, strict=True)
        if r.max_pages is not None and c.expired
    ]
    rest = zip(plan.further, counted[len(plan.rules) :], strict=True)
    by_pages += [-(-c.expired // one.most) for one, c in rest if one.most is not None and not c.refused]
    if statements is None:
        return max([1, *by_pages])
    room = statements - plan.statements
    return max([1, *by_pages, -(-sum(c.statements for c in counted) // room)]) if room >= max(1, plan.smallest) else None


def _count_rule(rule: RulePlan, now_ms: int, pages: int) -> Generator[Step, list[Result] | None, RulePreview]:
    if rule.never:
        return RulePreview(rule.name)
    state = Traversal.start(rule, None, RuleReceipt(rule.name, rule.table), now_ms)
    if rule.pages.walk.by_age:
        state.high = state.end
    else:
        (result,) = yield from ask(state, Batch((rule.pages.high(),)))
        state.high = rule.pages.read_high(result.rows)
    first = state.receipt.rows_read or 0
    found: list[Boundary] = []
    metered: list[tuple[Boundary, int]] = []
    kept: Counter[str] = Counter()
    whole = not state.high
    further = rule if isinstance(rule, FurtherPlan) else None
    while not whole and len(found) < pages:
        begin, before = state.cursor, state.receipt.rows_read or 0
        page, whole = yield from _next_page(state)
        metered.append((page, (state.receipt.rows_read or 0) - before))
        if further is not None and page.expired:
            page = yield from _recounted(further, page, Range(after=begin, upto=state.cursor if page.filled else state.high), now_ms)
        found.append(page)
        kept.update(page.kept)
    seen, expired = sum(p.seen for p in found), sum(p.expired for p in found)
    malformed = dict.fromkeys(t for p in found for t in p.tenants)
    raised = () if rule.shape.tenant is None else (yield from _raised(rule.shape.tenant))
    typical = max(-(-seen // rule.max_keys), -(-expired // min(FIRST_ROWS, rule.max_keys, rule.max_writes)), 1)
    return RulePreview(
        rule=rule.name,
        pages=len(found),
        seen=seen,
        expired=expired,
        whole=whole,
        kept={reason: rows for reason, rows in kept.items() if rows},
        malformed=tuple(malformed)[:NAMED_TENANTS],
        raised=raised,
        lookups=(yield from _look_ups(rule)),
        statements=rule.first_cost + typical * rule.page_cost,
        saving=(yield from _saving(state, found, whole)),
        refused=None if further is None else (yield from _refused(further, now_ms)),
        cost=cost(rule, first, metered) if further is None and state.receipt.rows_read is not None else None,
    )


def _recounted(plan: FurtherPlan, page: Boundary, stretch: Range, now_ms: int) -> Generator[Step, list[Result] | None, Boundary]:
    statement = plan.recount(stretch, now_ms)
    if statement is None:
        return page
    rows = yield from _rows(statement)
    return replace(page, expired=int(rows[0][0] or 0))  # type: ignore[arg-type]


def _refused(plan: FurtherPlan, now_ms: int) -> Generator[Step, list[Result] | None, str | None]:
    statement = plan.guard(now_ms)
    if statement is None:
        return None
    rows = yield from _rows(statement)
    return plan.objection(rows[0])


def _saving(state: Traversal, found: list[Boundary], whole: bool) -> Generator[Step, list[Result] | None, Saving | None]:
    """What the plan's advice would save, None where it is not worth saying; the tail of a large table that has no rowid is not known."""
    if state.rule.advice is None:
        return None
    saving = Saving(sum(p.seen for p in found), sum(p.old for p in found), whole)
    if not whole and state.rule.pages.walk.integers:
        guess = yield from sample(state.rule, state.cutoffs, state.high)
        saving = Saving(max(saving.now, guess.now), max(saving.then, guess.then), exact=False)
    return saving if saving.pays else None


def _next_page(state: Traversal) -> Generator[Step, list[Result] | None, tuple[Boundary, bool]]:
    """Count the next page and move behind it, as a run's traversal does. Returns it, and whether it was the last."""
    page = state.next_range()
    found = yield from _boundary(state, page)
    page = Range(within=found.within) if found.within else page
    if not found.filled:
        # The last rows of one age, behind which others follow; else the end.
        state.cursor = page.within
        return found, not page.within
    state.cursor = page.within + found.last
    return found, state.cursor == state.high


def _boundary(state: Traversal, page: Range) -> Generator[Step, list[Result] | None, Boundary]:
    pages, keys = state.rule.pages, state.rule.max_keys
    (result,) = yield from ask(state, Batch((pages.boundary(page, keys, state.cutoffs),)))
    return pages.read_boundary(page, keys, result.rows[0])


def _rows(statement: Statement) -> Generator[Step, list[Result] | None, Sequence[tuple[Value, ...]]]:
    results = yield Batch((statement,))
    assert results is not None
    return results[0].rows


def _raised(tenant: TenantKeep) -> Generator[Step, list[Result] | None, tuple[str, ...]]:
    """Tenants whose own keep is shorter than `shortest`, which raises it."""
    if not tenant.shortest_ms:
        return ()
    source = column(tenant.table, tenant.days or tenant.settings or "")
    days = "v" if tenant.days is not None else _SETTING.format(setting=text(tenant.setting or ""))
    tenants = f"SELECT {column(tenant.table, tenant.key)} AS k, {source} AS v FROM {name(tenant.table)} LIMIT {TENANT_ROWS}"
    sql = (
        f"SELECT CAST(k AS TEXT) FROM (SELECT k, {days} AS days FROM ({tenants})) "
        f"WHERE {is_number('days')} AND days > 0 AND days < ?1 LIMIT {NAMED_TENANTS}"
    )
    rows = yield from _rows(Statement(sql, (tenant.shortest_ms / DAY_MS,)))
    return tuple(str(row[0]) for row in rows)


def _look_ups(rule: RulePlan) -> Generator[Step, list[Result] | None, tuple[LookUp, ...]]:
    """The tables that a statement reads whole, once, and their sizes."""
    found: list[LookUp] = []
    for table in _scanned(rule):
        rows = yield from _rows(Statement(f"SELECT count(*) FROM (SELECT 1 FROM {name(table)} LIMIT {LOOKUP_ROWS + 1})"))
        count = int(rows[0][0] or 0)  # type: ignore[arg-type]
        found.append(LookUp(table, min(count, LOOKUP_ROWS), count <= LOOKUP_ROWS))
    return tuple(found)


def _scanned(rule: RulePlan) -> list[str]:
    """Tables in the SCAN lines of the query plans. A line names a table by its alias, which the condition's text resolves."""
    tables: set[str] = set()
    known = {fold(table): table for table in rule.reads}
    for plan in rule.plans:
        if plan.label == "high-water":
            continue
        for scanned in _SCAN.findall("\n".join(plan.lines)):
            alias = scanned.strip('"')
            for table in [alias, *re.findall(rf'"?(\w+)"?\s+(?:AS\s+)?"?{re.escape(alias)}\b', rule.shape.only or "", re.IGNORECASE)]:
                if fold(table) in known and fold(table) != fold(rule.table):
                    tables.add(known[fold(table)])
    return sorted(tables)

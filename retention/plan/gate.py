"""The gate: before a first delete the exact statements are planned by the database, and a bad plan is refused.

Refused is a plan that scans or sorts the rule's table, a child or a table that a correlated subquery reads. A table that is read once for
the whole statement may be scanned; the plan shows it.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType

from ..capabilities import Capabilities
from ..errors import HostError, Refused
from ..schema.tokens import name_of, tokens
from ..statements.ages import DAY_MS, MAX_MS
from ..statements.condition import KEEPS, Cutoff
from ..statements.drain import FOUND
from ..statements.keys import Key
from ..statements.pages import EDGES, Range
from ..statements.quoting import column, name
from ..steps import Batch, Result, Statement, Step, Value
from .drain import FAMILY, drain_samples
from .model import QueryPlan, RulePlan
from .small import Size, Small

__all__ = ["explain", "judge", "outline", "plausibility", "samples"]

PLAUSIBLE_ROWS = 1_000
"""Rows of the first page whose ages are looked at: enough to tell seconds from milliseconds."""

_FROM_MS = 631_152_000_000  # 1990-01-01: before SQLite, and 20 years after the epoch that a wrong unit lands in
_AHEAD_MS = 3_652 * DAY_MS  # 10 years

_VISIT = re.compile(r"^(SCAN|SEARCH) (.+?)(?: EXISTS)?( (?:USING|VIRTUAL TABLE|LEFT-JOIN)\b.*)?$", re.DOTALL)
_OURS = re.compile(rf"^SCAN (\(subquery-\d+\)|{EDGES}\b|{FOUND}\b|\(join-\d+\)|CONSTANT ROW|j VIRTUAL TABLE|\d+ CONSTANT ROWS?)")
_KEEPS = re.compile(rf"^SEARCH {KEEPS} USING AUTOMATIC (PARTIAL )?(COVERING )?INDEX \(tenant=\?\)$")
_SORT = re.compile(r"^USE TEMP B-TREE FOR (?!json_group_array|count|group_concat|GROUP BY)")


def samples(rule: RulePlan, now_ms: int) -> list[tuple[str, Statement]]:
    """The rule's statements as they will run, with keys that only stand for others."""
    pages, cutoffs = rule.pages, rule.cutoffs(now_ms)
    key: Key = tuple(0 if pages.walk.integers else "" for _ in pages.walk.columns)
    end = rule.end_key(now_ms)
    after, upto = (key, key) if not pages.walk.by_age else ((end or key)[:1] + key[1:], ())
    if pages.walk.ties:
        after = after[:1]
    keys = rule.max_keys
    found: list[tuple[str, Statement]] = []
    if not pages.walk.by_age:
        found.append(("high-water", pages.high()))
    found += _page_samples(rule, "", Range(after=after, upto=upto, before=end), keys, cutoffs)
    if pages.walk.ties:
        found += _page_samples(rule, " inside one age", Range(within=end or key[:1], after=(0,)), keys, cutoffs)
    if rule.drain is not None:
        found += drain_samples(rule.drain, cutoffs)
    return found


def _page_samples(rule: RulePlan, label: str, page: Range, keys: int, cutoffs: tuple[Value, ...]) -> list[tuple[str, Statement]]:
    pages = rule.pages
    if rule.chunk is not None or rule.drain is not None:
        read = ("rows" + label, pages.rows(page, keys, cutoffs))
        return [read] if label or rule.drain is not None else [read, ("delete", pages.delete_rows([], cutoffs))]
    if rule.certain:
        # The boundary is what the plan counts by.
        following = [] if label else [("delete", pages.delete_next(Range(before=page.before), keys, cutoffs))]
        return [("boundary" + label, pages.boundary(page, keys, cutoffs)), *following]
    exact = Range(within=page.within, after=page.after, upto=page.upto or page.before or page.after)
    return [("boundary" + label, pages.boundary(page, keys, cutoffs)), ("delete" + label, pages.delete(exact, cutoffs))]


def explain(
    rule: RulePlan,
    labelled: Sequence[tuple[str, Statement]],
    host: Capabilities,
    where: str,
    small: Small,
    aliases: frozenset[str] = frozenset(),
) -> Generator[Step, list[Result] | None, tuple[QueryPlan, ...]]:
    """Ask the database for the plans of the rule's statements (`samples`), in one batch, and judge them.

    `small` looks at the tables that they scan.

    Raises:
        Refused: a plan is bad; a statement does not fit the host; the schema's foreign keys cannot be enforced.
    """
    for label, statement in labelled:
        _check_size(label, statement, host, where)
    batch = Batch(tuple(Statement(f"EXPLAIN QUERY PLAN {s.sql}", s.params) for _, s in labelled))
    try:
        results = yield batch
    except HostError as error:
        if error.retryable:
            raise
        if "foreign key mismatch" in str(error):
            raise Refused(
                f'{where}: {error}; mend the parent\'s key, or write foreign_keys = "off" to delete without looking at children.', "schema"
            ) from error
        if error.kind == "limit":
            way = "leave `archive` out: it reads two columns for each of the table's" if "columns" in str(error) else "make `only` shorter"
            raise Refused(f"{where}: its statement does not fit {host.name}: {error}; {way}.", "schema") from error
        if error.kind == "schema":
            raise Refused(
                f"{where}: the database does not accept its statements: {error}. A trigger that runs when rows of {rule.table!r} go, or "
                f"rows that go with them, names what is not there: create that, or drop the trigger. Where rows go with them by a foreign "
                f'key alone, foreign_keys = "off" leaves them alone.',
                "schema",
            ) from error
        raise Refused(f"{where}: the database does not accept its statements: {error}.", "schema") from error
    assert results is not None
    plans = [QueryPlan(label, s.sql, tuple(outline(found.rows))) for (label, s), found in zip(labelled, results, strict=True)]
    for plan in plans:
        scanned = {table for table, _ in _scans(plan.lines, rule, plan.label, aliases)}
        sizes = (yield from small.sizes(rule, plan.sql, scanned)) if scanned else {}
        judge(plan.lines, rule, plan.label, where, aliases, sizes)
    return tuple(plans)


def _check_size(label: str, statement: Statement, host: Capabilities, where: str) -> None:
    size = len(statement.sql.encode())
    if size > host.max_sql_bytes:
        raise Refused(
            f"{where}: its {label} statement has {size} bytes, and {host.name} takes {host.max_sql_bytes}; shorten `only`.", "schema"
        )
    if len(statement.params) > host.max_params:
        raise Refused(
            f"{where}: its {label} statement binds {len(statement.params)} values, and {host.name} takes {host.max_params}; "
            f"walk the table by a shorter key.",
            "schema",
        )
    if size > host.max_pattern_bytes:
        _check_patterns(statement.sql, host, where)


def _check_patterns(sql: str, host: Capabilities, where: str) -> None:
    """A pattern that is too long fails when the first row meets it, which EXPLAIN does not see."""
    parts = [part for part in tokens(sql) if part.text != "("]
    for word, pattern in pairwise(parts):
        length = len(name_of(pattern).encode())
        if word.keyword in ("LIKE", "GLOB") and pattern.kind == "string" and length > host.max_pattern_bytes:
            raise Refused(
                f"{where}: a pattern of {word.keyword} has {length} bytes, and {host.name} takes {host.max_pattern_bytes}; "
                f"write a shorter one, or look with instr() or substr().",
                "schema",
            )


def outline(rows: Sequence[tuple[Value, ...]]) -> list[str]:
    """EXPLAIN QUERY PLAN's rows (id, parent, unused, detail) as lines, two blanks a level."""
    depth: dict[int, int] = {0: -1}
    lines: list[str] = []
    for row in rows:
        node, parent = int(row[0] or 0), int(row[1] or 0)  # type: ignore[arg-type]
        depth[node] = depth.get(parent, -1) + 1
        lines.append("  " * depth[node] + str(row[3]))
    return lines


def judge(
    lines: Sequence[str],
    rule: RulePlan,
    label: str,
    where: str,
    aliases: frozenset[str] = frozenset(),
    sizes: Mapping[str, Size] = MappingProxyType({}),
) -> None:
    """Raises Refused where the plan would not be bounded by its page.

    What is called by one of `aliases` may be scanned, and so may what is small by `sizes`.
    """
    advice = (
        f"add an index that serves the look-up{', or write `only` without it' if rule.section == RulePlan.section else ''}. "
        f"Where there is one, it does not serve because the two sides differ in type or collation: make them one."
    )
    for scanned, node in _scans(lines, rule, label, aliases):
        if sizes.get(scanned) == "small":
            continue
        grows = f"{where}: its {label} would scan {scanned!r} ({node}), which grows with the table and not with the page; "
        if sizes.get(scanned) == "grown":
            raise Refused(f"{grows}run ANALYZE, if its statistics are of a time when it held next to nothing. Else {advice}", "guard")
        raise Refused(f"{grows}{advice}", "guard")
    for node, once in _nodes(lines):
        if not once and (_SORT.match(node) or ("AUTOMATIC" in node and not _KEEPS.match(node))):
            raise Refused(f"{where}: its {label} would sort or index rows each time ({node}); add an index that serves the order.", "guard")


def _scans(lines: Sequence[str], rule: RulePlan, label: str, aliases: frozenset[str]) -> Iterator[tuple[str, str]]:
    """What a plan scans and must not, as the plan calls it, with the node that says so."""
    # The high-water reads one end of the key's own order: a scan that stops at its first row.
    if label == "high-water":
        return
    for node, once in _nodes(lines):
        scanned = _visits_whole(node, not once)
        if scanned is None or _OURS.match(node) or scanned in aliases:
            continue
        if not once or label.startswith(FAMILY) or scanned.strip('"').lower() in {rule.table.lower(), *rule.called}:
            yield scanned, node


def _nodes(lines: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """The nodes of a plan, each with whether it is part of an uncorrelated subquery, which is read once."""
    once: int | None = None  # its depth
    for line in lines:
        depth, node = (len(line) - len(line.lstrip())) // 2, line.strip()
        if once is not None and depth <= once:
            once = None
        if re.match(r"^(SCALAR|LIST|MATERIALIZE) ?(SUBQUERY)?", node) and node != f"MATERIALIZE {EDGES}":
            once = depth if once is None else once
        yield node, once is not None


def _visits_whole(node: str, each_row: bool) -> str | None:
    """The table that a node visits whole.

    A virtual table's INDEX 0 without constraints is its full scan; json_each over a row's own value has another. A SEARCH without an
    index is min() or max(): the end of a key, or a search for it among all rows; read once, it may be either.
    """
    found = _VISIT.match(node)
    if found is None:
        return None
    kind, table, rest = found.groups(default="")
    if kind == "SEARCH":
        return table if not rest and each_row else None
    return table if "VIRTUAL TABLE" not in rest or rest.endswith("INDEX 0:") else None


def plausibility(rule: RulePlan, now_ms: int, where: str) -> Generator[Step, list[Result] | None, None]:
    """Look at the ages of the first and the last page: a wrong unit must be an error, not a purge.

    Raises:
        Refused: all of them lie before 1990, or all of them ten years ahead.
    """
    age = rule.shape.age
    if age is None:
        return
    pages = rule.pages
    form = age.format
    early, late = Cutoff(0, form, age.epoch_ms).value(_FROM_MS), Cutoff(0, form, age.epoch_ms).value(min(MAX_MS, now_ms + _AHEAD_MS))
    keys = pages.walk.columns[:1] if pages.walk.ties else pages.walk.columns
    terms = [f"({pages.walk.where})"] if pages.walk.where else []
    terms += [f"{column(rule.table, keys[0])} IS NOT NULL"] if pages.walk.by_age else []
    source = f"{name(rule.table)} {pages.walk.hint}".rstrip() + (f" WHERE {' AND '.join(terms)}" if terms else "")

    def end(direction: str) -> str:
        order = ", ".join(f"{column(rule.table, c)}{direction}" for c in keys)
        return f"SELECT v FROM (SELECT {age.value(rule.table)} AS v FROM {source} ORDER BY {order} LIMIT {PLAUSIBLE_ROWS})"

    # Both ends: a column that was added later is empty at one of them.
    page = f"{end('')} UNION ALL {end(' DESC')}"
    sql = f"SELECT count(v), coalesce(sum(v < {form.bind('?1')}), 0), coalesce(sum(v >= {form.bind('?2')}), 0) FROM ({page})"
    results = yield Batch((Statement(sql, (early, late)),))
    assert results is not None
    dated, past, future = (int(x or 0) for x in results[0].rows[0])  # type: ignore[arg-type]
    if dated and dated in (past, future):
        side = "before 1990" if past == dated else "more than ten years ahead"
        raise Refused(
            f"{where}: read as {form.name}, all ages on the first page of {rule.table!r} and on the last lie {side}; "
            f"check the unit, or write plausible = false if they are right.",
            "guard",
        )

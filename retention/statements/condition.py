"""The condition of a rule: one SQL expression that says of a row what becomes of it.

    1              it goes
    0              old enough for some keep, but kept
    NULL           younger than every keep
    'undated', 'unreadable', 'malformed', 'held', 'referenced'    kept, and counted under that word

`(<condition>) IS 1` holds for 1 alone, so the same text stands in the query plan, the boundary and the delete. It is a ladder from
cheap to dear: the age against the newest possible cutoff, `only`, the tenant's keep, holds, keep_newest, references.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from .ages import AgeFormat, Bound, clean, is_number, raw
from .quoting import column, integer, name, text, whether

__all__ = [
    "KEEPS",
    "NEWER",
    "REASONS",
    "TENANT",
    "Age",
    "Condition",
    "Cutoff",
    "Hold",
    "Newest",
    "Reference",
    "Shape",
    "TenantKeep",
    "compile_condition",
]

REASONS = ("undated", "unreadable", "malformed", "held", "referenced")
"""The words, in the order in which boundaries count them."""

KEEPS = "retention_keeps"
"""The common table of tenants' cutoffs."""

NEWER = "retention_newer"
"""The alias under which keep_newest looks at other rows of the rule's table."""

TENANT = "retention_tenant"
"""The alias of a tenant's row where the tenants' table is the rule's own."""


@dataclass(frozen=True, slots=True)
class Age:
    """Where a row's age stands: columns (the first that is not NULL decides), their form, and an id's epoch (ms).

    `never_null`: the schema keeps one of them from being NULL, so that no row is without an age.
    """

    columns: tuple[str, ...]
    format: AgeFormat
    epoch_ms: int = 0
    never_null: bool = False

    def value(self, table: str) -> str:
        """SQL: the age of the row of `table` (a name or an alias), NULL where it is no time."""
        return self.format.value(self.raw(table))

    def raw(self, table: str) -> str:
        """SQL: the stored value that decides."""
        return raw(tuple(column(table, c) for c in self.columns))


@dataclass(frozen=True, slots=True)
class TenantKeep:
    """Keeps that stand in the database: in a JSON document (`settings`, `setting`) or in a numeric column (`days`).

    Attributes:
        column: the rule table's column that names the tenant.
        table, key: the tenants' table and its unique key.
        shortest_ms: a shorter keep is raised to it.
        at_once: each statement works out all tenants' cutoffs first, and does not read the tenant's row for each row of the table.
        own: the tenants' table is the rule's own.
    """

    column: str
    table: str
    key: str
    settings: str | None = None
    setting: str | None = None
    days: str | None = None
    shortest_ms: int = 0
    at_once: bool = False
    own: bool = False

    @property
    def alias(self) -> str:
        """What a statement calls the tenants' table."""
        return TENANT if self.own else self.table


@dataclass(frozen=True, slots=True)
class Reference:
    """A foreign key that refers to the rule's table. `own_key` is given where the child is the table itself."""

    child: str
    pairs: tuple[tuple[str, str], ...]
    own_key: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hold:
    """A `where` that keeps rows: of the rule's table (`through` is None), or of a child that would go or change with its parent.

    `above` are the keys between the rule's table and the parent of `through`, where that is not the rule's table itself.
    """

    where: str
    through: Reference | None = None
    above: tuple[Reference, ...] = ()


@dataclass(frozen=True, slots=True)
class Newest:
    """Keep the `rows` newest of each group. `only` is the rule's condition rewritten to the alias `NEWER`."""

    rows: int
    per: tuple[str, ...]
    by: tuple[str, ...]
    key: tuple[str, ...]
    only: str | None = None


@dataclass(frozen=True, slots=True)
class Shape:
    """All that decides which rows of a table go. `keep_ms` is None for ever; `age` is None where `only` alone decides."""

    table: str
    keep_ms: int | None
    age: Age | None = None
    only: str | None = None
    tenant: TenantKeep | None = None
    holds: tuple[Hold, ...] = ()
    newest: Newest | None = None
    references: tuple[Reference, ...] = ()

    @property
    def newest_keep_ms(self) -> int | None:
        """The shortest keep that any row can have: no younger row goes. None: no row ever goes."""
        if self.tenant is None:
            return self.keep_ms
        return self.tenant.shortest_ms if self.keep_ms is None else min(self.keep_ms, self.tenant.shortest_ms)


@dataclass(frozen=True, slots=True)
class Cutoff:
    """A bound value of the condition: the run's clock less a keep, in the age's form (`format` None: the clock itself, in ms)."""

    keep_ms: int
    format: AgeFormat | None
    epoch_ms: int = 0

    def value(self, now_ms: int) -> Bound:
        """The value for a run at `now_ms`; a cutoff before 1970 is 1970, which keeps more."""
        at = max(0, now_ms - self.keep_ms)
        return str(at) if self.format is None else self.format.encode(at, self.epoch_ms)


@dataclass(frozen=True, slots=True)
class Condition:
    """Attributes:
    sql: the expression, with parameters ?1 to ?N.
    cutoffs: what to bind to them first.
    reasons: the words that it may say.
    extra: parameters behind the cutoffs, for whoever runs the statements to bind.
    given: the common table that the expression reads, to stand behind the WITH of a statement, or nothing.
    """

    sql: str
    cutoffs: tuple[Cutoff, ...] = ()
    reasons: tuple[Literal["undated", "unreadable", "malformed", "held", "referenced"] | str, ...] = field(default=())
    extra: int = 0
    given: str = ""

    @property
    def parameters(self) -> int:
        """N."""
        return len(self.cutoffs) + self.extra

    def bound(self, now_ms: int) -> tuple[Bound, ...]:
        """The parameters' values for a run at `now_ms`."""
        return tuple(c.value(now_ms) for c in self.cutoffs)


def compile_condition(shape: Shape) -> Condition:
    """The condition of a rule. Every name in `shape` exists; `only` and `where` are trusted, complete expressions."""
    cutoffs: list[Cutoff] = []
    reasons: list[str] = []

    def bind(keep_ms: int, form: AgeFormat | None, epoch_ms: int = 0) -> str:
        cutoff = Cutoff(keep_ms, form, epoch_ms)
        if cutoff not in cutoffs:
            cutoffs.append(cutoff)
        parameter = f"?{cutoffs.index(cutoff) + 1}"
        return integer(parameter) if form is None else form.bind(parameter)

    tail = _kept_for_others(shape, reasons)
    shortest = shape.newest_keep_ms
    if shape.age is None:
        sql = "0" if shortest is None else _selected(shape.only, tail)
        return Condition(sql, (), tuple(reasons))
    if shortest is None:
        return Condition("NULL")

    age, raw_age = shape.age, shape.age.raw(shape.table)
    # A plain number is compared as it stands, where old rows need no look at its class: NULL compares with nothing, and texts and blobs
    # are above every number (sqlite.org/datatype3.html, 4.1). `+` keeps both sides from being converted.
    value = f"+{raw_age}" if age.format.plain else age.value(shape.table)
    newest = bind(shortest, age.format, age.epoch_ms)
    given = ""
    if shape.tenant is not None:
        own = "0" if shape.keep_ms is None else f"{value} < +{bind(shape.keep_ms, age.format, age.epoch_ms)}"
        now = bind(0, None)
        tenant = _tenant_verdict(shape.table, shape.tenant, age, value, now)
        given = _keeps(shape.tenant, age, now) if shape.tenant.at_once else ""
        reasons.insert(0, "malformed")
        keeps = [tenant, own]
        if shape.tenant.at_once and age.format.plain:
            keeps.insert(0, _whatever_tenant(value, own))
        tail = f"CASE coalesce({', '.join(keeps)}) WHEN 0 THEN 0 WHEN 1 THEN {tail} ELSE 'malformed' END"
    reasons[:0] = ["unreadable"] if age.never_null else ["undated", "unreadable"]
    undated = "'unreadable'" if age.never_null else f"CASE WHEN {raw_age} IS NULL THEN 'undated' ELSE 'unreadable' END"
    old, unread = _selected(shape.only, tail), _selected(shape.only, undated)
    if age.format.plain:
        sql = f"CASE WHEN {value} < +{newest} THEN {old} WHEN {is_number(raw_age)} THEN NULL ELSE {unread} END"
    else:
        sql = f"CASE {value} < {newest} WHEN 0 THEN NULL WHEN 1 THEN {old} ELSE {unread} END"
    return Condition(sql, tuple(cutoffs), tuple(reasons), given=given)


def _selected(only: str | None, then: str) -> str:
    return then if only is None else f"CASE WHEN ({only}) THEN {then} ELSE 0 END"


def _kept_for_others(shape: Shape, reasons: list[str]) -> str:
    """What holds, keep_newest and references say of an expired row."""
    arms: list[str] = []
    for hold in shape.holds:
        if hold.through is None:
            arms.append(f"WHEN ({hold.where}) THEN 'held'")
        else:
            arms.append(f"WHEN EXISTS ({_rows_below(shape.table, (*hold.above, hold.through), hold.where)}) THEN 'held'")
    if shape.newest is not None:
        arms.append(f"WHEN NOT EXISTS ({_newer_rows(shape)}) THEN 0")
    arms += [f"WHEN EXISTS ({_child_rows(shape.table, ref)}) THEN 'referenced'" for ref in shape.references]
    reasons += ["held"] * bool(shape.holds) + ["referenced"] * bool(shape.references)
    return f"CASE {' '.join(arms)} ELSE 1 END" if arms else "1"


def _rows_below(table: str, keys: tuple[Reference, ...], where: str, level: int = 0) -> str:
    """Rows at the end of a chain of keys, each looked up through the key above; the last table keeps its own name, for `where`."""
    first, *rest = keys
    if not rest:
        return _child_rows(table, first, where)
    alias = f"retention_{level}"
    terms = [f"{column(table, parent)} = {column(alias, c)}" for c, parent in first.pairs]
    below = _rows_below(alias, tuple(rest), where, level + 1)
    return f"SELECT 1 FROM {name(first.child)} AS {name(alias)} WHERE {' AND '.join(terms)} AND EXISTS ({below})"


def _child_rows(table: str, ref: Reference, where: str | None = None) -> str:
    child = "retention_child" if ref.own_key else ref.child
    source = f"{name(ref.child)} AS {name(child)}" if ref.own_key else name(ref.child)
    # The parent stands on the left: its collation and affinity rule, as in SQLite's own foreign-key look-up.
    terms = [f"{column(table, parent)} = {column(child, c)}" for c, parent in ref.pairs]
    if ref.own_key:
        terms.append("NOT (" + " AND ".join(f"{column(child, k)} IS {column(table, k)}" for k in ref.own_key) + ")")
    if where is not None:
        terms.append(whether(f"({where})"))
    return f"SELECT 1 FROM {source} WHERE {' AND '.join(terms)}"


def _newer_rows(shape: Shape) -> str:
    """One row where there are as many newer ones in the group as are kept."""
    newest = shape.newest
    assert newest is not None
    group = [f"{column(NEWER, c)} IS {column(shape.table, c)}" for c in newest.per]
    counts: list[str] = []
    if shape.age is not None:
        counts.append(f"{shape.age.value(NEWER)} IS NOT NULL")
    if newest.only is not None:
        counts.append(whether(f"({newest.only})"))

    def rows(*terms: str) -> str:
        return f"SELECT 1 FROM {name(shape.table)} AS {name(NEWER)} WHERE {' AND '.join((*group, *terms, *counts))}"

    def above(columns: tuple[str, ...]) -> str:
        mine, theirs = (", ".join(column(t, c) for c in columns) for t in (shape.table, NEWER))
        return f"({theirs}) > ({mine})"

    found = rows(above(newest.by))
    if newest.key:
        # Apart, because in one comparison SQLite does not seek the rowid behind an index, and would pass all rows with an equal `by`.
        equal = (f"{column(NEWER, c)} = {column(shape.table, c)}" for c in newest.by)
        found = f"SELECT 1 FROM ({found} UNION ALL {rows(*equal, above(newest.key))})"
    return f"{found} LIMIT 1 OFFSET {newest.rows - 1:d}"


def _tenant_verdict(table: str, tenant: TenantKeep, age: Age, value: str, now: str) -> str:
    """1 or 0 by the tenant's keep, NULL where the rule's own keep decides, 'malformed'."""
    here = column(table, tenant.column)
    if tenant.at_once:
        # `+` takes away the affinity that a column of a common table may have been given.
        verdict = f"CASE typeof(cut) WHEN 'null' THEN NULL WHEN 'blob' THEN 'malformed' ELSE {value} < +cut END"
        return f"(SELECT {verdict} FROM {name(KEEPS)} WHERE {column(KEEPS, 'tenant')} = {here})"

    def expired(cutoff: str, beyond: str) -> str:
        return f"CASE WHEN {beyond} THEN 0 ELSE {value} < +({cutoff}) END"

    verdict = _of_tenant(tenant, age, now, expired, never="0", malformed="'malformed'")
    called = f"{name(tenant.table)} AS {name(TENANT)}" if tenant.own else name(tenant.table)
    return f"(SELECT {verdict} FROM {called} WHERE {column(tenant.alias, tenant.key)} = {here})"


def _whatever_tenant(value: str, own: str) -> str:
    """1 or 0 where the rule's own keep and all tenants' say the same, so that the tenant need not be looked up; else NULL, as it is where
    a document is malformed, whose rows are kept. In a backlog and among young rows that is most of them: a look-up takes 0.3 µs a row."""

    def cut(of: str) -> str:
        # Worked out once a statement. A blob is above all that can be a cutoff.
        return f"(SELECT CASE typeof(max(cut)) WHEN 'blob' THEN NULL ELSE {of}(cut) END FROM {name(KEEPS)})"

    return f"CASE WHEN {value} < +{cut('min')} THEN CASE WHEN {own} THEN 1 END WHEN {value} >= +{cut('max')} AND NOT ({own}) THEN 0 END"


def _keeps(tenant: TenantKeep, age: Age, now: str) -> str:
    """The common table of all tenants' cutoffs: NULL where the rule's own keep decides, a blob where the document is malformed."""
    never = "''" if age.format.order == "text" else "-9e999"

    def stored(cutoff: str, beyond: str) -> str:
        return f"CASE WHEN {beyond} THEN {never} ELSE {cutoff} END"

    cut = _of_tenant(tenant, age, now, stored, never=never, malformed="x''")
    key = column(tenant.table, tenant.key)
    return f"{name(KEEPS)} AS MATERIALIZED (SELECT {key} AS tenant, {cut} AS cut FROM {name(tenant.table)})"


def _of_tenant(tenant: TenantKeep, age: Age, now: str, then: Callable[[str, str], str], *, never: str, malformed: str) -> str:
    """SQL over a tenant's row: NULL where it sets no keep, or `then(cutoff, whether that lies before 1970 and so keeps for ever)`."""

    def kept(days: str) -> str:
        if tenant.shortest_ms:
            days = f"max({days}, {tenant.shortest_ms / 86_400_000!r})"
        span = f"{days} * 86400000.0"
        return then(age.format.from_ms(f"CAST({now} - {span} AS INTEGER)", age.epoch_ms), f"{span} >= {now}")

    if tenant.days is not None:
        days = column(tenant.alias, tenant.days)
        number = f"{is_number(days)} AND {days} > 0"
        return f"CASE WHEN {days} IS NULL THEN NULL WHEN {number} THEN {kept(days)} ELSE {never} END"
    assert tenant.settings is not None
    assert tenant.setting is not None
    document = column(tenant.alias, tenant.settings)
    # Under its own name: an alias could be the name of a table whose column the document or the age is.
    setting = (
        f"(SELECT CASE count(*) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN min(json_each.type) IN ('integer', 'real') "
        f"AND min(json_each.value) > 0 THEN {kept('min(json_each.value)')} ELSE {never} END ELSE {malformed} END "
        f"FROM json_each({document}) WHERE json_each.key = {text(tenant.setting)})"
    )
    whole = f"json_valid({document}) AND {clean(document)}"
    return (
        f"CASE WHEN {document} IS NULL OR {document} = '' THEN NULL WHEN NOT ({whole}) THEN {malformed} "
        f"ELSE CASE json_type({document}) WHEN 'null' THEN NULL WHEN 'object' THEN {setting} ELSE {malformed} END END"
    )

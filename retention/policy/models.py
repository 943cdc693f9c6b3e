"""The policy file as models: what the TOML may say, and the Python API to say the same.

Each model checks itself, a rule its parts against each other, and the policy its rules. Building any of them from wrong data raises
`Invalid`, a `PolicyError`. `docs/policy.md` says what each key means.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, cast

from pydantic import BeforeValidator, Field, field_validator, model_validator

from ..errors import PolicyError
from .age_model import Age, Format
from .base import Count, Invalid, Listed, Model, Name, Names, Problem, nearest, show
from .closure_models import Closure
from .conditions import parse_condition
from .durations import DAY, Duration, Keep, at_least, show_duration
from .ledger_models import Claims, Events
from .migration_models import Migration
from .sweep_models import Sweep

__all__ = ["Age", "Format", "Hold", "KeepNewest", "Lease", "Limits", "Mode", "Policy", "Rule", "Tenant", "Tenants", "Walk"]

NO_COLUMN_ORDER = frozenset({"iso8601", "mixed"})
"""Formats whose stored order is not the order in time: offsets, and several formats in one column."""

MAX_PAGE_ROWS = 1_000_000
"""Rows: a page is read in one statement, and a remote host cannot be stopped within one."""


class Tenant(Model):
    """`setting` is a key of the tenants' JSON document; `days` is a numeric column of the tenants' table. Exactly one."""

    column: Name
    setting: Name | None = None
    days: Name | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Tenant:
        if (self.setting is None) == (self.days is None):
            both = "has both setting and days" if self.setting else "has neither setting nor days"
            raise ValueError(f"{both}; name either a key of the tenants' JSON document or a column that holds days")
        return self


class KeepNewest(Model):
    """The newest `rows` of each group stay. `by` is the order, by default the age's columns."""

    rows: Count
    per: Names = ()
    by: Names = ()

    @model_validator(mode="after")
    def _apart(self) -> KeepNewest:
        common = {name.lower() for name in self.per} & {name.lower() for name in self.by}
        if common:
            raise ValueError(f"{sorted(common)[0]} is both in per and in by, where it orders nothing; leave it out of by")
        return self


class Walk(Model):
    """`walk = "rowid" | "primary_key" | { index = NAME }` in the file."""

    kind: Literal["rowid", "primary_key", "index"]
    index: Name | None = None

    @model_validator(mode="after")
    def _named(self) -> Walk:
        if (self.kind == "index") != (self.index is not None):
            raise ValueError('an index walk names its index and no other does; write { index = "NAME" }')
        return self


class Mode(Model):
    """`mode = "range" | "chunk" | { chunk = ROWS }` in the file; `chunk` is the most rows that one statement deletes."""

    kind: Literal["range", "chunk"] = "range"
    chunk: Annotated[int, Field(ge=1, le=50_000)] | None = None

    @model_validator(mode="after")
    def _sized(self) -> Mode:
        if self.kind == "range" and self.chunk is not None:
            raise ValueError("a range has no chunk size; write { chunk = ROWS } alone")
        return self


def _short_form(value: Any, words: tuple[str, ...], kind: str) -> Any:
    """The model's data for a word, or for a table whose only key is `kind`; anything else as it is, for the model to judge."""
    if isinstance(value, str) and value in words:
        return {"kind": value}
    if isinstance(value, dict) and list(cast("dict[Any, Any]", value)) == [kind]:
        return {"kind": kind, kind: cast("dict[Any, Any]", value)[kind]}
    if isinstance(value, str):
        meant = nearest(value, words)
        choices = ", ".join(show(word) for word in words)
        advice = f"; did you mean {show(meant)}?" if meant else ""
        raise ValueError(f"must be {choices} or a table {{ {kind} = ... }}, not {show(value)}{advice}")
    return cast("Any", value)


def _walk(value: Any) -> Any:
    return _short_form(value, ("rowid", "primary_key"), "index")


def _mode(value: Any) -> Any:
    return _short_form(value, ("range", "chunk"), "chunk")


class Rule(Model):
    """What to delete from one table. The name is the table's unless given; it is the key of the rule's progress and receipt.

    Attributes:
        keep: ms, or `"forever"`.
        revisit: ms between whole traversals of an `ordered` rule.
        page_rows: rows; `Policy.page_rows` is what holds, with the limit.
        max_pages: pages of this rule in one run.
    """

    name: Name
    table: Name
    keep: Keep
    age: Age | None = None
    only: Annotated[str, Field(min_length=1)] | None = None
    tenant: Tenant | None = None
    keep_newest: KeepNewest | None = None
    walk: Annotated[Walk, BeforeValidator(_walk)] | None = None
    mode: Annotated[Mode, BeforeValidator(_mode)] = Mode()
    ordered: bool = False
    revisit: Annotated[Duration, at_least(1)] = 7 * DAY
    page_rows: Count | None = None
    max_pages: Count | None = None
    archive: Annotated[str, Field(min_length=1)] | None = None
    children: Literal["cascade", "drain", "refuse"] = "cascade"
    plausible: bool = True
    enabled: bool = True

    @model_validator(mode="before")
    @classmethod
    def _defaults(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        data = cast("dict[Any, Any]", data)
        implied: dict[str, Any] = {}
        if isinstance(data.get("table"), str):
            implied["name"] = data["table"]
        if data.get("archive") is not None:
            implied["mode"] = "chunk"
        return implied | data

    @model_validator(mode="after")
    def _consistent(self) -> Rule:
        problems = [Problem(path, message) for path, message, wrong in self._faults() if wrong]
        if self.only is not None:
            try:
                parse_condition(self.only, self.table)
            except PolicyError as error:
                problems.append(Problem(("only",), str(error).removesuffix(".")))
        if problems:
            raise Invalid(problems)
        return self

    def _faults(self) -> list[tuple[tuple[str, ...], str, bool]]:
        newest, aged = self.keep_newest, self.age is not None
        default_by = newest is not None and not newest.by
        unordered = self.age is not None and (len(self.age.columns) > 1 or self.age.format in NO_COLUMN_ORDER)
        finite = show_duration(self.keep) if isinstance(self.keep, int) else ""
        selects = self.only is not None or newest is not None
        return [
            ((), "says neither age, only nor keep_newest, so it would take every row; say which rows may go", not (aged or selects)),
            (("keep",), f'is "{finite}", but the rule has no age to measure it by; add age = {{ column = ..., format = ... }}, '
             'or write "0s" to delete whatever only and keep_newest leave', selects and not aged and self.keep not in (0, "forever")),
            (("tenant",), "gives a keep in days, but the rule has no age to measure it by; add age or leave tenant out",
             self.tenant is not None and not aged),
            (("ordered",), "says that the age never falls along the key, but the rule has no age; add age or leave ordered out",
             self.ordered and not aged),
            (("walk",), "follows an index that is led by the age, but the rule has no age; add age or leave walk out",
             self.walk is not None and self.walk.kind == "index" and not aged),
            (("keep_newest",), 'needs an order, and the rule has no age to give one; name the columns, such as by = ["id"]',
             default_by and not aged),
            (("keep_newest",), "needs an order, and this age's columns do not sort in time order; name columns that do in by",
             default_by and unordered),
            (("mode",), 'is "range", which deletes rows unseen, but archive must see them first; write mode = "chunk" or leave it out',
             self.archive is not None and self.mode.kind == "range"),
            (("children",), 'is "drain", which takes rows of other tables along, and the archive would not hold them; '
             "leave archive out, or write rules for the children with archives of their own",
             self.children == "drain" and self.archive is not None),
            (("mode",), 'is "chunk", which deletes no row unseen, but children = "drain" takes whole families; leave mode out',
             self.children == "drain" and self.archive is None and self.mode.kind == "chunk"),
        ]  # fmt: skip


class Hold(Model):
    """Rows of a table that no rule may delete."""

    table: Name
    where: Annotated[str, Field(min_length=1, examples=["legal_hold = 1"])]

    @field_validator("where")
    @classmethod
    def _condition(cls, where: str, info: Any) -> str:
        try:
            parse_condition(where, info.data.get("table", ""))
        except PolicyError as error:
            raise ValueError(str(error).removesuffix(".")) from None
        return where


class Tenants(Model):
    """Keeps that stand in the database itself. `shortest` (ms) is the least that any of them can be."""

    table: Name
    key: Name
    settings: Name | None = None
    shortest: Annotated[Duration, at_least(1)] | None = None


class Limits(Model):
    """What one run may use. `deadline` is in ms, `rows_changed` is for one write with its cascades, `index_rows` for one new index."""

    statements: Count | None = None
    deadline: Annotated[Duration, at_least(1)] | None = None
    rows_changed: Count = 10_000
    page_rows: Annotated[int, Field(ge=1, le=MAX_PAGE_ROWS)] = 50_000
    index_rows: Count = 100_000
    rows_read: Count | None = None
    rows_written: Count | None = None
    wal_bytes: Count = 64 * 1024 * 1024
    duty: Annotated[float, Field(ge=0.01, le=1)] = 1.0


class Lease(Model):
    """One caller at a time on a remote database. `ttl` (ms) is how long a caller that died still counts."""

    table: Name
    ttl: Annotated[Duration, at_least(1_000), Field(examples=["2m"])]


class Policy(Model):
    """A whole policy. Other parts of the product add optional fields, each with models in a file of its own."""

    version: Literal[1] = 1
    foreign_keys: Literal["on", "off"] = "on"
    limits: Limits = Limits()
    lease: Lease | None = None
    tenants: Tenants | None = None
    holds: Annotated[tuple[Hold, ...], Listed] = ()
    rules: Annotated[tuple[Rule, ...], Listed] = ()
    events: Events | None = None
    claims: Claims | None = None
    migrations: Annotated[tuple[Migration, ...], Listed] = ()
    sweeps: Annotated[tuple[Sweep, ...], Listed] = ()
    closures: Annotated[tuple[Closure, ...], Listed] = ()

    def page_rows(self, rule: Rule) -> int:
        """Rows: the most keys that a page of this rule may read. A rule can only lower the limit."""
        return min(rule.page_rows or self.limits.page_rows, self.limits.page_rows)

    @model_validator(mode="after")
    def _consistent(self) -> Policy:
        problems = [
            Problem(("rules", place, *path), message)
            for place, rule in enumerate(self.rules)
            for path, message, wrong in self._faults(place, rule)
            if wrong
        ]
        problems += [
            Problem((section, place, "name"), f"is {show(one.name)} like an earlier one's; progress is kept by name, so write another")
            for section, listed in (("sweeps", self.sweeps), ("closures", self.closures), ("migrations", self.migrations))
            for place, one in enumerate(listed)
            if one.name in [other.name for other in listed[:place]]
        ]
        problems += [
            Problem(("sweeps", place, "event"), "is written to the log, and the policy names none; add [events]")
            for place, sweep in enumerate(self.sweeps)
            if sweep.event is not None and self.events is None
        ]
        problems += [
            Problem(("closures", place, "acked"), "asks who has read the log, and no cursors are named; add [events] and [events.cursors]")
            for place, closure in enumerate(self.closures)
            if closure.acked and (self.events is None or self.events.cursors is None)
        ]
        if problems:
            raise Invalid(problems)
        return self

    def _faults(self, place: int, rule: Rule) -> list[tuple[tuple[str, ...], str, bool]]:
        tenant, tenants = rule.tenant, self.tenants
        unbounded = tenant is not None and tenants is not None and tenants.shortest is None
        return [
            (("name",), f"is {show(rule.name)} like an earlier rule's; progress is kept by name, so write a name of its own",
             rule.name in [other.name for other in self.rules[:place]]),
            (("tenant",), "needs to know where the tenants stand; add [tenants] with table and key",
             tenant is not None and tenants is None),
            (("tenant", "setting"), "is a key of the tenants' JSON document, but [tenants] names none; add settings = COLUMN there",
             tenant is not None and tenant.setting is not None and tenants is not None and tenants.settings is None),
            (("ordered",), "stops at the newest possible cutoff, which a tenant's keep may move; add shortest to [tenants]",
             rule.ordered and unbounded),
            (("walk",), "ends at the newest possible cutoff, which a tenant's keep may move; add shortest to [tenants]",
             rule.walk is not None and rule.walk.kind == "index" and unbounded),
        ]  # fmt: skip

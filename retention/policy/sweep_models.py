"""`[[sweeps]]`: work that has stopped, and what is written when it is ended. docs/sweeps.md says what each key means.

[[sweeps]]
name    = "stalled_no_heartbeat"
table   = "schedule_slots"
where   = "status = 'running'"
age     = [ { column = "heartbeat_at", format = "unix_ms" }, { column = "started_at", format = "utc_text" } ]
timeout = { default = "15m", floor = "60s" }
lease   = { until = "lease_until", format = "unix_ms" }
set     = { status = "{rollup}", last_error = "{message}", completed_at = "{now:utc_text}" }
clear   = ["lease_owner", "lease_until"]
message = "stopped making progress"

[sweeps.children]
table  = "schedule_slot_items"
parent = "slot_id"
open   = "status IN ('pending', 'selected')"
set    = { status = "failed", terminal_reason_code = "{reason}" }

[sweeps.rollup]
status = "status"
rules  = [ { none = true, to = "failed" }, { any = ["submitted"], to = "partial" }, { to = "failed" } ]
"""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, cast

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator, model_validator

from ..errors import PolicyError
from .age_model import Age, Format
from .base import Count, Invalid, Listed, Model, Name, Names, Problem, show
from .conditions import parse_condition
from .durations import Duration, parse_duration, show_duration

__all__ = ["Ages", "Children", "Rollup", "RollupRule", "Sweep", "SweepEvent", "Timeout", "WorkLease", "checked_condition"]

MINUTE = 60_000

PLACEHOLDERS = frozenset({"reason", "message", "now", "rollup"})
"""What `set` may hold in braces: the sweep's name, its message, the clock in a format (`{now:utc_text}`), the derived status."""

Text = Annotated[str, Field(min_length=1)]
Statuses = Annotated[tuple[Text, ...], Listed, Field(min_length=1)]
Values = dict[Name, str | int]


def checked_condition(text: str, info: ValidationInfo) -> str:
    """A condition over rows of the model's `table`. Raises ValueError with a sentence."""
    try:
        parse_condition(text, info.data.get("table", ""))
    except PolicyError as error:
        raise ValueError(str(error).removesuffix(".")) from None
    return text


def _ages(value: Any) -> Any:
    return tuple(cast("list[Any]", value)) if isinstance(value, list) else (value,) if isinstance(value, dict | Age) else value


Ages = Annotated[tuple[Age, ...], BeforeValidator(_ages), Field(min_length=1, examples=[{"column": "started_at", "format": "unix_ms"}])]
"""One age or several; the first column that is not NULL decides."""


def _timeout(value: Any) -> Any:
    return {"default": value} if isinstance(value, str) else value


class Timeout(Model):
    """How long work may go on without a sign of life; `timeout = "15m"` stands for its default alone.

    Attributes:
        default: ms.
        floor: ms; a shorter timeout would end work that only waits for its turn.
        value: what an operator has set in place of the default. What is no duration, or below the floor, is passed over with a warning:
            a slip must not end healthy work.
    """

    default: Annotated[Duration, Field(examples=["15m"])]
    floor: Duration = MINUTE
    value: Any = None

    @model_validator(mode="after")
    def _above(self) -> Timeout:
        if self.default < self.floor:
            least = show_duration(self.floor)
            raise Invalid([Problem(("default",), f"is {show_duration(self.default)}, below the floor of {least}; write {least} or more")])
        return self

    def resolved(self) -> tuple[int, str | None]:
        """The timeout in ms, and a warning where `value` was passed over."""
        if self.value is None:
            return self.default, None
        try:
            ms = parse_duration(self.value)
        except (TypeError, ValueError):
            return self.default, f'timeout {show(self.value)} is no duration, such as "20m"; {show_duration(self.default)} holds instead'
        if ms < self.floor:
            least = show_duration(self.floor)
            return self.default, f"timeout {show(self.value)} is below the floor of {least}; {show_duration(self.default)} holds instead"
        return ms, None


class WorkLease(Model):
    """A worker's claim. It is dead when `until` is NULL or not after now."""

    until: Name
    format: Annotated[Format, Field(examples=["unix_ms"])]


class SweepEvent(Model):
    """The event that is written to the log of `[events]` for each row that is ended; the row's key is its stream.

    Attributes:
        once: a stream has one event of this kind; a repeat writes none.
    """

    kind: Annotated[str, Field(min_length=1, examples=["job.failed"])]
    once: bool = True


class Children(Model):
    """Rows that end with their parent.

    Attributes:
        parent: the column that holds the parent's key.
        open: which of them are ended; the others stay as they are.
        set: what is written to them.
    """

    table: Name
    parent: Name
    open: Annotated[str, Field(min_length=1, examples=["status = 'pending'"])]
    set: Annotated[Values, Field(min_length=1)]

    _open = field_validator("open")(checked_condition)

    @model_validator(mode="after")
    def _filled(self) -> Children:
        _check_placeholders(self.set, PLACEHOLDERS - {"rollup"})
        return self


class RollupRule(Model):
    """One line of the derivation: `none` (no children), `any` (one of them has one of these), `all` (each has), or nothing: always."""

    none: Literal[True] | None = None
    any: Statuses | None = None
    all: Statuses | None = None
    to: Text

    @property
    def always(self) -> bool:
        return self.none is None and self.any is None and self.all is None

    @model_validator(mode="after")
    def _one(self) -> RollupRule:
        if sum(part is not None for part in (self.none, self.any, self.all)) > 1:
            raise ValueError("has more than one of none, any and all; write a line for each")
        return self


class Rollup(Model):
    """The parent's status from its children's, after their write; the first line that matches.

    Attributes:
        status: the children's column.
    """

    status: Name
    rules: Annotated[tuple[RollupRule, ...], Listed, Field(min_length=1)]

    @model_validator(mode="after")
    def _total(self) -> Rollup:
        always = [place for place, rule in enumerate(self.rules) if rule.always]
        if always != [len(self.rules) - 1]:
            raise Invalid([Problem(("rules",), 'must end with one line that always holds, such as { to = "failed" }, and no other')])
        return self


class Sweep(Model):
    """Rows that are due when their age has passed the timeout and their lease is dead, and what ends them.

    Attributes:
        name: also the reason code, `{reason}`.
        where: which rows are live. `set` must make it false.
        key: a unique column that names a row; by default the primary key.
        set, clear: what is written to the row: values with placeholders, and columns that become NULL.
        message: the sentence for `{message}`; by default the name.
        batch: rows that one write ends. max_batches: writes of one run.
    """

    name: Text
    table: Name
    where: Annotated[str, Field(min_length=1, examples=["status = 'running'"])]
    age: Ages
    timeout: Annotated[Timeout, BeforeValidator(_timeout)]
    lease: WorkLease | None = None
    key: Name | None = None
    set: Annotated[Values, Field(min_length=1, examples=[{"status": "failed"}])]
    clear: Names = ()
    message: str = ""
    batch: Annotated[int, Field(ge=1, le=1_000)] = 100
    max_batches: Count = 10
    event: SweepEvent | None = None
    children: Children | None = None
    rollup: Rollup | None = None
    enabled: bool = True

    _where = field_validator("where")(checked_condition)

    @model_validator(mode="after")
    def _consistent(self) -> Sweep:
        problems = [Problem(path, message) for path, message, wrong in self._faults() if wrong]
        if problems:
            raise Invalid(problems)
        _check_placeholders(self.set, PLACEHOLDERS if self.rollup else PLACEHOLDERS - {"rollup"})
        return self

    def _faults(self) -> list[tuple[tuple[str, ...], str, bool]]:
        cleared = {column.lower() for column in self.clear} & {column.lower() for column in self.set}
        uses = any(field == "rollup" for value in self.set.values() for field in _fields(value))
        return [
            (("rollup",), "is derived from children; add [sweeps.children]", self.rollup is not None and self.children is None),
            (("rollup",), 'is never written; write "{rollup}" for a column in set, or leave it out', self.rollup is not None and not uses),
            (("clear",), f"names {', '.join(sorted(cleared))}, which set writes as well; leave it out of one of them", bool(cleared)),
        ]


def _check_placeholders(values: Mapping[str, str | int], known: frozenset[str]) -> None:
    spelt: dict[str, str] = {}
    for column in values:
        if column.lower() in spelt:
            raise Invalid([Problem(("set", column), f"is the column {spelt[column.lower()]} once more; write it once")])
        spelt[column.lower()] = column
    for column, value in values.items():
        for field in _fields(value, column):
            if field not in known:
                raise Invalid([Problem(("set", column), f"has the placeholder {show(field)}, which nothing fills; {_known(known)}")])


def _known(known: frozenset[str]) -> str:
    return "known are " + ", ".join("{now:FORMAT}" if field == "now" else f"{{{field}}}" for field in sorted(known))


def _fields(value: str | int, column: str = "") -> Iterator[str]:
    if isinstance(value, int):
        return
    try:
        parts = list(string.Formatter().parse(value))
    except ValueError as error:
        raise Invalid([Problem(("set", column), f"is not a template ({error}); write {{{{ and }}}} for braces")]) from None
    for _, field, form, conversion in parts:
        if field is None:
            continue
        if (field == "now") != bool(form) or conversion:
            raise Invalid([Problem(("set", column), 'writes the clock as "{now:utc_text}" or in another format, and nothing else has one')])
        yield field

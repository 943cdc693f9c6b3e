"""`[[closures]]`: a row with all that belongs to it, deleted as one. docs/closures.md says what each key means.

[[closures]]
table    = "schedule_slots"
keep     = "90d"
age      = { column = "completed_at", format = "utc_text" }
terminal = "status IN ('success', 'partial', 'failed', 'expired')"
lease    = { until = "lease_until", format = "unix_ms" }
acked    = true

[[closures.members]]
table = "schedule_slot_items"
on    = "schedule_slot_items.slot_id = schedule_slots.id"

[[closures.members]]
table  = "deliveries"
on     = "deliveries.slot_id = schedule_slots.id"
open   = "status = 'pending'"
memory = true
"""

from __future__ import annotations

from typing import Annotated, Any, cast

from pydantic import Field, ValidationInfo, field_validator, model_validator

from ..errors import PolicyError
from .age_model import Age
from .base import Count, Invalid, Listed, Model, Name, Problem
from .conditions import parse_condition
from .durations import Duration, Keep, show_duration
from .sweep_models import Ages, WorkLease, checked_condition

__all__ = ["Closure", "Member", "tied"]


def tied(on: str, parent: str) -> str:
    """A member's `on` as a condition about the member: that there is such a parent."""
    return f'EXISTS (SELECT 1 FROM "{parent.replace(chr(34), chr(34) * 2)}" WHERE ({on}))'


class Member(Model):
    """Rows that belong to the parent.

    Attributes:
        on: ties a member's row to its parent's, in terms of both tables.
        open: rows that still have something to do; while there is one, the unit stays.
        memory: later look-ups use these rows to refuse a repeat: they stay when the unit goes, for a `keep` of their own.
        keep, age: of memory; rows whose parent has gone and that are older than the keep are deleted by a rule of their own.
    """

    table: Name
    on: Annotated[str, Field(min_length=1, examples=["items.slot_id = slots.id"])]
    open: Annotated[str, Field(min_length=1)] | None = None
    memory: bool = False
    keep: Keep = "forever"
    age: Age | None = None

    @field_validator("open")
    @classmethod
    def _open(cls, value: str | None, info: ValidationInfo) -> str | None:
        return None if value is None else checked_condition(value, info)

    @model_validator(mode="after")
    def _remembered(self) -> Member:
        if not self.memory and (self.keep != "forever" or self.age is not None):
            raise ValueError("has a keep or an age of its own, which only memory has; add memory = true, or leave them out")
        if self.memory and self.keep != "forever" and self.age is None:
            raise Invalid([Problem(("age",), "is missing, and keep is measured by it; name the column and its format")])
        return self


class Closure(Model):
    """A parent and its members, which go together once the parent is terminal and older than its keep.

    Attributes:
        keep: ms since the age. replay: ms in which a caller may still repeat its request; the keep is at least as long.
        terminal: which parents are at their end.
        lease: a unit whose lease is live stays.
        acked: a unit stays while a live consumer of `[events]` has not read its stream, whose name is the parent's key.
        members: children first: no `on` may read a member that stands before it.
        batch: units that one write deletes. max_batches: writes of one run.
    """

    name: Name
    table: Name
    keep: Duration
    replay: Duration | None = None
    age: Ages
    terminal: Annotated[str, Field(min_length=1, examples=["status IN ('done', 'failed')"])]
    lease: WorkLease | None = None
    key: Name | None = None
    acked: bool = False
    members: Annotated[tuple[Member, ...], Listed] = ()
    batch: Annotated[int, Field(ge=1, le=1_000)] = 50
    max_batches: Count = 100
    enabled: bool = True

    _terminal = field_validator("terminal")(checked_condition)

    @model_validator(mode="before")
    @classmethod
    def _named(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        data = cast("dict[Any, Any]", data)
        return ({"name": data["table"]} if isinstance(data.get("table"), str) else {}) | data

    @model_validator(mode="after")
    def _consistent(self) -> Closure:
        problems = [
            Problem(("members", place, "on"), str(error).removesuffix("."))
            for place, member in enumerate(self.members)
            if (error := _fault(member, self.table)) is not None
        ]
        if self.replay is not None and self.keep < self.replay:
            replay = show_duration(self.replay)
            problems.append(Problem(("keep",), f"is shorter than the {replay} in which a request may be repeated; write {replay} or more"))
        if problems:
            raise Invalid(problems)
        return self


def _fault(member: Member, parent: str) -> PolicyError | None:
    if member.table.lower() == parent.lower():
        return PolicyError("ties the table to itself, so that one row would be parent and member; name another table")
    try:
        parse_condition(member.on, member.table)
        parse_condition(tied(member.on, parent), member.table)
    except PolicyError as error:
        return error
    return None

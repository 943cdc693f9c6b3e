"""Back-filling: an UPDATE in place of the pruner's DELETE; pages, their sizes, halving and progress are the pruner's own."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from ..capabilities import Capabilities
from ..engine.checkpoint import Checkpoint, Entry
from ..engine.prune import Further
from ..engine.range_pages import RangeTraversal
from ..engine.receipt import RuleReceipt
from ..engine.traversal import Traversal
from ..errors import PolicyError
from ..plan.model import RulePlan
from ..plan.names import found_column
from ..plan.walks import choose_walk
from ..policy.conditions import check_names, parse_condition
from ..policy.migration_models import Fill, Migration
from ..policy.models import Policy, Rule
from ..schema.model import Schema, Table, fold
from ..statements.condition import Shape, compile_condition
from ..statements.pages import PageSQL
from ..statements.quoting import name
from ..steps import Batch, Statement

__all__ = ["SECTION", "FillPages", "FillPlan", "check_fill", "fill_plan", "filled", "start_fill"]

SECTION = "migrations"
"""The key of the checkpoint under which the progress of back-fills stands, by step."""


@dataclass(frozen=True)
class FillPages(PageSQL):
    """A page of a back-fill: `assignments` is what stands behind SET."""

    assignments: str = ""

    @lru_cache(maxsize=256)  # noqa: B019 - a plan lives as long as its process wants it
    def _delete(self, shape: Any) -> str:
        return f"UPDATE {self._source} SET {self.assignments} WHERE {self._range(shape)} AND ({self.condition.sql}) IS 1"


@dataclass(frozen=True, slots=True)
class FillPlan(RulePlan):
    """A back-fill, compiled. `summary` is its statement without the range of a page."""

    section: ClassVar[str] = SECTION
    summary: str = ""


@dataclass(slots=True)
class _Filling(RangeTraversal):
    """A back-fill's state: when its one traversal has ended, the checkpoint keeps that."""

    def finish(self) -> None:
        RangeTraversal.finish(self)
        self.whole = self.now_s


def check_fill(step: Migration, fill: Fill, schema: Schema, table: Table) -> None:
    """Raises PolicyError for a name that is not there, or a column that carries the walk."""
    where = f'migration "{step.name}"'
    for column, expression in fill.set.items():
        found = found_column(table, column, where, "column")
        if found.generated or found.pk:
            what = "is computed" if found.generated else "is part of the primary key, by which the rows are visited"
            raise PolicyError(f"{where}: {table.name}.{found.name} {what}, so it cannot be filled.")
        check_names(parse_condition(f"({expression}) IS NULL", table.name, f"{where}: set.{column}"), schema, table)
    check_names(parse_condition(fill.where, table.name, f"{where}: where"), schema, table)


def fill_plan(step: Migration, fill: Fill, policy: Policy, table: Table, host: Capabilities) -> FillPlan:
    """The plan of a back-fill whose names have been checked. Raises Refused where the table's rows cannot be visited in order."""
    rule = Rule(name=step.name, table=table.name, keep="0s", only=fill.where)  # type: ignore[arg-type]
    walk, why = choose_walk(rule, policy, table, f'migration "{step.name}"')
    shape = Shape(table.name, 0, only=fill.where)
    columns = {fold(column): f"{name(column)} = ({expression})" for column, expression in fill.set.items()}
    pages = FillPages(table.name, walk, compile_condition(shape), assignments=", ".join(columns.values()))
    decisive = [table.name, dict(fill.set), fill.where]
    write = Batch((Statement(""),) * (1 if host.exact_changes else 2), writes=True)
    return FillPlan(
        name=step.name,
        table=table.name,
        shape=shape,
        pages=pages,
        why_walk=why,
        max_keys=policy.limits.page_rows,
        max_writes=policy.limits.rows_changed,
        target=0.2 if host.remote else 0.025,
        asks_changes=not host.exact_changes,
        delete_cost=host.cost(write),
        summary=f"UPDATE {name(table.name)} SET {pages.assignments} WHERE {fill.where}",
        digest=hashlib.sha256(json.dumps(decisive).encode()).hexdigest()[:16],
    )


def start_fill(plan: FillPlan, receipt: RuleReceipt, now_ms: int) -> Further:
    """What takes turns in the pruner: the plan, and how it starts from its entry of the checkpoint."""

    def start(entry: Entry | None) -> Traversal:
        state = _Filling.start(plan, entry, receipt, now_ms)
        if state.whole is not None:
            state.done = receipt.finished = True
        return state

    return plan, start


def filled(plan: FillPlan, document: Any) -> bool:
    """Whether the checkpoint says that the back-fill's traversal has ended."""
    entry = Checkpoint.read(document, {SECTION: {plan.name: (plan.walk, plan.digest)}}).entries.get(SECTION, {}).get(plan.name)
    return entry is not None and entry.whole is not None

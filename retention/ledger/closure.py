"""A closure at work, a page at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..engine.checkpoint import Entry
from ..engine.receipt import ClosureReceipt, RuleReceipt
from ..errors import Fenced, HostError
from ..statements.pages import Due
from ..steps import Result, Statement
from .closure_plan import ClosurePlan
from .listed import ListedWalk, key_text

__all__ = ["ClosureWalk"]


@dataclass(slots=True)
class ClosureWalk(ListedWalk):
    """A closure's state during a run.

    Attributes:
        plan: the closure. now_ms: the run's clock.
        closed: units that went. members: rows that went with them, by table.
        too_large: keys of parents whose unit is larger than one write may be.
    """

    plan: ClosurePlan | None = None
    now_ms: int = 0
    closed: int = 0
    members: dict[str, int] = field(default_factory=dict[str, int])
    too_large: list[str] = field(default_factory=list[str])
    labels: tuple[str, ...] = ()

    @classmethod
    def of(cls, plan: ClosurePlan, entry: Entry | None, now_ms: int) -> ClosureWalk:
        """Continue where the checkpoint's entry left off, or begin."""
        state = cls.start(plan, entry, RuleReceipt(plan.name, plan.table), now_ms)
        assert isinstance(state, ClosureWalk)
        state.plan, state.now_ms = plan, now_ms
        state.members = {member.table: 0 for member in plan.statements.members}
        return state

    def restart(self) -> None:
        ListedWalk.restart(self)
        self.too_large = []

    @property
    def _plan(self) -> ClosurePlan:
        assert self.plan is not None
        return self.plan

    def chosen(self, rows: list[Due]) -> tuple[list[Due], int]:
        """As many units as fit one write; a first one that does not fit alone is named and passed."""
        room = self._plan.statements.most
        for place, row in enumerate(rows):
            room -= int(row.shown[0] or 0)  # type: ignore[arg-type]
            if room < 0:
                if place:
                    return rows[:place], place
                self._keep_too_large(row)
                return [], 1
        return rows, len(rows)

    def statements(self, rows: Sequence[Due]) -> list[Statement]:
        batch = self._plan.statements.write([row.identity for row in rows], self.now_ms)
        self.labels = tuple(batch)
        return list(batch.values())

    def written(self, rows: Sequence[Due], results: Sequence[Result]) -> int:
        counts = {
            label: int(result.rows[0][0] or 0)  # type: ignore[arg-type]
            for label, result in zip(self.labels, results, strict=True)
            if label.startswith("changes")
        }
        for table in self.members:
            self.members[table] += counts[f"changes {table}"]
        self.closed += counts["changes"]
        return counts["changes"]

    def failed(self, row: Due, error: HostError) -> None:
        if isinstance(error, Fenced) and error.name == "closure":
            self.raced += 1
        elif error.kind == "too_many_changes":
            self._keep_too_large(row)
        else:
            key = key_text(row.identity)
            self.blocked.append(key)
            self.receipt.blocked += 1
            why = "a trigger keeps a row of its unit" if isinstance(error, Fenced) else str(error)
            self.receipt.error = self.receipt.error or f"{self._plan.table} {key} cannot be deleted: {why}"

    def _keep_too_large(self, row: Due) -> None:
        self.too_large.append(key_text(row.identity))
        self.receipt.too_large += 1

    def report(self) -> ClosureReceipt:
        """What it did so far."""
        receipt = self.receipt
        return ClosureReceipt(
            closure=self._plan.name,
            table=self._plan.table,
            visited=receipt.scanned,
            due=self.due + len(self.too_large),
            closed=self.closed,
            members=dict(self.members),
            raced=self.raced,
            blocked=list(self.blocked),
            too_large=list(self.too_large),
            unconfirmed=receipt.unconfirmed,
            undated=receipt.undated,
            unreadable=receipt.unreadable,
            leased=self.kept.get("leased", 0),
            open=self.kept.get("open", 0),
            unread=self.kept.get("unread", 0),
            held=receipt.held,
            finished=receipt.finished,
            error=receipt.error,
        )

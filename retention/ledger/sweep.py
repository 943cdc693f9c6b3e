"""A sweep at work: the guard before its first write, then a page at a time."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from ..engine.budget import Budget
from ..engine.checkpoint import Entry
from ..engine.receipt import RuleReceipt, SweepReceipt
from ..engine.traversal import Pages, ask
from ..errors import HostError, Refused
from ..statements.pages import Due
from ..steps import Batch, Result, Statement
from .listed import ListedWalk, key_text
from .sweep_plan import SweepPlan

__all__ = ["SweepWalk"]


@dataclass(slots=True)
class SweepWalk(ListedWalk):
    """A sweep's state during a run.

    Attributes:
        plan: the sweep. now_ms: the run's clock.
        skip: keys, as text, of rows to leave alone.
        allowed: a mass ending was asked for; the guard does not look.
        ended, children: rows of its own and of their children.
        partly: said by the guard where it looked at a part.
    """

    verb: ClassVar[str] = "ended"

    plan: SweepPlan | None = None
    now_ms: int = 0
    skip: tuple[str, ...] = ()
    allowed: bool = False
    ended: int = 0
    partly: str | None = None
    children: int = 0
    labels: tuple[str, ...] = field(default=())

    @classmethod
    def of(cls, plan: SweepPlan, entry: Entry | None, now_ms: int, skip: Collection[str], allowed: bool) -> SweepWalk:
        """Continue where the checkpoint's entry left off, or begin."""
        state = cls.start(plan, entry, RuleReceipt(plan.name, plan.table), now_ms)
        assert isinstance(state, SweepWalk)
        state.plan, state.now_ms, state.skip, state.allowed = plan, now_ms, tuple(sorted(skip)), allowed
        state.cutoffs = plan.cutoffs(now_ms, state.skip)
        return state

    @property
    def cost(self) -> int:
        return self._plan.page_cost + (0 if self.high else 1) + (0 if self.allowed else 1)

    @property
    def _plan(self) -> SweepPlan:
        assert self.plan is not None
        return self.plan

    def take_page(self, budget: Budget) -> Pages:
        """One page, and at most one write of it.

        Raises:
            Refused: too many live rows are due at once.
        """
        if not self.allowed:
            self.deleted_now = 0
            yield from self._guard()
            self.allowed = True
        yield from ListedWalk.take_page(self, budget)

    def _guard(self) -> Pages:
        plan = self._plan
        (result,) = yield from ask(self, Batch((plan.guard(self.now_ms, self.skip),)))
        objection = plan.objection(result.rows[0])
        if objection is not None:
            raise Refused(objection)
        self.partly = plan.looked_at_part(result.rows[0])

    @property
    def remark(self) -> str | None:
        """What a person should know: that rows ended although the guard had not seen all that may be live."""
        return self.partly if self.ended else None

    def statements(self, rows: Sequence[Due]) -> list[Statement]:
        batch = self._plan.statements.write([row.identity for row in rows], self.now_ms, self.skip)
        self.labels = tuple(batch)
        return list(batch.values())

    def written(self, rows: Sequence[Due], results: Sequence[Result]) -> int:
        by_label = dict(zip(self.labels, results, strict=True))
        ended = len(by_label["parent"].rows)
        self.ended += ended
        if "changes" in by_label:
            self.children += int(by_label["changes"].rows[0][0] or 0)  # type: ignore[arg-type]
        return ended

    def failed(self, row: Due, error: HostError) -> None:
        key = key_text(row.identity)
        self.blocked.append(key)
        self.receipt.blocked += 1
        why = f"it is due again at once, so set leaves where true ({error})" if error.kind == "error" else str(error)
        self.receipt.error = self.receipt.error or f"{self._plan.table} {key} cannot be ended: {why}"

    def report(self) -> SweepReceipt:
        """What it did so far."""
        receipt = self.receipt
        return SweepReceipt(
            sweep=self._plan.name,
            table=self._plan.table,
            visited=receipt.scanned,
            due=self.due,
            skipped=self.kept.get("skipped", 0),
            ended=self.ended,
            children=self.children,
            raced=self.raced,
            blocked=list(self.blocked),
            unconfirmed=receipt.unconfirmed,
            undated=receipt.undated,
            unreadable=receipt.unreadable,
            finished=receipt.finished,
            error=receipt.error,
        )

"""What a policy's sweeps, closures and log are to a run: compiled beside the rules, taking turns with them, reporting at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from ..capabilities import Capabilities
from ..engine.checkpoint import Entry
from ..engine.prune import Further
from ..engine.receipt import ClosureReceipt, LogReceipt, SweepReceipt
from ..plan.model import FurtherPlan, Plan, RulePlan
from ..policy.models import Policy
from ..schema.model import Schema
from .closure import ClosureWalk
from .closure_plan import ClosurePlan, compile_closure, memory_rules
from .log_walk import LogPlan, LogWalk, compile_log
from .sweep import SweepWalk
from .sweep_plan import SweepPlan, compile_sweep

__all__ = ["Works", "compile_further"]


def compile_further(policy: Policy, schema: Schema, host: Capabilities) -> tuple[Sequence[RulePlan], Sequence[FurtherPlan]]:
    """The rules that the policy implies, its sweeps and closures, and the retention of its log.

    Raises:
        PolicyError, Refused: see `compile_sweep`, `compile_closure` and `compile_log`.
    """
    closures = [closure for closure in policy.closures if closure.enabled]
    implied = [rule for closure in closures for rule in memory_rules(closure, policy, schema, host)]
    sweeps = [compile_sweep(sweep, policy, schema, host) for sweep in policy.sweeps if sweep.enabled]
    closed = [compile_closure(closure, policy, schema, host) for closure in closures]
    return implied, [*sweeps, *closed, *compile_log(policy, schema, host)]


@dataclass(slots=True)
class Works:
    """The sweeps, closures and log of one run.

    Attributes:
        plan: with them in it. now_ms: the run's clock.
        skip: keys of rows that sweeps leave alone.
        allow_mass: names of sweeps that may end most of what is live.
    """

    plan: Plan
    now_ms: int
    skip: frozenset[str] = frozenset()
    allow_mass: frozenset[str] = frozenset()
    _sweeps: list[SweepWalk] = field(default_factory=list[SweepWalk])
    _closures: list[ClosureWalk] = field(default_factory=list[ClosureWalk])
    _logs: list[LogWalk] = field(default_factory=list[LogWalk])

    def further(self) -> list[Further]:
        """What takes turns with the rules."""

        found: list[Further] = []
        for plan in self.plan.further:
            if isinstance(plan, SweepPlan):
                found.append((plan, partial(self._sweep, plan)))
            elif isinstance(plan, ClosurePlan):
                found.append((plan, partial(self._closure, plan)))
            elif isinstance(plan, LogPlan):
                found.append((plan, partial(self._log, plan)))
        return found

    def _sweep(self, plan: SweepPlan, entry: Entry | None) -> SweepWalk:
        self._sweeps.append(SweepWalk.of(plan, entry, self.now_ms, self.skip, plan.name in self.allow_mass))
        return self._sweeps[-1]

    def _closure(self, plan: ClosurePlan, entry: Entry | None) -> ClosureWalk:
        self._closures.append(ClosureWalk.of(plan, entry, self.now_ms))
        return self._closures[-1]

    def _log(self, plan: LogPlan, entry: Entry | None) -> LogWalk:
        self._logs.append(LogWalk.of(plan, entry, self.now_ms))
        return self._logs[-1]

    def sweeps(self) -> list[SweepReceipt]:
        """What each sweep did so far."""
        return [walk.report() for walk in self._sweeps]

    def remarks(self) -> list[str]:
        """What a person should know of what they did."""
        return [walk.remark for walk in self._sweeps if walk.remark is not None]

    def closures(self) -> list[ClosureReceipt]:
        """What each closure did so far."""
        return [walk.report() for walk in self._closures]

    def events(self) -> list[LogReceipt]:
        """What the log's retention did so far."""
        return [walk.report() for walk in self._logs]

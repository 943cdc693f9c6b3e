"""What a policy's sweeps and closures are to a run: compiled beside the rules, taking turns with them, reporting at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..capabilities import Capabilities
from ..engine.checkpoint import Entry
from ..engine.prune import Further
from ..engine.receipt import SweepReceipt
from ..plan.model import FurtherPlan, Plan, RulePlan
from ..policy.models import Policy
from ..schema.model import Schema
from .sweep import SweepWalk
from .sweep_plan import SweepPlan, compile_sweep

__all__ = ["Works", "compile_further"]


def compile_further(policy: Policy, schema: Schema, host: Capabilities) -> tuple[Sequence[RulePlan], Sequence[FurtherPlan]]:
    """The rules that the policy implies, and its sweeps and closures.

    Raises:
        PolicyError, Refused: see `compile_sweep` and `compile_closure`.
    """
    return (), [compile_sweep(sweep, policy, schema, host) for sweep in policy.sweeps if sweep.enabled]


@dataclass(slots=True)
class Works:
    """The sweeps and closures of one run.

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

    def further(self) -> list[Further]:
        """What takes turns with the rules."""

        def starting(plan: SweepPlan) -> Further:
            def start(entry: Entry | None) -> SweepWalk:
                walk = SweepWalk.of(plan, entry, self.now_ms, self.skip, plan.name in self.allow_mass)
                self._sweeps.append(walk)
                return walk

            return plan, start

        return [starting(one) for one in self.plan.further if isinstance(one, SweepPlan)]

    def sweeps(self) -> list[SweepReceipt]:
        """What each sweep did so far."""
        return [walk.report() for walk in self._sweeps]

"""Planning: policy and schema in, plan out. It reads the schema and asks for query plans; it deletes nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace

from ..capabilities import Capabilities
from ..errors import PolicyError, Refused
from ..policy.models import Policy
from ..schema.model import Schema
from ..schema.reader import read
from ..statements.ages import MAX_MS
from ..steps import Batch, Result, Statement, Step
from .gate import explain, plausibility, samples
from .model import FurtherPlan, Plan, RulePlan
from .rules import compile_rule

__all__ = ["Compile", "check_clock", "make_plan"]

Compile = Callable[[Policy, Schema, Capabilities], tuple[Sequence[RulePlan], Sequence[FurtherPlan]]]
"""Compiles what a policy holds beside its rules: further rules that it implies, and what takes turns with them."""

CLOCK_SKEW_MS = 60_000
"""A remote clock further from ours than this stops the run: one of the two would delete early (design, section 4, "Gate")."""


def check_clock(now_ms: int) -> None:
    """Raises PolicyError for a clock before 1970 or past 9999."""
    if not 0 <= now_ms <= MAX_MS:
        raise PolicyError("the clock is not between the years 1970 and 9999; set it right, or give the time of the run (--now).")


def make_plan(
    policy: Policy,
    host: Capabilities,
    now_ms: int,
    clock_ms: int | None = None,
    schema: Schema | None = None,
    statements: float = math.inf,
    sent: int = 0,
    compile_further: Compile | None = None,
) -> Generator[Step, list[Result] | None, Plan]:
    """Compile a policy for a database.

    Args:
        policy: its enabled rules are planned, in order.
        host: what the database's host can do.
        now_ms: the run's clock, ms since 1970.
        clock_ms: our real clock, to be compared with a remote host's; None to leave that out.
        schema: the live schema, where it has just been read.
        statements: how many the run may send in all; `sent` are sent already (opening the database).
        compile_further: for what the policy holds beside its rules; None leaves that out.

    Raises:
        PolicyError, Refused: see `compile_rule`, `explain` and `plausibility`.
        HostError: from the host.
    """
    check_clock(now_ms)
    warnings: list[str] = []
    if host.remote and clock_ms is not None:
        yield from _compare_clocks(clock_ms, host)
    schema_given = schema
    if schema is None:
        schema = yield from read(host)
    compiled = [compile_rule(rule, policy, schema, host) for rule in policy.rules if rule.enabled]
    implied, further = compile_further(policy, schema, host) if compile_further else ((), ())
    compiled += implied
    plausible = {rule.name: False for rule in implied} | {rule.name: rule.plausible for rule in policy.rules}
    before = sent + (schema_given is None) + (host.remote and clock_ms is not None)
    planned = before + sum(_planning_cost(rule, plausible[rule.name], now_ms) for rule in compiled)
    planned += sum(len(one.samples(now_ms)) for one in further)
    plan = Plan(host, schema.fingerprint, tuple(compiled), planned, further=tuple(further))
    if statements < planned + plan.smallest:
        raise Refused(
            f"a limit of {statements:.0f} statements is too small: planning takes {planned} and one page up to {plan.smallest}; "
            f"allow at least {planned + plan.smallest}.",
            "policy",
        )
    for place, rule in enumerate(compiled):
        where = f'rule "{rule.name}"'
        if rule.never:
            continue
        plans = yield from explain(rule, samples(rule, now_ms), host, where)
        if plausible[rule.name]:
            yield from plausibility(rule, now_ms, where)
        compiled[place] = replace(rule, plans=plans)
        warnings += [f"{where}: {note}" for note in rule.notes if "condition reads" in note]
    explained: list[FurtherPlan] = []
    for one in further:
        where = f'{one.section.removesuffix("s")} "{one.name}"'
        plans = yield from explain(one, one.samples(now_ms), host, where, one.aliases)
        explained.append(replace(one, plans=plans))
        warnings += [f"{where}: {warning}" for warning in one.warnings]
    return replace(plan, rules=tuple(compiled), further=tuple(explained), warnings=tuple(warnings))


def _planning_cost(rule: RulePlan, plausible: bool, now_ms: int) -> int:
    return 0 if rule.never else len(samples(rule, now_ms)) + (plausible and rule.shape.age is not None)


def _compare_clocks(clock_ms: int, host: Capabilities) -> Generator[Step, list[Result] | None, None]:
    results = yield Batch((Statement("SELECT unixepoch()"),))
    assert results is not None
    theirs = int(results[0].rows[0][0] or 0) * 1000  # type: ignore[arg-type]
    if abs(theirs - clock_ms) > CLOCK_SKEW_MS:
        raise Refused(
            f"{host.name}'s clock and ours differ by {abs(theirs - clock_ms) // 1000} s; set ours right, "
            f"or give the time of the run (--now).",
            "guard",
        )

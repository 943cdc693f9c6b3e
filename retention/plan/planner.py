"""Planning: policy and schema in, plan out. It reads the schema and asks for query plans; it deletes nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace

from ..capabilities import Capabilities
from ..errors import PolicyError, Refused
from ..policy.models import Policy, Rule
from ..schema.model import Schema
from ..schema.reader import read
from ..schema.taken import check_hidden
from ..statements.ages import MAX_MS
from ..statements.quoting import name
from ..steps import Batch, Result, Statement, Step
from .gate import explain, plausibility, samples
from .model import FurtherPlan, Plan, RulePlan
from .names import found_table
from .rules import compile_rule
from .small import Small

__all__ = ["FEW_TENANTS", "Compile", "check_clock", "make_plan"]

Compile = Callable[[Policy, Schema, Capabilities], tuple[Sequence[RulePlan], Sequence[FurtherPlan]]]
"""Compiles what a policy holds beside its rules: further rules that it implies, and what takes turns with them."""

CLOCK_SKEW_MS = 60_000
"""A remote clock further from ours than this stops the run: one of the two would delete early (design, section 4, "Gate")."""

FEW_TENANTS = 1_000
"""Up to so many, each statement works out all tenants' cutoffs first (0.4 µs each, and 0.17 µs for each row that looks one up) instead of
reading a tenant for each row (0.56 µs). At 1,000 that costs a page without old rows nothing, and any other at most 0.4 ms."""


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
    check_hidden(schema)
    enabled = [rule for rule in policy.rules if rule.enabled]
    counted = _tenants_statement(enabled, policy, schema, host)
    tenants = None if counted is None else (yield from _tenants(counted))
    compiled = [compile_rule(rule, policy, schema, host, tenants=tenants) for rule in enabled]
    implied, further = compile_further(policy, schema, host) if compile_further else ((), ())
    compiled += implied
    if policy.rules and not compiled and not further:
        warnings.append("no rule is enabled, so nothing goes; take away `enabled = false` where a rule should run")
    plausible = {rule.name: False for rule in implied} | {rule.name: rule.plausible for rule in policy.rules}
    before = sent + (schema_given is None) + (host.remote and clock_ms is not None) + (counted is not None)
    planned = before + sum(_planning_cost(rule, plausible[rule.name], now_ms) for rule in compiled)
    planned += sum(len(one.samples(now_ms)) for one in further)
    plan = Plan(host, schema.fingerprint, tuple(compiled), planned, further=tuple(further))
    _check_limit(plan, statements)
    small = Small(schema)
    for place, rule in enumerate(compiled):
        where = f'rule "{rule.name}"'
        if rule.never:
            continue
        plans = yield from explain(rule, samples(rule, now_ms), host, where, small)
        if plausible[rule.name]:
            yield from plausibility(rule, now_ms, where)
        compiled[place] = replace(rule, plans=plans)
        warnings += [f"{where}: {note}" for note in rule.notes if "condition reads" in note]
    explained: list[FurtherPlan] = []
    for one in further:
        where = f'{one.section.removesuffix("s")} "{one.name}"'
        plans = yield from explain(one, one.samples(now_ms), host, where, small, one.aliases)
        explained.append(replace(one, plans=plans))
        warnings += [f"{where}: {warning}" for warning in one.warnings]
    if small.asked:
        plan = replace(plan, statements=planned + small.asked)
        _check_limit(plan, statements)
    return replace(plan, rules=tuple(compiled), further=tuple(explained), warnings=tuple(warnings))


def _check_limit(plan: Plan, statements: float) -> None:
    if statements < plan.statements + plan.smallest:
        raise Refused(
            f"a limit of {statements:.0f} statements is too small: planning takes {plan.statements} and one page up to {plan.smallest}; "
            f"allow at least {plan.statements + plan.smallest}.",
            "policy",
        )


def _planning_cost(rule: RulePlan, plausible: bool, now_ms: int) -> int:
    return 0 if rule.never else len(samples(rule, now_ms)) + (plausible and rule.shape.age is not None)


def _tenants_statement(rules: Sequence[Rule], policy: Policy, schema: Schema, host: Capabilities) -> Statement | None:
    """Counts tenants, no further than it matters; None where no rule asks for them, or where rows read are paid for."""
    if host.remote or policy.tenants is None or all(rule.tenant is None for rule in rules):
        return None
    tenants = found_table(schema, policy.tenants.table, "[tenants]")
    counted = f"SELECT count(*) FROM (SELECT 1 FROM {name(tenants.name)} LIMIT {FEW_TENANTS + 1})"
    return Statement(f"{counted} WHERE (SELECT automatic_index FROM pragma_automatic_index)")


def _tenants(statement: Statement) -> Generator[Step, list[Result] | None, int | None]:
    """How many there are, None where they are too many to be read at once, or none that could be."""
    results = yield Batch((statement,))
    assert results is not None
    count = int(results[0].rows[0][0] or 0)  # type: ignore[arg-type]
    return count if 0 < count <= FEW_TENANTS else None


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

"""`retention plan`."""

from __future__ import annotations

import time
from contextlib import closing

from ..engine.preview import Preview, preview
from ..hosts import open_host
from ..hosts.base import Host
from ..plan.model import Plan
from ..policy.models import Policy
from ..report.plan import plan_data, plan_text
from ..runner.given import milliseconds
from ..runner.lease import Lease
from ..runner.runs import plan as compile_plan
from .output import write, write_json
from .reading import answered

__all__ = ["made_plan", "plan"]


def plan(db: str, policy: Policy, now: str | None, as_json: bool) -> None:
    """Show what a run would do. Reads only.

    Raises:
        PolicyError, Refused, HostError: see the message.
    """
    with closing(open_host(db, readonly=True, foreign_keys=policy.foreign_keys)) as host:
        made, counted = made_plan(host, policy, now)
    limit, lease = policy.limits.statements, Lease.of(policy.lease)
    create = None if lease is None else lease.create
    if as_json:
        write_json({"database": db} | plan_data(made, counted, limit, lease=create))
    else:
        write(plan_text(made, counted, limit, lease=create))


def made_plan(host: Host, policy: Policy, now: str | None) -> tuple[Plan, Preview]:
    """The plan of a policy, and what is due by it."""
    made = compile_plan(host, policy, now=now)
    now_ms = time.time_ns() // 1_000_000 if now is None else milliseconds(now)
    return made, answered(preview(made, now_ms, policy.limits.statements), host)

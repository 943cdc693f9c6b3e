"""`retention demo`: a sample database, its plan, a run, and what to try next."""

from __future__ import annotations

import tempfile
from contextlib import closing
from pathlib import Path

from ..engine.prune import instant
from ..hosts import open_host
from ..policy.load import load
from ..presets.relay.sample import NOW, make_sample, sample_policy
from ..report.plan import plan_text
from ..report.words import number
from ..runner.given import milliseconds
from ..runner.runs import run as carry_out
from ..stores import FileStore
from .output import show_receipt, watching, write
from .plan import made_plan
from .run import given_limits

__all__ = ["demo"]

ROWS = 200_000
"""Rows of the sample: some seconds on two slow cores."""


def demo() -> None:
    """Make, plan and prune a sample in a new temporary folder, which stays for further commands.

    Raises:
        HostError: the folder cannot be written.
    """
    folder = Path(tempfile.mkdtemp(prefix="retention-demo-"))
    db, file, now = folder / "relay.db", folder / "retention.toml", instant(milliseconds(NOW))
    write(f"1. A sample: a relay's messages and deliveries, 40 tenants with keeps of their own, in {db}")
    made = make_sample(db, ROWS)
    file.write_text(sample_policy(), encoding="utf-8")
    write("   " + ", ".join(f"{number(rows)} {table}" for table, rows in made.items()))
    policy = load(file)
    write(f"\n2. The plan: retention plan {db} -p {file} --now {now}\n")
    with closing(open_host(str(db), readonly=True)) as host:
        plan, counted = made_plan(host, policy, now)
    write(plan_text(plan, counted, policy.limits.statements, statements=False))
    write(f"\n3. The run: retention run {db} -p {file} --now {now} --until-done\n")
    with watching(policy, False) as observers:
        receipt = carry_out(
            db,
            policy,
            store=FileStore(f"{db}.retention.json"),
            limits=given_limits(None, None),
            now=now,
            until_done=True,
            on_step=observers,
        )
    show_receipt(receipt, False, table=True)
    write(f"\nThe database is {db}, its policy {file}. Try next:")
    write(f"   retention audit {db} -p {file}")
    write("   retention init YOUR.db && retention plan YOUR.db")

"""Writes `sql/<preset>/<host>/<rule>.sql`: every statement that a preset can send, with the query plan that SQLite makes of it.

    python sql/generate.py            write the files
    python sql/generate.py --check    say which differ, exit 1

For review by whoever runs the database; nothing imports them. A test compares them with what the planner makes.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import apsw

from retention.capabilities import D1, LIBSQL, Capabilities
from retention.hosts.base import Host
from retention.hosts.sqlite import SQLite
from retention.ledger.works import compile_further
from retention.plan.gate import outline, samples
from retention.plan.model import FurtherPlan, RulePlan
from retention.plan.planner import FEW_TENANTS, make_plan
from retention.plan.rules import compile_rule
from retention.policy.load import parse
from retention.policy.models import Mode, Policy
from retention.presets import preset, presets
from retention.schema.reader import read
from retention.statements.pages import Range
from retention.steps import Batch, Statement

README = """# Statements

`<preset>/<host>/<rule>.sql` holds every statement that a preset's rule can send to a host, and the query plan that SQLite {version} makes
of it. Key bounds are examples; the texts are what is sent. Made by `python sql/generate.py`, compared by a test; nothing imports them.
"""

HERE = Path(__file__).parent
NOW_MS = 1_788_962_400_000
HOSTS: dict[str, Capabilities | None] = {"sqlite": None, "d1": D1, "libsql": LIBSQL}
"""The capability sets; None is what the connection itself can do."""


def files() -> dict[str, str]:
    """The files' texts by their path below this folder."""
    return {
        f"{name}/{host}/{rule}.sql": text
        for name in presets()
        for host, capabilities in HOSTS.items()
        for rule, text in _preset(name, capabilities).items()
    }


def _preset(name: str, capabilities: Capabilities | None) -> dict[str, str]:
    con = apsw.Connection("")
    con.execute(preset(name).schema)
    with SQLite(con) as host:
        return texts(name, host, capabilities or host.capabilities)


def texts(name: str, host: Host, able: Capabilities) -> dict[str, str]:
    """By rule, the statements of a preset whose schema is at a host, planned for what `able` can do, with the host's query plans."""
    policy = _enabled(parse(preset(name).policy, name))
    found: dict[str, str] = {}
    for mode in ("range", "chunk"):
        rules = tuple(r.model_copy(update={"mode": Mode(kind=mode)}) for r in policy.rules)
        in_mode = policy.model_copy(update={"rules": rules})
        for rule in _drive(make_plan(in_mode, able, NOW_MS), host).rules:
            found[rule.name] = found.get(rule.name, "") + _rule(rule, mode, host)
        for rule in _with_few_tenants(in_mode, able, host):
            found[rule.name] += _rule(rule, f"{mode}, at most {FEW_TENANTS:,} tenants", host)
    engine = make_plan(policy, able, NOW_MS, compile_further=compile_further)
    for one in _drive(engine, host).further:
        found[f"{one.section.removesuffix('s')}-{one.name}"] = _further(one, host)
    return found


def _with_few_tenants(policy: Policy, able: Capabilities, host: Host) -> list[RulePlan]:
    """The rules as they are planned where there are tenants, of which the tables here hold none."""
    if able.remote:
        return []
    schema = _drive(read(able), host)
    return [compile_rule(rule, policy, schema, able, tenants=1) for rule in policy.rules if rule.tenant is not None]


def _further(one: FurtherPlan, host: Host) -> str:
    """A sweep's or a closure's statements; the batch that writes stands at the end, in its order, without `SELECT changes()`."""
    head = f"-- {one.section.removesuffix('s')} {one.name}, table {one.table}, walk {one.walk}: {one.why_walk}\n"
    return head + "".join(_statement(label, statement, host) for label, statement in one.samples(NOW_MS)) + "\n"


def _enabled(policy: Policy) -> Policy:
    return policy.model_copy(update={"rules": tuple(r.model_copy(update={"enabled": True}) for r in policy.rules)})


def _rule(rule: RulePlan, mode: str, host: Host) -> str:
    head = f"-- rule {rule.name}, table {rule.table}, {mode} mode, walk {rule.walk}: {rule.why_walk}\n"
    return head + "".join(_statement(label, statement, host) for label, statement in _statements(rule)) + "\n"


def _statements(rule: RulePlan) -> list[tuple[str, Statement]]:
    """What the gate sees, and the first page, which has no lower bound."""
    found = samples(rule, NOW_MS)
    pages, end = rule.pages, rule.end_key(NOW_MS)
    key: Any = tuple(0 if pages.walk.integers else "" for _ in pages.walk.columns)
    first = Range(before=end) if end else Range(upto=key)
    cutoffs = rule.cutoffs(NOW_MS)
    if rule.chunk is None:
        found.append(("first boundary", pages.boundary(first, rule.max_keys, cutoffs)))
        if pages.narrow and len(pages.walk.columns) == 1:
            found.append(("delete between the rows that the boundary saw", pages.delete(Range(since=key, upto=key), cutoffs)))
    else:
        found.append(("first rows", pages.rows(first, rule.max_keys, cutoffs)))
    return found


def _statement(label: str, statement: Statement, host: Host) -> str:
    (result,) = host.execute(Batch((Statement(f"EXPLAIN QUERY PLAN {statement.sql}", statement.params),)))
    plan = "".join(f"--   {line}\n" for line in outline(result.rows))
    return f"\n-- {label}, {len(statement.params)} bound\n{statement.sql};\n{plan}"


def _drive(engine: Any, host: Host) -> Any:
    answer = None
    while True:
        try:
            step = engine.send(answer)
        except StopIteration as stop:
            return stop.value
        answer = list(host.execute(step))


def texts_only(text: str) -> str:
    """A file without its query plans, whose wording differs between versions of SQLite."""
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("--   "))


def main(arguments: list[str]) -> int:
    wanted = files()
    present = {str(p.relative_to(HERE)): p.read_text() for p in HERE.glob("*/*/*.sql")}
    if "--check" in arguments:
        different = sorted({f for f in wanted.keys() | present.keys() if wanted.get(f) != present.get(f)})
        print("\n".join(different) or "all files are as the planner makes them")
        return 1 if different else 0
    for path in present.keys() - wanted.keys():
        (HERE / path).unlink()
    (HERE / "README.md").write_text(README.format(version=apsw.sqlite_lib_version()))
    for path, text in wanted.items():
        (HERE / path).parent.mkdir(parents=True, exist_ok=True)
        (HERE / path).write_text(text)
    print(f"{len(wanted)} files")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

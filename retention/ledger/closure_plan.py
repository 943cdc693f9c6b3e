"""A closure, compiled against the schema: pure, no database."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar

from ..capabilities import Capabilities
from ..errors import PolicyError, Refused
from ..plan.family import changed, identity
from ..plan.left_out import left_out
from ..plan.model import RulePlan
from ..plan.names import found_column, found_table, prunable
from ..plan.rules import compile_rule, write_target
from ..policy.closure_models import Closure, Member, tied
from ..policy.conditions import check_names, parse_condition
from ..policy.ledger_models import Events
from ..policy.models import Policy, Rule
from ..policy.names import Names
from ..schema.model import Schema, Table, fold
from ..statements.condition import Condition, Shape
from ..statements.pages import PageSQL
from ..statements.quoting import name, whether
from .closure_sql import ALIASES, REASONS, ClosureSQL, Held
from .listed_plan import ListedPlan, digest_of, found_key, whole_walk, write_cost
from .log_schema import advise, check, index_leaders, key_as_stream, require_consumers
from .sql import Params

__all__ = ["ClosurePlan", "compile_closure", "memory_rules"]


@dataclass(frozen=True, slots=True)
class ClosurePlan(ListedPlan):
    """One enabled closure, compiled; its rows are the parents, each with its unit."""

    section: ClassVar[str] = "closures"

    sql: ClosureSQL | None = None

    @property
    def statements(self) -> ClosureSQL:
        assert self.sql is not None
        return self.sql


def compile_closure(closure: Closure, policy: Policy, schema: Schema, host: Capabilities) -> ClosurePlan:
    """The plan of one closure, without what only the database can say.

    Raises:
        PolicyError: a name that is not there.
        Refused: a table without a key; a member that reads what has gone before it; a hold that the unit would pass by.
    """
    where = f'closure "{closure.name}"'
    table = found_table(schema, closure.table, where)
    prunable(table, where)
    members = tuple(_members(closure, schema, table, where))
    for place, member in enumerate(members):
        here, found = f"{where}: members[{place}]", found_table(schema, member.table, where)
        _check_found(_ties(member, schema, found, table, here).columns, found, here)
    closure = closure.model_copy(update={"table": table.name, "members": members})
    for age in closure.age:
        for column in age.columns:
            found_column(table, column, where, "age column")
    if closure.lease is not None:
        found_column(table, closure.lease.until, where, "lease column")
    reads = set(check_names(parse_condition(closure.terminal, table.name, f"{where}: terminal"), schema, table).tables)
    reads |= {member.table for member in members}
    events = policy.events if closure.acked else None
    if events is not None and events.cursors is not None:
        check(events, schema)
        require_consumers(events, schema, where, by_stream=True)
        reads |= {events.table, events.cursors.table}
    going = [table.name, *(member.table for member in members if not member.memory)]
    touched = {event for one in going for event in changed(schema, one, policy.foreign_keys == "on")}
    holds = tuple(_holds(policy, closure, schema, {t for t, _ in touched}, where))
    identities = {name: identity(found) for name in going if (found := schema.table(name)) is not None}
    key = found_key(table, closure.key, where)
    stream = "" if events is None else key_as_stream(events, schema, table, key)
    sql = ClosureSQL(closure, key, identities, holds, events, stream, policy.limits.rows_changed)
    walk, why = whole_walk(table, where)
    p = Params()
    text = sql.condition(p, 0)
    max_changes = policy.limits.rows_changed if host.transactions else None
    return ClosurePlan(
        name=closure.name,
        table=table.name,
        shape=Shape(table.name, closure.keep),
        pages=PageSQL(table.name, walk, Condition(text, (), REASONS, len(p.statement("").params)), identity=(sql.key,)),
        why_walk=why,
        max_keys=policy.limits.page_rows,
        max_writes=closure.batch,
        target=write_target(host),
        max_changes=max_changes,
        digest=digest_of(closure, [[hold.table, hold.where] for hold in policy.holds]),
        reads=frozenset(reads),
        feeds=frozenset(t for t, _ in touched),
        alters=frozenset(t for t, kind in touched if kind != "DELETE"),
        notes=(*_advice(events, schema), *_strangers(closure, schema)),
        aliases=ALIASES,
        sql=sql,
        batch=closure.batch,
        max_batches=closure.max_batches,
        write_cost=write_cost(sql, host, max_changes),
    )


def _advice(events: Events | None, schema: Schema) -> Iterator[str]:
    for advice in advise(events, schema) if events is not None else ():
        yield f"{advice.why}; create one: {advice.sql}"


def _strangers(closure: Closure, schema: Schema) -> Iterator[str]:
    for table, column in left_out(closure, schema):
        yield f"{table} has {column} too and is no member: its rows stay when a unit goes"


def memory_rules(closure: Closure, policy: Policy, schema: Schema, host: Capabilities) -> list[RulePlan]:
    """Rules for members that stay when their unit goes, and that have a keep of their own: they go once their parent has gone."""
    rules: list[RulePlan] = []
    taken = {rule.name for rule in policy.rules}
    for member in closure.members:
        if not member.memory or member.keep == "forever":
            continue
        if f"{closure.name}.{member.table}" in taken:
            raise PolicyError(
                f'closure "{closure.name}": the memory of {member.table!r} goes by a rule "{closure.name}.{member.table}", and another '
                f"rule has that name; progress is kept by name, so rename it."
            )
        closed = "" if member.open is None else f" AND NOT {whether(f'({member.open})')}"
        only = f"NOT {tied(member.on, closure.table)}{closed}"
        keep = timedelta(milliseconds=member.keep)
        rule = Rule(name=f"{closure.name}.{member.table}", table=member.table, keep=keep, age=member.age, only=only)  # type: ignore[arg-type]
        rules.append(compile_rule(rule, policy, schema, host))
    return rules


def _members(closure: Closure, schema: Schema, parent: Table, where: str) -> Iterator[Member]:
    """The members with their tables as the schema spells them."""
    gone: list[str] = []
    for place, member in enumerate(closure.members):
        here = f"{where}: members[{place}]"
        found = found_table(schema, member.table, here)
        prunable(found, here)
        read = _ties(member, schema, found, parent, here).tables
        if member.open is not None:
            check_names(parse_condition(member.open, found.name, f"{here}: open"), schema, found)
        if fold(found.name) in gone:
            raise PolicyError(f"{here}: {found.name!r} is a member already; join both by OR in one `on`.")
        early = sorted(set(map(fold, read)) & set(gone))
        if early:
            raise Refused(
                f"{here}: on reads {early[0]!r}, whose rows of the unit have gone by then; put {found.name!r} before it.", "policy"
            )
        if not member.memory:
            gone.append(fold(found.name))
        yield member.model_copy(update={"table": found.name})


def _ties(member: Member, schema: Schema, table: Table, parent: Table, where: str) -> Names:
    """What `on` reads. Raises PolicyError."""
    return check_names(parse_condition(tied(member.on, parent.name), table.name, f"{where}: on"), schema, table)


def _check_found(own: Sequence[str], table: Table, where: str) -> None:
    """Raises Refused, with an index that would help, where none begins with a column by which `on` could find the member's rows."""
    leaders = {fold(key) for key in (*index_leaders(table), *table.primary_key[:1], table.integer_pk or "")}
    if own and not leaders & set(map(fold, own)):
        index = f"CREATE INDEX {name(f'{table.name}_{own[0]}')} ON {name(table.name)} ({name(own[0])})"
        raise Refused(
            f"{where}: no index of {table.name!r} begins with a column that `on` names ({', '.join(own)}), so each page would scan it; "
            f"create one: {index}.",
            "schema",
        )


def _holds(policy: Policy, closure: Closure, schema: Schema, touched: set[str], where: str) -> Iterator[Held]:
    """Holds on the parent and on the members that go. A hold elsewhere, that a cascade or a trigger would pass by, is refused."""
    members = {fold(member.table): member for member in closure.members}
    for place, hold in enumerate(policy.holds):
        held = found_table(schema, hold.table, f"holds[{place}]")
        check_names(parse_condition(hold.where, held.name, f"holds[{place}]: where"), schema, held)
        if held.name == closure.table:
            yield Held(hold.where)
        elif fold(held.name) in members:
            yield Held(hold.where, members[fold(held.name)])
        elif held.name in touched:
            raise Refused(
                f"{where}: a held row of {held.name!r} could go or change with a unit by a cascade or a trigger, which the hold does not "
                f"see; make {held.name!r} a member.",
                "policy",
            )

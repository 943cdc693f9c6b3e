"""What would spare a rule the reading of its kept history: an index led by the age, or `ordered`.

Tried rather than reasoned: the table is given the index in thought, and the planner asked again. So what is advised is what is then used.
"""

from __future__ import annotations

from dataclasses import replace

from ..policy.models import Policy, Rule
from ..schema.keys import KeyColumn
from ..schema.model import Index, IndexColumn, Schema, Table, fold
from ..statements.pages import Walk
from ..statements.quoting import name
from .walks import choose_walk, in_time_order

__all__ = ["ORDERED", "advise", "free_name"]

ORDERED = "ordered = true"


def advise(rule: Rule, policy: Policy, schema: Schema, table: Table, walk: Walk) -> str | None:
    """What to write so that kept rows are no longer read: a CREATE INDEX, or `ordered = true` for the rule; None where nothing helps.

    Args:
        walk: that the planner chose; one by the age needs no help, and the policy's own choice is not questioned.
    """
    column = table.column(rule.age.columns[0]) if rule.age is not None and len(rule.age.columns) == 1 else None
    if column is None or rule.walk is not None or rule.ordered or walk.by_age:
        return None
    if fold(walk.columns[0]) == fold(column.name) or column.name == table.integer_pk:
        bounded = rule.tenant is None or (policy.tenants is not None and policy.tenants.shortest is not None)
        return ORDERED if bounded and in_time_order(rule, KeyColumn(column.name, column.affinity, column.collation)) else None
    keys = dict.fromkeys((column.name, *(table.primary_key if table.without_rowid else ())))
    called = free_name(schema, f"idx_{table.name}_{column.name}")
    parts = tuple(IndexColumn(c.name, False, c.collation) for k in keys if (c := table.column(k)) is not None)
    thought = Index(called, table.name, parts, unique=False, origin="c", partial=False)
    found, _ = choose_walk(rule, policy, replace(table, indexes=(*table.indexes, thought)), f'rule "{rule.name}"')
    if found.index != called:
        return None
    return f"CREATE INDEX {name(called)} ON {name(table.name)} ({', '.join(name(part.name or '') for part in parts)})"


def free_name(schema: Schema, wanted: str) -> str:
    """The name, with a number behind it where something is called so already."""
    taken = {fold(n) for table in schema.tables.values() for n in (table.name, *(index.name for index in table.indexes))}
    number, free = 1, wanted
    while fold(free) in taken:
        number, free = number + 1, f"{wanted}_{number + 1}"
    return free

"""Rows that would go by cascade although an archive was to hold them."""

from __future__ import annotations

from ..errors import Refused
from ..policy.models import Policy, Rule
from ..schema.foreign_keys import reach
from ..schema.model import ForeignKey, Schema, Table
from ..statements.quoting import column, name

__all__ = ["check_archives", "unarchived"]


def unarchived(rule: Rule, policy: Policy, schema: Schema, table: Table) -> tuple[ForeignKey, ...]:
    """The foreign keys by which rows go with those of the rule's table past an archive: the table's own, or that of their own rule.

    Empty where foreign keys are off, and where the rule says itself what becomes of children.
    """
    if policy.foreign_keys == "off" or "children" in rule.model_fields_set:
        return ()
    archived = {found.name for one in policy.rules if one.enabled and one.archive is not None and (found := schema.table(one.table))}
    keys = [step.key for step in reach(schema, table.name) if step.key.on_delete == "CASCADE"]
    return tuple(key for key in keys if rule.archive is not None or key.child in archived)


def check_archives(rule: Rule, policy: Policy, schema: Schema, table: Table, where: str) -> None:
    """Raises Refused where rows would go past an archive: they cannot be had back."""
    lost = unarchived(rule, policy, schema, table)
    if not lost:
        return
    children = ", ".join(sorted({repr(key.child) for key in lost}))
    own = next(key for key in table.children if key.on_delete == "CASCADE")
    raise Refused(
        f"{where}: rows of {children} would go with those of {table.name!r} by cascade, and no archive would hold them. Archive them by a "
        f"rule of their own, before this one, and let this one delete only parents that have none left: only = '{_childless(own)}'. "
        f'Then, or where they need no archive, write children = "cascade" to say so.',
        "policy",
    )


def _childless(key: ForeignKey) -> str:
    """The condition that a parent has no row left, as it stands in a policy. A table that refers to itself needs an alias."""
    child = "below" if key.child == key.parent else key.child
    source = name(key.child) if child == key.child else f"{name(key.child)} AS {name(child)}"
    pairs = zip(key.columns, key.parent_columns, strict=False)
    terms = " AND ".join(f"{column(child, c)} = {column(key.parent, parent)}" for c, parent in pairs)
    return f"NOT EXISTS (SELECT 1 FROM {source} WHERE {terms})"

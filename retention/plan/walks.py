"""Which walk a rule takes, and why.

The rule, in this order:
1. The policy's `walk`, if the table offers it.
2. An index led by the age, if all of this holds: the rule has one age column whose form is stored in time order, whatever its values
   (ULIDs may be written in either case); the index is whole, not partial; no tenant's keep can be shorter than a stated `shortest`; the
   rule is not `ordered` (which makes the rowid walk just as cheap); and no trigger puts rows back, which the walk would meet again.
   Such a walk reads only what is older than the newest cutoff, while a rowid walk reads the kept history once a traversal.
3. The primary key of a WITHOUT ROWID table, the rowid of any other.
"""

from __future__ import annotations

from ..errors import PolicyError, Refused
from ..policy.models import Policy, Rule
from ..schema.keys import Key, KeyColumn, age_index_keys, primary_key, rowid_key
from ..schema.model import Table, fold
from ..statements.ages import age_format
from ..statements.pages import Walk
from ..statements.quoting import name

__all__ = ["choose_walk", "in_time_order"]

_ONE_CLASS = {"snowflake": ("INTEGER", "NUMERIC"), "uuid7": ("TEXT",), "ulid": ("TEXT",)}
"""Ids that are read in two storage classes, and the affinities under which one of them is left: an index puts numbers before texts, and
texts before blobs, so that a walk would end before the others."""


def choose_walk(rule: Rule, policy: Policy, table: Table, where: str, *, refilled: bool = False) -> tuple[Walk, str]:
    """The walk and a sentence why.

    Args:
        refilled: deleting makes triggers insert into the table. An index walk ends at an age and not at a last row, so it would meet
            such rows for ever.

    Raises:
        PolicyError: the table does not offer the policy's walk.
        Refused: there is no walk at all.
    """
    if rule.walk is not None:
        if refilled and rule.walk.kind == "index":
            raise Refused(
                f"{where}: deleting from {table.name!r} makes a trigger insert into it, and a walk through an index would meet such rows "
                f"for ever; leave walk out.",
                "schema",
            )
        return _fixed(rule, table, where), "the policy says so"
    suited = "a trigger inserts into the table when its rows go" if refilled else _suited(rule, policy, table)
    if isinstance(suited, Key):
        return _index(suited), f"index {suited.index!r} is led by the age: kept rows are not read"
    key = rowid_key(table)
    if key is not None:
        return _rowid(key), suited
    key = primary_key(table)
    if key is not None:
        return _primary(key), suited
    if table.without_rowid:
        raise Refused(
            f"{where}: the primary key of {table.name!r} mixes rising and falling columns, so no range of it can be sought; "
            f"add an index led by the age, then by all of the primary key, rising, or make it a rowid table.",
            "schema",
        )
    raise Refused(
        f"{where}: the columns of {table.name!r} hide all three names of its rowid, so its rows cannot be visited in order; "
        f"give it an INTEGER PRIMARY KEY.",
        "schema",
    )


def _suited(rule: Rule, policy: Policy, table: Table) -> Key | str:
    """The index that pays, or why none does."""
    if rule.age is None:
        return "the rule has no age"
    if len(rule.age.columns) > 1:
        return "the age stands in several columns"
    if rule.ordered:
        return "ordered: the walk stops at the first page of young rows"
    if rule.age.format == "ulid":
        return "an index puts ULIDs in lower case behind all others"
    if rule.tenant is not None and (policy.tenants is None or policy.tenants.shortest is None):
        return "a tenant's keep has no shortest bound, so an index walk would have no end"
    keys = [k for k in _candidates(rule, table) if k.where is None]
    return keys[0] if keys else "no whole index in time order is led by the age"


def _candidates(rule: Rule, table: Table) -> list[Key]:
    """Indexes led by the age that stand in time order."""
    assert rule.age is not None
    return [key for key in age_index_keys(table, rule.age.columns[0]) if in_time_order(rule, key.columns[0])]


def in_time_order(rule: Rule, column: KeyColumn) -> bool:
    """Whether a b-tree led by this column, the rule's age, holds its rows in the order of time."""
    assert rule.age is not None
    order = age_format(rule.age.format).order
    numbers = order == "number" and column.affinity != "TEXT"
    texts = order == "text" and column.collation == "BINARY"
    return (numbers or texts) and column.affinity in _ONE_CLASS.get(rule.age.format, (column.affinity,))


def _fixed(rule: Rule, table: Table, where: str) -> Walk:
    walk = rule.walk
    assert walk is not None
    if walk.kind == "rowid":
        key = rowid_key(table)
        if key is None:
            raise PolicyError(f'{where}: walk = "rowid", but {table.name!r} has no rowid that can be reached; leave walk out.')
        return _rowid(key)
    if walk.kind == "primary_key":
        key = primary_key(table)
        if key is None:
            raise PolicyError(f'{where}: walk = "primary_key", but {table.name!r} is no WITHOUT ROWID table; leave walk out.')
        return _primary(key)
    low = fold(walk.index or "")
    if not any(fold(i.name or "") == low for i in table.indexes):
        raise PolicyError(f"{where}: there is no index {walk.index!r} on {table.name!r}; name one that is, or leave walk out.")
    key = next((k for k in _candidates(rule, table) if fold(k.index or "") == low), None)
    if key is None or rule.age is None or len(rule.age.columns) > 1:
        raise Refused(
            f"{where}: index {walk.index!r} cannot carry the walk: it must rise, be led by the rule's one age column in time order, "
            f"have no NULL in later columns, and be unique or of the age alone; leave walk out.",
            "schema",
        )
    return _index(key)


def _rowid(key: Key) -> Walk:
    return Walk("rowid", (key.columns[0].name,), "NOT INDEXED", integers=True)


def _primary(key: Key) -> Walk:
    return Walk("primary_key", tuple(c.name for c in key.columns))


def _index(key: Key) -> Walk:
    hint = f"INDEXED BY {name(key.index or '')}"
    return Walk("index", tuple(c.name for c in key.columns), hint, key.where, ties=key.tie, by_age=True, index=key.index)

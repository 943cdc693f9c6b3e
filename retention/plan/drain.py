"""`children = "drain"`: the family of a rule's table, read from the schema, and what it needs.

Every table that refers to the rule's, directly or over others, is part of the family, whatever its keys say of ON DELETE: its rows go
with the parent. A table that stands on the way already is not entered again: its rows are nobody's children there, and a row that one of
them refers to waits until they are gone. So a self-reference goes leaf by leaf, and a cycle ends.
"""

from __future__ import annotations

from ..capabilities import Capabilities
from ..errors import Refused
from ..policy.conditions import Condition, check_names
from ..schema.foreign_keys import child_index
from ..schema.model import ForeignKey, Schema, Table
from ..statements.condition import Hold, Reference
from ..statements.drain import Back, DrainSQL, Edge, Node, nodes
from ..statements.keys import Key
from ..steps import Batch, Statement, Value
from .family import Family, as_reference, changed, identity

__all__ = ["FAMILY", "MAX_LEVELS", "MAX_PLACES", "drain_cost", "drain_samples", "holds_below", "read_drained"]

MAX_LEVELS = 8
"""Levels of children. Real schemas have two to four; a statement repeats the way down, and D1 takes an expression 100 deep."""

MAX_PLACES = 40
"""Places in the family (a table that is reached in two ways counts twice): each is a DELETE in every batch."""


FAMILY = "family of "
"""The first words of the labels of statements that may scan nothing at all, not even once."""


def read_drained(schema: Schema, table: Table, enforced: bool, where: str) -> tuple[Node, Family]:
    """The family below a rule's table. Foreign keys are followed whether they are enforced or not.

    Raises:
        Refused: a key has no index or no parent's key, a child cannot be named row by row, the family is too deep or too wide.
    """
    root = _node(schema, table, (), where)
    places = list(nodes(root))
    if len(places) > MAX_PLACES:
        raise Refused(
            f'{where}: the tables below {table.name!r} are reached in {len(places)} ways, and children = "drain" follows {MAX_PLACES}; '
            f"write rules for the children that delete them first.",
            "schema",
        )
    events = {event for _, node in places for event in changed(schema, node.table, enforced)}
    return root, Family(
        references=tuple(as_reference(k, table) for k in table.children if k.child == table.name),
        followers=(),
        deep=frozenset(),
        feeds=frozenset(t for t, _ in events),
        cascades=True,
        alters=frozenset(t for t, kind in events if kind != "DELETE"),
    )


def _node(schema: Schema, table: Table, above: tuple[Table, ...], where: str) -> Node:
    if len(above) > MAX_LEVELS:
        raise Refused(
            f"{where}: {' -> '.join(t.name for t in above[:4])} ... goes on for more than {MAX_LEVELS} levels of foreign keys; "
            f"write rules for the children that delete them first.",
            "schema",
        )
    if not identity(table):
        raise Refused(
            f"{where}: the columns of {table.name!r} hide all three names of its rowid, so its rows cannot be deleted one by one; "
            f"give it an INTEGER PRIMARY KEY.",
            "schema",
        )
    way = (*above, table)
    names = [t.name for t in way]
    edges: list[Edge] = []
    backs: list[Back] = []
    for key in table.children:
        child = schema.table(key.child)
        if child is None:
            continue
        _check(schema, key, where)
        pairs = tuple(zip(key.columns, key.parent_columns, strict=True))
        if child.name in names:
            backs.append(Back(child.name, identity(child), pairs, names.index(child.name), key.on_delete == "CASCADE"))
        else:
            edges.append(Edge(pairs, _node(schema, child, way, where), key.on_delete == "CASCADE"))
    return Node(table.name, identity(table), table.rowid is not None, tuple(edges), tuple(backs))


def _check(schema: Schema, key: ForeignKey, where: str) -> None:
    if not all(key.parent_columns) or not key.parent_columns:
        raise Refused(
            f"{where}: {key.child}({', '.join(key.columns)}) refers to no unique key of {key.parent!r}, so its rows cannot be followed; "
            f"mend the key.",
            "schema",
        )
    if not key.indexed:
        sql = child_index(schema, key)
        advice = f"create one: {sql}." if sql else "give both columns types that compare."
        raise Refused(
            f"{where}: {key.child}({', '.join(key.columns)}) refers to {key.parent!r} and has no index, so each deleted row would scan "
            f"{key.child!r}; {advice}",
            "schema",
        )


def holds_below(root: Node, schema: Schema, held: Table, condition: Condition, reads: set[str]) -> list[Hold]:
    """The holds by which rows of `held`, wherever it stands in the family, keep their parents. Adds to `reads` what they look at."""
    found: list[Hold] = []
    named = check_names(condition, schema, held).tables

    def follow(node: Node, above: tuple[Reference, ...]) -> None:
        for edge in node.edges:
            way = (*above, Reference(edge.node.table, edge.pairs))
            if edge.node.table == held.name:
                reads.update(named, (r.child for r in way))
                found.append(Hold(condition.text, way[-1], way[:-1]))
            follow(edge.node, way)

    follow(root, ())
    return found


def drain_cost(drain: DrainSQL, host: Capabilities) -> int:
    """Statements of the dearest batch: the fence, what the rows refer to, a delete for each place, and counts where they are overtaken."""
    statements = len(drain.before(())) + 1 + len(drain.climbs) + len(drain.deletes((), [])) * (1 if host.exact_changes else 2)
    statements += len(drain.counts((), [])) + bool(drain.overtaken)
    most = 1 if host.transactions else None
    return host.cost(Batch((Statement(""),) * statements, writes=True, max_changes=most))


def drain_samples(drain: DrainSQL, cutoffs: tuple[Value, ...]) -> list[tuple[str, Statement]]:
    """The statements of the family, with rows that only stand for others."""
    found: list[tuple[str, Statement]] = []

    def row(node: Node) -> Key:
        return tuple(0 if node.rowid else "" for _ in node.identity)

    for path, node in nodes(drain.root):
        way = " -> ".join(drain.node(path[:level]).table for level in range(len(path) + 1))
        rows, chain = [row(node)], [row(drain.node(path[:level])) for level in range(len(path))]
        found.append((f"fence of {way}", drain.fence(path, chain, rows, 1, cutoffs)))
        if path:
            found.append((f"{FAMILY}{way}: next rows", drain.children(path, chain[-1], 1)))
    rows = [row(drain.root)]
    if drain.root.edges:
        found.append((f"{FAMILY}{drain.root.table}: sizes", drain.sizes((), rows, 1)))
    found += [(f"{FAMILY}{drain.root.table}: delete from {table}", statement) for table, statement in drain.deletes((), rows)]
    if drain.climbs:
        found.append((f"verdicts on {drain.root.table}", drain.verdicts(rows, cutoffs)))
        found += [(f"{FAMILY}{drain.root.table}: rows referred to", statement) for statement in drain.climb(rows)]
    return found

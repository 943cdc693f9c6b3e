"""Who refers to a rule's table, and what goes or changes with its rows.

Foreign keys decide three things: which rows must stay because a NO ACTION or RESTRICT child refers to them, which held rows protect their
parents, and which tables change when the rule deletes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..capabilities import Capabilities
from ..errors import Refused
from ..schema.foreign_keys import child_index
from ..schema.model import ForeignKey, Schema, Table
from ..statements.condition import Reference
from ..statements.quoting import column, name

__all__ = ["Family", "as_reference", "changed", "check_parents", "comes_back", "count_followers", "identity", "ignores", "read_family"]

_KEEPS = ("NO ACTION", "RESTRICT")
_FOLLOWS = ("CASCADE", "SET NULL", "SET DEFAULT")


@dataclass(frozen=True, slots=True)
class Family:
    """Attributes:
    references: children that keep their parent.
    followers: direct children that go or change with it.
    deep: tables that go or change with it over more than one level, by name.
    feeds: every table that a delete changes, the rule's own included; triggers as far as their text tells.
    cascades: a delete may change more than the rule's own rows.
    alters: tables in which it may change or make rows.
    recounts: a delete may leave rows without an error, or take further rows of its own table.
    """

    references: tuple[Reference, ...]
    followers: tuple[ForeignKey, ...]
    deep: frozenset[str]
    feeds: frozenset[str]
    cascades: bool
    alters: frozenset[str] = frozenset()
    recounts: bool = False


def identity(table: Table) -> tuple[str, ...]:
    """The columns that name one row: the rowid, or a WITHOUT ROWID table's primary key."""
    return (table.rowid,) if table.rowid is not None else table.primary_key


def as_reference(key: ForeignKey, table: Table) -> Reference:
    """A foreign key as the condition looks through it."""
    own = identity(table) if key.child == table.name else ()
    return Reference(key.child, tuple(zip(key.columns, key.parent_columns, strict=True)), own)


def read_family(schema: Schema, table: Table, enforced: bool, children: str, host: Capabilities, where: str) -> Family:
    """The family of a rule's table. `enforced` is whether foreign keys are on.

    Raises:
        Refused: a child key has no index, so each deleted row would scan the child; children are not wanted; a remote host would have to
            follow more than one level, which it cannot measure.
    """
    keys = table.children if enforced else ()
    if children == "refuse" and keys:
        raise Refused(
            f'{where}: {", ".join(sorted({k.child for k in keys}))} refer to {table.name!r}, and the rule says children = "refuse"; '
            f"leave it out to let their declared actions happen.",
            "policy",
        )
    for key in keys:
        if not key.indexed and all(key.parent_columns):
            raise Refused(
                f"{where}: {key.child}({', '.join(key.columns)}) refers to {table.name!r} and has no index that serves it, so each deleted "
                f"row would scan {key.child!r}; {_index_advice(schema, key)}",
                "schema",
            )
    levels = list(_levels(schema, table)) if enforced else []
    deep = frozenset(k.child for level in levels[1:] for k in level if k.on_delete in _FOLLOWS)
    if any(k.child == table.name and k.on_delete == "CASCADE" for k in keys):
        deep |= {k.child for k in keys if k.on_delete in _FOLLOWS}
    if host.remote and deep:
        raise Refused(
            f"{where}: a delete would reach {', '.join(sorted(deep))} over more than one level of foreign keys, and {host.name} cannot "
            f'measure or undo it; write children = "drain", which deletes them in counted steps, or rules for the children.',
            "schema",
        )
    events = changed(schema, table.name, enforced)
    return Family(
        references=tuple(as_reference(k, table) for k in keys if k.on_delete in _KEEPS),
        followers=tuple(k for k in keys if k.on_delete in _FOLLOWS),
        deep=deep,
        feeds=frozenset(t for t, _ in events),
        alters=frozenset(t for t, kind in events if kind != "DELETE"),
        recounts=ignores(table) or _takes_more(schema, table.name, enforced),
        cascades=any(k.on_delete in _FOLLOWS for k in keys) or any(t.event == "DELETE" for t in table.triggers),
    )


def _index_advice(schema: Schema, key: ForeignKey) -> str:
    sql = child_index(schema, key)
    if sql is not None:
        return f"create one: {sql}."
    return (
        f"no index can, because its type does not compare with {key.parent}({', '.join(key.parent_columns)}): declare one type on both "
        f'sides, or write foreign_keys = "off".'
    )


def check_parents(schema: Schema, deleting: Iterable[Table], where: str) -> None:
    """With foreign keys on, SQLite compiles no DELETE from a table whose own key refers to a missing table, nor one that cascades there,
    nor one that sets a column to NULL or its default which such a key shares (sqlite.org/foreignkeys.html, section 3; tried on 3.54).

    Args:
        deleting: the tables from which the rule deletes.

    Raises:
        Refused: there is such a key.
    """
    seen: set[str] = set()
    todo = list(deleting)
    while todo:
        table = todo.pop(0)
        if table.name in seen:
            continue
        seen.add(table.name)
        _refuse_broken(table, None, where)
        for key in table.children:
            child = schema.table(key.child)
            if child is not None and key.on_delete == "CASCADE":
                todo.append(child)
            elif child is not None and key.on_delete in _FOLLOWS:
                _refuse_broken(child, frozenset(key.columns), where)


def _refuse_broken(table: Table, changed: frozenset[str] | None, where: str) -> None:
    for key in table.parents:
        if not key.parent_exists and (changed is None or changed & set(key.columns)):
            raise Refused(
                f"{where}: {key.child}({', '.join(key.columns)}) refers to {key.parent!r}, which is not there, so SQLite refuses every "
                f'such delete while foreign keys are on; create {key.parent!r}, or write foreign_keys = "off".',
                "schema",
            )


def _levels(schema: Schema, table: Table) -> Iterator[tuple[ForeignKey, ...]]:
    """Children by level, as far as CASCADE carries a delete. A table is followed once."""
    followed: set[str] = set()
    level = [table]
    while level:
        keys = tuple(k for t in level for k in t.children)
        if not keys:
            return
        yield keys
        followed |= {t.name for t in level}
        names = {k.child for k in keys if k.on_delete == "CASCADE"} - followed
        level = [t for t in (schema.table(n) for n in sorted(names)) if t is not None]


Event = tuple[str, str]
"""A table, and what happens to a row of it: DELETE, UPDATE or INSERT."""


def changed(schema: Schema, table: str, enforced: bool, event: str = "DELETE") -> set[Event]:
    """Tables that a delete (or other `event`) of a row changes, through foreign keys and triggers, each with the event that it sees."""
    seen: set[Event] = set()
    todo: list[Event] = [(table, event)]
    while todo:
        happens = todo.pop()
        if happens not in seen:
            seen.add(happens)
            todo += _after(schema, happens, enforced)
    return seen


def _after(schema: Schema, happens: Event, enforced: bool) -> list[Event]:
    """What an event brings about at once."""
    owner = schema.table(happens[0])
    if owner is None:
        return []
    found: list[Event] = []
    if enforced and happens[1] == "DELETE":
        found += [(k.child, "DELETE" if k.on_delete == "CASCADE" else "UPDATE") for k in owner.children if k.on_delete in _FOLLOWS]
    for trigger in owner.triggers:
        if trigger.event == happens[1]:
            found += [(written, kind) for written in trigger.writes for kind in ("DELETE", "UPDATE", "INSERT")]
    return found


def comes_back(schema: Schema, table: Table, deleting: Iterable[str], pruned: Iterable[str], enforced: bool) -> bool:
    """Whether deletes from the tables `deleting`, and from those of the `pruned` that fill by it, make triggers insert into a table."""
    reached, todo = set[str](), set(deleting)
    while todo and table.name not in reached:
        filled = {into for one in todo for into in _filled(schema, changed(schema, one, enforced))}
        todo = (filled - reached) & set(pruned)
        reached |= filled
    return table.name in reached


def _filled(schema: Schema, events: Iterable[Event]) -> set[str]:
    """Tables into which the triggers of these events insert."""
    owners = [(owner, event) for table, event in events if (owner := schema.table(table)) is not None]
    names = [name for owner, event in owners for trigger in owner.triggers if trigger.event == event for name in trigger.inserts]
    return {found.name for name in names if (found := schema.table(name)) is not None}


def _takes_more(schema: Schema, table: str, enforced: bool) -> bool:
    """Whether a delete may bring about another one from the same table."""
    start = (table, "DELETE")
    return any(start in changed(schema, name, enforced, event) for name, event in _after(schema, start, enforced))


def ignores(table: Table) -> bool:
    """Whether a trigger may let a row of the table stay without an error."""
    return any(trigger.event == "DELETE" and trigger.ignores for trigger in table.triggers)


def count_followers(table: Table, followers: tuple[ForeignKey, ...]) -> str | None:
    """SQL: how many direct children go or change with a row, through their indexes; None where there are none."""
    if not followers:
        return None

    def rows(key: ForeignKey) -> str:
        child = "retention_child"
        pairs = zip(key.columns, key.parent_columns, strict=True)
        terms = " AND ".join(f"{column(table.name, parent)} = {column(child, c)}" for c, parent in pairs)
        return f"(SELECT count(*) FROM {name(key.child)} AS {name(child)} WHERE {terms})"

    return " + ".join(rows(k) for k in followers)

"""A sweep, compiled against the schema: pure, no database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from ..capabilities import Capabilities
from ..errors import PolicyError, Refused
from ..plan.family import changed
from ..plan.names import found_column, found_table, prunable
from ..plan.rules import write_target
from ..policy.age_model import Age
from ..policy.conditions import check_names, parse_condition
from ..policy.ledger_models import Events
from ..policy.models import Policy
from ..policy.sweep_models import Children, Sweep
from ..schema.model import Index, Schema, Table, fold
from ..statements.condition import Condition, Shape
from ..statements.pages import PageSQL, Walk
from ..statements.quoting import column as quoted
from ..statements.quoting import name
from ..steps import Statement, Value
from .listed_plan import ListedPlan, digest_of, found_key, whole_walk, write_cost
from .log_schema import NUMERIC, adds_to_itself, check, key_as_stream, require_index
from .sql import Params
from .sweep_sql import GUARD_ROWS, REASONS, SweepSQL

__all__ = ["MASS_ROWS", "SweepPlan", "advised_index", "compile_sweep", "walk_by_key"]

MASS_ROWS = 100
"""More due rows than this, and more than half of the live ones, are likelier a wrong clock than so many dead workers."""


@dataclass(frozen=True, slots=True)
class SweepPlan(ListedPlan):
    """One enabled sweep, compiled."""

    section: ClassVar[str] = "sweeps"

    sql: SweepSQL | None = None

    @property
    def statements(self) -> SweepSQL:
        assert self.sql is not None
        return self.sql

    def cutoffs(self, now_ms: int, skip: Sequence[str] = ()) -> tuple[Value, ...]:
        p = Params()
        self.statements.condition(p, now_ms, skip)
        return p.statement("").params

    def guard(self, now_ms: int, skip: Sequence[str] = ()) -> Statement:
        return self.statements.guard(self.pages.walk, now_ms, skip)

    def objection(self, row: Sequence[Value]) -> str | None:
        _, live, due = (int(n or 0) for n in row)  # type: ignore[arg-type]
        if due <= MASS_ROWS or due * 2 <= live:
            return None
        return (
            f'sweep "{self.name}": {due} of {live} live rows are due at once, which looks like a wrong clock; '
            f"check it, or allow it with --allow-mass {self.name}."
        )

    def looked_at_part(self, row: Sequence[Value]) -> str | None:
        """A sentence where the guard has not seen all rows that may be live."""
        if int(row[0] or 0) < GUARD_ROWS:  # type: ignore[arg-type]
            return None
        index = "" if self.pages.walk.where else ", and no index holds the live ones alone"
        return (
            f'sweep "{self.name}": the guard against a wrong clock looked at the {GUARD_ROWS:,} highest keys of {self.table!r} alone: '
            f"there are more rows{index}."
        )

    @property
    def settles(self) -> bool:
        """A sweep is one look at one instant: what other work makes due is the next look's."""
        return False

    @property
    def first_cost(self) -> int:
        """The guard's count, and the walk's end."""
        return 2


def compile_sweep(sweep: Sweep, policy: Policy, schema: Schema, host: Capabilities) -> SweepPlan:
    """The plan of one sweep, without what only the database can say.

    Raises:
        PolicyError: a name that is not there, or cannot be written.
        Refused: a table without a key, a batch that could end children and leave their parent.
    """
    where = f'sweep "{sweep.name}"'
    table = found_table(schema, sweep.table, where)
    prunable(table, where)
    sweep = sweep.model_copy(update={"table": table.name, "age": _ages(sweep.age, table, where)})
    condition = parse_condition(sweep.where, table.name, f"{where}: where")
    names = check_names(condition, schema, table)
    key = found_key(table, sweep.key, where)
    if sweep.lease is not None:
        found_column(table, sweep.lease.until, where, "lease column")
    for column in (*sweep.set, *sweep.clear):
        _writable(table, column, (key,), where)
    events = policy.events if sweep.event is not None else None
    written: list[tuple[str, str]] = [(sweep.children.table, "UPDATE")] if sweep.children else []
    link = _check_children(sweep, sweep.children, schema, table, key, where) if sweep.children is not None else ""
    if events is not None and sweep.event is not None:
        check(events, schema)
        written.append((events.table, "INSERT"))
        written += [(events.callback.table, "INSERT")] if events.callback is not None and events.callback.table else []
        _check_once(sweep, events.once, where)
        _check_log(events, schema, where)
    _check_order(written, names.tables, policy, schema, table, where)
    walk, why, note = walk_by_key(table, key, sweep.where, sweep.name)
    timeout, warning = sweep.timeout.resolved()
    stream = "" if events is None else key_as_stream(events, schema, table, key)
    sql = SweepSQL(sweep, key, timeout, events, stream, link)
    p = Params()
    text = sql.condition(p, 0)
    _check_stamps(sql, where)
    max_changes = policy.limits.rows_changed if host.transactions else None
    touched = [event for start, kind in [(table.name, "UPDATE"), *written] for event in changed(schema, start, True, kind)]
    return SweepPlan(
        name=sweep.name,
        table=table.name,
        shape=Shape(table.name, timeout),
        pages=PageSQL(table.name, walk, Condition(text, (), REASONS, len(p.statement("").params)), identity=(key,)),
        why_walk=why,
        max_keys=policy.limits.page_rows,
        max_writes=sweep.batch,
        target=write_target(host),
        max_changes=max_changes,
        digest=digest_of(sweep, [timeout]),
        reads=frozenset(names.tables),
        feeds=frozenset(t for t, _ in touched),
        alters=frozenset(t for t, kind in touched if kind != "DELETE"),
        notes=(note,) if note else (),
        warnings=(warning,) if warning else (),
        sql=sql,
        batch=sweep.batch,
        max_batches=sweep.max_batches,
        write_cost=write_cost(sql, host, max_changes),
    )


def _ages(ages: tuple[Age, ...], table: Table, where: str) -> tuple[Age, ...]:
    for age in ages:
        for column in age.columns:
            found_column(table, column, where, "age column")
    return ages


def _writable(table: Table, column: str, keys: tuple[str, ...], where: str) -> None:
    found = found_column(table, column, where, "column to write")
    if found.generated:
        raise PolicyError(f"{where}: {table.name}.{found.name} is a generated column and cannot be written; leave it out.")
    if fold(found.name) in {fold(key) for key in keys}:
        raise PolicyError(f"{where}: {table.name}.{found.name} names the row and must not change; leave it out.")


def _check_children(sweep: Sweep, children: Children, schema: Schema, table: Table, key: str, where: str) -> str:
    """SQL of a row's key as its children hold it. Raises PolicyError or Refused."""
    here = f"{where}: children"
    child = found_table(schema, children.table, here)
    prunable(child, here)
    if child.name == table.name:
        raise Refused(f"{here} stand in the sweep's own table, so that one row could be both; give them a sweep of their own.", "policy")
    link = found_column(child, children.parent, here, "parent column")
    check_names(parse_condition(children.open, child.name, f"{here}: open"), schema, child)
    for column in children.set:
        _writable(child, column, (*child.primary_key, link.name), here)
    if sweep.rollup is not None:
        found_column(child, sweep.rollup.status, f"{where}: rollup", "status column")
    require_index(child, link.name, here, "they are found")
    own = table.column(key)
    if (own is not None and own.affinity not in NUMERIC) or link.affinity in NUMERIC:
        return quoted(table.name, key)
    if link.affinity == "TEXT":
        return f"CAST({quoted(table.name, key)} AS TEXT)"
    raise Refused(
        f"{here}: {child.name}.{link.name} has no type and {table.name}.{key} is a number, so SQLite would pass by every index and scan "
        f"{child.name!r}; declare {link.name} INTEGER.",
        "schema",
    )


def _check_log(events: Events, schema: Schema, where: str) -> None:
    """The rows for those who asked are written for the events that were just added, by their ids."""
    log = schema.table(events.table)
    if log is not None and events.callback is not None and events.callback.table is not None and adds_to_itself(log):
        raise Refused(
            f"{where}: a trigger on {log.name!r} adds further events to it, so that it is not known which of them the sweep wrote, and "
            f"not everybody would be told; drop the trigger, or leave the event out.",
            "schema",
        )


def _check_once(sweep: Sweep, once: tuple[str, ...], where: str) -> None:
    assert sweep.event is not None
    if sweep.event.once != (sweep.event.kind in once):
        wrong = "says once, but [events] does not list its kind in once" if sweep.event.once else "is listed in once by [events]"
        raise PolicyError(f"{where}: event {wrong}; retention and later appends go by that list, so let both say the same.")


def _check_order(written: list[tuple[str, str]], read: tuple[str, ...], policy: Policy, schema: Schema, table: Table, where: str) -> None:
    """What the batch writes before the row itself must leave the row's condition as it is."""
    for start, event in written:
        found = schema.table(start)
        if found is not None and found.name in read:
            raise Refused(
                f"{where}: where reads {found.name!r}, which the batch writes before the row itself: it would end the one and leave the "
                f"other; write where over the row's own columns.",
                "policy",
            )
        touched = changed(schema, start if found is None else found.name, policy.foreign_keys == "on", event)
        if any(fold(t) == fold(table.name) for t, _ in touched):
            raise Refused(
                f"{where}: a trigger on {start!r} writes to {table.name!r}, so the batch could end children and leave their parent; "
                f"drop the trigger, or leave that part of the sweep out.",
                "schema",
            )
        both = {fold(t) for t, _ in touched} & {fold(t) for t in read}
        if both:
            raise Refused(
                f"{where}: a trigger on {start!r} writes to {', '.join(sorted(both))}, which where reads; the batch could end children "
                f"and leave their parent. Write where over the row's own columns.",
                "schema",
            )


def _check_stamps(sql: SweepSQL, where: str) -> None:
    """`{now:FORMAT}` in a format in which no time is written. Raises PolicyError."""
    try:
        sql.write([("",)], 0)
    except PolicyError as error:
        raise PolicyError(f"{where}: set: {error}") from None


def walk_by_key(table: Table, key: str, where: str, label: str) -> tuple[Walk, str, str | None]:
    """The walk, why, and the index that would serve better, as a sentence, where there is one.

    Raises:
        Refused: the table's rows cannot be visited in any order.
    """
    index = _live_index(table, key, where)
    if index is not None:
        walk = Walk("index", (key,), f"INDEXED BY {name(index.name)}", index.where, integers=key == table.integer_pk, index=index.name)
        return walk, f"index {index.name!r} holds the live rows alone", None
    advice = f"without an index of the live rows every run reads the whole table; create one: {advised_index(table, key, where, label)}"
    walk, _ = whole_walk(table, f"sweep {label!r}")
    return walk, "no index holds the live rows alone", advice


def advised_index(table: Table, key: str, where: str, label: str) -> str:
    """The statement that makes the index over which live rows are found."""
    return f"CREATE INDEX {name(f'{table.name}_{label}')} ON {name(table.name)} ({name(key)}) WHERE {where}"


def _live_index(table: Table, key: str, where: str) -> Index | None:
    """A partial index of the key alone, whose condition stands in `where` as one of the terms that must all hold."""
    terms = set(_terms(where))
    column = table.column(key)
    for index in table.indexes:
        if not index.partial or index.where is None or len(index.columns) != 1 or index.columns[0].descending:
            continue
        named = index.columns[0].name or (table.integer_pk if " " not in key else None)
        plain = named is not None and fold(named) == fold(key) and (column is None or index.columns[0].collation == column.collation)
        if plain and (index.where.strip() == where.strip() or set(_terms(index.where)) <= terms):
            return index
    return None


def _terms(condition: str) -> list[str]:
    """The parts of a condition that AND joins, each in one spelling."""
    try:
        root = sqlglot.parse_one(condition, dialect="sqlite")
    except SqlglotError:
        return [condition.strip()]
    parts = list(root.flatten()) if isinstance(root, exp.And) else [root]
    return [part.unnest().sql("sqlite", identify=True, normalize=True) for part in parts]

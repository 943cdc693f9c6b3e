"""The statements of a sweep: which rows are due, and the one batch that decides again and ends them."""

from __future__ import annotations

import json
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..policy.ledger_models import Events
from ..policy.sweep_models import Children, RollupRule, Sweep
from ..statements.instants import first_of, milliseconds, stamp
from ..statements.keys import Key, from_json, portable
from ..statements.pages import Walk
from ..statements.quoting import column, name, whether
from ..steps import Statement, Value
from .append import callback_rows
from .canonical import canonical
from .log import never_back, table
from .sql import Params

__all__ = ["CHANGES", "GUARD_ROWS", "REASONS", "SweepSQL", "key_list", "keys_in"]

CHANGES = Statement("SELECT changes()")

REASONS = ("undated", "unreadable", "skipped")
"""Why a live row that may be stuck is not due; the boundary counts rows under these words."""

GUARD_ROWS = 50_000
"""Live rows that are counted before a sweep writes: more than any queue that a person would want ended by a clock."""


def key_list(keys: Sequence[Key]) -> str:
    """Keys of one column as the JSON list that `keys_in` reads."""
    return json.dumps([portable(key[0]) for key in keys], ensure_ascii=False, separators=(",", ":"))


def keys_in(bound: str) -> str:
    """SQL: the keys of a bound list, each by its storage class."""
    return f"(SELECT {from_json('j.type', 'j.value', 'j.value', '$')} FROM json_each({bound}) AS j)"


@dataclass(frozen=True, slots=True)
class SweepSQL:
    """A sweep's statements.

    Attributes:
        sweep: what the policy says.
        key: the unique column that names a row. stream, link: SQL of its value as the log has it, and as the children have it.
        timeout_ms: what holds.
        events: the log, where the sweep writes to one.
    """

    sweep: Sweep
    key: str
    timeout_ms: int
    events: Events | None = None
    stream: str = ""
    link: str = ""

    def condition(self, p: Params, now_ms: int, skip: Sequence[str] = ()) -> str:
        """What becomes of a row: 1 it is due, NULL it has time left, 0 it is not live or has a lease, or one of `REASONS`."""
        sweep, key = self.sweep, column(self.sweep.table, self.key)
        present, age = first_of([(column(sweep.table, c), moment.format, moment.epoch_ms) for moment in sweep.age for c in moment.columns])
        # A list, so that the text is the same however many rows are skipped.
        skipped = f"SELECT CAST(value AS TEXT) FROM json_each({p(json.dumps(list(skip)))}) WHERE value IS NOT NULL"
        free = f"CASE WHEN CAST({key} AS TEXT) NOT IN ({skipped}) THEN 1 ELSE 'skipped' END"
        if sweep.lease is not None:
            until = column(sweep.table, sweep.lease.until)
            dead = f"{milliseconds(sweep.lease.format, until)} <= {p(now_ms)}"
            free = f"CASE {dead} WHEN 0 THEN 0 WHEN 1 THEN {free} ELSE CASE WHEN {until} IS NULL THEN {free} ELSE 'unreadable' END END"
        return (
            f"CASE WHEN {whether(f'({sweep.where})')} = 0 THEN 0 WHEN {key} IS NULL THEN 'unreadable' "
            f"ELSE CASE {age} <= {p(now_ms - self.timeout_ms)} WHEN 0 THEN NULL WHEN 1 THEN {free} "
            f"ELSE CASE WHEN {present} THEN 'unreadable' ELSE 'undated' END END END"
        )

    def shown(self) -> tuple[str, ...]:
        """Nothing of a row but its key."""
        return ()

    def guard(self, walk: Walk, now_ms: int, skip: Sequence[str]) -> Statement:
        """How many rows were looked at, of the highest keys; how many are live, and how many of them are due: one row."""
        p = Params()
        condition = self.condition(p, now_ms, skip)
        within = f" WHERE ({walk.where})" if walk.where else ""
        order = ", ".join(f"{column(self.sweep.table, c)} DESC" for c in walk.columns)
        source = f"{name(self.sweep.table)} {walk.hint}".rstrip()
        live = whether(f"({self.sweep.where})")
        page = f"SELECT {live} AS live, {condition} AS v FROM {source}{within} ORDER BY {order} LIMIT {GUARD_ROWS}"
        return p.statement(f"SELECT count(*), count(*) FILTER (WHERE live), count(*) FILTER (WHERE v IS 1) FROM ({page})")

    def write(self, keys: Sequence[Key], now_ms: int, skip: Sequence[str] = ()) -> dict[str, Statement]:
        """The batch that ends these rows if they are still due, in order: children, their count, event, callback, parent, fence."""
        batch: dict[str, Statement] = {}
        rows = key_list(keys)
        if self.sweep.children is not None:
            batch["children"] = self._end_children(self.sweep.children, rows, now_ms, skip)
            batch["changes"] = CHANGES
        if self.sweep.event is not None and self.events is not None:
            batch["event"] = self._tell(self.events, self.sweep.event.kind, self.sweep.event.once, rows, now_ms, skip)
            if self.events.callback is not None and self.events.callback.table is not None:
                batch["callback"] = callback_rows(self.events, self.events.callback, self.sweep.event.kind, now_ms)
        batch["parent"] = self._end(rows, now_ms, skip)
        batch["fence"] = self._fence(rows, now_ms, skip)
        return batch

    def _due(self, p: Params, rows: str, now_ms: int, skip: Sequence[str]) -> str:
        """The predicate, word for word the same in each statement, because its values are bound first."""
        condition = self.condition(p, now_ms, skip)
        return f"{column(self.sweep.table, self.key)} IN {keys_in(p(rows))} AND ({condition}) IS 1"

    def _end_children(self, children: Children, rows: str, now_ms: int, skip: Sequence[str]) -> Statement:
        p = Params()
        due = self._due(p, rows, now_ms, skip)
        parents = f"SELECT {self.link} FROM {name(self.sweep.table)} WHERE {due}"
        values = self._assigned(p, children.set, now_ms)
        return p.statement(
            f"UPDATE {name(children.table)} SET {values} "
            f"WHERE {column(children.table, children.parent)} IN ({parents}) AND {whether(f'({children.open})')}"
        )

    def _tell(self, log: Events, kind: str, once: bool, rows: str, now_ms: int, skip: Sequence[str]) -> Statement:
        p = Params()
        due = self._due(p, rows, now_ms, skip)
        stream, own_kind = self.stream, p(kind)
        values = {log.stream: stream, log.kind: own_kind, log.at.column: never_back(log, p(stamp(log.at.format, now_ms)), stream)}
        if log.payload is not None:
            values[log.payload] = p(canonical({"reason_code": self.sweep.name, "message": self._message}))
        new = ""
        if once:
            own = f"retention_e.{name(log.stream)} = {stream} AND retention_e.{name(log.kind)} = {own_kind}"
            new = f" AND NOT EXISTS (SELECT 1 FROM {table(log)} AS retention_e WHERE {own})"
        return p.statement(
            f"INSERT INTO {table(log)} ({', '.join(map(name, values))}) SELECT {', '.join(values.values())} "
            f"FROM {name(self.sweep.table)} WHERE {due}{new}"
        )

    def _end(self, rows: str, now_ms: int, skip: Sequence[str]) -> Statement:
        p = Params()
        due = self._due(p, rows, now_ms, skip)
        values = self._assigned(p, self.sweep.set, now_ms)
        cleared = "".join(f", {name(c)} = NULL" for c in self.sweep.clear)
        return p.statement(f"UPDATE {name(self.sweep.table)} SET {values}{cleared} WHERE {due} RETURNING 1")

    def _fence(self, rows: str, now_ms: int, skip: Sequence[str]) -> Statement:
        p = Params()
        left = f"SELECT 1 FROM {name(self.sweep.table)} WHERE {self._due(p, rows, now_ms, skip)}"
        return p.statement(f"SELECT CASE WHEN NOT EXISTS ({left}) THEN 1 ELSE json_extract('1', 'fence:sweep') END")

    @property
    def _message(self) -> str:
        return self.sweep.message or self.sweep.name

    def _assigned(self, p: Params, values: Mapping[str, str | int], now_ms: int) -> str:
        return ", ".join(f"{name(c)} = {self._value(p, value, now_ms)}" for c, value in values.items())

    def _value(self, p: Params, value: str | int, now_ms: int) -> str:
        """A column's SQL: a lone placeholder keeps its type, mixed text is concatenated."""
        if isinstance(value, int):
            return p(value)
        parts: list[str] = []
        for literal, field, form, _ in string.Formatter().parse(value):
            parts += [p(literal)] if literal else []
            if field == "rollup":
                parts.append(f"({self._rollup(p)})")
            elif field is not None:
                known: dict[str, Value] = {"reason": self.sweep.name, "message": self._message}
                parts.append(p(stamp(form or "", now_ms) if field == "now" else known[field]))
        return " || ".join(parts) or "''"

    def _rollup(self, p: Params) -> str:
        children, rollup = self.sweep.children, self.sweep.rollup
        assert children is not None
        assert rollup is not None
        tie = f"{column(children.table, children.parent)} = {self.link}"
        mine = f"SELECT 1 FROM {name(children.table)} WHERE {tie}"
        status = column(children.table, rollup.status)

        def matches(rule: RollupRule) -> str:
            if rule.none:
                return f"NOT EXISTS ({mine})"
            if rule.any is not None:
                return f"EXISTS ({mine} AND {status} IN {p.list(rule.any)})"
            return f"EXISTS ({mine}) AND NOT EXISTS ({mine} AND ({status} IN {p.list(rule.all or ())}) IS NOT 1)"

        *lines, last = rollup.rules
        arms = "".join(f"WHEN {matches(rule)} THEN {p(rule.to)} " for rule in lines)
        return f"CASE {arms}ELSE {p(last.to)} END" if lines else p(last.to)

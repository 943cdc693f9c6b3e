"""The statements of a closure: which units may go, how large they are, and the one batch that decides again and deletes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..policy.closure_models import Closure, Member
from ..policy.ledger_models import Cursors, Events
from ..statements.instants import first_of, milliseconds
from ..statements.keys import Key
from ..statements.quoting import column, name, whether
from ..steps import Statement
from .consumers import CONSUMERS, acked, common_table, given_up, with_cursors
from .log import kind_test, table
from .sql import Params, unit
from .sweep_sql import CHANGES, key_list, keys_in

__all__ = ["ALIASES", "REASONS", "ClosureSQL", "Held"]

REASONS = ("undated", "unreadable", "leased", "held", "open", "unread")
"""Why an old terminal unit stays; the boundary counts parents under these words."""

ALIASES = frozenset({*(f"retention_{a}" for a in "cnsw"), CONSUMERS, "retention_names", "retention_walk"})
"""What the list of consumers is called where it is read: a handful of names, each found at one end of an index, which SQLite may call
a scan."""


@dataclass(frozen=True, slots=True)
class Held:
    """A hold on the parent (`member` is None) or on a member's row."""

    where: str
    member: Member | None = None


@dataclass(frozen=True, slots=True)
class ClosureSQL:
    """A closure's statements.

    Attributes:
        closure: what the policy says.
        key: the unique column that names a parent. stream: SQL of its value as the log has it.
        identities: by member's table, the columns that name one of its rows.
        holds: that could keep a unit.
        events: the log that is asked, or None.
        most: rows that one write may delete, members included.
    """

    closure: Closure
    key: str
    identities: dict[str, tuple[str, ...]]
    holds: tuple[Held, ...] = ()
    events: Events | None = None
    stream: str = ""
    most: int = 10_000

    @property
    def members(self) -> tuple[Member, ...]:
        """What goes with the parent, children first."""
        return tuple(member for member in self.closure.members if not member.memory)

    @property
    def _parent_key(self) -> str:
        return column(self.closure.table, self.key)

    def condition(self, p: Params, now_ms: int) -> str:
        """What becomes of a unit: 1 it goes, NULL it is too young, 0 it is not terminal, or one of `REASONS`."""
        closure, parent = self.closure, self.closure.table
        present, age = first_of([(column(parent, c), moment.format, moment.epoch_ms) for moment in closure.age for c in moment.columns])
        arms = ""
        if closure.lease is not None:
            until = column(parent, closure.lease.until)
            dead = f"{milliseconds(closure.lease.format, until)} <= {p(now_ms)}"
            arms += f"WHEN {dead} IS 0 THEN 'leased' WHEN {until} IS NOT NULL AND {dead} IS NULL THEN 'unreadable' "
        arms += "".join(f"WHEN {self._is_held(hold)} THEN 'held' " for hold in self.holds)
        arms += "".join(f"WHEN {self._has(member, member.open)} THEN 'open' " for member in closure.members if member.open is not None)
        if closure.acked and self.events is not None and self.events.cursors is not None:
            arms += f"WHEN {self._unread(p, self.events, self.events.cursors, now_ms)} THEN 'unread' "
        verdict = f"CASE {arms}ELSE 1 END" if arms else "1"
        return (
            f"CASE WHEN {whether(f'({closure.terminal})')} = 0 THEN 0 WHEN {self._parent_key} IS NULL THEN 'unreadable' "
            f"ELSE CASE {age} < {p(max(0, now_ms - closure.keep))} WHEN 0 THEN NULL WHEN 1 THEN {verdict} "
            f"ELSE CASE WHEN {present} THEN 'unreadable' ELSE 'undated' END END END"
        )

    def shown(self) -> tuple[str, ...]:
        """The size of its unit."""
        return (self.size(),)

    def size(self) -> str:
        """SQL over a parent: the rows of its unit, counted no further than it takes to see that they are too many."""
        counts = (f"(SELECT count(*) FROM ({self._rows(member)} LIMIT {self.most:d}))" for member in self.members)
        return " + ".join(["1", *counts])

    def write(self, keys: Sequence[Key], now_ms: int) -> dict[str, Statement]:
        """The batch that deletes these units, if all of them may still go: fence, members and their counts, a fence, parents, a fence."""
        rows = key_list(keys)
        batch = {"fence": self._fence(rows, now_ms)}
        for member in self.members:
            batch[f"delete {member.table}"] = self._delete(member, rows)
            batch[f"changes {member.table}"] = CHANGES
        if self.members:
            batch["members left"] = self._left(rows, [f"SELECT 1 FROM {self._joined(member)}" for member in self.members])
        p = Params()
        batch["delete"] = p.statement(f"DELETE FROM {name(self.closure.table)} WHERE {self._parent_key} IN {keys_in(p(rows))}")
        batch["changes"] = CHANGES
        batch["left"] = self._left(rows, [f"SELECT 1 FROM {name(self.closure.table)} WHERE {self._parent_key} IN "])
        return batch

    def _rows(self, member: Member, where: str | None = None) -> str:
        further = "" if where is None else f" AND {whether(f'({where})')}"
        return f"SELECT 1 FROM {name(member.table)} WHERE ({member.on}){further}"

    def _has(self, member: Member, where: str | None) -> str:
        return f"EXISTS ({self._rows(member, where)})"

    def _is_held(self, hold: Held) -> str:
        return whether(f"({hold.where})") if hold.member is None else self._has(hold.member, hold.where)

    def _unread(self, p: Params, log: Events, cursors: Cursors, now_ms: int) -> str:
        """A live consumer has not acked an event that it sees, or whoever asked to be called has no terminal event yet.

        A place that moved since `stopped_after` keeps its unit too: it is what shows that its consumer lives.
        """
        consumers = common_table(log, cursors, p, now_ms)
        mine = f"{table(log)}.{name(log.stream)} = {self.stream} AND {kind_test(log, p)}"
        waits = f"NOT {acked(log, cursors)} AND NOT {given_up(log, p, now_ms)}"
        source = f"{table(log)} CROSS JOIN {CONSUMERS} AS retention_c {with_cursors(log, cursors)}"
        unread = f"EXISTS ({consumers} SELECT 1 FROM {source} WHERE {mine} AND ({waits}) IS NOT 0)"
        if log.stopped_after is not None and cursors.moved is not None:
            since = p(unit(cursors.moved.format).encode(now_ms - log.stopped_after))
            place = f"retention_k.{name(cursors.stream)} = {self.stream} AND retention_k.{name(cursors.moved.column)} >= {since}"
            unread = f"({unread} OR EXISTS (SELECT 1 FROM {name(cursors.table)} AS retention_k WHERE {place}))"
        if log.callback is None:
            return unread
        of = f"retention_s.{name(log.stream)} = {self.stream} AND retention_s.{name(log.kind)}"
        payload = f"retention_s.{name(log.payload or '')}"
        target = f"CASE WHEN json_valid({payload}) THEN {payload} ->> {p(log.callback.target)} END"
        events = f"SELECT 1 FROM {table(log)} AS retention_s WHERE {of}"
        asked = f"EXISTS ({events} = {p(log.callback.start)} AND NULLIF({target}, '') IS NOT NULL)"
        ended = f"EXISTS ({events} IN {p.list(log.callback.terminal)})"
        return f"({unread} OR ({asked} AND NOT {ended}))"

    def _fence(self, rows: str, now_ms: int) -> Statement:
        p = Params()
        condition = self.condition(p, now_ms)
        bound = p(rows)
        parents = f"FROM {name(self.closure.table)} WHERE {self._parent_key} IN {keys_in(bound)}"
        whole = f"(SELECT count(*) {parents} AND ({condition}) IS 1) = json_array_length({bound})"
        fits = f"(SELECT coalesce(sum({self.size()}), 0) {parents}) <= {self.most:d}"
        return p.statement(f"SELECT CASE WHEN {whole} AND {fits} THEN 1 ELSE json_extract('1', 'fence:closure') END")

    def _joined(self, member: Member) -> str:
        """Parents and their members; a list of parents is to follow."""
        tied = f"{name(self.closure.table)} CROSS JOIN {name(member.table)} ON ({member.on})"
        return f"{tied} WHERE {self._parent_key} IN "

    def _delete(self, member: Member, rows: str) -> Statement:
        p = Params()
        identity = self.identities[member.table]
        columns = ", ".join(column(member.table, c) for c in identity)
        target = columns if len(identity) == 1 else f"({columns})"
        found = f"SELECT {columns} FROM {self._joined(member)}{keys_in(p(rows))}"
        return p.statement(f"DELETE FROM {name(member.table)} WHERE {target} IN ({found})")

    def _left(self, rows: str, sources: Sequence[str]) -> Statement:
        """A fence that nothing is left; a trigger may keep a row without an error. `sources` end where the list follows."""
        p = Params()
        bound = p(rows)
        none = " AND ".join(f"NOT EXISTS ({source}{keys_in(bound)})" for source in sources)
        return p.statement(f"SELECT CASE WHEN {none} THEN 1 ELSE json_extract('1', 'fence:left') END")

"""A page of a rule's table: its boundary (read) and its delete (write), and the walk's end (high-water).

A page is a range of keys, `after < key <= upto`. Filters apply after the page is bounded, so that kept rows cost at most one page of reads.
Keys travel by storage class: see `travel` and `arrived`. The texts are cached by the classes in them, so that a run prepares each once.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

from ..steps import RawText, Statement, Value
from .condition import Condition
from .keys import Classes, Key, arrived, arrived_key, classes, hex_text, listed, placed, portable, text_of, travel, travelling
from .quoting import column, name

__all__ = ["EDGES", "Boundary", "Due", "PageSQL", "Range", "Row", "Walk"]

EDGES = "retention_edges"
"""The common table of a page's edges and counts: one row."""


@dataclass(frozen=True, slots=True)
class Walk:
    """The order in which a rule visits its table.

    Attributes:
        kind: which sort of key.
        columns: the key's columns. The pair of columns of a walk with `ties` is the age and the rowid.
        hint: `NOT INDEXED`, `INDEXED BY "name"` or nothing.
        where: a partial index's WHERE, which is part of every page.
        integers: every key part is an integer (a rowid), which saves looking at storage classes.
        ties: an index of the age alone: a page is whole ages, and one age with more rows than a page is walked inside it by rowid.
            (SQLite seeks only declared columns of a row value.)
        by_age: the first column is the age, and the walk ends at the newest cutoff.
    """

    kind: Literal["rowid", "primary_key", "index"]
    columns: tuple[str, ...]
    hint: str = ""
    where: str | None = None
    integers: bool = False
    ties: bool = False
    by_age: bool = False
    index: str | None = None


@dataclass(frozen=True, slots=True)
class Range:
    """A page: rows whose first columns equal `within`, and whose next are greater than `after` and not greater than `upto`.

    `since` is an inclusive lower bound, `before` the exclusive end of a walk by age. Each bound may be absent.
    """

    within: Key = ()
    after: Key = ()
    since: Key = ()
    upto: Key = ()
    before: Key = ()


@dataclass(frozen=True, slots=True)
class Boundary:
    """What the boundary read said of a page.

    Attributes:
        seen: rows looked at.
        expired: rows that would go now.
        last: the page's last key, or () where the boundary did not fill its limit and the walk need not know.
        first_gone, last_gone: keys of the first and the last row that would go (single-column keys, where they were asked for, else ()).
        young: rows younger than every keep.
        kept: counts by reason.
        children: rows that would go with them by cascade, where it was asked (remote hosts), else 0.
        tenants: names of tenants whose document is malformed.
        filled: as many rows as were asked for, so that more may follow.
        within: of an index of the age alone: the one age to which all of the page's rows belong, where it may go on; `last` is then
            the last one's rowid.
        cut: of such an index: the page's last age, where it may go on behind the page, as a page `within` it. It is not in the counts.
    """

    seen: int
    expired: int
    last: Key
    first_gone: Key = ()
    last_gone: Key = ()
    young: int = 0
    kept: dict[str, int] = field(default_factory=dict[str, int])
    children: int = 0
    tenants: tuple[str, ...] = ()
    filled: bool = False
    within: Key = ()
    cut: Boundary | None = None

    @property
    def dated(self) -> int:
        """Rows whose age is a time."""
        return self.seen - self.kept.get("undated", 0) - self.kept.get("unreadable", 0)

    @property
    def old(self) -> int:
        """Rows that a walk by age visits: dated, and older than the newest possible cutoff."""
        return self.dated - self.young


class Row(NamedTuple):
    """A row as chunk mode read it. Most rows are only counted, so a part is taken out of it when it is asked for."""

    pages: PageSQL
    found: tuple[Value, ...]

    @property
    def key(self) -> Key:
        """Its place in the walk."""
        return arrived_key(self.found[: 2 * len(self.pages.walk.columns)])

    @property
    def identity(self) -> Key:
        """By which it is deleted."""
        return self.key if self.pages.named_by_key else arrived_key(self.found[2 * len(self.pages.walk.columns) : self.pages.verdict_at])

    @property
    def rowid(self) -> Value:
        """Its rowid as text, where it is deleted by that."""
        return self.found[self.pages.verdict_at - 1]

    @property
    def verdict(self) -> Value:
        """What the condition said."""
        return self.found[self.pages.verdict_at]

    @property
    def guard(self) -> Value:
        """All columns that left the database as one text (rows that would go)."""
        return self.found[self.pages.verdict_at + 1]

    @property
    def tenant(self) -> str | None:
        """Its tenant, where that one's document is malformed."""
        tenant = None if self.pages.tenant is None else self.found[self.pages.verdict_at + 2]
        return None if tenant is None else text_of(tenant)

    @property
    def children(self) -> int:
        """Rows that would go with it by cascade, where it was asked (remote hosts), else 0."""
        return 0 if self.pages.children is None else int(self.found[-1] or 0)  # type: ignore[arg-type]

    @property
    def values(self) -> tuple[Value | RawText, ...]:
        """For an archive (rows that would go)."""
        start = self.pages.verdict_at + 2 + (self.pages.tenant is not None)
        pairs = self.found[start : start + 2 * len(self.pages.archived)]
        return tuple(None if kind == "null" else arrived(kind, value) for kind, value in zip(pairs[::2], pairs[1::2], strict=True))


@dataclass(frozen=True, slots=True)
class Due:
    """A row that would go: its place in the walk, its identity, and what else was asked for."""

    key: Key
    identity: Key
    shown: tuple[Value, ...] = ()


@dataclass(frozen=True)
class PageSQL:
    """The statements of one rule.

    Attributes:
        table: the table's name.
        walk: how it is visited.
        condition: which rows go; its parameters come first in every statement.
        tenant: the column whose values are named where a tenant's document is malformed.
        children: SQL that counts the rows that would go with a row by cascade, or None where nobody asks.
        guard: SQL of one text that changes with any column that left the database (chunk mode).
        archived: the columns that an archive gets.
        identity: the columns by which single rows are deleted.
        by_rowid: they are the rowid, and not the primary key of a WITHOUT ROWID table.
        metered: rows read are paid for, so a page's last key of several columns comes out of the one reading that counts its rows, which
            takes up to 0.3 µs more for each than to look for it by its number.
        narrow: the boundary finds the first and the last row that would go too. That takes a seventh of its time, and saves the delete
            from visiting the kept rows around them.
    """

    table: str
    walk: Walk
    condition: Condition
    tenant: str | None = None
    children: str | None = None
    guard: tuple[str, ...] = ()
    archived: tuple[str, ...] = ()
    identity: tuple[str, ...] = ()
    by_rowid: bool = True
    metered: bool = False
    narrow: bool = True

    def _given(self, *tables: str) -> str:
        """The common tables before a statement."""
        tables = tuple(table for table in (self.condition.given, *tables) if table)
        return f"WITH {', '.join(tables)} " if tables else ""

    @property
    def _source(self) -> str:
        return f"{name(self.table)} {self.walk.hint}".rstrip()

    def _columns(self, within: int) -> tuple[str, ...]:
        """The columns that a range compares, after those that equal."""
        columns = self.walk.columns[within:]
        return columns[:1] if self.walk.ties else columns

    def _keys(self, columns: tuple[str, ...]) -> str:
        keys = ", ".join(column(self.table, c) for c in columns)
        return keys if len(columns) == 1 else f"({keys})"

    # --- the walk's end

    def high(self) -> Statement:
        """The largest key: one row of (class, value) pairs, none where the table is empty."""
        keys = [column(self.table, c) for c in self.walk.columns]
        shown = ", ".join(f"typeof({k}), {travel(k)}" for k in keys)
        order = ", ".join(f"{k} DESC" for k in keys)
        where = f" WHERE {self.walk.where}" if self.walk.where else ""
        return Statement(f"SELECT {shown} FROM {self._source}{where} ORDER BY {order} LIMIT 1")

    def read_high(self, rows: Sequence[tuple[Value, ...]]) -> Key:
        """The key that `high` returned, () for an empty table."""
        return arrived_key(rows[0]) if rows else ()

    # --- boundary

    def boundary(self, page: Range, rows: int, cutoffs: tuple[Value, ...]) -> Statement:
        """Read a page's edges and counts: the next `rows` keys of the range. Answered by one row, see `read_boundary`."""
        sql = self._boundary(_signature(page), rows)
        return Statement(sql, cutoffs + _values(page))

    @lru_cache(maxsize=256)  # noqa: B019 - a plan lives as long as its process wants it
    def _boundary(self, shape: _Shape, rows: int) -> str:
        columns = self.walk.columns[shape.within :]
        keys = [f"k{i}" for i in range(len(columns))]
        keyed = [f"{column(self.table, c)} AS {k}" for c, k in zip(columns, keys, strict=True)]
        inner = [*keyed, f"{self.condition.sql} AS v"]
        if self.tenant is not None:
            inner.append(f"{column(self.table, self.tenant)} AS tenant")
        if self.children is not None:
            inner.append(f"{self.children} AS children")
        # By number: a column that is shown twice, as the tenant is, would else not be seen to be in order.
        order = ", ".join(str(place) for place, _ in enumerate(keys, 1))
        source = f"FROM {self._source} WHERE {self._range(shape)} ORDER BY {order}"
        page = f"SELECT {', '.join(inner)} {source} LIMIT {rows:d}"
        counts = {"n": "count(*)", "gone": "count(*) FILTER (WHERE v IS 1)", "old": "count(v)"}
        counts |= {r: f"count(*) FILTER (WHERE v IS '{r}')" for r in self.condition.reasons}
        if self.children is not None:
            counts["children"] = "coalesce(sum(children) FILTER (WHERE v IS 1), 0)"
        tenants = f"nullif(json_group_array(DISTINCT {hex_text('tenant')}) FILTER (WHERE v IS 'malformed'), '[]')"
        named = {} if self.tenant is None else {"tenants": tenants}
        if len(keys) == 1:
            edges = {"k0": "max(k0)"}
            if self.narrow:
                edges |= {"a": "min(k0) FILTER (WHERE v IS 1)", "b": "max(k0) FILTER (WHERE v IS 1)"}
            shown = ", ".join([*counts, *map(_shown, edges), *named])
            return f"{self._given()}SELECT {shown} FROM (SELECT {_named(counts | edges | named)} FROM ({page}))"
        if not self.metered and not self.walk.ties:
            last = f"SELECT {', '.join(keyed)} {source} LIMIT 1 OFFSET {rows - 1:d}"
            shown = ", ".join([*counts, *map(_shown, keys), *named])
            return f"{self._given()}SELECT {shown} FROM (SELECT {_named(counts | named)} FROM ({page})) LEFT JOIN ({last}) ON 1"
        if self.walk.ties:
            return self._whole_ages(shape, keys, _grouped(page, keys, 1, counts, named), counts, named)
        for place in range(len(keys) - 1, -1, -1):
            page = _grouped(page, keys, place, counts, named)
            counts, named = _sums(counts), _lists(named)
        return f"{self._given()}SELECT {', '.join([*counts, *map(_shown, keys), *named])} FROM ({page})"

    def _whole_ages(self, shape: _Shape, keys: list[str], ages: str, counts: dict[str, str], named: dict[str, str]) -> str:
        """Counts of the whole page and, behind them, of its last age alone; the last key, and the last age but one."""
        tail = {f"last_{c}": c for c in counts}
        age = column(self.table, self.walk.columns[0])
        below = self._range(replace(shape, since=(), upto=(), before=()))
        upto = f"SELECT {age} FROM {self._source} WHERE {below} AND {age} < {column(EDGES, 'k0')} ORDER BY {age} DESC LIMIT 1"
        # Materialized, or each mention of `upto` would look for it again.
        both = _grouped(ages, keys, 0, _sums(counts) | tail, _lists(named))
        edges = f"{EDGES} AS MATERIALIZED (SELECT *, ({upto}) AS upto FROM ({both}) AS {EDGES})"
        return f"{self._given(edges)}SELECT {', '.join([*counts, *tail, *map(_shown, (*keys, 'upto')), *named])} FROM {EDGES}"

    def _order(self, shape: _Shape) -> str:
        return ", ".join(column(self.table, c) for c in self.walk.columns[shape.within :])

    def read_boundary(self, page: Range, rows: int, row: tuple[Value, ...]) -> Boundary:
        """What the boundary's one row says."""
        names = ["n", "gone", "old", *self.condition.reasons] + (["children"] if self.children is not None else [])
        count, rest = _numbers(names, row), row[len(names) :]
        tenants = row[-1] if self.tenant is not None else None
        filled = count["n"] >= rows
        if self.walk.ties and not page.within:
            return self._read_whole_ages(count, _numbers(names, rest), rest[len(names) :], tenants, filled)
        width = 2 * (len(self.walk.columns) - len(page.within))
        last = arrived_key(rest[:width]) if count["n"] and rest[0] != "null" else ()
        gone = [arrived_key(rest[i : i + 2]) for i in (2, 4)] if self.narrow and width == 2 and count["gone"] else []
        return self._assembled(count, last, tenants, filled, *gone)

    def _read_whole_ages(
        self, total: dict[str, int], tail: dict[str, int], edges: tuple[Value, ...], tenants: Value, filled: bool
    ) -> Boundary:
        """The page up to its last age but one, and its last age by itself."""
        if not filled:
            return self._assembled(total, arrived_key(edges[:2]) if total["n"] else (), tenants, False)
        cut = replace(self._assembled(tail, arrived_key(edges[2:4]), tenants, True), within=arrived_key(edges[:2]))
        if edges[4] == "null":
            return cut
        before = {n: total[n] - tail[n] for n in total}
        return replace(self._assembled(before, arrived_key(edges[4:6]), tenants, True), cut=cut)

    def _assembled(
        self, count: dict[str, int], last: Key, tenants: Value, filled: bool, first_gone: Key = (), last_gone: Key = ()
    ) -> Boundary:
        named = tuple(_tenant_names(tenants)) if count.get("malformed") else ()
        return Boundary(
            seen=count["n"],
            expired=count["gone"],
            last=last,
            first_gone=first_gone,
            last_gone=last_gone,
            young=count["n"] - count["old"],
            kept={r: count[r] for r in self.condition.reasons},
            children=count.get("children", 0),
            tenants=named,
            filled=filled,
        )

    # --- the rows that would go, by name

    def due(self, page: Range, rows: int, cutoffs: tuple[Value, ...], shown: tuple[str, ...] = ()) -> Statement:
        """The first `rows` rows of a range that would go: key, identity, and `shown` (SQL over the row)."""
        keys = [column(self.table, c) for c in (*self.walk.columns, *self.identity)]
        parts = ", ".join([*(f"typeof({k}), {travel(k)}" for k in keys), *shown])
        shape = _signature(page)
        where = f"{self._range(shape)} AND ({self.condition.sql}) IS 1"
        sql = f"{self._given()}SELECT {parts} FROM {self._source} WHERE {where} ORDER BY {self._order(shape)} LIMIT {rows:d}"
        return Statement(sql, cutoffs + _values(page))

    def read_due(self, rows: Sequence[tuple[Value, ...]]) -> list[Due]:
        """What `due` returned."""
        walk, width = 2 * len(self.walk.columns), 2 * (len(self.walk.columns) + len(self.identity))
        return [Due(arrived_key(r[:walk]), arrived_key(r[walk:width]), r[width:]) for r in rows]

    # --- delete

    def delete(self, page: Range, cutoffs: tuple[Value, ...]) -> Statement:
        """Delete what the condition says goes, between two keys."""
        return Statement(self._delete(_signature(page)), cutoffs + _values(page))

    @lru_cache(maxsize=256)  # noqa: B019
    def _delete(self, shape: _Shape) -> str:
        return f"{self._given()}DELETE FROM {self._source} WHERE {self._range(shape)} AND ({self.condition.sql}) IS 1"

    def delete_next(self, page: Range, rows: int, cutoffs: tuple[Value, ...]) -> Statement:
        """Delete the first `rows` rows of a range, or those of them that the condition says go. For walks by age."""
        return Statement(self._delete_next(_signature(page), rows), cutoffs + _values(page))

    @lru_cache(maxsize=256)  # noqa: B019
    def _delete_next(self, shape: _Shape, rows: int) -> str:
        shown = ", ".join(column(self.table, c) for c in self.identity)
        chosen = f"SELECT {shown} FROM {self._source} WHERE {self._range(shape)} ORDER BY {self._order(shape)} LIMIT {rows:d}"
        where = f"{self._keys(self.identity)} IN ({chosen}) AND ({self.condition.sql}) IS 1"
        return f"{self._given()}DELETE FROM {self._by_identity} WHERE {where}"

    def _range(self, shape: _Shape) -> str:
        """The range as SQL, its parameters numbered behind the condition's."""
        number = self.condition.parameters
        terms: list[str] = [f"({self.walk.where})"] if self.walk.where else []
        columns = self._columns(shape.within)

        def bound(kinds: Classes) -> str:
            nonlocal number
            parts: list[str] = []
            for kind in kinds:
                number += 1
                parts.append(placed(kind, f"?{number}"))
            return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"

        for c, kind in zip(self.walk.columns, shape.within_classes, strict=False):
            terms.append(f"{column(self.table, c)} = {bound((kind,))}")
        for operator, kinds in ((">", shape.after), (">=", shape.since), ("<=", shape.upto), ("<", shape.before)):
            if kinds:
                terms.append(f"{self._keys(columns[: len(kinds)])} {operator} {bound(kinds)}")
        return " AND ".join(terms) if terms else "1"

    # --- chunk mode

    def rows(self, page: Range, rows: int, cutoffs: tuple[Value, ...]) -> Statement:
        """Read a page's rows: key, verdict, and for rows that would go the guard and the archive's values."""
        return Statement(self._rows(_signature(page), rows), cutoffs + _values(page))

    @lru_cache(maxsize=256)  # noqa: B019
    def _rows(self, shape: _Shape, rows: int) -> str:
        keys = self._named
        inner = [f"{column(self.table, c)} AS k{i}" for i, c in enumerate(keys)]
        inner += [f"{self.condition.sql} AS v", f"{self._guard(self.table)} AS g"]
        inner += [f"{column(self.table, c)} AS c{i}" for i, c in enumerate(self.archived)]
        shown = [_rowid(f"k{i}") if self.by_rowid and (c,) == self.identity else _shown(f"k{i}") for i, c in enumerate(keys)]
        shown += ["v", "CASE WHEN v IS 1 THEN g END"]
        if self.tenant is not None:
            inner.append(f"{column(self.table, self.tenant)} AS tenant")
            shown.append(f"CASE WHEN v IS 'malformed' THEN {hex_text('tenant')} END")
        for i in range(len(self.archived)):
            shown += [f"CASE WHEN v IS 1 THEN typeof(c{i}) END", f"CASE WHEN v IS 1 THEN {travel(f'c{i}')} END"]
        if self.children is not None:
            inner.append(f"{self.children} AS children")
            shown.append("CASE WHEN v IS 1 THEN children END")
        page = f"SELECT {', '.join(inner)} FROM {self._source} WHERE {self._range(shape)} ORDER BY {self._order(shape)} LIMIT {rows:d}"
        return f"{self._given()}SELECT {', '.join(shown)} FROM ({page})"

    def read_rows(self, rows: Sequence[tuple[Value, ...]]) -> tuple[list[Row], tuple[str, ...]]:
        """The page's rows, and the tenants whose documents are malformed."""
        found, at = [Row(self, row) for row in rows], self.verdict_at
        tenants = () if self.tenant is None else (row.tenant for row in found if row.found[at] == "malformed")
        return found, tuple(dict.fromkeys(tenant for tenant in tenants if tenant is not None))

    def load(self, due: Sequence[Row]) -> int:
        """Rows that go with these, themselves included, as far as it was asked."""
        return len(due) if self.children is None else len(due) + sum(row.children for row in due)

    def counted(self, rows: Sequence[Row], last: Key, tenants: Sequence[str], *, filled: bool) -> Boundary:
        """Rows that were read, as a boundary would have counted them."""
        verdicts = [row.found[self.verdict_at] for row in rows]
        return Boundary(
            seen=len(rows),
            expired=verdicts.count(1),
            last=last,
            young=verdicts.count(None),
            kept={reason: verdicts.count(reason) for reason in self.condition.reasons},
            tenants=tuple(tenants),
            filled=filled,
        )

    @cached_property
    def named_by_key(self) -> bool:
        """Whether a row's place in the walk is also its identity, and read once."""
        return self.identity == self.walk.columns

    @cached_property
    def verdict_at(self) -> int:
        """Where a row of `rows` holds its verdict, behind the key and the identity."""
        return 2 * len(self._named)

    @property
    def _named(self) -> tuple[str, ...]:
        return self.walk.columns if self.named_by_key else (*self.walk.columns, *self.identity)

    def _guard(self, table: str) -> str:
        """All columns that left the database as one text of ASCII. `quote` writes every value exactly but text, which it cuts at a NUL
        (sqlite.org/lang_corefunc.html#quote) and which may be none that can travel."""
        columns = [column(table, c) for c in self.guard]
        return _balanced([f"CASE typeof({c}) WHEN 'text' THEN 't' || hex({c}) ELSE quote({c}) END" for c in columns]) if columns else "''"

    def delete_rows(self, rows: Sequence[Row], cutoffs: tuple[Value, ...]) -> Statement:
        """Delete rows that were read before: each by its key, unless what was read has changed, and if the condition still holds."""
        _, same = self._listed()
        sql = f"{self._given()}DELETE FROM {self._by_identity} WHERE {same} AND ({self.condition.sql}) IS 1"
        return Statement(sql, (*cutoffs, self._entries(rows)))

    def left(self, rows: Sequence[Row], cutoffs: tuple[Value, ...]) -> Statement:
        """Of rows that `delete_rows` was to delete, count those that are there, and those that are there and should not be."""
        there, same = self._listed()
        due = f"count(*) FILTER (WHERE {same} AND ({self.condition.sql}) IS 1)"
        return Statement(f"{self._given()}SELECT count(*), {due} FROM {self._by_identity} WHERE {there}", (*cutoffs, self._entries(rows)))

    @property
    def _by_identity(self) -> str:
        """By its identity alone: an index on a guarded column would else draw the planner away."""
        return f"{name(self.table)}{self._unindexed}"

    @property
    def _unindexed(self) -> str:
        return " NOT INDEXED" if self.by_rowid else ""

    def _listed(self) -> tuple[str, str]:
        """Two terms: the row is a listed one; and it is as it was read."""
        number, keys = self.condition.parameters + 1, self.identity
        places = ["CAST(j.key AS INTEGER)"] if self.by_rowid else [listed(f"$[{i}]") for i, _ in enumerate(keys)]
        was = "j.value" if self.by_rowid else f"json_extract(j.value, '$[{len(keys)}]')"
        guard = f"{self._guard('q')} IS {was}"
        match = " AND ".join(f"{column('q', c)} = {place}" for c, place in zip(keys, places, strict=True))
        shown = ", ".join(column("q", c) for c in keys)
        source = f"SELECT {shown} FROM json_each(?{number}) AS j CROSS JOIN {name(self.table)} AS q{self._unindexed} ON {match}"
        return f"{self._keys(keys)} IN ({source})", f"{self._keys(keys)} IN ({source} WHERE {guard})"

    def _entries(self, rows: Sequence[Row]) -> str:
        """The rows as JSON. By rowid an object, which is read without looking for a part in each entry: 1.5 µs less a row."""
        if self.by_rowid:
            return _json({str(row.rowid): row.guard for row in rows})
        return _json([[*(portable(p) for p in row.identity), row.guard] for row in rows])


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _balanced(terms: list[str]) -> str:
    """A concatenation whose depth grows with the logarithm of its length (D1 allows an expression depth of 100)."""
    if len(terms) == 1:
        return terms[0]
    half = len(terms) // 2
    return f"({_balanced(terms[:half])} || ',' || {_balanced(terms[half:])})"


def _named(terms: dict[str, str]) -> str:
    return ", ".join(f"{sql} AS {alias}" for alias, sql in terms.items())


def _grouped(page: str, keys: list[str], place: int, counts: dict[str, str], named: dict[str, str]) -> str:
    """SQL: of each group of equal keys before `place` its largest key and its counts. In the end it is the largest of all.

    A sort would read the page's rows once more: each ORDER BY saves the next GROUP BY one.
    """
    largest = {keys[place]: f"max({keys[place]})"} | {k: k for k in keys[place + 1 :]}
    before = ", ".join(keys[:place])
    groups = f" GROUP BY {before} ORDER BY {before}" if before else ""
    return f"SELECT {_named({k: k for k in keys[:place]} | largest | counts | named)} FROM ({page}){groups}"


def _sums(counts: dict[str, str]) -> dict[str, str]:
    return {c: f"sum({c})" for c in counts}


def _lists(named: dict[str, str]) -> dict[str, str]:
    return {t: f"group_concat(DISTINCT {t})" for t in named}


def _shown(key: str) -> str:
    return f"typeof({key}), {travel(key)}"


def _rowid(key: str) -> str:
    """As `_shown`, of what is always an integer."""
    return f"'integer', CAST({key} AS TEXT)"


def _numbers(names: Sequence[str], row: Sequence[Value]) -> dict[str, int]:
    return dict(zip(names, (int(x or 0) for x in row[: len(names)]), strict=True))  # type: ignore[arg-type]


def _tenant_names(value: Value) -> list[str]:
    names: dict[str, None] = {}
    decoder, lists, at = json.JSONDecoder(), str(value or "[]"), 0
    while at < len(lists):
        found, at = decoder.raw_decode(lists, at)
        names |= dict.fromkeys(text_of(n) for n in found if n is not None)
        at += 1
    return list(names)


@dataclass(frozen=True, slots=True)
class _Shape:
    """A range without its values: what its text depends on."""

    within_classes: Classes
    after: Classes
    since: Classes
    upto: Classes
    before: Classes

    @property
    def within(self) -> int:
        return len(self.within_classes)


def _signature(page: Range) -> _Shape:
    return _Shape(classes(page.within), classes(page.after), classes(page.since), classes(page.upto), classes(page.before))


def _values(page: Range) -> tuple[Value, ...]:
    return travelling(page.within) + travelling(page.after) + travelling(page.since) + travelling(page.upto) + travelling(page.before)

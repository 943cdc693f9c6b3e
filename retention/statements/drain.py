"""The statements of `children = "drain"`: a parent's family is found, counted and deleted, level by level, through its foreign keys.

A family is a tree of tables. A list of rows of one of them (`json_each(?)`, by the columns that name a row) goes in one batch: a fence
that everything still is as it was read, then the deletes, deepest level first, then the list itself. The condition stands in the fence
alone: a delete further down would ask it about rows whose children are already gone. A batch is one transaction, so the answer holds.
Every read is bounded by a LIMIT at each level, so that rows without children cost no more than rows with them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..steps import Statement, Value
from .condition import Condition
from .keys import Key, arrived, from_json, portable, travel
from .quoting import column, name, text

__all__ = ["FENCES", "FOUND", "Back", "Counted", "DrainSQL", "Edge", "Node", "Path", "Rows", "nodes"]

Path = tuple[int, ...]
"""A place in the family: which edge to take at each level, from the rule's table on."""

Rows = Sequence[Key]
"""Rows of one table, each by the columns that name it."""

FOUND = "retention_found"
"""The alias of rows that were found from a list, beside a table that may have any columns."""

FENCES = ("kept", "moved", "grown", "referenced")
"""Why a batch may fail by its fence, in the order in which it asks: the parent's condition no longer holds; a listed row is gone or has
another parent; the family has more rows than was counted; a row outside the batch refers to one in it."""


@dataclass(frozen=True, slots=True)
class Back:
    """A key by which a table on the way here refers to this one: a self-reference, or a cycle.

    Attributes:
        table, identity: the referring table, and what names one of its rows.
        pairs: (its column, the column here).
        level: where on the way it stands; 0 is the rule's table.
        cascades: ON DELETE CASCADE.
    """

    table: str
    identity: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    level: int
    cascades: bool


@dataclass(frozen=True, slots=True)
class Node:
    """A table of the family. `rowid` tells that its identity is the rowid; `edges` lead to its children."""

    table: str
    identity: tuple[str, ...]
    rowid: bool
    edges: tuple[Edge, ...] = ()
    backs: tuple[Back, ...] = ()


@dataclass(frozen=True, slots=True)
class Edge:
    """A foreign key downwards: (the child's column, the parent's column). `cascades`: ON DELETE CASCADE."""

    pairs: tuple[tuple[str, str], ...]
    node: Node
    cascades: bool = False


@dataclass(frozen=True, slots=True)
class Counted:
    """Sizes of the families of a list of rows, in its order.

    Attributes:
        totals: rows of each, its own included, for the rows up to the first that was not counted to its end.
        first: the edges below the first row that have rows.
    """

    totals: tuple[int, ...]
    first: Path = ()

    def fitting(self, most: int) -> int:
        """How many leading rows go together within so many rows in all."""
        used = 0
        for place, total in enumerate(self.totals):
            used += total
            if used > most:
                return place
        return len(self.totals)


def nodes(node: Node, path: Path = ()) -> Iterator[tuple[Path, Node]]:
    """Every place at and below a node, children before their parents."""
    for place, edge in enumerate(node.edges):
        yield from nodes(edge.node, (*path, place))
    yield path, node


@dataclass(frozen=True)
class DrainSQL:
    """Attributes:
    root: the rule's table, with its family below.
    condition: the rule's; its parameters come first where it stands.
    """

    root: Node
    condition: Condition

    @property
    def descent(self) -> int:
        """Reads on the way down to a list that fits, at most: at each level the next rows, and the sizes of their families."""
        return _descent(self.root, self.loops)

    def node(self, path: Path) -> Node:
        """The table at a place."""
        node = self.root
        for place in path:
            node = node.edges[place].node
        return node

    def _last(self, path: Path) -> tuple[Node, Edge]:
        """The edge that leads to a place, and the table above it."""
        above = self.node(path[:-1])
        return above, above.edges[path[len(path) - 1]]

    @property
    def climbs(self) -> tuple[Back, ...]:
        """Keys by which the rule's table refers to itself."""
        return self.root.backs

    @property
    def loops(self) -> bool:
        """Whether a key below the rule's table leads back to one on the way."""
        return any(node.backs for place, node in nodes(self.root) if place)

    @property
    def overtaken(self) -> frozenset[str]:
        """Tables whose rows may go by the cascade of a row of their family, before they are deleted by name: those that refer back to
        what goes before them, and what cascades from these in turn."""
        places = list(nodes(self.root))
        found = {back.table for place, node in places for back in node.backs if back.cascades and (place or back.level)}
        # Children stand before their parents.
        for _, node in reversed(places):
            if node.table in found:
                found |= {edge.node.table for edge in node.edges if edge.cascades}
        return frozenset(found)

    # --- reading

    def sizes(self, path: Path, rows: Rows, most: int) -> Statement:
        """Count the families of listed rows, to at most `most` + 1 rows at each place below. Answered by one row, see `read_sizes`."""
        return Statement(self._sizes(path), (_listed(rows), most + 1))

    @lru_cache(maxsize=64)  # noqa: B019 - a plan lives as long as its process wants it
    def _sizes(self, path: Path) -> str:
        start = self.node(path)
        sources = [_below(start, place, (), limit="?2") for place, _ in nodes(start) if place]
        groups = [f"SELECT i, count(*) AS n FROM ({source}) GROUP BY i" for source in sources]
        return f"SELECT {', '.join(f'(SELECT json_group_array(json_array(i, n)) FROM ({g}))' for g in groups)}"

    def read_sizes(self, path: Path, rows: int, most: int, answer: tuple[Value, ...]) -> Counted:
        """The families of `rows` listed rows."""
        totals, known, first = [1] * rows, rows, set[int]()
        places = [place for place, _ in nodes(self.node(path)) if place]
        for place, value in zip(places, answer, strict=True):
            counts: list[tuple[int, int]] = [(int(i), int(n)) for i, n in json.loads(str(value))]
            for i, n in counts:
                totals[i] += n
                if i == 0 and len(place) == 1:
                    first.add(place[0])
            if sum(n for _, n in counts) > most:
                # The count stopped inside the last of them.
                known = min(known, max(i for i, _ in counts))
        return Counted(tuple(totals[:known]), tuple(sorted(first)))

    def children(self, path: Path, parent: Key, most: int) -> Statement:
        """Name the next rows at a place under one row above it: those to which no key that leads back refers. Others go last, with it."""
        return Statement(self._children(path), (_listed([parent]), most))

    @lru_cache(maxsize=64)  # noqa: B019
    def _children(self, path: Path) -> str:
        above, edge = self._last(path)
        child = edge.node
        leaf = [_unreferred(back, child) for back in child.backs]
        source = _below(above, path[-1:], child.identity)
        return f"SELECT {_shown(child.identity)} FROM ({source}{' WHERE ' + ' AND '.join(leaf) if leaf else ''} LIMIT ?2)"

    def verdicts(self, rows: Rows, cutoffs: tuple[Value, ...]) -> Statement:
        """Ask the condition about rows of the rule's table by name. See `read_verdicts`."""
        return Statement(self._verdicts(), (*cutoffs, _listed(rows)))

    @lru_cache(maxsize=1)  # noqa: B019
    def _verdicts(self) -> str:
        root = self.root
        shown = ", ".join(f"typeof({c}), {travel(c)}" for c in (column(root.table, i) for i in root.identity))
        return f"SELECT {shown}, {self.condition.sql} FROM {_source(root)} WHERE {_is_listed(root, (), self._list)}"

    def read_verdicts(self, rows: Sequence[tuple[Value, ...]]) -> dict[Key, Value]:
        """What the condition says of each row that is there, by its name."""
        return {self.read_key(row[:-1]): row[-1] for row in rows}

    def read_key(self, values: tuple[Value, ...]) -> Key:
        """A row's name, as `children` and `climb` answer it."""
        return tuple(arrived(values[i], values[i + 1]) for i in range(0, len(values), 2))

    # --- writing

    def before(self, path: Path) -> list[Statement]:
        """What a batch begins with: where rows refer to each other in a circle, their keys are checked at the commit, when all are gone.

        It holds for one transaction (sqlite.org/pragma.html#pragma_defer_foreign_keys); D1 and libSQL take it in a batch.
        """
        return [] if path or not self.loops else [Statement("PRAGMA defer_foreign_keys = 1")]

    def fence(self, path: Path, chain: Rows, rows: Rows, most: int, cutoffs: tuple[Value, ...]) -> Statement:
        """Fail the batch unless listed rows and their families may go.

        Args:
            path: where the list stands.
            chain: the rows above it, from the rule's table down; nothing for a list of the rule's own rows.
            rows: the list.
            most: rows that list and families may have.
            cutoffs: of the condition.
        """
        params = (*cutoffs, _listed(rows), most, *((_listed(chain),) if path else ()))
        return Statement(self._fence(path), params)

    @property
    def _list(self) -> str:
        return f"?{len(self.condition.cutoffs) + 1}"

    @property
    def _most(self) -> str:
        return f"?{len(self.condition.cutoffs) + 2}"

    @property
    def _chain(self) -> str:
        return f"?{len(self.condition.cutoffs) + 3}"

    @lru_cache(maxsize=64)  # noqa: B019
    def _fence(self, path: Path) -> str:
        node = self.node(path)
        checks = list(self._kept(path))
        sizes = [f"json_array_length({self._list})"]
        sizes += [
            f"(SELECT count(*) FROM ({_below(node, place, (), self._list, f'{self._most} + 1')}))" for place, _ in nodes(node) if place
        ]
        checks.append(("grown", f"{' + '.join(sizes)} > {self._most}"))
        checks += [("referenced", outsider) for outsider in self._outsiders(path)]
        arms = " ".join(f"WHEN {wrong} THEN json_extract('1', {text('fence:' + label)})" for label, wrong in checks)
        return f"SELECT CASE {arms} ELSE 1 END"

    def _kept(self, path: Path) -> Iterator[tuple[str, str]]:
        """The parent's whole condition, and that each row is still where it was read."""
        root = self.root
        if not path:
            listed = f"SELECT count(*) FROM {_source(root)} WHERE {_is_listed(root, (), self._list)} AND ({self.condition.sql}) IS 1"
            yield "kept", f"({listed}) <> json_array_length({self._list})"
            return
        parent = " AND ".join(self._names(root, root.table, 0))
        yield "kept", f"NOT EXISTS (SELECT 1 FROM {_source(root)} WHERE {parent} AND ({self.condition.sql}) IS 1)"
        if len(path) > 1:
            yield "kept", f"NOT EXISTS ({self._linked(path[:-1])})"
        above, edge = self._last(path)
        terms = [*self._names(above, "up", len(path) - 1), *_joined(edge.pairs, "up", "r")]
        linked = f"SELECT count(*) FROM {_start(edge.node, self._list)} CROSS JOIN {name(above.table)} AS up ON {' AND '.join(terms)}"
        yield "moved", f"({linked}) <> json_array_length({self._list})"

    def _names(self, node: Node, alias: str, level: int) -> list[str]:
        """Terms: `alias` is the chain's row of that level."""
        return [f"{column(alias, c)} = {_part(node, self._chain, f'$[{level}]', i)}" for i, c in enumerate(node.identity)]

    def _linked(self, path: Path) -> str:
        """The chain's rows down to a place, each still the child of the one above."""
        node, terms = self.root, " AND ".join(self._names(self.root, "r0", 0))
        joins = f"{name(node.table)} AS r0"
        for level, place in enumerate(path, 1):
            edge = node.edges[place]
            node = edge.node
            link = [*_joined(edge.pairs, f"r{level - 1}", f"r{level}"), *self._names(node, f"r{level}", level)]
            joins += f" CROSS JOIN {name(node.table)} AS r{level} ON {' AND '.join(link)}"
        return f"SELECT 1 FROM {joins} WHERE {terms}"

    def _outsiders(self, path: Path) -> Iterator[str]:
        """For each key that leads back: a row that refers to one of the batch's and does not go with it."""
        start = self.node(path)
        for place, node in nodes(start):
            for back in node.backs:
                if not path and not place and back.level == 0:
                    continue  # The condition keeps rows of the rule's table to which others of it refer.
                terms = [f"{FOUND}.p{i} = {column('b', own)}" for i, (own, _) in enumerate(back.pairs)]
                source = _below(start, place, tuple(parent for _, parent in back.pairs), self._list)
                if back.level >= len(path):
                    together = place[: back.level - len(path)]
                    stays = f"NOT {_is_listed(self.node((*path, *together)), together, self._list, 'b', start)}"
                elif back.cascades:
                    stays = "1"
                else:
                    above = self.node(path[: back.level])
                    stays = f"NOT ({' AND '.join(self._names(above, 'b', back.level))})"
                found = f"({source}) AS {FOUND} CROSS JOIN {name(back.table)} AS b ON {' AND '.join(terms)}"
                yield f"EXISTS (SELECT 1 FROM {found} WHERE {stays})"

    def deletes(self, path: Path, rows: Rows) -> list[tuple[str, Statement]]:
        """Delete the families of listed rows, and the rows themselves last: for each place its table and a statement."""
        return [(table, Statement(f"DELETE {sql}", (_listed(rows),))) for table, sql in self._listed_rows(path)]

    @lru_cache(maxsize=64)  # noqa: B019
    def _listed_rows(self, path: Path) -> tuple[tuple[str, str], ...]:
        start = self.node(path)
        return tuple(
            (node.table, f"FROM {_source(node)} WHERE {_is_listed(node, place, '?1', start=start)}") for place, node in nodes(start)
        )

    def counts(self, path: Path, rows: Rows) -> list[tuple[str, Statement]]:
        """For each table below the listed rows that may be overtaken: count its rows before anything goes, each once."""
        return [(table, Statement(sql, (_listed(rows),))) for table, sql in self._counts(path)]

    @lru_cache(maxsize=64)  # noqa: B019
    def _counts(self, path: Path) -> tuple[tuple[str, str], ...]:
        start, found = self.node(path), dict[str, str]()
        for place, node in nodes(start):
            if place and node.table in self.overtaken:
                names = ", ".join(f"p{n}" for n in range(len(node.identity)))
                rows = f"SELECT {names} FROM ({_below(start, place, node.identity)})"
                # Nested, because D1 takes five terms of a compound SELECT.
                found[node.table] = f"SELECT * FROM ({found[node.table]}) UNION {rows}" if node.table in found else rows
        return tuple((table, f"SELECT count(*) FROM ({sql})") for table, sql in found.items())

    def left(self, path: Path, rows: Rows) -> list[Statement]:
        """Count the listed rows that are still there, where their own delete cannot tell how many went."""
        if self.node(path).table not in self.overtaken:
            return []
        return [Statement(f"SELECT count(*) {self._listed_rows(path)[-1][1]}", (_listed(rows),))]

    def climb(self, rows: Rows) -> list[Statement]:
        """Name the rows of the rule's table to which listed ones refer, one statement a key: without them, those may go."""
        return [Statement(sql, (_listed(rows),)) for sql in self._climb()]

    @lru_cache(maxsize=1)  # noqa: B019
    def _climb(self) -> tuple[str, ...]:
        root = self.root
        found: list[str] = []
        for back in self.climbs:
            source = _below(root, (), tuple(own for own, _ in back.pairs))
            terms = [f"{column('up', parent)} = {FOUND}.p{i}" for i, (_, parent) in enumerate(back.pairs)]
            shown = ", ".join(f"typeof({c}), {travel(c)}" for c in (column("up", i) for i in root.identity))
            found.append(f"SELECT {shown} FROM ({source}) AS {FOUND} CROSS JOIN {name(root.table)} AS up ON {' AND '.join(terms)}")
        return tuple(found)


def _source(node: Node) -> str:
    """The table under its own name, by its identity alone: the condition's terms would else draw the planner to another index."""
    return f"{name(node.table)}{' NOT INDEXED' if node.rowid else ''}"


def _start(node: Node, parameter: str) -> str:
    """FROM: the listed rows as `r`, in the order of the list."""
    terms = [f"{column('r', c)} = {_part(node, 'j.value', '$', i)}" for i, c in enumerate(node.identity)]
    hint = " NOT INDEXED" if node.rowid else ""
    return f"json_each({parameter}) AS j CROSS JOIN {name(node.table)} AS r{hint} ON {' AND '.join(terms)}"


def _below(node: Node, path: Path, carried: tuple[str, ...], parameter: str = "?1", limit: str = "") -> str:
    """SELECT: rows at a place below listed rows. `i` is the place in the list; `p0`, `p1`, ... are the carried columns."""
    shown = [f"{FOUND}.i" if path else "j.key AS i", *(f"{column('r', c)} AS p{n}" for n, c in enumerate(carried))]
    if not path:
        return f"SELECT {', '.join(shown)} FROM {_start(node, parameter)}"
    above = node
    for place in path[:-1]:
        above = above.edges[place].node
    edge = above.edges[path[-1]]
    source = _below(node, path[:-1], tuple(parent for _, parent in edge.pairs), parameter, limit)
    terms = " AND ".join(f"{FOUND}.p{n} = {column('r', own)}" for n, (own, _) in enumerate(edge.pairs))
    cut = f" LIMIT {limit}" if limit else ""
    return f"SELECT {', '.join(shown)} FROM ({source}) AS {FOUND} CROSS JOIN {name(edge.node.table)} AS r ON {terms}{cut}"


def _is_listed(node: Node, path: Path, parameter: str, alias: str = "", start: Node | None = None) -> str:
    """A term: the row of `alias` (the table's own name) stands at a place below the list (`path` from `start`)."""
    own = ", ".join(column(alias or node.table, c) for c in node.identity)
    names = ", ".join(f"p{n}" for n in range(len(node.identity)))
    left = own if len(node.identity) == 1 else f"({own})"
    return f"{left} IN (SELECT {names} FROM ({_below(start or node, path, node.identity, parameter)}))"


def _joined(pairs: tuple[tuple[str, str], ...], parent: str, child: str) -> list[str]:
    # The parent stands on the left: its collation and affinity rule, as in SQLite's own foreign-key look-up.
    return [f"{column(parent, theirs)} = {column(child, own)}" for own, theirs in pairs]


def _descent(node: Node, all_edges: bool) -> int:
    if not node.edges:
        return 0
    return (len(node.edges) if all_edges else 1) + max(bool(edge.node.edges) + _descent(edge.node, all_edges) for edge in node.edges)


def _unreferred(back: Back, node: Node) -> str:
    """A term: no row refers to `r` by a key that leads back, but for itself."""
    terms = _joined(back.pairs, "r", "b")
    if back.table == node.table:
        itself = [f"{column('b', c)} IS {column('r', c)}" for c in node.identity]
        terms.append(f"NOT ({' AND '.join(itself)})")
    return f"NOT EXISTS (SELECT 1 FROM {name(back.table)} AS b WHERE {' AND '.join(terms)})"


def _shown(identity: tuple[str, ...]) -> str:
    return ", ".join(f"typeof(p{n}), {travel(f'p{n}')}" for n in range(len(identity)))


def _part(node: Node, source: str, path: str, place: int) -> str:
    """A part of a row's name out of JSON, by its storage class. A name of one column is a scalar, a longer one an array."""
    at = path if len(node.identity) == 1 else f"{path}[{place}]"
    value = f"json_extract({source}, '{at}')"
    if source == "j.value" and at == "$":
        value = "j.value"
        kind = "j.type"
    else:
        kind = f"json_type({source}, '{at}')"
    if node.rowid:
        return value
    return from_json(kind, value, source, at)


def _listed(rows: Rows) -> str:
    """Rows as they travel: one JSON list."""
    values = [portable(row[0]) if len(row) == 1 else [portable(p) for p in row] for row in rows]
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"))

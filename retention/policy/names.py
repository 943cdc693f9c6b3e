"""What the names in a condition mean, by SQLite's rules: the innermost FROM that has the name, else the one around it.

Source: sqlite.org/lang_expr.html, and lookupName() of SQLite's resolve.c, except that a name in double quotes is never text, and that a
name which could be meant for another row than the one it reads is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from ..schema.model import Schema, Table
from .base import nearest
from .functions import TABLE_FUNCTIONS

__all__ = ["NameFault", "Names", "own_columns", "resolve"]

_ROWID = frozenset({"rowid", "_rowid_", "oid"})
_QUERIES = (exp.Select, exp.SetOperation)


class NameFault(ValueError):
    """A name that means nothing, or two things."""


@dataclass(frozen=True, slots=True)
class Names:
    """What a condition reads.

    Attributes:
        tables: that its subqueries read, views resolved, by their names in the schema, sorted; the rule's own table only if a subquery
            reads it.
        columns: of the row that it is about, by their names in the schema, sorted; a rowid alias that is no column is left out.
    """

    tables: tuple[str, ...]
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Source:
    """Something in FROM. `columns` are lower-case, or None where they are not known."""

    alias: str
    columns: frozenset[str] | None
    table: Table | None = None

    def has(self, column: str) -> bool:
        return self.columns is None or column in self.columns


@dataclass(frozen=True, slots=True)
class _Scope:
    """A SELECT: its sources, the names it gives to its results, and whether USING or NATURAL merges columns."""

    sources: tuple[_Source, ...]
    results: frozenset[str] = frozenset()
    merges: bool = False


@dataclass(frozen=True, slots=True)
class _Use:
    """A column reference: the scope that it means (0 is the rule's row), and whether a scope further out has the name as well."""

    node: exp.Column
    source: _Source
    depth: int
    doubtful: bool


_Scopes = tuple[_Scope, ...]
_Tables = Mapping[str, frozenset[str] | None]


def resolve(root: exp.Select, schema: Schema, table: Table) -> Names:
    """What `root` (`SELECT 1 WHERE (condition)`) reads, where the condition is about rows of `table`.

    Raises:
        NameFault: with a sentence.
    """
    reader = _Reader(schema)
    row = _Source(table.name.lower(), _columns(table), table)
    reader.expression(root.args["where"].this, (_Scope((row,)),), {})
    own = (table.column(use.node.name) for use in reader.uses if use.depth == 0)
    return Names(tuple(sorted(reader.tables)), tuple(sorted({column.name for column in own if column})))


def own_columns(root: exp.Select, table: str) -> Iterator[exp.Column]:
    """The columns in `root` that name the rule's row: by the table's name where no FROM around them has it, or plainly at the top."""
    tested = _tested_tables(root)
    for column in root.find_all(exp.Column):
        if id(column) in tested or isinstance(column.this, exp.Star):
            continue
        around = [query for query in _ancestors(column) if query is not root]
        if not column.table:
            if not around:
                yield column
        elif column.table.lower() == table.lower() and not any(column.table.lower() in _aliases(query) for query in around):
            yield column


def _ancestors(node: exp.Expr) -> Iterator[exp.Expr]:
    parent = node.parent
    while parent is not None:
        if isinstance(parent, _QUERIES):
            yield parent
        parent = parent.parent


def _tested_tables(root: exp.Expr) -> set[int]:
    """`a IN u` names a table, though sqlglot calls it a column."""
    return {id(test.args["field"]) for test in root.find_all(exp.In) if isinstance(test.args.get("field"), exp.Column)}


def _aliases(query: exp.Expr) -> set[str]:
    return {(source.alias or _called(source)).lower() for source, _ in _from(query)}


def _from(query: exp.Expr) -> Iterator[tuple[exp.Expr, exp.Join | None]]:
    """Each source of a SELECT with the join that brings it; parentheses around joins are opened."""
    first = query.args.get("from_")
    pending: list[tuple[exp.Expr, exp.Join | None]] = [(first.this, None)] if first else []
    pending += [(join.this, join) for join in query.args.get("joins") or ()]
    while pending:
        source, join = pending.pop(0)
        if isinstance(source, exp.Subquery) and not isinstance(source.this, (*_QUERIES, exp.Subquery, exp.Values)):
            pending.insert(0, (source.this, join))
        else:
            yield source, join
        pending[:0] = [(inner.this, inner) for inner in source.args.get("joins") or ()]


def _called(source: exp.Expr) -> str:
    """The name of a table in FROM, or of the function that stands there."""
    return source.this.name if isinstance(source, exp.Table) and isinstance(source.this, exp.Func) else source.name


def _columns(table: Table) -> frozenset[str]:
    names = {column.name.lower() for column in table.columns}
    if table.kind in ("virtual", "shadow") or (table.kind == "table" and not table.without_rowid):
        names |= _ROWID
    if table.kind == "virtual":
        # Hidden columns of FTS5: the table's own name stands for a match, rank for its order (sqlite.org/fts5.html).
        names |= {table.name.lower(), "rank"}
    return frozenset(names)


class _Reader:
    """Walks a condition and notes what it reads: `tables` of subqueries, `uses` of columns."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.tables: set[str] = set()
        self.uses: list[_Use] = []

    def expression(self, node: exp.Expr, scopes: _Scopes, ctes: _Tables) -> None:
        """Everything in an expression, down to its subqueries."""
        for part in node.walk(prune=lambda n: isinstance(n, (exp.Column, exp.Exists, exp.Collate, exp.In, *_QUERIES))):
            match part:
                case exp.Column():
                    self.column(part, scopes)
                case exp.Collate():
                    self.expression(part.this, scopes, ctes)
                case exp.In():
                    self.membership(part, scopes, ctes)
                case exp.Exists():
                    self.existence(part, scopes, ctes)
                case exp.Select() | exp.SetOperation():
                    self.query(part, scopes, ctes)
                case _:
                    pass

    def membership(self, node: exp.In, scopes: _Scopes, ctes: _Tables) -> None:
        for part in node.iter_expressions():
            if part.arg_key == "field" and isinstance(part, exp.Column):
                self.named(part.name, part.name, ctes)
            else:
                self.expression(part, scopes, ctes)

    def existence(self, node: exp.Exists, scopes: _Scopes, ctes: _Tables) -> None:
        before = len(self.uses)
        self.expression(node.this, scopes, ctes)
        inside = self.uses[before:]
        selected = {id(column) for query in node.find_all(exp.Select) for part in query.selects for column in part.find_all(exp.Column)}
        doubtful = next((use for use in inside if use.doubtful and id(use.node) not in selected), None)
        if doubtful is not None and all(use.depth >= len(scopes) for use in inside):
            alias = doubtful.source.alias
            raise NameFault(
                f"asks EXISTS the same question for every row, because {doubtful.node.name} there means {alias}.{doubtful.node.name}; "
                f"write the table before each name, such as {scopes[-1].sources[0].alias}.{doubtful.node.name}"
            )

    def query(self, node: exp.Expr, scopes: _Scopes, ctes: _Tables) -> frozenset[str] | None:
        """A subquery; returns the lower-case names of its results, or None where they are not known."""
        ctes = self.common(node, scopes, ctes)
        if isinstance(node, exp.SetOperation):
            names = self.query(node.left.unnest(), scopes, ctes)
            self.query(node.right.unnest(), scopes, ctes)
            for key in ("order", "limit", "offset"):
                if node.args.get(key):
                    self.expression(node.args[key], (*scopes, _Scope((_Source("", names),))), ctes)
            return names
        if not isinstance(node, exp.Select):
            self.expression(node, scopes, ctes)
            return None
        found = list(_from(node))
        sources = tuple(self.source(source, scopes, ctes) for source, _ in found)
        merges = any(join is not None and (join.args.get("using") or join.args.get("method") == "NATURAL") for _, join in found)
        results = frozenset(part.alias.lower() for part in node.selects if isinstance(part, exp.Alias))
        inner = (*scopes, _Scope(sources, results, merges))
        for source, join in found:
            if isinstance(source.this, exp.Func):
                self.expression(source.this, inner, ctes)
            if join is not None and join.args.get("on"):
                self.expression(join.args["on"], inner, ctes)
        for part in node.iter_expressions():
            if part.arg_key not in ("with_", "from_", "joins"):
                before = len(self.uses)
                self.expression(part, inner, ctes)
                if part.arg_key == "expressions" and sources:
                    _check_selected(self.uses[before:], len(scopes))
        return _results(node, sources)

    def common(self, node: exp.Expr, scopes: _Scopes, ctes: _Tables) -> _Tables:
        """`ctes` and the common table expressions of a query."""
        for cte in node.args["with_"].expressions if node.args.get("with_") else ():
            name, given = cte.alias.lower(), frozenset(column.lower() for column in cte.alias_column_names)
            names = self.query(cte.this, scopes, {**ctes, name: given or None})
            ctes = {**ctes, name: given or names}
        return ctes

    def source(self, node: exp.Expr, scopes: _Scopes, ctes: _Tables) -> _Source:
        alias = (node.alias or _called(node)).lower()
        if isinstance(node, exp.Values):
            self.expression(node, scopes, ctes)
            return _Source(alias, None)
        if not isinstance(node, exp.Table):
            return _Source(alias, self.query(node.this.unnest(), scopes, ctes))
        name = _called(node)
        if isinstance(node.this, exp.Func) and name.lower() in TABLE_FUNCTIONS:
            return _Source(alias, TABLE_FUNCTIONS[name.lower()])
        return self.named(name, alias, ctes)

    def named(self, name: str, alias: str, ctes: _Tables) -> _Source:
        if name.lower() in ctes:
            return _Source(alias.lower(), ctes[name.lower()])
        table = self.schema.table(name)
        if table is None:
            meant = nearest(name, self.schema.tables)
            raise NameFault(f"reads the table {name}, which does not exist" + (f"; did you mean {meant}?" if meant else ""))
        self.tables |= _beneath(table, self.schema, frozenset())
        return _Source(alias.lower(), _columns(table), table)

    def column(self, node: exp.Column, scopes: _Scopes) -> None:
        qualifier, column = node.table.lower(), node.name.lower()
        for depth in range(len(scopes) - 1, -1, -1):
            scope = scopes[depth]
            called = [source for source in scope.sources if not qualifier or source.alias == qualifier]
            if isinstance(node.this, exp.Star):
                if called:
                    return
                continue
            having = [source for source in called if source.has(column)]
            if len(having) > 1 and not scope.merges:
                raise NameFault(f"uses {node.name}, which {having[0].alias} and {having[1].alias} both have; write the table before it")
            if having:
                outer = any(source.has(column) for other in scopes[:depth] for source in other.sources)
                self.uses.append(_Use(node, having[0], depth, outer and not qualifier and having[0].alias != ""))
                return
            if qualifier and called:
                break
            if not qualifier and column in scope.results:
                return
        raise NameFault(_unknown(node, scopes))


def _check_selected(uses: list[_Use], depth: int) -> None:
    """`id IN (SELECT id FROM u)` is true of every row where u has no id: SQLite takes the row's own."""
    stray = next((use for use in uses if use.depth < depth and not use.node.table), None)
    if stray is not None:
        name, alias = stray.node.name, stray.source.alias
        raise NameFault(f"selects {name} in a subquery whose tables have no such column, so it means {alias}.{name}; name the right one")


def _results(node: exp.Select, sources: tuple[_Source, ...]) -> frozenset[str] | None:
    if any(part.is_star for part in node.selects):
        known = [source.columns for source in sources if source.columns is not None]
        return frozenset[str]().union(*known) if len(known) == len(sources) and len(node.selects) == 1 else None
    return frozenset(part.alias_or_name.lower() for part in node.selects)


def _unknown(node: exp.Column, scopes: _Scopes) -> str:
    shown = node.sql("sqlite")
    if node.table:
        known = {source.alias: source for scope in scopes for source in scope.sources}
        source = known.get(node.table.lower())
        if source is None:
            return f"uses {shown}, but nothing here is called {node.table}; known are {', '.join(sorted(known))}"
        meant = nearest(node.name, source.columns or ())
        return f"uses {shown}, a column that does not exist" + (f"; did you mean {meant}?" if meant else "")
    names = frozenset[str]().union(*(source.columns or () for scope in scopes for source in scope.sources))
    meant = nearest(node.name, names - _ROWID)
    if node.this.quoted:
        text = f"the text '{node.name}' in single quotes"
        advice = f"did you mean {meant}, or {text}?" if meant else f"write {text}"
        return f"has {shown}, which names a column that does not exist; {advice}"
    return f"uses {shown}, a column that does not exist" + (f"; did you mean {meant}?" if meant else "; write text in single quotes")


def _beneath(table: Table, schema: Schema, seen: frozenset[str]) -> set[str]:
    """The tables that a view reads, or the table itself. A view that cannot be read is taken to read every table."""
    if table.kind != "view":
        return {table.name}
    try:
        statement = sqlglot.parse_one(table.sql or "", dialect="sqlite")
    except (SqlglotError, RecursionError):
        return set(schema.tables)
    # The view's own name stands as a table in its CREATE, before the query.
    query = statement.args.get("expression") if isinstance(statement, exp.Create) else None
    named = {schema.table(part.name) for part in query.find_all(exp.Table)} if isinstance(query, exp.Expr) else set[Table | None]()
    if not any(named):
        return set(schema.tables)
    inner = [part for part in named if part is not None and part.name not in seen | {table.name}]
    return {name for part in inner for name in _beneath(part, schema, seen | {table.name})}

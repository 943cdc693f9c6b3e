"""`only` and `where`: a condition that a person wrote, taken into statements word for word.

The text is parsed twice. SQLite's own token rules say that it cannot leave the parentheses that it will stand in; sqlglot says what it
is made of. What both accept is one yes-or-no expression over a row and subqueries, without parameters, comments and clocks.
The database has the last word: every statement is compiled by it before anything is deleted.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError

from ..errors import PolicyError
from ..schema.model import Schema, Table
from ..schema.tokens import Token, tokens
from . import functions
from .base import show
from .names import NameFault, Names, own_columns, resolve
from .shapes import not_boolean

__all__ = ["Condition", "Names", "called", "check_names", "parse_condition", "rewritten", "storable"]

_STATEMENTS = (exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.Command, exp.Create, exp.Drop, exp.Alter, exp.Pragma, exp.Attach)
_BEFORE, _AFTER = "SELECT 1 WHERE (", "\n)"


@dataclass(frozen=True, slots=True)
class Condition:
    """A checked condition. Whoever puts `text` into a statement wraps it in parentheses.

    Attributes:
        text: as it was written, without the white space around it.
        table: the table whose rows it is about; the text calls it by this name.
        where_from: for messages, such as `rules[2] "messages": only`.
        identifiers: every name that it mentions, in lower case: an alias that is not among them is free.
    """

    text: str
    table: str
    where_from: str = field(compare=False)
    identifiers: frozenset[str] = field(compare=False, repr=False)
    root: exp.Select = field(compare=False, repr=False)


def parse_condition(sql: str, table: str, where_from: str = "") -> Condition:
    """The condition `sql` about rows of `table`.

    Raises:
        PolicyError: it is not one yes-or-no expression, or holds what must not be there; the message begins with `where_from`.
    """
    try:
        root, identifiers = _parsed(sql.strip(), table)
    except ValueError as error:
        raise PolicyError(_message(where_from, error)) from None
    return Condition(sql.strip(), table, where_from, identifiers, root)


def check_names(condition: Condition, schema: Schema, table: Table) -> Names:
    """What the condition reads. A name that is neither table nor column is refused, in double quotes too, which SQLite reads as text.

    Args:
        table: the rule's table, as the schema has it.

    Raises:
        PolicyError: a table or column that does not exist, or a name that could mean two.
    """
    try:
        names = resolve(condition.root, schema, table)
        _check_matched(condition.root, schema)
        return names
    except NameFault as error:
        raise PolicyError(_message(condition.where_from, error)) from None


def called(condition: Condition, schema: Schema, table: Table) -> frozenset[str]:
    """The names, in lower case, by which the condition's subqueries call a table, inside views too."""
    found, seen = set[str](), set[str]()
    todo = list(condition.root.find_all(exp.Table))
    while todo:
        source = todo.pop()
        read = schema.table(source.name)
        if read is None or read.name in seen:
            continue
        if read.name == table.name:
            found.add(source.alias_or_name.lower())
        elif read.kind == "view" and read.sql:
            seen.add(read.name)
            with suppress(SqlglotError):
                todo += sqlglot.parse_one(read.sql, dialect="sqlite").find_all(exp.Table)
    return frozenset(found)


def storable(condition: Condition) -> bool:
    """Whether a partial index may hold the condition: it asks no subquery, and can refuse no row that the table takes without it."""
    return not functions.can_fail(tokens(condition.text)) and condition.root.args["where"].find(exp.Select, exp.Table) is None


def rewritten(condition: Condition, alias: str) -> str:
    """The same condition for the row that `alias` stands for, in place of the row that is called by the table's own name.

    Only names change; everything else stays as it was written. In subqueries, names without a table stay too: `alias` must be the only
    thing in its FROM that has them.

    Raises:
        PolicyError: the condition uses the name `alias` itself.
    """
    if alias.lower() in condition.identifiers:
        raise PolicyError(f"the condition {condition.text!r} uses the name {alias}, which stands for another row in our statements.")
    quoted = '"' + alias.replace('"', '""') + '"'
    text, shift = condition.text, len(_BEFORE)
    for column in sorted(own_columns(condition.root, condition.table), key=_start, reverse=True):
        qualifier = column.args.get("table")
        start = (_start(qualifier) if qualifier else _start(column)) - shift
        end = qualifier.meta["end"] + 1 - shift if qualifier else start
        text = f"{text[:start]}{quoted}{'' if qualifier else '.'}{text[end:]}"
    return text


def _check_matched(root: exp.Select, schema: Schema) -> None:
    for node in root.find_all(exp.Match):
        query = node.find_ancestor(exp.Select)
        read = [schema.table(table.name) for table in query.find_all(exp.Table)] if query else []
        if all(table is not None and table.kind == "table" for table in read):
            raise NameFault(f"has {node.sql('sqlite')} where no full-text table is read; {_MATCH}")


def _message(where_from: str, reason: ValueError) -> str:
    text = str(reason)
    return (f"{where_from}: " if where_from else "") + text + ("" if text.endswith("?") else ".")


def _start(node: exp.Expr) -> int:
    name = node.this if isinstance(node, exp.Column) else node
    return name.meta["start"]


@lru_cache(maxsize=512)
def _parsed(text: str, table: str) -> tuple[exp.Select, frozenset[str]]:
    parts = tokens(text)
    _check_tokens(text, parts)
    root = _tree(text)
    inside = root.args["where"].this.this
    identifiers = frozenset(node.name.lower() for node in root.find_all(exp.Identifier))
    declared = frozenset(cte.alias.lower() for cte in root.find_all(exp.CTE)) | _called_tables(root)
    wrong = functions.complaint(parts, declared) or _structure_complaint(root, table) or _misplaced(root, parts)
    if wrong:
        raise ValueError(wrong)
    part = not_boolean(inside)
    if part is not None:
        raise ValueError(_not_boolean(part, text))
    return root, identifiers


def _check_tokens(text: str, parts: tuple[Token, ...]) -> None:
    if not text:
        raise ValueError("is empty; write a condition, such as status = 'done', or leave the key out")
    if any(ord(char) < 32 and char not in "\t\n\f\r" for char in text):
        raise ValueError("holds a control character, at which SQLite would stop reading; take it out")
    ends = [0, *(part.end for part in parts)]
    if any(text[end:start].strip() for end, start in zip(ends, [*(part.start for part in parts), len(text)], strict=True)):
        raise ValueError("holds an SQL comment, which could swallow what follows; take it out and comment in the file with #")
    for part in parts:
        if part.kind == "word" and any(char.isspace() for char in part.text):
            raise ValueError(f"holds a space that SQLite does not know as one, in {show(part.text)}; type it again")
        if part.kind == "mark" and part.text in _MARKS:
            raise ValueError(_MARKS[part.text])
    depths = [part.depth for part in parts if part.text in ("(", ")")]
    if any(depth < 0 for depth in depths) or sum(1 if part.text == "(" else -1 for part in parts if part.text in ("(", ")")):
        raise ValueError("has parentheses that do not match; a condition is one expression, which stands in parentheses of its own")


_PARAMETER = "holds a parameter, and nothing is bound to it; write the value itself"
_MARKS = {
    **dict.fromkeys("?:@#$", _PARAMETER),
    ";": "holds a semicolon, but a condition is one expression and no statement; take it out",
    **dict.fromkeys("'\"`[", "has a quote that is not closed; close it, and double a quote that stands inside"),
}


def _tree(text: str) -> exp.Select:
    rewrite = "write it with plain comparisons, AND, OR, IN and EXISTS, and put names that are keywords in double quotes"
    try:
        statements = sqlglot.parse(f"{_BEFORE}{text}{_AFTER}", dialect="sqlite")
    except RecursionError:
        raise ValueError("is nested too deeply to be read; write it with fewer parentheses, or with IN (...)") from None
    except SqlglotError as error:
        raise ValueError(f"cannot be read{_near(error)}; if SQLite takes it, {rewrite}") from None
    root = statements[0] if len(statements) == 1 else None
    where = root.args.get("where") if isinstance(root, exp.Select) else None
    others = [key for key, value in root.args.items() if value and key not in ("where", "expressions")] if root else []
    # Around a subquery that stands alone, sqlglot makes the parentheses another subquery.
    if not isinstance(root, exp.Select) or where is None or others or not isinstance(where.this, exp.Paren | exp.Subquery):
        raise ValueError(f"is more than one expression; {rewrite}")
    if isinstance(where.this.this, exp.Query) and not isinstance(where.this.this, exp.Subquery):
        raise ValueError("is a statement, not a condition; write EXISTS (SELECT ...), or compare a subquery with something")
    return root


def _near(error: SqlglotError) -> str:
    details = error.errors if isinstance(error, ParseError) else []
    place = str(details[0].get("highlight") or "").strip() if details else ""
    return f" near {show(place)}" if place and place != ")" else ""


def _called_tables(root: exp.Select) -> frozenset[str]:
    """Lower-case names of virtual tables that are read with arguments, as in `FROM search('word')`."""
    return frozenset(table.this.name.lower() for table in root.find_all(exp.Table) if isinstance(table.this, exp.Anonymous))


_MATCH = "MATCH works in a subquery's WHERE, joined by AND, on the full-text table that it reads; elsewhere use LIKE or GLOB"


def _is_search(node: exp.Match, root: exp.Select) -> bool:
    """Whether it is one of the terms, joined by AND, of a subquery's WHERE or ON: FTS must find it while it opens its table."""
    above = node.parent
    while isinstance(above, exp.And | exp.Paren):
        above = above.parent
    return isinstance(node.this, exp.Column) and isinstance(above, exp.Where | exp.Join) and above is not root.args.get("where")


def _structure_complaint(root: exp.Select, table: str) -> str | None:
    for node in root.find_all(exp.Match, exp.RegexpLike):
        if isinstance(node, exp.RegexpLike):
            return "holds REGEXP, which is not built into SQLite; use GLOB or LIKE"
        if not _is_search(node, root) or node.this.table.lower() == table.lower():
            return f"has {node.sql('sqlite')}, and SQLite would fail when it runs; {_MATCH}"
    for node in root.find_all(exp.Table, exp.Column, exp.Subquery, exp.CTE, exp.CurrentUser, *_STATEMENTS):
        if isinstance(node, exp.CurrentUser):
            return "has current_user, which is a function elsewhere; if it is a column, write it in double quotes"
        if isinstance(node, _STATEMENTS):
            return f"holds {node.key.upper()}, but a condition only reads; write one expression"
        if node.args.get("db"):
            return f"names a database in {node.sql('sqlite')}; a rule reads one database, so leave that part out"
        if not isinstance(node, exp.Column) and node.alias.lower() == table.lower() != node.name.lower():
            return f"calls something else {node.alias}, which is the name of the rule's own table; choose another alias"
    return None


def _misplaced(root: exp.Select, parts: tuple[Token, ...]) -> str | None:
    """A token that SQLite would take for a name, or for text in double quotes, and sqlglot takes for something else."""
    placed = {node.meta["start"] - len(_BEFORE) for node in root.find_all(exp.Identifier) if "start" in node.meta}
    for before, part, after in zip([None, *parts], parts, [*parts[1:], None], strict=False):
        follows = after.text if after else ""
        if part.start in placed or follows == "(" or (before and before.keyword in ("COLLATE", "AS")):
            continue
        if part.kind == "name" or (part.kind == "word" and follows == "."):
            return f"has {part.text} where no name can be read; write text in single quotes, and names as table.column"
    return None


def _not_boolean(part: exp.Expr, text: str) -> str:
    shown = part.sql("sqlite")
    if isinstance(part, exp.Column):
        return f"asks {shown} for yes or no, but as text it would be 0; write {shown} = 1 or {shown} IS NOT NULL"
    if isinstance(part, exp.Alias):
        return f"is not one expression: {show(text)}; join its parts with AND or OR"
    return f"is not a yes-or-no expression: {show(shown)}; compare it with something, such as status = 'done'"

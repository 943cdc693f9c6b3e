"""`[[migrations]]`: guarded steps that bring tables, columns and indexes into being, each only where it is missing.

A step names its table and exactly one of `create`, `add`, `fill`, `index`:

    [[migrations]]
    table  = "job_event_cursors"
    create = { columns = { job_id = "TEXT PRIMARY KEY", acked_at = "INTEGER NOT NULL" } }

    [[migrations]]
    table = "agents"
    add   = { column = "status_updated_at", definition = "INTEGER" }

    [[migrations]]
    table = "agents"
    fill  = { set = { status_updated_at = "last_seen" }, where = "status_updated_at IS NULL" }

    [[migrations]]
    table = "schedule_slots"
    index = { name = "idx_slots_request", on = ["manual_request_id"], where = "manual_request_id IS NOT NULL", unique = true }
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, cast

from pydantic import Field, field_validator, model_validator

from ..errors import PolicyError
from ..schema.tokens import split, tokens
from .base import Invalid, Listed, Model, Name, Problem
from .conditions import parse_condition

__all__ = ["AddColumn", "CreateTable", "Fill", "MakeIndex", "Migration", "refusals"]

_QUOTES = frozenset("'\"`[")
_PARAMETERS = frozenset("?@$#:")


def _checked(text: str) -> str:
    """SQL that stays where it is put: one fragment without comments, semicolons or parameters, its brackets and quotes closed."""
    parts = tokens(text)
    ends = [0, *(part.end for part in parts)]
    starts = [*(part.start for part in parts), len(text)]
    if any(text[end:start].strip() for end, start in zip(ends, starts, strict=True)):
        raise ValueError("holds an SQL comment, which could swallow what follows; take it out and comment in the file with #")
    for part in parts:
        if part.kind == "mark" and part.text in _PARAMETERS:
            raise ValueError("holds a parameter, and nothing is bound to it; write the value itself")
        if part.kind == "mark" and part.text in _QUOTES:
            raise ValueError("has a quote that is not closed; close it, and double a quote that stands inside")
        if part.text == ";":
            raise ValueError("holds a semicolon; a step is one statement, so write a second step")
    brackets = [part for part in parts if part.kind == "mark" and part.text in "()"]
    if any(part.depth < 0 for part in brackets) or sum(1 if part.text == "(" else -1 for part in brackets):
        raise ValueError("has parentheses that do not match")
    return text.strip()


def _definition(text: str) -> str:
    if len(split(tokens(_checked(text)), ",", 0)) > 1:
        raise ValueError("defines more than one column; give each a key of its own")
    return text.strip()


def _key(text: str) -> str:
    parts = [part for part in tokens(text) if part.keyword not in ("ASC", "DESC")]
    if not parts or parts[0].keyword == "COLLATE":
        raise ValueError("has a key that is blank; name a column or an expression")
    if parts[0].kind == "string" and (len(parts) == 1 or parts[1].keyword == "COLLATE"):
        raise ValueError(
            f"has the text {parts[0].text} for a key, which SQLite would take for a column's name; write names in double quotes"
        )
    return text


def _condition(text: str) -> str:
    try:
        parse_condition(text, "")
    except PolicyError as error:
        raise ValueError(str(error).removesuffix(".")) from None
    return text


def _problem(path: str, check: Callable[[str], str], text: str) -> Problem | None:
    try:
        check(text)
    except ValueError as error:
        return Problem((path,), str(error))
    return None


Definition = Annotated[str, Field(examples=["TEXT"])]
"""What stands behind a column's name in CREATE TABLE: type and constraints. May be empty."""


class CreateTable(Model):
    """A table, made if there is none of that name. One that is there must have these columns and keys; it may have more columns.

    Attributes:
        columns: a definition for each name, in order.
        constraints: of the table: `UNIQUE (a, b)`, `PRIMARY KEY (a, b)`, `FOREIGN KEY ...`, `CHECK ...`.
    """

    columns: Annotated[dict[Name, Definition], Field(min_length=1, examples=[{"id": "INTEGER PRIMARY KEY"}])]
    constraints: Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Listed] = ()
    without_rowid: bool = False
    strict: bool = False

    @model_validator(mode="after")
    def _fragments(self) -> CreateTable:
        found = [_problem("columns", _definition, text) for text in self.columns.values()]
        found += [_problem("constraints", _definition, text) for text in self.constraints]
        _raise([problem for problem in found if problem])
        return self


def refusals(definition: str) -> str | None:
    """Why SQLite would not add a column of that definition to a table with rows, or None (sqlite.org/lang_altertable.html, ADD COLUMN)."""
    parts = [token for token in tokens(definition) if token.depth == 0]
    words = [part.keyword for part in parts]
    at = words.index("DEFAULT") + 1 if "DEFAULT" in words[:-1] else None
    default = parts[at] if at is not None else None
    empty = default is None or default.keyword == "NULL"
    computed = default is not None and (default.text == "(" or default.keyword.startswith("CURRENT_"))
    rules = (
        ("PRIMARY" in words, "a PRIMARY KEY column cannot be added to a table; make a new table"),
        ("UNIQUE" in words, "a UNIQUE column cannot be added to a table; add a plain one, and a step with a unique index"),
        ("NOT" in words and empty and "AS" not in words, "a NOT NULL column needs a DEFAULT that is not NULL, for the rows that are there"),
        (computed, "the default must be a constant, for the rows that are there; add the column without it, and a step with fill"),
        ("STORED" in words, "a STORED column cannot be added to a table; leave STORED out, so that it is computed when it is read"),
        ("REFERENCES" in words and not empty,
         "a column that REFERENCES a table cannot be added with a DEFAULT; leave one of them out"),
    )  # fmt: skip
    return next((message for wrong, message in rules if wrong), None)


class AddColumn(Model):
    """A column, added if the table has none of that name."""

    column: Name
    definition: Definition = ""

    @model_validator(mode="after")
    def _addable(self) -> AddColumn:
        problem = _problem("definition", _definition, self.definition)
        refused = refusals(self.definition)
        _raise([problem] if problem else [Problem(("definition",), refused)] if refused else [])
        return self


class Fill(Model):
    """Values for rows that are there, written in pages by key.

    Attributes:
        set: an SQL expression for each column, over the row.
        where: which rows; should be false once they are filled, because a run that lost its place begins again.
    """

    set: Annotated[dict[Name, Annotated[str, Field(min_length=1)]], Field(min_length=1, examples=[{"column": "expression"}])]
    where: Annotated[str, Field(min_length=1, examples=["column IS NULL"])]

    @field_validator("set")
    @classmethod
    def _expressions(cls, value: dict[str, str]) -> dict[str, str]:
        for expression in value.values():
            _condition(f"({_checked(expression)}) IS NULL")
        return value

    @field_validator("where")
    @classmethod
    def _readable(cls, value: str) -> str:
        return _condition(value)


class MakeIndex(Model):
    """An index, made if there is none like it.

    Attributes:
        on: a column, with `COLLATE` and `DESC` where wanted, or an expression; each of them.
        duplicates: what becomes of a unique index while rows stand in its way: a plain index in its place until they are gone, or none.
    """

    name: Name
    on: Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Listed, Field(min_length=1, examples=[["column"]])]
    where: Annotated[str, Field(min_length=1)] | None = None
    unique: bool = False
    duplicates: Literal["plain", "refuse"] = "plain"

    @model_validator(mode="after")
    def _fragments(self) -> MakeIndex:
        found = [_problem("on", _definition, text) for text in self.on]
        found += [problem for text in self.on if (problem := _problem("on", _key, text)) is not None]
        if self.where is not None:
            found.append(_problem("where", _condition, self.where))
        _raise([problem for problem in found if problem])
        return self


class Migration(Model):
    """One step: a table, and what it shall have. Steps run in their order.

    Attributes:
        name: in receipts and, for `fill`, of its progress; by default what the step makes, such as `agents.status_updated_at`.
    """

    name: Name
    table: Name
    create: CreateTable | None = None
    add: AddColumn | None = None
    fill: Fill | None = None
    index: MakeIndex | None = None

    @model_validator(mode="before")
    @classmethod
    def _named(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        data = cast("dict[str, Any]", data)
        return {"name": _default_name(data)} | data if isinstance(data.get("table"), str) else data

    @model_validator(mode="after")
    def _one(self) -> Migration:
        given = [what for what in (self.create, self.add, self.fill, self.index) if what is not None]
        if len(given) != 1:
            what = "says nothing to do" if not given else "asks for two things at once"
            raise ValueError(f"{what}; a step has exactly one of create, add, fill and index")
        path, made = (("index", "name"), self.index.name) if self.index else (("table",), self.table if self.create else "")
        if made.lower().startswith("sqlite_"):
            raise Invalid([Problem(path, "begins with sqlite_, which SQLite keeps for itself; choose another name")])
        return self


def _default_name(data: dict[str, Any]) -> str:
    def inner(kind: str, key: str) -> Any:
        part = data.get(kind)
        if isinstance(part, dict):
            return cast("dict[str, Any]", part).get(key)
        return getattr(part, key, None)

    table, index, column, filled = data["table"], inner("index", "name"), inner("add", "column"), inner("fill", "set")
    if isinstance(index, str):
        return index
    if isinstance(column, str):
        return f"{table}.{column}"
    if isinstance(filled, dict):
        return f"fill {table}.{', '.join(map(str, cast('dict[str, Any]', filled)))}"
    return table


def _raise(problems: list[Problem]) -> None:
    if problems:
        raise Invalid(problems)

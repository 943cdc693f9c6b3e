"""What only the stored CREATE text tells, because no PRAGMA does: collations, deferral, a partial index's WHERE, triggers' writes.

SQLite stores the text as written from the object's name on, behind a `CREATE TABLE`, `CREATE INDEX`, ... of its own
(sqlite.org/schematab.html), without IF NOT EXISTS and without a schema's name.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

from .model import fold
from .tokens import Token, name_of, split, tokens

__all__ = [
    "autoincrement",
    "column_collations",
    "deferrals",
    "index_where",
    "not_null_terms",
    "trigger_event",
    "trigger_ignores",
    "trigger_inserts",
    "trigger_writes",
    "virtual_module",
]

Event = Literal["DELETE", "UPDATE", "INSERT"]

_EVENTS: dict[str, Event] = {"DELETE": "DELETE", "UPDATE": "UPDATE", "INSERT": "INSERT"}
_STATEMENTS = {"INSERT", "REPLACE", "UPDATE", "DELETE", "SELECT"}


def column_collations(sql: str) -> dict[str, str]:
    """Collations declared by a CREATE TABLE, in upper case, by folded column name. A column without COLLATE is not there."""
    found: dict[str, str] = {}
    if not _mentions(sql, "COLLATE"):
        return found
    for item in split(_body(tokens(sql)), ",", 1):
        for word, name in pairwise(item):  # in a table's own constraint COLLATE stands deeper
            if word.keyword == "COLLATE" and word.depth == 1:
                found[fold(name_of(item[0]))] = name_of(name).upper()
    return found


def _mentions(sql: str, word: str) -> bool:
    """Whether the word stands anywhere in the text, so that most tables need not be split into tokens."""
    return word in sql.upper()


def _body(parts: tuple[Token, ...]) -> tuple[Token, ...]:
    opened = next((i for i, token in enumerate(parts) if token.text == "("), len(parts))
    closed = next((i for i, token in enumerate(parts) if token.text == ")" and token.depth == 0), len(parts))
    return parts[opened + 1 : closed]


def deferrals(sql: str) -> tuple[bool, ...]:
    """For each REFERENCES of a CREATE TABLE, in the order written: whether it is checked at the commit only.

    A deferral belongs to the REFERENCES before it; REFERENCES and DEFERRABLE are reserved words, so no name is taken for them.
    """
    found: list[bool] = []
    if not _mentions(sql, "REFERENCES"):
        return ()
    words = [token.keyword for token in tokens(sql)]
    for i, word in enumerate(words):
        if word == "REFERENCES":
            found.append(False)
        elif word == "DEFERRABLE" and found:
            found[-1] = words[i - 1] != "NOT" and words[i + 1 : i + 3] == ["INITIALLY", "DEFERRED"]
    return tuple(found)


def autoincrement(sql: str) -> bool:
    """Whether a CREATE TABLE says AUTOINCREMENT (a reserved word)."""
    return _mentions(sql, "AUTOINCREMENT") and any(token.keyword == "AUTOINCREMENT" for token in tokens(sql))


def index_where(sql: str) -> str | None:
    """A partial index's condition, verbatim from its first to its last token (a comment behind it would swallow what follows).

    WHERE is a reserved word, and an index's expressions hold no subquery, so that the first one is the index's own.
    """
    if not _mentions(sql, "WHERE"):
        return None
    parts = tokens(sql)
    where = next((i for i, token in enumerate(parts) if token.keyword == "WHERE"), None)
    return None if where is None or where + 1 == len(parts) else sql[parts[where + 1].start : parts[-1].end]


def not_null_terms(where: str) -> tuple[str | None, ...]:
    """For each term that AND joins in a condition: the folded column of `column IS NOT NULL`, or None for a term of any other kind."""
    return tuple(_not_null(term) for term in split(tokens(where), "AND", 0))


def _not_null(term: tuple[Token, ...]) -> str | None:
    words = " ".join(token.keyword for token in term[1:])
    tested = words in ("IS NOT NULL", "NOT NULL", "NOTNULL") and term[0].kind in ("word", "name")
    return fold(name_of(term[0])) if tested else None


def trigger_event(sql: str) -> Event:
    """The event of a CREATE TRIGGER. All three are reserved words, so the first that stands there is no name."""
    return next(_EVENTS[token.keyword] for token in tokens(sql) if token.keyword in _EVENTS)


def trigger_writes(sql: str) -> tuple[str, ...]:
    """The tables that a trigger's body inserts into, updates or deletes from, as written, each once, in order."""
    return _targets(_body_of(sql))


def trigger_inserts(sql: str) -> tuple[str, ...]:
    """Those of `trigger_writes` that it inserts into."""
    return _targets([statement for statement in _body_of(sql) if statement and statement[0].keyword in ("INSERT", "REPLACE")])


def trigger_ignores(sql: str) -> bool:
    """Whether a trigger may let a row stay without an error: RAISE(IGNORE) (sqlite.org/lang_createtrigger.html#raise)."""
    words = [token.keyword or token.text for token in tokens(sql)]
    return any(words[i : i + 3] == ["RAISE", "(", "IGNORE"] for i in range(len(words)))


def _body_of(sql: str) -> list[tuple[Token, ...]]:
    parts = tokens(sql)
    begin = next(i for i, token in enumerate(parts[:-1]) if token.keyword == "BEGIN" and parts[i + 1].keyword in _STATEMENTS)
    return split(parts[begin + 1 :], ";", 0)


def _targets(statements: list[tuple[Token, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in map(_target, statements) if name is not None))


def _target(statement: tuple[Token, ...]) -> str | None:
    words = [token.keyword for token in statement[:4]]
    match words:
        case ["INSERT", "OR", _, "INTO"]:
            at = 4
        case ["INSERT" | "REPLACE", "INTO", *_] | ["DELETE", "FROM", *_]:
            at = 2
        case ["UPDATE", "OR", _, _]:
            at = 3
        case ["UPDATE", *_]:
            at = 1
        case _:
            return None
    return name_of(statement[at]) if at < len(statement) else None


def virtual_module(sql: str) -> tuple[str, dict[str, str]]:
    """A virtual table's module, in lower case, and its `key = value` arguments (FTS5's `content`, ...), keys in lower case."""
    parts = tokens(sql)
    using = next((i for i, token in enumerate(parts) if token.keyword == "USING" and token.depth == 0), len(parts) - 2)
    options = {
        name_of(item[0]).lower(): name_of(item[2]) for item in split(_body(parts[using:]), ",", 1) if len(item) == 3 and item[1].text == "="
    }
    return name_of(parts[using + 1]).lower(), options

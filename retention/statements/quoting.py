"""How names and values stand in SQL text."""

from __future__ import annotations

__all__ = ["column", "integer", "name", "text", "whether"]


def name(identifier: str) -> str:
    """An identifier, always quoted (sqlite.org/lang_keywords.html: any identifier may stand in double quotes)."""
    return '"' + identifier.replace('"', '""') + '"'


def column(table: str, identifier: str) -> str:
    """A column of a table. Always qualified: a subquery of the user's may have a column of the same name."""
    return f"{name(table)}.{name(identifier)}"


def text(literal: str) -> str:
    """A text literal, for words of our own (column and key names inside functions), never for a user's data."""
    return "'" + literal.replace("'", "''") + "'"


def integer(parameter: str) -> str:
    """A bound integer. It travels as text, because D1 binds every number as a float (facts: exact only to 2^53)."""
    return f"CAST({parameter} AS INTEGER)"


def whether(condition: str) -> str:
    """1 where the condition is true, 0 where it is false or NULL. No index can be sought through it.

    Not `IS TRUE`: in a table with a column named `true`, SQLite takes the word for the column.
    """
    return f"CASE WHEN {condition} THEN 1 ELSE 0 END"

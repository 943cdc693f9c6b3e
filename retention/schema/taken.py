"""Names that hide something from our statements, or something of theirs: told by name, since what follows from them says nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..errors import Refused
from .model import Schema, fold

__all__ = ["check_hidden", "check_taken"]

_FUNCTIONS = frozenset(
    (
        "json_each",
        *(f"pragma_{of}" for of in ("table_list", "table_xinfo", "index_list", "index_xinfo", "foreign_key_list", "automatic_index")),
    )
)
"""Tables of SQLite that need no CREATE: one that the application made is found before them."""

_ALIASES = re.compile(r"retention_([a-z0-9]|child|consumers|edges|found|names|newer|tenant|walk)")
"""What our statements call tables. (`retention_keeps` is left out where a table is called so.)"""


def check_taken(tables: Iterable[str]) -> None:
    """Raises Refused where a table or view is called like something that our statements read."""
    for table in tables:
        if fold(table) in _FUNCTIONS:
            what = f"hides SQLite's own {fold(table)}, by which the schema and JSON are read"
        elif _ALIASES.fullmatch(fold(table)):
            what = "has a name by which our statements call another table"
        else:
            continue
        raise Refused(f"the table {table!r} {what}; rename it (ALTER TABLE ... RENAME TO ...).", "schema")


def check_hidden(schema: Schema) -> None:
    """Raises Refused where a temporary table of this connection stands before one of the database: rows of the wrong one would go."""
    if schema.hidden:
        raise Refused(
            f"this connection has a temporary table {schema.hidden[0]!r}, which hides the database's own from each statement; drop it, or "
            f"hand over another connection.",
            "schema",
        )

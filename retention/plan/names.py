"""Names of a policy, found in the schema: what is there, and what was probably meant."""

from __future__ import annotations

from difflib import get_close_matches

from ..errors import PolicyError, Refused
from ..schema.model import Column, Schema, Table

__all__ = ["found_column", "found_table", "prunable"]


def found_table(schema: Schema, name: str, where: str) -> Table:
    """The table of that name. `where` begins the message: `rule "x"`. Raises PolicyError."""
    table = schema.table(name)
    if table is None:
        raise PolicyError(f"{where}: there is no table {name!r} in the database{_meant(name, list(schema.tables))}")
    return table


def found_column(table: Table, name: str, where: str, what: str) -> Column:
    """The column of that name; `what` says its part: `age column`. Raises PolicyError."""
    column = table.column(name)
    if column is None:
        names = [c.name for c in table.columns]
        raise PolicyError(f"{where}: {what} {name!r} is not a column of {table.name!r}{_meant(name, names)}")
    return column


_KINDS = {
    "view": "a view has no rows of its own; write the rule over the table beneath it",
    "virtual": "a virtual table's rows belong to its module; write the rule over the table that feeds it",
    "shadow": "a shadow table belongs to a virtual table, which would be damaged",
}


def prunable(table: Table, where: str) -> None:
    """Raises Refused for what is no ordinary table."""
    if table.kind in _KINDS:
        raise Refused(f"{where}: {table.name!r} is no ordinary table: {_KINDS[table.kind]}.", "policy")


def _meant(name: str, known: list[str]) -> str:
    """The end of the sentence."""
    close = get_close_matches(name.lower(), [k.lower() for k in known], 1, 0.6)
    if close:
        return f"; did you mean {next(k for k in known if k.lower() == close[0])!r}?"
    return f"; it has {', '.join(sorted(known)[:8])}{', ...' if len(known) > 8 else ''}." if known else "."

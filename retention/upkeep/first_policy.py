"""A first policy from the live schema: `retention init`.

What it writes is for a person to read: each rule is disabled, each guess says on what it stands, and what gets no rule is listed with
the reason. It reads at most 100 rows of a table, 50 from each end of its key, with one statement.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import HostError
from ..schema.foreign_keys import reach
from ..schema.guess import Guess, Role, guess, lasting, role
from ..schema.keys import age_index_keys, primary_key, rowid_key
from ..schema.model import Column, Schema, Table
from ..statements import quoting
from ..steps import Batch, Engine, Statement

__all__ = ["first_policy"]

ROWS = 50
"""Rows read from each end of a table."""

COLUMNS = 20
"""Columns looked at in a table, so that a result stays far below the 100 columns that D1 allows."""

_ORDER: tuple[Role, ...] = ("completion", "expiry", "change", "creation")
_KEEP: dict[Role, str] = {"expiry": "7d"}
_HEAD = """\
# A first policy{of}, written by `retention init` from the live schema.
#
# Nothing here is enabled. Each column, format and keep is a guess, with what it stands on beside it. Take a rule, check its age, set its
# keep, delete its line `enabled = false`, and look at what `retention plan` says before the first run.
version = 1
"""


@dataclass(frozen=True, slots=True)
class _Found:
    """What was found out about one table: its guesses, the best first, or why there are none."""

    table: Table
    guesses: tuple[Guess, ...] = ()
    why: str = ""


def first_policy(schema: Schema, database: str = "") -> Engine[str]:
    """The text of a commented `retention.toml`, in which no rule is enabled.

    Args:
        schema: as read from the database.
        database: its name for the first comment, or "".

    Raises:
        HostError: one that may pass, such as a lock. A table that cannot be read for another reason is listed with it.
    """
    found: list[_Found] = []
    for table in schema.tables.values():
        found.append((yield from _look_at(table)))
    rules = [_rule(schema, each) for each in found if each.guesses and not lasting(each.table.name)]
    rest = [line for each in found if (line := _without_rule(each))]
    head = _HEAD.format(of=f" for {_comment(database)}" if database else "")
    tail = ["# Without a rule:\n" + "\n".join(rest) + "\n"] if rest else []
    return "\n".join([head, *rules, *tail])


def _look_at(table: Table) -> Engine[_Found]:
    if table.kind != "table":
        return _Found(table, why=_SKIPPED[table.kind])
    key = rowid_key(table) or primary_key(table)
    if key is None:
        return _Found(table, why="has no key by which it could be walked")
    columns: list[tuple[Column, Role]] = []
    for column in table.columns:
        moment = role(column, table.primary_key == (column.name,))
        if moment is not None:
            columns.append((column, moment))
    columns = sorted(columns, key=lambda each: _ORDER.index(each[1]))[:COLUMNS]
    if not columns:
        return _Found(table, why="no column looks like a time")
    statement = _sample(table, [column.name for column in key.columns], [column for column, _ in columns])
    try:
        results = yield Batch((statement,))
    except HostError as error:
        if error.retryable:
            raise
        return _Found(table, why=f"could not be read: {error}")
    rows = results[0].rows if results else ()
    guesses = [
        guess(column, moment, [(str(row[2 * i]), _text(row[2 * i + 1])) for row in rows]) for i, (column, moment) in enumerate(columns)
    ]
    dated = sorted((each for each in guesses if each.format), key=_rank)
    return _Found(table, tuple(dated), "no column holds times that a format reads")


def _rank(guess: Guess) -> tuple[bool, bool, int]:
    """What was seen comes before what was only named, and a snowflake last, because its epoch is not in the database."""
    return guess.format == "snowflake", guess.seen == 0, _ORDER.index(guess.role)


_SKIPPED = {
    "view": "a view, which holds no rows of its own",
    "virtual": "a virtual table, which its module keeps",
    "shadow": "a shadow table, which belongs to a virtual table",
}


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _sample(table: Table, key: Sequence[str], columns: Sequence[Column]) -> Statement:
    """Type and text of each column's values, in the first and the last rows by key; UNION drops the rows that are in both."""
    keys = [quoting.name(name) for name in key]
    fields = [f"{name} AS k{i}" for i, name in enumerate(keys)] + [f"{quoting.name(c.name)} AS v{i}" for i, c in enumerate(columns)]

    def end(direction: str) -> str:
        order = ", ".join(f"{name} {direction}" for name in keys)
        return f"SELECT * FROM (SELECT {', '.join(fields)} FROM {quoting.name(table.name)} ORDER BY {order} LIMIT {ROWS})"

    values = ", ".join(
        f"typeof(v{i}), CASE typeof(v{i}) WHEN 'blob' THEN hex(substr(v{i}, 1, 17)) ELSE substr(CAST(v{i} AS TEXT), 1, 64) END"
        for i in range(len(columns))
    )
    return Statement(f"SELECT {values} FROM ({end('ASC')} UNION {end('DESC')})")


def _without_rule(found: _Found) -> str | None:
    name = _comment(found.table.name)
    if not found.guesses:
        return f"#   {name}: {_comment_text(found.why)}"
    if not lasting(found.table.name):
        return None
    best = found.guesses[0]
    return f"#   {name}: by its name it looks like data that never expires ({_comment(best.column)} would be an age, {best.format})"


def _rule(schema: Schema, found: _Found) -> str:
    table, best = found.table, found.guesses[0]
    keep = _KEEP.get(best.role, "90d")
    about = "the grace after it expired: a guess" if best.role == "expiry" else "nothing in a schema tells how long: say it yourself"
    epoch = ", epoch_ms = 0" if best.format == "snowflake" else ""
    lines = [
        "[[rules]]",
        f"table   = {_toml(table.name)}",
        f'keep    = "{keep}"  # {about}',
        f"age     = {{ column = {_toml(best.column)}, format = {_toml(best.format or '')}{epoch} }}  # guessed",
        "enabled = false",
        f"# The age: {_seen(table, best)}.",
    ]
    if best.format == "snowflake":
        lines.append("# epoch_ms is not known: write the ms since 1970 at which these ids begin, or leave the rule disabled.")
    if best.role == "completion":
        lines.append(f"# Rows in which {_comment(best.column)} is NULL are not finished, and stay.")
    lines += [f"# Or: {_seen(table, other)}." for other in found.guesses[1:]]
    lines += [f"# A DELETE here also {line}." for line in _consequences(schema, table)]
    return "\n".join(lines) + "\n"


def _seen(table: Table, guess: Guess) -> str:
    index = next((key.index for key in age_index_keys(table, guess.column) if key.index), None)
    led = f"; index {_comment(index)} is led by it" if index else ""
    return f"{_comment(guess.column)} as {guess.format}: {_comment_text(guess.evidence)}{led}"


_CHANGES = {"CASCADE": "deletes", "SET NULL": "sets to NULL columns of", "SET DEFAULT": "sets to their defaults columns of"}


def _consequences(schema: Schema, table: Table) -> list[str]:
    reached: dict[str, list[str]] = {}
    for step in reach(schema, table.name):
        children = reached.setdefault(f"{_CHANGES[step.key.on_delete]}, level {step.level} of the foreign keys", [])
        if step.key.child not in children:
            children.append(step.key.child)
    for trigger in table.triggers:
        if trigger.event == "DELETE" and trigger.writes:
            reached[f"fires trigger {_comment(trigger.name)}, which writes to"] = list(trigger.writes)
    return [f"{what}: {', '.join(_comment(name) for name in tables)}" for what, tables in reached.items()]


def _toml(text: str) -> str:
    """A basic string (toml.io/en/v1.0.0#string). JSON's escapes are TOML's, but JSON lets DEL stand."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _comment(name: str) -> str:
    """A name inside a comment: as it is where it is plain, else quoted, because no control character may stand in a comment."""
    return name if re.fullmatch(r"[\w./:-]+", name) else _toml(name)


def _comment_text(text: str) -> str:
    return re.sub(r"[\x00-\x1f\x7f]+", " ", text)

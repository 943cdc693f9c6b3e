"""What an engine may ask for, and what it is answered.

An engine (schema reader, planner, pruner, sweep, event log) is a generator that yields steps and is sent answers. It has no clock,
no driver and no file; whoever drives it does: `retention.runner` in production, a test by hand.

    step = engine.send(None)
    while True:
        match step:
            case Batch():   step = engine.send(results)         # one `Result` a statement; or engine.throw(HostError(...))
            case Save():    step = engine.send(None)            # once the document is durable
            case Archive(): step = engine.send(None)            # once the rows are durable
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

__all__ = ["Archive", "Batch", "Engine", "RawText", "Result", "Save", "Statement", "Step", "Value"]

Value = int | float | str | bytes | None
"""What SQLite can hold. Engines bind only `str`, `float` and `None` (and `int` within 2^53 for LIMIT), because D1 binds
every number as a float: integers travel as text with `CAST(?n AS INTEGER)`, blobs as hex with `unhex(?n)`."""


@dataclass(frozen=True, slots=True)
class RawText:
    """A text in the database that is not valid Unicode: its bytes, in the database's encoding. No driver reads it."""

    data: bytes

    def __str__(self) -> str:
        return self.data.decode("utf-8", "backslashreplace")


@dataclass(frozen=True, slots=True)
class Statement:
    """One SQL statement and its bound values, for `?1`, `?2`, ... in order. The same text runs on every host."""

    sql: str
    params: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class Batch:
    """One atomic unit: a statement, a transaction on a file, one batch on D1. All of it takes effect or nothing.

    A batch that only reads is not a snapshot on a file: each statement sees what is committed when it starts.

    Attributes:
        statements: in order.
        writes: whether it changes the database. Only a batch with `writes` may.
        repeatable: the writes are keyed and idempotent, so that the runner may send them again after an unknown outcome.
        max_changes: rows; where the host can tell (`Capabilities.transactions`), a batch that changes more, cascades and triggers
            included, is rolled back and fails with kind `too_many_changes`.
        max_seconds: the same for one that holds the lock longer; the host looks about every 20 µs of work, and not during the commit.
    """

    statements: tuple[Statement, ...]
    writes: bool = False
    repeatable: bool = False
    max_changes: int | None = None
    max_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Save:
    """The checkpoint document to store. Answered only when it is durable."""

    document: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Archive:
    """Rows that are about to be deleted. Answered only when they are durable, because the delete follows.

    Attributes:
        rule: the rule's name.
        table: the table's name.
        columns: names, in the order of each row's values.
        rows: the values as the database held them; a text that is not valid Unicode as `RawText`.
    """

    rule: str
    table: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Value | RawText, ...], ...]


@dataclass(frozen=True, slots=True)
class Result:
    """What one statement of a batch gave.

    Attributes:
        rows: the rows it returned.
        changes: rows that the statement itself changed (no cascades, no triggers), or None where the host cannot tell
            without asking (`Capabilities.exact_changes` is False: append `SELECT changes()` to the batch).
        total_changes: rows changed with cascades and triggers, or None.
        cascaded: rows by table beyond the statement's own table, or None where the host cannot tell.
        rows_read, rows_written: the host's own meter (D1, libSQL), or None.
        seconds: duration of the whole batch, the same in each of its results; the server's own measure where it gives one.
    """

    rows: Sequence[tuple[Value, ...]]
    changes: int | None = None
    total_changes: int | None = None
    cascaded: dict[str, int] | None = None
    rows_read: int | None = None
    rows_written: int | None = None
    seconds: float = 0.0


Step = Batch | Save | Archive
R = TypeVar("R", covariant=True)
Engine = Generator[Step, "list[Result] | None", R]
"""A generator that yields steps, is sent the results of a batch (None for the other steps), and returns R."""

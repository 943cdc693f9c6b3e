"""apsw's exceptions as `HostError`: the kind the engine decides by, and one sentence without the statement's values."""

from __future__ import annotations

import re

import apsw

from ..errors import Fenced, HostError, Kind

__all__ = ["DISK", "FAILURES", "host_error"]

FAILURES = (apsw.Error, OverflowError, UnicodeError, TypeError, ValueError, MemoryError)
"""What a call of apsw may raise for a statement; anything else is a defect and is let through."""

BUSY_PAUSE = 0.05
"""Seconds to leave a busy database alone before the next attempt: twice as long as an attempt may hold the lock."""

# Codes: sqlite.org/rescode.html. What is not listed is "error".
_KINDS: dict[type[BaseException], Kind] = {
    apsw.BusyError: "busy",
    apsw.LockedError: "busy",
    apsw.ProtocolError: "busy",
    apsw.ConstraintError: "constraint",
    apsw.SchemaChangeError: "schema",
    apsw.FullError: "full",
    apsw.ReadOnlyError: "readonly",
    apsw.CantOpenError: "readonly",
    apsw.CorruptError: "corrupt",
    apsw.NotADBError: "corrupt",
    apsw.FormatError: "corrupt",
    apsw.InterruptError: "interrupted",
    apsw.AbortError: "interrupted",
    apsw.TooBigError: "limit",
    apsw.RangeError: "limit",
    apsw.NoMemError: "overloaded",
    MemoryError: "overloaded",
    apsw.PermissionsError: "denied",
    apsw.AuthError: "denied",
}

# SQLITE_ERROR says in words only what went wrong.
_MESSAGES: tuple[tuple[re.Pattern[str], Kind], ...] = (
    (re.compile(r"no such (table|column|index|view|trigger|module|function|collation)|has no column named"), "schema"),
    (
        re.compile(
            r"too many (SQL variables|terms in|columns|arguments on|levels of)|variable number must be|Expression tree is too large"
            r"|pattern too complex|tables in a join|parser stack overflow|statement too long"
        ),
        "limit",
    ),
)

_HINTS: dict[Kind, str] = {
    "busy": "another connection holds the database; try again",
    "full": "free some space: deleting needs room for the journal too",
    "readonly": "writing needs write permission for the file and its directory",
    "corrupt": "it is damaged, encrypted, or not a SQLite database; restore it or check the path",
    "interrupted": "it was stopped at its time limit",
    "overloaded": "try smaller statements",
}

DISK = (
    "look whether the disk is full (beside a WAL file its -wal and -shm need room, and a journal beside any other), "
    "then whether it or the network behind it fails"
)
"""What to do where the disk failed."""

# Messages that repeat a bound value after these words.
_QUOTED = re.compile(r"(bad JSON path:|MATCH expression:|fts5: \w+ error near) .*", re.DOTALL)
_FENCE = re.compile(r"bad JSON path: '\$?\.?fence:(.+)'", re.DOTALL)
_LONGEST = 300

_PYTHON: tuple[tuple[type[BaseException], Kind, str], ...] = (
    (UnicodeDecodeError, "error", "a text in the database is not valid UTF-8; exclude that column or repair the value"),
    (UnicodeEncodeError, "error", "a bound text holds a lone surrogate, which has no UTF-8 form; bind valid Unicode"),
    (OverflowError, "limit", "a bound integer does not fit 64 bits; SQLite holds -2^63 to 2^63-1"),
    (apsw.BindingsError, "error", "the number of bound values differs from the statement's parameters"),
    (TypeError, "error", "a bound value is of a type that SQLite cannot hold; bind int, float, str, bytes or None"),
    (ValueError, "error", "the statement holds a NUL character"),
)


def host_error(
    cause: BaseException, name: str, *, applied: bool | None = False, changes: int | None = None, seconds: float = 0.0
) -> HostError:
    """The `HostError` that says what `cause` means.

    Args:
        cause: an exception of `FAILURES`, or a `HostError`, which is returned with the figures added.
        name: the database as a person knows it.
        applied: whether the batch took effect.
        changes: rows that the failed statement had changed and kept, where known.
        seconds: how long the attempt took.
    """
    if isinstance(cause, HostError):
        cause.seconds = seconds
        return cause
    text = str(cause)
    fence = _FENCE.search(text)
    if isinstance(cause, apsw.SQLError) and fence:
        return Fenced(fence[1], seconds=seconds)
    kind, sentence = _explain(cause, text)
    error = HostError(
        f"{name}: {sentence}",
        kind,
        retryable=kind in ("busy", "overloaded"),
        applied=applied,
        seconds=seconds,
        retry_after=BUSY_PAUSE if kind == "busy" else None,
        changes=changes,
    )
    error.__cause__ = cause
    return error


def _explain(cause: BaseException, text: str) -> tuple[Kind, str]:
    for types, kind, sentence in _PYTHON:
        if isinstance(cause, types):
            return kind, sentence
    kinds: list[Kind] = [_KINDS[type(cause)]] if type(cause) in _KINDS else [k for pattern, k in _MESSAGES if pattern.search(text)]
    kind = kinds[0] if kinds else "error"
    if getattr(cause, "extendedresult", None) == apsw.SQLITE_CORRUPT_VTAB:
        return "index", "a virtual table's index is out of step with the rows it serves; rebuild it"
    text = _QUOTED.sub(r"\1 ...", text)[:_LONGEST] or type(cause).__name__
    if isinstance(cause, apsw.IOError):
        # SQLite calls it no full disk where the room for the log's index (-shm) is missing, or a file reached its largest size.
        return kind, f"{text} ({_code(cause)}); {DISK}"
    hint = _HINTS.get(kind)
    return kind, f"{text}; {hint}" if hint else text


def _code(cause: apsw.Error) -> str:
    """SQLite's name of the error: of some twenty "disk I/O errors" it says which."""
    return str(apsw.mapping_extended_result_codes.get(getattr(cause, "extendedresult", 0), "SQLITE_IOERR"))

"""Guesses which columns hold a time, and in which form, from names, declared types and a few values.

Guesses are for a person to check: nothing is deleted on their word. A form is guessed only if most of the values are plausible times of
it (1990 to 2099); the forms' exact grammar is the engine's, and lives in SQL.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from .model import Column, fold

__all__ = ["Guess", "Role", "guess", "lasting", "role", "words"]

Role = Literal["completion", "expiry", "change", "creation"]

# What a column's name says of the moment in a row's life, the latest first: of several times in a row the latest is the safest age.
_COMPLETION = (
    *("finished", "completed", "ended", "end", "done", "closed", "stopped"),
    *("acked", "resolved", "processed", "delivered", "sent", "terminated", "revoked"),
)
_EXPIRY = ("expires", "expire", "expired", "expiry", "expiration", "deadline", "until")
_CHANGE = ("updated", "modified", "changed", "seen", "used", "active", "heartbeat", "touched", "last")
_CREATION = (
    *("created", "inserted", "added", "occurred", "fired", "logged", "published", "received", "recorded", "started", "start", "begin"),
    *("at", "ts", "time", "times", "date", "datetime", "timestamp", "when", "day", "on"),
)
_ROLES: tuple[tuple[Role, frozenset[str]], ...] = (
    ("completion", frozenset(_COMPLETION)),
    ("expiry", frozenset(_EXPIRY)),
    ("change", frozenset(_CHANGE)),
    ("creation", frozenset(_CREATION)),
)
_PLANS = frozenset(("next", "retry", "scheduled", "available"))
"""Words of times that say when something is to be done: no age, because they move ahead of the row."""

_LASTING = frozenset(
    (
        *("account", "config", "configuration", "customer", "group", "migration", "option", "organization", "permission", "plan"),
        *("profile", "project", "role", "setting", "tenant", "user", "version", "workspace"),
    )
)
"""Last words, in the singular, in the names of tables whose rows usually stay."""

_TIME_WORDS = frozenset(("at", "ts", "time", "date", "datetime", "timestamp", "expires", "expiry", "deadline"))
_TIME_TYPES = ("date", "time")

_KNOWN_YEARS = ("1990", "2099")
_SECONDS = (631_152_000, 4_102_444_800)  # the start of 1990 and of 2100
_JULIAN = (2_447_892.5, 2_488_069.5)  # the same
_NUMBERS = (("unix_s", 1), ("unix_ms", 1_000), ("unix_us", 1_000_000))
_SNOWFLAKE = re.compile(r"[1-9][0-9]{16,18}")
_TEXTS = (
    ("utc_text", re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?")),
    ("iso8601", re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][01][0-9]:[0-5][0-9])?")),
    ("date", re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")),
)
_UUID7 = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?7[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.IGNORECASE)
_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}", re.IGNORECASE)
_ULID_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_TOGETHER = (  # forms that one format reads, where they stand in one column
    (frozenset(("utc_text", "iso8601")), "iso8601"),
    (frozenset(("utc_text", "iso8601", "date", "digits", "unix_s", "unix_ms", "unix_us")), "mixed"),
)
_DEFAULTS = (
    ("unixepoch", "unix_s"),
    ("'%s'", "unix_s"),
    ("current_timestamp", "utc_text"),
    ("datetime(", "utc_text"),
    ("julianday", "julian"),
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Guess:
    """What a column seems to hold.

    Attributes:
        column: its name.
        format: the policy's name of the form, or None where no form fits.
        role: the moment in a row's life that its name tells.
        evidence: a phrase on which the guess stands.
        seen: how many sampled values are plausible times; 0 where the name and the type are all there is.
    """

    column: str
    format: str | None
    role: Role
    evidence: str
    seen: int = 0


def words(name: str) -> tuple[str, ...]:
    """The words of `created_at`, `createdAt` or `Created-At`, in lower case."""
    return tuple(fold(word) for word in re.findall(r"[A-Z]*[a-z]+|[A-Z]+|[^\W\d_A-Za-z]+", name))


def role(column: Column, key: bool) -> Role | None:
    """What a column may tell of its row's age by its name and declared type, or None.

    Args:
        key: whether it is a primary key's only column, which may be an identifier with the time in it.
    """
    named = frozenset(words(column.name))
    if named & _PLANS:
        return None
    for moment, known in _ROLES:
        if named & known:
            return moment
    return "creation" if key or any(part in fold(column.declared) for part in _TIME_TYPES) else None


def lasting(table: str) -> bool:
    """Whether a table's name is that of data which usually stays: `users`, `auth_permission`, `alembic_version`."""
    return any(word.removesuffix("s") in _LASTING for word in words(table)[-1:])


def guess(column: Column, role: Role, sample: Sequence[tuple[str, str | None]]) -> Guess:
    """The form of a column's values.

    Args:
        sample: `(typeof, text)` of values; a blob's text is its bytes in hex.
    """
    declared = f"declared {column.declared}" if column.declared else "no declared type"
    dated = [(kind, text or "") for kind, text in sample if kind != "null"]
    if not dated:
        form = _by_declaration(column)
        rows = "no rows to look at" if not sample else f"NULL in all of {len(sample)} sampled rows"
        return Guess(column.name, form, role, f"{declared}, {rows}" + (", so guessed from name and type alone" if form else ""))
    read = [found for kind, text in dated if (found := _form(kind, text)) is not None]
    counted = Counter(form for form, _ in read)
    form = _together(counted) if len(read) * 2 > len(dated) else None
    share = f"{len(read)} of {len(dated)} sampled values look like {' or '.join(sorted(counted)) or 'times'}"
    span = f", {min(day for _, day in read)} to {max(day for _, day in read)}" if read else ""
    empty = f", NULL in {len(sample) - len(dated)} more" if len(sample) > len(dated) else ""
    return Guess(column.name, form, role, f"{declared}, {share}{span}{empty}", len(read))


def _by_declaration(column: Column) -> str | None:
    default, declared = fold(column.default or ""), fold(column.declared)
    for part, form in _DEFAULTS:
        if part in default:
            return form
    if any(part in declared for part in _TIME_TYPES):
        return "date" if declared == "date" else "utc_text"
    named = words(column.name)
    return "unix_s" if column.affinity in ("INTEGER", "REAL") and named and named[-1] in _TIME_WORDS else None


def _together(forms: Iterable[str]) -> str | None:
    found = frozenset(forms)
    if len(found) == 1 and "digits" not in found:
        return next(iter(found))
    return next((form for known, form in _TOGETHER if found <= known), None)


def _form(kind: str, text: str) -> tuple[str, str] | None:
    """A value's form and its day, or None for one that is no plausible time."""
    match kind:
        case "integer" | "real":
            return _number(text)
        case "text":
            return _text(text)
        case _:
            return ("uuid7", _day(int(text[:12], 16))) if len(text) == 32 and _UUID7.fullmatch(text) else None


def _number(text: str) -> tuple[str, str] | None:
    value = float(text)
    for form, scale in _NUMBERS:
        if _SECONDS[0] * scale <= value < _SECONDS[1] * scale:
            return form, _day(value * 1_000 // scale)
    if _JULIAN[0] <= value < _JULIAN[1]:
        return "julian", _day((value - 2_440_587.5) * 86_400_000)
    return ("snowflake", "ids") if _SNOWFLAKE.fullmatch(text) else None


def _text(text: str) -> tuple[str, str] | None:
    form = next((form for form, grammar in _TEXTS if grammar.fullmatch(text)), None)
    if form is not None:
        return (form, text[:10]) if _KNOWN_YEARS[0] <= text[:4] <= _KNOWN_YEARS[1] else None
    if re.fullmatch(r"[0-9]{9,}(\.[0-9]*)?", text):
        found = _number(text)
        return ("digits", found[1]) if found is not None and found[0] in ("unix_s", "unix_ms", "unix_us") else found
    if _UUID7.fullmatch(text) and len(text) == 36:
        return _plausible("uuid7", int(text.replace("-", "")[:12], 16))
    if _ULID.fullmatch(text):
        ms = 0
        for digit in text[:10].upper():
            ms = ms * 32 + _ULID_DIGITS.index(digit)
        return _plausible("ulid", ms)
    return None


def _plausible(form: str, ms: int) -> tuple[str, str] | None:
    return (form, _day(ms)) if _SECONDS[0] <= ms / 1_000 < _SECONDS[1] else None


def _day(ms: float) -> str:
    return (_EPOCH + timedelta(milliseconds=ms)).date().isoformat()

"""How each form of time reads, in plain Python: regular expressions, `datetime` for the calendar, fractions for the rest.

Shares nothing with the package. An instant is exact: seconds since 1970 as a fraction; None where the value is not of the form.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

__all__ = ["EPOCH_MS", "PARTS", "READ", "floored"]

EPOCH_MS = 1_735_689_600_000
SECOND_OF_1970 = datetime(1970, 1, 1, tzinfo=UTC).toordinal()
LATEST = 253_402_300_800
"""10000-01-01: SQLite knows no later time."""
CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

STAMP = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2}) ([0-9]{2}):([0-9]{2}):([0-9]{2})(\.[0-9]+)?")
ISO = re.compile(STAMP.pattern.replace(" ", "[T ]") + r"(Z|[+-][0-9]{2}:[0-9]{2})?")
DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
UUID7 = re.compile(r"([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE | re.ASCII)
DIGITS = re.compile(r"[0-9]{9,}(\.[0-9]*)?")


def number(value: Any, per_second: int = 1) -> Fraction | None:
    return Fraction(value) / per_second if isinstance(value, int | float) else None


def day(year: str, month: str, date: str) -> int | None:
    """Days since 1970. Year 0 is a leap year like 2000, of which it is 730,485 days before."""
    try:
        if year == "0000":
            return datetime(2000, int(month), int(date)).toordinal() - 730_485 - SECOND_OF_1970
        return datetime(int(year), int(month), int(date)).toordinal() - SECOND_OF_1970
    except ValueError:
        return None


def clock(found: re.Match[str] | None) -> Fraction | None:
    if not found or (days := day(*found.groups()[:3])) is None:
        return None
    hours, minutes, seconds = (int(g) for g in found.groups()[3:6])
    if hours > 23 or minutes > 59 or seconds > 59:
        return None
    return days * 86400 + hours * 3600 + minutes * 60 + seconds + Fraction("0" + (found[7] or ""))


def utc_text(value: Any) -> Fraction | None:
    return clock(STAMP.fullmatch(value)) if isinstance(value, str) else None


def iso8601(value: Any) -> Fraction | None:
    found = ISO.fullmatch(value) if isinstance(value, str) else None
    at, zone = clock(found), found[8] if found else None
    if at is None or zone in (None, "Z"):
        return at
    assert zone
    hours, minutes = int(zone[1:3]), int(zone[4:])
    if hours > 14 or minutes > 59:
        return None
    at -= (-1 if zone[0] == "-" else 1) * (hours * 3600 + minutes * 60)
    return at if at < LATEST else None


def date(value: Any) -> Fraction | None:
    found = DATE.fullmatch(value) if isinstance(value, str) else None
    days = day(*found.groups()) if found else None
    return None if days is None else Fraction(days * 86400)


def julian(value: Any) -> Fraction | None:
    days = number(value)
    return None if days is None else (days - Fraction(4_881_175, 2)) * 86400


def snowflake(value: Any) -> Fraction | None:
    if isinstance(value, str) and re.fullmatch("0|[1-9][0-9]*", value):
        value = int(value)
    if not isinstance(value, int) or not 0 <= value < 2**63:
        return None
    return Fraction((value >> 22) + EPOCH_MS, 1000)


def uuid7(value: Any) -> Fraction | None:
    if isinstance(value, bytes) and len(value) == 16 and value[6] >> 4 == 7:
        return Fraction(int.from_bytes(value[:6], "big"), 1000)
    found = UUID7.fullmatch(value) if isinstance(value, str) else None
    return Fraction(int(found[1] + found[2], 16), 1000) if found else None


def ulid(value: Any) -> Fraction | None:
    """In either case: its specification says so."""
    if not isinstance(value, str) or not value.isascii() or len(value) != 26 or value[0] not in "01234567":
        return None
    if any(c not in CROCKFORD for c in value.upper()):
        return None
    ms = 0
    for c in value.upper()[:10]:
        ms = ms * 32 + CROCKFORD.index(c)
    return Fraction(ms, 1000)


def mixed(value: Any) -> Fraction | None:
    if isinstance(value, str) and DIGITS.fullmatch(value):
        value = float(value)
    if isinstance(value, int | float):
        return number(value, 1 if abs(value) < 1e11 else 1000 if abs(value) < 1e14 else 1_000_000)
    return next((at for at in (date(value), iso8601(value)) if at is not None), None)


READ: dict[str, Callable[[Any], Fraction | None]] = {
    "unix_s": number,
    "unix_ms": lambda v: number(v, 1000),
    "unix_us": lambda v: number(v, 1_000_000),
    "utc_text": utc_text,
    "iso8601": iso8601,
    "date": date,
    "julian": julian,
    "snowflake": snowflake,
    "uuid7": uuid7,
    "ulid": ulid,
    "mixed": mixed,
}

PARTS = {"unix_ms": 1000, "unix_us": 1000, "snowflake": 1000, "uuid7": 1000, "ulid": 1000, "date": Fraction(1, 86400)}
"""Parts of a second to which a cutoff of the form is floored; one second where none is given."""


def floored(form: str, ms: int) -> Fraction:
    """The cutoff at `ms`, in seconds, in the form's unit. A Julian day is a double: it is exact to 50 µs.
    A snowflake holds 41 bits of ms."""
    if form == "julian":
        return julian(ms // 1000 / 86400 + 2440587.5) or Fraction(0)
    if form == "snowflake":
        ms = min(ms, EPOCH_MS + 2**41 - 1)
    parts = PARTS.get(form, 1)
    return Fraction(Fraction(ms, 1000) * parts // 1) / parts

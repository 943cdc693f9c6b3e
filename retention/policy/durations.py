"""Spans of time as people write them (`90d`, `1d12h`, `P90D`), held as whole milliseconds.

A number without a unit is refused, because nobody can tell days from seconds, and a wrong guess deletes rows.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer

from .base import show

__all__ = ["DAY", "MAX_DURATION", "Duration", "Keep", "at_least", "parse_duration", "show_duration"]

UNITS = {"w": 604_800_000, "d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1_000, "ms": 1}
DAY = UNITS["d"]

MAX_DURATION = 3_652_059 * DAY
"""ms: the days from year 1 to year 9999, which is all that a date of four-digit years can span."""

_SHORT = re.compile(r"(?:([0-9]+)w)?(?:([0-9]+)d)?(?:([0-9]+)h)?(?:([0-9]+)m)?(?:([0-9]+)s)?(?:([0-9]+)ms)?")
_ISO = re.compile(r"P(?:([0-9]+)W)?(?:([0-9]+)D)?(?:T(?=[0-9])(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]+)S)?)?")
_EXAMPLES = 'write it as "90d", "12h", "30m", "10s", "500ms", "1d12h" or "P90D"'


def parse_duration(text: str) -> int:
    """The milliseconds of `90d`, `1d12h` (units w d h m s ms, falling, whole numbers) or ISO 8601 `P90D`, `PT12H`, `P2W`.

    Raises:
        ValueError: with a sentence that says what to write instead.
    """
    match = _SHORT.fullmatch(text) or _ISO.fullmatch(text)
    counts = match.groups() if match else ()
    if not any(counts):
        raise ValueError(_complaint(text))
    # int() of absurdly long digits is slow and, past 4,300 of them, an error of its own.
    if any(len(count.lstrip("0")) > 18 for count in counts if count):
        raise ValueError(_too_long(text))
    total = sum(int(count) * unit for count, unit in zip(counts, UNITS.values(), strict=False) if count)
    if total > MAX_DURATION:
        raise ValueError(_too_long(text))
    return total


def show_duration(ms: int) -> str:
    """The text in days and smaller units that `parse_duration` reads back as `ms`."""
    parts: list[str] = []
    for unit, size in UNITS.items():
        if unit == "w":
            continue
        count, ms = divmod(ms, size)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"


def _complaint(text: str) -> str:
    shown = show(text)
    if not text.strip():
        return f"is empty; {_EXAMPLES}"
    if re.fullmatch(r"\s*[0-9][0-9_.]*\s*", text):
        number = text.strip()
        return f'{shown} has no unit; write "{number}d" for days, "{number}h" for hours or "{number}s" for seconds'
    if re.match(r"\s*[-−]|P.*-", text):
        return f"{shown} is negative, which would delete rows that are still to come; {_EXAMPLES}"
    if re.match(r"P\d*Y|P[^T]*\dM", text) or re.search(r"\d\s*(mo|y)", text.lower()):
        return f'{shown} counts months or years, which have no fixed length; write days, such as "30d" or "365d"'
    if re.search(r"\d[.,]\d", text):
        return f'{shown} has a fraction; write a smaller unit, such as "36h" for a day and a half'
    words = re.fullmatch(r"\s*([0-9]+)\s*(weeks?|days?|hours?|minutes?|mins?|seconds?|secs?|milliseconds?|[wdhms]|ms)\s*", text, re.I)
    if words:
        unit = "ms" if words[2].lower().startswith(("milli", "ms")) else words[2][0].lower()
        return f'{shown} is not written as a duration; write "{words[1]}{unit}"'
    return f"{shown} is not a duration; {_EXAMPLES}"


def _too_long(text: str) -> str:
    return f'{show(text)} is longer than all dates of four-digit years; write "forever" for a keep, or a shorter time'


def _milliseconds(value: Any) -> Any:
    if isinstance(value, str):
        return parse_duration(value)
    if isinstance(value, timedelta):
        if value < timedelta(0):
            raise ValueError(f"{value} is negative, which would delete rows that are still to come; give a positive timedelta")
        if value.microseconds % 1000:
            raise ValueError(f"{value} has a part of a millisecond; give whole milliseconds")
        return value // timedelta(milliseconds=1)
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise ValueError(f'{value} has no unit; write it in quotes with one, such as "{value:.0f}d" for days or "{value:.0f}s" for seconds')
    raise ValueError(f"must be a duration in quotes; {_EXAMPLES}")


def _milliseconds_or_forever(value: Any) -> Any:
    return value if value == "forever" else _milliseconds(value)


def at_least(least: int) -> AfterValidator:
    """A check that a `Duration` is no shorter than `least` ms."""

    def check(value: int) -> int:
        if value < least:
            raise ValueError(f"must be at least {show_duration(least)}, not {show_duration(value)}")
        return value

    return AfterValidator(check)


def _text(value: int | str) -> str:
    return show_duration(value) if isinstance(value, int) else value


Duration = Annotated[int, BeforeValidator(_milliseconds), PlainSerializer(_text), Field(examples=["7d"])]
"""ms. Given as text or as a `datetime.timedelta`; dumped as text, so that a dumped policy can be read again."""

Keep = Annotated[int | Literal["forever"], BeforeValidator(_milliseconds_or_forever), PlainSerializer(_text), Field(examples=["90d"])]
"""ms, or `"forever"`."""

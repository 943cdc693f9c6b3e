"""Stored forms of time: how SQL reads each, and how a cutoff is written so that the two compare.

One table, `FORMATS`. A form's `value` is an SQL expression over the raw column that is comparable with a cutoff of the same form and
NULL where the stored value is not a time of this form. No row is judged in Python: Python writes cutoffs, SQL reads ages.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from ..errors import PolicyError
from .quoting import integer

__all__ = ["DAY_MS", "FORMATS", "MAX_MS", "AgeFormat", "Bound", "age_format", "clean", "is_number", "raw", "utc"]

DAY_MS = 86_400_000
MAX_MS = 253_402_300_799_999
"""9999-12-31T23:59:59.999Z: SQLite's date functions know no later time (sqlite.org/lang_datefunc.html)."""

Bound = str | float
"""A cutoff as it is bound: integers as text, text as text, julian days as a float."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ULID = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_SNOWFLAKE_MS = 2**41 - 1  # the last ms, after an epoch, that an id can hold: 69 years


def utc(ms: int) -> datetime:
    """The instant `ms` milliseconds after 1970 began. Raises OverflowError beyond the years 1 to 9999."""
    return _EPOCH + timedelta(milliseconds=ms)


@dataclass(frozen=True, slots=True)
class AgeFormat:
    """A stored form of time.

    Attributes:
        name: as in the policy.
        value: SQL over the raw column: comparable, or NULL where unreadable.
        bind: SQL around a bound parameter that holds a cutoff of this form.
        encode: the cutoff at `ms` for an id epoch of `epoch_ms`; floored to the form's unit, so that no row goes early.
        from_ms: SQL from an integer SQL expression (ms since 1970, >= 0) to a cutoff, floored alike; for keeps stored in the database.
        order: the storage in which an index of the bare column is in time order; None where none is.
        seek: the cutoff as it compares with the bare column, where that differs from `encode`.
        plain: every stored number is a time, and nothing else is.
    """

    name: str
    value: Callable[[str], str]
    bind: Callable[[str], str]
    encode: Callable[[int, int], Bound]
    from_ms: Callable[[str, int], str]
    order: Literal["number", "text"] | None
    seek: Callable[[int, int], Bound] | None = None

    @property
    def plain(self) -> bool:
        return self.value is _number


def is_number(c: str) -> str:
    """SQL: whether a value is stored as a number."""
    return f"typeof({c}) IN ('integer', 'real')"


def _number(c: str) -> str:
    return f"CASE WHEN {is_number(c)} THEN {c} END"


def _fraction(rest: str) -> str:
    """Whether `rest` is empty or a point and digits of ASCII."""
    return f"({rest} = '' OR ({rest} GLOB '.[0-9]*' AND substr({rest}, 2) NOT GLOB '*[^0-9]*'))"


def clean(c: str) -> str:
    """SQL: whether a text holds no NUL, behind which SQLite's text functions see nothing."""
    return f"instr({c}, char(0)) = 0"


def _utc_text(c: str) -> str:
    # The round trip refuses what SQLite reads too kindly: `12:00` is the year 2000, 30 February is 2 March, `24:00:00` differs by version.
    head = f"substr({c}, 1, 19)"
    readable = f"datetime(unixepoch({head}), 'unixepoch') IS {head} AND {_fraction(f'substr({c}, 20)')} AND {clean(c)}"
    return f"CASE WHEN typeof({c}) = 'text' AND {readable} THEN {c} END"


def _iso_seconds(c: str) -> str:
    """Unix seconds of an ISO 8601 text, or NULL. The fraction is cut off before SQLite sees it: some versions round it up."""
    head = f"replace(substr({c}, 1, 19), 'T', ' ')"
    zone = f"ltrim(substr({c}, 20), '.0123456789')"
    fraction = f"substr({c}, 20, length({c}) - 19 - length({zone}))"
    whole = f"datetime(unixepoch({head}), 'unixepoch') IS {head}"
    known = f"({zone} IN ('', 'Z') OR {zone} GLOB '[+-][01][0-9]:[0-5][0-9]')"
    return f"CASE WHEN {whole} AND {known} AND {_fraction(fraction)} AND {clean(c)} THEN unixepoch({head} || {zone}) END"


def _iso8601(c: str) -> str:
    return f"CASE WHEN typeof({c}) = 'text' THEN {_iso_seconds(c)} END"


def _date(c: str) -> str:
    # Of ten characters, because years before 0000 make the round trip with a sign.
    return f"CASE WHEN typeof({c}) = 'text' AND length({c}) = 10 AND date(unixepoch({c}), 'unixepoch') IS {c} THEN {c} END"


def _snowflake(c: str) -> str:
    # A text id must be a decimal as an integer is printed: `msg_gone` or `0000000001` would else count as ancient.
    decimal = f"{c} NOT GLOB '*[^0-9]*' AND {c} NOT GLOB '0?*' AND length({c}) BETWEEN 1 AND 19 AND {clean(c)}"
    fits = f"(length({c}) < 19 OR {c} <= '9223372036854775807')"
    return (
        f"CASE typeof({c}) WHEN 'integer' THEN CASE WHEN {c} >= 0 THEN {c} END "
        f"WHEN 'text' THEN CASE WHEN {decimal} AND {fits} THEN CAST({c} AS INTEGER) END END"
    )


def _uuid7(c: str) -> str:
    plain = f"lower(replace({c}, '-', ''))"
    shape = f"{c} GLOB '????????-????-7???-????-????????????' AND length({c}) = 36"
    hexes = f"length({plain}) = 32 AND {plain} NOT GLOB '*[^0-9a-f]*'"
    blob = f"length({c}) = 16 AND substr(hex({c}), 13, 1) = '7'"
    return (
        f"CASE typeof({c}) WHEN 'text' THEN CASE WHEN {shape} AND {hexes} AND {clean(c)} THEN {plain} END "
        f"WHEN 'blob' THEN CASE WHEN {blob} THEN lower(hex({c})) END END"
    )


def _ulid(c: str) -> str:
    grammar = f"length({c}) = 26 AND upper({c}) NOT GLOB '*[^0-9A-HJKMNP-TV-Z]*' AND {c} <= '8' AND {clean(c)}"
    return f"CASE WHEN typeof({c}) = 'text' AND {grammar} THEN upper({c}) END"


def _magnitude(n: str) -> str:
    # 1e11 s is the year 5138, 1e11 ms is 1973: between the two no plausible time is ambiguous.
    # Not by abs(), which fails for the smallest integer, and with it the statement.
    within = "{n} > -{limit} AND {n} < {limit}".format
    return f"CASE WHEN {within(n=n, limit='1e11')} THEN {n} WHEN {within(n=n, limit='1e14')} THEN {n} / 1000.0 ELSE {n} / 1000000.0 END"


def _mixed(c: str) -> str:
    # Fewer than nine digits may be a year or a compact date; nine and more are seconds from 1973 on.
    digits = f"{c} NOT GLOB '*[^0-9.]*' AND {c} NOT GLOB '*.*.*' AND substr({c}, 1, 9) NOT GLOB '*[^0-9]*' AND length({c}) >= 9"
    number = _magnitude(f"CAST({c} AS REAL)")
    return (
        f"CASE typeof({c}) WHEN 'integer' THEN {_magnitude(c)} WHEN 'real' THEN {_magnitude(c)} WHEN 'text' THEN "
        f"CASE WHEN {digits} AND {clean(c)} THEN {number} WHEN length({c}) = 10 THEN unixepoch({_date(c)}) ELSE {_iso_seconds(c)} END END"
    )


def _seconds(ms: int, _epoch: int) -> str:
    return str(ms // 1000)


def _stamp(ms: int, _epoch: int) -> str:
    return utc(ms // 1000 * 1000).strftime("%Y-%m-%d %H:%M:%S").rjust(19, "0")


def _ulid_text(ms: int, _epoch: int) -> str:
    return "".join(_ULID[(max(0, ms) >> shift) & 31] for shift in range(45, -1, -5))


def _ulid_sql(ms: str, _epoch: int) -> str:
    return " || ".join(f"substr('{_ULID}', (({ms}) >> {shift} & 31) + 1, 1)" for shift in range(45, -1, -5))


def _uuid_text(ms: int, _epoch: int) -> str:
    return f"{max(0, ms):012x}"


def _uuid_dashed(ms: int, epoch: int) -> str:
    digits = _uuid_text(ms, epoch)
    return f"{digits[:8]}-{digits[8:]}"


def _same(parameter: str) -> str:
    return parameter


FORMATS: dict[str, AgeFormat] = {
    f.name: f
    for f in (
        AgeFormat("unix_s", _number, integer, _seconds, lambda ms, _: f"({ms}) / 1000", "number"),
        AgeFormat("unix_ms", _number, integer, lambda ms, _: str(ms), lambda ms, _: f"({ms})", "number"),
        AgeFormat("unix_us", _number, integer, lambda ms, _: str(ms * 1000), lambda ms, _: f"({ms}) * 1000", "number"),
        AgeFormat("utc_text", _utc_text, _same, _stamp, lambda ms, _: f"datetime(({ms}) / 1000, 'unixepoch')", "text"),
        AgeFormat("iso8601", _iso8601, integer, _seconds, lambda ms, _: f"({ms}) / 1000", None),
        AgeFormat("date", _date, _same, lambda ms, e: _stamp(ms, e)[:10], lambda ms, _: f"date(({ms}) / 1000, 'unixepoch')", "text"),
        AgeFormat(
            "julian",
            _number,
            _same,
            lambda ms, _: (ms // 1000) / 86400.0 + 2440587.5,
            lambda ms, _: f"(({ms}) / 1000) / 86400.0 + 2440587.5",
            "number",
        ),
        AgeFormat(
            "snowflake",
            _snowflake,
            integer,
            lambda ms, e: str(min(max(0, ms - e), _SNOWFLAKE_MS) << 22),
            lambda ms, e: f"(min(max(0, ({ms}) - {e:d}), {_SNOWFLAKE_MS:d}) << 22)",
            "number",
        ),
        AgeFormat("uuid7", _uuid7, _same, _uuid_text, lambda ms, _: f"printf('%012x', {ms})", "text", _uuid_dashed),
        AgeFormat("ulid", _ulid, _same, _ulid_text, _ulid_sql, "text"),
        AgeFormat("mixed", _mixed, integer, _seconds, lambda ms, _: f"({ms}) / 1000", None),
    )
}


def age_format(name: str) -> AgeFormat:
    """The form of that name. Raises PolicyError for an unknown one."""
    try:
        return FORMATS[name]
    except KeyError:
        raise PolicyError(f"age format {name!r} is not known; use one of {', '.join(FORMATS)}") from None


def raw(columns: tuple[str, ...]) -> str:
    """The stored value that decides: the first of the (qualified) columns that is not NULL."""
    return columns[0] if len(columns) == 1 else f"coalesce({', '.join(columns)})"

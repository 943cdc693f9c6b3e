"""Instants in milliseconds: what a stored time is, exactly, and how one is written.

`ages` compares a stored time with a cutoff in the stored form's own unit, so that an index serves. Where two columns of two forms decide
together (the heartbeat, else the start), each is turned into ms since 1970 and compared there. A fraction of a millisecond counts as a
whole one, so that nothing is taken before its time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta

from ..errors import PolicyError
from ..steps import Value
from .ages import FORMATS, age_format, is_number, utc

__all__ = ["STAMPS", "first_of", "milliseconds", "stamp"]

_HEX, _ULID = "0123456789abcdef", "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def milliseconds(form: str, column: str, epoch_ms: int = 0) -> str:
    """SQL: the stored time of `column` (an SQL expression) in ms since 1970, a number; NULL where it is no time of that form.

    Args:
        form: an age format's name. epoch_ms: where a snowflake's ids begin.

    Raises:
        PolicyError: an unknown format.
    """
    return _MS[age_format(form).name](column, epoch_ms)


def first_of(columns: Sequence[tuple[str, str, int]]) -> tuple[str, str]:
    """SQL of several columns, of which the first that is not NULL decides: whether any is there, and its ms.

    Args:
        columns: (column as SQL, format, epoch_ms) in order.
    """
    present = " OR ".join(f"{column} IS NOT NULL" for column, _, _ in columns)
    arms = " ".join(f"WHEN {column} IS NOT NULL THEN {milliseconds(form, column, epoch)}" for column, form, epoch in columns)
    return f"({present})", f"CASE {arms} END"


def stamp(form: str, ms: int) -> Value:
    """The instant as it is stored in that form, floored to the form's unit.

    Raises:
        PolicyError: an unknown format, or one in which no time of the clock is written (ids, and several forms in one column).
    """
    try:
        return _STAMPS[form](ms)
    except KeyError:
        raise PolicyError(f"a time cannot be written as {form!r}; use one of {', '.join(STAMPS)}.") from None


def _fraction(digits: str) -> str:
    """SQL: ms of the digits behind a decimal point; what is beyond the third counts as one more."""
    return f"(CAST(substr({digits} || '000', 1, 3) AS INTEGER) + (rtrim(substr({digits}, 4), '0') <> ''))"


def _utc_text(c: str, _epoch: int) -> str:
    whole = f"unixepoch(substr({c}, 1, 19)) * 1000"
    return f"CASE WHEN {FORMATS['utc_text'].value(c)} IS NOT NULL THEN {whole} + {_fraction(f'substr({c}, 21)')} END"


def _iso8601(c: str, _epoch: int) -> str:
    # The zone begins behind the digits of the fraction.
    rest = f"substr({c}, 21)"
    digits = f"CASE WHEN substr({c}, 20, 1) = '.' THEN substr({rest}, 1, length({rest}) - length(ltrim({rest}, '0123456789'))) ELSE '' END"
    return f"{FORMATS['iso8601'].value(c)} * 1000 + {_fraction(f'({digits})')}"


def _number(factor: str) -> Callable[[str, int], str]:
    return lambda c, _: f"CASE WHEN {is_number(c)} THEN {c}{factor} END"


def _julian(c: str, _epoch: int) -> str:
    return f"CASE WHEN {is_number(c)} THEN ({c} - 2440587.5) * 86400000.0 END"


def _snowflake(c: str, epoch: int) -> str:
    return f"(({FORMATS['snowflake'].value(c)}) >> 22) + {epoch:d}"


def _digits(value: str, alphabet: str, count: int, bits: int) -> str:
    places = (f"(instr('{alphabet}', substr(v, {i + 1}, 1)) - 1 << {bits * (count - 1 - i)})" for i in range(count))
    return f"(SELECT {' + '.join(places)} FROM (SELECT {value} AS v))"


def _mixed(c: str, epoch: int) -> str:
    number = "CASE WHEN {n} > -1e11 AND {n} < 1e11 THEN {n} * 1000 WHEN {n} > -1e14 AND {n} < 1e14 THEN {n} ELSE {n} / 1000.0 END".format
    text, day = f"CAST({c} AS REAL)", f"unixepoch({c}) * 1000"
    return (
        f"CASE WHEN {FORMATS['mixed'].value(c)} IS NULL THEN NULL WHEN {is_number(c)} THEN {number(n=c)} "
        f"WHEN {c} NOT GLOB '*[^0-9.]*' THEN {number(n=text)} WHEN length({c}) = 10 THEN {day} ELSE {_iso8601(c, epoch)} END"
    )


_MS: dict[str, Callable[[str, int], str]] = {
    "unix_s": _number(" * 1000"),
    "unix_ms": _number(""),
    "unix_us": lambda c, _: f"CASE typeof({c}) WHEN 'integer' THEN {c} / 1000 + ({c} % 1000 > 0) WHEN 'real' THEN {c} / 1000.0 END",
    "utc_text": _utc_text,
    "iso8601": _iso8601,
    "date": lambda c, _: f"unixepoch({FORMATS['date'].value(c)}) * 1000",
    "julian": _julian,
    "snowflake": _snowflake,
    "uuid7": lambda c, _: _digits(FORMATS["uuid7"].value(c), _HEX, 12, 4),
    "ulid": lambda c, _: _digits(FORMATS["ulid"].value(c), _ULID, 10, 5),
    "mixed": _mixed,
}


def _iso_text(ms: int) -> str:
    at = utc(ms)
    return f"{at.year:04d}-{at:%m-%dT%H:%M:%S}.{ms % 1000:03d}Z"


def _day_number(ms: int) -> float:
    return (utc(ms) - utc(0)) / timedelta(days=1) + 2440587.5


_STAMPS: dict[str, Callable[[int], Value]] = {
    "unix_s": lambda ms: ms // 1000,
    "unix_ms": lambda ms: ms,
    "unix_us": lambda ms: ms * 1000,
    "utc_text": lambda ms: FORMATS["utc_text"].encode(ms, 0),
    "iso8601": _iso_text,
    "date": lambda ms: FORMATS["date"].encode(ms, 0),
    "julian": _day_number,
}

STAMPS = tuple(_STAMPS)
"""The forms in which a time can be written."""

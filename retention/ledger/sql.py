"""How the ledger's engines speak to a database: bound values, stored times, and one batch asked and answered."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from ..errors import PolicyError
from ..statements.ages import age_format, is_number
from ..statements.instants import milliseconds, stamp
from ..statements.quoting import integer
from ..steps import Batch, Result, Statement, Step, Value
from .canonical import canonical

__all__ = ["Params", "Unit", "ask", "clamp", "unit", "whole"]

MAX_INTEGER = 2**63 - 1


class Params:
    """Collects one statement's values; each call gives the SQL that stands for a value, the same on every host."""

    def __init__(self) -> None:
        self._values: list[Value] = []

    def __call__(self, value: Value) -> str:
        """The SQL of a bound value.

        Raises:
            PolicyError: for what SQLite cannot hold exactly: an integer beyond 64 bits, NaN, infinity, a lone surrogate.
        """
        match value:
            case None:
                return "NULL"
            case int():
                return integer(self._bind(whole(int(value))))
            case float():
                if not math.isfinite(value):
                    raise PolicyError(f"{value} cannot be stored exactly on every host; store text or NULL instead")
                return self._bind(value)
            case bytes():
                return f"unhex({self._bind(value.hex())})"
            case str():
                if not _is_unicode(value):
                    raise PolicyError(f"{value[:40]!r} has a lone surrogate, which no database can hold; send valid Unicode")
                return self._bind(value)
            case _:  # pyright: ignore[reportUnnecessaryComparison]
                raise PolicyError(f"a {type(value).__name__} is no value of SQLite; give text, bytes, a number or None")

    def list(self, values: Iterable[str]) -> str:
        """A list of texts, for IN: one value, however many they are (D1 takes 100)."""
        return f"(SELECT value FROM json_each({self(canonical(tuple(values)))}))"

    def statement(self, sql: str) -> Statement:
        return Statement(sql, tuple(self._values))

    def _bind(self, value: Value) -> str:
        self._values.append(value)
        return f"?{len(self._values)}"


def _is_unicode(value: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in value) if not value.isascii() else True


def whole(value: int) -> str:
    """A 64-bit integer as it travels. Raises PolicyError beyond 64 bits, where CAST would clamp silently."""
    if not -MAX_INTEGER - 1 <= value <= MAX_INTEGER:
        raise PolicyError(f"{str(value)[:40]} does not fit SQLite's 64-bit integers; store it as text")
    return str(value)


@dataclass(frozen=True, slots=True)
class Unit:
    """How a time is stored: as a whole number, or as text whose order is the order in time.

    Attributes:
        encode: ms since 1970 -> what is stored, floored.
        decode: what was read by `read` -> ms.
        ms: the stored time in ms, as SQL over an expression; NULL for a text that is no time.
        read: what a result carries exactly on every host, as SQL.
        valid: whether the stored value is a time, as SQL.
    """

    encode: Callable[[int], int | str]
    decode: Callable[[str], int]
    ms: Callable[[str], str]
    read: Callable[[str], str]
    valid: Callable[[str], str]

    def older(self, column: str, at: int, p: Params) -> str:
        """Whether the stored time lies before `at` (ms), as SQL; never true of what is no time."""
        if self is _TEXT:
            return f"{self.ms(column)} < {p(at)}"
        # Texts and blobs are above every number, and NULL is beside them (sqlite.org/datatype3.html, 4.1).
        return f"{column} < {p(self.encode(at))}"


def _number(name: str, factor: str, decode: Callable[[int], int]) -> Unit:
    encode = age_format(name).encode
    return Unit(
        encode=lambda at: int(encode(at, 0)),
        decode=lambda text: decode(int(text)),
        ms=lambda c: f"({c}){factor}",
        read=lambda c: f"CAST(CAST({c} AS INTEGER) AS TEXT)",
        valid=is_number,
    )


def _text_ms(text: str) -> int:
    """ms of `YYYY-MM-DD HH:MM:SS[.fff...]`; a fraction of a millisecond counts as a whole one, as in `instants`. 0 for any other text."""
    if not _UTC_TEXT.fullmatch(text):
        return 0
    seconds = (datetime.fromisoformat(text[:19]).replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1)
    fraction = text[20:]
    return seconds * 1000 + int(fraction[:3].ljust(3, "0")) + bool(fraction[3:].strip("0"))


_UTC_TEXT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?")

_TEXT = Unit(
    encode=lambda at: str(stamp("utc_text", at)),
    decode=_text_ms,
    ms=lambda c: milliseconds("utc_text", c),
    read=lambda c: c,
    valid=lambda c: f"({milliseconds('utc_text', c)}) IS NOT NULL",
)

_UNITS = {
    "unix_s": _number("unix_s", " * 1000", lambda v: v * 1000),
    "unix_ms": _number("unix_ms", "", lambda v: v),
    "unix_us": _number("unix_us", " / 1000", lambda v: v // 1000),
    "utc_text": _TEXT,
}


def unit(name: str) -> Unit:
    """The unit of a stored time: unix_s, unix_ms, unix_us or utc_text."""
    return _UNITS[name]


def clamp(limit: object, default: int, most: int = 500) -> int:
    """A caller's limit, made usable: floored, within 1..most; what is no finite number becomes the default."""
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not math.isfinite(limit):
        return default
    return max(1, min(math.floor(limit), most))


def ask(*statements: Statement, writes: bool = False, repeatable: bool = False) -> Generator[Step, list[Result] | None, list[Result]]:
    """One batch, and its results."""
    results = yield Batch(statements, writes, repeatable)
    return results or []

"""How the ledger's engines speak to a database: bound values, stored times, and one batch asked and answered."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass

from ..errors import PolicyError
from ..statements.ages import age_format
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
    """A stored integer time.

    Attributes:
        encode: ms since 1970 -> the stored integer, floored.
        decode: the stored integer -> ms.
        ms: the same in SQL, over an expression.
    """

    encode: Callable[[int], int]
    decode: Callable[[int], int]
    ms: Callable[[str], str]


_DECODE: dict[str, tuple[Callable[[int], int], Callable[[str], str]]] = {
    "unix_s": (lambda v: v * 1000, lambda c: f"({c}) * 1000"),
    "unix_ms": (lambda v: v, lambda c: f"({c})"),
    "unix_us": (lambda v: v // 1000, lambda c: f"({c}) / 1000"),
}


def unit(name: str) -> Unit:
    """The unit of an integer time format: unix_s, unix_ms or unix_us."""
    decode, ms = _DECODE[name]
    encode = age_format(name).encode
    return Unit(lambda at: int(encode(at, 0)), decode, ms)


def clamp(limit: object, default: int, most: int = 500) -> int:
    """A caller's limit, made usable: floored, within 1..most; what is no finite number becomes the default."""
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not math.isfinite(limit):
        return default
    return max(1, min(math.floor(limit), most))


def ask(*statements: Statement, writes: bool = False, repeatable: bool = False) -> Generator[Step, list[Result] | None, list[Result]]:
    """One batch, and its results."""
    results = yield Batch(statements, writes, repeatable)
    return results or []

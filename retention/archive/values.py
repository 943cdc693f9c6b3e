"""SQLite's values in JSON, exactly: what is read back has the same storage class and the same bits."""

from __future__ import annotations

import math
from typing import Any

from ..steps import RawText, Value

__all__ = ["decode", "encode"]

EXACT = 2**53
"""Integers up to this size survive readers that hold every number as a double (RFC 8259, section 6)."""


def encode(value: Value | RawText) -> Any:
    """The JSON form: text, null, reals and small integers as themselves (a real always with a point or an exponent),
    anything else as `{"int": DECIMAL}`, `{"blob": HEX}`, `{"text": HEX}` (not valid Unicode) or `{"real": "inf"}`."""
    if isinstance(value, RawText):
        return {"text": value.data.hex()}
    if isinstance(value, bytes):
        return {"blob": value.hex()}
    if isinstance(value, int) and abs(value) >= EXACT:
        return {"int": str(value)}
    if isinstance(value, float) and not math.isfinite(value):
        return {"real": repr(value)}
    return value


def decode(value: Any) -> Value | RawText:
    """The value that `encode` was given.

    Raises:
        ValueError: no such form.
    """
    match value:
        case {"blob": str(text)}:
            return bytes.fromhex(text)
        case {"text": str(text)}:
            return RawText(bytes.fromhex(text))
        case {"int": str(text)}:
            return int(text)
        case {"real": str(text)}:
            return float(text)
        case None | str() | int() | float() if not isinstance(value, bool):
            return value
        case _:
            raise ValueError(f"{value!r} is no archived value")

"""Canonical JSON and the digests over it. Stored digests live for years, so this text is stable to the byte.

The form: arrays in order, object keys sorted by UTF-16 code unit, no blanks, scalars as ECMAScript writes them (ECMA-262,
Number::toString and JSON.stringify), so that a digest made by a JavaScript service and one made here are equal.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from typing import cast

from ..errors import PolicyError

__all__ = ["JsonValue", "canonical", "number", "sha256", "string", "utf16_length"]

JsonValue = object
"""What `canonical` takes: None, bool, int, float, str, and lists, tuples and mappings with text keys of them."""

_SURROGATE = re.compile("[\ud800-\udfff]")


def sha256(text: str) -> str:
    """The SHA-256 of a text's UTF-8 bytes, in lower-case hex. Raises PolicyError for a text that is not valid Unicode."""
    try:
        return hashlib.sha256(text.encode()).hexdigest()
    except UnicodeEncodeError:
        raise PolicyError("a text with a lone surrogate has no UTF-8 form and cannot be hashed; send valid Unicode") from None


def utf16_length(text: str) -> int:
    """The length in UTF-16 code units, as JavaScript counts it."""
    return len(text) + sum(c > "\uffff" for c in text)


def canonical(value: JsonValue) -> str:
    """The canonical JSON text of a value.

    Raises:
        PolicyError: for what has no such text: NaN and infinities, integers that a double does not hold exactly (a JavaScript
            reader would digest another number), keys that are not text, other types, and nesting too deep to be walked.
    """
    try:
        return _text(value)
    except RecursionError:
        raise PolicyError("the JSON value is nested too deeply to be digested; flatten it") from None


def _text(value: JsonValue) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return number(value)
        case str():
            return string(value)
        case list() | tuple():
            return "[" + ",".join(map(_text, cast("list[object]", value))) + "]"
        case Mapping():
            return _object(cast("Mapping[object, object]", value))
        case _:
            raise PolicyError(f"a {type(value).__name__} has no JSON form; send null, booleans, numbers, text, lists or objects")


def _object(value: Mapping[object, object]) -> str:
    members: dict[str, object] = {}
    for key, member in value.items():
        if not isinstance(key, str):
            raise PolicyError(f"the object key {key!r} is not text; JSON knows no other keys")
        members[key] = member
    ordered = sorted(members, key=lambda k: k.encode("utf-16-be", "surrogatepass"))
    return "{" + ",".join(f"{string(k)}:{_text(members[k])}" for k in ordered) + "}"


def string(value: str) -> str:
    """A JSON string as JSON.stringify writes it: U+2028 as it is, lone surrogates escaped."""
    # Two halves of a pair that stand as code points of their own are one character to JavaScript.
    joined = value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass") if _SURROGATE.search(value) else value
    return _SURROGATE.sub(lambda m: f"\\u{ord(m[0]):04x}", json.dumps(joined, ensure_ascii=False))


def number(value: int | float) -> str:
    """A number as ECMAScript writes it: `1.0` is `1`, `1e-7` is `1e-7` and not `1e-07`, `-0.0` is `0`."""
    try:
        double = float(value)
    except OverflowError:
        double = math.inf
    if not math.isfinite(double):
        raise PolicyError(f"{str(value)[:30]} is no JSON number: a double cannot hold it; send text instead")
    if double != value:
        raise PolicyError(f"{value} is not exact as a double, so JavaScript would digest another number; send it as text")
    if double == 0:
        return "0"
    sign = "-" if double < 0 else ""
    digits, point = _shortest(abs(double))
    return sign + _layout(digits, point)


def _shortest(value: float) -> tuple[str, int]:
    """The shortest digits that read back as the value, and where the point stands: value = 0.digits * 10 ** point."""
    mantissa, _, exponent = f"{value!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    leading = len(whole + fraction) - len(digits)
    return digits.rstrip("0"), len(whole) - leading + int(exponent or 0)


def _layout(digits: str, point: int) -> str:
    # The four cases of ECMA-262, Number::toString; `point` is its n, `count` its k.
    count = len(digits)
    if count <= point <= 21:
        return digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    mantissa = digits if count == 1 else f"{digits[0]}.{digits[1:]}"
    return f"{mantissa}e{point - 1:+d}"

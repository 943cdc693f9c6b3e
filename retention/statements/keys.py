"""How a key's values travel to a host and back exactly, whatever their storage class, and how SQL reads them there."""

from __future__ import annotations

from ..errors import HostError
from ..steps import RawText, Value
from .quoting import integer, text

__all__ = [
    "Classes",
    "Key",
    "Part",
    "arrived",
    "arrived_key",
    "classes",
    "from_json",
    "hex_text",
    "listed",
    "placed",
    "portable",
    "text_of",
    "travel",
    "travelling",
]

Part = int | float | str | bytes | RawText
Key = tuple[Part, ...]
"""A key's values, in the order of the walk's columns."""

Classes = tuple[str, ...]
"""Of each value of a key how it travels."""


def classes(key: Key) -> Classes:
    """How a key travels: what the text of a statement depends on."""
    return tuple(_CLASS[type(part)] for part in key)


_CLASS: dict[type, str] = {int: "integer", float: "real", str: "text", RawText: "raw", bytes: "blob"}


def travelling(key: Key) -> tuple[str | float, ...]:
    """The key as it is bound: integers as text, blobs and raw texts as hex, text and reals as they are."""
    return tuple(_travelling(part) for part in key)


def _travelling(part: Part) -> str | float:
    match part:
        case int():
            return str(part)
        case bytes():
            return part.hex()
        case RawText():
            return part.data.hex()
        case _:
            return part


_MARK = "aa"
"""Stands before a text whose bytes travel, and tells its encoding: the two letters look different in each."""

_ENCODINGS = {_MARK.encode(encoding): encoding for encoding in ("utf-8", "utf-16-le", "utf-16-be")}


def _text(data: bytes) -> str | RawText:
    """A text by its bytes, behind `_MARK`."""
    mark, encoding = next((m, e) for m, e in _ENCODINGS.items() if data.startswith(m))
    try:
        return data[len(mark) :].decode(encoding)
    except UnicodeDecodeError:
        return RawText(data[len(mark) :])


def arrived(kind: Value, value: Value) -> Part:
    """A key part as it came back, by its storage class. Raises HostError where the value cannot have travelled exactly."""
    match kind, value:
        case "integer", str() | int():
            return int(value)
        case "real", float() | int():
            return float(value)
        case "text", str():
            return _text(bytes.fromhex(value))
        case "blob", str():
            return bytes.fromhex(value)
        case _:
            raise HostError(f"a key of storage class {kind} holds a value that cannot travel to this host and back exactly", "limit")


def arrived_key(pairs: tuple[Value, ...]) -> Key:
    """A key out of the storage class and the value of each part."""
    return tuple(arrived(pairs[i], pairs[i + 1]) for i in range(0, len(pairs), 2))


def placed(kind: str, parameter: str) -> str:
    """SQL: a value of a key out of a parameter that was bound as `travelling` says."""
    match kind:
        case "integer":
            # `+` takes the affinity of CAST away, which would be put on an untyped column, and its index with it.
            return f"+{integer(parameter)}"
        case "blob":
            return f"unhex({parameter})"
        case "raw":
            return f"+{_raw_text(parameter)}"
        case _:
            return parameter


def _raw_text(digits: str) -> str:
    """SQL: a text by the hex of its bytes."""
    return f"CAST(unhex({digits}) AS TEXT)"


def travel(sql: str) -> str:
    """SQL: a key part as it comes back, see `arrived`. Text comes as its bytes, because it may be none that a driver can read."""
    return (
        f"CASE typeof({sql}) WHEN 'integer' THEN CAST({sql} AS TEXT) WHEN 'text' THEN {hex_text(sql)} "
        f"WHEN 'blob' THEN hex({sql}) ELSE {sql} END"
    )


def hex_text(sql: str) -> str:
    """SQL: the bytes of a text, see `text_of`."""
    return f"hex({text(_MARK)} || {sql})"


def listed(path: str) -> str:
    """SQL: a key part out of an entry `j` of a JSON list, by its storage class."""
    return from_json(f"json_type(j.value, '{path}')", f"json_extract(j.value, '{path}')", "j.value", path)


def from_json(kind: str, value: str, source: str, path: str) -> str:
    """SQL: a key part (`portable`) at a path of a JSON document; `kind` and `value` are SQL that reads it there."""
    raw = _raw_text(f"json_extract({source}, '{path}.text')")
    return f"CASE {kind} WHEN 'object' THEN coalesce(unhex(json_extract({source}, '{path}.blob')), {raw}) ELSE {value} END"


def portable(part: Part) -> object:
    """A key part as it stands in a JSON list."""
    match part:
        case bytes():
            return {"blob": part.hex()}
        case RawText():
            return {"text": part.data.hex()}
        case _:
            return part


def text_of(value: Value) -> str:
    """A text that came as `hex_text`, to be shown."""
    return str(_text(bytes.fromhex(str(value))))

"""The document that the host stores between runs (design, section 5, "Checkpoint").

It is advisory: every delete decides again, so a lost, old or foreign document costs a traversal and never a row. An invalid one restarts
from the beginning; an invalid entry restarts its rule; both say so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from ..statements.keys import Key, Part
from ..steps import RawText

__all__ = ["SAFE", "Checkpoint", "Entry", "Identities", "decode_key", "encode_key"]

SAFE = 2**53 - 1
"""Integers beyond are written as decimal strings: a JSON reader in another language would round them."""


def _whole(value: Any) -> Any:
    """An integer as JSON writers spell it: `3` and `3.0`; neither `true` nor `"3"`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
        raise ValueError("must be a whole number")
    return int(value)


Whole = Annotated[int, BeforeValidator(_whole)]
Count = Annotated[Whole, Field(ge=0, le=SAFE)]


class _Document(BaseModel):
    model_config = ConfigDict(extra="allow")
    version: Whole
    next: Whole
    tables: dict[str, Any]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="allow")
    cursor: Any = None
    high: Any = None
    young: Any = None
    walk: str = "rowid"
    rows: tuple[Whole, Whole] | None = None
    policy: str | None = None
    whole: Whole | None = None
    stale: bool = False
    settled: bool = False
    carried: bool = False
    blocked: Count = 0
    too_large: Count = 0
    too_large_last: Count = 0


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a rule's traversal stands.

    Attributes:
        cursor: the last key done, () at the beginning. A walk through ages with ties has one part between ages, two inside one.
        high: the key at which the traversal ends, () where none is under way.
        young: ordered walks: where the first page with a young row began, which is where the next run starts.
        rows: adapted page sizes (keys read, rows written).
        whole: unix seconds when the last whole traversal ended (ordered walks).
        stale: since the traversal began, something changed that the rule's condition reads.
        settled: since a run last ended `done`, a traversal has begun and ended, and nothing has changed since that the rule's condition
            reads.
        carried: the traversal under way began before a run last ended `done`.
        blocked, too_large: rows that the traversal under way has met so far and that cannot go, as the receipt counts them.
        too_large_last: the same of the last traversal that ended.
    """

    cursor: Key = ()
    high: Key = ()
    young: Key | None = None
    rows: tuple[int, int] | None = None
    whole: int | None = None
    stale: bool = False
    settled: bool = False
    carried: bool = False
    blocked: int = 0
    too_large: int = 0
    too_large_last: int = 0


_COUNTS = ("blocked", "too_large", "too_large_last")

Identities = dict[str, tuple[str, str]]
"""By name: the walk and the policy digest that an entry must have been written with."""


@dataclass(slots=True)
class Checkpoint:
    """The document, taken apart.

    Attributes:
        turn: the index, among all that runs, of whose turn it is.
        entries: by section (`tables` holds the rules) and name, for what runs.
        others: entries and keys of the document that are not ours; kept as they are.
        turn_key: the key under which `turn` stands.
        warnings: what was wrong with the document.
    """

    turn: int = 0
    entries: dict[str, dict[str, Entry]] = field(default_factory=dict[str, dict[str, Entry]])
    others: dict[str, Any] = field(default_factory=dict[str, Any])
    turn_key: str = "next"
    warnings: list[str] = field(default_factory=list[str])

    @classmethod
    def read(cls, document: Any, known: dict[str, Identities], turn_key: str = "next") -> Checkpoint:
        """Take a stored document apart.

        Args:
            document: as it was stored, or None.
            known: what runs, by section.
            turn_key: where the turn stands; another key than `next` leaves that of the whole policy alone.
        """
        if document is None:
            return cls(turn_key=turn_key)
        try:
            parsed = _Document.model_validate(document)
            if parsed.version != 1:
                raise ValueError(f"version {parsed.version} is not 1")
            if not parsed.next >= 0:
                raise ValueError("`next` is negative")
        except (ValidationError, ValueError, OverflowError) as error:
            warning = f"the stored checkpoint is not valid ({_reason(error)}); every rule restarts from the beginning"
            return cls(turn_key=turn_key, warnings=[warning])
        others = {**(parsed.model_extra or {}), "next": parsed.next, "tables": parsed.tables}
        found = cls(others=others, turn_key=turn_key)
        found.turn = _turn(others.get(turn_key), sum(map(len, known.values())))
        for section, names in known.items():
            kept = others.get(section)
            found.others[section] = dict(cast("dict[str, Any]", kept)) if isinstance(kept, dict) else {}
            found.entries[section] = {}
            for name in found.others[section].keys() & names.keys():
                try:
                    found.entries[section][name] = _entry(found.others[section].pop(name), *names[name])
                except (ValidationError, ValueError, OverflowError) as error:
                    what = "rule" if section == "tables" else section.removesuffix("s")
                    found.warnings.append(f"the checkpoint's entry of {what} {name!r} is not valid ({_reason(error)}); the {what} restarts")
        return found

    def document(self, turn: int, known: dict[str, Identities]) -> dict[str, Any]:
        """The document to store."""
        written = {
            section: {
                **self.others.get(section, {}),
                **{n: raw for n, entry in self.entries.get(section, {}).items() if (raw := _written(entry, *names[n]))},
            }
            for section, names in known.items()
        }
        return {"version": 1, "next": 0, "tables": {}, **self.others, **written, self.turn_key: turn}


def _turn(raw: Any, count: int) -> int:
    return raw % count if isinstance(raw, int) and not isinstance(raw, bool) and count else 0


def _entry(raw: Any, walk: str, policy: str) -> Entry:
    parsed = _Entry.model_validate(raw)
    if parsed.rows is not None and not all(1 <= n <= SAFE for n in parsed.rows):
        raise ValueError("`rows` must be positive")
    if parsed.walk != walk or parsed.policy not in (None, policy):
        return Entry(rows=parsed.rows)
    integers = walk == "rowid"
    cursor, high = decode_key(parsed.cursor, integers), decode_key(parsed.high, integers)
    young = None if parsed.young is None else decode_key(parsed.young, integers)
    kept = ("rows", "whole", "stale", "settled", "carried", *_COUNTS)
    return Entry(cursor, high, young, **{name: getattr(parsed, name) for name in kept})


def _written(entry: Entry, walk: str, policy: str) -> dict[str, Any]:
    integers = walk == "rowid"
    written: dict[str, Any] = {}
    if entry.cursor:
        written["cursor"] = encode_key(entry.cursor, integers)
    if entry.high:
        written["high"] = encode_key(entry.high, integers)
    if entry.young is not None:
        written["young"] = encode_key(entry.young, integers)
    if entry.rows is not None:
        written["rows"] = list(entry.rows)
    if entry.whole is not None:
        written["whole"] = entry.whole
    if entry.stale and (entry.high or entry.whole is not None):
        written["stale"] = True
    if entry.settled:
        written["settled"] = True
    if entry.carried and entry.high:
        written["carried"] = True
    written |= {name: rows for name in _COUNTS if (rows := getattr(entry, name))}
    return {**written, "walk": walk, "policy": policy} if written else {}


def encode_key(key: Key, integer: bool) -> Any:
    """A key as JSON: a rowid as a number (a decimal string beyond 2^53-1), any other key as an array, and so the one before all rowids."""
    if integer:
        return [] if not key else (key[0] if abs(cast("int", key[0])) <= SAFE else str(key[0]))
    return [_encode_part(part) for part in key]


def _encode_part(part: Part) -> Any:
    match part:
        case RawText():
            return {"text": part.data.hex()}
        case str():
            return part
        case bytes():
            return {"blob": part.hex()}
        case float():
            return {"real": repr(part)}
        case int():
            return part if abs(part) <= SAFE else {"int": str(part)}


def decode_key(raw: Any, integer: bool) -> Key:
    """The key that `encode_key` wrote; () for None too. Raises ValueError."""
    if raw is None or raw == []:
        return ()
    if integer:
        value = int(raw) if isinstance(raw, str) and raw.removeprefix("-").isdecimal() and raw.isascii() else _whole(raw)
        if not -(2**63) <= value < 2**63:
            raise ValueError("a rowid beyond 64 bits")
        return (value,)
    if not isinstance(raw, list):
        raise ValueError("a key must be an array")
    return tuple(_decode_part(part) for part in cast("list[Any]", raw))


def _decode_part(raw: Any) -> Part:
    match raw:
        case str():
            return raw
        case {"int": str(value)}:
            return int(value)
        case {"real": str(value)}:
            return float(value)
        case {"text": str(value)}:
            return RawText(bytes.fromhex(value))
        case {"blob": str(value)}:
            return bytes.fromhex(value)
        case _:
            return _whole(raw)


def _reason(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        where = ".".join(str(p) for p in first["loc"])
        return f"{where}: {first['msg']}" if where else str(first["msg"])
    return str(error)

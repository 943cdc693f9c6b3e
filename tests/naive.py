"""What a policy means, done slowly: every row is judged in Python, one at a time, until nothing changes any more.

Shares no code with the package, so that a rule's text can be tried before, and compared with, the engine.
Tenants are left out; `tests.conformance.relay` has them.
"""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

import apsw

UNITS = {"w": 604800, "d": 86400, "h": 3600, "m": 60, "s": 1}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TEXT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?")
ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})?")


def seconds(keep: str) -> int | None:
    """The keep in seconds; None keeps for ever."""
    return None if keep == "forever" else sum(int(n) * UNITS[unit] for n, unit in re.findall(r"([0-9]+)([wdhms])", keep))


def _number(value: Any) -> Fraction | None:
    return Fraction(value) if isinstance(value, int | float) else None


def _text(value: Any, grammar: re.Pattern[str]) -> Fraction | None:
    """Unix seconds, exactly: the fraction is added by hand, since datetime knows six digits only."""
    if not isinstance(value, str) or not (match := grammar.fullmatch(value)):
        return None
    fraction = match.group(1) or ""
    try:
        when = datetime.fromisoformat(value.replace(fraction, "", 1) if fraction else value)
    except ValueError:
        return None
    whole = (when if when.tzinfo else when.replace(tzinfo=UTC)) - EPOCH
    return Fraction(int(whole / timedelta(seconds=1))) + (Fraction("0" + fraction) if fraction else 0)


def _scaled(value: Any, unit: int) -> Fraction | None:
    return None if (n := _number(value)) is None else n / unit


def _mixed(value: Any) -> Fraction | None:
    if isinstance(value, str) and re.fullmatch(r"[0-9]{9,}(\.[0-9]*)?", value):
        value = float(value)
    if isinstance(value, int | float):
        return _scaled(value, 1 if abs(value) < 1e11 else 1000 if abs(value) < 1e14 else 1_000_000)
    return _text(value, ISO)


def _snowflake(value: Any, epoch_ms: int) -> Fraction | None:
    if not isinstance(value, str) or not re.fullmatch("0|[1-9][0-9]{0,18}", value) or int(value) >= 2**63:
        return None
    return Fraction((int(value) >> 22) + epoch_ms, 1000)


READ: dict[str, Callable[[Any, int], Fraction | None]] = {
    "unix_s": lambda v, _: _number(v),
    "unix_ms": lambda v, _: _scaled(v, 1000),
    "unix_us": lambda v, _: _scaled(v, 1_000_000),
    "utc_text": lambda v, _: _text(v, TEXT),
    "iso8601": lambda v, _: _text(v, ISO),
    "snowflake": _snowflake,
    "mixed": lambda v, _: _mixed(v),
}
"""A stored value and the id's epoch (ms) to unix seconds; None where the value is not of that form."""

PARTS = {"unix_ms": 1000, "unix_us": 1000, "snowflake": 1000}
"""Parts of a second to which a cutoff is floored: the clock's milliseconds where the form has them, else whole seconds."""


def settle(db: apsw.Connection, policy: str, now: datetime) -> dict[str, int]:
    """Delete all that the policy lets go, to the fixpoint. Rows deleted by rule; cascades are not counted."""
    document = tomllib.loads(policy)
    db.execute(f"PRAGMA foreign_keys = {document.get('foreign_keys', 'on')}")
    rules = [r for r in document["rules"] if r.get("enabled", True)]
    holds = {h["table"]: h["where"] for h in document.get("holds", ())}
    deleted = dict.fromkeys((r.get("name", r["table"]) for r in rules), 0)
    while True:
        before = sum(deleted.values())
        for rule in rules:
            deleted[rule.get("name", rule["table"])] += _pass(db, rule, holds.get(rule["table"], "0"), now)
        if sum(deleted.values()) == before:
            return deleted


def key_of(db: apsw.Connection, table: str) -> list[str]:
    """The columns that name a row: the primary key, or the rowid where there is none."""
    pk = db.execute("SELECT name FROM pragma_table_info(?) WHERE pk ORDER BY pk", (table,))
    return [f'"{name}"' for (name,) in pk] or ["rowid"]


def keys(db: apsw.Connection, table: str) -> set[tuple[Any, ...]]:
    """The keys of all rows of a table."""
    return set(db.execute(f'SELECT {", ".join(key_of(db, table))} FROM "{table}"'))


def _pass(db: apsw.Connection, rule: dict[str, Any], hold: str, now: datetime) -> int:
    table, key = rule["table"], key_of(db, rule["table"])
    ages = rule.get("age", {}).get("column", [])
    ages = [ages] if isinstance(ages, str) else ages
    newest = rule.get("keep_newest", {})
    groups, order = newest.get("per", []), newest.get("by", [])
    terms = [*key, f"({rule.get('only', '1')})", f"({hold})", *(f'"{c}"' for c in [*groups, *order, *ages])]
    rows = [list(r) for r in db.execute(f'SELECT {", ".join(terms)} FROM "{table}"')]

    form = rule.get("age", {}).get("format", "")
    keep, parts = seconds(rule["keep"]), PARTS.get(form, 1)
    cutoff = (
        None
        if keep is None
        else Fraction((now - EPOCH) // timedelta(seconds=1) * parts + now.microsecond * parts // 1_000_000, parts) - keep
    )
    expired: list[list[Any]] = []
    ranked: dict[tuple[Any, ...], list[tuple[Any, ...]]] = defaultdict(list)
    for row in rows:
        name, (only, held), rest = row[: len(key)], row[len(key) : len(key) + 2], row[len(key) + 2 :]
        stored = next((v for v in rest[len(groups) + len(order) :] if v is not None), None)
        age = READ[form](stored, rule["age"].get("epoch_ms", 0)) if ages else None
        if not only or (ages and age is None):
            continue
        ranked[tuple(rest[: len(groups)])].append((*rest[len(groups) : len(groups) + len(order)], *name))
        if not held and cutoff is not None and (age is None or age < cutoff):
            expired.append(name)
    kept = {tuple(r[len(order) :]) for group in ranked.values() for r in sorted(group, reverse=True)[: newest.get("rows", 0)]}
    return sum(_delete(db, table, key, name) for name in expired if tuple(name) not in kept)


def _delete(db: apsw.Connection, table: str, key: list[str], name: list[Any]) -> int:
    try:
        db.execute(f'DELETE FROM "{table}" WHERE ' + " AND ".join(f"{k} IS ?" for k in key), name)
    except (apsw.ConstraintError, apsw.SQLError, apsw.CorruptError):
        return 0  # something still refers to it, a trigger refuses, or a full-text index is out of step
    return db.changes()

"""Numbers and names as people read them."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["counted", "number", "seconds"]


def number(value: int) -> str:
    """`1,234,567`."""
    return f"{value:,}"


def counted(value: int, singular: str, plural: str | None = None) -> str:
    """`1 row`, `2 rows`."""
    return f"{number(value)} {singular if value == 1 else plural or singular + 's'}"


def seconds(value: float) -> str:
    """`0.04 s`, `12.3 s`, `2 min 05 s`."""
    if value < 10:
        return f"{value:.2f} s"
    if value < 120:
        return f"{value:.1f} s"
    return f"{int(value) // 60} min {int(value) % 60:02d} s"


def listed(rows: Mapping[str, int]) -> str:
    """`held 76, blocked 2`, without what is 0."""
    return ", ".join(f"{word} {number(count)}" for word, count in rows.items() if count)

"""How many rows a traversal would no longer visit if the plan's advice were followed: counted where the preview saw all, else sampled.

The samples are boundaries of a few rows each, spread evenly over the range of rowids. What lies between two of them is taken to stand
as far apart as the rows of both do in the middle, and to be as old.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from ..plan.model import RulePlan
from ..statements.keys import Key
from ..statements.pages import Boundary, Range
from ..steps import Batch, Result, Step, Value

__all__ = ["PAYS_ROWS", "Saving", "sample"]

PAYS_ROWS = 10_000
"""Kept rows in each traversal from which an index is worth having: some 2 ms of reading, against one more entry for each insert."""

SAMPLES = 64
"""looks at the table: where the age follows the key, the border between old and young is found to a sixty-fourth of it"""
SAMPLE_ROWS = 16
"""rows a look, so that all of them read about 1,000"""


@dataclass(frozen=True, slots=True)
class Saving:
    """Rows that a traversal visits.

    Attributes:
        now: as the rule walks.
        then: with the advice followed: those that are old enough to be looked at.
        exact: all rows were counted; else both are estimates.
    """

    now: int
    then: int
    exact: bool

    @property
    def pays(self) -> bool:
        """Whether it is worth saying."""
        return self.now - self.then >= PAYS_ROWS


def sample(rule: RulePlan, cutoffs: tuple[Value, ...], high: Key) -> Generator[Step, list[Result] | None, Saving]:
    """Estimate for a table that is walked by rowid up to `high`."""
    (first,) = yield from _looks(rule, cutoffs, [Range(upto=high)], 1)
    if not first.seen:
        return Saving(0, 0, exact=False)
    low, top = _integer(first.last), _integer(high)
    length = (top - low) // SAMPLES + 1
    starts = range(low - 1, top, length)
    looks = yield from _looks(rule, cutoffs, [Range(after=(start,), upto=high) for start in starts], SAMPLE_ROWS)
    seen = [
        _Look((_integer(found.last) if found.filled else top) - start, found.seen, found.old)
        for start, found in zip(starts, looks, strict=True)
    ]
    now = then = 0.0
    for start, here, there in zip(starts, seen, [*seen[1:], seen[-1]], strict=True):
        rows = min(length, top - start) * 2 / (here.apart + there.apart)
        now += rows
        then += rows * (here.share + there.share) / 2
    return Saving(round(now), round(then), exact=False)


@dataclass(frozen=True, slots=True)
class _Look:
    """Rows behind a place: over how many rowids, how many of them, and how many old ones among them."""

    span: int
    rows: int
    old: int

    @property
    def apart(self) -> float:
        return max(1.0, self.span / max(1, self.rows))

    @property
    def share(self) -> float:
        return self.old / max(1, self.rows)


def _looks(
    rule: RulePlan, cutoffs: tuple[Value, ...], ranges: list[Range], rows: int
) -> Generator[Step, list[Result] | None, list[Boundary]]:
    pages = rule.pages
    results = yield Batch(tuple(pages.boundary(at, rows, cutoffs) for at in ranges))
    assert results is not None
    return [pages.read_boundary(at, rows, result.rows[0]) for at, result in zip(ranges, results, strict=True)]


def _integer(key: Key) -> int:
    (part,) = key
    assert isinstance(part, int)
    return part

"""What a rule costs where a host meters it: Cloudflare bills D1's rows read and written, not its statements.

The boundaries of a preview are read for real, and their meters counted; a delete then reads its page's rows once more. What that adds for
each row that goes was measured on workerd, the server behind D1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..plan.model import RulePlan
from ..statements.pages import Boundary

__all__ = ["Cost", "cost"]

CHILD_KEY_READS = 1
"""For each row that goes and each foreign key that could refer to it: the look-up in the child's index."""

CHILD_READS, CHILD_WRITES = 5, 1
"""For each child that goes with its parent."""

LISTED_READS = 5
"""For each row of a list (chunk mode), which is looked for and judged by its key: there the page is not read again."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Rows read and written by D1's or libSQL's meter. Triggers come on top."""

    read: int
    written: int


def cost(rule: RulePlan, first: int, pages: Sequence[tuple[Boundary, int]]) -> Cost | None:
    """What a run would use for pages that have been counted; None for a drained family, whose rows are not counted.

    Args:
        rule: how it deletes.
        first: rows read to find the end of the walk.
        pages: what was counted, each page with the rows that its boundary read.
    """
    if rule.drain is not None:
        return None
    gone = sum(page.expired for page, _ in pages)
    children = sum(page.children for page, _ in pages)
    if rule.chunk is not None:
        again = LISTED_READS * gone
    else:
        # Where a boundary counts children, most of what it reads are they, and the delete does not count them.
        again = sum(read if rule.pages.children is None else page.seen for page, read in pages if page.expired)
    looked_up = CHILD_KEY_READS * rule.child_keys * gone + CHILD_READS * children
    return Cost(first + sum(read for _, read in pages) + again + looked_up, gone + CHILD_WRITES * children)

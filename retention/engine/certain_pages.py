"""Pages of a rule that keeps no row which its walk meets: one DELETE each, of the oldest rows that are there, and no look at them first.

Only a traversal begins with a look, or a run that finds nothing to do would ask for the write lock, and wait where somebody holds it.
A rule whose pages are capped goes without: its statements are counted.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import HostError
from ..statements.pages import Range
from .budget import Budget
from .deletes import deleted, write
from .traversal import Pages, Traversal, count, look

__all__ = ["CertainTraversal"]


@dataclass(slots=True)
class CertainTraversal(Traversal):
    """A rule whose plan is `certain`. It needs no cursor: what it has passed is gone."""

    def take_page(self, budget: Budget) -> Pages:
        """See `Traversal.take_page`."""
        if not self.high and self.rule.first_cost:
            page = Range(before=self.end)
            result = yield from look(self, self.rule.pages.boundary(page, 1, self.cutoffs), 1)
            if not self.rule.pages.read_boundary(page, 1, result.rows[0]).seen:
                self.finish()
                return
        yield from Traversal.take_page(self, budget)

    def visit(self, budget: Budget) -> Pages:
        """See `Traversal.visit`."""
        rows = min(self.sizes.writes, self.rule.max_keys)
        statement = self.rule.pages.delete_next(Range(before=self.high), rows, self.cutoffs)
        try:
            results = yield from write(self, [statement], rows)
        except HostError as error:
            if error.kind in ("interrupted", "overloaded", "full", "limit"):
                self.sizes.failed(rows)
            raise
        gone = deleted(self, results)
        self.sizes.wrote(gone, results[0].seconds, limited=gone == rows)
        self.receipt.pages += 1
        count(self.receipt, gone, {}, ())
        if gone < rows:
            self.finish()

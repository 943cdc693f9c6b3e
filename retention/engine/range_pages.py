"""Range mode: one DELETE over a range of keys, with the whole condition inside."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..errors import HostError
from ..statements.keys import Key
from ..statements.pages import Boundary, Range
from ..steps import Batch
from .budget import Budget
from .deletes import CHANGES, deleted, ignored, learn, write
from .traversal import Pages, Traversal, advance, ask, boundary, count, found_again

__all__ = ["RangeTraversal"]

_CUT = 10
"""A cut last age that holds more than a tenth of its page is the next page by itself: it has been counted, and need not be read again."""


@dataclass(slots=True)
class RangeTraversal(Traversal):
    """A rule in range mode."""

    def visit(self, budget: Budget) -> Pages:
        """See `Traversal.visit`."""
        return _page(self, budget)


def _page(state: Traversal, budget: Budget) -> Pages:
    page, keys = state.next_range(), state.trouble[0] if state.trouble else state.sizes.keys
    if state.ahead is not None and state.ahead[0] == page:
        found = state.ahead[1]
    else:
        found = yield from boundary(state, page, keys)
    state.ahead = None
    page = Range(within=found.within) if found.within else page
    load = found.expired + found.children
    if load > state.sizes.writes and found.seen > 1 and state.trouble is None:
        keys = state.sizes.fewer(found.seen, load)
        found = yield from boundary(state, page, keys)
        page = Range(within=found.within) if found.within else page
    found_again(state, page, found)
    upto = found.last if found.filled else ()
    split = found.cut if found.cut is not None and state.trouble is None and found.cut.seen * _CUT > found.seen else None
    if found.expired:
        exact = _narrowed(page, found, upto)
        after = replace(state, cursor=state.position(page, upto)) if found.filled and upto and not split else None
        try:
            yield from _delete_range(state, budget, exact, found, after)
        except HostError as error:
            learn(state, error, page, found, found.last)
            return
    count(state.receipt, found.seen, found.kept, found.tenants)
    advance(state, page, found, upto)
    if split is not None:
        state.ahead = (state.next_range(), split)


def _narrowed(page: Range, found: Boundary, upto: Key) -> Range:
    """The part of the page in which the boundary saw expired rows: kept rows around them need not be visited again."""
    if found.first_gone:
        return Range(within=page.within, since=found.first_gone, upto=found.last_gone)
    return replace(page, upto=upto, before=()) if upto else page


def _delete_range(state: Traversal, budget: Budget, page: Range, found: Boundary, after: Traversal | None) -> Pages:
    rule = state.rule
    statements = [rule.pages.delete(page, state.cutoffs)]
    if rule.asks_changes:
        statements.append(CHANGES)
    ahead: tuple[Range, int] | None = None
    if rule.looks_ahead and after is not None and state.trouble is None and budget.refuses(rule.page_cost + rule.delete_cost + 1) is None:
        ahead = (after.next_range(), state.sizes.keys)
        statements.append(rule.pages.boundary(*ahead, state.cutoffs))
    results = yield from write(state, statements, found.expired + found.children)
    changes = deleted(state, results)
    state.sizes.wrote(found.expired + found.children, results[0].seconds, limited=found.filled)
    if ahead is not None:
        state.ahead = (ahead[0], rule.pages.read_boundary(*ahead, results[-1].rows[0]))
    if rule.recounts and changes < found.expired:
        (result,) = yield from ask(state, Batch((rule.pages.boundary(page, found.seen + 1, state.cutoffs),)))
        ignored(state, rule.pages.read_boundary(page, found.seen + 1, result.rows[0]).expired)

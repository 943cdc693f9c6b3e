"""Chunk mode: the rows of a page are seen first, then deleted by guarded lists."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace

from ..errors import HostError
from ..statements.pages import Boundary, Range, Row
from ..steps import Archive, Batch, Result, Step
from .budget import Budget
from .deletes import CHANGES, deleted, fits, ignored, learn, write
from .traversal import Pages, Traversal, advance, ask, count, found_again, look

__all__ = ["ChunkTraversal"]


@dataclass(slots=True)
class ChunkTraversal(Traversal):
    """A rule in chunk mode."""

    def visit(self, budget: Budget) -> Pages:
        """See `Traversal.visit`."""
        assert self.rule.chunk is not None
        return _page(self, budget, self.rule.chunk)


def _page(state: Traversal, budget: Budget, chunk: int) -> Pages:
    pages, keys = state.rule.pages, state.trouble[0] if state.trouble else state.sizes.keys
    page = state.next_range()
    rows, tenants = yield from _rows(state, page, keys)
    filled = len(rows) >= keys
    if pages.walk.ties and not page.within and filled:
        ages = [r.key[:1] for r in rows]
        if ages[0] == ages[-1]:
            page = Range(within=ages[0])
        else:
            rows = [r for r in rows if r.key[:1] != ages[-1]]
    gone = [i for i, r in enumerate(rows) if r.verdict == 1]
    if state.lost is not None:
        found_again(state, page, _summary(page, state, rows, (), filled=filled))
    stayed = 0
    for start in range(0, len(gone), chunk):
        part = gone[start : start + chunk]
        if start and budget.now >= budget.deadline:
            if stayed:
                # They would be met first again, and a run whose means last for one chunk would never get past them.
                _pass(state, page, rows[: part[0]], tenants)
            return
        chosen = [rows[i] for i in part]
        load = pages.load(chosen)
        if state.rule.archive is not None and fits(state, load):
            yield Archive(state.rule.name, state.rule.table, pages.archived, tuple(r.values for r in chosen))
        try:
            stayed += yield from _delete_rows(state, chosen, load)
        except HostError as error:
            if error.applied is None:
                whole = replace(_summary(page, state, rows, tenants), expired=len(gone) - start)
                learn(state, error, page, whole, whole.last)
                return
            if part[0]:
                _pass(state, page, rows[: part[0]], tenants)
            failed = _summary(page, state, rows[part[0] : part[-1] + 1], tenants)
            learn(state, error, page, failed, rows[part[-1]].key[len(page.within) :])
            return
    found = _summary(page, state, rows, tenants, filled=filled)
    count(state.receipt, found.seen, found.kept, found.tenants)
    advance(state, page, found, found.last if filled else ())


def _rows(state: Traversal, page: Range, keys: int) -> Generator[Step, list[Result] | None, tuple[list[Row], tuple[str, ...]]]:
    result = yield from look(state, state.rule.pages.rows(page, keys, state.cutoffs), keys)
    rows, tenants = state.rule.pages.read_rows(result.rows)
    load = state.rule.pages.load([r for r in rows if r.verdict == 1])
    state.sizes.read(len(rows), load, result.seconds, filled=len(rows) >= keys)
    return rows, tenants


def _pass(state: Traversal, page: Range, rows: list[Row], tenants: tuple[str, ...]) -> None:
    """Leading rows of the page are done: count them, and move the cursor behind the last."""
    done = _summary(page, state, rows, tenants)
    count(state.receipt, done.seen, done.kept, done.tenants)
    # The row and not its age, of which the page may hold more rows.
    state.cursor = rows[-1].key


def _delete_rows(state: Traversal, chosen: list[Row], load: int) -> Generator[Step, list[Result] | None, int]:
    """Delete the rows; returns how many of them did not go by that."""
    rule = state.rule
    statements = [rule.pages.delete_rows(chosen, state.cutoffs)]
    if rule.asks_changes:
        statements.append(CHANGES)
    results = yield from write(state, statements, load)
    stayed = missed = max(0, len(chosen) - deleted(state, results))
    state.sizes.wrote(load, results[0].seconds, limited=True)
    if rule.recounts and missed:
        # Some went with others of the list, or a trigger kept them.
        (result,) = yield from ask(state, Batch((rule.pages.left(chosen, state.cutoffs),)))
        there, due = (int(n or 0) for n in result.rows[0])  # type: ignore[arg-type]
        ignored(state, due)
        missed = there - due
    state.receipt.changed += missed
    return stayed


def _summary(page: Range, state: Traversal, rows: list[Row], tenants: tuple[str, ...], *, filled: bool = True) -> Boundary:
    """The page's rows as a boundary would have counted them: between ages only the age of the last one counts."""
    walk = state.rule.pages.walk
    key = rows[-1].key if rows else ()
    last = key[:1] if walk.ties and not page.within else key[len(page.within) :]
    return state.rule.pages.counted(rows, last, tenants, filled=filled)

"""What a delete did, and what is learnt from one that failed."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from ..errors import HostError
from ..statements.keys import Key
from ..statements.pages import Boundary, Range
from ..steps import Batch, Result, Statement, Step
from .traversal import Traversal, advance, ask, count

__all__ = ["BLOCKED_ROWS", "CHANGES", "deleted", "fits", "ignored", "learn", "write"]

BLOCKED_ROWS = 100
"""A rule with so many rows in one run that cannot go stops for that run: each costs two statements, and a person must look anyway."""

LONGEST = 4
"""A delete that cascades and holds the lock longer than so many times the aim is rolled back, and its page cut."""

CHANGES = Statement("SELECT changes()")


def fits(state: Traversal, load: int) -> bool:
    """Whether a delete may change so many rows, as they were counted. Others bound it while it runs, where nothing is counted first."""
    return state.rule.pages.children is None or load <= state.rule.max_writes


def write(state: Traversal, statements: list[Statement], load: int) -> Generator[Step, list[Result] | None, list[Result]]:
    """Send a delete and what belongs to it, as one unit, if it `fits`."""
    if not fits(state, load):
        raise HostError(f"{load} rows would change at once", "too_many_changes")
    most = state.rule.max_changes
    # What a cascade takes cannot be known before. A single row cannot be cut.
    longest = None if most is None or load == 1 else LONGEST * state.sizes.target
    try:
        return (yield from ask(state, Batch(tuple(statements), writes=True, max_changes=most, max_seconds=longest)))
    except HostError as error:
        if error.applied:
            # RAISE(FAIL) keeps what the statement did before it: those rows are gone, and counted.
            state.receipt.deleted += error.changes or 0
            state.deleted_now += error.changes or 0
        raise


def deleted(state: Traversal, results: Sequence[Result]) -> int:
    """Count what a delete changed, after it has committed."""
    receipt, first = state.receipt, results[0]
    changes = int(results[1].rows[0][0] or 0) if state.rule.asks_changes else (first.changes or 0)  # type: ignore[arg-type]
    receipt.deleted += changes
    state.deleted_now += changes
    if first.total_changes is not None:
        receipt.side_changes += max(0, first.total_changes - changes)
    if first.cascaded is not None:
        receipt.cascaded = receipt.cascaded or {}
        for table, rows in first.cascaded.items():
            receipt.cascaded[table] = receipt.cascaded.get(table, 0) + rows
    return changes


def ignored(state: Traversal, rows: int) -> None:
    """Rows are there that a delete without an error should have taken."""
    if rows:
        state.receipt.blocked += rows
        table = state.rule.table
        state.receipt.error = state.receipt.error or f"rows of {table} cannot be deleted: a trigger of {table} keeps them by RAISE(IGNORE)"


def learn(state: Traversal, error: HostError, page: Range, found: Boundary, last: Key) -> None:
    """A delete failed. Where a smaller page may succeed, the page is taken again in parts; a single row that cannot go is passed.

    `last` is the key of the last row that was to go, or the page's end.
    """
    receipt = state.receipt
    match error.kind:
        case "constraint" | "too_many_changes" | "full" | "limit":
            if found.expired > 1:
                state.trouble = (max(1, found.seen // 2), state.position(page, found.last) if found.last else state.high)
                if error.kind != "constraint":
                    state.sizes.failed(found.expired)
                return
            if error.kind in ("full", "limit"):
                raise error
            if error.kind == "too_many_changes":
                receipt.too_large += found.expired
            else:
                receipt.blocked += found.expired
                receipt.error = receipt.error or f"rows of {state.rule.table} cannot be deleted: {error}"
            count(receipt, found.seen, found.kept, found.tenants)
            advance(state, page, found, last if found.filled else ())
            if receipt.blocked >= BLOCKED_ROWS:
                raise HostError(f"{BLOCKED_ROWS} {receipt.error}", "constraint") from error
        case "interrupted" | "overloaded":
            state.sizes.failed(found.expired)
            raise error
        case _:
            if error.applied is None:
                # Take the same page again: what is missing then was deleted by the write whose answer was lost.
                end = state.position(page, found.last) if found.last else state.high
                state.lost = (found.expired, page.within, end)
                # One key more than it had, or its last age might count as cut.
                keys = min(found.seen + 1, state.rule.max_keys)
                state.trouble = (keys, end)
            raise error

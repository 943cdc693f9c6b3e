"""What sweeps and closures do alike on a page: list the rows that are due, write them as one batch, and learn from a batch that failed.

The batch decides again. A list that fails is taken again in halves, each a page of its own, admitted and saved for itself; a single row
that fails is named and passed.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace

from ..engine.budget import Budget
from ..engine.traversal import Pages, Traversal, advance, ask, begin, boundary, count
from ..errors import Fenced, HostError
from ..statements.keys import Key
from ..statements.pages import Due, Range
from ..steps import Batch, Result, Statement, Step
from .listed_plan import ListedPlan

__all__ = ["ListedWalk", "key_text"]

_OWN_FAULT = frozenset({"constraint", "too_many_changes", "limit"})
"""Failures that a shorter list may escape."""

_OWN_FENCES = frozenset({"sweep", "closure", "left"})


def key_text(key: Key) -> str:
    """A row's key as a person may read it."""
    return ", ".join(part.hex() if isinstance(part, bytes) else str(part) for part in key)


@dataclass(slots=True)
class ListedWalk(Traversal):
    """A traversal whose writes name their rows.

    Attributes:
        retried: the rows of a batch that failed, as far as they were not read again; those that are missing then were taken by
            somebody else or, where its outcome is unknown (`unknown`), by that batch.
        raced, kept: counts beyond those of the receipt. blocked: keys of rows that cannot be written.
    """

    retried: list[Key] = field(default_factory=list[Key])
    unknown: bool = False
    raced: int = 0
    kept: dict[str, int] = field(default_factory=dict[str, int])
    blocked: list[str] = field(default_factory=list[str])

    @property
    def listed(self) -> ListedPlan:
        """Its plan."""
        assert isinstance(self.rule, ListedPlan)
        return self.rule

    @property
    def due(self) -> int:
        """Rows that had to be written, whatever became of them."""
        return self.receipt.deleted + self.raced + self.receipt.unconfirmed + len(self.blocked)

    @property
    def capped(self) -> bool:
        """`pages` counts writes: looking on is free."""
        return self.pages >= self.listed.max_batches and not self.done

    @property
    def limit(self) -> int:
        """Rows in the next write. It is kept in the checkpoint, so that a run of one write gets past rows that cannot be written."""
        return min(self.listed.batch, self.sizes.writes)

    def chosen(self, rows: list[Due]) -> tuple[list[Due], int]:
        """The rows at the head of the list that one write may take, and how many of the list are dealt with by that."""
        return rows, len(rows)

    def statements(self, rows: Sequence[Due]) -> list[Statement]:
        """The batch that writes these rows, if they are still due."""
        raise NotImplementedError

    def written(self, rows: Sequence[Due], results: Sequence[Result]) -> int:
        """Count what the batch did; returns the rows that it wrote."""
        raise NotImplementedError

    def failed(self, row: Due, error: HostError) -> None:
        """A single row could not be written."""
        raise NotImplementedError

    def restart(self) -> None:
        """Begin a traversal. What is kept is said of one traversal."""
        Traversal.restart(self)
        self.kept, self.blocked, self.retried = {}, [], []

    def take_page(self, budget: Budget) -> Pages:
        """One page, and at most one write of it."""
        self.deleted_now = 0
        # Only a page that writes counts against `max_batches`.
        self.pages -= 1
        if not self.high:
            yield from begin(self)
            if self.done:
                return
        page = self.next_range()
        found = yield from boundary(self, page, self.sizes.keys)
        upto = found.last if found.filled else ()
        if not found.expired:
            self._missed(())
        else:
            rows = yield from self._list(page, found.first_gone, found.last_gone)
            self._missed([row.identity for row in rows])
            chosen, passed = self.chosen(rows)
            if 0 < passed < found.expired:
                upto = rows[passed - 1].key
                exact = yield from boundary(self, replace(page, upto=upto), self.sizes.keys)
                found = replace(exact, last=upto, filled=True)
            if chosen:
                self.pages += 1
                try:
                    yield from self._write(chosen)
                except HostError as error:
                    if not self._learn(chosen, error):
                        return
        count(self.receipt, found.seen, found.kept, found.tenants)
        for reason, rows_kept in found.kept.items():
            self.kept[reason] = self.kept.get(reason, 0) + rows_kept
        advance(self, page, found, upto)

    def _list(self, page: Range, first: Key, last: Key) -> Generator[Step, list[Result] | None, list[Due]]:
        pages = self.rule.pages
        stretch = Range(within=page.within, since=first, upto=last)
        (result,) = yield from ask(self, Batch((pages.due(stretch, self.limit, self.cutoffs, self.listed.statements.shown()),)))
        return pages.read_due(result.rows)

    def _write(self, rows: Sequence[Due]) -> Pages:
        batch = Batch(tuple(self.statements(rows)), writes=True, max_changes=self.rule.max_changes)
        results = yield from ask(self, batch)
        wrote = self.written(rows, results)
        self.raced += len(rows) - wrote
        self.receipt.deleted += wrote
        self.deleted_now += wrote
        self.sizes.writes = min(self.listed.batch, self.limit * 2)

    def _missed(self, listed: Sequence[Key]) -> None:
        """Rows of a batch that failed have been read again, up to the list's end; those that are missing are no longer due."""
        full, again = len(listed) >= self.limit, set(listed)
        end = max((i + 1 for i, key in enumerate(self.retried) if key in again), default=0) if full else len(self.retried)
        gone = sum(key not in again for key in self.retried[:end])
        self.retried = self.retried[end:]
        if self.unknown:
            self.receipt.unconfirmed += gone
            self.deleted_now += gone
        else:
            self.raced += gone

    def _learn(self, rows: Sequence[Due], error: HostError) -> bool:
        """Deal with a batch that failed: True where its one row is named and passed, False where the page is taken again."""
        own = error.name in _OWN_FENCES if isinstance(error, Fenced) else error.kind in _OWN_FAULT
        if own and len(rows) == 1:
            self.failed(rows[0], error)
            return True
        if own or error.applied is None:
            self.retried, self.unknown = [row.identity for row in rows], not own
        if own or error.kind in ("interrupted", "overloaded"):
            self.sizes.writes = max(1, len(rows) // 2)
        if own:
            return False
        raise error

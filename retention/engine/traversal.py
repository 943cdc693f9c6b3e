"""One rule's traversal, a page at a time: where it is, and how it moves on.

A page is found, its expired rows are deleted (`range_pages`, `chunk_pages`), and only then does the cursor move. Nothing that a read said
is trusted by a write: every delete decides again.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from ..errors import HostError
from ..plan.model import RulePlan
from ..statements.keys import Key
from ..statements.pages import Boundary, Range
from ..steps import Batch, Result, Statement, Step, Value
from .budget import Budget
from .checkpoint import Entry
from .receipt import NAMED_TENANTS, RuleReceipt
from .sizes import FIRST_ROWS, Sizes

__all__ = ["Pages", "Traversal", "advance", "ask", "begin", "boundary", "count", "found_again", "look"]

Pages = Generator[Step, list[Result] | None, None]


@dataclass(slots=True)
class Traversal:
    """A rule's state during a run.

    Attributes:
        rule, receipt, sizes: what runs, what it did, how large its pages are.
        cutoffs: the condition's bound values.
        end: the exclusive end of a walk by age.
        cursor, high, young, whole, stale, settled, carried, too_large_last: as in the checkpoint's entry.
        blocked_before, too_large_before: rows that earlier runs of this traversal have met, and that cannot go.
        last: rows seen and rows deleted by the whole traversal before; `marked` is where the receipt stood when this one began.
        endless: the table fills as fast as it empties: no further traversal.
        continuing: an ordered rule that starts where the last run ended.
        trouble: keys at a time, and the key at which to stop caring, after a page that failed.
        ahead: the next page and its boundary, if it is known already.
        lost: of a page whose outcome is unknown: its expired rows, the age that it was inside of, and its last key.
        pages: pages admitted in this run. done: no more pages in this pass. fresh: nothing changed since the traversal began.
    """

    verb: ClassVar[str] = "deleted"
    """What it does to rows."""

    rule: RulePlan
    receipt: RuleReceipt
    sizes: Sizes
    cutoffs: tuple[Value, ...]
    end: Key
    now_s: int
    cursor: Key = ()
    high: Key = ()
    young: Key | None = None
    whole: int | None = None
    stale: bool = False
    settled: bool = False
    carried: bool = False
    blocked_before: int = 0
    too_large_before: int = 0
    too_large_last: int = 0
    last: tuple[int, int] | None = None
    marked: tuple[int, int] | None = None
    endless: bool = False
    continuing: bool = False
    trouble: tuple[int, Key] | None = None
    ahead: tuple[Range, Boundary] | None = None
    lost: tuple[int, Key, Key] | None = None
    pages: int = 0
    done: bool = False
    deleted_now: int = field(default=0)

    @classmethod
    def start(cls, rule: RulePlan, entry: Entry | None, receipt: RuleReceipt, now_ms: int) -> Traversal:
        """Continue where the checkpoint's entry left off, or begin."""
        entry = entry or Entry()
        state = cls(
            rule=rule,
            receipt=receipt,
            sizes=Sizes.start(entry.rows, rule.max_keys, rule.max_writes, rule.target, rule.patience),
            cutoffs=rule.cutoffs(now_ms),
            end=rule.end_key(now_ms),
            now_s=now_ms // 1000,
            cursor=entry.cursor,
            high=entry.high,
            young=entry.young,
            whole=entry.whole,
            stale=entry.stale,
            settled=entry.settled,
            carried=entry.carried,
            too_large_last=entry.too_large_last,
        )
        if not state.high:
            state.restart()
        if state.continuing:
            state.young = entry.young
        if state.high or state.continuing:
            state.blocked_before, state.too_large_before = entry.blocked, entry.too_large
        return state

    def restart(self) -> None:
        """Begin a traversal: a whole one, unless the rule is ordered and its last whole one is recent."""
        recent = self.whole is not None and self.now_s - self.whole < self.rule.revisit_ms // 1000 and not self.stale
        self.continuing = self.rule.ordered and recent
        if self.continuing:
            # The first page of young rows ends it: no place for a page that grew over kept history.
            self.sizes.keys = min(self.sizes.keys, FIRST_ROWS)
        else:
            self.cursor = ()
        self.high, self.young, self.trouble, self.ahead = (), None, None, None
        self.stale = self.done = False
        self.blocked_before = self.too_large_before = 0
        self.marked = None if self.cursor else (self.receipt.scanned, self.receipt.gone)
        # What is kept is said of one traversal: a row that two passes keep is one row.
        receipt = self.receipt
        receipt.finished, receipt.error = False, None
        receipt.undated = receipt.unreadable = receipt.held = receipt.referenced = receipt.blocked = receipt.too_large = 0

    def entry(self) -> Entry:
        """What the checkpoint keeps."""
        return replace(
            self._standing(),
            settled=self.settled,
            carried=self.carried,
            blocked=0 if self.done else self.blocked_before + self.receipt.blocked,
            too_large=0 if self.done else self.met_too_large,
            too_large_last=self.too_large_last,
        )

    def _standing(self) -> Entry:
        rows = self.sizes.stored()
        kept = (rows[0], rows[1]) if rows else None
        if self.trouble is not None:
            # A run that ends amid failures begins the next with small pages, or a budget of one page would try the same one for ever.
            kept = (min(self.trouble[0], self.sizes.keys), self.sizes.writes)
        if self.continuing:
            # It goes on behind a page that it has seen, or a budget of one page would read that one for ever. What began before a `done`
            # begins again.
            if self.carried and self.young is not None:
                return Entry(self.young, (), None, kept, self.whole, self.stale)
            return Entry(self.cursor, (), self.young, kept, self.whole, self.stale)
        if not self.high:
            return Entry(self.cursor if self.rule.ordered and self.whole is not None else (), (), None, kept, self.whole, self.stale)
        return Entry(self.cursor, self.high, self.young, kept, self.whole, self.stale)

    @property
    def met_too_large(self) -> int:
        """Rows that this traversal has met and that are too large alone, in this run and in earlier ones."""
        return self.too_large_before + self.receipt.too_large

    @property
    def capped(self) -> bool:
        """Whether its turns of this run are used up."""
        return self.rule.max_pages is not None and self.pages >= self.rule.max_pages and not self.done

    @property
    def cost(self) -> int:
        """Statements of the next page at worst."""
        return self.rule.page_cost + (0 if self.high else self.rule.first_cost)

    def finish(self) -> None:
        """The traversal has ended."""
        if self.rule.ordered:
            if not self.continuing:
                self.whole = self.now_s
            self.cursor = self.cursor if self.young is None else self.young
            self.young = None
        else:
            self.cursor = ()
        self.high, self.ahead, self.trouble = (), None, None
        self.continuing = False
        self.done = self.receipt.finished = True
        self.too_large_last = self.met_too_large
        self.settled = not self.stale and not self.carried and self.receipt.error is None
        self._weigh()
        carried, self.carried = self.carried, False
        if carried and self.receipt.error is None:
            # It began before a run said `done`, and has not seen what came in behind it.
            self.restart()

    def _weigh(self) -> None:
        """Whether another traversal can get further: rows deleted, and no fewer there than before, come back as fast as they go."""
        if self.marked is None:
            return
        seen, gone = self.receipt.scanned - self.marked[0], self.receipt.gone - self.marked[1]
        if self.rule.refilled and gone and self.last is not None and self.last[1] and seen >= self.last[0]:
            self.endless = True
            self.receipt.error = self.receipt.error or (
                f"rows come into {self.rule.table} as fast as they go, because deleting makes a trigger insert them; "
                f"change the trigger, or leave such rows out by `only`"
            )
        self.last = seen, gone

    def next_range(self) -> Range:
        """The rest of the traversal: where the next page begins, and where it must end."""
        end = self.trouble[1] if self.trouble else ()
        if self.rule.pages.walk.ties:
            if len(self.cursor) == 2:
                return Range(within=self.cursor[:1], after=self.cursor[1:], upto=end[1:] if end[:1] == self.cursor[:1] else ())
            return Range(after=self.cursor, before=self.high, upto=end[:1] if len(end) == 1 else ())
        if self.rule.pages.walk.by_age:
            return Range(after=self.cursor, before=self.high, upto=end)
        return Range(after=self.cursor, upto=end or self.high)

    def position(self, page: Range, key: Key) -> Key:
        """A key of the page as a cursor."""
        return page.within + key

    def take_page(self, budget: Budget) -> Pages:
        """Do one page: find it, deal with what is due, move the cursor. A failure that concerns this page alone is dealt with here."""
        self.deleted_now = 0
        if not self.high:
            yield from begin(self)
            if self.done:
                return
        yield from self.visit(budget)

    def visit(self, budget: Budget) -> Pages:
        """Do the page itself: what a rule's mode decides."""
        raise NotImplementedError


def begin(state: Traversal) -> Pages:
    """Find the end of the traversal, which is done at once where there is nothing to visit."""
    if state.rule.pages.walk.by_age:
        state.high = state.end
        return
    (result,) = yield from ask(state, Batch((state.rule.pages.high(),)))
    state.high = state.rule.pages.read_high(result.rows)
    if not state.high:
        state.finish()


def ask(state: Traversal, batch: Batch) -> Generator[Step, list[Result] | None, list[Result]]:
    """Send a batch and put the host's meters on the receipt."""
    results = yield batch
    assert results is not None
    receipt = state.receipt
    for result in results:
        if result.rows_read is not None:
            receipt.rows_read = (receipt.rows_read or 0) + result.rows_read
        if result.rows_written is not None:
            receipt.rows_written = (receipt.rows_written or 0) + result.rows_written
    return results


def look(state: Traversal, statement: Statement, keys: int) -> Generator[Step, list[Result] | None, Result]:
    """Read a page of so many keys; one that was too much makes the next one smaller."""
    try:
        (result,) = yield from ask(state, Batch((statement,)))
    except HostError as error:
        if error.kind in ("interrupted", "limit", "overloaded"):
            state.sizes.failed(keys)
        raise
    return result


def boundary(state: Traversal, page: Range, keys: int) -> Generator[Step, list[Result] | None, Boundary]:
    """Read a page's edges and counts, and let the sizes learn from it."""
    result = yield from look(state, state.rule.pages.boundary(page, keys, state.cutoffs), keys)
    found = state.rule.pages.read_boundary(page, keys, result.rows[0])
    state.sizes.read(found.seen, found.expired + found.children, result.seconds, filled=found.filled)
    return found


def found_again(state: Traversal, page: Range, found: Boundary) -> None:
    """A page whose answer was lost has been read again: what is missing now was deleted then.

    Rows are counted only where the same stretch of keys was read; a page that came out shorter or longer tells nothing.
    """
    if state.lost is None:
        return
    expired, within, end = state.lost
    reached = state.position(page, found.last) == end if found.filled else bool(page.upto) or end == state.high
    if page.within == within and reached:
        state.receipt.unconfirmed += max(0, expired - found.expired)
    # Whatever the count, rows may have gone, and other rules may read them.
    state.deleted_now += expired
    state.lost = None


def count(receipt: RuleReceipt, seen: int, kept: dict[str, int], tenants: Sequence[str]) -> None:
    """Put a page that is done on the receipt."""
    receipt.scanned += seen
    receipt.undated += kept.get("undated", 0)
    receipt.unreadable += kept.get("unreadable", 0)
    receipt.held += kept.get("held", 0)
    receipt.referenced += kept.get("referenced", 0)
    known = dict.fromkeys(receipt.malformed_tenants + list(tenants))
    receipt.malformed_tenants = list(known)[:NAMED_TENANTS]


def advance(state: Traversal, page: Range, found: Boundary, upto: Key) -> None:
    """The page is done: move the cursor behind it, or end."""
    receipt = state.receipt
    receipt.pages += 1
    if state.rule.ordered and found.young:
        if state.young is None:
            state.young = state.cursor
        if state.continuing and found.filled and found.young == found.dated:
            state.finish()
            return
    if found.filled:
        if upto:
            state.cursor = state.position(page, upto)
        state.trouble = None if state.trouble is None else (state.trouble[0] * 2, state.trouble[1])
        if state.cursor == state.high or (state.trouble and state.cursor == state.trouble[1]):
            _reached(state)
        return
    if page.within:
        # The last rows of one age: walk on behind the whole age.
        if state.trouble and page.upto:
            state.cursor, state.trouble = page.within + page.upto, None
        else:
            state.cursor = page.within
            state.trouble = None
        return
    _reached(state)


def _reached(state: Traversal) -> None:
    """The end of the troubled stretch, or of the traversal."""
    if state.trouble is not None and state.trouble[1] != state.high:
        state.cursor, state.trouble = state.trouble[1], None
        return
    if not state.rule.pages.walk.by_age:
        state.cursor = state.high
    state.finish()

"""One rule's traversal, a page at a time.

A page is found (boundary), its expired rows are deleted (delete), and only then does the cursor move. Nothing that a read said is trusted
by a write: every delete decides again.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace

from ..errors import HostError
from ..plan.model import RulePlan
from ..statements.pages import Boundary, Key, Range, Row
from ..steps import Archive, Batch, Result, Statement, Step, Value
from .budget import Budget
from .checkpoint import Entry
from .receipt import NAMED_TENANTS, RuleReceipt
from .sizes import FIRST_ROWS, Sizes

__all__ = ["BLOCKED_ROWS", "Pages", "Traversal", "advance", "ask", "begin", "boundary", "count", "found_again"]

Pages = Generator[Step, list[Result] | None, None]

BLOCKED_ROWS = 100
"""A rule with so many rows in one run that cannot go stops for that run: each costs two statements, and a person must look anyway."""

_CUT = 10
"""A cut last age that holds more than a tenth of its page is the next page by itself: it has been counted, and need not be read again."""

_CHANGES = Statement("SELECT changes()")


@dataclass(slots=True)
class Traversal:
    """A rule's state during a run.

    Attributes:
        rule, receipt, sizes: what runs, what it did, how large its pages are.
        cutoffs: the condition's bound values.
        end: the exclusive end of a walk by age.
        cursor, high, young, whole, stale: as in the checkpoint's entry.
        continuing: an ordered rule that starts where the last run ended.
        trouble: keys at a time, and the key at which to stop caring, after a page that failed.
        ahead: the next page's boundary, if it travelled with the last delete.
        lost: of a page whose outcome is unknown: its expired rows, the age that it was inside of, and its last key.
        pages: pages admitted in this run. done: no more pages in this pass. fresh: nothing changed since the traversal began.
    """

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
    continuing: bool = False
    trouble: tuple[int, Key] | None = None
    ahead: tuple[Range, int, Boundary] | None = None
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
        )
        if not state.high:
            state.restart()
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
        # What is kept is said of one traversal: a row that two passes keep is one row.
        receipt = self.receipt
        receipt.finished, receipt.error = False, None
        receipt.undated = receipt.unreadable = receipt.held = receipt.referenced = receipt.blocked = receipt.too_large = 0

    def entry(self) -> Entry:
        """What the checkpoint keeps."""
        rows = self.sizes.stored()
        kept = (rows[0], rows[1]) if rows else None
        if self.trouble is not None:
            # A run that ends amid failures begins the next with small pages, or a budget of one page would try the same one for ever.
            kept = (min(self.trouble[0], self.sizes.keys), self.sizes.writes)
        if self.continuing:
            return Entry(self.cursor if self.young is None else self.young, (), None, kept, self.whole, self.stale)
        if not self.high:
            return Entry(self.cursor if self.rule.ordered and self.whole is not None else (), (), None, kept, self.whole, self.stale)
        return Entry(self.cursor, self.high, self.young, kept, self.whole, self.stale)

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
        """Do one page: find it, delete what is expired, move the cursor. A failure that concerns this page alone is dealt with here."""
        self.deleted_now = 0
        if not self.high:
            yield from begin(self)
            if self.done:
                return
        if self.rule.chunk is None:
            yield from _range_page(self, budget)
        else:
            yield from _chunk_page(self, budget, self.rule.chunk)


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


# --- range mode: one DELETE over a key range, with the whole condition inside


def _range_page(state: Traversal, budget: Budget) -> Pages:
    page, keys = state.next_range(), state.trouble[0] if state.trouble else state.sizes.keys
    if state.ahead is not None and state.ahead[:2] == (page, keys):
        found = state.ahead[2]
    else:
        found = yield from boundary(state, page, keys)
    state.ahead = None
    page = Range(within=found.within) if found.within else page
    load = max(found.expired, 0 if state.rule.max_changes is None else found.expired + found.children)
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
            _learn(state, error, page, found, found.last)
            return
    count(state.receipt, found.seen, found.kept, found.tenants)
    advance(state, page, found, upto)
    if split is not None:
        state.ahead = (state.next_range(), state.sizes.keys, split)


def boundary(state: Traversal, page: Range, keys: int) -> Generator[Step, list[Result] | None, Boundary]:
    """Read a page's edges and counts, and let the sizes learn from it."""
    statement = state.rule.pages.boundary(page, keys, state.cutoffs)
    try:
        (result,) = yield from ask(state, Batch((statement,)))
    except HostError as error:
        if error.kind in ("interrupted", "limit", "overloaded"):
            state.sizes.failed(keys)
        raise
    found = state.rule.pages.read_boundary(page, keys, result.rows[0])
    state.sizes.read(found.seen, found.expired, result.seconds, filled=found.filled)
    return found


def _narrowed(page: Range, found: Boundary, upto: Key) -> Range:
    """The part of the page in which the boundary saw expired rows: kept rows around them need not be visited again."""
    if found.first_gone:
        return Range(within=page.within, since=found.first_gone, upto=found.last_gone)
    return replace(page, upto=upto, before=()) if upto else page


def _delete_range(state: Traversal, budget: Budget, page: Range, found: Boundary, after: Traversal | None) -> Pages:
    rule = state.rule
    statements = [rule.pages.delete(page, state.cutoffs)]
    if rule.asks_changes:
        statements.append(_CHANGES)
    ahead: tuple[Range, int] | None = None
    if rule.looks_ahead and after is not None and state.trouble is None and budget.refuses(rule.page_cost + rule.delete_cost + 1) is None:
        ahead = (after.next_range(), state.sizes.keys)
        statements.append(rule.pages.boundary(*ahead, state.cutoffs))
    results = yield from _write(state, statements)
    _deleted(state, results)
    state.sizes.wrote(found.expired, results[0].seconds, limited=found.filled)
    if ahead is not None:
        state.ahead = (*ahead, rule.pages.read_boundary(*ahead, results[-1].rows[0]))


def _write(state: Traversal, statements: list[Statement]) -> Generator[Step, list[Result] | None, list[Result]]:
    try:
        return (yield from ask(state, Batch(tuple(statements), writes=True, max_changes=state.rule.max_changes)))
    except HostError as error:
        if error.applied:
            # RAISE(FAIL) keeps what the statement did before it: those rows are gone, and counted.
            state.receipt.deleted += error.changes or 0
            state.deleted_now += error.changes or 0
        raise


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


def _deleted(state: Traversal, results: Sequence[Result]) -> int:
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
    dated = found.seen - found.kept.get("undated", 0) - found.kept.get("unreadable", 0)
    if state.rule.ordered and found.young:
        if state.young is None:
            state.young = state.cursor
        if state.continuing and found.filled and found.young == dated:
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


def _learn(state: Traversal, error: HostError, page: Range, found: Boundary, last: Key) -> None:
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


# --- chunk mode: the rows are seen first, then deleted by guarded lists


def _chunk_page(state: Traversal, budget: Budget, chunk: int) -> Pages:
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
        found_again(state, page, replace(_summary(page, state, rows, ()), filled=filled))
    for start in range(0, len(gone), chunk):
        part = gone[start : start + chunk]
        if start and budget.now >= budget.deadline:
            return
        chosen = [rows[i] for i in part]
        if state.rule.archive is not None:
            yield Archive(state.rule.name, state.rule.table, pages.archived, tuple(r.values for r in chosen))
        try:
            yield from _delete_rows(state, chosen)
        except HostError as error:
            if error.applied is None:
                whole = replace(_summary(page, state, rows, tenants), expired=len(gone) - start)
                _learn(state, error, page, whole, whole.last)
                return
            if part[0]:
                before = _summary(page, state, rows[: part[0]], ())
                count(state.receipt, before.seen, before.kept, ())
                # The row and not its age, of which the failed chunk may hold more rows.
                state.cursor = rows[part[0] - 1].key
            failed = _summary(page, state, rows[part[0] : part[-1] + 1], tenants)
            _learn(state, error, page, failed, rows[part[-1]].key[len(page.within) :])
            return
    found = replace(_summary(page, state, rows, tenants), filled=filled)
    count(state.receipt, found.seen, found.kept, found.tenants)
    advance(state, page, found, found.last if filled else ())


def _rows(state: Traversal, page: Range, keys: int) -> Generator[Step, list[Result] | None, tuple[list[Row], tuple[str, ...]]]:
    try:
        (result,) = yield from ask(state, Batch((state.rule.pages.rows(page, keys, state.cutoffs),)))
    except HostError as error:
        if error.kind in ("interrupted", "limit", "overloaded"):
            state.sizes.failed(keys)
        raise
    rows, tenants = state.rule.pages.read_rows(result.rows)
    state.sizes.read(len(rows), sum(r.verdict == 1 for r in rows), result.seconds, filled=len(rows) >= keys)
    return rows, tenants


def _delete_rows(state: Traversal, chosen: list[Row]) -> Pages:
    rule = state.rule
    statements = [rule.pages.delete_rows(chosen, state.cutoffs)]
    if rule.asks_changes:
        statements.append(_CHANGES)
    results = yield from _write(state, statements)
    state.receipt.changed += max(0, len(chosen) - _deleted(state, results))
    state.sizes.wrote(len(chosen), results[0].seconds, limited=True)


def _cursor(state: Traversal, page: Range, key: Key) -> Key:
    """A row's key as a cursor: between ages only the age counts."""
    return key[:1] if state.rule.pages.walk.ties and not page.within else key


def _summary(page: Range, state: Traversal, rows: list[Row], tenants: tuple[str, ...]) -> Boundary:
    """The page's rows as a boundary would have counted them."""
    verdicts = [r.verdict for r in rows]
    last = _cursor(state, page, rows[-1].key) if rows else ()
    return Boundary(
        seen=len(rows),
        expired=verdicts.count(1),
        last=last[len(page.within) :],
        young=verdicts.count(None),
        kept={r: verdicts.count(r) for r in state.rule.pages.condition.reasons},
        tenants=tenants,
        filled=True,
    )

"""A rule's traversal where children go with their parents (`children = "drain"`).

A page of the rule's rows is read with its verdicts, as in chunk mode, and the sizes of the families below are counted. As many parents as
fit one write go in one batch with all that is below them. A family that is larger goes in pages of its own: down the first keys that have
rows until a list of rows fits with its families, which is deleted in one batch behind the parent's whole condition. What is deleted does
not come again, so the way down needs no cursor: a crash costs nothing but the reads, and a parent that is rescued midway is `partial`.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import cast

from ..errors import Fenced, HostError
from ..statements.drain import FENCES, Counted, DrainSQL, Path
from ..statements.keys import Key
from ..statements.pages import Range, Row
from ..steps import Batch, Result, Statement, Step, Value
from .budget import Budget
from .checkpoint import Entry
from .deletes import BLOCKED_ROWS, ignored
from .traversal import Pages, Traversal, advance, ask, begin, count, look

__all__ = ["Drain"]

_CHANGES = Statement("SELECT changes()")

_FEWER = ("constraint", "too_many_changes", "full", "limit")
"""Failures that a smaller list may not meet."""


@dataclass(slots=True)
class Drain(Traversal):
    """A rule's state during a run.

    Attributes:
        fewer: after a batch that failed, the most rows of the next list; None where none did. fewer_below: likewise for lists of children.
        paged: the parent whose family goes in pages, and `paged_rows` of it so far; () where none does.
        insists: it does so although it would fit, because a batch of all of it failed.
        waiting: rows of the rule's table that the last deleted ones referred to, and that may go now.
        unknown: rows of a batch whose outcome is unknown.
        average: rows of a family, the parent included, as last counted.
        ending: the walk is at its end, and rows still wait.
    """

    fewer: int | None = None
    fewer_below: int | None = None
    paged: Key = ()
    paged_rows: int = 0
    insists: bool = False
    waiting: tuple[Key, ...] = ()
    unknown: tuple[Key, ...] = ()
    average: float = 1.0
    ending: bool = False

    @property
    def sql(self) -> DrainSQL:
        """The family's statements."""
        return cast("DrainSQL", self.rule.drain)

    @property
    def most(self) -> int:
        """Rows that one batch may delete now."""
        return max(1, min(self.sizes.writes, self.rule.max_writes))

    def restart(self) -> None:
        """Begin a traversal."""
        Traversal.restart(self)
        self.waiting, self.ending = (), False

    def finish(self) -> None:
        """The walk has ended; the traversal has not while rows wait that it has passed."""
        self.ending = bool(self.waiting)
        if not self.ending:
            Traversal.finish(self)

    def entry(self) -> Entry:
        """What the checkpoint keeps. A run that ends amid failures begins the next with short lists, or it might try the same for ever."""
        entry = Traversal.entry(self)
        if self.fewer is None and self.fewer_below is None:
            return entry
        return replace(entry, rows=(self.fewer or self.sizes.keys, self.fewer_below or self.sizes.writes))

    def take_page(self, budget: Budget) -> Pages:
        """One list of parents with their families, or one page of a family."""
        self.deleted_now = 0
        if not self.high:
            yield from begin(self)
            if self.done:
                return
        if self.waiting and (yield from _climb(self)):
            self.receipt.pages += 1
        elif self.ending:
            self.finish()
        else:
            yield from _walk(self)


Passed = Generator[Step, list[Result] | None, int]
"""Answers how many leading rows of a list are done: gone, or kept for this traversal."""


def _climb(state: Drain) -> Generator[Step, list[Result] | None, bool]:
    """Take the rows that waited for others of their table, whether the walk has passed them or not. False where none may go."""
    tried, rest = state.waiting[: state.most], state.waiting[state.most :]
    (result,) = yield from ask(state, Batch((state.sql.verdicts(tried, state.cutoffs),)))
    verdicts = state.sql.read_verdicts(result.rows)
    _settle(state, verdicts, tried)
    ready = tuple(row for row in tried if verdicts.get(row) == 1)
    state.waiting = ready + rest
    if not ready:
        return False
    passed = yield from _take(state, ready)
    # The rows that the list referred to stand behind it by now.
    state.waiting = state.waiting[passed:]
    return True


def _walk(state: Drain) -> Pages:
    """Read a page of the rule's table and take what is expired."""
    page, keys = state.next_range(), 1 if state.paged else state.sizes.keys
    result = yield from look(state, state.rule.pages.rows(page, keys, state.cutoffs), keys)
    rows, tenants = state.rule.pages.read_rows(result.rows)
    filled = len(rows) >= keys
    _settle(state, {row.identity: row.verdict for row in rows}, (state.paged, *state.unknown))
    expired = [place for place, row in enumerate(rows) if row.verdict == 1]
    handled = rows
    if expired:
        passed = yield from _take(state, [rows[place].identity for place in expired])
        handled = rows if passed == len(expired) else rows[: expired[passed]]
    if keys > 1:
        state.sizes.read(len(rows), int(len(expired) * state.average), result.seconds, filled=filled)
    if not handled and rows:
        state.receipt.pages += 1
        return
    _move(state, page, handled, tenants, filled or len(handled) < len(rows))
    if state.receipt.blocked >= BLOCKED_ROWS:
        raise HostError(f"{BLOCKED_ROWS} {state.receipt.error}", "constraint")


def _move(state: Drain, page: Range, rows: list[Row], tenants: Sequence[str], filled: bool) -> None:
    """Rows of a page are done: count them, and move the cursor behind the last."""
    upto = rows[-1].key[len(page.within) :] if rows and filled else ()
    found = state.rule.pages.counted(rows, upto, tenants, filled=filled)
    count(state.receipt, found.seen, found.kept, found.tenants)
    advance(state, page, found, upto)


def _settle(state: Drain, verdicts: dict[Key, Value], asked: Sequence[Key]) -> None:
    """What was begun or left unknown, as it stands now: the verdicts of the rows that were asked about and are there."""
    if state.paged and state.paged in asked and verdicts.get(state.paged) != 1:
        _left(state, kept=state.paged in verdicts)
    if state.unknown and state.unknown[0] in asked:
        vanished = sum(row not in verdicts for row in state.unknown)
        state.receipt.unconfirmed += vanished
        state.deleted_now += vanished
        state.unknown = ()


def _left(state: Drain, *, kept: bool = False) -> None:
    """The parent whose family went in pages is gone, or stays."""
    if kept and state.paged_rows:
        state.receipt.partial += 1
    state.paged, state.paged_rows, state.insists = (), 0, False


# --- lists of the rule's rows


def _take(state: Drain, rows: Sequence[Key]) -> Passed:
    """Delete leading rows of a list with their families, or a page of the first one's family."""
    most = state.most
    listed = rows[: min(most, state.fewer or most)]
    counted = yield from _sizes(state, (), listed, most)
    fit = counted.fitting(most)
    if fit == 0 or (state.insists and counted.first):
        yield from _page(state, listed[0], counted)
        return 0 if state.paged else 1
    listed, load = listed[:fit], sum(counted.totals[:fit])
    state.average = load / fit
    try:
        gone = yield from _delete(state, (), (), listed, load, limited=fit < len(rows))
    except HostError as error:
        return 1 if _refused(state, error, listed, load, counted) else 0
    ignored(state, fit - gone)
    if state.paged == listed[0]:
        _left(state)
    return fit


def _sizes(state: Drain, path: Path, rows: Sequence[Key], most: int) -> Generator[Step, list[Result] | None, Counted]:
    if not state.sql.node(path).edges:
        return Counted((1,) * len(rows))
    (result,) = yield from ask(state, Batch((state.sql.sizes(path, rows, most),)))
    return state.sql.read_sizes(path, len(rows), most, result.rows[0])


def _refused(state: Drain, error: HostError, listed: Sequence[Key], load: int, counted: Counted) -> bool:
    """A batch failed. True: its only row is kept and passed. False: the list is to be tried again, smaller or in another way."""
    receipt = state.receipt
    alone = len(listed) == 1
    if isinstance(error, Fenced):
        if error.name not in FENCES:
            raise error
        if not alone:
            state.fewer = len(listed) // 2
            return False
        if error.name == "grown":
            return False
        kept = "referenced" if error.name == "referenced" else "changed"
        setattr(receipt, kept, getattr(receipt, kept) + 1)
    elif error.kind in _FEWER and not alone:
        if error.kind != "constraint":
            state.sizes.failed(load)
        state.fewer = len(listed) // 2
        return False
    elif error.kind in ("constraint", "too_many_changes"):
        if counted.first and not state.insists and (error.kind == "too_many_changes" or state.sql.loops):
            # All at once it cannot go, but perhaps in pages: RESTRICT among siblings, triggers that change much. A run that ends here
            # makes the next one go in pages by the size that it stores.
            state.sizes.failed(load)
            state.paged, state.insists = listed[0], True
            return False
        _blocked(state, error)
    else:
        _failed(state, error, load, listed)
    if state.paged == listed[0]:
        _left(state, kept=True)
    return True


def _blocked(state: Drain, error: HostError) -> None:
    receipt = state.receipt
    if error.kind == "too_many_changes":
        receipt.too_large += 1
        return
    receipt.blocked += 1
    receipt.error = receipt.error or f"rows of {state.rule.table} cannot be deleted: {error}"


def _failed(state: Drain, error: HostError, load: int, listed: Sequence[Key]) -> None:
    """Raise what ends the page."""
    if error.kind in ("interrupted", "overloaded"):
        state.sizes.failed(load)
    elif error.applied is None:
        state.unknown = tuple(listed)
        state.deleted_now += load
    raise error


# --- a family in pages


def _page(state: Drain, parent: Key, counted: Counted) -> Pages:
    """Delete one page of a family that is too large for one batch. Where it can go no further, the parent is left (`paged` is ())."""
    if state.paged != parent:
        _left(state)
        state.paged = parent
    sql, most, chain = state.sql, state.most, [parent]
    path: Path = ()
    while True:
        path, rows = yield from _next_rows(state, path, chain[-1], counted.first if sql.loops else counted.first[:1])
        if not rows:
            if sql.loops:
                # Too many rows that refer to each other in a circle, or to which rows outside the family refer.
                state.receipt.referenced += 1
                _left(state, kept=True)
            return
        counted = yield from _sizes(state, path, rows, most)
        fit = counted.fitting(most)
        if fit:
            break
        chain.append(rows[0])
    rows, load = rows[:fit], sum(counted.totals[:fit])
    try:
        gone = yield from _delete(state, path, chain, rows, load, limited=True)
    except HostError as error:
        _refused_below(state, error, rows, load)
        return
    if not gone:
        error = HostError(f"a trigger of {sql.node(path).table} keeps its rows", "constraint")
        _blocked(state, error)
        _left(state, kept=True)


def _next_rows(state: Drain, path: Path, parent: Key, edges: Sequence[int]) -> Generator[Step, list[Result] | None, tuple[Path, list[Key]]]:
    """The first rows below a row, and where they stand."""
    most = min(state.most, state.fewer_below or state.most)
    below = path
    for edge in edges:
        below = (*path, edge)
        (result,) = yield from ask(state, Batch((state.sql.children(below, parent, most),)))
        if result.rows:
            return below, [state.sql.read_key(row) for row in result.rows]
    return below, []


def _refused_below(state: Drain, error: HostError, rows: Sequence[Key], load: int) -> None:
    """A page of a family failed."""
    if isinstance(error, Fenced):
        if error.name not in FENCES:
            raise error
        if len(rows) > 1:
            state.fewer_below = len(rows) // 2
        elif error.name == "referenced":
            state.receipt.referenced += 1
            _left(state, kept=True)
    elif error.kind in _FEWER and len(rows) > 1:
        if error.kind != "constraint":
            state.sizes.failed(load)
        state.fewer_below = len(rows) // 2
    elif error.kind in ("constraint", "too_many_changes"):
        _blocked(state, error)
        _left(state, kept=True)
    else:
        _failed(state, error, load, ())


# --- the batch


def _delete(state: Drain, path: Path, chain: Sequence[Key], rows: Sequence[Key], load: int, *, limited: bool) -> Passed:
    """Delete listed rows and their families in one batch. Returns how many of the listed rows themselves went."""
    rule, sql, receipt = state.rule, state.sql, state.receipt
    before, climb = sql.before(path), [] if path else sql.climb(rows)
    counts, deletes, left = sql.counts(path, rows), sql.deletes(path, rows), sql.left(path, rows)
    asked = [_CHANGES] if rule.asks_changes else []
    statements = [*before, sql.fence(path, chain, rows, state.most, state.cutoffs), *climb]
    head = len(statements)
    statements += [statement for _, statement in counts]
    for _, statement in deletes:
        statements += [statement, *asked]
    results = yield from ask(state, Batch((*statements, *left), writes=True, max_changes=rule.max_changes))
    answers = iter(results[head:])
    gone = {table: _number(next(answers)) for table, _ in counts}
    named: dict[str, int] = {}
    for table, _ in deletes:
        result = next(answers)
        changes = _number(next(answers)) if asked else (result.changes or 0)
        named[table] = named.get(table, 0) + changes
        _side(state, result, changes)
    own = deletes[-1][0]
    if left:
        gone[own] = len(rows) - _number(next(answers))
    for table, changes in named.items():
        changed = max(changes, gone.get(table, 0))
        state.deleted_now += changed
        receipt.side_changes -= min(changed - changes, receipt.side_changes)
        if table == own and not path:
            receipt.deleted += changed
        elif changed:
            receipt.drained[table] = receipt.drained.get(table, 0) + changed
    if path:
        state.paged_rows += state.deleted_now
    listed = set(rows)
    up = dict.fromkeys(sql.read_key(row) for result in results[head - len(climb) : head] for row in result.rows)
    state.waiting += tuple(row for row in up if row not in listed and row not in state.waiting)
    state.sizes.wrote(load, results[0].seconds, limited=limited)
    if path:
        state.fewer_below = _more(state.fewer_below, state.most)
    else:
        state.fewer = _more(state.fewer, state.most)
    return max(named[own], gone.get(own, 0))


def _more(fewer: int | None, most: int) -> int | None:
    """A list went: the next may be twice as long."""
    return None if fewer is None or fewer * 2 >= most else fewer * 2


def _number(result: Result) -> int:
    return int(result.rows[0][0] or 0)  # type: ignore[arg-type]


def _side(state: Drain, result: Result, changes: int) -> None:
    """What a delete changed beyond its own rows."""
    receipt = state.receipt
    if result.total_changes is not None:
        receipt.side_changes += max(0, result.total_changes - changes)
    for table, rows in (result.cascaded or {}).items():
        receipt.cascaded = receipt.cascaded or {}
        receipt.cascaded[table] = receipt.cascaded.get(table, 0) + rows

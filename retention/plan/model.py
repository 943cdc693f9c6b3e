"""A policy compiled against a schema: for each rule the statements, how they are bound, and what they cost at worst."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from ..capabilities import Capabilities
from ..statements.condition import Cutoff, Shape
from ..statements.drain import DrainSQL
from ..statements.keys import Key
from ..statements.pages import PageSQL, Range
from ..steps import Statement, Value

__all__ = ["FurtherPlan", "Plan", "QueryPlan", "RulePlan"]


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """A statement and what the database says of it (EXPLAIN QUERY PLAN), one line a node, indented by depth."""

    label: str
    sql: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RulePlan:
    """One enabled rule, compiled.

    Attributes:
        name, table: the rule's and the table's names.
        shape: what decides which rows go.
        pages: its statements.
        why_walk: why this walk was chosen.
        advice: what to write so that kept rows are no longer read: a CREATE INDEX, or `ordered = true`; None where nothing helps.
        end: the exclusive end of a walk by age, as a cutoff in the form in which the index holds ages; None for other walks.
        chunk: rows in one delete of chunk mode; None in range mode.
        certain: every row that the walk meets goes, so that a page is one delete. On a file, where no answer is lost.
        drain: the family below the rule's table, where its children go with their parents; else None.
        archive: where rows go before they are deleted; None for nowhere.
        ordered: the age never falls along the key.
        revisit_ms: how often an ordered rule still makes a whole traversal.
        max_keys: rows read by one page. max_writes: rows removed by one delete. max_pages: pages in one run.
        target: aim for one write, s. patience: a write of few rows may take so long, s.
        max_changes: a write that changes more rows, cascades included, is rolled back; None where nothing cascades.
        child_keys: foreign keys that refer to the table.
        asks_changes: `SELECT changes()` must follow a delete.
        looks_ahead: the next page's boundary travels with a delete.
        digest: of the rule; a change restarts it.
        reads: tables whose change can make more rows of this rule go.
        feeds: tables that this rule's deletes change. alters: those in which they may change or make rows.
        refilled: deleting makes triggers insert into the rule's own table, at once or over the tables of other rules.
        recounts: a delete may leave rows without an error, or take more of the table's own than it was to: what is left is counted.
        called: the names, in lower case, by which subqueries of the condition call the rule's own table.
        plans: the query plans that the gate has seen.
        notes: what a person should know.
    """

    section: ClassVar[str] = "tables"
    """The key of the checkpoint under which its entries stand."""

    name: str
    table: str
    shape: Shape
    pages: PageSQL
    why_walk: str
    advice: str | None = None
    end: Cutoff | None = None
    chunk: int | None = None
    certain: bool = False
    drain: DrainSQL | None = None
    archive: str | None = None
    ordered: bool = False
    revisit_ms: int = 0
    max_keys: int = 50_000
    max_writes: int = 10_000
    max_pages: int | None = None
    target: float = 0.025
    patience: float = 0.025
    max_changes: int | None = None
    child_keys: int = 0
    asks_changes: bool = False
    looks_ahead: bool = False
    delete_cost: int = 1
    digest: str = ""
    reads: frozenset[str] = frozenset()
    feeds: frozenset[str] = frozenset()
    alters: frozenset[str] = frozenset()
    refilled: bool = False
    recounts: bool = False
    called: frozenset[str] = frozenset()
    plans: tuple[QueryPlan, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def never(self) -> bool:
        """No row ever goes: the rule only says so."""
        return self.shape.newest_keep_ms is None

    @property
    def settles(self) -> bool:
        """A run repeats it until nothing that it reads has changed since its traversal began."""
        return not self.never

    @property
    def walk(self) -> str:
        """The walk's name in checkpoint and receipt: `rowid`, `primary_key`, `index:NAME`."""
        walk = self.pages.walk
        return f"index:{walk.index}" if walk.kind == "index" else walk.kind

    @property
    def first_cost(self) -> int:
        """Statements that begin a traversal, beside its first page."""
        if self.certain:
            return 1 if self.max_pages is None else 0
        return 0 if self.pages.walk.by_age else 1

    @property
    def page_cost(self) -> int:
        """Statements of one page at worst."""
        if self.drain is not None:
            # The rows, or the ones that waited and then the rows; their families' sizes; the way down to what fits.
            return 2 + bool(self.drain.climbs) + self.drain.descent + self.delete_cost
        if self.chunk is not None:
            return 1 + -(-self.max_keys // self.chunk) * (self.delete_cost + self.recounts)
        if self.certain:
            return self.delete_cost
        # The boundary, once more where it holds more than one write may take, the delete, and the next page's boundary with it.
        return 2 + self.delete_cost + (1 if self.looks_ahead else 0) + self.recounts

    def cutoffs(self, now_ms: int) -> tuple[Value, ...]:
        """What the condition's parameters are bound to in a run at `now_ms`."""
        return self.pages.condition.bound(now_ms)

    def end_key(self, now_ms: int) -> Key:
        """The exclusive end of a walk by age, () for other walks."""
        if self.end is None:
            return ()
        bound = self.end.value(now_ms)
        return (int(bound),) if isinstance(bound, str) and self.end.format is not None and self.end.format.order == "number" else (bound,)


@dataclass(frozen=True, slots=True)
class FurtherPlan(RulePlan):
    """Something beside the rules that visits a table in pages and takes turns with them: a sweep, a closure.

    Attributes:
        warnings: what a person should know before each run.
        aliases: of common tables of its own statements, which are small and may be scanned.
    """

    warnings: tuple[str, ...] = ()
    aliases: frozenset[str] = frozenset()

    @property
    def never(self) -> bool:
        """What has no keep of a rule's kind always has a look."""
        return False

    @property
    def most(self) -> int | None:
        """Rows that one run deals with at most; None where only its limits bound them."""
        return None

    def guard(self, now_ms: int) -> Statement | None:
        """A bounded read by which all of it may be refused; None where there is none."""
        return None

    def objection(self, row: Sequence[Value]) -> str | None:
        """Why it is refused, by the row that `guard` read; None where it is not."""
        return None

    def recount(self, page: Range, now_ms: int) -> Statement | None:
        """Counts what goes of a page, where more decides about that than the page's own counts tell; else None."""
        return None

    def samples(self, now_ms: int) -> list[tuple[str, Statement]]:
        """Its statements as they will run, with keys that only stand for others; none may scan."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Plan:
    """All enabled rules of a policy on one database.

    Attributes:
        capabilities: of the host that it was made for.
        fingerprint: of the schema that it was made for.
        rules: in the policy's order.
        further: what takes turns with them, in the order of the policy.
        statements: what planning itself sent.
        warnings: what a person should know.
    """

    capabilities: Capabilities
    fingerprint: str
    rules: tuple[RulePlan, ...]
    statements: int = 0
    warnings: tuple[str, ...] = field(default=())
    further: tuple[FurtherPlan, ...] = ()

    @property
    def ceiling(self) -> int | None:
        """Statements of the rules at worst, planning not included; None where nothing bounds them."""
        total = 0
        for rule in (*self.rules, *self.further):
            if rule.never:
                continue
            if rule.max_pages is None:
                return None
            total += rule.first_cost + rule.max_pages * rule.page_cost
        return total

    @property
    def smallest(self) -> int:
        """Statements of the dearest single page: a limit below it can make no progress."""
        return max((r.first_cost + r.page_cost for r in (*self.rules, *self.further) if not r.never), default=0)

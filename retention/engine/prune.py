"""The pruner: rules, and what else visits tables in pages, in rotation, a page each, under one budget.

One save before the first page of a run, then one after each page. Admission comes before the save: the saved `next` passes a rule only if
its page is really run, so that a rule which fails or crashes loses its turn and never the others theirs. A page that a save has announced
is run even if the save used up the deadline.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import Fenced, HostError, Refused
from ..plan.model import Plan, RulePlan
from ..statements.ages import utc
from ..steps import Result, Save, Step
from .budget import Budget, Why
from .certain_pages import CertainTraversal
from .checkpoint import Checkpoint, Entry, Identities
from .chunk_pages import ChunkTraversal
from .drain import Drain
from .range_pages import RangeTraversal
from .receipt import Outcome, RuleReceipt
from .staying import blocked_earlier, too_large
from .traversal import Traversal

__all__ = ["Further", "Pass", "Pruner", "because", "instant"]

Further = tuple[RulePlan, Callable[[Entry | None], Traversal]]
"""Something beside the rules that takes turns with them: its plan, and how it starts from its entry of the checkpoint."""

_FATAL: dict[str, tuple[Outcome, Why]] = {
    "busy": ("busy", "locked"),
    "quota": ("busy", "quota"),
    "overloaded": ("busy", "overloaded"),
    "interrupted": ("more", "deadline"),
    "corrupt": ("failed", "error"),
    "full": ("failed", "error"),
    "readonly": ("failed", "error"),
    "denied": ("failed", "error"),
}
"""Errors that concern the database and not a rule: the run ends."""

_SPENT: tuple[Why, ...] = ("deadline", "statements", "rows_read", "rows_written")
"""Why a run of limited means ends with rules that wait for their turn. Those may have ended their traversals in earlier runs."""


def because(error: HostError) -> Why:
    """Why a run ends that an error ended."""
    return "lease" if isinstance(error, Fenced) else _FATAL.get(error.kind, ("failed", "error"))[1]


_LOST_REPLIES = 3
"""So many lost replies in a row end the run: the network is down, and each costs a timeout."""


@dataclass(slots=True)
class Pass:
    """How one pass over the rules ended. `limit`: what ended it before all of its work was done, where `why` says something graver."""

    outcome: Outcome
    why: Why
    deleted: int = 0
    message: str | None = None
    limit: Why | None = None


def _kind(rule: RulePlan) -> type[Traversal]:
    if rule.drain is not None:
        return Drain
    if rule.certain:
        return CertainTraversal
    return RangeTraversal if rule.chunk is None else ChunkTraversal


def _over(state: Traversal) -> bool:
    """Whether a round may end, as far as this rule goes: nothing that it met in the round waits for a person."""
    return state.settled and not state.receipt.error and not state.blocked_before


def _too_large(state: Traversal, ending: Pass) -> int:
    """Rows that are too large alone, if this run met some, or ended what met them: the traversal or the round."""
    met = state.met_too_large if state.receipt.too_large else 0
    return max(met, state.too_large_last if state.done or ending.outcome == "done" else 0)


def _named(error: HostError, state: Traversal) -> str:
    """The error, with the tables behind the rule's triggers where one of them must be at fault."""
    others = ", ".join(sorted(state.rule.feeds - {state.rule.table}))
    return f"{error} (triggers of {state.rule.table} write to {others})" if error.kind == "index" and others else str(error)


def instant(ms: int) -> str:
    """`2026-09-09T14:00:00Z`, with a fraction only where there is one."""
    at = utc(ms)
    return at.strftime("%Y-%m-%dT%H:%M:%S") + (f".{ms % 1000:03d}Z" if ms % 1000 else "Z")


@dataclass(slots=True)
class Pruner:
    """A run's state over its passes: `run_pass` is the engine, called once for a run, again and again for `--until-done`.

    Attributes:
        plan, now_ms, budget: what runs, by which clock, with which means.
        document: the checkpoint as the host stored it.
        receipts: one a rule, over all passes.
        warnings: what a person should know.
        further: what takes turns with the rules, behind them.
        turn_key: where the checkpoint keeps whose turn it is (see `Checkpoint`).
        rounds: a rule that ended its traversal in an earlier run counts as finished. Not where one call is to do all of it.
        remarks: what a person should know of what the latest pass left.
    """

    plan: Plan
    now_ms: int
    budget: Budget
    document: Any
    receipts: list[RuleReceipt] = field(default_factory=list[RuleReceipt])
    warnings: list[str] = field(default_factory=list[str])
    further: Sequence[Further] = ()
    turn_key: str = "next"
    rounds: bool = False
    remarks: list[str] = field(default_factory=list[str])
    _rules: list[Traversal] = field(default_factory=list[Traversal])
    _checkpoint: Checkpoint = field(default_factory=Checkpoint)
    _refusals: dict[int, Refused] = field(default_factory=dict[int, Refused])
    _turn: int = 0

    def __post_init__(self) -> None:
        self._checkpoint = Checkpoint.read(self.document, self._identities(), self.turn_key)
        self.warnings += [*self.plan.warnings, *self._checkpoint.warnings]
        self._turn = self._checkpoint.turn
        entries = self._checkpoint.entries
        for rule in self.plan.rules:
            keep = rule.shape.keep_ms
            receipt = RuleReceipt(
                rule=rule.name,
                table=rule.table,
                cutoff=None if keep is None or rule.shape.age is None else instant(max(0, self.now_ms - keep)),
                walk=rule.pages.walk.kind,
                mode="range" if rule.chunk is None else "chunk",
            )
            self.receipts.append(receipt)
            state = _kind(rule).start(rule, entries.get(rule.section, {}).get(rule.name), receipt, self.now_ms)
            if rule.never:
                state.done = receipt.finished = True
            self._rules.append(state)
        self._rules += [start(entries.get(rule.section, {}).get(rule.name)) for rule, start in self.further]

    def _identities(self) -> dict[str, Identities]:
        known: dict[str, Identities] = {RulePlan.section: {}}
        for rule in (*self.plan.rules, *(rule for rule, _ in self.further)):
            known.setdefault(rule.section, {})[rule.name] = (rule.walk, rule.digest)
        return known

    def run_pass(self) -> Generator[Step, list[Result] | None, Pass]:
        """One pass: each rule that is not done makes at most one traversal. Yields steps; returns how it ended."""
        before = sum(s.receipt.gone for s in self._rules)
        failed: set[int] = set()
        capped: set[int] = set()
        for state in self._rules:
            state.pages = 0
            if not state.done and not state.receipt.blocked:
                state.receipt.error = None
            if state.done and state.stale and not state.endless:
                state.restart()
        ending = yield from self._rotate(failed, capped)
        ending.deleted = sum(s.receipt.gone for s in self._rules) - before
        self.remarks = [too_large(s, rows) for s in self._rules if (rows := _too_large(s, ending))]
        return ending

    def _rotate(self, failed: set[int], capped: set[int]) -> Generator[Step, list[Result] | None, Pass]:
        lost = 0
        refusal = self._next_turn(failed, capped)
        if refusal == "deadline":
            # A deadline that planning alone uses up would else never let a page through, however often the host calls.
            refusal = None
        if not isinstance(refusal, Pass):
            yield self._save(self._turn, refusal, failed, capped)
        while not isinstance(refusal, Pass):
            if refusal is not None:
                return self._limited(refusal, failed)
            turn, state = self._turn, self._rules[self._turn]
            state.pages += 1
            state.sizes.beside(self.budget.aim, state.rule.target, state.rule.patience)
            fatal: Pass | None = None
            try:
                yield from state.take_page(self.budget)
                lost = 0
            except HostError as error:
                if error.applied is None and lost < _LOST_REPLIES:
                    lost += 1
                elif isinstance(error, Fenced):
                    fatal = Pass("busy", "lease", message="another caller holds the lease; nothing more was deleted")
                elif error.kind in _FATAL or error.retryable:
                    outcome, why = _FATAL.get(error.kind, ("busy", "error"))
                    fatal = Pass(outcome, why, message=str(error))
                    if outcome == "failed":
                        state.receipt.error = state.receipt.error or str(error)
                else:
                    state.receipt.error = state.receipt.error or _named(error, state)
                    failed.add(turn)
            except Refused as error:
                state.receipt.error = str(error)
                self._refusals[turn] = error
                failed.add(turn)
            self._recall(state)
            self._spread(state)
            if state.capped:
                capped.add(turn)
            self._turn = self._following(turn, failed, capped)
            refusal = fatal or self._next_turn(failed, capped)
            admitted = None if isinstance(refusal, Pass) else refusal
            yield self._save(self._turn, admitted if not isinstance(refusal, Pass) else "finished", failed, capped)
        return refusal

    def _save(self, turn: int, refusal: Why | None, failed: set[int], capped: set[int]) -> Save:
        """The document: `next` is the rule behind the admitted page's, or the rule whose turn it is."""
        following = self._following(turn, failed, capped) if refusal is None else turn
        for state in self._rules:
            self._checkpoint.entries.setdefault(state.rule.section, {})[state.rule.name] = state.entry()
        self.document = self._checkpoint.document(following, self._identities())
        return Save(self.document)

    def _next_turn(self, failed: set[int], capped: set[int]) -> Pass | Why | None:
        """How the pass ended, or why the next page is not admitted, or None where it is."""
        waiting = [i for i, s in enumerate(self._rules) if not s.done and i not in failed and i not in capped]
        if not waiting:
            return self._ended(failed, capped)
        if self._turn not in waiting:
            self._turn = next(i for i in self._ring(self._turn) if i in waiting)
        why = self.budget.refuses(self._rules[self._turn].cost)
        return self._done() if why in _SPENT and self._round_is_over() else why

    def _ended(self, failed: set[int], capped: set[int]) -> Pass:
        errors = failed | {i for i, s in enumerate(self._rules) if s.receipt.error}
        if errors and errors <= self._refusals.keys():
            refusal = self._refusals[min(errors)]
            return Pass("refused", refusal.why, message=str(refusal))
        if errors:
            return Pass("failed", "error")
        if capped and not self._round_is_over():
            return Pass("more", "pages")
        return Pass("more", "finished") if any(s.stale for s in self._rules) else self._done()

    def _round_is_over(self) -> bool:
        """Whether every rule has ended a traversal, in this run or an earlier one, since a run last ended `done`."""
        looked = any(s.pages for s in self._rules)
        return self.rounds and looked and all(s.rule.never or _over(s) for s in self._rules)

    def _done(self) -> Pass:
        for state in self._rules:
            state.settled, state.carried = False, bool(state.high)
        return Pass("done", "finished")

    def _limited(self, why: Why, failed: set[int]) -> Pass:
        """A limit ended the pass. What failed before it is not hidden by that, or it would stay unseen while limits end each run."""
        ended = self._ended(failed, set())
        return replace(ended, limit=why) if ended.outcome in ("failed", "refused") else Pass("more", why)

    def _following(self, turn: int, failed: set[int], capped: set[int]) -> int:
        """The next rule in rotation that has work left; `turn` itself where it is the only one."""
        out = failed | capped | {i for i, s in enumerate(self._rules) if s.done}
        return next((i for i in self._ring(turn) if i not in out), (turn + 1) % len(self._rules))

    def _ring(self, turn: int) -> Iterator[int]:
        count = len(self._rules)
        return (i % count for i in range(turn + 1, turn + count + 1))

    def _recall(self, state: Traversal) -> None:
        """The traversal has ended: rows that earlier runs of it could not let go are not forgotten. One call for all of it looks again."""
        if not state.done or not state.blocked_before:
            return
        state.settled = False
        if self.rounds:
            state.receipt.error = state.receipt.error or blocked_earlier(state)
        else:
            state.stale = True

    def _spread(self, state: Traversal) -> None:
        """Rows went: rules that read a table which changed must traverse again before the run is done."""
        if not state.deleted_now:
            return
        for other in self._rules:
            if (other.rule.reads & state.rule.feeds or other.rule.table in state.rule.alters) and other.rule.settles:
                other.stale, other.settled = True, False

"""Guarded migrations: each step is done only where the schema lacks it, one batch a step, and never more than the step says.

Everything is looked at before anything is written: the schema as it is and, for later steps, as the earlier ones will leave it; the rows
that an index must read; duplicates; what SQLite itself says of each statement. A step that cannot be done refuses the whole call.

No step stands in a log of what has run: the schema is the state. So a crash between two statements, or another runner beside this one,
leaves nothing that the next look does not see. A statement that fails because somebody else was faster is found done.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ..capabilities import Capabilities
from ..engine.budget import Budget, Why
from ..engine.prune import Pruner
from ..engine.receipt import MigrationReceipt, Outcome, RuleReceipt
from ..errors import HostError, PolicyError, Refused
from ..plan.model import Plan
from ..policy.migration_models import MakeIndex, Migration
from ..policy.models import Policy
from ..schema.model import Schema
from ..schema.reader import read
from ..schema.tokens import tokens
from ..statements.quoting import name
from ..steps import Batch, Engine, Result, Statement, Step, Value
from .migrate_fill import check_fill, fill_plan, filled, start_fill
from .migrate_steps import Finding, applied, duplicates_statement, inspect, probe, statements

__all__ = ["Ended", "Migrations"]

LOOK_COST = 3
"""Statements that a step takes at most before it is done: what SQLite says of it, the rows of its table, its duplicates (of a column:
what SQLite says of a table made with it)."""

STEP_COST = 2 * 4
"""Statements around a step's batch at most, where it must be tried twice: the schema, the rows, the duplicates, the schema once more."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a call ended."""

    outcome: Outcome
    why: Why
    message: str | None = None


@dataclass(slots=True)
class Migrations:
    """A call's state. `run` is the engine.

    Attributes:
        policy: its `migrations`, limits and foreign keys.
        host: what the database's host can do.
        budget, now_ms: as for the pruner.
        document: the checkpoint as it was stored.
        dry_run: look only.
        allow_long: statements that read more than `limits.index_rows` rows may be sent; no deadline stops them.
        receipts: one a step.
        warnings: what a person should know.
    """

    policy: Policy
    host: Capabilities
    budget: Budget
    now_ms: int
    document: Any = None
    dry_run: bool = False
    allow_long: bool = False
    receipts: list[MigrationReceipt] = field(default_factory=list[MigrationReceipt])
    warnings: list[str] = field(default_factory=list[str])

    def run(self) -> Engine[Ended]:
        """Look at everything, then do what is missing, in order.

        Raises:
            HostError: from the database; what was done before stands, and the next call goes on from there.
        """
        steps = self.policy.migrations
        self.receipts += [MigrationReceipt(step.name, step.table, _does(step)) for step in steps]
        needed = self.budget.used + 1 + LOOK_COST * len(steps)
        if needed > self.budget.statements:
            raise Refused(f"a limit of {self.budget.statements:.0f} statements is too small: to look takes up to {needed}", "policy")
        refusals = yield from self._look((yield from read(self.host)))
        if refusals:
            return Ended("refused", *refusals[0])
        if self.dry_run:
            return self._ended()
        for step, receipt in zip(steps, self.receipts, strict=True):
            stopped = None if receipt.finished else (yield from self._do(step, receipt))
            if stopped is not None:
                return stopped
        return self._ended()

    def _ended(self) -> Ended:
        plain = next((receipt for receipt in self.receipts if receipt.state == "plain"), None)
        if plain is not None:
            return Ended("more", "guard", f'migration "{plain.migration}": {plain.note}')
        return Ended("done" if all(receipt.finished for receipt in self.receipts) else "more", "finished")

    # --- looking

    def _look(self, schema: Schema) -> Generator[Step, list[Result] | None, list[tuple[Why, str]]]:
        """Compare each step with the schema as the earlier ones will leave it. Returns why steps cannot be done."""
        later, refusals = schema, list[tuple[Why, str]]()
        for place, (step, receipt) in enumerate(zip(self.policy.migrations, self.receipts, strict=True)):
            try:
                found = inspect(step, later, self.policy.migrations[place + 1 :])
                if found.state == "differs":
                    raise Refused(found.why, "schema")
                if found.state == "there":
                    receipt.state, receipt.finished, receipt.note = "there", True, found.why or None
                yield from self._foresee(step, receipt, found, schema, later)
            except (PolicyError, Refused) as error:
                receipt.state, receipt.finished = "refused", False
                receipt.error = str(error).removeprefix(f'migration "{step.name}": ').removesuffix(".")
                refusals.append((error.why if isinstance(error, Refused) else "policy", f'migration "{step.name}": {receipt.error}.'))
            else:
                later = applied(step, later)
        return refusals

    def _foresee(
        self, step: Migration, receipt: MigrationReceipt, found: Finding, schema: Schema, later: Schema
    ) -> Generator[Step, list[Result] | None, None]:
        """What can be known of a step before it is done. Raises PolicyError or Refused where it cannot be."""
        table = later.table(step.table)
        if step.fill is not None and table is not None:
            check_fill(step, step.fill, later, table)
            plan = fill_plan(step, step.fill, self.policy, table, self.host)
            if filled(plan, self.document):
                receipt.state, receipt.finished = "there", True
            else:
                receipt.sql = (plan.summary,)
            return
        if receipt.finished:
            return
        receipt.sql = statements(step, found)
        # Statements about what earlier steps will have made cannot be compiled yet.
        if step.create is not None or (table is not None and table == schema.table(step.table)):
            yield from self._compiled(receipt.sql[-1:] if found.state == "missing" else ())
            if step.add is not None and table is not None:
                yield from self._compiled((probe(step.add, table),), receipt.sql[-1])
            if step.index is not None or _reads_rows(step):
                yield from self._weigh(step, receipt)
            if found.state == "plain" and receipt.duplicates:
                receipt.state, receipt.sql = "plain", ()

    def _compiled(self, sql: Sequence[str], of: str | None = None) -> Generator[Step, list[Result] | None, None]:
        """Have statements compiled that stand for themselves, or for `of`. Raises Refused."""
        for text in sql:
            try:
                yield Batch((Statement(f"EXPLAIN {text}"),))
            except HostError as error:
                if error.retryable or error.kind in ("network", "denied", "corrupt"):
                    raise
                raise Refused(f"SQLite refuses {of or text}: {error}", "schema") from error

    def _weigh(self, step: Migration, receipt: MigrationReceipt) -> Generator[Step, list[Result] | None, None]:
        """Count the rows that a statement must read, and the duplicates in an index's way."""
        most = self.policy.limits.index_rows
        receipt.rows = int((yield from _one(f"SELECT count(*) FROM (SELECT 1 FROM {name(step.table)} LIMIT {most + 1:d})")) or 0)  # type: ignore[arg-type]
        if receipt.rows > most and not self.allow_long:
            raise Refused(
                f"{step.table} has more than {most:,} rows, which one statement would read while it holds the write lock; "
                "choose a quiet hour and allow it with --allow-long, or raise index_rows in [limits]",
                "guard",
            )
        if step.index is not None and step.index.unique:
            yield from self._find_duplicates(step, step.index, receipt)

    def _find_duplicates(self, step: Migration, index: MakeIndex, receipt: MigrationReceipt) -> Generator[Step, list[Result] | None, None]:
        try:
            results = yield Batch((Statement(duplicates_statement(step.table, index)),))
        except HostError as error:
            if error.kind != "error":
                raise
            raise Refused(
                f"{index.name} cannot be made over the rows that are there ({error}); correct them, or the index", "schema"
            ) from error
        found = results[0].rows if results else ()
        receipt.duplicates = [{"key": [str(part) for part in row[:-1]], "rows": int(str(row[-1]))} for row in found]
        receipt.note = None
        if not receipt.duplicates:
            return
        first = receipt.duplicates[0]
        receipt.note = f"{first['rows']} rows of {step.table} have ({', '.join(index.on)}) = ({', '.join(first['key'])})" + (
            f" and {len(receipt.duplicates) - 1} more keys are not unique" if len(receipt.duplicates) > 1 else ""
        )
        if index.duplicates == "refuse":
            raise Refused(f'{receipt.note}; make them unique, or allow a plain index with duplicates = "plain"', "schema")
        receipt.note += f"; {index.name} is a plain index until they are gone, and the next call makes it unique"

    # --- doing

    def _do(self, step: Migration, receipt: MigrationReceipt) -> Generator[Step, list[Result] | None, Ended | None]:
        refusal = self.budget.refuses(STEP_COST + 2 * self.host.cost(Batch((Statement(""),) * 2, writes=True)))
        if refusal is not None:
            return Ended("more", refusal)
        if step.fill is not None:
            return (yield from self._fill(step, receipt))
        try:
            yield from self._make(step, receipt)
        except Refused as error:
            receipt.state, receipt.error = "refused", str(error).removesuffix(".")
            return Ended("refused", error.why, f'migration "{step.name}": {receipt.error}.')
        except HostError as error:
            receipt.error = str(error).removesuffix(".")
            raise
        return None

    def _make(self, step: Migration, receipt: MigrationReceipt) -> Generator[Step, list[Result] | None, None]:
        """Do a step, unless somebody else has; twice, where a duplicate came between looking and doing."""
        for attempt in (1, 2):
            found = inspect(step, (yield from read(self.host)))
            if found.state == "there":
                receipt.state, receipt.finished = "there", True
                return
            if found.state == "differs":
                raise Refused(found.why, "schema")
            if step.index is not None or _reads_rows(step):
                yield from self._weigh(step, receipt)
            unique = not receipt.duplicates
            if found.state == "plain" and not unique:
                receipt.state = "plain"
                return
            receipt.sql = statements(step, found, unique=unique)
            try:
                yield from self._send(receipt.sql)
            except HostError as error:
                if error.retryable and error.applied is False:
                    raise
                if inspect(step, (yield from read(self.host))).state == "there":
                    receipt.state, receipt.finished = "there", True
                    return
                if error.kind != "constraint" or attempt == 2:
                    raise
                continue
            receipt.state, receipt.finished = ("made", True) if unique else ("plain", False)
            return

    def _send(self, sql: Sequence[str]) -> Generator[Step, list[Result] | None, None]:
        deadline = self.budget.deadline
        if self.allow_long:
            # A statement that was allowed to be long is not to be stopped, and begun again, for ever.
            self.budget.deadline = math.inf
        try:
            yield Batch(tuple(map(Statement, sql)), writes=True)
        finally:
            self.budget.deadline = deadline

    def _fill(self, step: Migration, receipt: MigrationReceipt) -> Generator[Step, list[Result] | None, Ended | None]:
        assert step.fill is not None
        schema = yield from read(self.host)
        table = schema.table(step.table)
        if table is None:
            raise HostError(f"the table {step.table} is gone; another connection has dropped it", "schema")
        plan = fill_plan(step, step.fill, self.policy, table, self.host)
        counted = RuleReceipt(step.name, table.name)
        further = start_fill(plan, counted, self.now_ms)
        nothing = Plan(self.host, schema.fingerprint, ())
        pruner = Pruner(
            nothing, self.now_ms, self.budget, self.document, warnings=self.warnings, further=[further], turn_key="next_migration"
        )
        ended = yield from pruner.run_pass()
        self.document = pruner.document
        receipt.filled, receipt.finished = counted.deleted + counted.unconfirmed, counted.finished and not counted.error
        receipt.state = "open" if not receipt.finished else "filled" if receipt.filled else "there"
        if counted.error is not None:
            receipt.error = counted.error.replace("cannot be deleted", "cannot be filled")
        if ended.outcome == "done":
            return None
        return Ended(ended.outcome, ended.why, ended.message or receipt.error)


def _does(step: Migration) -> Literal["create", "add", "fill", "index"]:
    return "create" if step.create else "add" if step.add else "fill" if step.fill else "index"


def _reads_rows(step: Migration) -> bool:
    """Whether adding the column reads every row: to check them against it (sqlite.org/lang_altertable.html)."""
    if step.add is None:
        return False
    words = {token.keyword for token in tokens(step.add.definition)}
    return "CHECK" in words or ("AS" in words and "NOT" in words)


def _one(sql: str) -> Generator[Step, list[Result] | None, Value]:
    results = yield Batch((Statement(sql),))
    assert results is not None
    return results[0].rows[0][0]

"""A receipt for people: one line, a table, and the sentences that need somebody's attention."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..engine.receipt import Receipt, RuleReceipt
from .words import counted, listed, number, seconds

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["kept", "problem", "receipt_table", "remarks", "summary"]

_WHY = {
    "finished": "",
    "deadline": "the time was used up",
    "statements": "the statements were used up",
    "pages": "a rule reached its max_pages",
    "rows_read": "the rows to read were used up",
    "rows_written": "the rows to write were used up",
    "wal": "a reader keeps the write-ahead log from being emptied",
    "paused": "it was asked to stop",
    "locked": "another run or connection holds the lock",
    "lease": "another caller holds the lease",
    "quota": "the host's quota is used up",
    "overloaded": "the host is overloaded",
    "policy": "the policy",
    "schema": "the schema",
    "guard": "a safety check",
    "error": "an error",
}
"""What each `why` means."""


def kept(rule: RuleReceipt) -> dict[str, int]:
    """Rows of a rule that were due, or could not be judged, and stayed, by reason."""
    reasons = ("undated", "unreadable", "held", "referenced", "changed", "blocked", "too_large", "partial", "unconfirmed")
    return {reason.replace("_", " "): rows for reason in reasons if (rows := getattr(rule, reason))}


def summary(receipt: Receipt, verb: str = "deleted") -> str:
    """The receipt in one line: `done: 66,469 rows deleted by 5 rules in 4.11 s, 435 statements`."""
    why = _WHY[receipt.why]
    ending = f"{receipt.outcome} ({why})" if why else receipt.outcome
    return f"{ending}: {', '.join(_done(receipt, verb))} in {seconds(receipt.elapsed_s)}, {counted(receipt.statements.total, 'statement')}"


def _done(receipt: Receipt, verb: str) -> Iterator[str]:
    """`40 rows deleted by 2 rules`, `65 rows ended by 2 sweeps`, and so on."""
    side = sum(rule.beyond for rule in receipt.rules)
    also = f" and {counted(side, 'other change')}" if side else ""
    if receipt.rules or not (receipt.sweeps or receipt.closures or receipt.events):
        yield f"{counted(receipt.deleted, 'row')} {verb}{also} by {counted(len(receipt.rules), 'rule')}"
    would = "would be " if verb.startswith("would be ") else ""
    if receipt.sweeps:
        yield f"{counted(sum(sweep.ended for sweep in receipt.sweeps), 'row')} {would}ended by {counted(len(receipt.sweeps), 'sweep')}"
    if receipt.closures:
        closed = sum(closure.closed for closure in receipt.closures)
        yield f"{counted(closed, 'unit')} {would}deleted by {counted(len(receipt.closures), 'closure')}"
    for log in receipt.events:
        yield f"{counted(log.deleted, 'event')} {would}deleted from {log.table}"


def problem(receipt: Receipt) -> str | None:
    """Why a run was refused, failed or found the database busy, in one sentence; None where it was not."""
    if receipt.outcome in ("done", "more"):
        return None
    if receipt.outcome == "failed":
        errors = [f'rule "{rule.rule}": {rule.error}' for rule in receipt.rules if rule.error]
        others = [f'sweep "{sweep.sweep}": {sweep.error}' for sweep in receipt.sweeps if sweep.error]
        others += [f'closure "{closure.closure}": {closure.error}' for closure in receipt.closures if closure.error]
        others += [f'events of "{log.table}": {log.error}' for log in receipt.events if log.error]
        errors += others
        if errors:
            more = f" (and {counted(len(errors) - 1, 'more rule') if not others else f'{len(errors) - 1} more'})" if len(errors) > 1 else ""
            return errors[0] + more
    return receipt.warnings[-1] if receipt.warnings else _WHY[receipt.why]


def remarks(receipt: Receipt) -> list[str]:
    """Warnings and unreadable tenants: what a person should know although the run went on."""
    ending = problem(receipt)
    found = [warning for warning in receipt.warnings if warning != ending]
    found += [
        f'rule "{rule.rule}": the settings of {", ".join(rule.malformed_tenants)} cannot be read, so their rows were kept'
        for rule in receipt.rules
        if rule.malformed_tenants
    ]
    return found


def receipt_table(receipt: Receipt, verb: str = "deleted") -> Table:
    """The receipt as a table, a row for each rule."""
    from rich.table import Table

    shown = Table(title=f"{receipt.outcome} · now {receipt.now}", title_justify="left", pad_edge=False)
    shown.add_column("rule")
    metered = any(rule.rows_read is not None for rule in receipt.rules)
    for heading in (verb, "scanned", "pages", "also changed", *(("read", "written") if metered else ())):
        shown.add_column(heading, justify="right")
    shown.add_column("kept")
    shown.add_column("state")
    for rule in receipt.rules:
        state = "error" if rule.error else "finished" if rule.finished else "more"
        numbers = [rule.deleted, rule.scanned, rule.pages, rule.beyond]
        numbers += [rule.rows_read or 0, rule.rows_written or 0] if metered else []
        shown.add_row(rule.rule, *(number(n) for n in numbers), listed(kept(rule)), state)
    return shown

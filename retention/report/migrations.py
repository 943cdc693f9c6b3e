"""What became of each step of a migration, for people."""

from __future__ import annotations

from ..engine.receipt import MigrationReceipt, Receipt
from .words import counted, number, seconds

__all__ = ["migration_lines", "migration_summary"]

_DOES = {"create": "table", "add": "column", "fill": "values", "index": "index"}


def migration_lines(receipt: Receipt) -> list[str]:
    """Two lines or more for each step: what it is and its state, the statements, and what a person should know."""
    return [line for step in receipt.migrations for line in _lines(step)]


def _lines(step: MigrationReceipt) -> list[str]:
    about = [f"on {step.table}"] if step.migration != step.table else []
    about += [counted(step.filled, "row")] if step.filled else []
    about += [f"reads {number(step.rows)} rows"] if step.rows and step.state in ("missing", "plain") else []
    lines = [f"{step.state:8} {_DOES[step.does]:6} {step.migration}" + (f" ({', '.join(about)})" if about else "")]
    lines += [f"           {sql}" for sql in step.sql]
    return lines + [f"           {text}" for text in (step.note, step.error) if text is not None]


def migration_summary(receipt: Receipt) -> str:
    """The receipt in one line: `done: 2 of 5 steps made in 0.02 s, 13 statements`."""
    made = sum(step.state in ("made", "filled") for step in receipt.migrations)
    left = sum(not step.finished for step in receipt.migrations)
    ending = receipt.outcome if receipt.why == "finished" else f"{receipt.outcome} ({receipt.why})"
    still = f", {left} left" if left else ""
    return (
        f"{ending}: {made} of {counted(len(receipt.migrations), 'step')} made{still} in {seconds(receipt.elapsed_s)}, "
        f"{counted(receipt.statements.total, 'statement')}"
    )

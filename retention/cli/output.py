"""Standard output: tables on a terminal, a line or JSON in a pipe."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..engine.receipt import Receipt
from ..policy.models import Policy
from ..report.receipt import problem, receipt_table, remarks, summary
from ..runner.conduct import Observer
from .ending import complain

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["on_terminal", "show_receipt", "terminal", "watching", "write", "write_json"]


def on_terminal() -> bool:
    """Whether a person reads standard output."""
    return sys.stdout.isatty()


def terminal() -> Console:
    """Standard output, for tables and bars."""
    from rich.console import Console

    return Console(highlight=False)


def write(text: str) -> None:
    """Lines to standard output, at once. A reader that went away is no error: what was done stays done, and so does the exit status."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # The interpreter flushes once more when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def write_json(data: dict[str, Any]) -> None:
    """One JSON document, on one line."""
    write(json.dumps(data, ensure_ascii=False))


@contextmanager
def watching(policy: Policy, as_json: bool) -> Generator[list[Observer]]:
    """Observers for a run: progress bars on a terminal, none in a pipe."""
    if as_json or not on_terminal():
        yield []
        return
    from ..report.progress import watched

    with watched(terminal(), {rule.name: rule.table for rule in policy.rules if rule.enabled}) as observer:
        yield [observer]


def show_receipt(receipt: Receipt, as_json: bool, verb: str = "deleted", *, table: bool = False) -> None:
    """Write the receipt to standard output, and what went wrong to standard error. `table` shows the table in a pipe too."""
    if as_json:
        write_json(receipt.to_dict())
    else:
        if receipt.rules and (table or on_terminal()):
            terminal().print(receipt_table(receipt, verb))
        write(summary(receipt, verb))
        for remark in remarks(receipt):
            complain(f"warning: {remark}")
    ending = problem(receipt)
    if ending is not None:
        complain(ending)

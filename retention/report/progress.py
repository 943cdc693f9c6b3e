"""A run, watched: an observer that moves bars on a terminal."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..errors import HostError
from ..steps import Batch, Result, Save, Step
from .words import number

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Tally", "watched"]

Observe = Callable[[Step, Sequence[Result] | HostError | None, float], None]

_DELETE = re.compile(r'DELETE FROM "((?:[^"]|"")+)"')


class Tally:
    """Counts pages and rows from the steps alone, so that the engine need not know that it is watched.

    Args:
        rules: table by rule name.

    Attributes:
        pages: of all rules.
        deleted: rows by table; rules of one table count together.
        done: part of each rule's traversal, 0 to 1, as far as its keys tell (integers above zero).
    """

    def __init__(self, rules: Mapping[str, str]) -> None:
        self.rules = dict(rules)
        self.pages = 0
        self.deleted = dict.fromkeys(rules.values(), 0)
        self.done: dict[str, float | None] = dict.fromkeys(rules)
        self._saves = 0

    def __call__(self, step: Step, answer: Sequence[Result] | HostError | None, _seconds: float) -> None:
        """See `retention.runner.conduct.Observer`."""
        if isinstance(step, Save):
            self._saves += 1
            self.pages = self._saves - 1
            self._position(step.document)
        elif isinstance(step, Batch) and step.writes and isinstance(answer, Sequence):
            found = _DELETE.match(step.statements[0].sql)
            table = found[1].replace('""', '"') if found else ""
            if table in self.deleted:
                self.deleted[table] += _changes(step, answer)

    def _position(self, document: dict[str, Any]) -> None:
        for rule, part in self.done.items():
            entry: dict[str, Any] = document.get("tables", {}).get(rule, {})
            cursor, high = entry.get("cursor"), entry.get("high")
            if high is None:
                # No end: the traversal has not begun, or it is over.
                self.done[rule] = 1.0 if part is not None else None
            elif isinstance(high, int) and high > 0:
                self.done[rule] = max(0.0, min(1.0, (cursor if isinstance(cursor, int) else 0) / high))


def _changes(step: Batch, answer: Sequence[Result]) -> int:
    if answer[0].changes is not None:
        return answer[0].changes
    asked = len(answer) > 1 and step.statements[1].sql == "SELECT changes()"
    return int(answer[1].rows[0][0] or 0) if asked else 0  # type: ignore[arg-type]


@contextmanager
def watched(console: Console, rules: Mapping[str, str]) -> Generator[Observe]:
    """An observer that shows a tally as bars, one a table, while the block runs.

    Args:
        console: a terminal.
        rules: table by rule name.
    """
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(24), TextColumn("{task.fields[rows]}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bars:
        names = {table: ", ".join(rule for rule, its in rules.items() if its == table) for table in rules.values()}
        tasks = {table: bars.add_task(label, total=None, rows="0 rows deleted") for table, label in names.items()}
        pages = bars.add_task("pages", total=None, rows="0")

        tally = Tally(rules)

        def observe(step: Step, answer: Sequence[Result] | HostError | None, took: float) -> None:
            tally(step, answer, took)
            bars.update(pages, rows=number(tally.pages))
            for table, task in tasks.items():
                bars.update(task, rows=f"{number(tally.deleted[table])} rows deleted")
                known = [part for rule, its in rules.items() if its == table and (part := tally.done[rule]) is not None]
                if known:
                    bars.update(task, total=1.0, completed=min(known))

        yield observe

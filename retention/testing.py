"""Helpers to test a policy of your own: a scripted host, a crash after any step, another writer between two steps.

    from retention.testing import every_crash

    def test_no_crash_loses_or_keeps_a_row(tmp_path):
        every_crash(make_database, "retention.toml", now="2026-09-09T14:00:00Z")

See docs/testing.md.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import apsw

from .capabilities import Capabilities
from .errors import HostError
from .policy.models import Limits, Policy
from .runner.conduct import Observer
from .runner.given import Now
from .runner.runs import run
from .steps import Batch, Result, Step, Value
from .stores import MemoryStore

__all__ = ["Crashed", "ScriptedHost", "after_step", "crash_after", "every_crash"]

Answer = Sequence[Result] | Sequence[tuple[Value, ...]] | HostError | Callable[[Batch], Sequence[Result]]
"""An answer in a script: results, or the rows of a batch of one statement, or an error to raise, or a function of the batch."""


class Crashed(BaseException):
    """Ends a run as a killed process would: nothing in the package catches it."""


class ScriptedHost:
    """A host that answers from a script, and remembers what it was asked.

    Args:
        answers: one a batch, in order.
        capabilities: what the host says it can do; `retention.capabilities.D1` plays D1.

    Attributes:
        batches: what was executed.
    """

    def __init__(self, answers: Iterable[Answer], capabilities: Capabilities | None = None) -> None:
        self._answers = iter(answers)
        self.batches: list[Batch] = []
        self.capabilities = capabilities or Capabilities()
        self.name = "script"

    def execute(self, batch: Batch, timeout: float | None = None) -> Sequence[Result]:
        """The script's next answer.

        Raises:
            HostError: where the script says so.
            AssertionError: the script is over.
        """
        self.batches.append(batch)
        try:
            answer = next(self._answers)
        except StopIteration:
            raise AssertionError(f"the script has {len(self.batches) - 1} answers, and one more was asked for: {batch}") from None
        if isinstance(answer, HostError):
            raise answer
        if callable(answer):
            return answer(batch)
        if answer and isinstance(answer[0], Result):
            return answer  # type: ignore[return-value]
        return [Result(answer, changes=0)]  # type: ignore[arg-type]

    def close(self) -> None:
        """Nothing to close."""


def after_step(number: int, action: Callable[[], object]) -> Observer:
    """An observer for `run(..., on_step=...)` that calls `action` once, right after the step of that number (from 1).

    The step has taken effect, and the engine has not been told yet. Steps are batches, saves and archives, planning included.
    """
    taken = 0

    def observe(_step: Step, _answer: Sequence[Result] | HostError | None, _seconds: float) -> None:
        nonlocal taken
        taken += 1
        if taken == number:
            action()

    return observe


def crash_after(number: int) -> Observer:
    """An observer that ends the run with `Crashed` right after the step of that number (from 1)."""

    def crash() -> None:
        raise Crashed(f"crashed after step {number}, as asked")

    return after_step(number, crash)


def every_crash(
    make: Callable[[], apsw.Connection],
    policy: Policy | Mapping[str, Any] | str | os.PathLike[str],
    *,
    now: Now = None,
    limits: Limits | Mapping[str, Any] | None = None,
    rows: Callable[[apsw.Connection], Any] | None = None,
) -> int:
    """Crash a run after its first step, its second, and so on; finish each by a second run, and compare with a run that never crashed.

    Args:
        make: makes an equal database each time, and returns a connection to it; the rule's files (archives) are the caller's.
        policy, now, limits: as for `run`. Give `now`, so that every run has the same clock.
        rows: what to compare; by default all rows of all ordinary tables.

    Returns:
        the number of crashes.

    Raises:
        AssertionError: some crash left other rows; the message says after which step.
    """
    look = rows or all_rows
    expected = make()
    run(expected, policy, now=now, limits=limits, store=MemoryStore(), until_done=True)
    number = 0
    while True:
        database, store = make(), MemoryStore()
        try:
            run(database, policy, now=now, limits=limits, store=store, until_done=True, on_step=crash_after(number + 1))
        except Crashed:
            number += 1
        else:
            return number
        run(database, policy, now=now, limits=limits, store=store, until_done=True)
        assert look(database) == look(expected), f"a crash after step {number} ends in other rows than a run without one"


def all_rows(database: apsw.Connection) -> dict[str, list[tuple[Value, ...]]]:
    """The rows of every ordinary table, sorted."""
    connection: Any = database
    found: dict[str, list[tuple[Value, ...]]] = {}
    for (table,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'").fetchall():
        quoted = '"' + table.replace('"', '""') + '"'
        found[table] = sorted(connection.execute(f"SELECT * FROM {quoted}").fetchall(), key=repr)
    return found

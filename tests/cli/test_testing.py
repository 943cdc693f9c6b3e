"""The helpers that users test their policies with."""

from __future__ import annotations

import apsw
import pytest

import retention
from retention.capabilities import D1
from retention.errors import HostError
from retention.steps import Batch, Result, Save, Statement
from retention.testing import Crashed, ScriptedHost, after_step, crash_after, every_crash

from .tools import NOW, RULE, TABLE, aged

POLICY = f"version = 1\n{RULE}page_rows = 4\n"


def made() -> apsw.Connection:
    con = apsw.Connection(":memory:")
    for sql in (TABLE, aged(30, 15)):
        con.execute(sql).fetchall()
    return con


def test_every_crash_is_survived_and_counted() -> None:
    steps: list[object] = []
    retention.run(made(), POLICY, now=NOW, store=retention.MemoryStore(), until_done=True, on_step=lambda step, *_: steps.append(step))
    assert every_crash(made, POLICY, now=NOW) == len(steps) > 10


def test_a_crash_that_loses_rows_is_named() -> None:
    databases = iter(range(100))

    def differing() -> apsw.Connection:
        con = made()
        con.execute(f"UPDATE t SET tenant = '{next(databases) // 3}'").fetchall()
        return con

    with pytest.raises(AssertionError, match="a crash after step 3 ends in other rows"):
        every_crash(differing, POLICY, now=NOW)


def test_a_crash_comes_after_the_step_has_taken_effect() -> None:
    con, store = made(), retention.MemoryStore()
    kinds: list[type] = []

    def crash_at_the_first_delete(step: object, *_: object) -> None:
        kinds.append(type(step))
        if isinstance(step, Batch) and step.writes:
            raise Crashed

    with pytest.raises(Crashed):
        retention.run(con, POLICY, now=NOW, store=store, on_step=crash_at_the_first_delete)
    assert con.execute("SELECT count(*) FROM t").get == 26
    assert kinds.count(Save) == store.saves == 1


def test_another_writer_between_two_steps_is_obeyed() -> None:
    """Whatever step it comes after, a row made young before its delete stays; one that is gone is gone."""
    for number in range(1, 30):
        con = made()
        left: list[int] = []

        def renew(con: apsw.Connection = con, left: list[int] = left) -> None:
            con.execute("UPDATE t SET at = at + 1000000000 WHERE id <= 15")
            left.append(con.execute("SELECT count(*) FROM t").get)

        retention.run(con, POLICY, now=NOW, until_done=True, on_step=after_step(number, renew))
        assert con.execute("SELECT count(*) FROM t").get == (left[0] if left else 15)


def test_crash_after_counts_from_one() -> None:
    with pytest.raises(Crashed, match="after step 1"):
        retention.run(made(), POLICY, now=NOW, on_step=crash_after(1))


def test_a_scripted_host_answers_in_order_and_remembers() -> None:
    one, two = (Batch((Statement(sql),)) for sql in ("SELECT 1", "SELECT 2"))
    host = ScriptedHost([[(1,)], [Result([(2,)], changes=3)], lambda batch: [Result([(len(batch.statements),)])], HostError("gone")], D1)
    assert [host.execute(one)[0].rows, host.execute(two)[0].changes, host.execute(one)[0].rows] == [[(1,)], 3, [(1,)]]
    with pytest.raises(HostError, match="gone"):
        host.execute(two)
    with pytest.raises(AssertionError, match="the script has 4 answers"):
        host.execute(one)
    assert host.batches == [one, two, one, two, one]
    assert host.capabilities.remote


def test_a_run_over_a_scripted_host_ends_as_the_host_does() -> None:
    receipt = retention.run(ScriptedHost([HostError("too many requests", "quota", retryable=True)]), POLICY, now=NOW)
    assert (receipt.outcome, receipt.exit_status, receipt.warnings) == ("busy", 75, ["too many requests"])

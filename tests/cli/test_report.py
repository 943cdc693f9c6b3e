"""Receipts as lines: pure functions."""

from __future__ import annotations

from typing import get_args

import pytest

from retention.engine.budget import Why
from retention.engine.receipt import Outcome, Receipt, RuleReceipt, Statements
from retention.report.progress import Tally
from retention.report.receipt import kept, problem, remarks, summary
from retention.report.words import counted, listed, number, seconds
from retention.steps import Batch, Result, Save, Statement


def receipt(outcome: Outcome, why: Why, *rules: RuleReceipt, warnings: tuple[str, ...] = ()) -> Receipt:
    return Receipt(outcome, why, "2026-09-09T14:00:00Z", 1.5, statements=Statements(total=1234), rules=list(rules), warnings=list(warnings))


@pytest.mark.parametrize("why", get_args(Why))
def test_every_why_has_words(why: Why) -> None:
    line = summary(receipt("more", why))
    assert line.startswith("more (" if why != "finished" else "more: ")
    assert "0 rows deleted by 0 rules in 1.50 s, 1,234 statements" in line


def test_side_changes_are_summed() -> None:
    rules = RuleReceipt("a", "a", deleted=1, side_changes=2), RuleReceipt("b", "b", deleted=3000)
    assert summary(receipt("done", "finished", *rules)).startswith("done: 3,001 rows deleted and 2 other changes by 2 rules")


@pytest.mark.parametrize("outcome", ["done", "more"])
def test_what_ended_well_has_no_problem(outcome: Outcome) -> None:
    assert problem(receipt(outcome, "finished", warnings=("look",))) is None


def test_the_problem_is_the_last_warning_or_the_first_rules_error() -> None:
    assert problem(receipt("refused", "guard", warnings=("first", "last"))) == "last"
    failing = [RuleReceipt(n, n, error=f"no {n}") for n in "abc"]
    assert problem(receipt("failed", "error", *failing)) == 'rule "a": no a (and 2 more rules)'
    assert problem(receipt("failed", "error", failing[0])) == 'rule "a": no a'
    assert problem(receipt("busy", "locked")) == "another run or connection holds the lock"


def test_the_problem_is_no_remark() -> None:
    ended = receipt("refused", "guard", RuleReceipt("a", "a", malformed_tenants=["x", "y"]), warnings=("first", "last"))
    assert remarks(ended) == ["first", 'rule "a": the settings of x, y cannot be read, so their rows were kept']


def test_kept_names_each_reason_once() -> None:
    rule = RuleReceipt("a", "a", held=2, too_large=1)
    assert kept(rule) == {"held": 2, "too large": 1}
    assert listed(kept(rule)) == "held 2, too large 1"


def test_numbers() -> None:
    assert (number(1234567), counted(1, "row"), counted(2, "row")) == ("1,234,567", "1 row", "2 rows")
    assert [seconds(s) for s in (0.0432, 12.34, 125.9)] == ["0.04 s", "12.3 s", "2 min 05 s"]


def delete(table: str, changes: int | None, asked: int | None = None) -> tuple[Batch, list[Result]]:
    statements = (Statement(f'DELETE FROM "{table}" WHERE 1'),) + ((Statement("SELECT changes()"),) if asked is not None else ())
    return Batch(statements, writes=True), [Result([], changes)] + ([Result([(asked,)])] if asked is not None else [])


def test_a_tally_counts_pages_rows_and_progress() -> None:
    tally = Tally({"a": 'odd "a"', "b": "b"})
    tally(Save({"tables": {}}), None, 0.0)
    tally(*delete('odd ""a""', 5), 0.0)
    tally(*delete("b", None, 7), 0.0)
    tally(*delete("other", 9), 0.0)
    tally(Save({"tables": {"a": {"cursor": 25, "high": 100}, "b": {"cursor": ["x"], "high": ["y"]}}}), None, 0.0)
    assert (tally.pages, tally.deleted, tally.done) == (1, {'odd "a"': 5, "b": 7}, {"a": 0.25, "b": None})
    tally(Save({"tables": {}}), None, 0.0)
    assert tally.done == {"a": 1.0, "b": None}

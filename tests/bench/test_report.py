"""Figures, plots and the document."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from bench.__main__ import COMMANDS
from bench.doc import DOCUMENT, markdown, put
from bench.measure import Reading, percentile, rounded, spread, summary, waits
from bench.report import Outcome
from bench.svg import Axis, Series, curves, points


def test_percentile_is_a_value_that_was_measured() -> None:
    values = [float(n) for n in range(100, 0, -1)]
    assert percentile(values, 0.5) == 51
    assert percentile(values, 0.99) == 100
    assert percentile(values, 1.0) == 100
    assert percentile([], 0.5) == 0.0


def test_spread_and_rounding() -> None:
    assert spread([90.0, 100.0, 110.0]) == pytest.approx(0.1)
    assert rounded(123_456.0) == 123_500.0
    assert rounded(0.0) == 0.0


def test_waits_are_milliseconds() -> None:
    assert waits([0.001] * 99 + [0.5]) == {"p50_ms": 1.0, "p99_ms": 500.0, "max_ms": 500.0}


def test_summary_takes_medians_of_rounds() -> None:
    rounds = [Reading(rows=1_000, seconds=s, statements=5, writes=[0.001, s]) for s in (1.0, 2.0, 10.0)]
    found = summary(rounds)
    assert found["rows_per_second"] == 500
    assert found["statements_per_1000"] == 5
    assert found["write_ms_max"] == 10_000


def test_plots_are_xml_and_place_by_decades() -> None:
    x, y = Axis.around("a & b", [1, 90]), Axis.around("y", [0.5, 20])
    assert (x.low, x.high) == (1, 100)
    assert x.place(10) == pytest.approx(0.5)
    ElementTree.fromstring(points("<title>", x, y, [("one & two", 1, 1), ("far", 99, 19)]))
    ElementTree.fromstring(curves("t", x, y, [Series("s", [(1, 1), (10, 2), (1_000, 99)])]))


def test_the_document_has_a_place_for_every_command() -> None:
    document = DOCUMENT.read_text()
    for name in COMMANDS:
        put(document, name, "table")


def test_a_part_is_replaced_and_nothing_else() -> None:
    document = "a\n<!-- x -->\nold\n<!-- /x -->\nb\n"
    once = put(document, "x", r"new \1")
    assert once == "a\n<!-- x -->\nnew \\1\n<!-- /x -->\nb\n"
    assert put(once, "x", "old") == document
    with pytest.raises(ValueError, match="has no part"):
        put(document, "y", "new")


def test_markdown_holds_the_table_and_the_machine() -> None:
    outcome = Outcome("x", {}, ("", "rows/s"), [["[bold]job[/bold]", ""], ["  peer", "1"]], "note", {"x.svg": "<svg/>"})
    text = markdown(outcome)
    assert "| **job** |  |" in text
    assert "| peer | 1 |" in text
    assert "SQLite" in text
    assert "![x.svg](../bench/plots/x.svg)" in text

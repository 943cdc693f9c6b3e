"""What must not grow with kept history does not, by SQLite's own count of steps."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.growth import EXPIRING, events, steady_run

SMALL, LARGE = 10_000, 40_000
PAGE = 500


@pytest.mark.parametrize("page", [300, PAGE])  # one that does not divide the rows that expire: a page then mixes old and young
@pytest.mark.parametrize("kind", ["ordered", "index"])
def test_a_steady_run_costs_the_same_in_a_larger_table(kind: str, page: int, tmp_path: Path) -> None:
    small, large = (steady_run(events(tmp_path / f"{rows}.db", rows), kind, page_rows=page) for rows in (SMALL, LARGE))
    assert large["vm_steps"] <= 1.1 * small["vm_steps"]
    assert large["statements"] == small["statements"]


def test_ordered_costs_what_an_index_costs(tmp_path: Path) -> None:
    """The whole traversal before it found nothing but kept rows, and its pages grew: a steady run does not read one of those."""
    ordered, index = (steady_run(events(tmp_path / f"{kind}.db", LARGE), kind) for kind in ("ordered", "index"))
    assert ordered["vm_steps"] <= 2 * index["vm_steps"]
    assert ordered["statements"] <= index["statements"] + 2


def test_a_rowid_walk_reads_each_kept_row_once(tmp_path: Path) -> None:
    """The contrast: without an index or `ordered` the steps grow with the table, by a bounded number for each kept row."""
    small, large = (steady_run(events(tmp_path / f"{rows}.db", rows), "rowid", page_rows=PAGE) for rows in (SMALL, LARGE))
    for_each = (large["vm_steps"] - small["vm_steps"]) / (LARGE - SMALL)
    assert 5 < for_each < 60
    assert small["statements"] - EXPIRING // PAGE < large["statements"]

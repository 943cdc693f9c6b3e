"""README.md names for each field case what holds it, and nothing that is not there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .cases import CASES

ROOT = Path(__file__).parents[2]
ROWS = [line.split(" | ") for line in Path(__file__).with_name("README.md").read_text().splitlines() if re.match(r"\| [0-9]", line)]


def test_all_fifty_are_there() -> None:
    assert [int(row[0].split()[1]) for row in ROWS] == list(range(1, 100, 2))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].strip("| "))
def test_what_holds_it_is_there(row: list[str]) -> None:
    for held in row[2].split("<br>"):
        if held.startswith('"'):
            assert held.strip('"') in {case.id for case in CASES}
            continue
        file, name = held.strip("`").split("::")
        assert re.search(rf"^def {name}\(", (ROOT / file).read_text(), re.MULTILINE), held


def test_no_statement_limits_a_delete() -> None:
    """DELETE ... LIMIT is in few builds of SQLite. A subquery inside parentheses may have a limit."""
    files = sorted((ROOT / "sql").rglob("*.sql"))
    deletes = [
        text for file in files for text in re.split(r";\s*\n", file.read_text()) if re.search(r"^\s*(DELETE|UPDATE)\b", text, re.MULTILINE)
    ]
    assert len(deletes) > 20
    for text in deletes:
        outside = text
        while (shorter := re.sub(r"\([^()]*\)", "", outside)) != outside:
            outside = shorter
        assert not re.search(r"\b(LIMIT|ORDER BY)\b", re.sub(r"(?m)^--.*$", "", outside)), text

"""Every case of the systems that the presets reproduce is a test on every host, or has a stated reason why not."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.ledger.upstream import ALL, HELD, WITHOUT, WITHOUT_A_DATABASE

HERE = Path(__file__).parent
ON_EVERY_HOST = {"jobs", "relay", "one", "told"}
"""Fixtures that stand on `connect`, which is a file, D1 and libSQL in turn."""


@cache
def module(file: str) -> str:
    return (HERE / file).read_text()


def test_the_list_is_whole() -> None:
    assert HELD.keys() | WITHOUT.keys() == ALL
    assert HELD.keys() & WITHOUT.keys() == set()


@pytest.mark.parametrize("case", sorted(HELD, key=lambda case: (case[:2], int(case[3:]))))
def test_the_test_is_there_says_its_number_and_runs_on_every_host(case: str) -> None:
    file, called = HELD[case]
    (test,) = [node for node in ast.parse(module(file)).body if isinstance(node, ast.FunctionDef) and node.name == called]
    fixtures = {argument.arg for argument in test.args.args}
    decorators = " ".join(map(ast.unparse, test.decorator_list))
    assert bool(fixtures & ON_EVERY_HOST) != (case in WITHOUT_A_DATABASE)
    assert "indirect" not in decorators
    # Cases of one table stand in it by their ids, the others in the test's name or first line.
    said = f"{called} {ast.get_docstring(test) or ''} {decorators}".replace("_", " ")
    system, number = case.split("-")
    ranges = [range(int(a), int(b) + 1) for a, b in re.findall(r"\b(\d+) to (\d+)\b", said)]
    if system == "PF":
        assert re.search(rf"\b{number}\b", said) or any(int(number) in one for one in ranges)
    else:
        assert re.search(rf"\b{case}\b", f"{said.upper().replace(' ', '-')} {module(file)}")

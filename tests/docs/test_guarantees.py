"""Each guarantee names a test that exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", (ROOT / "docs/guarantees.md").read_text())


def test_there_are_some() -> None:
    assert len(NAMED) > 20


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_the_test_is_there(file: str, name: str) -> None:
    assert re.search(rf"^def {name}\(", (ROOT / file).read_text(), re.MULTILINE)

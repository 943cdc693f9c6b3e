"""The table of mutants follows the code: each line that is taken away stands once, and each test that must notice is there."""

from __future__ import annotations

import pytest

from tests.mutants import ROOT, Mutant, mutants


@pytest.mark.parametrize("mutant", mutants(), ids=lambda mutant: f"{mutant.file}: {mutant.old[:40]}")
def test_a_mutant_can_be_made_and_noticed(mutant: Mutant) -> None:
    assert (ROOT / mutant.file).read_text().count(mutant.old) == 1
    file, _, name = mutant.test.partition("::")
    assert not name or f"def {name.partition('[')[0]}(" in (ROOT / file).read_text()

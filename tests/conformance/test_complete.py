"""Every entry of the catalogue is a test by its id, or says why it has no counterpart."""

from __future__ import annotations

import re
from pathlib import Path

from .catalogue import CASES
from .counterparts import NO_COUNTERPART

SIZES = {"RP": 55, "BD": 9, "RT": 10, "AR": 28}
NAME = re.compile(r"\b(?:test_)?(rp|bd|rt|ar)[_-](\d+)(?:(?:_to_|_and_|_|\.\.)(\d+))?(?=[_ \"])", re.IGNORECASE)


def entries() -> set[str]:
    found: set[str] = set()
    texts = [path.read_text() for path in Path(__file__).parent.glob("test_*.py") if path.name != Path(__file__).name]
    for kind, first, last in NAME.findall("\n".join(texts + [f"{c.id} " for c in CASES])):
        ends = (int(first), int(last or first))
        found |= {f"{kind.upper()}-{n}" for n in range(ends[0], ends[1] + 1)}
    return found


def test_every_entry_has_a_test_or_a_reason() -> None:
    wanted = {f"{kind}-{number}" for kind, size in SIZES.items() for number in range(1, size + 1)}
    done = entries()
    assert wanted - done == NO_COUNTERPART.keys()
    assert done <= wanted

from __future__ import annotations

import pytest

import retention
from tests.naive import keys

from .expect import EXPECT, NOW, Expect, database
from .test_real import differences

CASES = [pytest.param(e, id=f"{e.folder}: {e.name}") for e in EXPECT]


@pytest.mark.parametrize("mode", ["range", "chunk"])
@pytest.mark.parametrize("expect", CASES)
def test_what_is_left_is_what_the_software_leaves(expect: Expect, mode: str) -> None:
    db = database(expect.folder)
    policy = expect.policy.replace("[[rules]]\n", f'[[rules]]\nmode = "{mode}"\n')
    receipt = retention.run(db, policy, now=NOW, until_done=True)
    assert (receipt.outcome, receipt.why) == ("done", "finished"), receipt.warnings
    assert differences(expect, {t: keys(db, t) for t in expect.tables}) == (expect.kept, expect.gone)


@pytest.mark.parametrize("expect", CASES)
def test_a_second_run_finds_nothing(expect: Expect) -> None:
    db = database(expect.folder)
    retention.run(db, expect.policy, now=NOW, until_done=True)
    again = retention.run(db, expect.policy, now=NOW, until_done=True)
    assert (again.outcome, again.deleted) == ("done", 0)

from __future__ import annotations

import pytest

from tests.naive import keys, settle

from .expect import EXPECT, NOW, Expect, database, left

IDS = [f"{e.folder}: {e.name}" for e in EXPECT]


@pytest.mark.parametrize("expect", EXPECT, ids=IDS)
def test_the_policy_says_what_the_software_does(expect: Expect) -> None:
    """By row-at-a-time judgement, so that a wrong policy is told apart from a wrong engine."""
    db = database(expect.folder)
    settle(db, expect.policy, NOW)
    assert differences(expect, {t: keys(db, t) for t in expect.tables}) == (expect.kept, expect.gone)


@pytest.mark.parametrize("expect", EXPECT, ids=IDS)
def test_there_is_something_to_delete_and_something_to_keep(expect: Expect) -> None:
    db = database(expect.folder)
    aged = [t for t in expect.tables if f'"{t}"' in expect.policy]
    assert aged
    for table in aged:
        assert left(expect.folder, table) < keys(db, table)


def test_a_difference_is_explained() -> None:
    assert all(e.why for e in EXPECT if e.kept or e.gone)


def differences(expect: Expect, ours: dict[str, set[tuple[object, ...]]]) -> tuple[dict[str, int], dict[str, int]]:
    """`(kept, gone)`, as `Expect` counts them."""
    kept = {t: len(ours[t] - left(expect.folder, t)) for t in expect.tables}
    gone = {t: len(left(expect.folder, t) - ours[t]) for t in expect.tables}
    return {t: n for t, n in kept.items() if n}, {t: n for t, n in gone.items() if n}

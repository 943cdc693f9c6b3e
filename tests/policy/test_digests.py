from __future__ import annotations

import re
from typing import Any

import pytest

from retention.policy.digests import digest
from retention.policy.load import from_dict

RULE: dict[str, Any] = {
    "table": "m",
    "keep": "30d",
    "age": {"column": "at", "format": "unix_s"},
    "only": "done = 1",
    "tenant": {"column": "w", "setting": "days"},
    "keep_newest": {"rows": 2, "per": ["k"]},
    "walk": {"index": "i"},
}
POLICY: dict[str, Any] = {
    "tenants": {"table": "w", "key": "id", "settings": "doc", "shortest": "1d"},
    "holds": [{"table": "m", "where": "held = 1"}, {"table": "c", "where": "held = 1"}],
}


def of(rule: dict[str, Any] | None = None, **policy: Any) -> str:
    whole = from_dict({**POLICY, **policy, "rules": [{**RULE, **(rule or {})}]})
    return digest(whole.rules[0], whole)


def test_the_digest_is_stable_and_short() -> None:
    assert re.fullmatch("[0-9a-f]{16}", of())
    # Stored in checkpoints: a change of this value makes every host's rules start over.
    assert of() == "ba8b611e8ecd8dd5"


@pytest.mark.parametrize(
    "change",
    [
        {"keep": "31d"},
        {"keep": "forever"},
        {"table": "n"},
        {"age": {"column": "seen", "format": "unix_s"}},
        {"age": {"column": "at", "format": "unix_ms"}},
        {"age": {"column": "at", "format": "snowflake", "epoch_ms": 0}},
        {"age": {"column": ["at", "seen"], "format": "unix_s"}, "keep_newest": {"rows": 2, "per": ["k"], "by": ["at"]}},
        {"only": "done = 2"},
        {"only": None},
        {"tenant": {"column": "v", "setting": "days"}},
        {"tenant": {"column": "w", "setting": "hours"}},
        {"tenant": {"column": "w", "days": "days"}},
        {"tenant": None},
        {"keep_newest": {"rows": 3, "per": ["k"]}},
        {"keep_newest": {"rows": 2, "per": ["j"]}},
        {"keep_newest": {"rows": 2, "per": ["k"], "by": ["seq"]}},
        {"keep_newest": None},
        {"walk": "rowid"},
        {"walk": {"index": "j"}},
        {"walk": None},
        {"ordered": True},
        {"children": "refuse"},
    ],
)
def test_what_decides_the_rows_or_their_order_changes_it(change: dict[str, Any]) -> None:
    assert of(change) != of()


@pytest.mark.parametrize(
    "change",
    [
        {"foreign_keys": "off"},
        {"holds": [{"table": "m", "where": "held = 2"}]},
        {"holds": []},
        {"tenants": {"table": "x", "key": "id", "settings": "doc", "shortest": "1d"}},
        {"tenants": {"table": "w", "key": "id", "settings": "doc", "shortest": "2d"}},
    ],
)
def test_so_does_the_rest_of_the_policy_where_it_decides(change: dict[str, Any]) -> None:
    assert of(**change) != of()


@pytest.mark.parametrize(
    "change",
    [
        {"name": "another"},
        {"mode": {"chunk": 10}},
        {"archive": "old.jsonl"},
        {"page_rows": 7},
        {"max_pages": 7},
        {"revisit": "1d"},
        {"plausible": False},
        {"enabled": False},
        {"keep": "720h"},
        {"only": " done = 1\n"},
        {"age": {"format": "unix_s", "column": ["at"]}},
        {"keep_newest": {"per": ["k"], "by": ["at"], "rows": 2}},
    ],
)
def test_what_decides_neither_does_not(change: dict[str, Any]) -> None:
    assert of(change) == of()
    assert of(dict(reversed({**RULE, **change}.items()))) == of()


def test_limits_and_the_order_of_holds_decide_neither() -> None:
    assert of(limits={"page_rows": 10, "statements": 5}) == of()
    assert of(holds=POLICY["holds"][::-1]) == of()
    without = {"tenant": None}
    assert of(without, tenants=None) == of(without)

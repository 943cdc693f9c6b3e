"""The stored document: what comes back, what is repaired, and that nothing in it can raise."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from retention.engine.checkpoint import SAFE, Checkpoint, Entry, decode_key, encode_key

KNOWN = {"tables": {"a": ("rowid", "p1"), "b": ("index:i", "p2")}}

json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["int", "real", "blob", "cursor", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)
entries = st.dictionaries(
    st.sampled_from(
        ["cursor", "high", "young", "walk", "rows", "policy", "whole", "stale", "blocked", "too_large", "too_large_last", "extra"]
    ),
    json_values,
    max_size=6,
)
documents = st.one_of(
    json_values,
    st.fixed_dictionaries(
        {"version": st.one_of(st.just(1), json_values), "next": st.one_of(st.integers(), json_values)},
        optional={
            "tables": st.one_of(json_values, st.dictionaries(st.sampled_from(["a", "b", "c"]), st.one_of(entries, json_values), max_size=3))
        },
    ),
)
parts = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.sampled_from([SAFE, SAFE + 1, -SAFE, -SAFE - 1]),
    st.floats(allow_nan=False),
    st.text(),
    st.binary(),
)
rowids = st.tuples(st.one_of(st.integers(-(2**63), 2**63 - 1), st.sampled_from([SAFE, SAFE + 1, -SAFE - 1])))


@given(documents)
@example({"version": 1, "next": float("nan"), "tables": {}})
@example({"version": 1, "next": 0, "tables": {"a": {"cursor": float("inf")}}})
@example({"version": 1, "next": 0, "tables": {"b": {"cursor": [{"blob": "zz"}]}}})
@example({"version": 1, "next": 0, "tables": {"b": {"cursor": [{"int": "9" * 5000}]}}})
@example({"version": 1, "next": 0, "tables": {"a": {"cursor": "9" * 5000}}})
@example({"version": 1, "next": 0, "tables": {"b": {"cursor": [{"int": str(2**63)}]}}})
@example({"version": 1, "next": 0, "tables": {"b": {"cursor": [2**70]}}})
@example({"version": 1, "next": 0, "tables": {"b": {"cursor": [{"real": "nan"}]}}})
def test_no_document_raises_and_what_is_written_back_is_valid(document: Any) -> None:
    found = Checkpoint.read(document, KNOWN)
    assert 0 <= found.turn < 2
    written = found.document(found.turn, KNOWN)
    again = Checkpoint.read(json.loads(json.dumps(written)), KNOWN)
    assert not again.warnings
    assert again.entries.get("tables", {}) == {n: e for n, e in found.entries.get("tables", {}).items() if e != Entry()}
    for entry in found.entries.get("tables", {}).values():
        for part in (*entry.cursor, *entry.high, *(entry.young or ())):
            assert not isinstance(part, int) or -(2**63) <= part < 2**63
            assert part == part, "NaN is in no order"


@given(
    rowids,
    rowids,
    st.none() | rowids,
    st.none() | st.tuples(st.integers(1, SAFE), st.integers(1, SAFE)),
    st.none() | st.integers(0, SAFE),
    st.booleans(),
    st.tuples(st.integers(0, SAFE), st.integers(0, SAFE), st.integers(0, SAFE)),
)
def test_a_rowid_walk_comes_back(
    cursor: Any, high: Any, young: Any, rows: Any, whole: int | None, stale: bool, met: tuple[int, int, int]
) -> None:
    blocked, too_large, last = met
    entry = Entry(cursor, high, young, rows, whole, stale, blocked=blocked, too_large=too_large, too_large_last=last)
    document = Checkpoint(entries={"tables": {"a": entry}}).document(1, KNOWN)
    found = Checkpoint.read(json.loads(json.dumps(document)), KNOWN)
    assert found.entries["tables"]["a"] == entry
    assert found.turn == 1
    assert not found.warnings


@given(st.lists(parts, min_size=1, max_size=3).map(tuple))
def test_a_key_of_any_parts_comes_back_in_its_storage_classes(key: Any) -> None:
    back = decode_key(json.loads(json.dumps(encode_key(key, False))), False)
    assert back == key
    assert [type(p) for p in back] == [type(p) for p in key]


@given(rowids)
def test_integers_that_others_would_round_are_text(key: Any) -> None:
    written = encode_key(key, True)
    assert isinstance(written, int) == (abs(key[0]) <= SAFE)
    assert decode_key(json.loads(json.dumps(written)), True) == key


@pytest.mark.parametrize("number", [3.0, 3])
def test_a_whole_number_as_json_writers_spell_it(number: Any) -> None:
    found = Checkpoint.read({"version": 1.0, "next": number, "tables": {"a": {"cursor": number, "high": number}}}, KNOWN)
    assert found.entries["tables"]["a"].cursor == (3,)
    assert not found.warnings


@pytest.mark.parametrize("cursor", ["x", "٣", "1e3", "", True, 3.5, [3], {"int": "3"}, 2**63, str(-(2**63) - 1)])
def test_one_entry_that_is_none_restarts_its_rule_alone_and_says_so(cursor: Any) -> None:
    document = {"version": 1, "next": 1, "tables": {"a": {"cursor": cursor}, "b": {"cursor": ["k"], "high": ["z"], "walk": "index:i"}}}
    found = Checkpoint.read(document, KNOWN)
    assert "a" not in found.entries["tables"]
    assert found.entries["tables"]["b"] == Entry(("k",), ("z",))
    assert found.turn == 1
    assert len(found.warnings) == 1
    assert "'a'" in found.warnings[0]


@pytest.mark.parametrize("field", ["blocked", "too_large", "too_large_last"])
@pytest.mark.parametrize("count", [-1, 1.5, "3", True, [], 2**60])
def test_a_count_that_is_none_restarts_its_rule_and_says_so(field: str, count: Any) -> None:
    found = Checkpoint.read({"version": 1, "next": 0, "tables": {"a": {"cursor": 3, "high": 9, field: count}}}, KNOWN)
    assert found.entries["tables"] == {}
    assert len(found.warnings) == 1
    assert field in found.warnings[0]


def test_a_document_from_before_there_were_counts_goes_on() -> None:
    found = Checkpoint.read({"version": 1, "next": 0, "tables": {"a": {"cursor": 3, "high": 9}}}, KNOWN)
    assert (found.entries["tables"]["a"], found.warnings) == (Entry((3,), (9,)), [])


@pytest.mark.parametrize(("walk", "policy"), [("primary_key", "p1"), ("rowid", "another")])
def test_another_walk_or_policy_begins_anew_but_keeps_the_sizes(walk: str, policy: str) -> None:
    entry = {
        "cursor": 5,
        "high": 9,
        "walk": walk,
        "policy": policy,
        "rows": [700, 300],
        "whole": 5,
        "blocked": 2,
        "too_large": 2,
        "too_large_last": 2,
    }
    found = Checkpoint.read({"version": 1, "next": 0, "tables": {"a": entry}}, KNOWN)
    assert found.entries["tables"]["a"] == Entry(rows=(700, 300))


@pytest.mark.parametrize("version", [0, 2, "1", True, None])
def test_another_version_is_not_guessed_at(version: Any) -> None:
    found = Checkpoint.read({"version": version, "next": 1, "tables": {"a": {"cursor": 5, "high": 9}}}, KNOWN)
    assert not found.entries
    assert found.turn == 0
    assert "not valid" in found.warnings[0]


def test_what_is_not_ours_is_kept_word_for_word() -> None:
    document = {
        "version": 1,
        "next": 0,
        "tables": {"gone": {"cursor": [1, {"x": None}]}},
        "sweeps": {"s": {"cursor": 1}},
        "note": "by hand",
    }
    assert Checkpoint.read(document, KNOWN).document(0, KNOWN) == document

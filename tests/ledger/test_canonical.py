from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retention.errors import PolicyError
from retention.ledger.canonical import canonical, sha256, utf16_length
from retention.ledger.record import key_hash, request_digest

NUMBERS = (
    (0, "0"), (-0.0, "0"), (1, "1"), (1.0, "1"), (-1.5, "-1.5"), (0.1, "0.1"), (4.35, "4.35"),
    (1e-6, "0.000001"), (1e-7, "1e-7"), (1.5e-7, "1.5e-7"), (5e-324, "5e-324"), (1.7976931348623157e308, "1.7976931348623157e+308"),
    (1e20, "100000000000000000000"), (123456789012345680000.0, "123456789012345680000"), (1e21, "1e+21"), (1.25e21, "1.25e+21"),
    (2**53, "9007199254740992"), (-(2**60), "-1152921504606847000"),
)  # fmt: skip
"""Each as JavaScript prints it."""


@pytest.mark.parametrize(("value", "text"), NUMBERS)
def test_numbers_are_written_as_ecmascript_writes_them(value: float, text: str) -> None:
    assert canonical(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_double_reads_back(value: float) -> None:
    assert float(json.loads(canonical(value))) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("\u2028\u2029\x7f", '"\u2028\u2029\x7f"'),
        ('"\\/\b\f\n\r\t\x00\x1f', '"\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001f"'),
        ("\ud800x\udfff", '"\\ud800x\\udfff"'),
        ("\ud83d\ude00", '"😀"'),
        ([None, True, False, (1, [])], "[null,true,false,[1,[]]]"),
        ({}, "{}"),
        ({"b": 1, "a": {"d": 1, "c": 2}}, '{"a":{"c":2,"d":1},"b":1}'),
        ({"2": 2, "10": 1}, '{"10":1,"2":2}'),
        ({"\uffff": 1, "😀": 2}, '{"😀":2,"\uffff":1}'),
    ],
)
def test_text(value: object, text: str) -> None:
    assert canonical(value) == text


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**53 + 1, 10**400, {1: 2}, {"a": b"x"}, [object()]])
def test_what_has_no_canonical_text_is_refused(value: object) -> None:
    with pytest.raises(PolicyError):
        canonical(value)


def test_nesting_too_deep_to_walk_is_refused() -> None:
    deep: object = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(PolicyError, match="deep"):
        canonical(deep)


def test_the_relays_vectors() -> None:
    assert key_hash("abc") == "02c71d467a889b3a9c9a43656b4a8d39d80caa5588b5800358fa8a78fd69fee1"
    assert request_digest("status.blocked", {}) == "d78e1ec61de66f9bf16a444bcafcd6c096ba0c61cba0307e41e91b3adf60092a"
    payload = {"2": 2, "10": 1, "a": [1, {"b": None}]}
    assert canonical({"type": "log", "payload": payload}) == '{"payload":{"10":1,"2":2,"a":[1,{"b":null}]},"type":"log"}'
    assert request_digest("log", payload) == "b7f84626018f274c751871911a6c8b5abe92dc409bc8912c9dc4c4747332662f"


def test_a_text_that_is_no_unicode_cannot_be_hashed() -> None:
    with pytest.raises(PolicyError, match="surrogate"):
        sha256("\ud800")


@given(st.text())
def test_length_in_utf16_units(text: str) -> None:
    assert utf16_length(text) == len(text.encode("utf-16-le", "surrogatepass")) // 2

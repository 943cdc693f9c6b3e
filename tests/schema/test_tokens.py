from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retention.schema.tokens import name_of, split, tokens


def texts(sql: str) -> list[str]:
    return [token.text for token in tokens(sql)]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("a -- b\nc", ["a", "c"]),
        ("a -- b", ["a"]),
        ("a/* ' \" */b", ["a", "b"]),
        ("a /* open", ["a"]),
        ("a - -b", ["a", "-", "-", "b"]),
        ("'it''s -- not' x", ["'it''s -- not'", "x"]),
        ('"a""b" `c``d` [e]f]', ['"a""b"', "`c``d`", "[e]", "f", "]"]),
        ("x'00ff' x", ["x'00ff'", "x"]),
        ("élan_1$ 1.5e3 0x1F", ["élan_1$", "1.5e3", "0x1F"]),
        ("\ufeffa\tb\f \ufeffc\ufeff", ["a", "b", "c\ufeff"]),
    ],
)
def test_text_is_split_as_sqlite_splits_it(sql, expected):
    assert texts(sql) == expected


@pytest.mark.parametrize(
    ("sql", "name"),
    [('"a""b"', 'a"b'), ("`a``b`", "a`b"), ("[a b]", "a b"), ("'a''b'", "a'b"), ("plain", "plain"), ('""', "")],
)
def test_names_lose_their_quotes(sql, name):
    (token,) = tokens(sql)
    assert name_of(token) == name


def test_only_a_bare_word_is_a_keyword():
    assert [token.keyword for token in tokens("where \"where\" 'where' [where]")] == ["WHERE", "", "", ""]


def test_depth_counts_parentheses_outside_of_strings():
    assert [(t.text, t.depth) for t in tokens("a('(', (b))c")] == [
        ("a", 0),
        ("(", 0),
        ("'('", 1),
        (",", 1),
        ("(", 1),
        ("b", 2),
        (")", 1),
        (")", 0),
        ("c", 0),
    ]


def test_split_heeds_only_marks_at_its_depth():
    runs = split(tokens("a, f(b, c), d"), ",", 0)
    assert ["".join(t.text for t in run) for run in runs] == ["a", "f(b,c)", "d"]


@given(st.text(alphabet="ab'\"`[]()-/*\n ;xX1é", max_size=40))
def test_tokens_tile_any_text_in_order(sql):
    at = 0
    for token in tokens(sql):
        assert token.start >= at
        assert sql[token.start : token.end] == token.text
        at = token.end

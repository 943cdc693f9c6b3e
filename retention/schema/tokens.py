"""SQL text as SQLite splits it, as far as a stored schema needs: no keyword is ever looked for inside a comment, a string or a name.

Source: sqlite.org/lang_expr.html, sqlite.org/lang_comment.html, sqlite.org/lang_keywords.html.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

__all__ = ["Token", "name_of", "split", "tokens"]

Kind = Literal["word", "name", "string", "blob", "number", "mark"]

_TOKEN = re.compile(
    r"""
    (?P<skip>   [ \t\n\f\r\ufeff]+ | --[^\n]* | /\*.*?(?:\*/|\Z) )
  | (?P<blob>   [xX]'[^']*' )
  | (?P<string> '(?:[^']|'')*' )
  | (?P<name>   "(?:[^"]|"")*" | `(?:[^`]|``)*` | \[[^\]]*\] )
  | (?P<number> \.?[0-9][0-9A-Za-z_.]* )
  | (?P<word>   [A-Za-z_\u0080-\U0010ffff][A-Za-z0-9_$\u0080-\U0010ffff]* )
  | (?P<mark>   . )
    """,
    re.VERBOSE | re.DOTALL,
)
_BRACKETS = {"(": 1, ")": -1}


@dataclass(frozen=True, slots=True)
class Token:
    """A word, quoted name, string, blob, number or single mark.

    Attributes:
        kind: what it is; a keyword is a `word`, and only a word can be one.
        text: as written.
        start, end: its place in the SQL text, in characters.
        depth: how many parentheses enclose it; a parenthesis itself counts as outside.
    """

    kind: Kind
    text: str
    start: int
    end: int
    depth: int

    @property
    def keyword(self) -> str:
        """The word in upper case, or "" for anything that cannot be a keyword."""
        return self.text.upper() if self.kind == "word" else ""


def tokens(sql: str) -> tuple[Token, ...]:
    """The tokens of SQL text, without white space and comments."""
    return tuple(_tokens(sql))


def _tokens(sql: str) -> Iterator[Token]:
    depth = 0
    for match in _TOKEN.finditer(sql):
        kind, text = match.lastgroup, match.group()
        if kind == "skip":
            continue
        step = _BRACKETS.get(text, 0)
        depth += min(step, 0)
        yield Token(kind, text, match.start(), match.end(), depth)  # type: ignore[arg-type]
        depth += max(step, 0)


def name_of(token: Token) -> str:
    """The name that a token stands for, without its quotes. SQLite takes a string for a name where only a name can stand."""
    text = token.text
    if token.kind not in ("name", "string"):
        return text
    close = "]" if text[0] == "[" else text[0]
    inner = text[1:-1]
    return inner if close == "]" else inner.replace(close * 2, close)


def split(parts: tuple[Token, ...], mark: str, depth: int) -> list[tuple[Token, ...]]:
    """The runs of tokens between the marks, or keywords in upper case, that stand at `depth`."""
    runs: list[list[Token]] = [[]]
    for token in parts:
        if mark in (token.text, token.keyword) and token.depth == depth:
            runs.append([])
        else:
            runs[-1].append(token)
    return [tuple(run) for run in runs]

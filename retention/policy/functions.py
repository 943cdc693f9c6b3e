"""What a condition may call: SQLite's built-in functions that give the same answer whenever and wherever they are asked.

The list is that of SQLite 3.47, the oldest that a host runs (sqlite.org/lang_corefunc.html, lang_datefunc.html, lang_aggfunc.html,
windowfunctions.html, lang_mathfunc.html, json1.html, fts5.html). A function that is not on it is refused by name.
"""

from __future__ import annotations

from ..schema.tokens import Token, name_of, split
from .base import nearest, show

__all__ = ["TABLE_FUNCTIONS", "can_fail", "complaint"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SCALAR = _words(
    """abs char coalesce concat concat_ws format glob hex ifnull iif instr length like likelihood likely lower ltrim max min nullif
    octet_length printf quote replace round rtrim sign soundex substr substring trim typeof unhex unicode unlikely upper zeroblob
    acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log log10 log2 mod pi pow power radians sin sinh
    sqrt tan tanh trunc
    json jsonb json_array jsonb_array json_array_length json_error_position json_extract jsonb_extract json_insert jsonb_insert
    json_object jsonb_object json_patch jsonb_patch json_pretty json_quote json_remove jsonb_remove json_replace jsonb_replace
    json_set jsonb_set json_type json_valid
    bm25 highlight snippet"""
)
_SURE = _words("coalesce ifnull iif instr length lower ltrim nullif rtrim substr trim typeof upper")
"""Functions that fail for no value."""
_AGGREGATE = _words(
    """avg count group_concat string_agg sum total max min
    json_group_array jsonb_group_array json_group_object jsonb_group_object"""
)
_WINDOW = _words("row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value")

_JSON_COLUMNS = _words("key value type atom id parent fullkey path json root")
TABLE_FUNCTIONS: dict[str, frozenset[str]] = {"json_each": _JSON_COLUMNS, "json_tree": _JSON_COLUMNS}
"""Functions that stand in FROM, with the columns that they give (sqlite.org/json1.html, section 4.25)."""

_TIME_VALUES = {**dict.fromkeys(("date", "time", "datetime", "julianday", "unixepoch"), (0, 1)), "strftime": (1, 2), "timediff": (0, 2)}
"""Date functions, and which of their arguments are time values; without any they mean now (sqlite.org/lang_datefunc.html)."""

_NOW = frozenset({"now", "subsec", "subsecond"})
_ZONES = frozenset({"localtime", "utc"})

_REFUSED = {
    **dict.fromkeys(("random", "randomblob"), "gives another answer each time, so no page could be trusted; use a column"),
    **dict.fromkeys(("changes", "total_changes", "last_insert_rowid"), "tells of the connection, not of the row; use a column"),
    **dict.fromkeys(
        ("sqlite_version", "sqlite_source_id", "sqlite_compileoption_get", "sqlite_compileoption_used", "sqlite_offset", "load_extension"),
        "tells of the machine, not of the row; leave it out",
    ),
    "regexp": "is not built into SQLite; use GLOB or LIKE",
    "if": "needs SQLite 3.48, and hosts run 3.47; write iif",
    "unistr": "needs SQLite 3.50, and hosts run 3.47; leave it out",
}
_CLOCK = "reads the clock, but the cutoff is fixed once a run so that every page agrees; use age and keep"
_ALLOWED = _SCALAR | _AGGREGATE | _WINDOW | frozenset(_TIME_VALUES) | frozenset(TABLE_FUNCTIONS)

# Words that an opening parenthesis may follow without being called (sqlite.org/lang_keywords.html).
_KEYWORDS = _words(
    """ALL AND AS BETWEEN BY CASE CAST COLLATE DISTINCT ELSE ESCAPE EXCEPT EXISTS FILTER FROM GROUP HAVING IN INDEXED INTERSECT IS
    ISNULL JOIN LIMIT MATCH MATERIALIZED NOT NOTNULL NULL OFFSET ON OR ORDER OVER PARTITION SELECT SET THEN UNION USING VALUES WHEN
    WHERE WINDOW WITH"""
)
# Keywords that name a function where they are called, and an operator where a value stands before them.
_OPERATORS = frozenset({"LIKE", "GLOB", "MATCH", "REGEXP"})
_CLOCK_WORDS = frozenset({"CURRENT_TIMESTAMP", "CURRENT_DATE", "CURRENT_TIME"})
_QUERY_WORDS = frozenset({"SELECT", "WITH", "VALUES"})


def complaint(tokens: tuple[Token, ...], declared: frozenset[str]) -> str | None:
    """What is wrong with the calls in a condition, or None.

    Args:
        tokens: the whole condition, with balanced parentheses.
        declared: lower-case names that may stand before a parenthesis without being functions: common table expressions, and
            virtual tables that take arguments.
    """
    queries: list[bool] = []
    dated = ""
    for place, token in enumerate(tokens):
        following = tokens[place + 1] if place + 1 < len(tokens) else None
        if token.text == "(":
            queries.append(following is not None and following.keyword in _QUERY_WORDS)
        elif token.text == ")":
            queries.pop()
        elif token.keyword in _CLOCK_WORDS:
            return f"{token.text} {_CLOCK}"
        elif token.keyword in ("OVER", "FILTER") and following is not None and not any(queries):
            if following.text == "(" or following.kind in ("word", "name"):
                return f"{token.keyword} makes an aggregate or window function of many rows, but the condition is about one; use a subquery"
        elif _is_call(token, following, tokens[place - 1] if place else None):
            name = name_of(token).lower()
            dated = name if name in _TIME_VALUES else dated
            if name not in declared:
                wrong = _call_complaint(name, _arguments(tokens, place + 1), in_query=any(queries))
                if wrong:
                    return wrong
    if dated and "now" in _texts(tokens):
        return f"has 'now' beside {dated}(), which {_CLOCK}"
    return None


def can_fail(tokens: tuple[Token, ...]) -> bool:
    """Whether a value could make the condition fail: a call of a function that is not known to take any, or `->`, which wants JSON."""
    around = zip([None, *tokens], tokens, [*tokens[1:], None], strict=False)
    return any(
        (_is_call(token, after, before) and name_of(token).lower() not in _SURE)
        or (before is not None and (before.text, token.text) == ("-", ">"))
        for before, token, after in around
    )


def _is_call(token: Token, following: Token | None, before: Token | None) -> bool:
    if following is None or following.text != "(" or token.kind not in ("word", "name"):
        return False
    if token.keyword in _OPERATORS:
        # `a LIKE (x)` is the operator, `like(x, a)` the function: only the operator has an operand before it.
        return before is None or before.text in ("(", ",") or before.keyword in _KEYWORDS - {"NOT", "NULL"}
    return token.keyword not in _KEYWORDS and (before is None or before.keyword not in ("AS", "INDEXED"))


def _arguments(tokens: tuple[Token, ...], opening: int) -> list[tuple[Token, ...]]:
    depth = tokens[opening].depth
    closing = next(i for i in range(opening + 1, len(tokens)) if tokens[i].text == ")" and tokens[i].depth == depth)
    inside = tokens[opening + 1 : closing]
    return split(inside, ",", depth + 1) if inside else []


def _call_complaint(name: str, arguments: list[tuple[Token, ...]], in_query: bool) -> str | None:
    if name in _REFUSED:
        return f"{name}() {_REFUSED[name]}"
    if name not in _ALLOWED:
        meant = nearest(name, _ALLOWED)
        return f"{name}() is not a function of SQLite 3.47" + (f"; did you mean {meant}()?" if meant else "; use a built-in one")
    aggregate = name in _AGGREGATE and not (name in ("max", "min") and len(arguments) > 1)
    if (aggregate or name in _WINDOW) and not in_query:
        return f"{name}() is about many rows, but the condition is about one; write it in a subquery, such as (SELECT {name}(...) FROM ...)"
    return _date_complaint(name, arguments) if name in _TIME_VALUES else None


def _date_complaint(name: str, arguments: list[tuple[Token, ...]]) -> str | None:
    """A date function takes its words when it runs, so that each literal that could become one counts, however deep it stands."""
    first, end = _TIME_VALUES[name]
    times = [_texts(argument, names=True) for argument in arguments[first:end]]
    texts = [text for argument in arguments for text in _texts(argument, names=True)]
    if not times or "now" in texts or any(_NOW.intersection(found) for found in times):
        return f"{name}() here {_CLOCK}"
    zone = next((text for text in texts if text in _ZONES), None)
    if zone:
        return f"{name}() with {show(zone)} depends on the time zone of the machine that asks; compare in UTC"
    if any(_is_made(argument) for argument in arguments):
        return f"{name}() is given text that is put together from constants, which could spell 'now'; write it as one literal"
    return None


def _texts(parts: tuple[Token, ...], names: bool = False) -> list[str]:
    """The literals among the tokens, in lower case; those that `||` joins count as one too. SQLite reads a blob as text.

    Args:
        names: take a name in quotes for a literal where it stands alone, as SQLite does if there is no such column.
    """
    bare = [token for token in parts if token.text not in ("(", ")")]
    if names and len(bare) == 1 and bare[0].kind == "name":
        return [name_of(bare[0]).strip().lower()]
    found: list[str] = []
    joined, bars = "", 0
    for token in bare:
        if token.kind in ("string", "blob"):
            text = name_of(token) if token.kind == "string" else bytes.fromhex(_even(token.text[2:-1])).decode(errors="replace")
            joined = joined + text if bars == 2 else text
            found += [text, joined]
            bars = 0
        else:
            bars = bars + 1 if token.text == "|" else 0
            joined = joined if token.text == "|" else ""
    return [text.strip().lower() for text in found]


def _even(digits: str) -> str:
    return digits if len(digits) % 2 == 0 and all(c in "0123456789abcdefABCDEF" for c in digits) else ""


def _is_made(argument: tuple[Token, ...]) -> bool:
    """Whether a call or an operation in it, or all of it, makes text out of constants alone."""
    calls = [place for place, token in enumerate(argument[:-1]) if token.kind in ("word", "name") and argument[place + 1].text == "("]
    inner = [[token for part in _arguments(argument, place + 1) for token in part] for place in calls if _is_function(argument[place])]
    if any(_is_constant(part) for part in inner):
        return True
    bare = [token for token in argument if token.text not in ("(", ")")]
    return len(bare) > 1 and any(token.kind in ("string", "blob") for token in bare) and _is_constant(bare)


def _is_function(token: Token) -> bool:
    return token.keyword not in _KEYWORDS and name_of(token).lower() not in _TIME_VALUES


def _is_constant(parts: list[Token]) -> bool:
    """Whether no column stands in it. What an inner date function gives is a date."""
    own = _ALLOWED - _TIME_VALUES.keys()
    return all(t.kind not in ("word", "name") or t.keyword in _KEYWORDS or name_of(t).lower() in own for t in parts)

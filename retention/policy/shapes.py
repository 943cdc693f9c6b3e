"""Whether an expression answers yes or no.

A bare column is not taken for one: SQLite reads the text 'yes' as 0, so `where = "legal_hold"` on a text column would hold nothing.
The writer says what is meant: `legal_hold = 1`, `legal_hold IS NOT NULL`.
"""

from __future__ import annotations

from sqlglot import exp

__all__ = ["not_boolean"]

_COMPARISONS = (
    exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Is, exp.NullSafeEQ, exp.NullSafeNEQ,
    exp.Like, exp.Glob, exp.Escape, exp.Match, exp.Between, exp.In, exp.Exists, exp.Boolean,
)  # fmt: skip
_HINTS = frozenset({"likely", "unlikely", "likelihood"})


def not_boolean(expression: exp.Expr) -> exp.Expr | None:
    """The first part that stands where yes or no is asked and is neither, or None.

    Comparisons, IN, BETWEEN, LIKE, GLOB, MATCH, IS, EXISTS, TRUE and FALSE are; so are AND, OR, NOT, CASE, iif, coalesce, likely and
    one-column subqueries of such (in CASE, iif and coalesce also 0, 1 and NULL), and json_valid.
    """
    waiting: list[tuple[exp.Expr | None, bool]] = [(expression, False)]
    while waiting:
        part, result = waiting.pop()
        inner = _parts(part, result)
        if inner is None:
            return part
        waiting.extend(reversed(inner))
    return None


def _parts(part: exp.Expr | None, result: bool) -> list[tuple[exp.Expr | None, bool]] | None:
    """What must answer yes or no for `part` to do so, each with whether 0, 1 and NULL will do; None if it never does."""
    match part:
        case None:
            return []
        case exp.Paren() | exp.Not() | exp.Subquery():
            return [(part.this, result)]
        case exp.And() | exp.Or():
            return [(part.this, False), (part.expression, False)]
        case exp.Case():
            return [(branch.args.get("true"), True) for branch in part.args["ifs"]] + [(part.args.get("default"), True)]
        case exp.If():
            return [(part.this, False), (part.args.get("true"), True), (part.args.get("false"), True)]
        case exp.Coalesce():
            return [(argument, True) for argument in (part.this, *part.expressions)]
        case exp.Anonymous() if part.name.lower() in _HINTS and part.expressions:
            return [(part.expressions[0], result)]
        case exp.Anonymous() if part.name.lower() == "json_valid":
            return []
        case exp.Select() if len(part.selects) == 1:
            return [(part.selects[0].unalias(), True)]
        case exp.SetOperation():
            return [(part.left, True), (part.right, True)]
        case exp.Null() if result:
            return []
        case exp.Literal() if result and part.name in ("0", "1") and not part.is_string:
            return []
        case _ if isinstance(part, _COMPARISONS):
            return []
        case _:
            return None

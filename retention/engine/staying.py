"""What a run says of rows that were due and stayed, where a person has to do something about them."""

from __future__ import annotations

from .traversal import Traversal

__all__ = ["blocked_earlier", "too_large"]


def blocked_earlier(state: Traversal) -> str:
    """The error of a rule whose traversal ends in another run than the one that met its blocked rows."""
    rows = _rows(state, state.blocked_before)
    return (
        f"{rows} could not be {state.verb} by earlier runs of this round, whose receipts say why; "
        f"mend the data or the trigger, or leave such rows out"
    )


def too_large(state: Traversal, rows: int) -> str:
    """The warning about rows that no write may take, not even alone."""
    rule = state.rule
    what = {"tables": "rule"}.get(rule.section, rule.section.removesuffix("s"))
    drain = ', or write children = "drain", which deletes what refers to a row first, in pages'
    return (
        f'{what} "{rule.name}": {_rows(state, rows)} stayed, because each alone, with what goes with it, would change more rows than '
        f"limits.rows_changed allows in one write; raise it{drain if rule.child_keys and rule.drain is None and not rule.archive else ''}"
    )


def _rows(state: Traversal, rows: int) -> str:
    return f"{rows:,} row{'' if rows == 1 else 's'} of {state.rule.table}"

"""The bounds on SQLite 3.47, which D1 runs: its planner is not that of today."""

from __future__ import annotations

from tests.old_sqlite import run_on_old_sqlite


def test_no_statement_grows_with_the_table_on_sqlite_3_47() -> None:
    run_on_old_sqlite("engine/test_bounded.py")

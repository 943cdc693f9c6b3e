"""The same on SQLite 3.47, which D1 runs."""

from __future__ import annotations

from tests.old_sqlite import run_on_old_sqlite


def test_instants_read_alike_on_sqlite_3_47() -> None:
    run_on_old_sqlite("ledger/test_sweep_times.py")

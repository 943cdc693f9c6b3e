"""The same on SQLite 3.47, which D1 runs: its date functions are not those of today."""

from __future__ import annotations

from tests.old_sqlite import run_on_old_sqlite


def test_every_form_reads_alike_on_sqlite_3_47() -> None:
    run_on_old_sqlite("statements/test_ages.py")

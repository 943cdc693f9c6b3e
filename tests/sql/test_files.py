"""The files in `sql/` are what the planner makes."""

from __future__ import annotations

import runpy
from pathlib import Path

import apsw

SQL = Path(__file__).parents[2] / "sql"

OURS = {"j", "json_each", "retention_edges", "CONSTANT", "retention_n", "retention_c", "retention_m"}
"""Bound lists, and our own common tables; `retention_m` is the readers' places, once a statement, until there is an index."""


def test_the_files_hold_every_statement_and_its_plan() -> None:
    generate = runpy.run_path(str(SQL / "generate.py"))
    same_version = f"SQLite {apsw.sqlite_lib_version()} " in (SQL / "README.md").read_text()
    strip = (lambda text: text) if same_version else generate["texts_only"]
    present = {str(p.relative_to(SQL)): strip(p.read_text()) for p in SQL.glob("*/*/*.sql")}
    wanted = {path: strip(text) for path, text in generate["files"]().items()}
    assert present.keys() == wanted.keys(), "run: python sql/generate.py"
    assert [p for p in present if present[p] != wanted[p]] == [], "run: python sql/generate.py"


def test_no_plan_scans_a_table_of_the_preset() -> None:
    for path in SQL.glob("*/*/*.sql"):
        label = above = ""
        for line in path.read_text().splitlines():
            if line.startswith("-- "):
                label = line[3:] if not line.startswith("--   ") else label
                scanned = line.strip("- ").removeprefix("SCAN ").split(" ")[0] if "SCAN" in line else ""
                ours = not scanned or scanned.startswith("(") or scanned in OURS or "MATERIALIZE retention_keeps" in above
                assert ours or label.startswith("high-water"), f"{path.name}: {label}: {line}"
                assert "TEMP B-TREE FOR ORDER BY" not in line
                assert "AUTOMATIC" not in line or "SEARCH retention_keeps " in line
                above = line

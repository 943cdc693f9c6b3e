"""The files in `sql/` are what the planner makes."""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from retention.presets import preset, presets
from tests.d1.fixtures import Servers, d1_server
from tests.places import PLACES, Place, opened

__all__ = ["d1_server"]

SQL = Path(__file__).parents[2] / "sql"

OURS = {"j", "json_each", "retention_edges", "CONSTANT", "retention_keeps", "retention_n", "retention_c", "retention_m"}
"""Bound lists, and our own common tables; `retention_m` is the readers' places, once a statement, until there is an index."""


def test_the_files_hold_every_statement_and_its_plan() -> None:
    generate = runpy.run_path(str(SQL / "generate.py"))
    same_version = f"SQLite {apsw.sqlite_lib_version()} " in (SQL / "README.md").read_text()
    strip = (lambda text: text) if same_version else generate["texts_only"]
    present = {str(p.relative_to(SQL)): strip(p.read_text()) for p in SQL.glob("*/*/*.sql")}
    wanted = {path: strip(text) for path, text in generate["files"]().items()}
    assert present.keys() == wanted.keys(), "run: python sql/generate.py"
    assert [p for p in present if present[p] != wanted[p]] == [], "run: python sql/generate.py"


def check_plans(name: str, text: str) -> None:
    """No statement scans or sorts a table of the preset."""
    label = above = ""
    for line in text.splitlines():
        if line.startswith("-- "):
            label = line[3:] if not line.startswith("--   ") else label
            scanned = line.strip("- ").removeprefix("SCAN ").split(" ")[0] if "SCAN" in line else ""
            ours = not scanned or scanned.startswith("(") or scanned in OURS or "MATERIALIZE retention_keeps" in above
            assert ours or label.startswith("high-water"), f"{name}: {label}: {line}"
            assert "TEMP B-TREE FOR ORDER BY" not in line
            assert "AUTOMATIC" not in line or "SEARCH retention_keeps " in line
            above = line


def test_no_plan_scans_a_table_of_the_preset() -> None:
    for path in SQL.glob("*/*/*.sql"):
        check_plans(path.name, path.read_text())


@pytest.fixture(scope="module", params=PLACES)
def place(request: pytest.FixtureRequest, d1_server: Servers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with opened(request.param, d1_server, tmp_path_factory.mktemp("place")) as found:
        yield found


@pytest.mark.parametrize("name", presets())
def test_every_host_takes_them_and_plans_them_alike(name: str, place: Place) -> None:
    generate = runpy.run_path(str(SQL / "generate.py"))
    con = apsw.Connection("")
    con.execute(preset(name).schema)
    place.load(con)
    committed = "libsql" if place.name == "libsql" else "d1"
    made = generate["texts"](name, place.host, generate["HOSTS"][committed])
    files = {path.stem: path.read_text() for path in SQL.glob(f"{name}/{committed}/*.sql")}
    assert made.keys() == files.keys()
    for rule, text in made.items():
        assert generate["texts_only"](text) == generate["texts_only"](files[rule])
        check_plans(f"{place.name}: {rule}", text)

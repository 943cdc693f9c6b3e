"""A tenant that goes with all that is its own: what the closure does not name is told, and only its own rows go."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.tools import call, create, policy, rows

from .cases import FRESH, OLD

CLOCK = "2026-01-31T12:00:00Z"
SCHEMA = (
    "CREATE TABLE org (id TEXT PRIMARY KEY, closed_at INTEGER)",
    "CREATE TABLE memo (id INTEGER PRIMARY KEY, tenant_id TEXT NOT NULL, at INTEGER)",
    "CREATE TABLE recall (id INTEGER PRIMARY KEY, tenant_id TEXT, at INTEGER)",
    "CREATE TABLE digest (id INTEGER PRIMARY KEY, org_id TEXT, at INTEGER)",
    "CREATE TABLE other (id INTEGER PRIMARY KEY, at INTEGER)",
    "CREATE INDEX of_memo ON memo (tenant_id)",
    "CREATE INDEX of_recall ON recall (tenant_id)",
    "CREATE INDEX of_digest ON digest (org_id)",
    f"INSERT INTO org VALUES ('a', {OLD}), ('b', {FRESH})",
    "INSERT INTO memo VALUES (1, 'a', 1), (2, 'b', 1)",
    "INSERT INTO recall VALUES (1, 'a', 1), (2, 'b', 1), (3, NULL, 1), (4, 'A', 1)",
    "INSERT INTO digest VALUES (1, 'a', 1)",
)
CLOSURE = """
[[closures]]
table    = "org"
keep     = "30d"
age      = { column = "closed_at", format = "unix_s" }
terminal = "closed_at IS NOT NULL"
"""


def member(table: str, column: str, more: str = "") -> str:
    return f'[[closures.members]]\ntable = "{table}"\non = "{table}.{column} = org.id"\n{more}\n'


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return create(tmp_path / "app.db", *SCHEMA)


def told(db: Path, file: Path) -> tuple[set[str], str]:
    found = json.loads(call("audit", db, "-p", file, "--json").stdout)["findings"]
    return {finding["table"] for finding in found if finding["code"] == "left_out"}, call("plan", db, "-p", file, "--now", CLOCK).stdout


def test_tables_that_a_closure_leaves_out_are_told(db: Path, tmp_path: Path) -> None:
    """By the column that ties a member, or by the parent's name: a list of tables that is kept by hand misses those added later."""
    file = policy(tmp_path / "p.toml", CLOSURE + member("memo", "tenant_id"))
    tables, plan = told(db, file)
    assert tables == {"recall", "digest"}
    assert "recall has tenant_id too and is no member" in plan
    assert "digest has org_id too and is no member" in plan
    file = policy(tmp_path / "p.toml", CLOSURE + member("memo", "tenant_id") + member("digest", "org_id", "memory = true"))
    assert told(db, file)[0] == {"recall"}


def test_a_tenant_goes_whole_and_no_row_of_anybody_else(db: Path, tmp_path: Path) -> None:
    named = [("memo", "tenant_id"), ("recall", "tenant_id"), ("digest", "org_id")]
    file = policy(tmp_path / "p.toml", CLOSURE + "".join(member(*each) for each in named))
    assert told(db, file)[0] == set()
    done = call("run", db, "-p", file, "--now", CLOCK, "--until-done", "--json")
    closure = json.loads(done.stdout)["closures"][0]
    assert (done.exit_code, closure["closed"], closure["members"]) == (0, 1, {"memo": 1, "recall": 1, "digest": 1})
    assert [rows(db, f"SELECT count(*) FROM {table} WHERE {column} = 'a'") for table, column in named] == [[(0,)]] * 3
    assert rows(db, "SELECT id FROM org") == [("b",)]
    assert rows(db, "SELECT id FROM memo") == [(2,)]
    assert rows(db, "SELECT id FROM recall ORDER BY id") == [(2,), (3,), (4,)], "no tenant, and one of another spelling"

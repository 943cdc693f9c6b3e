"""The written rule by which a walk is chosen, and what is said of it."""

from __future__ import annotations

from typing import Any

import apsw
import pytest

from retention.errors import PolicyError, Refused
from retention.plan.model import RulePlan
from tests.properties.drive import make

NOW_MS = 1_788_962_400_000
ROWID = "CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER, w TEXT);"
TEXT = "CREATE TABLE t (id TEXT PRIMARY KEY NOT NULL, at TEXT, w TEXT);"
KEYED = "CREATE TABLE t (w TEXT, id INTEGER, at INTEGER, PRIMARY KEY (w, id)) WITHOUT ROWID;"
BY_AGE = "CREATE INDEX i ON t (at);"
TENANTS: dict[str, Any] = {"table": "ws", "key": "id", "settings": "doc"}


def planned(ddl: str, tenants: dict[str, Any] | None = None, **rule: Any) -> RulePlan:
    con = apsw.Connection("")
    con.execute(ddl.rstrip(";") + "; CREATE TABLE ws (id TEXT PRIMARY KEY, doc TEXT)")
    base = {"table": "t", "keep": "30d", "age": {"column": "at", "format": "unix_s"}}
    policy: dict[str, Any] = {"version": 1, "rules": [{k: v for k, v in (base | rule).items() if v is not None}]}
    return make(con, policy | ({"tenants": tenants} if tenants else {}), NOW_MS).rules[0]


CHOSEN: list[tuple[str, dict[str, Any], str, str]] = [
    (ROWID, {}, "rowid", "no whole index in time order is led by the age"),
    (ROWID + BY_AGE, {}, "index:i", "kept rows are not read"),
    (ROWID + "CREATE INDEX i ON t (w, at)", {}, "rowid", "no whole index"),
    (ROWID + "CREATE INDEX i ON t (at) WHERE w = 'a'", {"only": "w = 'a'"}, "rowid", "no whole index"),
    (ROWID + "CREATE INDEX i ON t (at DESC)", {}, "rowid", "no whole index"),
    (ROWID + BY_AGE, {"ordered": True}, "rowid", "ordered"),
    (ROWID + BY_AGE, {"age": None, "only": "w = 'a'", "keep": "0s"}, "rowid", "has no age"),
    (ROWID + BY_AGE, {"age": {"column": ["at", "id"], "format": "unix_s"}}, "rowid", "several columns"),
    (ROWID + BY_AGE, {"walk": "rowid"}, "rowid", "the policy says so"),
    (ROWID + 'CREATE INDEX "É" ON t (at); CREATE INDEX "é" ON t (at, id)', {"walk": {"index": "é"}}, "index:é", "the policy says so"),
    (ROWID + BY_AGE, {"age": {"column": "at", "format": "mixed"}}, "rowid", "no whole index"),
    (TEXT + BY_AGE, {}, "rowid", "no whole index"),  # numbers as text stand in the order of their digits
    (TEXT + BY_AGE, {"age": {"column": "at", "format": "utc_text"}}, "index:i", "kept rows"),
    (TEXT + BY_AGE, {"age": {"column": "at", "format": "iso8601"}}, "rowid", "no whole index"),  # offsets
    (TEXT.replace("at TEXT", "at TEXT COLLATE NOCASE") + BY_AGE, {"age": {"column": "at", "format": "utc_text"}}, "rowid", "no whole"),
    (TEXT, {"age": {"column": "id", "format": "uuid7"}}, "index:sqlite_autoindex_t_1", "kept rows"),
    (TEXT, {"age": {"column": "id", "format": "ulid"}}, "rowid", "lower case"),
    (TEXT, {"age": {"column": "id", "format": "snowflake", "epoch_ms": 0}}, "rowid", "no whole index"),
    (KEYED, {}, "primary_key", "no whole index"),
    (KEYED + "CREATE INDEX i ON t (at, w, id)", {}, "index:i", "kept rows"),
]  # fmt: skip


@pytest.mark.parametrize(("ddl", "rule", "walk", "why"), CHOSEN)
def test_the_walk_and_why(ddl: str, rule: dict[str, Any], walk: str, why: str) -> None:
    plan = planned(ddl, plausible=False, **rule)
    assert plan.walk == walk
    assert why in plan.why_walk


@pytest.mark.parametrize(("shortest", "walk"), [(None, "rowid"), ("1d", "index:i")])
def test_a_tenants_keep_needs_a_shortest_for_an_end(shortest: str | None, walk: str) -> None:
    tenants = TENANTS | ({"shortest": shortest} if shortest else {})
    assert planned(ROWID + BY_AGE, tenants, tenant={"column": "w", "setting": "days"}).walk == walk


@pytest.mark.parametrize(
    ("ddl", "walk", "error", "said"),
    [
        (KEYED, "rowid", PolicyError, "has no rowid that can be reached"),
        (ROWID, "primary_key", PolicyError, "is no WITHOUT ROWID table"),
        (ROWID, {"index": "nowhere"}, PolicyError, "there is no index 'nowhere'"),
        (ROWID + "CREATE INDEX i ON t (w)", {"index": "i"}, Refused, "cannot carry the walk"),
        (ROWID + "CREATE INDEX i ON t (at, w)", {"index": "i"}, Refused, "cannot carry the walk"),
        ("CREATE TABLE t (rowid TEXT, oid TEXT, _rowid_ TEXT, at INTEGER);", None, Refused, "hide all three names"),
        (KEYED.replace("(w, id)", "(w, id DESC)"), None, Refused, "mixes rising and falling.*add an index led by the age"),
    ],
)
def test_a_walk_that_is_not_there(ddl: str, walk: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        planned(ddl, walk=walk)


def test_a_rowid_that_is_shadowed_is_reached_by_another_name() -> None:
    plan = planned("CREATE TABLE t (rowid TEXT, at INTEGER);")
    assert plan.pages.walk.columns == ("_rowid_",)


def test_the_index_that_helps_a_primary_key_of_mixed_directions() -> None:
    mixed = "CREATE TABLE t (w TEXT, id INTEGER, at INTEGER, PRIMARY KEY (w, id DESC)) WITHOUT ROWID;"
    assert planned(mixed + "CREATE INDEX i ON t (at, w, id)").walk == "index:i"

from __future__ import annotations

import tomllib
from typing import Any

import apsw
import pytest

from retention.errors import PolicyError
from retention.policy.load import parse
from retention.presets import preset, presets, statements

OURS = ("celery", "django", "relay")


def database(name: str) -> apsw.Connection:
    db = apsw.Connection(":memory:")
    for sql in statements(preset(name).schema):
        db.execute(sql)
    return db


def rules(name: str) -> list[dict[str, Any]]:
    return tomllib.loads(preset(name).policy)["rules"]


def test_names() -> None:
    assert set(OURS) <= set(presets())


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(PolicyError, match=r"'relais'.*did you mean 'relay'\?.*celery, django"):
        preset("relais")
    with pytest.raises(PolicyError, match=r"'\.\./presets/relay'"):
        preset("../presets/relay")


@pytest.mark.parametrize("name", OURS)
def test_the_policy_is_read(name: str) -> None:
    assert [r.name for r in parse(preset(name).policy).rules] == [r["name"] for r in rules(name)]


@pytest.mark.parametrize("name", OURS)
def test_the_schema_has_every_column_that_the_policy_names(name: str) -> None:
    """By preparing each rule's condition: SQLite knows the names best."""
    db = database(name)
    for rule in rules(name):
        ages = rule.get("age", {}).get("column", "1")
        newest = rule.get("keep_newest", {})
        columns = [ages, *newest.get("per", []), *newest.get("by", []), rule.get("tenant", {}).get("column", "1")]
        db.execute(f"EXPLAIN SELECT {', '.join(columns)} FROM {rule['table']} WHERE {rule.get('only', '1')}")


@pytest.mark.parametrize("name", OURS)
def test_every_foreign_key_of_a_schema_is_indexed(name: str) -> None:
    """Else a parent's DELETE scans the child. An index on the rows whose key is not NULL is as good as a whole one."""
    db = database(name)
    bare = []
    for (table,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'"):
        keys: dict[int, set[str]] = {}
        for number, child in db.execute('SELECT id, "from" FROM pragma_foreign_key_list(?)', (table,)):
            keys.setdefault(number, set()).add(child)
        indexes = [
            [column for (column,) in db.execute("SELECT name FROM pragma_index_info(?) ORDER BY seqno", (index,))]
            for index, partial in db.execute("SELECT name, partial FROM pragma_index_list(?)", (table,))
            if not partial or "IS NOT NULL" in db.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (index,)).get
        ]
        bare += [(table, key) for key in keys.values() if not any(set(i[: len(key)]) == key for i in indexes)]
    assert bare == []


@pytest.mark.parametrize("name", OURS)
def test_every_rule_is_explained(name: str) -> None:
    readme = preset(name).readme
    assert [r["name"] for r in rules(name) if f"`{r['name']}`" not in readme] == []


def test_relay_rules_stand_in_their_order() -> None:
    """Checkpoints are keyed by these names, and `next` counts them: hosts have documents with both."""
    on = [r["name"] for r in rules("relay") if r.get("enabled", True)]
    assert on == ["messages", "deliveries", "message_logs", "workspace_events", "read_receipts"]
    *memory, recovery = (r for r in rules("relay") if not r.get("enabled", True))
    assert [r["name"] for r in memory] == ["session-events", "session-status-events", "terminalized-workspaces"]
    assert recovery["page_rows"] * recovery["max_pages"] == 4000


def test_statements_survive_triggers_and_comments() -> None:
    script = (
        "-- a; comment\nCREATE TABLE t (a);\n\nCREATE TRIGGER g AFTER INSERT ON t BEGIN\n  DELETE FROM t;\n  SELECT 1;\nEND;\nSELECT ';'"
    )
    assert statements(script) == (
        "CREATE TABLE t (a)",
        "CREATE TRIGGER g AFTER INSERT ON t BEGIN\n  DELETE FROM t;\n  SELECT 1;\nEND",
        "SELECT ';'",
    )


def test_relay_statements_fit_the_narrowest_host() -> None:
    """D1: 100 kB a statement, 100 columns a table."""
    assert max(len(s.encode()) for s in statements(preset("relay").schema)) < 100_000
    db = database("relay")
    assert (
        db.execute("SELECT max(n) FROM (SELECT (SELECT count(*) FROM pragma_table_info(s.name)) AS n FROM sqlite_schema AS s)").get <= 100
    )

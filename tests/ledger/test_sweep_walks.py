"""Every walk that a sweep can take ends the same rows; and what a run sends is what it may send."""

from __future__ import annotations

from typing import Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import retention
from retention.errors import Refused
from tests.ledger.databases import NOW

TABLES = {
    "integer key": "id INTEGER PRIMARY KEY, state TEXT, at INTEGER, kind TEXT)",
    "text key": "id TEXT PRIMARY KEY, state TEXT, at INTEGER, kind TEXT)",
    "without rowid": "id TEXT PRIMARY KEY, state TEXT, at INTEGER, kind TEXT) WITHOUT ROWID",
    "no key": "id INTEGER, state TEXT, at INTEGER, kind TEXT)",
    "nocase key": "id TEXT COLLATE NOCASE PRIMARY KEY, state TEXT, at INTEGER, kind TEXT)",
    "second key": "a INTEGER, b INTEGER, id INTEGER NOT NULL UNIQUE, state TEXT, at INTEGER, kind TEXT, PRIMARY KEY (a, b))",
    "two keys without rowid": "a, b, id INTEGER NOT NULL UNIQUE, state TEXT, at INTEGER, kind TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID",
    "two falling keys": "a, b, id INTEGER NOT NULL UNIQUE, state TEXT, at INTEGER, kind TEXT, PRIMARY KEY (a DESC, b DESC)) WITHOUT ROWID",
}
NAMED = {"second key", "two keys without rowid", "two falling keys"}
"""Tables whose primary key has two columns: the sweep names another one."""
WHERE = "state = 'on' AND kind <> 'never'"
INDEXES = {
    "none": ("", False),
    "whole condition": (f"CREATE INDEX live ON w (id) WHERE {WHERE}", True),
    "one term": ("CREATE INDEX live ON w (id) WHERE \"state\" = 'on'", True),
    "another condition": ("CREATE INDEX live ON w (id) WHERE state = 'off'", False),
    "a narrower condition": (f"CREATE INDEX live ON w (id) WHERE {WHERE} AND at > 0", False),
    "falling": (f"CREATE INDEX live ON w (id DESC) WHERE {WHERE}", False),
    "not of the key": (f"CREATE INDEX live ON w (at) WHERE {WHERE}", False),
    "another collation": (f"CREATE INDEX live ON w (id COLLATE RTRIM) WHERE {WHERE}", False),
}


def policy(**changes: Any) -> dict[str, Any]:
    sweep = {
        "name": "stop",
        "table": "w",
        "where": WHERE,
        "age": {"column": "at", "format": "unix_s"},
        "timeout": "1m",
        "set": {"state": "off"},
    }
    return {"sweeps": [sweep | changes]}


def filled(table: str, rows: list[tuple[Any, ...]], index: str = "") -> apsw.Connection:
    con = apsw.Connection("")
    con.execute(f"CREATE TABLE w ({TABLES[table]}; {index}")
    more, values = (", a, b", ", ?1 / 2, ?1 % 2") if table in NAMED else ("", "")
    for n, (state, at, kind) in enumerate(rows):
        con.execute(f"INSERT INTO w (id, state, at, kind{more}) VALUES (?, ?, ?, ?{values})", (n, state, at, kind))
    return con


ROWS = [
    ("on", 1, "go"),
    ("on", NOW, "go"),
    ("off", 1, "go"),
    ("on", 1, "never"),
    ("on", None, "go"),
    ("on", 1, "go"),
    ("on", NOW // 1000 - 60, "go"),
]


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("index", INDEXES)
@pytest.mark.parametrize("page_rows", [50_000, 2])
def test_every_walk_ends_the_same_rows(table: str, index: str, page_rows: int) -> None:
    sql, serves = INDEXES[index]
    if table == "no key" and index != "none":
        # The rowid is the key, and cannot be indexed.
        serves = False
    con = filled(table, ROWS, sql)
    chosen = policy(key="id") if table in NAMED else policy()
    (plan,) = retention.plan(con, chosen, now=NOW).further
    assert plan.walk.startswith("index:live") == serves
    assert bool(plan.notes) != serves
    receipt = retention.sweep(con, chosen | {"limits": {"page_rows": page_rows}}, now=NOW).sweeps[0]
    assert (receipt.due, receipt.ended, receipt.undated) == (3, 3, 1)
    assert sorted(int(id) for (id,) in con.execute("SELECT id FROM w WHERE state = 'off'")) == [0, 2, 5, 6]


@pytest.mark.parametrize("table", sorted(NAMED))
def test_a_key_of_several_columns_needs_one_that_is_named(table: str) -> None:
    with pytest.raises(Refused, match="several columns, and a row is named by one; name one unique column in key, or add"):
        retention.plan(filled(table, ROWS), policy(), now=NOW)


@pytest.mark.parametrize("table", TABLES)
def test_a_closure_visits_them_in_the_same_order(table: str) -> None:
    age = {"column": "at", "format": "unix_s"}
    closure = {"table": "w", "keep": "1m", "age": age, "terminal": "state = 'on'", **({"key": "id"} if table in NAMED else {})}
    con = filled(table, ROWS)
    receipt = retention.run(con, {"closures": [closure], "limits": {"page_rows": 2}}, now=NOW).closures[0]
    assert (receipt.closed, receipt.undated, receipt.finished) == (3, 1, True)
    assert sorted(int(id) for (id,) in con.execute("SELECT id FROM w")) == [1, 2, 4, 6]


states = st.tuples(st.sampled_from(["on", "on", "off"]), st.sampled_from([1, NOW, None]), st.sampled_from(["go", "never"]))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(states, max_size=40),
    st.sampled_from([i for i, (_, s) in INDEXES.items() if s or i == "none"]),
    st.integers(1, 5),
    st.integers(0, 30),
    st.booleans(),
)
def test_what_is_sent_never_passes_the_limit_and_ends_all(
    rows: list[tuple[Any, ...]], index: str, batch: int, spare: int, vetoed: bool
) -> None:
    con = filled("text key", rows, INDEXES[index][0])
    if vetoed:
        con.execute("CREATE TRIGGER veto BEFORE UPDATE ON w WHEN old.id IN ('3', '7') BEGIN SELECT RAISE(ABORT, 'no'); END")
    chosen, store = policy(batch=batch), retention.MemoryStore()
    refused = retention.sweep(con, chosen, now=NOW, limits={"statements": 3})
    limit = int(refused.warnings[-1].rsplit(" ", 1)[1].rstrip(".")) + spare
    for _ in range(300):
        sent: list[str] = []
        con.exec_trace = lambda _c, sql, _b, sent=sent: sent.append(sql) is None
        receipt = retention.sweep(con, chosen, now=NOW, store=store, limits={"statements": limit})
        con.exec_trace = None
        # A batch that fails is counted whole.
        assert receipt.statements.used >= len(sent)
        assert receipt.statements.used == len(sent) or vetoed
        assert receipt.statements.ceiling is not None
        assert receipt.statements.used <= receipt.statements.ceiling <= limit
        if receipt.sweeps[0].finished:
            break
    stays = {3, 7} if vetoed else set()
    left = {n for n, (state, at, kind) in enumerate(rows) if state == "on" and kind == "go" and at == 1}
    assert {int(id) for (id,) in con.execute(f"SELECT id FROM w WHERE {WHERE} AND at = 1")} == left & stays

"""The retention of agents, as far as a rule can say it: the guards, and what happens when they change underneath.

The original's page, preview and command line are its own: `counterparts.py` says why.
"""

from __future__ import annotations

import tomllib
from typing import Any

import apsw
import pytest

from retention.errors import HostError, PolicyError, Refused

from .calls import IDS, MODES, Calls, Mode, at_delete, fails, scanned
from .catalogue import AGENTS, AGENTS_NOW, CUTOFF, agent, ids
from .relay import database, workspace

both = pytest.mark.parametrize("mode", MODES, ids=IDS)


@pytest.fixture
def db() -> apsw.Connection:
    db = database()
    workspace(db)
    return db


def agents(mode: Mode = "range", **changed: Any) -> dict[str, Any]:
    document = tomllib.loads(AGENTS)
    document["rules"][0] |= {"mode": mode, "page_rows": 100} | changed
    return document


@both
def test_ar_1_counts(db: apsw.Connection, mode: Mode) -> None:
    agent(db, "stale")
    agent(db, "released", status="released")
    agent(db, "recent", last_seen=CUTOFF + 1)
    calls = Calls(db, agents(mode), AGENTS_NOW)
    first, again = calls.call(), calls.call()
    assert (first.deleted, first.rules["agents"].scanned, again.deleted) == (2, 4, 0)


@both
def test_ar_4_a_database_that_fails_deletes_nothing(db: apsw.Connection, mode: Mode) -> None:
    for name in "abcd":
        agent(db, name)
    done = Calls(db, agents(mode), AGENTS_NOW).call(at_delete(fails(HostError("disk I/O error"))))
    assert "disk I/O error" in (done.rules["agents"].error or "")
    assert len(ids(db, "agents")) == 5


@pytest.mark.parametrize("table", ["agent_node_bindings", "nodes"])
def test_ar_5_a_registry_that_is_not_there(db: apsw.Connection, table: str) -> None:
    db.execute("PRAGMA legacy_alter_table = on")
    db.execute(f"ALTER TABLE {table} RENAME TO elsewhere")
    with pytest.raises(PolicyError, match=table):
        Calls(db, agents(), AGENTS_NOW)


@both
def test_ar_7_no_child_is_scanned(db: apsw.Connection, mode: Mode) -> None:
    for number in range(30):
        agent(db, f"a{number}")
    done = Calls(db, agents(mode), AGENTS_NOW).call()
    assert done.deleted == 30
    assert not scanned(db, done.statements)


@pytest.mark.parametrize("index", ["idx_messages_agent", "idx_channels_creator", "idx_files_uploader", "idx_webhooks_creator"])
def test_ar_8_without_an_index_it_is_refused(db: apsw.Connection, index: str) -> None:
    (found,) = db.execute("SELECT tbl_name FROM sqlite_schema WHERE name = ?", (index,)).fetchall()[0]
    db.execute(f"DROP INDEX {index}")
    with pytest.raises(Refused, match=f"scan '{found}'; create one: CREATE INDEX"):
        Calls(db, agents(), AGENTS_NOW)


CHANGES = {
    "ar_13 heartbeat": f"UPDATE agents SET last_seen = {CUTOFF + 100} WHERE id = 'stale'",
    "ar_14 status": "UPDATE agents SET status = 'active' WHERE id = 'stale'",
    "ar_15 binding": "INSERT INTO agent_node_bindings (id, workspace_id, agent_id, node_id, status) VALUES ('b', 'ws', 'stale', 'n', 'on')",
    "ar_16 history": "INSERT INTO messages (id, workspace_id, channel_id, agent_id, body) VALUES ('1', 'ws', 'ch_ws', 'stale', 'x')",
    "ar_17 origin": "UPDATE agents SET origin_node_id = 'n' WHERE id = 'stale'",
    "ar_18 location": "UPDATE agents SET location_type = 'via_node' WHERE id = 'stale'",
    "ar_19 metadata": "UPDATE agents SET metadata = '{\"fleet\": null}' WHERE id = 'stale'",
    "ar_20 direct node": "INSERT INTO nodes (id, workspace_id, name, token_hash) VALUES ('node_direct_stale', 'ws', 'd', 'd')",
}


@both
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_ar_13_to_20_a_change_before_the_delete_saves_the_agent(db: apsw.Connection, mode: Mode, change: str) -> None:
    db.execute("INSERT INTO nodes (id, workspace_id, name, token_hash) VALUES ('n', 'ws', 'n', 'n')")
    agent(db, "stale")
    done = Calls(db, agents(mode), AGENTS_NOW).call(at_delete(lambda: db.execute(change)))
    assert len(done.deletes) == 1
    assert done.deleted == 0
    assert done.rules["agents"].changed == (mode != "range")
    assert "stale" in ids(db, "agents")


@both
def test_ar_21_a_registry_that_vanishes_in_between(db: apsw.Connection, mode: Mode) -> None:
    agent(db, "stale")
    db.execute("PRAGMA legacy_alter_table = on")
    done = Calls(db, agents(mode), AGENTS_NOW).call(at_delete(lambda: db.execute("ALTER TABLE agent_node_bindings RENAME TO elsewhere")))
    assert done.ended
    assert done.ended.outcome == "failed"
    assert "no such table" in (done.rules["agents"].error or "")
    assert "stale" in ids(db, "agents")


@both
def test_ar_22_pages_and_a_second_look(db: apsw.Connection, mode: Mode) -> None:
    seen = CUTOFF - 2 * 86_400
    db.execute(
        "INSERT INTO agents (id, workspace_id, name, token_hash, status, created_at, last_seen) "
        "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 2569) "
        "SELECT 'a' || i, 'ws', 'a' || i, 'a' || i, CASE WHEN i % 10 THEN 'offline' ELSE 'active' END, ?1, ?1 FROM n",
        (seen,),
    )
    calls = Calls(db, agents(mode), AGENTS_NOW)
    done = calls.call()
    assert (done.deleted, done.rules["agents"].pages) == (2313, 26)
    assert len(ids(db, "agents")) == 257 + 1
    assert calls.call().deleted == 0

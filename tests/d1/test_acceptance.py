"""The relay preset on D1 and on a file: the same rows go, and what the receipt counts is what the server executed."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import apsw
import pytest

import retention
from retention.presets import preset, statements
from retention.presets.relay.sample import NOW, make_sample

from .fixtures import Database, Servers

TABLES = ("messages", "deliveries", "message_logs", "workspace_events", "read_receipts")
ROWS, TENANTS = 88_400, 100  # 50,000 deliveries


def left(con: apsw.Connection) -> dict[str, tuple[int, str]]:
    """Each table's row count and a digest of its rows."""
    found: dict[str, tuple[int, str]] = {}
    for table in TABLES:
        rows = sorted(map(repr, con.execute(f'SELECT * FROM "{table}"')))
        found[table] = (len(rows), hashlib.sha256("\n".join(rows).encode()).hexdigest())
    return found


def copy_to(servers: Servers, database: Database, source: Path) -> Path:
    """Make the sample's tables on D1, and its rows in the file in which the server keeps them."""
    database.setup(*statements(preset("relay").schema))
    path = servers.file(database)
    with closing(apsw.Connection(str(path))) as con:
        con.set_busy_timeout(5000)
        con.execute("ATTACH ? AS source", (str(source),))
        con.execute("BEGIN IMMEDIATE")
        for (trigger,) in con.execute("SELECT name FROM main.sqlite_schema WHERE type = 'trigger'").fetchall():
            con.execute(f'DROP TRIGGER "{trigger}"')
        tables = con.execute("SELECT name FROM source.sqlite_schema WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'").fetchall()
        for (table,) in tables:
            if "fts" not in table and not table.startswith("sqlite_"):
                con.execute(f'INSERT INTO main."{table}" SELECT * FROM source."{table}"')
        con.execute("INSERT INTO messages_fts(messages_fts) VALUES ('rebuild')")
        triggers = con.execute("SELECT sql FROM source.sqlite_schema WHERE type = 'trigger'").fetchall()
        for (sql,) in triggers:
            con.execute(sql)
        con.execute("COMMIT")
    return path


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("relay") / "relay.db"
    make_sample(str(path), rows=ROWS, tenants=TENANTS)
    return path


def counted(database: Database) -> int:
    return sum(len(request["statements"]) for request in database.log())


def command(database: Database, *arguments: str) -> dict[str, object]:
    environment = os.environ | {"CLOUDFLARE_API_TOKEN": database.token, "CLOUDFLARE_API_BASE_URL": database.url}
    ran = subprocess.run(
        [sys.executable, "-m", "retention", "run", f"d1://{database.account}/{database.id}", "--preset", "relay", "--json", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stdout, ran.stderr
    assert database.token not in ran.stdout + ran.stderr
    return json.loads(ran.stdout)


def test_the_command_deletes_on_d1_what_it_deletes_on_a_file(d1_server: Servers, sample: Path, tmp_path: Path) -> None:
    database = d1_server.fresh()
    file = copy_to(d1_server, database, sample)
    database.reset()
    now = NOW.isoformat()
    receipt = command(database, "--until-done", "--now", now, "--deadline", "10m", "--state", str(tmp_path / "d1.json"))
    assert (receipt["outcome"], receipt["why"]) == ("done", "finished"), receipt
    assert receipt["statements"]["total"] == counted(database)  # type: ignore[index]

    policy = preset("relay").policy
    here = retention.run(str(sample), policy, now=NOW, until_done=True, limits={"deadline": "10m"})
    assert here.outcome == "done"
    assert left(apsw.Connection(str(file))) == left(apsw.Connection(str(sample)))
    # Which rule takes a row that two would take depends on whose page comes first; what is named and what only one takes does not.
    for theirs, ours in zip(receipt["rules"], here.rules, strict=True):  # type: ignore[call-overload]
        assert theirs["malformed_tenants"] == ours.malformed_tenants
        if ours.rule in ("messages", "workspace_events"):
            assert theirs["deleted"] == ours.deleted


def test_fifty_statements_a_call_make_progress_and_drain(d1_server: Servers, tmp_path: Path) -> None:
    database = d1_server.fresh()
    small = tmp_path / "small.db"
    make_sample(str(small), rows=4_000, tenants=12)
    file = copy_to(d1_server, database, small)
    now = NOW.isoformat()
    state = str(tmp_path / "state.json")
    for _ in range(60):
        database.reset()
        before = Path(state).read_text() if Path(state).exists() else ""
        rows = left(apsw.Connection(str(file)))
        receipt = command(database, "--statements", "50", "--now", now, "--state", state)
        used = receipt["statements"]["used"]  # type: ignore[index]
        assert used == counted(database) <= receipt["statements"]["ceiling"] <= 50  # type: ignore[index]
        if receipt["outcome"] == "done":
            break
        assert receipt["outcome"] == "more", receipt
        assert Path(state).read_text() != before or left(apsw.Connection(str(file))) != rows
    else:
        pytest.fail("sixty calls of fifty statements did not drain the database")
    retention.run(str(small), preset("relay").policy, now=NOW, until_done=True)
    assert left(apsw.Connection(str(file))) == left(apsw.Connection(str(small)))

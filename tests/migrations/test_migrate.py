"""Guarded migrations on a file, on D1 and on libSQL."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from retention.engine.receipt import MigrationReceipt, Receipt
from retention.errors import HostError, PolicyError
from retention.hosts.base import Host
from retention.migrations import AsyncMigrator, Migrator
from retention.steps import Batch, Result
from retention.stores import MemoryStore
from tests.migrations.conftest import Database

SLOTS = "CREATE TABLE slots (id TEXT PRIMARY KEY, request TEXT, heartbeat INTEGER)"
ROWS = "INSERT INTO slots VALUES ('a', 'r1', 1), ('b', 'r2', 2), ('c', NULL, 3), ('d', NULL, 4)"

CURSORS = {"table": "cursors", "create": {"columns": {"job_id": "TEXT PRIMARY KEY", "acked": "INTEGER NOT NULL DEFAULT 0"}}}
SEEN = {"table": "slots", "add": {"column": "seen", "definition": "INTEGER"}}
FILL = {"table": "slots", "fill": {"set": {"seen": "heartbeat * 2"}, "where": "seen IS NULL"}}
REQUEST = {"table": "slots", "index": {"name": "slots_request", "on": ["request"], "where": "request IS NOT NULL", "unique": True}}
BY_SEEN = {"table": "slots", "index": {"name": "slots_seen", "on": ["seen DESC", "id"]}}
ALL = (CURSORS, SEEN, FILL, REQUEST, BY_SEEN)


def policy(*steps: dict[str, Any], **limits: Any) -> dict[str, Any]:
    return {"version": 1, "limits": limits, "migrations": list(steps)}


def migrate(db: Database, *steps: dict[str, Any], host: Host | None = None, store: Any = None, **given: Any) -> Receipt:
    allow_long = given.pop("allow_long", False)
    return Migrator(host or db.host, policy(*steps, **given), store=store).migrate(allow_long=allow_long)


def states(receipt: Receipt) -> list[str]:
    return [step.state for step in receipt.migrations]


def only(receipt: Receipt) -> MigrationReceipt:
    (step,) = receipt.migrations
    return step


def test_what_is_missing_is_made_in_order_and_a_second_call_finds_it_there(db: Database) -> None:
    db.script(SLOTS, ROWS)
    store = MemoryStore()
    first = migrate(db, *ALL, store=store)
    assert (first.outcome, first.exit_status, states(first)) == ("done", 0, ["made", "made", "filled", "made", "made"])
    assert db.tables() == {"slots", "cursors"}
    assert db.columns("slots") == ["id", "request", "heartbeat", "seen"]
    assert db.rows("SELECT CAST(seen AS TEXT) FROM slots ORDER BY id") == [("2",), ("4",), ("6",), ("8",)]
    assert db.indexes() == {"slots_request": True, "slots_seen": False}
    second = migrate(db, *ALL, store=store)
    assert (second.outcome, states(second)) == ("done", ["there"] * 5)
    assert [step.sql for step in second.migrations] == [()] * 5


def test_a_dry_run_says_it_and_writes_nothing(db: Database) -> None:
    db.script(SLOTS, ROWS)
    before = db.rows("SELECT sql FROM sqlite_schema ORDER BY name")
    sent: list[Batch] = []
    receipt = Migrator(db.host, policy(*ALL), on_step=lambda step, *_: sent.append(step)).plan()  # type: ignore[arg-type]
    assert (receipt.outcome, receipt.exit_status, states(receipt)) == ("more", 3, ["missing"] * 5)
    assert [step.sql[0].split('"')[0] for step in receipt.migrations] == [
        "CREATE TABLE ", "ALTER TABLE ", "UPDATE ", "CREATE UNIQUE INDEX ", "CREATE INDEX ",
    ]  # fmt: skip
    assert not any(batch.writes for batch in sent)
    assert db.rows("SELECT sql FROM sqlite_schema ORDER BY name") == before


def test_a_lost_state_file_begins_a_fill_anew_and_changes_nothing(db: Database) -> None:
    db.script(SLOTS, ROWS)
    migrate(db, SEEN, FILL)
    db.script("UPDATE slots SET seen = 99 WHERE id = 'a'")
    again = migrate(db, SEEN, FILL)
    assert (states(again), again.migrations[1].filled) == (["there", "there"], 0)
    assert db.rows("SELECT CAST(seen AS TEXT) FROM slots WHERE id = 'a'") == [("99",)]


def test_a_fill_goes_on_where_a_limit_ended_it(db: Database) -> None:
    numbers = "WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 700)"
    db.script(SLOTS, f"INSERT INTO slots (id, heartbeat) {numbers} SELECT 's' || v, v FROM n", "ALTER TABLE slots ADD COLUMN seen INTEGER")
    store, filled, calls = MemoryStore(), 0, 0
    cost = Migrator(db.host, policy(FILL)).plan().statements.used
    while True:
        receipt = migrate(db, FILL, store=store, page_rows=50, statements=cost + 22)
        assert receipt.statements.used <= cost + 22
        filled, calls = filled + only(receipt).filled, calls + 1
        if receipt.outcome == "done":
            break
        assert (receipt.outcome, receipt.why, only(receipt).state) == ("more", "statements", "open")
        assert calls < 20
    assert calls > 1
    assert filled == 700
    assert db.rows("SELECT count(*) FROM slots WHERE seen = heartbeat * 2")[0][0] == 700


def test_a_unique_index_over_duplicates_is_plain_until_they_are_gone(db: Database) -> None:
    db.script(SLOTS, ROWS, "UPDATE slots SET request = 'r1' WHERE id IN ('b', 'c')")
    first = migrate(db, REQUEST)
    assert (first.outcome, first.why, first.exit_status, states(first)) == ("more", "guard", 3, ["plain"])
    assert only(first).duplicates == [{"key": ["'r1'"], "rows": 3}]
    assert "3 rows of slots have (request) = ('r1')" in first.warnings[0]
    assert db.indexes() == {"slots_request": False}
    again = migrate(db, REQUEST)
    assert (states(again), db.indexes()) == (["plain"], {"slots_request": False})
    db.script("UPDATE slots SET request = id")
    planned = Migrator(db.host, policy(REQUEST)).plan()
    assert [sql.split('"')[0] for sql in only(planned).sql] == ["DROP INDEX ", "CREATE UNIQUE INDEX "]
    last = migrate(db, REQUEST)
    assert (last.outcome, states(last), db.indexes()) == ("done", ["made"], {"slots_request": True})
    with pytest.raises(HostError, match="UNIQUE"):
        db.script("UPDATE slots SET request = 'x'")


def test_duplicates_can_be_refused(db: Database) -> None:
    db.script(SLOTS, ROWS, "UPDATE slots SET request = 'r1' WHERE id = 'b'")
    refused = migrate(db, CURSORS, {**REQUEST, "index": {**REQUEST["index"], "duplicates": "refuse"}})
    assert (refused.outcome, refused.why, refused.exit_status) == ("refused", "schema", 4)
    assert (db.indexes(), db.tables()) == ({}, {"slots"})


@pytest.mark.parametrize(
    ("where", "values", "duplicates"),
    [
        (None, "(NULL), (NULL)", 0),
        (None, "(''), ('')", 2),
        ("request <> ''", "(''), ('')", 0),
        ("request IS NOT NULL", "(''), ('')", 2),
        ("request IS NOT NULL AND request <> ''", "('x'), ('x'), ('')", 2),
    ],
)
def test_nulls_are_no_duplicates_and_empty_texts_are_unless_where_leaves_them_out(
    db: Database, where: str | None, values: str, duplicates: int
) -> None:
    """A guard that looks for other duplicates than the index makes the index fail, and then there is none at all."""
    db.script("CREATE TABLE slots (n INTEGER PRIMARY KEY, request TEXT)", f"INSERT INTO slots (request) VALUES {values}")
    index = {"name": "slots_request", "on": ["request"], "unique": True} | ({"where": where} if where else {})
    receipt = migrate(db, {"table": "slots", "index": index})
    assert sum(one["rows"] for one in only(receipt).duplicates) == duplicates
    assert db.indexes() == {"slots_request": not duplicates}


def test_duplicates_are_compared_as_the_index_compares_them(db: Database) -> None:
    db.script("CREATE TABLE users (n INTEGER PRIMARY KEY, email TEXT)", "INSERT INTO users (email) VALUES ('A@x'), ('a@x')")
    for on, unique in ((["email"], True), (["email COLLATE NOCASE"], False), (["lower(email)"], False)):
        receipt = migrate(db, {"table": "users", "index": {"name": f"i{len(on[0])}", "on": on, "unique": True}})
        assert states(receipt) == ["made" if unique else "plain"], on


def test_an_index_over_many_rows_must_be_allowed(db: Database) -> None:
    db.script(SLOTS, ROWS)
    refused = migrate(db, CURSORS, REQUEST, index_rows=3)
    assert (refused.outcome, refused.why, states(refused)) == ("refused", "guard", ["missing", "refused"])
    assert "--allow-long" in str(refused.migrations[1].error)
    assert db.tables() == {"slots"}
    assert states(migrate(db, CURSORS, REQUEST, index_rows=4)) == ["made", "made"]
    assert states(migrate(db, BY_HEARTBEAT, index_rows=3, allow_long=True)) == ["made"]


BY_HEARTBEAT = {"table": "slots", "index": {"name": "slots_heartbeat", "on": ["heartbeat"]}}


def test_a_checked_column_reads_every_row_too(db: Database) -> None:
    db.script(SLOTS, ROWS)
    checked = {"table": "slots", "add": {"column": "kind", "definition": "TEXT CHECK (kind <> '')"}}
    assert migrate(db, checked, index_rows=3).why == "guard"
    assert states(migrate(db, checked)) == ["made"]


@pytest.mark.parametrize(
    "step",
    [
        {"table": "nothing", "add": {"column": "a"}},
        {"table": "slots", "index": {"name": "i", "on": ["nothing"]}},
        {"table": "slots", "index": {"name": "i", "on": ["lower(nothing)"]}},
        {"table": "slots", "index": {"name": "i", "on": ["id"], "where": "nothing = 1"}},
        {"table": "slots", "fill": {"set": {"request": "nothing"}, "where": "request IS NULL"}},
        {"table": "slots", "fill": {"set": {"request": "'x'"}, "where": "nothing IS NULL"}},
        {"table": "slots", "fill": {"set": {"id": "'x'"}, "where": "id IS NULL"}},
        {"table": "slots", "add": {"column": "request", "definition": "INTEGER"}},
        {"table": "slots", "add": {"column": "kind", "definition": "TEXT COLLATE nothing"}},
        {"table": "slots", "create": {"columns": {"id": "TEXT PRIMARY KEY", "other": "TEXT"}}},
        {"table": "slots", "create": {"columns": {"id": "TEXT PRIMARY KEY"}, "strict": True}},
        {"table": "slots", "create": {"columns": {"id": "TEXT", "request": "TEXT PRIMARY KEY"}}},
        {"table": "slots", "create": {"columns": {"id": "TEXT PRIMARY KEY", "request": "TEXT UNIQUE"}}},
        {"table": "fresh", "create": {"columns": {"id": "TEXT", "other": "TEXT COLLATE nothing"}}},
        {"table": "fresh", "create": {"columns": {"id": "TEXT"}, "constraints": ["UNIQUE (nothing)"]}},
        {"table": "slots", "index": {"name": "taken", "on": ["request"]}},
        {"table": "slots", "add": {"column": "kind", "definition": "TEXT CHECK (nothing > 0)"}},
        {"table": "slots", "add": {"column": "kind", "definition": "TEXT CHECK (kind IN (SELECT 1))"}},
        {"table": "slots", "add": {"column": "kind", "definition": "TEXT AS (nothing)"}},
        {"table": "slots", "add": {"column": "kind", "definition": "TEXT AS (max(id))"}},
        {"table": "slots", "index": {"name": "i", "on": ["json_extract(request, '$.a')"], "unique": True}},
    ],
)
def test_a_step_that_cannot_be_done_stops_all_of_them_before_the_first(db: Database, step: dict[str, Any]) -> None:
    db.script(SLOTS, ROWS, "CREATE INDEX taken ON slots (heartbeat)")
    before = db.rows("SELECT sql FROM sqlite_schema ORDER BY name")
    for receipt in (Migrator(db.host, policy(CURSORS, step)).plan(), migrate(db, CURSORS, step)):
        assert (receipt.outcome, receipt.exit_status, states(receipt)) == ("refused", 4, ["missing", "refused"])
        assert receipt.warnings[-1].startswith(f'migration "{receipt.migrations[1].migration}": ')
    assert db.rows("SELECT sql FROM sqlite_schema ORDER BY name") == before


def test_a_column_without_a_type_is_refused_in_a_strict_table_and_others_are_not(db: Database) -> None:
    db.script("CREATE TABLE strict (id INTEGER PRIMARY KEY, a TEXT AS (id || 'x')) STRICT")
    receipt = Migrator(db.host, policy({"table": "strict", "add": {"column": "b"}})).plan()
    assert (receipt.outcome, "missing datatype" in receipt.warnings[-1]) == ("refused", True)
    checked = {"table": "strict", "add": {"column": "b", "definition": "TEXT NOT NULL DEFAULT '' CHECK (b <> a)"}}
    assert (migrate(db, checked).outcome, migrate(db, checked).migrations[0].state) == ("done", "there")


def test_what_fails_in_the_middle_names_its_step(db: Database) -> None:
    db.script(SLOTS, ROWS)
    receipt = migrate(db, CURSORS, {"table": "slots", "index": {"name": "i", "on": ["json_extract(request, '$.a')"]}}, SEEN)
    assert (receipt.outcome, receipt.exit_status) == ("failed", 1)
    assert [(step.state, step.error is not None) for step in receipt.migrations] == [("made", False), ("missing", True), ("missing", False)]


def test_case_5_a_change_that_needs_a_rebuild_is_refused_and_names_who_would_lose_rows(db: Database) -> None:
    db.script(
        "CREATE TABLE usr (id INTEGER PRIMARY KEY, name TEXT)",
        "CREATE TABLE member (id INTEGER PRIMARY KEY, usr_id INTEGER NOT NULL REFERENCES usr (id) ON DELETE CASCADE)",
        "INSERT INTO usr VALUES (1, 'u1'), (2, 'u2')",
        "INSERT INTO member VALUES (10, 1), (11, 2)",
    )
    receipt = migrate(db, CURSORS, {"table": "usr", "create": {"columns": {"id": "INTEGER PRIMARY KEY", "name": "TEXT NOT NULL"}}})
    assert (receipt.outcome, receipt.exit_status) == ("refused", 4)
    assert "member" in receipt.warnings[-1]
    assert db.tables() == {"usr", "member"}
    assert db.rows("SELECT (SELECT count(*) FROM usr), count(*) FROM member") == [(2, 2)]


HALF = (
    {"table": "link", "add": {"column": "acct", "definition": "TEXT"}},
    {"table": "cast_", "add": {"column": "track", "definition": "INTEGER"}},
    {"table": "link", "index": {"name": "link_acct", "on": ["acct"]}},
    {"table": "link", "fill": {"set": {"acct": "'x'"}, "where": "acct IS NULL"}},
)


def test_case_31_what_an_earlier_run_left_half_done_is_finished(db: Database) -> None:
    db.script("CREATE TABLE link (id INTEGER PRIMARY KEY)", "CREATE TABLE cast_ (id INTEGER PRIMARY KEY, track INTEGER)",
              "INSERT INTO link VALUES (1), (2)")  # fmt: skip
    receipt = migrate(db, *HALF)
    assert (receipt.outcome, states(receipt)) == ("done", ["made", "there", "made", "filled"])
    assert db.rows("SELECT acct FROM link") == [("x",), ("x",)]


def test_case_31_a_column_that_is_another_one_leaves_everything_as_it_was_each_time(db: Database) -> None:
    db.script("CREATE TABLE link (id INTEGER PRIMARY KEY)", "CREATE TABLE cast_ (id INTEGER PRIMARY KEY, track TEXT)")
    for _ in range(2):
        receipt = migrate(db, *HALF)
        assert (receipt.outcome, states(receipt)) == ("refused", ["missing", "refused", "missing", "missing"])
        assert "cast_.track is TEXT here, not INTEGER" in receipt.warnings[-1]
        assert db.columns("link") == ["id"]


class Slower:
    """A host that lets somebody else be first: before the given batch that writes, another runner does all the work."""

    def __init__(self, db: Database, steps: Sequence[dict[str, Any]], at: int) -> None:
        self.db, self.steps, self.at, self.writes = db, steps, at, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.db.host, name)

    def execute(self, batch: Batch, timeout: float | None = None) -> Sequence[Result]:
        self.writes += batch.writes
        if batch.writes and self.writes == self.at:
            assert migrate(self.db, *self.steps).outcome == "done"
        return self.db.host.execute(batch, timeout)


@pytest.mark.parametrize("at", [1, 2, 3, 4, 5])
def test_the_slower_of_two_runners_finds_its_statement_done(db: Database, at: int) -> None:
    db.script(SLOTS, ROWS)
    receipt = migrate(db, *ALL, host=Slower(db, ALL, at))  # type: ignore[arg-type]
    assert receipt.outcome == "done"
    assert set(states(receipt)) <= {"made", "there", "filled"}
    assert db.indexes() == {"slots_request": True, "slots_seen": False}
    assert db.rows("SELECT count(*) FROM slots WHERE seen = heartbeat * 2") == [(4,)]


def test_a_duplicate_that_comes_between_looking_and_making_leaves_a_plain_index(db: Database) -> None:
    db.script(SLOTS, ROWS)

    class Late(Slower):
        def execute(self, batch: Batch, timeout: float | None = None) -> Sequence[Result]:
            self.writes += batch.writes
            if batch.writes and self.writes == 1:
                self.db.script("UPDATE slots SET request = 'r1'")
            return self.db.host.execute(batch, timeout)

    receipt = migrate(db, REQUEST, host=Late(db, (), 0))  # type: ignore[arg-type]
    assert (receipt.outcome, states(receipt), db.indexes()) == ("more", ["plain"], {"slots_request": False})


class Crash(BaseException):
    """The process is gone."""


class Dying:
    """A host whose process dies at the n-th batch: before it is sent, or after it was done and before anybody heard."""

    def __init__(self, db: Database, at: int, after: bool) -> None:
        self.db, self.left, self.after = db, at, after

    def __getattr__(self, name: str) -> Any:
        return getattr(self.db.host, name)

    def execute(self, batch: Batch, timeout: float | None = None) -> Sequence[Result]:
        self.left -= 1
        if self.left == 0 and not self.after:
            raise Crash
        results = self.db.host.execute(batch, timeout)
        if self.left == 0:
            raise Crash
        return results


@pytest.mark.parametrize("after", [False, True])
def test_a_crash_at_any_batch_resumes(db: Database, after: bool) -> None:
    at, reset = 0, ("DROP TABLE IF EXISTS cursors", "DROP TABLE IF EXISTS slots", SLOTS, ROWS)
    while True:
        at += 1
        db.script(*reset)
        store = MemoryStore()
        try:
            migrate(db, *ALL, host=Dying(db, at, after), store=store)  # type: ignore[arg-type]
        except Crash:
            pass
        else:
            break
        receipt = migrate(db, *ALL, store=store)
        assert (receipt.outcome, [step.finished for step in receipt.migrations]) == ("done", [True] * 5)
        assert db.indexes() == {"slots_request": True, "slots_seen": False}
        assert db.rows("SELECT count(*) FROM slots WHERE seen = heartbeat * 2") == [(4,)]
    assert at > 15


class Lost:
    """A host that does what it is told and whose answer to each write is lost."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def __getattr__(self, name: str) -> Any:
        return getattr(self.db.host, name)

    def execute(self, batch: Batch, timeout: float | None = None) -> Sequence[Result]:
        results = self.db.host.execute(batch, timeout)
        if batch.writes and batch.statements[0].sql.startswith(("CREATE", "ALTER", "DROP")):
            raise HostError("the reply was lost", "network", retryable=True, applied=None)
        return results


def test_a_lost_answer_is_looked_up(db: Database) -> None:
    db.script(SLOTS, ROWS)
    receipt = migrate(db, *ALL, host=Lost(db))  # type: ignore[arg-type]
    assert (receipt.outcome, states(receipt)) == ("done", ["there", "there", "filled", "there", "there"])


def test_both_faces_do_the_same(db: Database) -> None:
    db.script(SLOTS, ROWS)

    async def twice() -> tuple[Receipt, Receipt]:
        migrator = AsyncMigrator(db.host, policy(*ALL), store=MemoryStore())
        return await migrator.plan(), await migrator.migrate()

    planned, done = asyncio.run(twice())
    assert states(planned) == ["missing"] * 5
    assert states(done) == ["made", "made", "filled", "made", "made"]


def test_a_limit_that_is_too_small_to_look_is_refused(db: Database) -> None:
    db.script(SLOTS, ROWS)
    receipt = migrate(db, *ALL, statements=5)
    assert (receipt.outcome, receipt.why) == ("refused", "policy")
    assert "5 statements is too small" in receipt.warnings[-1]


def test_a_call_that_is_asked_to_stop_ends_after_its_step(db: Database) -> None:
    db.script(SLOTS, ROWS)
    receipt = Migrator(db.host, policy(*ALL), stop=lambda: True).migrate()
    assert (receipt.outcome, receipt.why, states(receipt)) == ("more", "paused", ["missing"] * 5)


def test_a_policy_without_migrations_is_an_error(db: Database) -> None:
    with pytest.raises(PolicyError, match=r"\[\[migrations\]\]"):
        Migrator(db.host, {"rules": [{"table": "t", "keep": "1d", "age": {"column": "c", "format": "unix_s"}}]})


def test_a_row_that_cannot_be_filled_does_not_stop_the_others(db: Database) -> None:
    db.script(SLOTS, ROWS, "ALTER TABLE slots ADD COLUMN seen INTEGER")
    db.script("CREATE TRIGGER kept BEFORE UPDATE ON slots WHEN NEW.id = 'b' BEGIN SELECT RAISE(ABORT, 'kept'); END")
    receipt = migrate(db, FILL, BY_SEEN)
    assert (receipt.outcome, receipt.exit_status, states(receipt)) == ("failed", 1, ["open", "missing"])
    assert "rows of slots cannot be filled" in receipt.warnings[-1]
    assert "kept" in receipt.warnings[-1]
    assert db.rows("SELECT id FROM slots WHERE seen IS NULL") == [("b",)]
    db.script("DROP TRIGGER kept")
    assert states(migrate(db, FILL, BY_SEEN)) == ["filled", "made"]


def test_a_table_without_rowid_is_filled_by_its_key(db: Database) -> None:
    db.script(
        "CREATE TABLE parts (a TEXT, b INTEGER, c TEXT, PRIMARY KEY (b, a)) WITHOUT ROWID",
        "WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 300) "
        "INSERT INTO parts (a, b) SELECT 'p' || v, v % 7 FROM n",
    )
    step = {"table": "parts", "fill": {"set": {"c": "a || ':' || CAST(b AS TEXT)"}, "where": "c IS NULL"}}
    assert only(migrate(db, step, page_rows=40)).filled == 300
    assert db.rows("SELECT count(*) FROM parts WHERE c = a || ':' || CAST(b AS TEXT)") == [(300,)]


def test_a_fill_may_look_into_other_tables_and_at_awkward_names(db: Database) -> None:
    db.script(
        'CREATE TABLE "odd ""table" (id INTEGER PRIMARY KEY, "the ""name" TEXT)',
        "CREATE TABLE names (id INTEGER PRIMARY KEY, called TEXT)",
        "INSERT INTO names VALUES (1, 'one'), (2, 'two')",
        'INSERT INTO "odd ""table" (id) VALUES (1), (2), (3)',
    )
    fill = {"set": {'the "name': '(SELECT n.called FROM names AS n WHERE n.id = "odd ""table".id)'}, "where": '"the ""name" IS NULL'}
    index = {"name": 'by "name', "on": ['"the ""name" DESC'], "where": '"the ""name" IS NOT NULL'}
    receipt = migrate(db, {"table": 'odd "table', "fill": fill}, {"table": 'odd "table', "index": index})
    assert (receipt.outcome, states(receipt)) == ("done", ["filled", "made"])
    assert db.rows('SELECT "the ""name" FROM "odd ""table" ORDER BY id') == [("one",), ("two",), (None,)]
    assert db.indexes() == {'by "name': False}

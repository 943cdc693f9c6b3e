"""`retention init`: what it writes always loads, enables nothing, and says on what each guess stands."""

from __future__ import annotations

import tomllib

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retention.errors import HostError
from retention.policy.load import parse
from retention.steps import Batch
from retention.upkeep.first_policy import first_policy
from tests.schema.driver import database, drive, schema_of

NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) "


def written(db: apsw.Connection, sent: list[Batch] | None = None) -> str:
    return drive(db, first_policy(schema_of(db), "app.db"), sent)


def test_a_rule_with_its_evidence():
    db = database(
        "CREATE TABLE jobs(id INTEGER PRIMARY KEY, created_at INTEGER, finished_at INTEGER, next_run_at INTEGER)",
        "CREATE INDEX by_finish ON jobs(finished_at)",
        NUMBERS.format(500) + "INSERT INTO jobs SELECT i, 1760000000 + i, CASE WHEN i % 2 THEN 1770000000 END, 1 FROM n",
        "CREATE TABLE parts(job REFERENCES jobs ON DELETE CASCADE)",
        "CREATE TRIGGER tidy AFTER DELETE ON jobs BEGIN DELETE FROM parts WHERE job = OLD.id; END",
    )
    text = written(db)
    (rule,) = parse(text).rules
    assert (rule.table, rule.enabled) == ("jobs", False)
    assert rule.age is not None
    assert (rule.age.column, rule.age.format) == ("finished_at", "unix_s")
    for line in (
        "# The age: finished_at as unix_s: declared INTEGER, 50 of 50 sampled values look like unix_s, 2026-02-02 to 2026-02-02,"
        " NULL in 50 more; index by_finish is led by it.",
        "# Rows in which finished_at is NULL are not finished, and stay.",
        "# Or: created_at as unix_s: declared INTEGER, 100 of 100 sampled values look like unix_s, 2025-10-09 to 2025-10-09.",
        "# A DELETE here also deletes, level 1 of the foreign keys: parts.",
        "# A DELETE here also fires trigger tidy, which writes to: parts.",
        "#   parts: no column looks like a time",
    ):
        assert line in text.splitlines()


def test_what_was_seen_comes_before_what_is_only_named():
    db = database(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, finished_at INTEGER, created_at INTEGER)", "INSERT INTO t VALUES (1, NULL, 1760000000)"
    )
    (rule,) = parse(written(db)).rules
    assert rule.age is not None
    assert rule.age.column == "created_at"


def test_an_id_with_the_time_in_it_is_found_and_a_snowflake_waits_for_its_epoch():
    db = database(
        "CREATE TABLE u(id TEXT PRIMARY KEY NOT NULL)", "INSERT INTO u VALUES ('01K31F8NG0ABCDEFGHJKMNPQRS')",
        "CREATE TABLE s(id INTEGER PRIMARY KEY)", "INSERT INTO s VALUES (1234567890123456789)",
    )  # fmt: skip
    text = written(db)
    assert [(rule.table, rule.age and rule.age.format) for rule in parse(text).rules] == [("u", "ulid"), ("s", "snowflake")]
    assert "# epoch_ms is not known" in text


def test_tables_without_a_rule_are_listed_with_the_reason():
    db = database(
        "CREATE TABLE users(id INTEGER PRIMARY KEY, created_at INTEGER DEFAULT (unixepoch()))",
        "CREATE TABLE words(word TEXT)",
        "CREATE TABLE odd(created_at TEXT)",
        "INSERT INTO odd VALUES ('last tuesday')",
        "CREATE TABLE hidden(rowid, _rowid_, oid, created_at INTEGER)",
        "CREATE TABLE zigzag(a, b, created_at INTEGER, PRIMARY KEY(a, b DESC)) WITHOUT ROWID",
        "CREATE VIEW v AS SELECT created_at FROM users",
        "CREATE VIRTUAL TABLE ft USING fts5(created_at)",
    )
    text = written(db)
    assert not tomllib.loads(text).get("rules")
    reasons = {line[4:].split(": ", 1)[0]: line.split(": ", 1)[1] for line in text.splitlines() if line.startswith("#   ")}
    assert reasons == {
        "users": "by its name it looks like data that never expires (created_at would be an age, unix_s)",
        "words": "no column looks like a time",
        "odd": "no column holds times that a format reads",
        "hidden": "has no key by which it could be walked",
        "zigzag": "has no key by which it could be walked",
        "v": "a view, which holds no rows of its own",
        "ft": "a virtual table, which its module keeps",
        **{f"ft_{part}": "a shadow table, which belongs to a virtual table" for part in ("data", "idx", "content", "docsize", "config")},
    }


def test_it_reads_at_most_a_hundred_rows_whatever_the_size_of_the_table():
    def steps(rows: int) -> tuple[int, list[int]]:
        db = database(
            "CREATE TABLE t(k TEXT PRIMARY KEY, created_at INTEGER) WITHOUT ROWID",
            NUMBERS.format(rows) + "INSERT INTO t SELECT printf('%09d', i), 1760000000 + i FROM n",
        )
        schema = schema_of(db)
        taken = [0]

        def count() -> bool:
            taken[0] += 1
            return False

        engine = first_policy(schema)
        (statement,) = next(engine).statements  # type: ignore[union-attr]
        db.set_progress_handler(count, 1)
        found = db.execute(statement.sql, statement.params).fetchall()
        return taken[0], [len(found)]

    assert steps(1_000) == steps(20_000)
    assert steps(1_000)[1] == [100]
    assert steps(70)[1] == [70]  # the two ends overlap


def test_one_statement_a_table_that_fits_the_limits_of_the_smallest_host():
    columns = ", ".join(f"c{i}_at INTEGER" for i in range(95))
    db = database(f"CREATE TABLE wide({columns})", "INSERT INTO wide(c0_at, c94_at) VALUES (1760000000, 1760000000)")
    db.limit(apsw.SQLITE_LIMIT_COLUMN, 100)
    db.limit(apsw.SQLITE_LIMIT_COMPOUND_SELECT, 5)
    db.limit(apsw.SQLITE_LIMIT_SQL_LENGTH, 100_000)
    sent: list[Batch] = []
    (rule,) = parse(written(db, sent)).rules
    assert rule.age is not None
    assert rule.age.column == "c0_at"
    assert [len(batch.statements) for batch in sent] == [1]


def test_a_table_that_cannot_be_read_is_listed_and_a_lock_is_not_swallowed():
    schema = schema_of(database("CREATE TABLE a(created_at INTEGER)", "CREATE TABLE b(created_at INTEGER)"))
    engine = first_policy(schema)
    next(engine)
    engine.throw(HostError("no such collation sequence:\nodd", "schema"))
    with pytest.raises(StopIteration) as stop:
        engine.send([])
    assert "#   a: could not be read: no such collation sequence: odd\n" in stop.value.value
    assert [rule.table for rule in parse(stop.value.value).rules] == ["b"]

    engine = first_policy(schema)
    next(engine)
    with pytest.raises(HostError):
        engine.throw(HostError("database is locked", "busy", retryable=True))


NAMES = st.one_of(
    st.sampled_from(["created_at", "order", 'say "when"', "x = 1 # y", "[[rules]]", "naïve", "a\\b", "line\nbreak", "tab\t", "\x7f"]),
    st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1, max_size=12),
)  # fmt: skip


@given(
    NAMES, NAMES, st.sampled_from(["INTEGER", "DATETIME", '"odd\ntype"', ""]), st.sampled_from([None, 1_760_000_000, "2026-01-31 12:00:00"])
)
@settings(max_examples=150, deadline=None)
def test_whatever_the_names_the_text_loads_and_enables_nothing(table, column, declared, value):
    db = apsw.Connection("")
    quoted = ['"' + name.replace('"', '""') + '"' for name in (table, column)]
    try:
        db.execute(f"CREATE TABLE {quoted[0]}({quoted[1]} {declared}, fired_at INTEGER, id INTEGER PRIMARY KEY)")
    except apsw.SQLError:
        return  # a reserved name, or the same column twice
    db.execute(f"INSERT INTO {quoted[0]}({quoted[1]}, fired_at) VALUES (?, 1760000000)", (value,))
    text = drive(db, first_policy(schema_of(db), table))
    rules = tomllib.loads(text).get("rules", [])
    assert all(rule["enabled"] is False for rule in rules)
    if rules:
        (rule,) = parse(text).rules
        assert rule.table == table
        assert rule.age is not None
        assert rule.age.column in (column, "fired_at")
    else:
        assert "#   " in text

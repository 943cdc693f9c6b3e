from __future__ import annotations

import pytest

from retention.schema.ddl import index_where, not_null_terms, trigger_event, trigger_writes, virtual_module
from tests.schema.driver import database, schema_of


@pytest.mark.parametrize(
    ("sql", "where"),
    [
        ("CREATE INDEX i ON t(a) WHERE a > 1", "a > 1"),
        ("CREATE INDEX i ON t(a)\nWHERE/* why */a > 1 -- because\n", "a > 1"),
        ("CREATE INDEX i ON t(a) WHERE a > 1 -- and\n AND b = ' where '", "a > 1 -- and\n AND b = ' where '"),
        ('CREATE INDEX " where " ON "t where "("x where y") WHERE "x where y" IS NOT NULL', '"x where y" IS NOT NULL'),
        ("CREATE INDEX i ON t(a /* where a > 2 */) where (a) IN (1, 2)", "(a) IN (1, 2)"),
        ("CREATE INDEX i ON t(a, ' where ' || b)", None),
        ("CREATE INDEX [where] ON t(a)", None),
    ],
)
def test_a_partial_index_keeps_its_condition_verbatim(sql, where):
    assert index_where(sql) == where


@pytest.mark.parametrize(
    ("where", "terms"),
    [
        ("a IS NOT NULL", ("a",)),
        ('"A b" NOTNULL', ("a b",)),
        ("a NOT NULL and b IS NOT NULL", ("a", "b")),
        ("a IS NOT NULL OR b IS NOT NULL", (None,)),
        ("a IS NOT NULL AND b > 1", ("a", None)),
        ("a IS NOT 1", (None,)),
        ("(a IS NOT NULL AND b IS NOT NULL)", (None,)),
        ("a", (None,)),
        ("'a' IS NOT NULL", (None,)),
    ],
)
def test_terms_that_only_test_for_not_null(where, terms):
    assert not_null_terms(where) == terms


TRIGGERS = [
    ("AFTER DELETE ON t BEGIN INSERT INTO log VALUES (1); END", "DELETE", ("log",)),
    ("BEFORE INSERT ON t BEGIN INSERT OR IGNORE INTO log VALUES (1); REPLACE INTO k VALUES (2); END", "INSERT", ("log", "k")),
    ("AFTER UPDATE OF a ON t BEGIN UPDATE OR FAIL log SET x = 1; DELETE FROM \"k\" WHERE y = ';'; END", "UPDATE", ("log", "k")),
    ("DELETE ON t WHEN OLD.a IN (SELECT x FROM log) BEGIN SELECT CASE WHEN 1 THEN RAISE(ABORT, 'DELETE FROM t') END; END", "DELETE", ()),
    ("AFTER DELETE ON t BEGIN INSERT INTO k VALUES (1) ON CONFLICT DO UPDATE SET y = 2; /* DELETE FROM log; */ END", "DELETE", ("k",)),
    ("AFTER DELETE ON t BEGIN UPDATE log SET x = (SELECT max(y) FROM k); UPDATE log SET x = 2; END", "DELETE", ("log",)),
]


@pytest.mark.parametrize("name", ["tr", '"DELETE"', "before", "'update of'", "[begin insert]"])
@pytest.mark.parametrize(("body", "event", "writes"), TRIGGERS)
def test_triggers_tell_their_event_and_the_tables_they_write(name, body, event, writes):
    db = database(
        "CREATE TABLE t(a)", "CREATE TABLE log(x)", "CREATE TABLE k(y PRIMARY KEY)", f"CREATE TRIGGER IF NOT EXISTS main.{name} {body}"
    )
    (trigger,) = schema_of(db).tables["t"].triggers
    assert (trigger.event, trigger.writes) == (event, writes)
    assert (trigger_event(trigger.sql), trigger_writes(trigger.sql)) == (event, writes)


def test_a_column_called_begin_does_not_open_a_trigger_body():
    sql = "CREATE TRIGGER tr AFTER UPDATE OF begin ON t WHEN NEW.begin > 1 BEGIN DELETE FROM log; END"
    database('CREATE TABLE t("begin")', "CREATE TABLE log(x)", sql)
    assert (trigger_event(sql), trigger_writes(sql)) == ("UPDATE", ("log",))


@pytest.mark.parametrize(
    ("sql", "module", "options"),
    [
        ("CREATE VIRTUAL TABLE ft USING fts5(body, content='n', content_rowid=id)", "fts5", {"content": "n", "content_rowid": "id"}),
        ("CREATE VIRTUAL TABLE ft USING FTS5(a, content = \"my n\", tokenize='a b')", "fts5", {"content": "my n", "tokenize": "a b"}),
        ("CREATE VIRTUAL TABLE ft USING fts5(a, content='')", "fts5", {"content": ""}),
        ('CREATE VIRTUAL TABLE "a using b" USING rtree(id, x0, x1)', "rtree", {}),
        ("CREATE VIRTUAL TABLE v USING dbstat", "dbstat", {}),
    ],
)
def test_a_virtual_table_names_its_module_and_options(sql, module, options):
    assert virtual_module(sql) == (module, options)

"""What a step finds: tables, columns and indexes by what they are."""

from __future__ import annotations

from typing import Any

import apsw
import pytest

from retention.errors import PolicyError
from retention.hosts.sqlite import SQLite
from retention.policy.load import from_dict, parse
from retention.policy.migration_models import Migration, refusals
from retention.schema.reader import read
from retention.upkeep.migrate_steps import State, applied, inspect, statements
from tests.ledger.driving import drive


def found(*sql: str, **step: Any) -> State:
    connection = apsw.Connection(":memory:")
    for text in sql:
        connection.execute(text)
    host = SQLite(connection)
    return inspect(Migration(table="t", **step), drive(read(host.capabilities), host)).state


T = 'CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b INTEGER, "odd name" TEXT COLLATE NOCASE)'


@pytest.mark.parametrize(
    ("there", "wanted", "state"),
    [
        ("CREATE INDEX i ON t (a)", {"on": ["a"]}, "there"),
        ("CREATE INDEX other ON t (a)", {"on": ["a"]}, "there"),
        ('CREATE INDEX i ON t ("A" ASC)', {"on": ["a"]}, "there"),
        ("CREATE INDEX i ON t (a COLLATE BINARY)", {"on": ["a"]}, "there"),
        ("CREATE INDEX i ON t ([odd name])", {"on": ['"odd name"']}, "there"),
        ("CREATE INDEX i ON t ([odd name])", {"on": ['"odd name" COLLATE NOCASE']}, "there"),
        ("CREATE INDEX i ON t ([odd name] COLLATE BINARY)", {"on": ['"odd name"']}, "differs"),
        ("CREATE INDEX other ON t (a DESC)", {"on": ["a"]}, "missing"),
        ("CREATE INDEX i ON t (a DESC)", {"on": ["a"]}, "differs"),
        ("CREATE INDEX i ON t (a, b)", {"on": ["a"]}, "differs"),
        ("CREATE INDEX i ON t (b, a)", {"on": ["a", "b"]}, "differs"),
        ("CREATE UNIQUE INDEX other ON t (a)", {"on": ["a"]}, "there"),
        ("CREATE INDEX i ON t (a)", {"on": ["a"], "unique": True}, "plain"),
        ("CREATE INDEX other ON t (a)", {"on": ["a"], "unique": True}, "missing"),
        ("CREATE INDEX i ON t (a) WHERE b > 0", {"on": ["a"]}, "differs"),
        ("CREATE INDEX i ON t (a) WHERE b>0", {"on": ["a"], "where": '("b" > 0)'}, "there"),
        ("CREATE INDEX i ON t (a) WHERE b > 0 -- why", {"on": ["a"], "where": "B > 0"}, "there"),
        ("CREATE INDEX i ON t (a) WHERE a = 'X'", {"on": ["a"], "where": "a = 'x'"}, "differs"),
        ("CREATE INDEX i ON t (length(a), id)", {"on": ["LENGTH( a )", "id"]}, "there"),
        ("CREATE INDEX i ON t (length(a), id)", {"on": ["length(b)", "id"]}, "differs"),
        ("CREATE INDEX i ON t (a, id)", {"on": ["a", "id"]}, "there"),
        ("CREATE TABLE u (x); CREATE INDEX i ON u (x)", {"on": ["a"]}, "differs"),
        ("CREATE INDEX i ON t ((a), lower(b))", {"on": ["a", "((lower(b)))"]}, "there"),
        ("CREATE INDEX i ON t (a)", {"on": ["( ( a ) ) DESC"]}, "differs"),
        ("CREATE INDEX i ON t (a, id)", {"on": ["(a)", "id"]}, "there"),
        ("", {"on": ["a", "rowid"]}, "differs"),
    ],
)
def test_indexes_are_compared_by_what_they_are(there: str, wanted: dict[str, Any], state: State) -> None:
    assert found(T, there, index={"name": "i", **wanted}) == state


def test_a_primary_key_and_a_unique_constraint_are_unique_indexes() -> None:
    table = "CREATE TABLE t (a TEXT, b INTEGER, PRIMARY KEY (a, b), UNIQUE (b))"
    for on in (["a", "b"], ["b"]):
        assert found(table, index={"name": "i", "on": on, "unique": True}) == "there"
    assert found(table, index={"name": "i", "on": ["a"], "unique": True}) == "missing"


@pytest.mark.parametrize(
    ("columns", "given", "state"),
    [
        ("a TEXT, b INTEGER", {}, "there"),
        ("A varchar(10), b INT, more", {}, "there"),
        ("a TEXT", {}, "differs"),
        ("a INTEGER, b INTEGER", {}, "differs"),
        ("a TEXT NOT NULL, b INTEGER", {}, "differs"),
        ("a TEXT, b INTEGER AS (1)", {}, "differs"),
        ("a TEXT, b INTEGER, UNIQUE (b, a)", {"constraints": ["UNIQUE (b, a)"]}, "there"),
        ("a TEXT, b INTEGER, UNIQUE (a, b)", {"constraints": ["CONSTRAINT u UNIQUE (b, a)"]}, "differs"),
        ("a TEXT, b INTEGER, PRIMARY KEY (a, b)", {"constraints": ["PRIMARY KEY (a, b)"]}, "there"),
        ("a TEXT, b INTEGER, PRIMARY KEY (a, b)", {"constraints": ["PRIMARY KEY (b)"]}, "differs"),
        ("a TEXT, b INTEGER", {"constraints": ["CHECK (b > 0)", "FOREIGN KEY (b) REFERENCES u (id)"]}, "there"),
    ],
)
def test_tables_are_compared_by_columns_and_keys(columns: str, given: dict[str, Any], state: State) -> None:
    assert found(f"CREATE TABLE t ({columns})", create={"columns": {"a": "TEXT", "b": "INTEGER"}, **given}) == state


@pytest.mark.parametrize(("options", "given"), [("WITHOUT ROWID", "without_rowid"), ("STRICT", "strict")])
def test_options_of_tables_are_compared(options: str, given: str) -> None:
    wanted = {"columns": {"a": "TEXT PRIMARY KEY"}}
    for made in ("", options):
        for want in (False, True):
            state = found(f"CREATE TABLE t (a TEXT PRIMARY KEY) {made}", create={**wanted, given: want})
            assert state == ("there" if want == bool(made) else "differs")


def test_a_view_is_no_table() -> None:
    assert found("CREATE VIEW t AS SELECT 1 AS a", create={"columns": {"a": "TEXT"}}) == "differs"
    assert found("CREATE VIEW t AS SELECT 1 AS a", add={"column": "b"}) == "differs"


def test_a_table_may_lack_columns_that_later_steps_add() -> None:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE TABLE t (a TEXT)")
    host = SQLite(connection)
    schema = drive(read(host.capabilities), host)
    create = Migration(table="t", create={"columns": {"a": "TEXT", "b": "INTEGER"}})  # type: ignore[arg-type]
    add = Migration(table="T", add={"column": "B", "definition": "INTEGER"})  # type: ignore[arg-type]
    assert inspect(create, schema).state == "differs"
    assert inspect(create, schema, (add,)).state == "there"
    assert inspect(add, schema).state == "missing"
    assert inspect(add, applied(add, schema)).state == "there"


@pytest.mark.parametrize(
    "step",
    [
        {"create": {"columns": {"id": "INTEGER PRIMARY KEY", 'odd "name': "TEXT NOT NULL DEFAULT 'x' COLLATE NOCASE"}}},
        {"create": {"columns": {"a": "TEXT", "b": "TEXT"}, "constraints": ["PRIMARY KEY (a, b)", "UNIQUE (b)"], "without_rowid": True}},
        {"create": {"columns": {"a": "TEXT"}, "strict": True, "without_rowid": False}},
        {"create": {"columns": {"a": "TEXT", "a b": "TEXT", "q'x": "TEXT UNIQUE"}, "constraints": ['UNIQUE ("a b", a)']}},
    ],
)
def test_what_a_step_makes_it_finds(step: dict[str, Any]) -> None:
    connection = apsw.Connection(":memory:")
    host = SQLite(connection)
    steps = [Migration(table="t", **step)]
    columns = list(steps[0].create.columns) if steps[0].create else []
    steps += [Migration(table="t", add={"column": "later", "definition": "INTEGER DEFAULT 1"})]  # type: ignore[arg-type]
    quoted = ['"' + c.replace('"', '""') + '"' for c in columns]
    steps += [Migration(table="t", index={"name": "i", "on": [*quoted, "later DESC"], "where": "later > 0", "unique": True})]  # type: ignore[arg-type]
    foreseen = drive(read(host.capabilities), host)
    for one in steps:
        real = drive(read(host.capabilities), host)
        assert inspect(one, real).state == inspect(one, foreseen).state == "missing"
        for sql in statements(one, inspect(one, real)):
            connection.execute(sql)
        foreseen = applied(one, foreseen)
        assert inspect(one, drive(read(host.capabilities), host)).state == inspect(one, foreseen).state == "there"


REFUSED = {
    "TEXT NOT NULL": "NOT NULL",
    "TEXT NOT NULL DEFAULT NULL": "NOT NULL",
    "TEXT PRIMARY KEY": "PRIMARY KEY",
    "TEXT UNIQUE": "UNIQUE",
    "TEXT DEFAULT CURRENT_TIMESTAMP": "constant",
    "TEXT DEFAULT (random())": "constant",
    "INT AS (1) STORED": "STORED",
    "INT REFERENCES t (id) DEFAULT 1": "REFERENCES",
}
ALLOWED = (
    "", "TEXT", "TEXT NOT NULL DEFAULT 'UNIQUE'", "INT DEFAULT -1", "INT REFERENCES t (id)", "INT REFERENCES t (id) DEFAULT NULL",
    "INT AS (id + 1)", "INT NOT NULL DEFAULT 0 CHECK (c >= 0)", "TEXT COLLATE NOCASE",
)  # fmt: skip


@pytest.mark.parametrize("definition", [*REFUSED, *ALLOWED])
def test_columns_are_refused_exactly_where_sqlite_refuses_them(definition: str) -> None:
    """On a table with rows: an empty one takes some of them, and what works there only works for a while."""
    connection = apsw.Connection(":memory:")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1)")
    if definition in ALLOWED:
        assert refusals(definition) is None
        connection.execute(f"ALTER TABLE t ADD COLUMN c {definition}")
    else:
        assert REFUSED[definition] in (refusals(definition) or "")
        with pytest.raises(apsw.Error):
            connection.execute(f"ALTER TABLE t ADD COLUMN c {definition}")
        with pytest.raises(PolicyError, match="definition"):
            from_dict({"migrations": [{"table": "t", "add": {"column": "c", "definition": definition}}]})


HEAD = "version = 1\n[[migrations]]\n"
TWICE = '[[migrations]]\ntable = "t"\nadd = { column = "a" }'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('table = "t"', 'migrations[0] "t": says nothing to do; a step has exactly one of create, add, fill and index.'),
        ('table = "t"\nadd = { column = "a" }\nindex = { name = "i", on = ["a"] }', 'migrations[0] "t": asks for two things at once'),
        ('table = "t"\ndrop = true', 'migrations[0] "t": drop: is not a key here'),
        ('table = "t"\nadd = { colum = "a" }', "add.colum: is not a key here; did you mean column?"),
        ('table = "t"\nadd = { column = "a", definition = "TEXT, b TEXT" }', "definition: defines more than one column"),
        ('table = "t"\nadd = { column = "a", definition = "TEXT); DROP TABLE t" }', "definition: "),
        ('table = "t"\nadd = { column = "a", definition = "TEXT -- why" }', "definition: holds an SQL comment"),
        ('table = "t"\nadd = { column = "a", definition = "TEXT DEFAULT \'x" }', "definition: has a quote that is not closed"),
        ('table = "t"\nadd = { column = "a", definition = "TEXT DEFAULT ?1" }', "definition: holds a parameter"),
        ('table = "t"\nadd = { column = "a", definition = "INT) CHECK (1" }', "definition: has parentheses that do not match"),
        ('table = "t"\nfill = { set = { a = "1" } }', "fill.where: is missing"),
        ('table = "t"\nfill = { set = {}, where = "a IS NULL" }', "fill.set: "),
        ('table = "t"\nfill = { set = { a = "datetime(\'now\')" }, where = "a IS NULL" }', "fill.set: "),
        ('table = "t"\nfill = { set = { a = "1) IS NULL OR (1" }, where = "a IS NULL" }', "fill.set: has parentheses that do not match"),
        ('table = "t"\nfill = { set = { a = "1" }, where = "a" }', "fill.where: asks a for yes or no"),
        ('table = "t"\nindex = { name = "i", on = [] }', "index.on: is an empty list"),
        ('table = "t"\nindex = { name = "i", on = ["a", "  "] }', "index.on: has a key that is blank"),
        ('table = "t"\nindex = { name = "i", on = ["COLLATE NOCASE DESC"] }', "index.on: has a key that is blank"),
        ('table = "t"\nindex = { name = "i", on = ["\'a\' DESC"] }', "index.on: has the text 'a' for a key"),
        ('table = "t"\nindex = { name = "sqlite_i", on = ["a"] }', "index.name: begins with sqlite_"),
        ('table = "SQLite_t"\ncreate = { columns = { a = "" } }', "table: begins with sqlite_"),
        ('table = "t"\nindex = { name = "i", on = ["a, b"] }', "index.on: defines more than one column"),
        ('table = "t"\nindex = { name = "i", on = ["a"], where = "a; b" }', "index.where: holds a semicolon"),
        ('table = "t"\nindex = { name = "i", on = ["a"], duplicates = "drop" }', 'index.duplicates: must be "plain" or "refuse"'),
        ('table = "t"\ncreate = { columns = {} }', "create.columns: "),
        ('table = "t"\ncreate = { columns = { a = "TEXT; DROP TABLE t" } }', "create.columns: holds a semicolon"),
        (f'table = "t"\nadd = {{ column = "a" }}\n{TWICE}', 'migrations[1] "t": name: is "t.a" like an earlier'),
    ],
)
def test_steps_that_cannot_be_are_refused_when_they_are_read(text: str, message: str) -> None:
    with pytest.raises(PolicyError) as refused:
        parse(HEAD + text, "p")
    assert message in str(refused.value)


def test_steps_are_named_by_what_they_make() -> None:
    steps = parse(
        HEAD + 'table = "t"\ncreate = { columns = { a = "" } }\n[[migrations]]\ntable = "t"\nadd = { column = "b" }\n'
        '[[migrations]]\ntable = "t"\nfill = { set = { a = "1", b = "2" }, where = "a IS NULL" }\n'
        '[[migrations]]\ntable = "t"\nindex = { name = "i", on = ["a"] }\n'
        '[[migrations]]\nname = "mine"\ntable = "t"\nadd = { column = "c" }'
    ).migrations
    assert [step.name for step in steps] == ["t", "t.b", "fill t.a, b", "i", "mine"]

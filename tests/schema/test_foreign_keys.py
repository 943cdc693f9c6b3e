"""`ForeignKey.indexed` against SQLite's own plan of a child look-up, the index that mends it, and what a DELETE reaches."""

from __future__ import annotations

import re

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retention.schema.foreign_keys import child_index, reach
from retention.schema.model import ForeignKey, fold
from tests.schema.driver import database, schema_of

_SEARCH = re.compile(r"SEARCH c USING (?:COVERING )?(?:INDEX (?P<index>\S+)|(?P<key>INTEGER PRIMARY KEY|PRIMARY KEY)) \((?P<terms>.*)\)")


def looked_up(db: apsw.Connection, key: ForeignKey) -> bool:
    """Whether SQLite, before it deletes a parent, reads only the children that match."""
    db.pragma("foreign_keys", True)
    details = [row[3] for row in db.execute("EXPLAIN QUERY PLAN DELETE FROM p WHERE 1") if " c" in row[3]]
    assert details
    found = _SEARCH.fullmatch(details[-1])
    if found is None:
        assert details[-1].startswith("SCAN c")
        return False
    if found["key"] == "INTEGER PRIMARY KEY":
        return True
    if schema_of(db).tables["c"].without_rowid and key.indexed:
        return True  # there SQLite may guess that the start of one index is as good as the whole of another
    terms = {term.removesuffix("=?") for term in found["terms"].split(" AND ")}
    unique = {index.name: {part.name for part in index.columns} for index in schema_of(db).tables["c"].indexes if index.unique}
    return terms == set(key.columns) or terms == unique.get(found["index"] or "sqlite_autoindex_c_1")


TYPES = ["", "INTEGER", "TEXT", "REAL", "BLOB", "TEXT COLLATE NOCASE", "COLLATE RTRIM", "NUMERIC COLLATE NOCASE"]
CHILD_COLUMNS = st.sampled_from(["a", "b", "x", "lower(a)", "a COLLATE NOCASE", "b COLLATE BINARY", "a COLLATE RTRIM", "b DESC"])
WHERES = ["", "", "", "WHERE a IS NOT NULL", "WHERE b NOTNULL AND a NOT NULL", "WHERE x IS NOT NULL", "WHERE a > 1", "WHERE x IS NULL"]


@st.composite
def families(draw: st.DrawFn) -> list[str]:
    one = draw(st.booleans())
    types = [draw(st.sampled_from(TYPES)) for _ in range(4)]
    action = draw(st.sampled_from(["", "ON DELETE CASCADE", "ON DELETE SET NULL"]))
    parent_key = draw(st.sampled_from(["PRIMARY KEY", "UNIQUE"])) if one else ""
    if one and draw(st.integers(0, 3)) == 0:
        types[0], parent_key = "INTEGER", "PRIMARY KEY"
    child_key = draw(st.sampled_from(["", "", "PRIMARY KEY(a)", "PRIMARY KEY(a, b)", "PRIMARY KEY(b)", "UNIQUE(a)", "UNIQUE(x, a)"]))
    rowid = " WITHOUT ROWID" if child_key.startswith("PRIMARY") and draw(st.booleans()) else ""
    reference = f"FOREIGN KEY(a{'' if one else ', b'}) REFERENCES p(u{'' if one else ', v'}) {action}"
    keys = st.lists(CHILD_COLUMNS, min_size=1, max_size=3, unique_by=lambda column: column[0]).map(", ".join)
    indexes = draw(st.lists(st.tuples(st.sampled_from(["", "UNIQUE "]), keys, st.sampled_from(WHERES)), max_size=3))
    return [
        f"CREATE TABLE p(u {types[0]} {parent_key}, v {types[1]}{'' if one else ', UNIQUE(u, v)'})",
        f"CREATE TABLE c(a {types[2]}, b {types[3]}, x, {child_key + ', ' if child_key else ''}{reference}){rowid}",
        *(f"CREATE {unique}INDEX i{n} ON c({columns}) {where}" for n, (unique, columns, where) in enumerate(indexes)),
    ]


@given(families())
@settings(max_examples=400, deadline=None)
def test_indexed_agrees_with_the_plan_of_a_child_look_up(ddl):
    db = database(*ddl)
    schema = schema_of(db)
    (key,) = schema.tables["c"].parents
    assert key.indexed == looked_up(db, key)
    mend = child_index(schema, key)
    if not key.indexed and mend is not None:
        db.execute(mend)
        (mended,) = schema_of(db).tables["c"].parents
        assert mended.indexed
        assert looked_up(db, mended)


@pytest.mark.parametrize(
    ("parent", "child", "index", "indexed"),
    [
        ("id INTEGER PRIMARY KEY", "a INTEGER", "a", True),
        ("id INTEGER PRIMARY KEY", "a TEXT", "a", False),  # a text index is not in the order of numbers
        ("id TEXT PRIMARY KEY", "a INTEGER", "a", True),
        ("id TEXT COLLATE NOCASE PRIMARY KEY", "a TEXT", "a", False),
        ("id TEXT COLLATE NOCASE PRIMARY KEY", "a TEXT", "a COLLATE NOCASE", True),
        ("id TEXT PRIMARY KEY", "a TEXT COLLATE NOCASE", "a", False),
        ("id INTEGER PRIMARY KEY", "a INTEGER COLLATE NOCASE", "a", True),  # a rowid has no collation of its own
        ("id INTEGER PRIMARY KEY", "a INTEGER", "a) WHERE (a IS NOT NULL", False),  # SQLite would use it
    ],
)
def test_collation_and_affinity_decide(parent, child, index, indexed):
    db = database(f"CREATE TABLE p({parent})", f"CREATE TABLE c({child} REFERENCES p(id))", f"CREATE INDEX i ON c({index})")
    (key,) = schema_of(db).tables["c"].parents
    assert key.indexed is indexed


def test_the_index_that_mends_a_key_is_quoted_and_of_the_parents_collation():
    db = database(
        'CREATE TABLE "p""1"("key" TEXT COLLATE NOCASE PRIMARY KEY)', 'CREATE TABLE "c 1"("select" TEXT REFERENCES "p""1", n REFERENCES q)',
        "CREATE TABLE q(id INTEGER PRIMARY KEY)",
    )  # fmt: skip
    schema = schema_of(db)
    first, second = schema.tables["c 1"].parents
    assert child_index(schema, first) == 'CREATE INDEX "idx_c 1_select" ON "c 1" ("select" COLLATE "NOCASE")'
    assert child_index(schema, second) is None  # a column without a type is never compared as a number by its index


def test_reach_goes_level_by_level_and_ends_on_cycles():
    db = database(
        "CREATE TABLE a(id INTEGER PRIMARY KEY, up REFERENCES a ON DELETE CASCADE, last REFERENCES c ON DELETE CASCADE)",
        "CREATE TABLE b(id INTEGER PRIMARY KEY, a REFERENCES A ON DELETE CASCADE)",
        "CREATE TABLE c(id INTEGER PRIMARY KEY, b REFERENCES b ON DELETE CASCADE)",
        "CREATE TABLE d(b REFERENCES b ON DELETE SET NULL, c REFERENCES c)",
        "CREATE TABLE e(d REFERENCES d(b) ON DELETE CASCADE)",
    )
    found = [(step.level, step.key.child, *step.key.columns, step.key.on_delete) for step in reach(schema_of(db), "A")]
    assert found == [
        (1, "a", "up", "CASCADE"),
        (1, "b", "a", "CASCADE"),
        (2, "c", "b", "CASCADE"),
        (2, "d", "b", "SET NULL"),
        (3, "a", "last", "CASCADE"),
    ]
    assert reach(schema_of(db), "nowhere") == ()


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.sampled_from(["CASCADE", "SET NULL", "NO ACTION"])), max_size=8))
@settings(max_examples=60, deadline=None)
def test_reach_names_every_table_that_a_delete_changes(edges):
    """One row a table, and a row refers to its parent's only row: deleting all of t0 changes exactly the tables that reach names."""
    columns = {n: ["id INTEGER PRIMARY KEY"] for n in range(5)}
    for i, (down, up, action) in enumerate(edges):
        columns[down].append(f"c{i} DEFAULT 1 REFERENCES t{up} ON DELETE {action}")
    db = database(*(f"CREATE TABLE t{n}({', '.join(columns[n])})" for n in range(5)))
    for n in range(5):
        db.execute(f"INSERT INTO t{n}(id) VALUES (1)")
    before = {n: db.execute(f"SELECT * FROM t{n}").fetchall() for n in range(5)}
    named = {int(fold(step.key.child)[1:]) for step in reach(schema_of(db), "t0")}
    db.pragma("foreign_keys", True)
    try:
        db.execute("DELETE FROM t0")
    except apsw.ConstraintError:
        return
    assert {n for n in range(1, 5) if db.execute(f"SELECT * FROM t{n}").fetchall() != before[n]} <= named

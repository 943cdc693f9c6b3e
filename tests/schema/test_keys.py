"""Keys of walks: what a table offers, and that each key really orders its rows uniquely and is seeked without a sort."""

from __future__ import annotations

import contextlib

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retention.schema.keys import Key, age_index_keys, primary_key, rowid_key
from retention.schema.model import Table
from tests.schema.driver import database, schema_of


def table_of(*ddl: str) -> Table:
    return schema_of(database(*ddl)).tables["t"]


def names(key: Key | None) -> tuple[str, ...] | None:
    return None if key is None else tuple(column.name for column in key.columns)


@pytest.mark.parametrize(
    ("ddl", "expected"),
    [
        ("CREATE TABLE t(a)", ("rowid",)),
        ("CREATE TABLE t(rowid)", ("_rowid_",)),
        ("CREATE TABLE t(rowid, _rowid_, oid, id INTEGER PRIMARY KEY)", ("id",)),
        ("CREATE TABLE t(rowid, _rowid_, oid)", None),
        ("CREATE TABLE t(a PRIMARY KEY) WITHOUT ROWID", None),
    ],
)
def test_rowid_key(ddl, expected):
    assert names(rowid_key(table_of(ddl))) == expected


@pytest.mark.parametrize(
    ("ddl", "expected", "descending"),
    [
        ("CREATE TABLE t(a, b, PRIMARY KEY(b, a)) WITHOUT ROWID", ("b", "a"), False),
        ("CREATE TABLE t(a, b, PRIMARY KEY(b DESC, a DESC)) WITHOUT ROWID", ("b", "a"), True),
        ("CREATE TABLE t(a, b, PRIMARY KEY(b, a DESC)) WITHOUT ROWID", None, False),
        ("CREATE TABLE t(a, b, PRIMARY KEY(b COLLATE NOCASE, a)) WITHOUT ROWID", None, False),
        ("CREATE TABLE t(a PRIMARY KEY)", None, False),
        ("CREATE TABLE t(id INTEGER PRIMARY KEY)", None, False),
    ],
)
def test_primary_key(ddl, expected, descending):
    key = primary_key(table_of(ddl))
    assert names(key) == expected
    assert key is None or (key.descending, key.index, key.tie) == (descending, None, False)


@pytest.mark.parametrize(
    ("columns", "index", "expected"),
    [
        ("at", "INDEX i ON t(at)", ("at", "rowid")),
        ("at, rowid", "INDEX i ON t(at)", ("at", "_rowid_")),
        ("at, rowid, _rowid_, oid", "INDEX i ON t(at)", None),
        ("at, id INTEGER PRIMARY KEY", "INDEX i ON t(at, id)", ("at", "id")),
        ("at, id INTEGER PRIMARY KEY", "UNIQUE INDEX i ON t(at, id)", ("at", "id")),
        ("at, b NOT NULL, id INTEGER PRIMARY KEY", "INDEX i ON t(at, b, id)", None),  # SQLite seeks a row value no further than a rowid
        ("at, b NOT NULL, id INTEGER PRIMARY KEY", "UNIQUE INDEX i ON t(at, id, b)", None),
        ("at INTEGER PRIMARY KEY", "INDEX i ON t(at)", None),
        ("at, id TEXT PRIMARY KEY NOT NULL", "INDEX i ON t(at, id)", ("at", "id")),
        ("at, id TEXT PRIMARY KEY", "INDEX i ON t(at, id)", None),  # SQLite allows NULL in such a key
        ("at, b NOT NULL", "INDEX i ON t(at, b)", None),  # not unique, and SQLite does not seek the rowid behind it
        ("at, b NOT NULL", "UNIQUE INDEX i ON t(at, b)", ("at", "b")),
        ("at, b", "UNIQUE INDEX i ON t(at, b)", None),
        ("at", "UNIQUE INDEX i ON t(at)", ("at",)),
        ("at, b NOT NULL", "UNIQUE INDEX i ON t(b, at)", None),
        ("at", "INDEX i ON t(at DESC)", None),
        ("at, b NOT NULL", "UNIQUE INDEX i ON t(at, b DESC)", None),
        ("at", "INDEX i ON t(at COLLATE NOCASE)", None),
        ("at COLLATE NOCASE", "INDEX i ON t(at)", ("at", "rowid")),
        ("at, b NOT NULL", "UNIQUE INDEX i ON t(at, lower(b))", None),
        ("at, id TEXT PRIMARY KEY NOT NULL COLLATE NOCASE", "INDEX i ON t(at, id)", ("at", "id")),
        ("at, id TEXT NOT NULL COLLATE NOCASE, PRIMARY KEY(id COLLATE BINARY)", "INDEX i ON t(at, id)", None),  # 'a' and 'A' are one there
        ("at, a NOT NULL, b NOT NULL, PRIMARY KEY(a, b)", "INDEX i ON t(at, b, a)", ("at", "b", "a")),
        ("at, a NOT NULL, b NOT NULL, PRIMARY KEY(a, b)", "INDEX i ON t(at, b)", None),
    ],
)
def test_age_index_keys(columns, index, expected):
    table = table_of(f"CREATE TABLE t({columns})", f"CREATE {index}")
    keys = age_index_keys(table, "AT")
    assert [names(key) for key in keys] == ([] if expected is None else [expected])
    assert all(key.tie == (key.columns[-1].name in ("rowid", "_rowid_", table.integer_pk)) for key in keys)


def test_a_table_without_rowids_needs_an_index_that_is_unique_by_itself():
    ddl = "CREATE TABLE t(at NOT NULL, k, PRIMARY KEY(k)) WITHOUT ROWID"
    assert age_index_keys(table_of(ddl, "CREATE INDEX i ON t(at)"), "at") == ()
    assert [names(key) for key in age_index_keys(table_of(ddl, "CREATE INDEX i ON t(at, k)"), "at")] == [("at", "k")]
    assert age_index_keys(table_of("CREATE TABLE t(at, k, PRIMARY KEY(at, k)) WITHOUT ROWID"), "at") == ()


def test_a_partial_index_that_sqlite_refuses_to_use_is_passed_over():
    """SQLite knows that a NOT NULL column is not NULL, drops the term, and cannot match it with the index any more."""
    ddl = "CREATE TABLE t(at NOT NULL, b NOT NULL, c)", "CREATE INDEX i ON t(at) WHERE b IS NOT NULL AND c = 1"
    assert age_index_keys(table_of(*ddl), "at") == ()
    with pytest.raises(apsw.SQLError, match="no query solution"):
        database(*ddl).execute("SELECT at FROM t INDEXED BY i WHERE at > 1 AND b IS NOT NULL AND c = 1")
    for where in ("at IS NOT NULL AND c = 1", "c IS NOT NULL"):
        assert len(age_index_keys(table_of(ddl[0], f"CREATE INDEX i ON t(at) WHERE {where}"), "at")) == 1


def test_whole_indexes_come_before_partial_ones_and_narrow_before_wide():
    table = table_of(
        "CREATE TABLE t(at, id TEXT NOT NULL PRIMARY KEY, b NOT NULL)",
        "CREATE INDEX a_partial ON t(at) WHERE b = 1 -- the open ones\n",
        "CREATE INDEX b_wide ON t(at, id, b)",
        "CREATE INDEX c_narrow ON t(at)",
    )
    assert [(key.index, key.where) for key in age_index_keys(table, "at")] == [("c_narrow", None), ("b_wide", None), ("a_partial", "b = 1")]


COLUMNS = ["at {} {}", "b {} {} NOT NULL", "c {} {}"]
VALUES = st.sampled_from([None, 1, 2, 2.5, "a", "A", "a ", "b", b"a"])


@st.composite
def walked(draw: st.DrawFn) -> tuple[list[str], list[tuple]]:
    declared = [
        text.format(draw(st.sampled_from(["", "INTEGER", "TEXT"])), draw(st.sampled_from(["", "", "COLLATE NOCASE", "COLLATE RTRIM"])))
        for text in COLUMNS
    ]
    keyed = draw(
        st.sampled_from(["", ", PRIMARY KEY(b)", ", PRIMARY KEY(b, c)", ", PRIMARY KEY(b COLLATE BINARY)", ", PRIMARY KEY(c, at)"])
    )
    if draw(st.integers(0, 3)) == 0:
        declared[1], keyed = "b INTEGER NOT NULL", ", PRIMARY KEY(b)"
    rowid = " WITHOUT ROWID" if keyed and draw(st.booleans()) else ""
    parts = st.tuples(st.sampled_from(["at", "at", "b", "c"]), st.sampled_from(["", "", "COLLATE NOCASE", "DESC"])).map(" ".join)
    columns = st.one_of(st.sampled_from([["at"], ["at", "b"], ["at", "b", "c"]]), st.lists(parts, min_size=1, max_size=3))
    indexes = draw(st.lists(st.tuples(st.booleans(), columns, st.booleans()), min_size=1, max_size=4))
    ddl = [f"CREATE TABLE t({', '.join(declared)}{keyed}){rowid}"]
    for i, (unique, key, partial) in enumerate(indexes):
        where = " WHERE c IS NOT NULL" if partial else ""
        ddl.append(f"CREATE {'UNIQUE ' if unique else ''}INDEX i{i} ON t({', '.join(key)}){where}")
    return ddl, draw(st.lists(st.tuples(VALUES, VALUES, VALUES), max_size=12))


@given(walked())
@settings(max_examples=300, deadline=None)
def test_a_key_orders_its_rows_uniquely_and_is_seeked_without_a_sort(example):
    ddl, rows = example
    db = database(*ddl)
    for row in rows:
        with contextlib.suppress(apsw.MismatchError):  # an INTEGER PRIMARY KEY takes integers alone
            db.execute("INSERT OR IGNORE INTO t VALUES (?, ?, ?)", row)
    table = schema_of(db).tables["t"]
    for key in filter(None, [rowid_key(table), primary_key(table), *age_index_keys(table, "at")]):
        check(db, key)


def check(db: apsw.Connection, key: Key) -> None:
    columns = ", ".join(column.name for column in key.columns)
    seeked = [column.name for column in (key.columns[:-1] if key.tie else key.columns)]
    where = f"({'at IS NOT NULL' if key.kind == 'index' else 1}) AND ({key.where or 1})"
    assert db.execute(f"SELECT {columns} FROM t WHERE {where} GROUP BY {columns} HAVING count(*) > 1").fetchall() == []
    for column in key.columns[1:]:
        assert db.execute(f"SELECT count(*) FROM t WHERE {where} AND {column.name} IS NULL").get == 0

    hint = f"INDEXED BY {key.index}" if key.index else "NOT INDEXED"
    marks = ", ".join("?" for _ in seeked)
    page = f"SELECT {columns} FROM t {hint} WHERE ({', '.join(seeked)}) > ({marks}) AND {where} ORDER BY {columns}"
    (line,) = db.execute("EXPLAIN QUERY PLAN " + page, (0,) * len(seeked)).fetchall()  # a second line would be a sort
    bound = (
        "rowid>?" if key.kind == "rowid" else f"{seeked[0]}>?" if len(seeked) == 1 else f"({','.join(seeked)})>({marks.replace(' ', '')})"
    )
    assert line[3].startswith("SEARCH t USING")
    # NOT INDEXED does not bind SQLite to a WITHOUT ROWID table's own key, but whatever it takes gives the same order.
    assert line[3].endswith(f" ({bound})") or key.kind == "primary_key"

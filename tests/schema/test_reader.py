"""The reader against SQLite itself: what the model says is what the database does."""

from __future__ import annotations

import apsw
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from retention.capabilities import Capabilities
from retention.schema.model import Schema, Table, fold
from retention.schema.reader import affinity, fingerprint, fingerprint_statement, is_ours, read
from retention.steps import Batch
from tests.schema.driver import database, drive, schema_of


def table_of(*ddl: str, name: str = "t") -> Table:
    return schema_of(database(*ddl)).tables[name]


# --- one statement ---------------------------------------------------------------------------------------------------


def test_the_whole_schema_is_read_by_one_statement_without_parameters():
    sent: list[Batch] = []
    drive(database("CREATE TABLE t(a)", "CREATE VIEW v AS SELECT a FROM t", "CREATE INDEX i ON t(a)"), read(Capabilities()), sent)
    assert [[statement.params for statement in batch.statements] for batch in sent] == [[()]]
    assert len(sent[0].statements[0].sql) < 10_000


def test_it_fits_the_limits_of_the_smallest_host():
    db = database("CREATE TABLE t(a REFERENCES t)", "CREATE INDEX i ON t(a)")
    db.limit(apsw.SQLITE_LIMIT_COMPOUND_SELECT, 5)
    db.limit(apsw.SQLITE_LIMIT_EXPR_DEPTH, 100)
    db.limit(apsw.SQLITE_LIMIT_COLUMN, 100)
    db.limit(apsw.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 50)
    db.limit(apsw.SQLITE_LIMIT_VDBE_OP, 25_000)
    assert schema_of(db).tables["t"].parents[0].indexed


def test_an_empty_database_has_an_empty_schema():
    assert schema_of(database()) == Schema({}, fingerprint([]))


def test_a_change_by_another_connection_is_seen_at_once(tmp_path):
    ours, theirs = apsw.Connection(str(tmp_path / "a.db")), apsw.Connection(str(tmp_path / "a.db"))
    theirs.execute("CREATE TABLE t(a)")
    before = schema_of(ours)
    theirs.execute("ALTER TABLE t ADD COLUMN b COLLATE NOCASE")
    after = schema_of(ours)
    assert [len(s.tables["t"].columns) for s in (before, after)] == [1, 2]
    assert before.fingerprint != after.fingerprint


# --- which tables ----------------------------------------------------------------------------------------------------


def test_kinds_of_tables_and_what_is_left_out():
    db = database(
        "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, body)",
        "CREATE VIEW v AS SELECT id, body || '!' AS loud FROM t",
        "CREATE VIRTUAL TABLE ft USING fts5(body, content='t')",
        "CREATE TABLE D1_Migrations(id)",
        "CREATE TABLE _CF_kv(id)",
        "ANALYZE",
    )
    schema = schema_of(db)
    assert {name: table.kind for name, table in schema.tables.items()} == {
        "t": "table",
        "v": "view",
        "ft": "virtual",
        "ft_data": "shadow",
        "ft_idx": "shadow",
        "ft_docsize": "shadow",
        "ft_config": "shadow",
    }
    assert [column.name for column in schema.tables["v"].columns] == ["id", "loud"]
    assert [column.name for column in schema.tables["ft"].columns] == ["body", "ft", "rank"]
    assert {name for name, table in schema.tables.items() if table.rowid} == {"t", "ft_data", "ft_docsize"}
    assert schema.tables["ft"].sql == "CREATE VIRTUAL TABLE ft USING fts5(body, content='t')"


@pytest.mark.parametrize("name", ["sqlite_stat1", "SQLITE_x", "_cf_METADATA", "_CF_KV", "d1_migrations", "D1_MIGRATIONS"])
def test_names_that_belong_to_others(name):
    assert not is_ours(name)


@pytest.mark.parametrize("name", ["sqlitex", "cf_x", "d1_migrations2", "_cfx", "ſqlite_x"])
def test_names_that_only_look_like_it(name):
    assert is_ours(name)


def test_a_broken_view_and_a_missing_module_do_not_hide_the_rest():
    db = database("CREATE TABLE t(a)", "CREATE VIEW broken AS SELECT b FROM nowhere", "CREATE VIEW fine AS SELECT a FROM t")
    db.pragma("writable_schema", True)
    db.execute("INSERT INTO sqlite_schema VALUES ('table', 'spatial', 'spatial', 0, 'CREATE VIRTUAL TABLE spatial USING nosuch(a)')")
    db.pragma("writable_schema", "reset")
    tables = schema_of(db).tables
    assert {name: table.kind for name, table in tables.items()} == {"t": "table", "broken": "view", "fine": "view", "spatial": "virtual"}
    assert {name: len(tables[name].columns) for name in ("t", "broken", "spatial")} == {"t": 1, "broken": 0, "spatial": 0}


def test_tables_stand_in_the_order_of_their_creation():
    assert list(schema_of(database("CREATE TABLE z(a)", "CREATE TABLE a(a)", "CREATE TABLE m(a)")).tables) == ["z", "a", "m"]


def test_a_temporary_table_of_the_same_name_is_not_taken_for_the_real_one():
    db = database("CREATE TABLE t(a)", "CREATE TEMP TABLE t(x, y)", "CREATE INDEX main.i ON t(a)")
    assert [column.name for column in schema_of(db).tables["t"].columns] == ["a"]
    assert [index.name for index in schema_of(db).tables["t"].indexes] == ["i"]


# --- keys and rowids -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ddl", "integer_pk", "rowid"),
    [
        ("CREATE TABLE t(id INTEGER PRIMARY KEY)", "id", "rowid"),
        ("CREATE TABLE t(id integer, PRIMARY KEY(id))", "id", "rowid"),
        ("CREATE TABLE t(id INTEGER, PRIMARY KEY(id DESC))", "id", "rowid"),
        ("CREATE TABLE t(id INTEGER PRIMARY KEY ASC)", "id", "rowid"),
        ("CREATE TABLE t(id INTEGER PRIMARY KEY DESC)", None, "rowid"),
        ("CREATE TABLE t(id INT PRIMARY KEY)", None, "rowid"),
        ("CREATE TABLE t(id BIGINT PRIMARY KEY)", None, "rowid"),
        ("CREATE TABLE t(id INTEGER UNIQUE)", None, "rowid"),
        ("CREATE TABLE t(id INTEGER UNIQUE, PRIMARY KEY(id))", "id", "rowid"),
        ("CREATE TABLE t(id INTEGER PRIMARY KEY) WITHOUT ROWID", None, None),
        ("CREATE TABLE t(a INTEGER, b, PRIMARY KEY(a, b))", None, "rowid"),
        ("CREATE TABLE t(rowid INTEGER PRIMARY KEY)", "rowid", "rowid"),
        ("CREATE TABLE t(rowid TEXT)", None, "_rowid_"),
        ("CREATE TABLE t(RowID, _ROWID_)", None, "oid"),
        ("CREATE TABLE t(rowid, _rowid_, oid)", None, None),
        ("CREATE TABLE t(rowid, _rowid_, oid, id INTEGER PRIMARY KEY)", "id", "id"),
        ("CREATE TABLE t(rowid, _rowid_, Oid INTEGER PRIMARY KEY)", "Oid", "oid"),
        ("CREATE TABLE t(a, rowid AS (a + 1))", None, "_rowid_"),
    ],
)
def test_rowid_and_integer_primary_key(ddl, integer_pk, rowid):
    table = table_of(ddl)
    assert (table.integer_pk, table.rowid) == (integer_pk, rowid)


def test_primary_key_in_key_order_with_its_own_collations():
    table = table_of("CREATE TABLE t(a COLLATE rtrim, b TEXT COLLATE NOCASE, c, PRIMARY KEY(c, b COLLATE binary, a)) WITHOUT ROWID")
    assert (table.primary_key, table.pk_collations) == (("c", "b", "a"), ("BINARY", "BINARY", "RTRIM"))
    assert [column.pk for column in table.columns] == [3, 2, 1]
    assert all(column.notnull for column in table.columns)


@pytest.mark.parametrize(
    ("ddl", "expected"),
    [
        ("CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT)", True),
        ("CREATE TABLE t(id INTEGER PRIMARY KEY /* AUTOINCREMENT */)", False),
        ("CREATE TABLE t(\"AUTOINCREMENT\" INTEGER PRIMARY KEY, b DEFAULT 'AUTOINCREMENT')", False),
    ],
)
def test_autoincrement(ddl, expected):
    assert table_of(ddl).autoincrement is expected


def test_strict_generated_and_defaults():
    table = table_of("CREATE TABLE t(a INT DEFAULT (1 + 1), b TEXT AS (a || 'x'), c ANY AS (a) STORED NOT NULL) STRICT")
    assert table.strict
    assert [(c.name, c.generated, c.notnull, c.default) for c in table.columns] == [
        ("a", False, False, "1 + 1"),
        ("b", True, False, None),
        ("c", True, True, None),
    ]
    assert [c.affinity for c in table.columns] == ["INTEGER", "TEXT", "BLOB"]


@given(st.lists(st.sampled_from(["INT", "char", "CLOB", "Text", "BLOB", "real", "FLOA", "DOUB", "X", "ANY", "DATETIME"]), max_size=3))
@settings(max_examples=60, deadline=None)
def test_affinity_is_what_the_column_does_to_values(parts):
    declared = "".join(parts)
    db = database(f"CREATE TABLE t(c {declared})", "INSERT INTO t VALUES ('12'), (12)")
    stored = {kind for (kind,) in db.execute("SELECT typeof(c) FROM t")}
    assert stored == {"TEXT": {"text"}, "REAL": {"real"}, "BLOB": {"text", "integer"}}.get(affinity(declared), {"integer"})


# --- indexes ---------------------------------------------------------------------------------------------------------


def test_indexes_with_order_collation_expressions_and_conditions():
    db = database(
        "CREATE TABLE t(a COLLATE NOCASE, \"b c\", d UNIQUE)",
        "CREATE INDEX i ON t(a DESC, \"b c\" COLLATE rtrim, lower(d))",
        "CREATE UNIQUE INDEX \"p where\" ON t(d) WHERE \"b c\" LIKE '% where %' -- and so on",
    )  # fmt: skip
    automatic, plain, partial = sorted(schema_of(db).tables["t"].indexes, key=lambda index: (index.origin != "u", index.partial))
    assert (automatic.origin, automatic.unique, automatic.sql) == ("u", True, None)
    assert [(c.name, c.descending, c.collation) for c in plain.columns] == [
        ("a", True, "NOCASE"),
        ("b c", False, "RTRIM"),
        (None, False, "BINARY"),
    ]
    assert (plain.unique, plain.partial, plain.where) == (False, False, None)
    assert (partial.unique, partial.partial, partial.where) == (True, True, "\"b c\" LIKE '% where %'")


# --- foreign keys ----------------------------------------------------------------------------------------------------


def test_foreign_keys_are_resolved():
    db = database(
        "CREATE TABLE Parent(Id INTEGER PRIMARY KEY, a, b, UNIQUE(a, b))",
        "CREATE TABLE child(x REFERENCES PARENT, y REFERENCES parent(ID) ON DELETE CASCADE, z REFERENCES gone ON DELETE SET NULL, p, q,"
        " self REFERENCES child(rowid2),"
        " FOREIGN KEY(p, q) REFERENCES parent(A, B) ON DELETE RESTRICT DEFERRABLE INITIALLY DEFERRED,"
        " FOREIGN KEY(p, q) REFERENCES parent)",
    )
    schema = schema_of(db)
    assert [
        (key.columns, key.parent, key.parent_columns, key.on_delete, key.deferred, key.parent_exists)
        for key in schema.tables["child"].parents
    ] == [
        (("x",), "Parent", ("Id",), "NO ACTION", False, True),
        (("y",), "Parent", ("Id",), "CASCADE", False, True),
        (("z",), "gone", (), "SET NULL", False, False),
        (("self",), "child", (), "NO ACTION", False, True),
        (("p", "q"), "Parent", ("a", "b"), "RESTRICT", True, True),
        (("p", "q"), "Parent", (), "NO ACTION", False, True),
    ]
    assert [key.columns for key in schema.tables["Parent"].children] == [("x",), ("y",), ("p", "q"), ("p", "q")]
    assert [key.columns for key in schema.tables["child"].children] == [("self",)]


DEFERRALS = [
    ("", False),
    ("DEFERRABLE INITIALLY DEFERRED", True),
    ("DEFERRABLE INITIALLY IMMEDIATE", False),
    ("DEFERRABLE", False),
    ("NOT DEFERRABLE INITIALLY DEFERRED", False),
    ("MATCH FULL ON UPDATE CASCADE /* NOT */ DEFERRABLE INITIALLY -- at commit\n DEFERRED", True),
]


EXTRAS = ["", "UNIQUE", "NOT NULL", "DEFAULT 'REFERENCES'"]


@given(st.lists(st.tuples(st.sampled_from(DEFERRALS), st.booleans(), st.sampled_from(EXTRAS)), min_size=1, max_size=4))
@settings(max_examples=40, deadline=None)
def test_a_deferred_key_is_one_that_sqlite_checks_at_the_commit(keys):
    columns = [f"c{i} {extra} {'' if apart else 'REFERENCES p ' + clause}" for i, ((clause, _), apart, extra) in enumerate(keys)]
    apart = [f"FOREIGN KEY(c{i}) REFERENCES p {clause}" for i, ((clause, _), apart, _) in enumerate(keys) if apart]
    db = database("CREATE TABLE p(id INTEGER PRIMARY KEY)", f"CREATE TABLE t({', '.join(columns + apart)})")
    db.pragma("foreign_keys", True)
    db.execute("INSERT INTO p VALUES (1)")
    parents = schema_of(db).tables["t"].parents
    assert {key.columns for key in parents} == {(f"c{i}",) for i in range(len(keys))}
    for key in parents:
        values = ["9" if f"c{i}" in key.columns else "1" for i in range(len(keys))]
        db.execute("BEGIN")
        try:
            db.execute(f"INSERT INTO t VALUES ({', '.join(values)})")
            waits = True
        except apsw.ConstraintError:
            waits = False
        db.execute("ROLLBACK")
        assert key.deferred is waits


# --- fingerprint -----------------------------------------------------------------------------------------------------


def test_the_fingerprint_follows_the_schema_and_nothing_else():
    db = database("CREATE TABLE t(a)", "CREATE INDEX i ON t(a)")

    def both() -> str:
        statement = fingerprint_statement()
        cheap = fingerprint(db.execute(statement.sql, statement.params).fetchall())
        assert cheap == schema_of(db).fingerprint
        return cheap

    first = both()
    assert len(first) == 16
    for harmless in ("INSERT INTO t VALUES (1)", "ANALYZE", "CREATE TABLE _cf_kv(a UNIQUE)", "CREATE TABLE d1_migrations(a UNIQUE)"):
        db.execute(harmless)
        assert both() == first
    seen = {first}
    for change in (
        "CREATE TABLE u(a)",
        "ALTER TABLE t ADD COLUMN b",
        "CREATE INDEX j ON t(b)",
        "CREATE TRIGGER tr AFTER DELETE ON t BEGIN DELETE FROM u; END",
        "DROP INDEX j",
        "ALTER TABLE u RENAME TO w",
    ):
        db.execute(change)
        assert both() not in seen
        seen.add(both())
    db.execute("DROP TRIGGER tr")
    db.execute("VACUUM")
    assert both() not in seen


def test_an_undone_change_gives_the_old_fingerprint_back():
    db = database("CREATE TABLE t(a)", "CREATE INDEX i ON t(a)", "CREATE INDEX j ON t(a)")
    before = schema_of(db).fingerprint
    db.execute("DROP INDEX i; CREATE INDEX i ON t(a)")
    assert schema_of(db).fingerprint == before


# --- names -----------------------------------------------------------------------------------------------------------


def test_names_are_compared_as_sqlite_compares_them():
    db = database('CREATE TABLE "Ä"(a, "Ö", "ö")', 'CREATE TABLE "ä"(b)', "CREATE TABLE Plain(A)")
    schema = schema_of(db)
    lower, upper, plain = schema.table("ä"), schema.table("Ä"), schema.table("pLAIN")
    assert lower is not None
    assert upper is not None
    assert plain is not None
    assert [column.name for column in lower.columns] == ["b"]
    assert [upper.column(name).name for name in ("Ö", "ö", "A")] == ["Ö", "ö", "a"]  # type: ignore[union-attr]
    assert schema.table("plain ") is None
    assert plain.column("İ") is None


# --- random tables against SQLite ------------------------------------------------------------------------------------

NAMES = ["id", "Rowid", "_ROWID_", "oid", "a b", 'q"uote', "select", "wörter", "where", "x'y", "]", "collate", "1st", "--c", "/*"]
TYPES = ["", "INTEGER", "integer", "INT", "BIGINT", "TEXT", "VARCHAR(10)", "BLOB", "REAL", "NUMERIC(5, 2)", '"INTEGER"', "UNSIGNED INTEGER"]
COLLATIONS = ["", "", "COLLATE NOCASE", 'COLLATE "rtrim"', "COLLATE binary COLLATE [NoCase]"]
COMMENTS = ["", "", " -- (a, b COLLATE RTRIM\n", " /* AUTOINCREMENT, REFERENCES */ "]


def quoted(name: str, style: int) -> str:
    if style == 1 and "]" not in name:
        return f"[{name}]"
    if style == 2:
        return "`" + name.replace("`", "``") + "`"
    if style == 3:
        return "'" + name.replace("'", "''") + "'"
    return '"' + name.replace('"', '""') + '"'


@st.composite
def tables(draw: st.DrawFn) -> str:
    """A CREATE TABLE; some are refused by SQLite, and then not looked at."""
    columns = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=5, unique_by=fold))
    keyed = draw(st.sampled_from(["none", "column", "table", "table"]))
    parts: list[str] = []
    for i, name in enumerate(columns):
        words = [quoted(name, draw(st.integers(0, 3))), draw(st.sampled_from(TYPES)), draw(st.sampled_from(COLLATIONS))]
        words += [draw(st.sampled_from(["", "NOT NULL", "DEFAULT (1 COLLATE RTRIM)", "CHECK(1 IN (1, 2))", "CONSTRAINT c NOT NULL"]))]
        if keyed == "column" and i == 0:
            words.append(draw(st.sampled_from(["PRIMARY KEY", "PRIMARY KEY DESC", "PRIMARY KEY AUTOINCREMENT", "PRIMARY KEY NOT NULL"])))
        if i and draw(st.integers(0, 9)) == 0:
            words = [words[0], words[1], "AS (NULL)", draw(st.sampled_from(["STORED", "VIRTUAL"]))]
        parts.append(" ".join(words) + draw(st.sampled_from(COMMENTS)))
    if keyed == "table":
        key = draw(st.lists(st.sampled_from(columns), min_size=1, max_size=3, unique=True))
        ends = st.sampled_from(["", "", "DESC", "COLLATE NOCASE", "COLLATE RTRIM DESC"])
        parts.append("PRIMARY KEY(" + ", ".join(f"{quoted(name, 0)} {draw(ends)}" for name in key) + ")")
    if draw(st.booleans()):
        parts.append(f"UNIQUE({quoted(draw(st.sampled_from(columns)), 0)} COLLATE NOCASE)")
    options = draw(st.sampled_from(["", "", "WITHOUT ROWID", "STRICT", "STRICT, WITHOUT ROWID"]))
    return f"CREATE TABLE t{draw(st.sampled_from(COMMENTS))}({', '.join(parts)}) {options}"


@given(tables())
@settings(max_examples=250, deadline=None)
def test_random_tables_are_what_sqlite_says_they_are(ddl):
    db = apsw.Connection("")
    try:
        db.execute(ddl)
    except apsw.SQLError:
        assume(False)
    table = schema_of(db).tables["t"]

    for column in table.columns:
        declared, collation, notnull, in_key, autoincrement = db.column_metadata("main", "t", column.name)
        assert (column.declared, column.collation) == (declared or "", collation.upper())
        assert column.notnull is notnull
        assert (column.name in table.primary_key) is in_key
        assert (table.autoincrement and column.name == table.integer_pk) is autoincrement

    # Each column gets a number of its own; where one is the rowid, the row is stored under that number.
    given_values = {
        column.name: bytes([i]) if table.strict and column.affinity == "BLOB" and column.declared != "ANY" else 100 + i
        for i, column in enumerate(table.columns)
        if not column.generated
    }
    names = ", ".join(quoted(name, 0) for name in given_values)
    db.execute(f"INSERT INTO t({names}) VALUES ({', '.join('?' for _ in given_values)})", tuple(given_values.values()))
    stored = db.last_insert_rowid()
    if table.without_rowid:
        assert stored == 0
        assert (table.rowid, table.integer_pk) == (None, None)
        for name in {"rowid", "_rowid_", "oid"} - {fold(column.name) for column in table.columns}:
            with pytest.raises(apsw.SQLError):
                db.execute(f"SELECT [{name}] FROM t")
    else:
        assert stored == (1 if table.integer_pk is None else given_values[table.integer_pk])
        if table.rowid is None:
            assert {"rowid", "_rowid_", "oid"} <= {fold(column.name) for column in table.columns}
        else:
            assert db.execute(f"SELECT {quoted(table.rowid, 0)} FROM t").get == stored


PARTS = st.tuples(st.sampled_from(["a", '"b c"', "lower(a)"]), st.sampled_from(["", "COLLATE NOCASE"]), st.sampled_from(["", "DESC"]))


@given(
    st.lists(PARTS, min_size=1, max_size=3),
    st.sampled_from(["a > 1", '"b c" IS NOT NULL', "a = ' WHERE ' OR \"b c\" < 2", "a NOT IN (1, 2) -- then\n AND a < 9"]),
    st.sampled_from(COMMENTS),
)
@settings(max_examples=40, deadline=None)
def test_a_partial_index_serves_a_query_with_its_condition_verbatim(columns, where, comment):
    parts = ", ".join(" ".join(column) for column in columns)
    db = database('CREATE TABLE t(a, "b c")', f'CREATE INDEX "i where" ON t({parts}){comment} WHERE{comment or " "}{where}{comment}')
    (index,) = schema_of(db).tables["t"].indexes
    assert index.partial
    assert [(part.descending, part.collation == "NOCASE") for part in index.columns] == [(end != "", c != "") for _, c, end in columns]
    db.execute(f'SELECT count(*) FROM t INDEXED BY "i where" WHERE ({index.where})')  # "no query solution" for any other condition

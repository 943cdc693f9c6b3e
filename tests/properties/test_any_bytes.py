"""SQLite keeps any bytes as text. No place from which a value is read stops a rule or loses a row by it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import apsw
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import retention
from retention.steps import Archive, RawText

NOW = "2026-09-09T14:00:00Z"
OLD, FRESH = b"2026-01-01 00:00:00", b"2026-09-09 13:00:00"

ODD = [
    b"\xff",
    b"\xc3",
    b"\xc3\xa9",
    b"\xed\xa0\x80",
    b"\xef\xbf\xbd",
    b"a\x00b",
    b"a\x00\xff",
    b"",
    b"a\xffb'\"$.",
    b"\xf4\x90\x80\x80",
    b"12",
]
BYTES = st.one_of(st.sampled_from(ODD), st.binary(max_size=6), st.text(max_size=4).map(lambda t: t.encode("utf-8", "replace")))
AGES = st.one_of(st.sampled_from([OLD, OLD, FRESH]), BYTES)
DOCUMENTS = st.one_of(st.sampled_from([b"", b'{"days": 10}', b'{"days": 10}\x00', b"{\xff", b"[\xc3]"]), BYTES)

KEYS = {
    "rowid": "id, at TEXT, w TEXT, more)",
    "unique": "id TEXT UNIQUE NOT NULL, at TEXT, w TEXT, more)",
    "without": "id TEXT PRIMARY KEY, at TEXT, w TEXT, more) WITHOUT ROWID",
    "untyped": "id PRIMARY KEY NOT NULL, at TEXT, w TEXT, more) WITHOUT ROWID",
    "pair": "id TEXT, at TEXT, w TEXT, more, PRIMARY KEY (w, id)) WITHOUT ROWID",
    "nocase": "id TEXT COLLATE NOCASE PRIMARY KEY, at TEXT, w TEXT, more) WITHOUT ROWID",
}
WALKS = {"rowid": ("key", "age"), "unique": ("key", "age", "age_id")}
MODES: list[Any] = ["range", "chunk", {"chunk": 2}]


@dataclass
class Kept:
    """A sink that keeps the rows in memory."""

    rows: list[tuple[Any, ...]] = field(default_factory=list)

    def write(self, step: Archive) -> None:
        self.rows += step.rows

    def close(self) -> None: ...


def text(con: apsw.Connection, values: list[bytes]) -> list[bytes]:
    """The bytes as the database may hold them: pairs of them in UTF-16."""
    (encoding,) = con.execute("PRAGMA encoding").fetchone()  # type: ignore[misc]
    return values if encoding == "UTF-8" else [v[: len(v) // 2 * 2] for v in values]


def fill(con: apsw.Connection, rows: list[tuple[bytes, bytes, bytes, bytes]], utf8: bool) -> None:
    ages = {v: v if utf8 else v.decode().encode("utf-16-le") for v in (OLD, FRESH)}
    for row in rows:
        ident, at, w, more = text(con, [ages.get(v, v) for v in row])
        con.execute(f"INSERT OR IGNORE INTO t VALUES ({', '.join(['CAST(? AS TEXT)'] * 4)})", (ident, at, w, more))


def left(con: apsw.Connection) -> list[tuple[Any, ...]]:
    return con.execute("SELECT hex(id), hex(at), hex(w), hex(more) FROM t").fetchall()


def archived(row: tuple[Any, ...], encoding: str) -> tuple[str, ...]:
    return tuple((v.data if isinstance(v, RawText) else v.encode(encoding)).hex().upper() for v in row)


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(sorted(KEYS)), st.integers(0, 2), st.sampled_from(MODES), st.booleans(), st.booleans(), st.booleans(),
    st.integers(1, 4),
    st.lists(st.tuples(BYTES, AGES, BYTES, BYTES), max_size=12), st.dictionaries(BYTES, DOCUMENTS, max_size=4),
)  # fmt: skip
@example("without", 0, "range", False, True, True, 1, [(v, OLD, v, v) for v in ODD], dict.fromkeys(ODD, b"{"))
@example("rowid", 1, "chunk", True, True, False, 2, [(v, v, b"", v) for v in ODD], {})
@example("pair", 0, "chunk", True, False, True, 3, [(v, OLD, v, v) for v in ODD], {})
def test_nothing_stops_and_nothing_is_lost(
    kind: str, walk: int, mode: Any, archive: bool, utf8: bool, tenants: bool, page_rows: int, rows: Any, documents: Any
) -> None:
    con = apsw.Connection("")
    con.execute(f"PRAGMA encoding = '{'UTF-8' if utf8 else 'UTF-16le'}'; CREATE TABLE t ({KEYS[kind]}")
    con.execute("CREATE TABLE ws (id TEXT PRIMARY KEY, doc TEXT); CREATE INDEX t_at ON t (at)")
    walks = WALKS.get(kind, ("key",))
    if walks[walk % len(walks)] == "age_id":
        con.execute("CREATE UNIQUE INDEX t_at_id ON t (at, id)")
    fill(con, rows, utf8)
    for ident, document in documents.items():
        con.execute("INSERT OR IGNORE INTO ws VALUES (CAST(? AS TEXT), CAST(? AS TEXT))", text(con, [ident, document]))
    rule: dict[str, Any] = {
        "table": "t",
        "keep": "30d",
        "age": {"column": "at", "format": "utc_text"},
        "mode": mode,
        "page_rows": page_rows,
    }
    index = {"age": "t_at", "age_id": "t_at_id"}.get(walks[walk % len(walks)])
    policy: dict[str, Any] = {"version": 1, "rules": [rule]}
    if index:
        rule["walk"] = {"index": index}
    if tenants:
        rule["tenant"] = {"column": "w", "setting": "days"}
        policy["tenants"] = {"table": "ws", "key": "id", "settings": "doc", "shortest": "1h"}
    sink = Kept()
    if archive:
        rule |= {"archive": "unused", "mode": "chunk"}

    old = (OLD if utf8 else OLD.decode().encode("utf-16-le")).hex().upper()
    known = "CASE WHEN json_valid(doc) AND instr(doc, char(0)) = 0 THEN json_type(doc) IN ('object', 'null') ELSE 0 END"
    malformed = f"SELECT hex(id) FROM ws WHERE doc <> '' AND NOT {known}"
    kept_tenants = {w for (w,) in con.execute(malformed)} if tenants else set()
    before = left(con)
    gone = [row for row in before if row[1] == old and row[2] not in kept_tenants]

    store = retention.MemoryStore()
    done = retention.run(con, policy, store=store, now=NOW, until_done=True, archives={"t": sink} if archive else None)
    assert (done.outcome, done.rules[0].error) == ("done", None), done.warnings
    assert sorted(left(con)) == sorted(row for row in before if row not in gone)
    assert done.deleted == len(gone)
    assert done.rules[0].unreadable + done.rules[0].deleted <= len(before)
    if archive:
        encoding = "utf-8" if utf8 else "utf-16-le"
        assert sorted(archived(row, encoding) for row in sink.rows) == sorted(gone)
    assert retention.run(con, policy, store=store, now=NOW, archives={"t": sink} if archive else None).deleted == 0


@pytest.mark.parametrize("page_rows", [1, 100])  # row by row, and all tenants at once
@pytest.mark.parametrize("rest", [b"\x00", b"\x00x", b'\x00{"days": 60}', b"x\x00"])
def test_a_document_is_all_of_its_text(rest: bytes, page_rows: int) -> None:
    """SQLite's JSON functions end at a NUL: what stands before it is no answer for a document that goes on."""
    con = apsw.Connection("")
    con.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, at TEXT, w TEXT); CREATE TABLE ws (id TEXT PRIMARY KEY, doc TEXT)")
    con.executemany("INSERT INTO t (at, w) VALUES (?, ?)", [(OLD.decode(), "whole"), (OLD.decode(), "goes on")])
    con.execute("""INSERT INTO ws VALUES ('whole', '{"days": 1}'), ('goes on', CAST(? AS TEXT))""", (b'{"days": 1}' + rest,))
    rule = {
        "table": "t",
        "keep": "forever",
        "age": {"column": "at", "format": "utc_text"},
        "tenant": {"column": "w", "setting": "days"},
        "page_rows": page_rows,
    }
    policy = {"version": 1, "tenants": {"table": "ws", "key": "id", "settings": "doc"}, "rules": [rule]}
    done = retention.run(con, policy, now=NOW, until_done=True)
    assert con.execute("SELECT w FROM t").fetchall() == [("goes on",)]
    assert done.rules[0].malformed_tenants == ["goes on"]


@pytest.mark.parametrize("document", ODD)
def test_a_run_of_one_page_goes_on_behind_any_key(document: bytes) -> None:
    """The checkpoint holds any key: each run does one page and the next begins behind it."""
    con = apsw.Connection("")
    con.execute("CREATE TABLE t (id TEXT PRIMARY KEY, at TEXT) WITHOUT ROWID")
    keys = sorted({document, *ODD})
    con.executemany("INSERT INTO t VALUES (CAST(? AS TEXT), CAST(? AS TEXT))", [(k, FRESH) for k in keys])
    policy = {
        "version": 1,
        "rules": [{"table": "t", "keep": "1d", "age": {"column": "at", "format": "utc_text"}, "page_rows": 1, "max_pages": 1}],
    }
    store = retention.MemoryStore()
    seen = [retention.run(con, policy, store=store, now=NOW) for _ in keys]
    assert [run.outcome for run in seen] == ["more"] * (len(keys) - 1) + ["done"]


@pytest.mark.parametrize("utf8", [True, False], ids=["utf-8", "utf-16"])
@given(st.lists(BYTES, min_size=1, max_size=6), st.integers(1, 3))
@settings(max_examples=30, deadline=None)
def test_families_by_any_key(utf8: bool, keys: list[bytes], rows_changed: int) -> None:
    con = apsw.Connection("")
    con.execute(f"PRAGMA encoding = '{'UTF-8' if utf8 else 'UTF-16le'}'")
    con.execute("CREATE TABLE t (id TEXT PRIMARY KEY, at TEXT) WITHOUT ROWID")
    con.execute("CREATE TABLE child (id TEXT PRIMARY KEY, up TEXT REFERENCES t) WITHOUT ROWID; CREATE INDEX child_up ON child (up)")
    old = OLD if utf8 else OLD.decode().encode("utf-16-le")
    for key in text(con, keys):
        con.execute("INSERT OR IGNORE INTO t VALUES (CAST(? AS TEXT), CAST(? AS TEXT))", (key, old))
        con.execute("INSERT OR IGNORE INTO child SELECT id, id FROM t")
        con.execute("INSERT OR IGNORE INTO child VALUES (CAST(? AS TEXT), CAST(? AS TEXT))", (key + b"\0\1", key))
    rule = {"table": "t", "keep": "30d", "age": {"column": "at", "format": "utc_text"}, "children": "drain"}
    done = retention.run(con, {"version": 1, "rules": [rule], "limits": {"rows_changed": rows_changed}}, now=NOW, until_done=True)
    assert done.outcome == "done", done.warnings
    assert con.execute("SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM child)").fetchall() == [(0, 0)]

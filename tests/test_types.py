"""Values of every kind as keys, on every host: each goes exactly as on a file, or the rule is refused with the reason."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import apsw
import pytest

import retention
from tests.d1.fixtures import Servers, d1_server
from tests.places import PLACES, Place, opened, said

__all__ = ["d1_server"]

NOW = "2026-09-09T14:00:00Z"
OLD, FRESH = 1_700_000_000, 1_788_962_300

INTEGERS = ("0", "1", "-1", "9007199254740993", "-9007199254740993", "9223372036854775807", "-9223372036854775808", "9223372036854775806")
REALS = ("0.5", "-0.5", "0.1", "1e300", "-1e300", "5e-324", "1.7976931348623157e308", "9007199254740994.5", "1e15 + 0.3", "2.5e15")
TEXTS = ("''", "'a'", "'ä'", "'5'", "'05'", "'5.0'", "'9007199254740993'", "'aa'", """'{"blob":"00"}'""", "char(34, 39, 92)", "char(65533)")
NULS = ("CAST(x'00' AS TEXT)", "CAST(x'610062' AS TEXT)", "CAST(x'6100' AS TEXT)", "CAST(x'0061' AS TEXT)")
NO_UTF8 = ("CAST(x'ff' AS TEXT)", "CAST(x'c3' AS TEXT)", "CAST(x'eda080' AS TEXT)", "CAST(x'61ff62' AS TEXT)")
BLOBS = ("x''", "x'00'", "x'ff'", "x'61'", "x'0061ff'", "zeroblob(20)", "CAST('5' AS BLOB)")
VALUES = (*INTEGERS, *REALS, *TEXTS, *NULS, *NO_UTF8, *BLOBS)
"""SQL of keys, of which every other row is old."""

TABLES = {
    "primary key": ("k {k} NOT NULL, n, at INTEGER, PRIMARY KEY (k)", "WITHOUT ROWID", ""),
    "second of two": ("a DEFAULT 7, k {k} NOT NULL, n, at INTEGER, PRIMARY KEY (a, k)", "WITHOUT ROWID", ""),
    "behind the age": ("k {k} NOT NULL, n, at INTEGER, PRIMARY KEY (k)", "WITHOUT ROWID", "CREATE UNIQUE INDEX i ON t (at, k)"),
    "beside a rowid": ("k {k} UNIQUE NOT NULL, n, at INTEGER", "", ""),
}


@pytest.fixture(scope="module", params=PLACES)
def place(request: pytest.FixtureRequest, d1_server: Servers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with opened(request.param, d1_server, tmp_path_factory.mktemp("place")) as found:
        yield found


def filled(table: str, declared: str, values: tuple[str, ...]) -> tuple[str, ...]:
    columns, end, index = TABLES[table]
    rows = [f"INSERT OR IGNORE INTO t (k, n, at) VALUES ({sql}, {n}, {FRESH if n % 2 else OLD})" for n, sql in enumerate(values)]
    return tuple(filter(None, (f"CREATE TABLE t ({columns.format(k=declared)}) {end}", index, *rows)))


def policy(table: str, mode: str) -> dict[str, Any]:
    rule: dict[str, Any] = {"table": "t", "keep": "30d", "age": {"column": "at", "format": "unix_s"}, "mode": mode, "page_rows": 3}
    return {"version": 1, "rules": [rule | ({"walk": {"index": "i"}} if TABLES[table][2] else {})]}


LEFT = "SELECT n, typeof(k) FROM t ORDER BY n"


@pytest.mark.parametrize("mode", ["range", "chunk"])
@pytest.mark.parametrize("declared", ["", "TEXT"])
@pytest.mark.parametrize("table", TABLES)
def test_keys_of_every_kind_go_as_on_a_file(place: Place, table: str, declared: str, mode: str) -> None:
    made = filled(table, declared, VALUES)
    con = apsw.Connection("")
    con.execute(";".join(made))
    fresh = [row for row in con.execute(LEFT) if row[0] % 2]
    place.empty()
    place.setup(made)
    here, there = (retention.run(db, policy(table, mode), now=NOW) for db in (con, place.host))
    assert (here.outcome, there.outcome) == ("done", "done"), there
    assert said(there) == said(here)
    assert place.beside.execute(LEFT).fetchall() == con.execute(LEFT).fetchall() == fresh


@pytest.mark.parametrize("mode", ["range", "chunk"])
@pytest.mark.parametrize("table", ["primary key", "second of two", "behind the age"])
@pytest.mark.parametrize("infinite", ["9e999", "-9e999"])
def test_a_key_without_end_is_exact_or_refused(place: Place, infinite: str, table: str, mode: str) -> None:
    """JSON has no infinity. It stands at one end of the keys, beside rows that must stay."""
    place.empty()
    place.setup(filled(table, "", (infinite, "1.5", "2.5", "3.5", "-1.5")))
    receipt = retention.run(place.host, policy(table, mode), now=NOW)
    left = [n for n, _ in place.beside.execute(LEFT).fetchall()]
    assert {1, 3} <= set(left)
    if receipt.outcome == "done":
        assert left == [1, 3]
    else:
        assert receipt.outcome == "failed"
        assert "cannot travel to this host and back exactly" in (receipt.rules[0].error or "")


def test_numbers_in_text_columns_are_no_ages_and_texts_in_number_columns_are_none(place: Place) -> None:
    """An age is read by the class in which the database stores it, whatever class it was bound in."""
    made = [
        "CREATE TABLE t (n INTEGER PRIMARY KEY, at TEXT)",
        f"INSERT INTO t VALUES (1, {OLD}), (2, '{OLD}'), (3, x'31'), (4, NULL), (5, '{OLD}x'), (6, {OLD}.5), (7, '')",
        "CREATE TABLE u (n INTEGER PRIMARY KEY, at INTEGER)",
        f"INSERT INTO u VALUES (1, {OLD}), (2, '{OLD}'), (3, x'31'), (4, NULL), (5, '{OLD}x'), (6, {OLD}.5), (7, '')",
        "CREATE TABLE v (n INTEGER PRIMARY KEY, at)",
        f"INSERT INTO v VALUES (1, {OLD}), (2, '{OLD}'), (3, x'31'), (4, NULL)",
        "INSERT INTO v VALUES (5, 9223372036854775807), (6, -9223372036854775808), (7, 9e999), (8, -9e999), (9, 1e300)",
    ]
    con = apsw.Connection("")
    con.execute(";".join(made))
    place.empty()
    place.setup(made)
    rules = [{"table": t, "keep": "30d", "age": {"column": "at", "format": "unix_s"}, "plausible": False} for t in "tuv"]
    here, there = (retention.run(db, {"version": 1, "rules": rules}, now=NOW) for db in (con, place.host))
    assert (here.outcome, there.outcome) == ("done", "done"), there
    assert said(there) == said(here)
    for table in "tuv":
        sql = f"SELECT n, typeof(at) FROM {table} ORDER BY n"
        assert place.beside.execute(sql).fetchall() == con.execute(sql).fetchall()

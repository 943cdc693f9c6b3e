"""D1's limits and ways on a local connection: the messages are those of the real service."""

from __future__ import annotations

from dataclasses import replace

import apsw
import pytest

from retention.capabilities import D1
from retention.errors import HostError
from retention.hosts.sqlite_like_d1 import limited_like_d1
from retention.steps import Batch, Statement

from .databases import FAMILY, read, write


@pytest.fixture
def host():
    con = apsw.Connection("")
    con.execute(FAMILY)
    with limited_like_d1(con) as opened:
        yield opened
    con.close()


def test_it_says_what_d1_says_but_for_name_and_meters(host):
    assert replace(host.capabilities, name=D1.name, meters=D1.meters) == D1


ACCEPTED = {
    "100 values": ("SELECT " + ", ".join(f"?{n}" for n in range(1, 101)), (1,) * 100),
    "an OR chain of 99": ("SELECT id FROM p WHERE " + " OR ".join(f"id = {n}" for n in range(99)), ()),
    "5 terms": ("SELECT 1" + " UNION ALL SELECT 1" * 4, ()),
    "a pattern of 50 bytes": ("SELECT 'x' LIKE ?1", ("a" * 50,)),
    "100,000 bytes": ("SELECT 1 --" + "x" * (100_000 - 11), ()),
}
REFUSED = {
    "101 values": ("SELECT ?101", (1,) * 101, "variable number must be between"),
    "an OR chain of 101": ("SELECT id FROM p WHERE " + " OR ".join(f"id = {n}" for n in range(101)), (), "Expression tree is too large"),
    "6 terms": ("SELECT 1" + " UNION ALL SELECT 1" * 5, (), "too many terms in compound SELECT"),
    "a pattern of 51 bytes": ("SELECT 'x' LIKE ?1", ("a" * 51,), "pattern too complex"),
    "100,001 bytes": ("SELECT 1 --" + "x" * (100_001 - 11), (), "too big"),
    "101 columns": ("SELECT " + ", ".join("1" for _ in range(101)), (), "too many columns"),
    "128 arguments": ("SELECT max(" + ", ".join("1" for _ in range(128)) + ")", (), "too many arguments"),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_d1_takes(host, name):
    sql, params = ACCEPTED[name]
    assert host.execute(Batch((Statement(sql, params),)))


@pytest.mark.parametrize("name", REFUSED)
def test_what_d1_refuses(host, name):
    sql, params, says = REFUSED[name]
    with pytest.raises(HostError, match=says) as caught:
        host.execute(Batch((Statement(sql, params),)))
    assert caught.value.kind == "limit"


@pytest.mark.parametrize(
    ("sql", "params", "rows"),
    [
        ("SELECT typeof(?1), ?1", (5,), [("real", 5)]),
        ("SELECT 'k' || ?1", (5,), [("k5.0",)]),
        ("SELECT CAST(?1 AS INTEGER) = 9007199254740993", ("9007199254740993",), [(1,)]),
        ("SELECT 9007199254740993", (), [(9007199254740992,)]),
        ("SELECT CAST(9007199254740993 AS TEXT)", (), [("9007199254740993",)]),
        ("SELECT 9e999, -9e999, 1.0, 1.5", (), [(None, None, 1, 1.5)]),
    ],
)
def test_numbers_travel_as_on_d1(host, sql, params, rows):
    assert host.execute(Batch((Statement(sql, params),)))[0].rows == rows


def test_only_the_total_of_changes_is_known(host):
    removed, asked = host.execute(write("DELETE FROM p WHERE id = 1", "SELECT changes()"))
    assert (removed.changes, removed.total_changes, removed.cascaded) == (None, 8, None)
    assert asked.rows == [(1,)]


def test_several_writes_are_one_unit(host):
    with pytest.raises(HostError):
        host.execute(write("DELETE FROM p WHERE id = 1", "SELECT * FROM nowhere"))
    assert host.execute(read("SELECT count(*) FROM p"))[0].rows == [(4,)]

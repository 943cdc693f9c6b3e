"""Policies at a host's limits, on every host: the planner's shapes fit, or the run is refused before it starts, by the limit's name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import retention
from tests.d1.fixtures import Servers, d1_server
from tests.places import PLACES, Place, opened

__all__ = ["d1_server"]

NOW = "2026-09-09T14:00:00Z"
OLD, FRESH = 1_700_000_000, 1_788_962_300
NUMBERS = "(WITH RECURSIVE n (v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < {rows}) SELECT v FROM n)"
AT = f"CASE WHEN v % 3 THEN {OLD} ELSE {FRESH} END"
ROWS = 300


@pytest.fixture(scope="module", params=PLACES)
def place(request: pytest.FixtureRequest, d1_server: Servers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with opened(request.param, d1_server, tmp_path_factory.mktemp("place")) as found:
        yield found


def filled(place: Place, columns: str, values: str, *more: str, rows: int = ROWS, end: str = "") -> None:
    place.empty()
    place.setup((f"CREATE TABLE t ({columns}) {end}", *more, f"INSERT INTO t SELECT {values} FROM {NUMBERS.format(rows=rows)}"))


def rule(**more: Any) -> dict[str, Any]:
    return {"table": "t", "keep": "30d", "age": {"column": "at", "format": "unix_s"}} | more


def run(place: Place, *rules: dict[str, Any], **policy: Any) -> retention.Receipt:
    return retention.run(place.host, {"version": 1, "rules": list(rules)} | policy, now=NOW)


def left(place: Place, where: str = "1") -> int:
    return place.beside.execute(f"SELECT count(*) FROM t WHERE {where}").fetchall()[0][0]


def drained(place: Place, *rules: dict[str, Any], **policy: Any) -> None:
    """All old rows go, and no other."""
    receipt = run(place, *rules, **policy)
    assert receipt.outcome == "done", receipt.warnings + [r.error for r in receipt.rules]
    assert (receipt.deleted, left(place)) == (ROWS * 2 // 3, ROWS // 3)
    assert left(place, f"at = {FRESH}") == ROWS // 3


MODES = ["range", "chunk"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("joined", ["AND", "OR"])
def test_sixty_conditions(place: Place, joined: str, mode: str) -> None:
    filled(place, "id INTEGER PRIMARY KEY, at INTEGER, k INTEGER", f"v, {AT}, v")
    term = "k <> {n}" if joined == "AND" else "k = {n}"
    first = -59 if joined == "AND" else 1
    terms = [term.format(n=n) for n in range(first, first + 59)] + ["k > 0"]
    drained(place, rule(only=f" {joined} ".join(terms), mode=mode))


@pytest.mark.parametrize("mode", MODES)
def test_a_key_of_eight_columns(place: Place, mode: str) -> None:
    names = "abcdefgh"
    filled(
        place, f"{', '.join(f'{c} TEXT' for c in names)}, at INTEGER, PRIMARY KEY ({', '.join(names)})",
        f"v % 2, v % 3, v % 5, v % 7, v % 2, v % 3, 'x', v, {AT}", end="WITHOUT ROWID",
    )  # fmt: skip
    drained(place, rule(mode=mode, page_rows=50))


@pytest.mark.parametrize("mode", MODES)
def test_a_hundred_columns(place: Place, mode: str) -> None:
    rest = [f"c{n}" for n in range(98)]
    filled(place, f"id INTEGER PRIMARY KEY, at INTEGER, {', '.join(rest)}", f"v, {AT}, {', '.join('v' for _ in rest)}")
    drained(place, rule(mode=mode, only=" AND ".join(f"{c} > 0" for c in rest[:60])))


def test_a_hundred_columns_to_an_archive(place: Place, tmp_path: Path) -> None:
    """Each column is read beside its storage class, which may be more columns than a result may have."""
    rest = [f"c{n}" for n in range(98)]
    filled(place, f"id INTEGER PRIMARY KEY, at INTEGER, {', '.join(rest)}", f"v, {AT}, {', '.join('v' for _ in rest)}")
    archive = tmp_path / "rows.jsonl"
    receipt = run(place, rule(archive=str(archive)))
    if receipt.outcome == "refused":
        assert (receipt.exit_status, left(place)) == (4, ROWS)
        assert "leave `archive` out" in receipt.warnings[-1]
    else:
        assert receipt.outcome == "done", receipt
        assert left(place) == ROWS // 3
        assert len(archive.read_text().splitlines()) == 1 + ROWS * 2 // 3


def test_a_hundred_thousand_tenants(place: Place) -> None:
    tenants = f"INSERT INTO ws SELECT 'w' || v, CASE v % 2 WHEN 0 THEN '{{\"days\": 10}}' END FROM {NUMBERS.format(rows=100_000)}"
    filled(
        place, "id INTEGER PRIMARY KEY, at INTEGER, w TEXT", f"v, {AT}, 'w' || (v * 300)",
        "CREATE TABLE ws (id TEXT PRIMARY KEY, doc TEXT)", tenants,
    )  # fmt: skip
    tenant = {"tenant": {"column": "w", "setting": "days"}}
    drained(place, rule(**tenant), tenants={"table": "ws", "key": "id", "settings": "doc", "shortest": "1d"})


TOO_MUCH = {
    "Expression tree is too large": lambda at: " AND ".join(f"k <> {n}" for n in range(at.max_depth + 1)),
    "a pattern of LIKE has": lambda at: f"note LIKE '{'x' * at.max_pattern_bytes}%'",
    "a pattern of GLOB has": lambda at: f"NOT glob('{'x' * at.max_pattern_bytes}*', note)",
    "shorten `only`": lambda at: f"note <> '{'x' * at.max_sql_bytes}'",
    "too many terms in compound SELECT": lambda at: f"k IN ({' UNION ALL '.join(f'SELECT {n}' for n in range(at.max_compound + 1))})",
}
"""What the refusal says, and a condition just beyond what a host takes."""


@pytest.mark.parametrize("says", TOO_MUCH)
def test_what_cannot_fit_is_refused_before_it_starts(place: Place, says: str) -> None:
    filled(place, "id INTEGER PRIMARY KEY, at INTEGER, k INTEGER, note TEXT", f"v, {AT}, -v, 'a'")
    place.empty_log()
    receipt = run(place, rule(only=TOO_MUCH[says](place.host.capabilities)))
    assert (receipt.outcome, receipt.exit_status) == ("refused", 4), receipt
    assert says in receipt.warnings[-1]
    assert left(place) == ROWS
    if place.log is not None:
        assert not [sql for sql in place.log() if sql.startswith("DELETE")]


def test_a_pattern_that_just_fits(place: Place) -> None:
    filled(place, "id INTEGER PRIMARY KEY, at INTEGER, note TEXT", f"v, {AT}, '{'x' * 49}y'")
    drained(place, rule(only=f"note LIKE '{'x' * 49}%'"))

"""Each guard of the condition on its own: one row that it alone keeps, beside one that goes."""

from __future__ import annotations

from typing import Any

import apsw
import pytest

from retention.statements.ages import utc
from tests.conformance.calls import Call, Calls

NOW_S = 1_788_962_400
DAY = 86_400
MODES: list[Any] = ["range", {"chunk": 2}]
both = pytest.mark.parametrize("mode", MODES, ids=["range", "chunk"])


def run(mode: Any, rows: list[tuple[Any, ...]], more: str = "", top: dict[str, Any] | None = None, **rule: Any) -> tuple[set[int], Call]:
    """Ids that are left of rows (id, age in days or the value itself, w, k)."""
    con = apsw.Connection("")
    con.execute("PRAGMA foreign_keys = on; CREATE TABLE t (id INTEGER PRIMARY KEY, at, w TEXT, k)")
    stored = [(i, NOW_S - at * DAY if isinstance(at, int) else at, w, k) for i, at, w, k in rows]
    con.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", stored)
    if more:
        con.execute(more)
    base = {"table": "t", "keep": "30d", "age": {"column": "at", "format": "unix_s"}, "mode": mode, "plausible": False}
    done = Calls(con, {"version": 1, "rules": [base | rule]} | (top or {})).call()
    return {i for (i,) in con.execute("SELECT id FROM t")}, done


@both
def test_only_must_be_true_and_not_merely_unknown(mode: Any) -> None:
    left, _ = run(mode, [(1, 90, "", 1), (2, 90, "", 0), (3, 90, "", None)], only="k = 1")
    assert left == {2, 3}


@both
def test_a_row_of_exactly_its_keep_stays(mode: Any) -> None:
    left, _ = run(mode, [(1, NOW_S - 30 * DAY + 0.0, "", 1), (2, NOW_S - 30 * DAY - 1.0, "", 1)])
    assert left == {1}


@both
def test_a_text_of_exactly_its_keep_stays(mode: Any) -> None:
    at = [utc(1000 * (NOW_S - 30 * DAY - late)).strftime("%Y-%m-%d %H:%M:%S") for late in (0, 1)]
    left, _ = run(mode, [(1, at[0], "", 1), (2, at[1], "", 1)], age={"column": "at", "format": "utc_text"})
    assert left == {1}


@both
def test_what_is_no_time_is_kept_and_counted(mode: Any) -> None:
    left, done = run(mode, [(1, 90, "", 1), (2, None, "", 1), (3, "soon", "", 1), (4, b"", "", 1)])
    assert left == {2, 3, 4}
    assert (done.rules["t"].undated, done.rules["t"].unreadable) == (1, 2)


WS = "CREATE TABLE ws (id TEXT PRIMARY KEY, doc TEXT, days);"
SETTING: dict[str, Any] = {
    "tenant": {"column": "w", "setting": "days"},
    "top": {"tenants": {"table": "ws", "key": "id", "settings": "doc"}},
}
DAYS: dict[str, Any] = {"tenant": {"column": "w", "days": "days"}, "top": {"tenants": {"table": "ws", "key": "id"}}}


@both
@pytest.mark.parametrize("kind", [SETTING, DAYS], ids=["setting", "days"])
def test_a_tenants_keep_is_exclusive_as_the_rules_is(mode: Any, kind: dict[str, Any]) -> None:
    rows = [(1, NOW_S - 10.0 * DAY, "a", 1), (2, NOW_S - 10.0 * DAY - 1, "a", 1), (3, 29, "b", 1), (4, 31, "b", 1)]
    left, _ = run(mode, rows, WS + "INSERT INTO ws VALUES ('a', '{\"days\": 10}', 10)", **kind)
    assert left == {1, 3}


@both
@pytest.mark.parametrize("kind", [SETTING, DAYS], ids=["setting", "days"])
@pytest.mark.parametrize("days", ["0", "-1", "null", '"10"', "1e300", "30000"])
def test_a_keep_that_is_none_or_reaches_beyond_1970_is_for_ever(mode: Any, kind: dict[str, Any], days: str) -> None:
    value = {"null": "NULL", '"10"': "'10'"}.get(days, days)
    ws = WS + f"INSERT INTO ws VALUES ('a', '{{\"days\": {days}}}', {value})"
    left, _ = run(mode, [(1, 20_000, "a", 1), (2, 90, "b", 1), (3, 40_000, "a", 1)], ws, **kind)
    assert left == (set() if days == "null" and kind is DAYS else {1, 3}), "a column's NULL is no keep of its own"


@both
def test_a_keep_below_the_shortest_is_raised_to_it(mode: Any) -> None:
    top = {"tenants": {"table": "ws", "key": "id", "settings": "doc", "shortest": "5d"}}
    ws = WS + "INSERT INTO ws VALUES ('a', '{\"days\": 2}', 2)"
    left, _ = run(mode, [(1, 4, "a", 1), (2, 6, "a", 1), (3, 4, "b", 1)], ws, **SETTING | {"top": top, "keep": "1d"})
    assert left == {1}


@both
@pytest.mark.parametrize("text", ["{", "[]", "7", '{"days": 1, "days": 1}', "{'days': 1}"])
def test_a_malformed_document_keeps_its_tenant(mode: Any, text: str) -> None:
    ws = WS + "INSERT INTO ws VALUES ('a', ?, 1)".replace("?", "'" + text.replace("'", "''") + "'")
    left, done = run(mode, [(1, 90, "a", 1), (2, 90, "b", 1)], ws, **SETTING)
    assert left == {1}
    assert done.rules["t"].malformed_tenants == ["a"]


@both
def test_a_held_row_is_kept_and_counted(mode: Any) -> None:
    left, done = run(mode, [(1, 90, "", 1), (2, 90, "", 0)], top={"holds": [{"table": "t", "where": "k = 1"}]})
    assert left == {1}
    assert done.rules["t"].held == 1


@both
@pytest.mark.parametrize("action", ["CASCADE", "SET NULL"])
def test_a_held_child_keeps_its_parent(mode: Any, action: str) -> None:
    child = f"CREATE TABLE c (ref INTEGER REFERENCES t (id) ON DELETE {action}, h); CREATE INDEX r ON c (ref);"
    child += "INSERT INTO c VALUES (1, 1), (2, 0)"
    left, done = run(mode, [(1, 90, "", 1), (2, 90, "", 1)], child, {"holds": [{"table": "c", "where": "h = 1"}]})
    assert left == {1}
    assert done.rules["t"].held == 1


@both
def test_a_child_that_refers_keeps_its_parent_without_an_error(mode: Any) -> None:
    child = "CREATE TABLE c (ref INTEGER REFERENCES t (id)); CREATE INDEX r ON c (ref); INSERT INTO c VALUES (1)"
    left, done = run(mode, [(1, 90, "", 1), (2, 90, "", 1)], child)
    assert left == {1}
    assert (done.rules["t"].referenced, done.rules["t"].blocked, done.rules["t"].error) == (1, 0, None)


@both
def test_the_newest_are_those_that_count(mode: Any) -> None:
    """Among dated rows that pass `only`: neither row 5 nor row 6 makes row 4 an older one."""
    rows = [(i, 90, "a", 1) for i in range(1, 5)] + [(5, None, "a", 1), (6, 90, "a", 0)]
    left, _ = run(mode, rows, "CREATE INDEX g ON t (w, id)", only="k = 1", keep_newest={"rows": 2, "per": ["w"], "by": ["id"]})
    assert left == {3, 4, 5, 6}

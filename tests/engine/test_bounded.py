"""Each statement costs at most a constant times its page, whatever the size of the table.

The meter is SQLite's own: virtual machine steps, and rows visited by a full scan. Each case is a table that is unkind to one walk or
look-up; it is run to its end at several sizes, and the dearest statement is compared. On SQLite 3.47 by `test_old_sqlite.py`.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import apsw
import pytest

from .meter import Cost, measured

NOW_S = 1_788_962_400
DAY = 86_400
PAGE = 200
SIZES = (1_000, 10_000, 100_000)
PLAIN = 160  # steps a row: the condition without look-ups, some 40 to 110
EQUALS = 2_000  # steps a row: keep_newest among equals passes up to a page of them


@dataclass(frozen=True)
class Case:
    """Attributes:
    ddl: the table `t` and its indexes.
    rows: SQL for its rows over `n(i)`, 0 to :rows - 1, with :old and :now in unix seconds.
    rule: what the rule adds.
    per_row: steps that a row of a page may take.
    more: other tables.
    """

    ddl: str
    rows: str
    rule: dict[str, Any]
    per_row: int = PLAIN
    more: str = ""


IPK = "CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER, w INTEGER, s INTEGER);"
KEYLESS = "CREATE TABLE t (id TEXT NOT NULL, at INTEGER, w INTEGER, s INTEGER, PRIMARY KEY (id));"
FILL = "INSERT INTO t (id, at, w, s) SELECT "
BY_AGE: dict[str, Any] = {"walk": {"index": "i"}}

CASES = {
    "equal ages, rowid walk": Case(IPK, FILL + "i, :old, 1, 0 FROM n", {}),
    "equal ages, index of the age": Case(IPK + "CREATE INDEX i ON t (at)", FILL + "i, :old, 1, 0 FROM n", BY_AGE),
    "equal ages, index of age and rowid": Case(IPK + "CREATE INDEX i ON t (at, id)", FILL + "i, :old, 1, 0 FROM n", BY_AGE),
    "equal ages, index of age and text key": Case(
        KEYLESS + "CREATE INDEX i ON t (at, id)", FILL + "printf('%09d', i), :old, 1, 0 FROM n", BY_AGE
    ),
    "few ages": Case(IPK + "CREATE INDEX i ON t (at)", FILL + "i, :old - i % 7, 1, 0 FROM n", BY_AGE),
    "90 % kept rows at the head, rowid walk": Case(IPK, FILL + "i, CASE WHEN i * 10 < :rows * 9 THEN :now ELSE :old END, 1, 0 FROM n", {}),
    "90 % kept rows at the head, index walk": Case(
        IPK + "CREATE INDEX i ON t (at)", FILL + "i, :old + i, 1, i * 10 < :rows * 9 FROM n", BY_AGE | {"only": "s = 0"}
    ),
    "huge gaps": Case(IPK, FILL + "i * 92233720368547 * (CASE WHEN i % 2 THEN 1 ELSE -1 END), :old, 1, 0 FROM n", {}),
    "random rowids": Case(IPK, "INSERT OR IGNORE INTO t (id, at, w, s) SELECT scatter(i), :old, 1, 0 FROM n", {}),
    "partial index of the age": Case(
        IPK + "CREATE INDEX i ON t (at) WHERE s IN (1, 2)", FILL + "i, :old, 1, i % 10 FROM n", BY_AGE | {"only": "s IN (1, 2)"}
    ),
    "partial index of age and rowid": Case(
        IPK + "CREATE INDEX i ON t (at, id) WHERE s IN (1, 2)", FILL + "i, :old, 1, i % 10 FROM n", BY_AGE | {"only": "s IN (1, 2)"}
    ),
    "partial index, rows outside": Case(
        IPK + "CREATE INDEX i ON t (at) WHERE s = 1", FILL + "i, :old, 1, i * 10 > :rows * 9 FROM n", BY_AGE | {"only": "s = 1"}
    ),
    "primary key of two columns, one prefix": Case(
        "CREATE TABLE t (id INTEGER, at INTEGER, w TEXT, s INTEGER, PRIMARY KEY (w, id)) WITHOUT ROWID;",
        FILL + "i, :old, 'w', 0 FROM n",
        {},
    ),
    "primary key that falls": Case(
        "CREATE TABLE t (id INTEGER, at INTEGER, w TEXT, s INTEGER, PRIMARY KEY (w DESC, id DESC)) WITHOUT ROWID;",
        FILL + "i, :old, 'w' || i % 3, 0 FROM n",
        {},
    ),
    "an index that tempts": Case(
        IPK + "CREATE INDEX tempting ON t (s, at)", FILL + "i, :old, 1, 1 FROM n", {"only": "s = 1", "walk": "rowid"}
    ),
    "one group, newest by rowid": Case(
        IPK + "CREATE INDEX g ON t (w, id)", FILL + "i, :old, 1, 0 FROM n", {"keep_newest": {"rows": 3, "per": ["w"], "by": ["id"]}}
    ),
    "one group, newest by equal ages": Case(
        IPK + "CREATE INDEX g ON t (w, at)",
        FILL + "i, :old, 1, 0 FROM n",
        {"keep_newest": {"rows": 3, "per": ["w"], "by": ["at"]}},
        EQUALS,
    ),
    "no group, newest of all": Case(IPK, FILL + "i, :old, 1, 0 FROM n", {"keep_newest": {"rows": 50, "by": ["id"]}}, 1_000),
    "many tenants": Case(
        IPK,
        FILL + "i, :old, i, 0 FROM n",
        {"tenant": {"column": "w", "setting": "days"}},
        300,
        "CREATE TABLE ws (id INTEGER PRIMARY KEY, doc TEXT); INSERT INTO ws SELECT i, '{\"days\": 5}' FROM n",
    ),
    "children that refer": Case(
        IPK,
        FILL + "i, :old, 1, 0 FROM n",
        {},
        250,
        "CREATE TABLE child (ref INTEGER REFERENCES t (id)); CREATE INDEX by_ref ON child (ref); INSERT INTO child SELECT i * 2 FROM n",
    ),
    "a held child": Case(
        IPK,
        FILL + "i, :old, 1, 0 FROM n",
        {},
        300,
        "CREATE TABLE child (ref INTEGER REFERENCES t (id) ON DELETE CASCADE, held INTEGER); CREATE INDEX by_ref ON child (ref);"
        "INSERT INTO child SELECT i, i % 3 = 0 FROM n",
    ),
}  # fmt: skip


def built(case: Case, rows: int, analyze: bool) -> apsw.Connection:
    con = apsw.Connection("")
    scattered = random.Random(1)
    con.create_scalar_function("scatter", lambda _: scattered.randrange(-(2**63), 2**63), 1)
    con.execute(case.ddl)
    numbers = "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < :rows - 1) "
    given = {"rows": rows, "old": NOW_S - 400 * DAY, "now": NOW_S}
    for statement in (case.rows, *case.more.split(";")):
        text = statement.strip()
        if " FROM n" in text:
            con.execute(numbers + text, {k: v for k, v in given.items() if f":{k}" in numbers + text})
        else:
            con.execute(text)
    if analyze:
        con.execute("ANALYZE")
    return con


def dearest(case: Case, rows: int, mode: Any, analyze: bool) -> list[Cost]:
    rule = {"table": "t", "keep": "30d", "age": {"column": "at", "format": "unix_s"}, "page_rows": PAGE, "mode": mode, "plausible": False}
    policy: dict[str, Any] = {"version": 1, "rules": [rule | case.rule]}
    if "tenant" in case.rule:
        policy["tenants"] = {"table": "ws", "key": "id", "settings": "doc", "shortest": "1d"}
    if "held" in case.more:
        policy["holds"] = [{"table": "child", "where": "held = 1"}]
    ran, costs = measured(built(case, rows, analyze), policy, NOW_S * 1000)
    assert ran.outcome == "done"
    assert ran.deleted > rows // 20
    return costs


@pytest.mark.parametrize("analyze", [False, True], ids=["", "analyzed"])
@pytest.mark.parametrize("name", CASES)
def test_no_statement_grows_with_the_table(name: str, analyze: bool) -> None:
    case = CASES[name]
    for rows in SIZES if not analyze else SIZES[1:2]:
        for cost in dearest(case, rows, "range", analyze):
            assert cost.steps <= case.per_row * PAGE, (rows, cost)
            assert cost.scanned == 0, (rows, cost)


@pytest.mark.parametrize("name", CASES)
def test_nor_in_chunk_mode(name: str) -> None:
    case = CASES[name]
    for rows in SIZES[:2]:
        for cost in dearest(case, rows, {"chunk": 50}, False):
            assert cost.steps <= 2 * case.per_row * PAGE, (rows, cost)
            assert cost.scanned == 0, (rows, cost)


def test_the_work_of_a_whole_run_grows_with_the_table_and_not_with_its_square() -> None:
    """Among rows that do not count: the newest that do are found upwards from each row."""
    case = Case(
        IPK + "CREATE INDEX g ON t (w, id)",
        FILL + "i, :old, 1, i * 2 > :rows FROM n",
        {"only": "s = 0", "keep_newest": {"rows": 3, "per": ["w"], "by": ["id"]}},
    )
    work = [sum(cost.steps for cost in dearest(case, rows, "range", False)) for rows in SIZES[:2]]
    assert work[1] < 15 * work[0]

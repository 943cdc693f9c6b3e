"""What is promised of parents with children, sentence by sentence: bounded, whole where it fits, judged again at each page, counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import pytest

import retention
from bench.cascade import family
from bench.cascade import policy as threads
from bench.data import NOW as BENCH_NOW
from bench.trace import Trace
from retention.capabilities import D1, LIBSQL
from retention.engine.sizes import FLOOR_ROWS
from retention.errors import HostError, Refused
from retention.hosts.sqlite import SQLite
from retention.steps import Batch, Result, Step
from tests.properties.drive import drive, make

NOW_MS = 1_769_860_800_000
OLD, FRESH = 1_760_000_000, 1_769_860_000
TARGET_S = 0.025
CHILDREN = 50_000
ACTIONS = ["NO ACTION", "RESTRICT", "SET NULL", "SET DEFAULT", "CASCADE"]


def policy(*, limits: Any = None, **rule: Any) -> dict[str, Any]:
    base = {"table": "p", "keep": "30d", "age": {"column": "at", "format": "unix_s"}, "children": "drain"}
    more = {key: rule.pop(key) for key in ("holds", "tenants") if key in rule}
    return {"version": 1, "rules": [base | rule], "limits": limits or {}, **more}


def count(con: apsw.Connection, *tables: str) -> tuple[int, ...]:
    return tuple(con.execute(f"SELECT count(*) FROM {table}").get for table in tables)


# --- a parent with 50,000 children


class Slow(SQLite):
    """A file on which each changed row takes so long, whatever the machine: what adapts by time then does so alike everywhere."""

    per_row = 0.0

    def execute(self, batch: Batch, timeout: float | None = None) -> Sequence[Result]:
        results = super().execute(batch, timeout)
        seconds = self.per_row * sum(result.total_changes or 0 for result in results)
        return [replace(result, seconds=seconds) for result in results]


@pytest.mark.parametrize("per_row", [1e-6, 1e-5, 1e-4])
def test_no_write_of_fifty_thousand_children_is_large_or_long(tmp_path: Path, per_row: float) -> None:
    """At most `rows_changed` rows, and at most four times the aim by the host's own clock."""
    con = apsw.Connection(str(family(tmp_path / "x.db", CHILDREN)))
    trace = Trace(con)
    host = Slow(con)
    host.per_row = per_row
    receipt = retention.run(host, threads(), now=BENCH_NOW * 1000, until_done=True)
    host.close()
    (rule,) = receipt.rules
    assert (receipt.outcome, rule.deleted, rule.drained, rule.too_large) == ("done", 101, {"messages": CHILDREN + CHILDREN // 100}, 0)
    assert max(trace.changes) <= 10_000
    assert max(trace.changes) * per_row <= 4 * TARGET_S
    assert max(trace.changes) >= FLOOR_ROWS
    # Full pages: a write that could be larger is.
    assert len(trace.changes) <= 4 * (CHILDREN / min(10_000, TARGET_S / per_row)) + 20
    con.close()


def test_a_cascade_of_fifty_thousand_is_given_up_at_the_bound(tmp_path: Path) -> None:
    con = apsw.Connection(str(family(tmp_path / "x.db", CHILDREN)))
    (large,) = con.execute("SELECT max(n) FROM (SELECT count(*) AS n FROM messages GROUP BY thread_id)").fetchall()[0]
    others = count(con, "messages")[0] - large
    trace = Trace(con)
    rule = threads()["rules"][0] | {"children": "cascade"}
    receipt = retention.run(con, {"version": 1, "rules": [rule]}, now=BENCH_NOW * 1000, until_done=True)
    assert (receipt.outcome, receipt.rules[0].deleted, receipt.rules[0].too_large) == ("done", 100, 1)
    assert receipt.rules[0].cascaded == {"messages": others}
    assert max(trace.changes) <= 10_001, "the row that passes the bound is noticed at once"
    assert count(con, "threads", "messages") == (1, large)
    assert large >= CHILDREN
    con.close()


class Watched(Slow):
    """One that also holds a batch to its `max_seconds`, by the same clock."""

    def __init__(self, con: apsw.Connection) -> None:
        super().__init__(con)
        self.con, self.held = con, list[float]()

    def execute(self, batch: Batch, timeout: float | None = None) -> Sequence[Result]:
        if not batch.writes:
            return super().execute(batch, timeout)
        self.con.execute("SAVEPOINT held")
        try:
            results = super().execute(replace(batch, max_seconds=None), timeout)
            if batch.max_seconds is not None and results[0].seconds > batch.max_seconds:
                self.con.execute("ROLLBACK TO held")
                raise HostError("too long", "too_many_changes")
        finally:
            self.con.execute("RELEASE held")
        self.held.append(results[0].seconds)
        return results


@pytest.mark.parametrize("mode", ["range", {"chunk": 20}], ids=["range", "chunk"])
@pytest.mark.parametrize("per_row", [1e-5, 2e-3, 2e-2])
def test_a_cascade_holds_the_lock_for_four_times_the_aim_or_is_one_row(per_row: float, mode: Any) -> None:
    """What hangs on a row cannot be known before. At the last of these speeds each row with its children is above the bound by itself."""
    con = apsw.Connection("")
    con.execute(
        "CREATE TABLE p (id INTEGER PRIMARY KEY, at INTEGER);"
        "CREATE TABLE c (id INTEGER PRIMARY KEY, p INTEGER REFERENCES p (id) ON DELETE CASCADE); CREATE INDEX c_p ON c (p);"
    )
    con.executemany("INSERT INTO p VALUES (?, ?)", [(i, OLD if i % 3 else FRESH) for i in range(60)])
    con.executemany("INSERT INTO c (p) VALUES (?)", [(i % 60,) for i in range(300)])
    host = Watched(con)
    host.per_row = per_row
    receipt = retention.run(host, policy(children="cascade", mode=mode), now=NOW_MS, until_done=True)
    host.close()
    assert (receipt.outcome, receipt.deleted, receipt.rules[0].cascaded) == ("done", 40, {"c": 200})
    alone = 6 * per_row
    assert max(host.held) <= max(4 * TARGET_S, alone) + 1e-9
    assert len(host.held) <= 1 + 40 * max(alone, TARGET_S) / (2 * TARGET_S) * 4
    con.close()


# --- a family that fits


@pytest.mark.parametrize("action", ACTIONS)
def test_a_family_that_fits_goes_in_one_transaction_children_first(action: str) -> None:
    con = apsw.Connection("")
    con.execute(
        "CREATE TABLE p (id INTEGER PRIMARY KEY, at INTEGER);"
        f"CREATE TABLE c (id INTEGER PRIMARY KEY, p INTEGER DEFAULT 99 REFERENCES p (id) ON DELETE {action}); CREATE INDEX c_p ON c (p);"
        f"CREATE TABLE g (id INTEGER PRIMARY KEY, c INTEGER REFERENCES c (id) ON DELETE {action}); CREATE INDEX g_c ON g (c);"
        f"INSERT INTO p VALUES (1, {OLD}), (2, {FRESH}); INSERT INTO c VALUES (11, 1), (12, 1), (21, 2);"
        "INSERT INTO g VALUES (5, 11), (6, 21);"
    )
    gone: list[str] = []
    con.set_update_hook(lambda kind, _database, table, _rowid: gone.append(table) if kind == apsw.SQLITE_DELETE else None)
    writes: list[Batch] = []

    def watch(step: Step, _answer: Any, _seconds: float) -> None:
        writes.extend([step] if isinstance(step, Batch) and step.writes else [])

    (rule,) = retention.run(con, policy(), now=NOW_MS, until_done=True, on_step=watch).rules
    assert len(writes) == 1
    assert gone == ["g", "c", "c", "p"]
    assert (rule.deleted, rule.drained, rule.side_changes) == (1, {"c": 2, "g": 1}, 0)
    assert (count(con, "p", "c", "g"), con.execute("PRAGMA foreign_key_check").fetchall()) == ((1, 1, 1), [])


# --- each page asks the whole condition again

LARGE = f"""
    CREATE TABLE ws (id TEXT PRIMARY KEY, doc TEXT); INSERT INTO ws VALUES ('w', NULL);
    CREATE TABLE p (id INTEGER PRIMARY KEY, at INTEGER, state TEXT, w TEXT);
    CREATE INDEX p_newest ON p (w, at);
    CREATE TABLE c (id INTEGER PRIMARY KEY, p INTEGER NOT NULL REFERENCES p (id)); CREATE INDEX c_p ON c (p);
    CREATE TABLE g (id INTEGER PRIMARY KEY, c INTEGER NOT NULL REFERENCES c (id), held INTEGER DEFAULT 0); CREATE INDEX g_c ON g (c);
    INSERT INTO p VALUES (1, {OLD}, 'closed', 'w'), (2, {FRESH - 1}, 'closed', 'w');
    INSERT INTO c WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60) SELECT i, 1 FROM n;
    INSERT INTO g (id, c) SELECT id, id FROM c;
"""
WHOLE: dict[str, Any] = {
    "only": "state = 'closed'",
    "tenant": {"column": "w", "setting": "days"},
    "tenants": {"table": "ws", "key": "id", "settings": "doc"},
    "keep_newest": {"rows": 1, "per": ["w"], "by": ["at"]},
    "holds": [{"table": "g", "where": "held = 1"}],
    "limits": {"rows_changed": 10},
}
RESCUES = {
    "its age": f"UPDATE p SET at = {FRESH} WHERE id = 1",
    "only": "UPDATE p SET state = 'open' WHERE id = 1",
    "the tenant's keep": """UPDATE ws SET doc = '{"days": 100000}'""",
    "the tenant's keep, for ever": """UPDATE ws SET doc = '{"days": null}'""",
    "keep_newest": "DELETE FROM p WHERE id = 2",
    "a hold two levels down": "UPDATE g SET held = 1 WHERE id = (SELECT max(g.id) FROM g)",
    "a hold on the parent": "UPDATE p SET w = 'held' WHERE id = 1",
}


@pytest.mark.parametrize("host", [None, D1])
@pytest.mark.parametrize("rescue", RESCUES)
def test_whatever_rescues_a_parent_midway_keeps_the_rest_of_its_family(rescue: str, host: Any) -> None:
    con = apsw.Connection("")
    con.execute(LARGE)
    whole = WHOLE | {"holds": [*WHOLE["holds"], {"table": "p", "where": "w = 'held'"}]}
    plan = make(con, policy(**whole), NOW_MS, host)
    writes, left = 0, (0, 0)

    def meddle(con: apsw.Connection, step: Step) -> None:
        nonlocal writes, left
        writes += isinstance(step, Batch) and step.writes
        if writes == 5 and left == (0, 0):
            con.execute(RESCUES[rescue])
            left = count(con, "c", "g")

    ran = drive(con, plan, NOW_MS, between=meddle, passes=10)
    (rule,) = ran.rules
    assert 0 < left[0] <= 60
    assert 0 < left[1] < 60
    assert (ran.outcome, rule.partial, rule.deleted) == ("done", 1, 0)
    assert count(con, "c", "g") == left
    assert rule.drained == {t: n for t, n in (("c", 60 - left[0]), ("g", 60 - left[1])) if n}


# --- over more than one level

LEVELS = 5


def chain(action: str) -> str:
    """Five levels of three children each below p 1 and p 2."""
    made = [
        "CREATE TABLE p (id INTEGER PRIMARY KEY, at INTEGER, held INTEGER DEFAULT 0)",
        f"INSERT INTO p (id, at) VALUES (1, {OLD}), (2, {OLD})",
    ]
    above = "p"
    for level in range(1, LEVELS + 1):
        made.append(
            f"CREATE TABLE t{level} (id INTEGER PRIMARY KEY, up INTEGER REFERENCES {above} ON DELETE {action}, held INTEGER DEFAULT 0);"
            f"CREATE INDEX t{level}_up ON t{level} (up);"
            f"INSERT INTO t{level} (id, up) SELECT {above}.id * 3 + k.value, {above}.id FROM {above}, json_each('[0,1,2]') AS k"
        )
        above = f"t{level}"
    return ";".join(made)


TABLES = ("p", *(f"t{level}" for level in range(1, LEVELS + 1)))


def below(parents: int) -> tuple[int, ...]:
    return tuple(parents * 3**level for level in range(LEVELS + 1))


@pytest.mark.parametrize("host", [D1, LIBSQL], ids=["d1", "libsql"])
@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("rows_changed", [10_000, 20])
def test_a_deep_cascade_on_a_remote_host_is_refused_and_what_the_refusal_names_works(action: str, rows_changed: int, host: Any) -> None:
    con = apsw.Connection("")
    con.execute(chain(action))
    if action == "CASCADE":
        with pytest.raises(Refused, match=r'over more than one level.*children = "drain"'):
            make(con, policy(children="cascade"), NOW_MS, host)
    ran = drive(con, make(con, policy(limits={"rows_changed": rows_changed}), NOW_MS, host), NOW_MS, passes=10)
    assert (ran.outcome, ran.rules[0].deleted, ran.rules[0].partial) == ("done", 2, 0)
    assert ran.rules[0].drained == dict(zip(TABLES[1:], below(2)[1:], strict=True))
    assert count(con, *TABLES) == (0,) * len(TABLES)


@pytest.mark.parametrize("host", [None, D1], ids=["sqlite", "d1"])
@pytest.mark.parametrize("level", range(LEVELS + 1))
def test_a_hold_at_any_level_keeps_the_whole_family(level: int, host: Any) -> None:
    con = apsw.Connection("")
    con.execute(chain("CASCADE"))
    holds = [{"table": TABLES[level], "where": "held = 1"}]
    if level > 1:
        with pytest.raises(Refused, match=r'over more than one level.*children = "drain"'):
            make(con, policy(children="cascade", holds=holds), NOW_MS)
    con.execute(f"UPDATE {TABLES[level]} SET held = 1 WHERE id = (SELECT max(id) FROM {TABLES[level]})")
    ran = drive(con, make(con, policy(holds=holds, limits={"rows_changed": 50}), NOW_MS, host), NOW_MS, passes=10)
    assert (ran.outcome, ran.rules[0].deleted, ran.rules[0].held, ran.rules[0].partial) == ("done", 1, 1, 0)
    assert count(con, *TABLES) == below(1)
    assert con.execute("SELECT id FROM p").get == 2

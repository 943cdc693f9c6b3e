"""`children = "drain"`, one thing at a time: what goes together, what goes in pages, what stays and under which name."""

from __future__ import annotations

from typing import Any

import apsw
import pytest

import retention
from retention.capabilities import D1
from retention.errors import HostError, PolicyError, Refused
from retention.policy.load import from_dict
from retention.steps import Batch, Step
from tests.properties.drive import Crash, drive, make

NOW_MS = 1_769_860_800_000
NOW = "2026-01-31T12:00:00Z"
OLD, FRESH = 1_760_000_000, 1_769_860_000


def policy(table: str, *, holds: Any = (), limits: Any = None, **keys: Any) -> dict[str, Any]:
    rule = {"table": table, "keep": "30d", "age": {"column": "at", "format": "unix_s"}, "children": "drain", **keys}
    return {"version": 1, "rules": [rule], "holds": list(holds), "limits": limits or {}}


def database(sql: str) -> apsw.Connection:
    con = apsw.Connection(":memory:")
    con.execute(sql.format(old=OLD, fresh=FRESH))
    return con


def count(con: apsw.Connection, *tables: str) -> tuple[int, ...]:
    return tuple(con.execute(f"SELECT count(*) FROM {table}").get for table in tables)


def series(rows: int) -> str:
    return f"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})"


EXPERIMENTS = """
    CREATE TABLE exp (id INTEGER PRIMARY KEY, at INTEGER, stage TEXT);
    CREATE TABLE run (id TEXT PRIMARY KEY, exp INTEGER NOT NULL REFERENCES exp (id)); CREATE INDEX run_exp ON run (exp);
    CREATE TABLE metric (run TEXT NOT NULL REFERENCES run (id), k TEXT, held INTEGER DEFAULT 0, PRIMARY KEY (run, k));
    CREATE TABLE model (id TEXT PRIMARY KEY, exp INTEGER NOT NULL REFERENCES exp (id)); CREATE INDEX model_exp ON model (exp);
    CREATE TABLE param (model TEXT NOT NULL REFERENCES model (id), exp INTEGER NOT NULL REFERENCES exp (id));
    CREATE INDEX param_model ON param (model); CREATE INDEX param_exp ON param (exp);
    INSERT INTO exp VALUES (1, {old}, 'deleted'), (2, {old}, 'active');
    INSERT INTO run VALUES ('r1', 1), ('r2', 2);
    INSERT INTO metric (run, k) VALUES ('r1', 'a'), ('r1', 'b'), ('r2', 'a');
    INSERT INTO model VALUES ('m1', 1); INSERT INTO param VALUES ('m1', 1);
"""
LEVELS = ("exp", "run", "metric", "model", "param")
DELETED = "stage = 'deleted'"


def test_several_levels_without_cascades_go_in_one_transaction() -> None:
    con = database(EXPERIMENTS)
    writes: list[Batch] = []
    receipt = retention.run(
        con, policy("exp", only=DELETED), now=NOW, until_done=True,
        on_step=lambda step, _answer, _seconds: writes.append(step) if isinstance(step, Batch) and step.writes else None,
    )  # fmt: skip
    assert receipt.outcome == "done"
    assert len(writes) == 1
    assert count(con, *LEVELS) == (1, 1, 1, 0, 0)
    assert (receipt.rules[0].deleted, receipt.rules[0].drained) == (1, {"run": 1, "metric": 2, "model": 1, "param": 1})


def test_a_crash_never_leaves_half_of_a_family_that_fits() -> None:
    for after in range(12):
        con = database(EXPERIMENTS)
        try:
            drive(con, make(con, policy("exp", only=DELETED), NOW_MS), NOW_MS, crash_after=after)
        except Crash:
            assert count(con, *LEVELS) in ((2, 2, 3, 1, 1), (1, 1, 1, 0, 0))


def test_refuse_names_the_children_and_changes_nothing() -> None:
    con = database(EXPERIMENTS)
    receipt = retention.run(con, policy("exp", only=DELETED) | {"rules": [policy("exp")["rules"][0] | {"children": "refuse"}]}, now=NOW)
    assert receipt.outcome == "refused"
    assert all(table in receipt.warnings[-1] for table in ("run", "model", "param"))
    assert count(con, *LEVELS) == (2, 2, 3, 1, 1)


def test_children_of_set_null_and_cascade_go_too_and_are_counted_by_table() -> None:
    con = database(
        "CREATE TABLE ver (id INTEGER PRIMARY KEY, at INTEGER NOT NULL);"
        "CREATE TABLE run (id INTEGER PRIMARY KEY, ver INTEGER REFERENCES ver (id) ON DELETE SET NULL); CREATE INDEX run_ver ON run (ver);"
        "CREATE TABLE tag (id INTEGER PRIMARY KEY, ver INTEGER REFERENCES ver (id) ON DELETE CASCADE); CREATE INDEX tag_ver ON tag (ver);"
        "INSERT INTO ver VALUES (1, {old}), (2, {old}); INSERT INTO run VALUES (10, 1), (11, NULL); INSERT INTO tag VALUES (20, 2);"
    )
    (rule,) = retention.run(con, policy("ver"), now=NOW, until_done=True).rules
    assert count(con, "ver", "run", "tag") == (0, 1, 0)
    assert (rule.deleted, rule.drained, rule.side_changes) == (2, {"run": 1, "tag": 1}, 0)


def test_many_small_families_share_a_batch() -> None:
    con = database(
        "CREATE TABLE job (id INTEGER PRIMARY KEY, at INTEGER NOT NULL);"
        "CREATE TABLE ready (id INTEGER PRIMARY KEY, job INTEGER NOT NULL REFERENCES job (id) ON DELETE CASCADE);"
        "CREATE INDEX ready_job ON ready (job);"
        f"INSERT INTO job {series(1200)} SELECT i, {{old}} FROM n; INSERT INTO ready SELECT id, id FROM job;"
    )
    receipt = retention.run(con, policy("job"), now=NOW, until_done=True)
    (rule,) = receipt.rules
    assert (receipt.outcome, rule.deleted, rule.drained) == ("done", 1_200, {"ready": 1_200})
    assert count(con, "job", "ready") == (0, 0)
    assert rule.pages <= 4


# --- in pages

THREAD = """
    CREATE TABLE thread (id INTEGER PRIMARY KEY, at INTEGER);
    CREATE TABLE post (id INTEGER PRIMARY KEY, thread INTEGER NOT NULL REFERENCES thread (id), up INTEGER REFERENCES post (id), held INTEGER DEFAULT 0);
    CREATE INDEX post_thread ON post (thread); CREATE INDEX post_up ON post (up);
    CREATE TABLE mark (id INTEGER PRIMARY KEY, post INTEGER NOT NULL REFERENCES post (id)); CREATE INDEX mark_post ON mark (post);
    INSERT INTO thread VALUES (1, {old}), (2, {old});
"""  # noqa: E501


def thread(posts: int, marks: int, up: str = "NULL") -> apsw.Connection:
    con = database(THREAD)
    con.execute("PRAGMA foreign_keys = OFF")
    con.execute(f"INSERT INTO post (id, thread, up) {series(posts)} SELECT i, 1, {up} FROM n")
    con.execute(f"INSERT INTO mark {series(marks)} SELECT i, 1 + i % {posts} FROM n" if marks else "SELECT 1")
    con.execute("INSERT INTO post (id, thread) VALUES (100000, 2)")
    return con


class Writes:
    """Rows that each batch deleted, and the VM steps of each statement."""

    def __init__(self, con: apsw.Connection) -> None:
        self.con, self.rows, self.steps, self._before = con, [0], [0], 0
        con.trace_v2(apsw.SQLITE_TRACE_PROFILE, self._traced)

    def _traced(self, event: dict[str, Any]) -> None:
        self.steps.append(event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"])

    def before(self, con: apsw.Connection, step: Step) -> None:
        self._before = con.total_changes()

    def after(self, step: Step, _answer: Any) -> None:
        self.rows.append(self.con.total_changes() - self._before)


@pytest.mark.parametrize("up", ["NULL", "CASE WHEN i > 1 THEN 1 END", "CASE WHEN i > 1 THEN i / 2 END", "i"])
def test_a_family_that_is_too_large_goes_in_pages_down_several_levels(up: str) -> None:
    con = thread(60, 400, up)
    writes = Writes(con)
    plan = make(con, policy("thread", limits={"rows_changed": 25}), NOW_MS)
    ran = drive(con, plan, NOW_MS, between=writes.before, answered=writes.after, passes=10)
    (rule,) = ran.rules
    assert ran.outcome == "done"
    assert count(con, "thread", "post", "mark") == (0, 0, 0)
    assert (rule.deleted, rule.drained, rule.partial) == (2, {"post": 61, "mark": 400}, 0)
    assert max(writes.rows) <= 25


def test_what_a_statement_visits_does_not_grow_with_the_family() -> None:
    """Posts without marks, marks all under one post, and posts whose marks are gone: none is visited again and again."""
    largest: list[int] = []
    for size in (4_000, 40_000):
        con = thread(size, 0)
        con.execute(f"INSERT INTO mark {series(size)} SELECT i, {size // 2} FROM n")
        plan = make(con, policy("thread", limits={"rows_changed": 500}), NOW_MS)
        writes = Writes(con)
        ran = drive(con, plan, NOW_MS, passes=10)
        assert ran.outcome == "done"
        assert count(con, "thread", "post", "mark") == (0, 0, 0)
        largest.append(max(writes.steps))
    assert largest[1] < 1.2 * largest[0]


@pytest.mark.parametrize(
    ("rescue", "left"),
    [
        ("UPDATE thread SET at = {fresh} WHERE id = 1", 1),
        ("UPDATE post SET held = 1 WHERE thread = 1 AND id = (SELECT max(id) FROM post WHERE thread = 1)", 1),
        ("UPDATE thread SET at = NULL WHERE id = 1", 1),
        ("UPDATE post SET thread = 2 WHERE thread = 1; DELETE FROM post WHERE thread = 1", 0),
    ],
)
def test_a_parent_that_is_rescued_midway_keeps_what_is_left(rescue: str, left: int) -> None:
    con = thread(100, 0)
    plan = make(con, policy("thread", holds=[{"table": "post", "where": "held = 1"}], limits={"rows_changed": 10}), NOW_MS)
    writes, kept = 0, 0

    def meddle(con: apsw.Connection, step: Step) -> None:
        nonlocal writes, kept
        writes += isinstance(step, Batch) and step.writes
        if writes == 4 and not kept:
            con.execute(rescue.format(fresh=FRESH))
            kept = con.execute("SELECT count(*) FROM post WHERE thread = 1").get

    ran = drive(con, plan, NOW_MS, between=meddle, passes=10)
    assert con.execute("SELECT count(*) FROM post WHERE thread = 1").get == kept
    assert con.execute("SELECT count(*) FROM thread WHERE id = 1").get == left
    assert ran.rules[0].partial == left
    assert ran.outcome == "done"


@pytest.mark.parametrize(
    "rescue",
    [
        "UPDATE post SET thread = 3 WHERE id = 1",
        "UPDATE mark SET post = 100001 WHERE post = 1",
        "UPDATE mark SET post = 100001 WHERE post = 1; DELETE FROM post WHERE id = 1",
    ],
)
@pytest.mark.parametrize("write", [1, 2, 3])
def test_rows_that_get_another_parent_just_before_the_batch_stay(rescue: str, write: int) -> None:
    """The batch was read for rows two levels down; a link of their way up is no longer there when it starts."""
    con = thread(1, 40)
    con.execute("INSERT INTO thread VALUES (3, ?); INSERT INTO post (id, thread) VALUES (100001, 3)", (FRESH,))
    plan = make(con, policy("thread", limits={"rows_changed": 10}), NOW_MS)
    writes, kept = 0, -1

    def meddle(con: apsw.Connection, step: Step) -> None:
        nonlocal writes, kept
        writes += isinstance(step, Batch) and step.writes
        if writes == write and kept < 0:
            con.execute(rescue)
            kept = con.execute("SELECT count(*) FROM mark").get

    ran = drive(con, plan, NOW_MS, between=meddle, passes=10)
    assert (ran.outcome, kept) == ("done", 50 - 10 * write)
    assert con.execute("SELECT count(*) FROM mark").get == kept
    assert [i for (i,) in con.execute("SELECT id FROM thread")] == [3]


def test_children_that_come_midway_go_with_the_others() -> None:
    con = thread(50, 0)
    added = 0

    def meddle(con: apsw.Connection, step: Step) -> None:
        nonlocal added
        if isinstance(step, Batch) and step.writes and added < 30:
            added += 1
            con.execute("INSERT OR IGNORE INTO post (thread) SELECT id FROM thread WHERE id = 1")

    ran = drive(con, make(con, policy("thread", limits={"rows_changed": 10}), NOW_MS), NOW_MS, between=meddle, passes=10)
    assert ran.outcome == "done"
    assert count(con, "thread", "post") == (0, 0)


@pytest.mark.parametrize("posts", [3, 30])
def test_a_family_that_grows_just_before_the_batch_is_bounded_where_the_host_cannot_measure(posts: int) -> None:
    con = thread(posts, 0)
    plan = make(con, policy("thread", limits={"rows_changed": 10}), NOW_MS, D1)
    writes, added = Writes(con), 0

    def meddle(con: apsw.Connection, step: Step) -> None:
        nonlocal added
        if isinstance(step, Batch) and step.writes and added < 3:
            added += 1
            con.execute(f"INSERT INTO post (thread) {series(20)} SELECT 1 FROM n WHERE EXISTS (SELECT 1 FROM thread WHERE id = 1)")
            con.execute("INSERT INTO mark (post) SELECT id FROM post WHERE thread = 1")
        writes.before(con, step)

    ran = drive(con, plan, NOW_MS, between=meddle, answered=writes.after, passes=10)
    assert ran.outcome == "done"
    assert count(con, "thread", "post", "mark") == (0, 0, 0)
    assert 0 < max(writes.rows) <= 10


def test_a_held_row_two_levels_down_keeps_the_whole_family() -> None:
    con = database(EXPERIMENTS)
    con.execute("UPDATE exp SET stage = 'deleted'; UPDATE metric SET held = 1 WHERE run = 'r2'")
    (rule,) = retention.run(con, policy("exp", only=DELETED, holds=[{"table": "metric", "where": "held = 1"}]), now=NOW).rules
    assert (rule.deleted, rule.held) == (1, 1)
    assert count(con, *LEVELS) == (1, 1, 1, 0, 0)


# --- self-references and circles


@pytest.mark.parametrize("action", ["", "ON DELETE CASCADE", "ON DELETE SET NULL", "ON DELETE RESTRICT"])
@pytest.mark.parametrize("order", ["i", "301 - i"])
def test_a_whole_chain_goes_in_one_traversal(action: str, order: str) -> None:
    con = database(
        f"CREATE TABLE m (id INTEGER PRIMARY KEY, at INTEGER, up INTEGER REFERENCES m (id) {action}); CREATE INDEX m_up ON m (up)"
    )
    con.execute(f"INSERT INTO m {series(300)} SELECT {order}, {OLD}, NULL FROM n")
    con.execute("UPDATE m SET up = id - 1 WHERE id > 1" if order == "i" else "UPDATE m SET up = id + 1 WHERE id < 300")
    con.execute(f"INSERT INTO m VALUES (1000, {FRESH}, 1001), (1001, {OLD}, NULL)" if not action else "SELECT 1")
    ran = drive(con, make(con, policy("m", page_rows=20), NOW_MS), NOW_MS)
    assert con.execute("SELECT id FROM m ORDER BY id").fetchall() == ([] if action else [(1000,), (1001,)])
    assert ran.rules[0].deleted == 300


def test_a_thread_waits_for_its_youngest_reply_whatever_is_declared() -> None:
    con = database(
        "CREATE TABLE m (id INTEGER PRIMARY KEY, at INTEGER, up INTEGER REFERENCES m (id) ON DELETE CASCADE); CREATE INDEX m_up ON m (up);"
        "INSERT INTO m VALUES (1, {old}, NULL), (2, {old}, 1), (3, {fresh}, 2), (4, {old}, 1);"
    )
    (rule,) = retention.run(con, policy("m"), now=NOW, until_done=True).rules
    assert [i for (i,) in con.execute("SELECT id FROM m")] == [1, 2, 3]
    assert (rule.deleted, rule.referenced) == (1, 2)


@pytest.mark.parametrize("action", ["", "ON DELETE CASCADE", "ON DELETE SET NULL", "ON DELETE RESTRICT", "DEFERRABLE INITIALLY DEFERRED"])
@pytest.mark.parametrize("rows_changed", [10_000, 5])
def test_a_circle_ends(action: str, rows_changed: int) -> None:
    """A document names its current version, and each version its document."""
    con = database(
        f"CREATE TABLE doc (id INTEGER PRIMARY KEY, at INTEGER, now INTEGER REFERENCES ver (id) {action});"
        "CREATE INDEX doc_now ON doc (now);"
        "CREATE TABLE ver (id INTEGER PRIMARY KEY, doc INTEGER NOT NULL REFERENCES doc (id)); CREATE INDEX ver_doc ON ver (doc);"
        "INSERT INTO doc VALUES (1, {old}, NULL), (2, {old}, NULL), (3, {old}, NULL), (4, {fresh}, NULL);"
        f"INSERT INTO ver {series(20)} SELECT i, 1 FROM n; INSERT INTO ver VALUES (31, 2), (32, 3), (33, 3);"
        "UPDATE doc SET now = 7 WHERE id = 1; UPDATE doc SET now = 31 WHERE id = 2; UPDATE doc SET now = 33 WHERE id = 4;"
    )
    receipt = retention.run(con, policy("doc", limits={"rows_changed": rows_changed}), now=NOW, until_done=True)
    (rule,) = receipt.rules
    assert con.execute("PRAGMA foreign_key_check").fetchall() == []
    docs = [i for (i,) in con.execute("SELECT id FROM doc")]
    # 3 stays, because 4 names one of its versions.
    assert (docs, rule.referenced, receipt.outcome) == ([3, 4], 1, "done")
    assert con.execute("SELECT now FROM doc WHERE id = 4").get == 33


@pytest.mark.parametrize("capabilities", [None, D1])
def test_a_page_never_takes_its_parent_by_a_cascade_from_below(capabilities: Any) -> None:
    """The parent names a row two levels down, with CASCADE: to delete that one would take the parent, and with it all that is left."""
    con = database(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER, best INTEGER REFERENCES b (id) ON DELETE CASCADE);"
        "CREATE INDEX t_best ON t (best);"
        "CREATE TABLE a (id INTEGER PRIMARY KEY, t INTEGER REFERENCES t (id) ON DELETE CASCADE); CREATE INDEX a_t ON a (t);"
        "CREATE TABLE b (id INTEGER PRIMARY KEY, a INTEGER REFERENCES a (id) ON DELETE CASCADE); CREATE INDEX b_a ON b (a);"
        "INSERT INTO t VALUES (1, {old}, NULL), (2, {old}, NULL);"
        f"INSERT INTO a {series(40)} SELECT i, 1 FROM n; INSERT INTO b SELECT id, id FROM a; UPDATE t SET best = 20 WHERE id = 1;"
    )  # fmt: skip
    writes = Writes(con)
    plan = make(con, policy("t", limits={"rows_changed": 10}), NOW_MS, capabilities)
    ran = drive(con, plan, NOW_MS, between=writes.before, answered=writes.after, passes=10)
    assert max(writes.rows) <= 10
    assert (ran.outcome, ran.rules[0].referenced) == ("done", 1)
    assert con.execute("SELECT id FROM t").fetchall() == [(1,)]
    assert con.execute("SELECT count(*) FROM b WHERE id = 20").get == 1


@pytest.mark.parametrize("action", ["", "ON DELETE CASCADE", "ON DELETE SET NULL", "ON DELETE RESTRICT"])
def test_replies_among_the_children_go_with_their_parent(action: str) -> None:
    con = database(
        "CREATE TABLE post (id INTEGER PRIMARY KEY, at INTEGER NOT NULL);"
        "CREATE TABLE note (id INTEGER PRIMARY KEY, post INTEGER NOT NULL REFERENCES post (id),"
        f" up INTEGER REFERENCES note (id) {action}, held INTEGER DEFAULT 0);"
        "CREATE INDEX note_post ON note (post); CREATE INDEX note_up ON note (up);"
        "INSERT INTO post VALUES (1, {old}), (2, {fresh}), (3, {old});"
        "INSERT INTO note (id, post, up) VALUES (1, 1, NULL), (2, 1, 1), (3, 1, 2), (4, 3, NULL), (5, 2, 4);"
    )
    receipt = retention.run(con, policy("post", holds=[{"table": "note", "where": "held = 1"}]), now=NOW, until_done=True)
    (rule,) = receipt.rules
    # A reply of a post that stays keeps the post of the note that it answers.
    assert [i for (i,) in con.execute("SELECT id FROM post")] == [2, 3]
    assert con.execute("SELECT id, up FROM note").fetchall() == [(4, None), (5, 4)]
    assert (receipt.outcome, rule.deleted, rule.referenced, rule.blocked) == ("done", 1, 1, 0)
    assert rule.drained == {"note": 3}


# --- sizes


@pytest.mark.parametrize("mine", [True, False], ids=["exact counts", "asks for changes"])
@pytest.mark.parametrize("kept", [False, True], ids=["all go", "a trigger keeps one"])
def test_rows_that_cascades_take_before_their_turn_are_counted_by_table_and_once(mine: bool, kept: bool) -> None:
    """Deleting the badge takes its owner by CASCADE, and so the owner's posts, of which one stands below the badge too."""
    con = database(
        """
        CREATE TABLE owner (id INTEGER PRIMARY KEY, at INTEGER, badge INTEGER REFERENCES badge ON DELETE CASCADE);
        CREATE TABLE badge (id INTEGER PRIMARY KEY, owner INTEGER REFERENCES owner);
        CREATE TABLE post (id INTEGER PRIMARY KEY, owner INTEGER REFERENCES owner ON DELETE CASCADE,
            badge INTEGER REFERENCES badge ON DELETE CASCADE);
        CREATE INDEX badge_owner ON badge (owner); CREATE INDEX post_owner ON post (owner); CREATE INDEX post_badge ON post (badge);
        CREATE INDEX owner_badge ON owner (badge);
        INSERT INTO owner (id, at) VALUES (1, {old}), (2, {old}), (3, {old});
        INSERT INTO badge VALUES (1, 1); UPDATE owner SET badge = 1 WHERE id = 1;
        INSERT INTO post VALUES (1, 1, 1), (2, 1, NULL), (3, 2, NULL), (4, 3, NULL);
        """
        + ("CREATE TRIGGER keep BEFORE DELETE ON owner WHEN OLD.id = 2 BEGIN SELECT RAISE(IGNORE); END;" if kept else "")
    )
    host = None if mine else D1
    ran = drive(con, make(con, policy("owner"), NOW_MS, host), NOW_MS, passes=5)
    (rule,) = ran.rules
    assert (rule.deleted, rule.drained) == (2 if kept else 3, {"badge": 1, "post": 4})
    assert count(con, "owner", "badge", "post") == (int(kept), 0, 0)


def test_a_count_that_stopped_midway_is_no_size() -> None:
    con = database(EXPERIMENTS)
    con.execute(f"INSERT INTO exp {series(10)} SELECT 10 + i, {OLD}, 'x' FROM n")
    con.execute(f"INSERT INTO run {series(30)} SELECT 'x' || i, CASE WHEN i <= 4 THEN 11 WHEN i <= 28 THEN 13 ELSE 14 END FROM n")
    con.execute("INSERT INTO metric (run, k) SELECT id, 'k' FROM run WHERE exp = 11")
    sql = make(con, policy("exp"), NOW_MS).rules[0].drain
    assert sql is not None

    def counted(rows: list[int], most: int) -> Any:
        statement = sql.sizes((), [(row,) for row in rows], most)
        return sql.read_sizes((), len(rows), most, con.execute(statement.sql, statement.params).fetchall()[0])

    whole = counted([11, 12, 13, 14], 100)
    assert whole.totals == (9, 1, 25, 3)
    assert [whole.fitting(most) for most in (8, 9, 10, 34, 35, 38)] == [0, 1, 2, 2, 3, 4]
    assert counted([12, 11, 13, 14], 10).totals == (1, 9)
    assert counted([13, 11], 10).totals == ()
    assert [counted([row], 3).first for row in (11, 12)] == [(0,), ()]


# --- what cannot go

TRIGGERED = """
    CREATE TABLE p (id INTEGER PRIMARY KEY, at INTEGER NOT NULL);
    CREATE TABLE c (id INTEGER PRIMARY KEY, p INTEGER NOT NULL REFERENCES p (id) ON DELETE CASCADE); CREATE INDEX c_p ON c (p);
    CREATE TABLE log (c INTEGER);
    INSERT INTO p VALUES (1, {old}), (2, {old}), (3, {old});
    INSERT INTO c VALUES (11, 1), (21, 2), (22, 2), (23, 2), (31, 3);
"""


@pytest.mark.parametrize("rows_changed", [10_000, 2])
@pytest.mark.parametrize("veto", ["RAISE(ABORT, 'pinned')", "RAISE(FAIL, 'pinned')", "RAISE(ROLLBACK, 'pinned')", "RAISE(IGNORE)"])
def test_a_veto_below_keeps_its_parent_and_stops_nobody_else(veto: str, rows_changed: int) -> None:
    con = database(TRIGGERED)
    con.execute(f"CREATE TRIGGER veto BEFORE DELETE ON c WHEN old.id = 22 BEGIN SELECT {veto}; END")
    receipt = retention.run(con, policy("p", limits={"rows_changed": rows_changed}), now=NOW, until_done=True)
    (rule,) = receipt.rules
    assert con.execute("SELECT id FROM p").fetchall() == [(2,)]
    assert con.execute("SELECT id FROM c WHERE id = 22").fetchall() == [(22,)]
    assert (rule.deleted, rule.blocked, receipt.outcome) == (2, 1, "failed")
    assert con.execute("PRAGMA foreign_key_check").fetchall() == []


def test_triggers_count_towards_rows_changed() -> None:
    con = database(TRIGGERED)
    con.execute("CREATE TRIGGER noted AFTER DELETE ON c BEGIN INSERT INTO log VALUES (old.id), (old.id), (old.id); END")
    receipt = retention.run(con, policy("p", limits={"rows_changed": 5}), now=NOW, until_done=True)
    assert count(con, "p", "c", "log") == (0, 0, 15)
    assert (receipt.outcome, receipt.rules[0].side_changes) == ("done", 15)
    con = database(TRIGGERED)
    con.execute("CREATE TRIGGER noted AFTER DELETE ON c WHEN old.id = 22 BEGIN INSERT INTO log VALUES (1), (2), (3); END")
    receipt = retention.run(con, policy("p", limits={"rows_changed": 3}), now=NOW, until_done=True)
    assert con.execute("SELECT id FROM p").fetchall() == [(2,)]
    assert (receipt.rules[0].too_large, count(con, "log")) == (1, (0,))


@pytest.mark.parametrize("veto", [False, True])
def test_one_page_a_run_gets_past_a_family_that_cannot_go_at_once(veto: bool) -> None:
    con = database(TRIGGERED)
    con.execute("CREATE TRIGGER noted AFTER DELETE ON c BEGIN INSERT INTO log VALUES (old.id), (old.id), (old.id); END")
    if veto:
        con.execute("CREATE TRIGGER veto BEFORE DELETE ON c WHEN old.id = 22 BEGIN SELECT RAISE(ABORT, 'pinned'); END")
    plan, document = make(con, policy("p", limits={"rows_changed": 5}), NOW_MS), None
    for _ in range(40):
        ran = drive(con, plan, NOW_MS, document, statements=plan.smallest)
        document = ran.document
    assert con.execute("SELECT id FROM p").fetchall() == ([(2,)] if veto else [])
    assert con.execute("SELECT id FROM c").fetchall() == ([(21,), (22,), (23,)] if veto else [])


@pytest.mark.parametrize("applied", [True, False])
def test_a_lost_answer_is_read_again(applied: bool) -> None:
    con = database(TRIGGERED)
    plan = make(con, policy("p"), NOW_MS)
    host_calls = 0

    class Lossy:
        def __init__(self, host: Any) -> None:
            self.host, self.capabilities, self.name = host, host.capabilities, "lossy"

        def execute(self, step: Batch, timeout: float | None = None) -> Any:
            nonlocal host_calls
            if step.writes:
                host_calls += 1
                if host_calls == 1:
                    if applied:
                        self.host.execute(step)
                    raise HostError("no answer", "network", applied=None)
            return self.host.execute(step, timeout)

        def close(self) -> None:
            self.host.close()

    from retention.hosts.sqlite import SQLite

    host = SQLite(con)
    receipt = retention.run(Lossy(host), policy("p"), now=NOW, until_done=True, plan=plan)
    host.close()
    assert receipt.outcome == "done"
    assert count(con, "p", "c") == (0, 0)
    assert (receipt.rules[0].deleted, receipt.rules[0].unconfirmed) == ((0, 3) if applied else (3, 0))


# --- refused


def refused(con: apsw.Connection, rules: dict[str, Any]) -> str:
    with pytest.raises(Refused) as caught:
        make(con, rules, NOW_MS)
    return str(caught.value)


def test_a_key_without_an_index_at_any_level_is_refused_with_the_index() -> None:
    con = database(EXPERIMENTS)
    con.execute("DROP INDEX param_model")
    message = refused(con, policy("exp"))
    assert "CREATE INDEX" in message
    index = message[message.index("CREATE INDEX") :].split(";")[0].rstrip(".")
    con.execute(index)
    make(con, policy("exp"), NOW_MS)


def test_a_family_without_end_or_bound_is_refused() -> None:
    def chain(levels: int) -> apsw.Connection:
        return database("".join(
            f"CREATE TABLE t{i} (id INTEGER PRIMARY KEY, at INTEGER{f', up INTEGER REFERENCES t{i - 1} (id)' if i else ''});"
            + (f"CREATE INDEX i{i} ON t{i} (up);" if i else "")
            for i in range(levels + 1)
        ))  # fmt: skip

    make(chain(8), policy("t0"), NOW_MS)
    assert "8 levels" in refused(chain(9), policy("t0"))
    wide = database("CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER);" + "".join(
        f"CREATE TABLE c{i} (id INTEGER PRIMARY KEY, t INTEGER REFERENCES t (id)); CREATE INDEX i{i} ON c{i} (t);" for i in range(45)
    ))  # fmt: skip
    assert "46 ways" in refused(wide, policy("t"))


def test_children_whose_rows_have_no_name_are_refused() -> None:
    con = database(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER);"
        "CREATE TABLE c (rowid TEXT, oid TEXT, _rowid_ TEXT, t INTEGER REFERENCES t (id)); CREATE INDEX c_t ON c (t);"
    )
    assert "INTEGER PRIMARY KEY" in refused(con, policy("t"))


@pytest.mark.parametrize(
    ("keys", "word"), [({"archive": "gone.jsonl"}, "archive"), ({"mode": "chunk"}, "chunk"), ({"mode": {"chunk": 5}}, "chunk")]
)
def test_what_would_lose_children_or_promise_too_much_is_a_mistake_of_the_policy(keys: dict[str, Any], word: str) -> None:
    with pytest.raises(PolicyError, match=word):
        from_dict(policy("t", **keys))

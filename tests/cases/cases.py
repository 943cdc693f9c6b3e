"""Faults that were reported about clean-up on SQLite and D1, each as a small database, a policy and what must come of it.

The clock is 2026-01-31T12:00:00Z (unix 1769860800), so that `keep = "30d"` gives the cutoff 2026-01-01T12:00:00Z (1767268800).
Each stands for a whole kind of fault.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
OLD, FRESH = 1_760_000_000, 1_769_860_000  # unix seconds; October 2025 and thirteen minutes ago

Outcome = Literal["done", "failed", "refused", "policy"]
EXIT: dict[Outcome, int] = {"done": 0, "failed": 1, "policy": 2, "refused": 4}
"""`policy` is a PolicyError: nothing was run, so there is no receipt."""


@dataclass(frozen=True)
class Case:
    """One fault.

    Attributes:
        id: a name for it.
        setup: SQL that fills an empty database.
        policy: TOML.
        left: keys that must be left, by table; bare where the key is one column.
        outcome: how the whole command ends.
        counts: sums over all rules of the receipt's counters, by name; those that are not named are not compared.
        message: what an error or the receipt must mention.
        seen_in_file: the policy is refused when it is read, before any database is opened.
    """

    id: str
    setup: str
    policy: str
    left: dict[str, set[Any]]
    outcome: Outcome = "done"
    counts: dict[str, int] = field(default_factory=dict)
    message: str = ""
    seen_in_file: bool = False

    @property
    def exit_status(self) -> int:
        """Of the command, with `--until-done`."""
        return EXIT[self.outcome]


def rule(table: str, *keys: str, keep: str = "30d", age: str = "at", format: str = "unix_s") -> str:
    """A rule's TOML: an age unless `age` is empty, and further keys as they are."""
    aged = [f'age = {{ column = {age if age.startswith("[") else repr(age)}, format = "{format}" }}'] if age else []
    return "\n".join(["[[rules]]", f'table = "{table}"', f'keep = "{keep}"', *aged, *keys, ""])


def series(rows: int, insert: str) -> str:
    """`insert` selects from n(i), i = 1..rows."""
    target, select = insert.split(" SELECT ", 1)
    return f"{target} WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows}) SELECT {select};"


def numbers(first: int, last: int) -> set[int]:
    return set(range(first, last + 1))


def _one_row(id: str, policy: str, message: str) -> Case:
    """A policy that is refused when it is read; the expired row stays."""
    return Case(
        id, f"CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER); INSERT INTO t VALUES (1, {OLD});", policy, {"t": {1}}, "policy",
        message=message, seen_in_file=True,
    )  # fmt: skip


TIMES = (
    Case(
        "an age of NULL keeps its row and is counted",
        "CREATE TABLE runs (id INTEGER PRIMARY KEY, started TEXT, made TEXT NOT NULL);"
        "INSERT INTO runs VALUES (1, NULL, '2025-11-01 00:00:00'), (2, NULL, '2026-01-30 00:00:00'),"
        " (3, '2025-11-01 00:00:00', '2025-11-01 00:00:00'), (4, '2026-01-30 00:00:00', '2025-11-01 00:00:00');",
        rule("runs", age="started", format="utc_text"),
        {"runs": {1, 2, 4}},
        counts={"deleted": 1, "undated": 2},
    ),
    Case(
        "the first age that is not NULL decides",
        "CREATE TABLE runs (id INTEGER PRIMARY KEY, started TEXT, made TEXT NOT NULL);"
        "INSERT INTO runs VALUES (1, NULL, '2025-11-01 00:00:00'), (2, NULL, '2026-01-30 00:00:00'),"
        " (3, '2025-11-01 00:00:00', '2025-11-01 00:00:00'), (4, '2026-01-30 00:00:00', '2025-11-01 00:00:00');",
        rule("runs", age='["started", "made"]', format="utc_text"),
        {"runs": {2, 4}},
        counts={"deleted": 2, "undated": 0},
    ),
    Case(
        "the host's time zone plays no part",
        "CREATE TABLE cache (id INTEGER PRIMARY KEY, used TEXT NOT NULL);"
        "INSERT INTO cache VALUES (1, '2026-01-01 05:00:00'), (2, '2026-01-01 11:59:59.999'), (3, '2026-01-01 12:00:00'),"
        " (4, '2026-01-01 20:00:00');",
        rule("cache", age="used", format="utc_text"),
        {"cache": {3, 4}},
        counts={"deleted": 2},
    ),
    Case(
        "T and Z are no later than a space",
        "CREATE TABLE log (id INTEGER PRIMARY KEY, made TEXT NOT NULL);"
        "INSERT INTO log VALUES (1, '2026-01-01T00:00:05Z'), (2, '2026-01-01T11:59:59Z'), (3, '2026-01-01T12:00:01Z'),"
        " (4, '2025-12-20T00:00:00Z'), (5, '2026-01-01T14:00:00+02:30'), (6, '2026-01-01T09:00:00-04:00');",
        rule("log", age="made", format="iso8601"),
        {"log": {3, 6}},
        counts={"deleted": 4},
    ),
    Case(
        "epochs that are kept as text are read as numbers",
        "CREATE TABLE sessions (sid TEXT PRIMARY KEY, expired TEXT NOT NULL);"
        "INSERT INTO sessions VALUES ('2001', '999999999000'), ('2025', '1760000000000'), ('2026', '1790000000000'),"
        " ('point', '1767268800000.0');",
        rule("sessions", keep="0s", age="expired", format="mixed"),
        {"sessions": {"2026"}},
        counts={"deleted": 3},
    ),
    Case(
        "dates that cannot be read are not old",
        "CREATE TABLE log (id INTEGER PRIMARY KEY, at TEXT);"
        "INSERT INTO log VALUES (1, '1/30/2026 3:04:05 PM'), (2, '30.01.2026 15:04'), (3, '2025-12-01 00:00:00'), (4, ''), (5, 'n/a'),"
        " (6, '0000-00-00 00:00:00'), (7, '2026-02-30 00:00:00'), (8, '2026-01-30 00:00:00'), (9, '12:00'), (10, '2025-12-01 24:00:00'),"
        " (11, '2025-12-01 00:00:00' || char(0) || 'x');",
        rule("log", format="utc_text"),
        {"log": {1, 2, 4, 5, 6, 7, 8, 9, 10, 11}},
        counts={"deleted": 1, "unreadable": 9},
    ),
    Case(
        "seconds as they are",
        "CREATE TABLE msg (id INTEGER PRIMARY KEY, at INTEGER NOT NULL);"
        "CREATE TABLE act (id INTEGER PRIMARY KEY, msg INTEGER NOT NULL REFERENCES msg (id) ON DELETE CASCADE);"
        "CREATE INDEX act_msg ON act (msg);"
        f"INSERT INTO msg VALUES (1, {OLD}), (2, {FRESH}), (3, 1769860799); INSERT INTO act VALUES (10, 1), (20, 2), (30, 3);",
        rule("msg"),
        {"msg": {2, 3}, "act": {20, 30}},
        counts={"deleted": 1, "side_changes": 1},
    ),
    Case(
        "seconds taken for milliseconds are refused",
        f"CREATE TABLE msg (id INTEGER PRIMARY KEY, at INTEGER NOT NULL);INSERT INTO msg VALUES (1, {OLD}), (2, {FRESH}), (3, 1769860799);",
        rule("msg", format="unix_ms"),
        {"msg": {1, 2, 3}},
        "refused",
        message="unix_ms",
    ),
    Case(
        "milliseconds taken for seconds are refused",
        f"CREATE TABLE msg (id INTEGER PRIMARY KEY, at INTEGER NOT NULL);INSERT INTO msg VALUES (1, {OLD}000), (2, {FRESH}000);",
        rule("msg"),
        {"msg": {1, 2}},
        "refused",
    ),
    Case(
        "the age is when the work ended",
        "CREATE TABLE jobs (id INTEGER PRIMARY KEY, status TEXT, made INTEGER, ended INTEGER);"
        f"INSERT INTO jobs VALUES (1, 'completed', {OLD}, {FRESH}), (2, 'completed', {OLD}, {OLD} + 500), (3, 'running', {OLD}, NULL);",
        rule("jobs", "only = \"status = 'completed'\"", age="ended"),
        {"jobs": {1, 3}},
        counts={"deleted": 1},
    ),
    Case(
        "an age column that does not exist is no text constant",
        f"CREATE TABLE jobs (id INTEGER PRIMARY KEY, completed_at INTEGER); INSERT INTO jobs VALUES (1, {OLD});",
        rule("jobs", age="complete_at"),
        {"jobs": {1}},
        "policy",
        message="completed_at",
    ),
)

KEYS = (
    Case(
        "hundreds of rows fit a host's hundred bound values",
        "CREATE TABLE words (id TEXT PRIMARY KEY, seen TEXT NOT NULL);"
        + series(670, "INSERT INTO words SELECT printf('k-%05d', i), '2025-12-01T00:00:00Z' FROM n")
        + "INSERT INTO words VALUES ('fresh', '2026-01-30T00:00:00Z');",
        rule("words", "mode = { chunk = 500 }", age="seen", format="iso8601"),
        {"words": {"fresh"}},
        counts={"deleted": 670},
    ),
    Case(
        "a table without rowid in pages of ten",
        "CREATE TABLE cache (k TEXT PRIMARY KEY, expires INTEGER NOT NULL) WITHOUT ROWID;"
        + series(100, f"INSERT INTO cache SELECT 'k' || i, {OLD} FROM n"),
        rule("cache", "page_rows = 10", keep="0s", age="expires"),
        {"cache": set()},
        counts={"deleted": 100},
    ),
    Case(
        "awkward keys of two columns",
        "CREATE TABLE kv (ns TEXT NOT NULL, k TEXT NOT NULL, v BLOB, at INTEGER NOT NULL, PRIMARY KEY (ns, k)) WITHOUT ROWID;"
        f"""INSERT INTO kv VALUES ('a', 'it''s', x'00', {OLD}), ('a', '{{"x": "y"}}', NULL, {OLD}), ('b', 'it''s', x'01', {FRESH}),"""
        f" ('', '', x'02', {OLD});",
        rule("kv", "page_rows = 2"),
        {"kv": {("b", "it's")}},
        counts={"deleted": 3},
    ),
    Case(
        "awkward keys of two columns, in chunks",
        "CREATE TABLE kv (ns TEXT NOT NULL, k TEXT NOT NULL, v BLOB, at INTEGER NOT NULL, PRIMARY KEY (ns, k)) WITHOUT ROWID;"
        f"""INSERT INTO kv VALUES ('a', 'it''s', x'00', {OLD}), ('a', '{{"x": "y"}}', NULL, {OLD}), ('b', 'it''s', x'01', {FRESH}),"""
        f" ('', '', x'02', {OLD});",
        rule("kv", "page_rows = 2", 'mode = "chunk"'),
        {"kv": {("b", "it's")}},
        counts={"deleted": 3},
    ),
    Case(
        "generated columns are no obstacle",
        "CREATE TABLE orders (id INTEGER PRIMARY KEY, qty INTEGER, price REAL, total REAL GENERATED ALWAYS AS (qty * price) STORED,"
        " label TEXT AS ('o' || id) VIRTUAL, at INTEGER NOT NULL);"
        f"INSERT INTO orders (id, qty, price, at) VALUES (1, 2, 9.5, {OLD}), (2, 1, 1.0, {FRESH});",
        rule("orders", "only = \"total > 1 OR label = 'o2'\""),
        {"orders": {2}},
        counts={"deleted": 1},
    ),
    *(
        Case(
            f"pages of {rows}",
            "CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER);" + series(50, f"INSERT INTO t SELECT i, {OLD} FROM n"),
            rule("t", f"page_rows = {rows}"),
            {"t": set()},
            counts={"deleted": 50},
        )
        for rows in (1, 7, 49, 50, 51, 60)
    ),
    Case(
        "the oldest go first, not the newest that were looked at",
        "CREATE TABLE runs (id INTEGER PRIMARY KEY, tenant TEXT NOT NULL, at INTEGER NOT NULL);"
        + series(600, f"INSERT INTO runs SELECT i, 't1', CASE WHEN i <= 100 THEN {OLD} + i ELSE 1769800000 + i END FROM n"),
        rule("runs", "page_rows = 200"),
        {"runs": numbers(101, 600)},
        counts={"deleted": 100},
    ),
    Case(
        "rows without a deletion date are not deleted",
        "CREATE TABLE pages (id INTEGER PRIMARY KEY, changed INTEGER NOT NULL, deleted_at INTEGER);"
        + series(12_000, f"INSERT INTO pages SELECT i, 1769000000 + i, CASE WHEN i <= 700 THEN {OLD} END FROM n"),
        rule("pages", age="deleted_at"),
        {"pages": numbers(701, 12_000)},
        counts={"deleted": 700, "undated": 11_300},
    ),
)

REFERENCES = (
    Case(
        "children without an index are refused, and named",
        "CREATE TABLE runs (id INTEGER PRIMARY KEY, at INTEGER NOT NULL);"
        "CREATE TABLE art (id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE);"
        f"INSERT INTO runs VALUES (1, {OLD}), (2, {FRESH}); INSERT INTO art VALUES (1, 1), (2, 2);",
        rule("runs"),
        {"runs": {1, 2}, "art": {1, 2}},
        "refused",
        message="CREATE INDEX",
    ),
    Case(
        "enforcement is switched on by us",
        "CREATE TABLE runs (id INTEGER PRIMARY KEY, at INTEGER NOT NULL);"
        "CREATE TABLE art (id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE);"
        "CREATE INDEX art_run ON art (run);"
        f"INSERT INTO runs VALUES (1, {OLD}), (2, {FRESH}); INSERT INTO art VALUES (1, 1), (2, 2);",
        rule("runs"),
        {"runs": {2}, "art": {2}},
        counts={"deleted": 1, "side_changes": 1},
    ),
    Case(
        "children = refuse",
        "CREATE TABLE runs (id INTEGER PRIMARY KEY, at INTEGER NOT NULL);"
        "CREATE TABLE art (id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE);"
        "CREATE INDEX art_run ON art (run);"
        f"INSERT INTO runs VALUES (1, {OLD}), (2, {FRESH}); INSERT INTO art VALUES (1, 1), (2, 2);",
        rule("runs", 'children = "refuse"'),
        {"runs": {1, 2}, "art": {1, 2}},
        "refused",
        message="art",
    ),
    Case(
        "a parent with children that do not cascade is kept",
        "CREATE TABLE exp (id INTEGER PRIMARY KEY, stage TEXT, at INTEGER);"
        "CREATE TABLE run (id TEXT PRIMARY KEY, exp INTEGER NOT NULL REFERENCES exp (id)); CREATE INDEX run_exp ON run (exp);"
        "CREATE TABLE metric (run TEXT NOT NULL REFERENCES run (id), k TEXT, v REAL, PRIMARY KEY (run, k));"
        f"INSERT INTO exp VALUES (1, 'deleted', {OLD}), (2, 'active', NULL), (3, 'deleted', {OLD});"
        "INSERT INTO run VALUES ('r1', 1), ('r2', 2); INSERT INTO metric VALUES ('r1', 'a', 1), ('r2', 'a', 3);",
        rule("exp", "only = \"stage = 'deleted'\""),
        {"exp": {1, 2}, "run": {"r1", "r2"}, "metric": {("r1", "a"), ("r2", "a")}},
        counts={"deleted": 1, "referenced": 1},
    ),
    Case(
        "what SET NULL and CASCADE do to fresh rows is counted",
        "CREATE TABLE ver (id INTEGER PRIMARY KEY, at INTEGER NOT NULL);"
        "CREATE TABLE run (id INTEGER PRIMARY KEY, ver INTEGER REFERENCES ver (id) ON DELETE SET NULL, at INTEGER NOT NULL);"
        "CREATE TABLE tag (id INTEGER PRIMARY KEY, ver INTEGER NOT NULL REFERENCES ver (id) ON DELETE CASCADE, at INTEGER NOT NULL);"
        "CREATE INDEX run_ver ON run (ver); CREATE INDEX tag_ver ON tag (ver);"
        f"INSERT INTO ver VALUES (1, {OLD}), (2, {OLD}); INSERT INTO run VALUES (10, 1, {FRESH}); INSERT INTO tag VALUES (20, 2, {FRESH});",
        rule("ver"),
        {"ver": set(), "run": {10}, "tag": set()},
        counts={"deleted": 2, "side_changes": 2},
    ),
    Case(
        "orphans are found in one pass",
        "CREATE TABLE obj (id INTEGER PRIMARY KEY); CREATE TABLE ev (id INTEGER PRIMARY KEY, obj INTEGER NOT NULL);"
        + series(2_000, "INSERT INTO obj SELECT i FROM n")
        + series(6_000, "INSERT INTO ev SELECT i, CASE WHEN i % 600 = 0 THEN 900000 + i ELSE i % 2000 + 1 END FROM n"),
        rule("ev", 'only = "NOT EXISTS (SELECT 1 FROM obj WHERE obj.id = ev.obj)"', keep="0s", age=""),
        {"ev": {i for i in range(1, 6_001) if i % 600}},
        counts={"deleted": 10},
    ),
    Case(
        "rows that cannot go do not hold up the rest",
        "CREATE TABLE task (id INTEGER PRIMARY KEY, at INTEGER NOT NULL);"
        "CREATE TABLE pin (task INTEGER NOT NULL REFERENCES task (id)); CREATE INDEX pin_task ON pin (task);"
        + series(500, f"INSERT INTO task SELECT i, {OLD} + i FROM n")
        + "INSERT INTO pin SELECT id FROM task WHERE id <= 100;",
        rule("task", "page_rows = 100"),
        {"task": numbers(1, 100)},
        counts={"deleted": 400, "referenced": 100},
    ),
    Case(
        "the end is found by asking, not by the last statement's count",
        "CREATE TABLE job (id INTEGER PRIMARY KEY, at INTEGER NOT NULL);"
        "CREATE TABLE ready (id INTEGER PRIMARY KEY, job INTEGER NOT NULL REFERENCES job (id) ON DELETE CASCADE);"
        "CREATE INDEX ready_job ON ready (job);"
        + series(1_200, f"INSERT INTO job SELECT i, {OLD} FROM n")
        + "INSERT INTO ready SELECT id, id FROM job;",
        rule("job", "page_rows = 500"),
        {"job": set(), "ready": set()},
        counts={"deleted": 1_200, "side_changes": 1_200},
    ),
)

CONDITIONS = (
    Case(
        "unfinished work is not pruned; a state that nobody foresaw follows the rule",
        "CREATE TABLE ex (id INTEGER PRIMARY KEY, status TEXT NOT NULL, at INTEGER NOT NULL);"
        f"INSERT INTO ex VALUES (1, 'success', {OLD}), (2, 'waiting', {OLD}), (3, 'running', {OLD}), (4, 'error', {OLD}),"
        f" (5, 'success', {FRESH}), (6, 'crashed', {OLD});",
        rule("ex", "only = \"status NOT IN ('running', 'waiting')\""),
        {"ex": {2, 3, 5}},
        counts={"deleted": 3},
    ),
    Case(
        "protected rows do not count among the newest",
        "CREATE TABLE ex (id INTEGER PRIMARY KEY, status TEXT NOT NULL, at INTEGER NOT NULL); CREATE INDEX ex_at ON ex (at);"
        f"INSERT INTO ex VALUES (1, 'success', {OLD}), (2, 'waiting', {OLD} + 9), (3, 'running', {OLD} + 8), (4, 'error', {OLD}),"
        f" (5, 'success', {FRESH});",
        rule("ex", "only = \"status NOT IN ('running', 'waiting')\"", 'keep_newest = { rows = 1, by = ["at"] }', keep="0s", age=""),
        {"ex": {2, 3, 5}},
        counts={"deleted": 2},
    ),
    Case(
        "the newest is told by its time, not by its rowid",
        "CREATE TABLE snap (id INTEGER PRIMARY KEY, k TEXT NOT NULL, at INTEGER NOT NULL); CREATE INDEX snap_k ON snap (k, at);"
        f"INSERT INTO snap VALUES (1, 'k', {FRESH}), (2, 'k', {OLD}), (3, 'j', {OLD});",
        rule("snap", 'keep_newest = { rows = 1, per = ["k"], by = ["at"] }'),
        {"snap": {1, 3}},
        counts={"deleted": 1},
    ),
    Case(
        "the newest without an index is refused, with the index to make",
        "CREATE TABLE snap (id INTEGER PRIMARY KEY, k TEXT NOT NULL, at INTEGER NOT NULL);"
        f"INSERT INTO snap VALUES (1, 'k', {FRESH}), (2, 'k', {OLD}), (3, 'j', {OLD});",
        rule("snap", 'keep_newest = { rows = 1, per = ["k"], by = ["at"] }'),
        {"snap": {1, 2, 3}},
        "refused",
        message="CREATE INDEX",
    ),
    Case(
        "nothing to do is done",
        "CREATE TABLE state (k TEXT PRIMARY KEY, at INTEGER NOT NULL);"
        "CREATE TABLE outbox (id INTEGER PRIMARY KEY, at INTEGER NOT NULL); CREATE INDEX outbox_at ON outbox (at);"
        + series(200, f"INSERT INTO state SELECT 'k' || i, {FRESH} FROM n")
        + series(200, f"INSERT INTO outbox SELECT i, {FRESH} FROM n"),
        rule("state") + rule("outbox"),
        {"state": {f"k{i}" for i in range(1, 201)}, "outbox": numbers(1, 200)},
        counts={"deleted": 0},
    ),
    Case(
        "two tables, seen from elsewhere afterwards",
        "CREATE TABLE au (id INTEGER PRIMARY KEY, at INTEGER NOT NULL); CREATE TABLE tok (id INTEGER PRIMARY KEY, at INTEGER NOT NULL);"
        f"INSERT INTO au VALUES (1, {OLD}), (2, {FRESH}); INSERT INTO tok VALUES (1, {OLD});",
        rule("au") + rule("tok"),
        {"au": {2}, "tok": set()},
        counts={"deleted": 2},
    ),
)

TRIGGERS = (
    Case(
        "a table beside its full-text index",
        "CREATE TABLE loc (id INTEGER PRIMARY KEY, name TEXT, at INTEGER); CREATE VIRTUAL TABLE loc_fts USING fts5 (name);"
        f"INSERT INTO loc VALUES (1, 'old place', {OLD}), (2, 'new place', {FRESH});"
        "INSERT INTO loc_fts (rowid, name) SELECT id, name FROM loc;",
        rule("loc"),
        {"loc": {2}},
        counts={"deleted": 1},
    ),
    *(
        Case(
            f"a rule on {table} is refused",
            "CREATE TABLE loc (id INTEGER PRIMARY KEY, name TEXT, at INTEGER); CREATE VIRTUAL TABLE loc_fts USING fts5 (name);"
            f"CREATE VIEW old AS SELECT * FROM loc; INSERT INTO loc VALUES (1, 'old place', {OLD});"
            "INSERT INTO loc_fts (rowid, name) SELECT id, name FROM loc;",
            rule(table, only, keep="0s", age=""),
            {"loc": {1}},
            "refused",
            message=table,
        )
        for table, only in (("old", 'only = "id > 0"'), ("loc_fts", "only = \"name = 'x'\""), ("loc_fts_content", 'only = "id > 0"'))
    ),
    Case(
        "a full-text index that is out of step",
        "CREATE TABLE atom (id INTEGER PRIMARY KEY, body TEXT, at INTEGER);"
        "CREATE VIRTUAL TABLE atom_fts USING fts5 (body, content = 'atom', content_rowid = 'id');"
        "CREATE TRIGGER atom_ai AFTER INSERT ON atom WHEN new.at IS NULL BEGIN"
        " INSERT INTO atom_fts (rowid, body) VALUES (new.id, new.body); END;"
        "CREATE TRIGGER atom_ad AFTER DELETE ON atom BEGIN"
        " INSERT INTO atom_fts (atom_fts, rowid, body) VALUES ('delete', old.id, old.body); END;"
        f"INSERT INTO atom VALUES (1, 'red fox', {OLD}), (2, 'blue hare', {OLD}), (3, 'green owl', {FRESH});",
        rule("atom"),
        {"atom": {1, 2, 3}},
        "failed",
        counts={"deleted": 0},
        message="atom_fts",
    ),
    Case(
        "a trigger that always fails stops its own table only",
        "CREATE TABLE m (id INTEGER PRIMARY KEY, txt TEXT, at INTEGER); CREATE VIRTUAL TABLE m_fts USING fts5 (txt, content = '');"
        "CREATE TRIGGER m_ai AFTER INSERT ON m BEGIN INSERT INTO m_fts (rowid, txt) VALUES (new.id, new.txt); END;"
        "CREATE TRIGGER m_ad AFTER DELETE ON m BEGIN DELETE FROM m_fts WHERE rowid = old.id; END;"
        f"INSERT INTO m VALUES (1, 'one', {OLD}), (2, 'two', {FRESH});"
        f"CREATE TABLE n (id INTEGER PRIMARY KEY, at INTEGER); INSERT INTO n VALUES (1, {OLD});",
        rule("m") + rule("n"),
        {"m": {1, 2}, "n": set()},
        "failed",
        counts={"deleted": 1},
        message="contentless",
    ),
    Case(
        "rows that a trigger vetoes are kept and counted",
        "CREATE TABLE m (id INTEGER PRIMARY KEY, locked INTEGER, at INTEGER);"
        "CREATE TRIGGER m_bd BEFORE DELETE ON m WHEN old.locked BEGIN SELECT RAISE(ABORT, 'it is locked'); END;"
        + series(300, f"INSERT INTO m SELECT i, i IN (7, 150), {OLD} FROM n"),
        rule("m", "page_rows = 100"),
        {"m": {7, 150}},
        "failed",
        counts={"deleted": 298, "blocked": 2},
        message="it is locked",
    ),
)

POLICIES = (
    _one_row("a misspelt key is refused: dryrun", rule("t", "dryrun = true"), "dryrun"),
    _one_row("a misspelt key is refused: page_row", rule("t", "page_row = 10"), "page_rows"),
    _one_row("a misspelt key is refused: rule", rule("t").replace("[[rules]]", "[[rule]]"), "rules"),
    _one_row("a switch that is no switch is refused", rule("t", 'enabled = "treu"'), "enabled"),
    _one_row("a keep without unit is refused", rule("t", keep="30"), "30d"),
    _one_row("a negative keep is refused", rule("t", keep="-30d"), "keep"),
    _one_row("a rule that would take every row is refused", rule("t", keep="0s", age=""), "every row"),
    _one_row("two rules of one name are refused", rule("t") + rule("t"), "name"),
    _one_row("a second statement in a condition is refused", rule("t", 'only = "1); DELETE FROM t; SELECT (1"'), "only"),
    *(
        _one_row(f"pages of {rows} rows are refused", rule("t", f"page_rows = {rows}"), "page_rows")
        for rows in ("0", "-1", "2.5", "true", '"100"')
    ),
    Case(
        "a page size past the limit is capped",
        "CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER);" + series(300, f"INSERT INTO t SELECT i, {OLD} FROM n"),
        rule("t", "page_rows = 1000000000"),
        {"t": set()},
        counts={"deleted": 300},
    ),
    Case(
        "an unknown table is refused",
        f"CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER); INSERT INTO t VALUES (1, {OLD});",
        rule("tt"),
        {"t": {1}},
        "policy",
        message="tt",
    ),
    Case(
        "an unknown column in a condition is refused",
        f"CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER); INSERT INTO t VALUES (1, {OLD});",
        rule("t", "only = 'state = 1'"),
        {"t": {1}},
        "policy",
        message="state",
    ),
    Case(
        "a column in double quotes that does not exist is no text",
        f"CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER); INSERT INTO t VALUES (1, {OLD});",
        rule("t", """only = '"state" = "state"'"""),
        {"t": {1}},
        "policy",
        message="state",
    ),
)

CASES: tuple[Case, ...] = (*TIMES, *KEYS, *REFERENCES, *CONDITIONS, *TRIGGERS, *POLICIES)

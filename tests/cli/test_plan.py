"""`retention plan`: it says what a run would do, and touches nothing."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw
import pytest

import retention
from retention.cli.reading import answered
from retention.engine.preview import preview
from retention.hosts import open_host

from .tools import NOW, NOW_S, RULE, TABLE, aged, call, create, policy, rows

NOW_MS = NOW_S * 1000
AGE = 'age = { column = "at", format = "unix_s" }'


def test_the_clock_of_these_tests() -> None:
    assert datetime.fromtimestamp(NOW_S, UTC) == datetime.fromisoformat(NOW)


def planned(db: Path, file: Path, *args: object) -> dict[str, Any]:
    done = call("plan", db, "-p", file, "--now", NOW, "--json", *args)
    assert (done.exit_code, done.stderr) == (0, "")
    return json.loads(done.stdout)


def counted(db: Path, text: str, pages: int = 20, statements: int | None = None):
    made = retention.plan(db, "version = 1\n" + text, now=NOW)
    host = open_host(str(db), readonly=True)
    try:
        return answered(preview(made, NOW_MS, statements, pages), host)
    finally:
        host.close()


WALKS = {
    "rowid": (TABLE, f"{RULE}walk = 'rowid'\n"),
    "index of the age alone": (f"{TABLE};CREATE INDEX i ON t (at)", f'{RULE}walk = {{ index = "i" }}\n'),
    "index of age and key": (f"{TABLE};CREATE INDEX i ON t (at, id)", f'{RULE}walk = {{ index = "i" }}\n'),
    "primary key": ("CREATE TABLE t (id TEXT PRIMARY KEY NOT NULL, at INTEGER, status TEXT) WITHOUT ROWID", RULE),
    "chunks": (TABLE, f"{RULE}mode = {{ chunk = 3 }}\n"),
}


@pytest.mark.parametrize("page_rows", [1, 3, 10, 1000])
@pytest.mark.parametrize("case", WALKS.values(), ids=WALKS.keys())
def test_the_count_is_what_a_run_deletes(tmp_path: Path, case: tuple[str, str], page_rows: int) -> None:
    """Whatever the walk and the page, for ages that are all different, all equal, and mixed."""
    schema, rule = case
    for place, days in enumerate(("i * 10", "i / 5 * 50", "1000")):
        db = create(
            tmp_path / f"{place}.db",
            *schema.split(";"),
            f"INSERT INTO t (id, at) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40) "
            f"SELECT i, {NOW_S} - {days} * 86400 FROM n",
        )
        text = f"{rule}page_rows = {page_rows}\n"
        (count,) = counted(db, text, pages=1000).rules
        assert count.whole
        assert count.expired == retention.run(db, f"version = 1\n{text}", now=NOW, until_done=True).deleted > 0
        assert counted(db, text, pages=1000).rules[0].expired == 0


def test_a_bounded_count_is_at_least(tmp_path: Path) -> None:
    db, file = create(tmp_path / "x.db", TABLE, aged(900, 500)), policy(tmp_path / "p.toml", f"{RULE}page_rows = 10\n")
    rule = planned(db, file)["rules"][0]
    assert (rule["to_delete"], rule["scanned"], rule["whole"]) == (200, 200, False)
    text = call("plan", db, "-p", file, "--now", NOW).stdout
    assert "at least 200 to delete in the first 200 looked at" in text
    assert "at least 200 rows to delete" in text


def test_what_would_spare_kept_history_is_said_with_how_much(tmp_path: Path) -> None:
    db, file = create(tmp_path / "x.db", TABLE, aged(20_000, 500)), policy(tmp_path / "p.toml")
    advice = 'CREATE INDEX "idx_t_at" ON "t" ("at")'
    assert planned(db, file)["rules"][0]["advice"] == {"write": advice, "rows_now": 20_000, "rows_then": 500, "exact": True}
    line = f"  advice      {advice}: a traversal would visit 500 rows instead of 20,000\n"
    assert line in call("plan", db, "-p", file, "--now", NOW).stdout
    con = apsw.Connection(str(db))
    con.execute(advice)
    con.close()
    assert planned(db, file)["rules"][0]["advice"] is None
    assert "advice" not in call("plan", db, "-p", file, "--now", NOW).stdout


def test_no_more_pages_are_read_than_were_allowed(tmp_path: Path) -> None:
    db = create(tmp_path / "x.db", TABLE, aged(900, 500))
    assert counted(db, f"{RULE}page_rows = 10\n", pages=3).rules[0].pages == 3


@pytest.mark.parametrize("journal", ["wal", "delete"])
@pytest.mark.parametrize("args", [(), ("--json",), ("--exact",)], ids=str)
def test_the_file_is_not_touched(tmp_path: Path, journal: str, args: tuple[str, ...]) -> None:
    db, file = create(tmp_path / "x.db", TABLE, aged(30, 10), journal=journal), policy(tmp_path / "p.toml")
    os.utime(db, (1, 1))
    before = db.read_bytes()
    assert call("plan", db, "-p", file, "--now", NOW, *args).exit_code == 0
    assert (db.read_bytes(), db.stat().st_mtime) == (before, 1)
    assert not [p for p in tmp_path.iterdir() if "retention.json" in p.name]


def test_exact_is_the_run(tmp_path: Path) -> None:
    """Rules that feed each other, where a count of each rule alone falls short."""
    schema = (
        "CREATE TABLE m (id INTEGER PRIMARY KEY, reply_to INTEGER, at INTEGER)",
        "CREATE INDEX m_reply ON m (reply_to)",
        f"INSERT INTO m WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12) "
        f"SELECT i, i - 1, {NOW_S - 10**8} FROM n",
        "CREATE TABLE r (m INTEGER)",
        "INSERT INTO r SELECT id FROM m",
    )
    text = (
        f'[[rules]]\ntable = "m"\nkeep = "90d"\n{AGE}\nonly = "NOT EXISTS (SELECT 1 FROM m AS x WHERE x.reply_to = m.id)"\n'
        '[[rules]]\ntable = "r"\nkeep = "0s"\nonly = "NOT EXISTS (SELECT 1 FROM m WHERE m.id = r.m)"\n'
    )
    db, file = create(tmp_path / "x.db", *schema), policy(tmp_path / "p.toml", text)
    assert [r["to_delete"] for r in planned(db, file)["rules"]] == [1, 0]
    exact = planned(db, file, "--exact")
    assert (exact["outcome"], len(rows(db, "SELECT id FROM m"))) == ("done", 12)
    done = json.loads(call("run", db, "-p", file, "--now", NOW, "--until-done", "--json").stdout)
    assert [r["deleted"] for r in exact["rules"]] == [r["deleted"] for r in done["rules"]] == [12, 12]


def test_exact_says_would_and_archives_nothing(tmp_path: Path) -> None:
    db = create(tmp_path / "x.db", TABLE, aged(30, 10))
    file = policy(tmp_path / "p.toml", f"{RULE}archive = '{tmp_path / 'gone.jsonl'}'\n")
    done = call("plan", db, "-p", file, "--now", NOW, "--exact")
    assert done.stdout.startswith("done: 10 rows would be deleted")
    assert not (tmp_path / "gone.jsonl").exists()
    assert len(rows(db)) == 30


def test_exact_starts_from_the_stored_checkpoint(tmp_path: Path) -> None:
    """An ordered rule goes on where its last run ended, on the copy too."""
    db, file = create(tmp_path / "x.db", TABLE, aged(3_000, 1_000)), policy(tmp_path / "p.toml", f"{RULE}ordered = true\n")
    assert call("run", db, "-p", file, "--now", NOW).exit_code == 0
    con = apsw.Connection(str(db))
    con.execute(f"UPDATE t SET at = {NOW_S - 10**8} WHERE id = 1001; INSERT INTO t (id, at) VALUES (1, 1)").fetchall()
    con.close()
    exact = planned(db, file, "--exact")
    done = json.loads(call("run", db, "-p", file, "--now", NOW, "--until-done", "--json").stdout)
    assert exact["rules"][0]["deleted"] == done["rules"][0]["deleted"]


def test_exact_needs_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from retention.cli import exact

    class Full:
        free = 10

    monkeypatch.setattr(exact.shutil, "disk_usage", lambda _path: Full)
    db, file = create(tmp_path / "x.db", TABLE, aged(30, 10)), policy(tmp_path / "p.toml")
    done = call("plan", db, "-p", file, "--exact")
    assert (done.exit_code, done.stderr.count("\n")) == (1, 1)
    assert "10 are free" in done.stderr


def test_exact_refuses_a_remote_database_with_the_reason(tmp_path: Path) -> None:
    done = call("plan", "d1://account/name", "-p", policy(tmp_path / "p.toml"), "--exact")
    assert done.exit_code == 2
    assert "a remote database cannot be copied" in done.stderr


def test_exact_copies_a_file_that_is_being_written(tmp_path: Path) -> None:
    """A writer's uncommitted rows are not in the copy."""
    db, file = create(tmp_path / "x.db", TABLE, aged(30, 10)), policy(tmp_path / "p.toml")
    other = apsw.Connection(str(db))
    other.execute("BEGIN; DELETE FROM t WHERE id < 5").fetchall()
    exact = planned(db, file, "--exact")
    other.execute("ROLLBACK")
    other.close()
    assert exact["rules"][0]["deleted"] == 10


TENANTS = '[tenants]\ntable = "w"\nkey = "id"\nsettings = "s"\nshortest = "2d"\n'


def test_tenants_are_named_whose_keep_is_raised_or_unreadable(tmp_path: Path) -> None:
    documents = {
        "low": '{"days": 1}',
        "high": '{"days": 3}',
        "none": "{}",
        "zero": '{"days": 0}',
        "text": '{"days": "1"}',
        "bad": "{",
        "twice": '{"days": 1, "days": 1}',
    }
    db = create(
        tmp_path / "x.db", TABLE, aged(30, 10), "CREATE TABLE w (id TEXT PRIMARY KEY, s TEXT)",
        *(f"INSERT INTO w VALUES ('{k}', '{v}')" for k, v in documents.items()), "UPDATE t SET tenant = 'bad' WHERE id = 3",
    )  # fmt: skip
    text = TENANTS + RULE + 'tenant = { column = "tenant", setting = "days" }\n'
    (count,) = counted(db, text).rules
    assert (count.raised, count.malformed, count.kept) == (("low",), ("bad",), {"malformed": 1})
    shown = call("plan", db, "-p", policy(tmp_path / "p.toml", text), "--now", NOW).stdout
    assert "the keep of low is shorter" in shown
    assert "settings of bad cannot be read" in shown


def test_days_in_a_column_are_raised_too(tmp_path: Path) -> None:
    db = create(
        tmp_path / "x.db",
        TABLE,
        "CREATE TABLE w (id TEXT PRIMARY KEY, d)",
        "INSERT INTO w VALUES ('a', 1), ('b', 5), ('c', '1'), ('d', 0.5)",
    )
    text = TENANTS.replace('settings = "s"\n', "") + RULE + 'tenant = { column = "tenant", days = "d" }\n'
    assert counted(db, text).rules[0].raised == ("a", "d")


def test_a_scanned_look_up_table_is_named_with_its_size(tmp_path: Path) -> None:
    db = create(tmp_path / "x.db", TABLE, aged(30, 10), "CREATE TABLE done (word TEXT)", "INSERT INTO done VALUES ('acked'), ('x')")
    for table in ("done", "done AS d", 'done "d"'):
        text = f"{RULE}only = '''status IN (SELECT word FROM {table})'''\n"
        (count,) = counted(db, text).rules
        assert [(u.table, u.rows, u.whole) for u in count.lookups] == [("done", 2, True)], table
    shown = call("plan", db, "-p", policy(tmp_path / "p.toml", text), "--now", NOW).stdout
    assert "done is read whole, once a statement: 2 rows" in shown


def test_the_statements_and_their_plans_are_shown(tmp_path: Path) -> None:
    db, file = create(tmp_path / "x.db", TABLE, aged(30, 10)), policy(tmp_path / "p.toml")
    rule = planned(db, file)["rules"][0]
    assert [s["label"] for s in rule["statements"]] == ["high-water", "boundary", "delete"]
    shown = call("plan", db, "-p", file, "--now", NOW).stdout
    for statement in rule["statements"]:
        assert statement["sql"] in shown
        assert all(line in shown for line in statement["plan"])
    assert rule["why_walk"] in shown


def test_a_rule_that_keeps_for_ever_says_so(tmp_path: Path) -> None:
    db = create(tmp_path / "x.db", TABLE, aged(30, 10))
    shown = call("plan", db, "-p", policy(tmp_path / "p.toml", RULE.replace("90d", "forever")), "--now", NOW).stdout
    assert "kept for ever" in shown


def test_a_policy_without_an_enabled_rule_says_so(tmp_path: Path) -> None:
    """As `init` writes it: else "0 rows to delete" reads as good news."""
    db = create(tmp_path / "app.db", TABLE, aged(3, 1))
    off = policy(tmp_path / "off.toml", f"{RULE}enabled = false\n")
    assert "no rule is enabled" in call("plan", db, "-p", off).stdout
    assert "no rule is enabled" in call("run", db, "-p", off).stderr
    assert "no rule is enabled" not in call("plan", db, "-p", policy(tmp_path / "on.toml", RULE)).stdout


def test_runs_to_drain_follow_the_limits(tmp_path: Path) -> None:
    db = create(tmp_path / "x.db", TABLE, aged(9_000, 9_000))
    assert counted(db, RULE).passes == 1
    assert counted(db, f"{RULE}max_pages = 2\n").passes == 5
    few, many = (counted(db, RULE, statements=n).passes for n in (20, 1000))
    assert (few or 0) > 1 == many
    assert counted(db, RULE, statements=3).passes is None


def test_a_limit_too_small_is_said_with_the_one_that_works(tmp_path: Path) -> None:
    db, file = create(tmp_path / "x.db", TABLE, aged(30, 10)), policy(tmp_path / "p.toml", f"[limits]\nstatements = 3\n{RULE}")
    made = planned(db, file)
    assert made["passes"] is None
    smallest = made["statements"]["smallest"]
    shown = call("plan", db, "-p", file, "--now", NOW).stdout
    assert f"a limit of 3 statements is too small for any page; allow {smallest}" in shown
    assert call("run", db, "-p", file, "--now", NOW, "--statements", smallest - 1).exit_code == 4
    assert call("run", db, "-p", file, "--now", NOW, "--statements", smallest).exit_code in (0, 3)


def test_the_statement_that_makes_the_lease_is_printed_and_makes_it(tmp_path: Path) -> None:
    db = create(tmp_path / "app.db", TABLE)
    file = policy(tmp_path / "leased.toml", f'[lease]\ntable = "the lease"\nttl = "2m"\n{RULE}')
    assert call("run", db, "-p", file, "--now", NOW).exit_code == 4
    statement = planned(db, file)["lease"]
    assert f"once: {statement};" in call("plan", db, "-p", file, "--now", NOW).stdout
    apsw.Connection(str(db)).execute(statement)
    assert call("run", db, "-p", file, "--now", NOW).exit_code == 0
    assert planned(db, policy(tmp_path / "plain.toml", RULE))["lease"] is None

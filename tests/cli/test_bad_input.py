"""What is wrong with a call gets one clear sentence and the right exit status, and changes nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import apsw
import pytest

from retention.hosts.sqlite import SQLite

from .tools import NOW, NOW_S, RULE, TABLE, aged, call, create, policy, rows

FILLED = (TABLE, aged(20, 10))


class Bad(NamedTuple):
    """A rule's text, what the sentence says, the status, and the statements that make the database."""

    rule: str
    says: str
    status: int = 2
    sql: tuple[str, ...] = FILLED


def only(condition: str) -> str:
    return f"{RULE}only = '''{condition}'''\n"


POLICIES = {
    "unknown table": Bad(RULE.replace('"t"', '"tt"'), "no table 'tt' in the database; did you mean 't'"),
    "unknown column": Bad(RULE.replace('"at"', '"att"'), "'att' is not a column of 't'; did you mean 'at'"),
    "unknown column in only": Bad(only("stat = 1"), "stat"),
    "ambiguous column in only": Bad(
        only("EXISTS (SELECT 1 FROM t AS a, t AS b WHERE status = 'x' AND a.id = t.id AND b.id = t.id)"), "status"
    ),
    "only is no condition": Bad(only("status, at"), "only"),
    "only is a number in text": Bad(only("'x' || status"), "only"),
    "injection by semicolon": Bad(only("1 = 1; DROP TABLE t"), "only"),
    "injection by parenthesis": Bad(only("1 = 1) OR (1 = 1"), "only"),
    "injection by comment": Bad(only("1 = 1 --"), "only"),
    "injection by statement": Bad(only("DELETE FROM t"), "only"),
    "keep without unit": Bad(RULE.replace('"90d"', '"30"'), 'write "30d" for days'),
    "keep as number": Bad(RULE.replace('"90d"', "30"), "no unit"),
    "negative keep": Bad(RULE.replace('"90d"', '"-5d"'), "negative"),
    "page_rows of zero": Bad(f"{RULE}page_rows = 0\n", "page_rows"),
    "unknown key": Bad(f"{RULE}page_row = 10\n", "page_rows"),
    "duplicate names": Bad(RULE + RULE, "like an earlier rule's"),
    "neither age nor only": Bad('[[rules]]\ntable = "t"\nkeep = "90d"\n', "neither age, only nor keep_newest"),
    "tenant key not unique": Bad(
        '[tenants]\ntable = "w"\nkey = "id"\nsettings = "s"\n' + RULE + 'tenant = { column = "tenant", setting = "days" }\n',
        "not unique",
        sql=(*FILLED, "CREATE TABLE w (id TEXT, s TEXT)"),
    ),
    "milliseconds as seconds": Bad(RULE, "check the unit", 4, (TABLE, f"INSERT INTO t (at) VALUES ({NOW_S}000), ({NOW_S}001)")),
    "seconds as milliseconds": Bad(RULE.replace("unix_s", "unix_ms"), "check the unit", 4),
    "a view": Bad(RULE.replace('"t"', '"v"'), "view", 4, (*FILLED, "CREATE VIEW v AS SELECT * FROM t")),
    "a virtual table": Bad(RULE.replace('"t"', '"f"'), "virtual", 4, (*FILLED, "CREATE VIRTUAL TABLE f USING fts5(at)")),
    "a shadow table": Bad(
        '[[rules]]\ntable = "f_data"\nkeep = "0s"\nonly = "id > 0"\n', "shadow", 4, (*FILLED, "CREATE VIRTUAL TABLE f USING fts5(at)")
    ),
    "not TOML": Bad("[[rules\n", "is not TOML"),
    "nothing to do": Bad("", "nothing to do"),
}


@pytest.mark.parametrize("command", ["plan", "run"])
@pytest.mark.parametrize("bad", POLICIES.values(), ids=POLICIES.keys())
def test_a_wrong_policy_gets_one_sentence_and_changes_nothing(tmp_path: Path, bad: Bad, command: str) -> None:
    db = create(tmp_path / "x.db", *bad.sql, journal="delete")
    before = db.read_bytes()
    done = call(command, db, "-p", policy(tmp_path / "p.toml", bad.rule), "--now", NOW)
    assert (done.exit_code, done.stdout if command == "plan" else "") == (bad.status, "")
    assert bad.says in done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    assert db.read_bytes() == before


@pytest.mark.parametrize("clock", ["1969-12-31T23:59:59Z", "-0001-01-01", "10000-01-01T00:00:00Z", "yesterday", ""])
@pytest.mark.parametrize("command", ["plan", "run"])
def test_a_clock_that_is_none_is_the_callers_mistake(tmp_path: Path, command: str, clock: str) -> None:
    db = create(tmp_path / "x.db", *FILLED)
    done = call(command, db, "-p", policy(tmp_path / "p.toml"), f"--now={clock}")
    assert (done.exit_code, done.stderr.count("\n"), len(rows(db))) == (2, 1, 20)
    assert not Path(f"{db}.retention.json").exists()


def header(path: Path, data: bytes) -> None:
    path.write_bytes(data + path.read_bytes()[len(data) :])


FILES = {
    "missing": (lambda p: p.unlink(), "no database at", 2),
    "empty": (lambda p: p.write_bytes(b""), "empty file", 2),
    "a directory": (lambda p: (p.unlink(), p.mkdir()), "is a directory", 2),
    "text": (lambda p: p.write_text("id,at\n" * 2_000), "not a database", 1),
    "encrypted": (lambda p: p.write_bytes(bytes(range(1, 256)) * 64), "encrypted", 1),
    "a corrupt header": (lambda p: header(p, b"SQLite format 4\0"), "encrypted", 1),
    "a corrupt schema page": (lambda p: p.write_bytes(p.read_bytes()[:100] + b"\xff" * 3_996 + p.read_bytes()[4_096:]), "damaged", 1),
    "cut short": (lambda p: p.write_bytes(p.read_bytes()[:700]), "", 1),
}


@pytest.mark.parametrize("command", ["plan", "run", "audit", "init", "plan --exact"])
@pytest.mark.parametrize("case", FILES.values(), ids=FILES.keys())
def test_a_file_that_is_no_database(tmp_path: Path, case, command: str) -> None:
    spoil, says, status = case
    db = create(tmp_path / "x.db", *FILLED, journal="delete")
    spoil(db)
    file = ["-o", tmp_path / "new.toml"] if command == "init" else ["-p", policy(tmp_path / "p.toml")]
    done = call(*command.split(), db, *file)
    assert (done.exit_code, done.stderr.count("\n")) == (status, 1), done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert db.exists() == (case is not FILES["missing"])
    left = {p.name for p in tmp_path.iterdir()}
    assert left <= {"x.db", "p.toml"}


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_a_locked_database_is_busy_after_the_wait(tmp_path: Path, journal: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SQLite.__init__.__kwdefaults__, "busy_seconds", 0.05)
    db = create(tmp_path / "x.db", *FILLED, journal=journal)
    other = apsw.Connection(str(db))
    other.pragma("locking_mode", "exclusive")
    other.execute("BEGIN EXCLUSIVE; UPDATE t SET status = 'x' WHERE id = 1")
    done = call("run", db, "-p", policy(tmp_path / "p.toml"), "--json")
    other.execute("ROLLBACK")
    other.close()
    receipt = json.loads(done.stdout)
    assert (done.exit_code, receipt["outcome"], receipt["why"]) == (75, "busy", "locked")
    assert done.stderr.count("\n") == 1
    assert "another connection holds the database" in done.stderr
    assert len(rows(db)) == 20


def test_a_file_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db = create(tmp_path / "x.db", *FILLED, journal="delete")
    monkeypatch.setattr(apsw, "SQLITE_OPEN_READWRITE", apsw.SQLITE_OPEN_READONLY)  # as SQLite itself falls back
    done = call("run", db, "-p", policy(tmp_path / "p.toml"), "--json", "--now", NOW)
    assert (done.exit_code, json.loads(done.stdout)["outcome"]) == (1, "failed")
    assert "cannot be written" in done.stderr
    assert call("plan", db, "-p", tmp_path / "p.toml", "--now", NOW).exit_code == 0
    assert len(rows(db)) == 20


ODD = ["order", 'a "quoted" name', "it's", "tab\tle", "ünïcødé 表", "semi;colon", "per%cent", "-- dash", "[brackets]", "SELECT", "x'y\"z`"]


@pytest.mark.parametrize("table", ODD)
def test_odd_names_are_only_names(tmp_path: Path, table: str) -> None:
    def quoted(text: str) -> str:
        return '"' + text.replace('"', '""') + '"'

    name, column = quoted(table), quoted(table + " at")
    db = create(
        tmp_path / "x.db", f"CREATE TABLE {name} ({column} INTEGER)", f"INSERT INTO {name} VALUES ({NOW_S - 400 * 86_400}), ({NOW_S})"
    )
    rule = f'[[rules]]\ntable = {json.dumps(table)}\nkeep = "90d"\nage = {{ column = {json.dumps(table + " at")}, format = "unix_s" }}\n'
    file = policy(tmp_path / "p.toml", rule)
    planned = call("plan", db, "-p", file, "--now", NOW)
    assert (planned.exit_code, "1 to delete of 2" in planned.stdout) == (0, True), planned.stderr
    done = call("run", db, "-p", file, "--now", NOW, "--json")
    assert (done.exit_code, json.loads(done.stdout)["rules"][0]["deleted"]) == (0, 1), done.stderr


USAGE = [
    [],
    ["run"],
    ["prune", "x.db"],
    ["run", "x.db", "--statement", "5"],
    ["run", "x.db", "--statements", "0"],
    ["run", "x.db", "--statements", "many"],
    ["run", "x.db", "--deadline", "10"],
    ["run", "x.db", "--deadline", "-1s"],
    ["run", "x.db", "-p", "p.toml", "--preset", "relay"],
    ["run", "x.db", "--preset", "relais"],
    ["run", "x.db", "-p", "none.toml"],
    ["run", "x.db", "-p", "."],
    ["plan", "d1://account/database", "--exact"],
    ["plan", "mysql://host/db"],
    ["init", "x.db", "-o", "p.toml"],
]


@pytest.mark.parametrize("args", USAGE, ids=" ".join)
def test_a_wrong_call_ends_with_2(tmp_path: Path, args: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    create(Path("x.db"), *FILLED)
    policy(Path("p.toml"))
    policy(Path("retention.toml"))
    done = call(*args)
    assert (done.exit_code, done.stdout if args else "") == (2, "")
    assert "Traceback" not in done.stderr
    assert len(rows(Path("x.db"))) == 20


@pytest.mark.parametrize("deadline", ["-1s", "-1", "0s", "0", "0.0h", " -5d"])
@pytest.mark.parametrize("command", ["run", "sweep", "migrate"])
def test_a_deadline_must_be_positive(tmp_path: Path, command: str, deadline: str) -> None:
    db = create(tmp_path / "x.db", *FILLED)
    done = call(command, db, "-p", policy(tmp_path / "p.toml"), f"--deadline={deadline}")
    assert (done.exit_code, done.stderr) == (2, f"retention: --deadline {deadline.strip()}: a deadline must be positive, such as 10s.\n")


def test_a_run_that_a_policy_error_ended_leaves_no_file(tmp_path: Path) -> None:
    db = create(tmp_path / "x.db", *FILLED, journal="delete")
    done = call("run", db, "-p", policy(tmp_path / "p.toml", RULE.replace('"t"', '"tt"')))
    assert (done.exit_code, sorted(path.name for path in tmp_path.iterdir())) == (2, ["p.toml", "x.db"])


def test_debug_shows_the_traceback_and_the_sentence(tmp_path: Path) -> None:
    done = call("run", tmp_path / "x.db", "-p", policy(tmp_path / "p.toml"), "--debug")
    assert done.exit_code == 2
    assert done.stderr.startswith("Traceback")
    assert done.stderr.splitlines()[-1].startswith("retention: there is no database")

"""`retention audit`: each finding on a schema that has the fault, and none once its advice is followed."""

from __future__ import annotations

import apsw
import pytest

from retention.policy.load import parse
from retention.upkeep.audit import Audit, audit
from tests.schema.driver import database, schema_of

AGED = 'keep = "30d"\nage = { column = "at", format = "unix_s" }'


def rule(table: str = "t", more: str = "", age: str = AGED) -> str:
    return f'[[rules]]\ntable = "{table}"\n{age}\n{more}\n'


def audited(db: apsw.Connection, *rules: str, head: str = "") -> Audit:
    return audit(schema_of(db), parse("version = 1\n" + head + "\n" + "\n".join(rules)))


def told(found: Audit, code: str) -> list[tuple[str, str]]:
    return [(finding.severity, finding.table) for finding in found.of(code)]


SOUND = ("CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER)", "CREATE INDEX by_age ON t(at)")


def test_a_sound_schema_has_no_findings():
    assert audited(database(*SOUND), rule()).findings == ()


def test_findings_are_sorted_by_severity_and_then_as_the_schema_is():
    db = database(
        "CREATE TABLE z(at INTEGER)",
        "CREATE TABLE t(id INTEGER PRIMARY KEY, at INTEGER)",
        "CREATE TABLE a(t REFERENCES t ON DELETE CASCADE, at INTEGER)",
    )
    found = audited(db, rule("nowhere"), rule())
    assert [finding.severity for finding in found.findings] == sorted(
        (finding.severity for finding in found.findings), key=["problem", "advice", "note"].index
    )
    assert [finding.table for finding in found.findings if finding.severity == "advice"] == ["z", "t"]
    assert all(finding.what.endswith(".") and finding.why.endswith(".") for finding in found.findings)


# --- rules -----------------------------------------------------------------------------------------------------------


def test_rules_without_a_table_to_work_on():
    db = database("CREATE TABLE x(a)", "CREATE VIEW t AS SELECT a AS at FROM x", "CREATE VIRTUAL TABLE ft USING fts5(at)")
    found = audited(db, rule("gone"), rule("T"), rule("ft"), rule("ft_data", age='keep = "0s"\nonly = "id = 1"'))
    assert told(found, "no_table") == [("problem", "gone"), ("problem", "t"), ("problem", "ft"), ("problem", "ft_data")]


def test_a_rule_whose_walk_is_refused():
    db = database("CREATE TABLE t(rowid, _rowid_, oid, at INTEGER)")
    assert told(audited(db, rule()), "no_walk") == [("problem", "t")]


# --- foreign keys ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reference", ["REFERENCES gone", "REFERENCES keyless", "REFERENCES t(nowhere)"])
def test_keys_that_break_every_delete(reference):
    ddl = "CREATE TABLE keyless(a)", f"CREATE TABLE t(id INTEGER PRIMARY KEY, at INTEGER, k {reference})"
    db = database(*ddl)
    assert told(audited(db, rule()), "broken_key") == [("problem", "t")]
    assert told(audited(db, rule()), "child_index") == []
    assert told(audited(db, rule(), head='foreign_keys = "off"'), "broken_key") == []
    db.pragma("foreign_keys", True)
    with pytest.raises(apsw.SQLError):
        db.execute("DELETE FROM t WHERE id = 1")


def test_a_child_key_without_an_index_stops_a_rule_on_its_parent_and_the_advice_mends_it():
    db = database(
        *SOUND,
        "CREATE TABLE child(id INTEGER PRIMARY KEY, t INTEGER REFERENCES t ON DELETE CASCADE)",
        "CREATE TABLE grandchild(c INTEGER REFERENCES child)",
        "CREATE TABLE other(id INTEGER PRIMARY KEY, at INTEGER)",
        "CREATE TABLE apart(o INTEGER REFERENCES other)",
    )
    found = audited(db, rule()).of("child_index")
    assert [(finding.severity, finding.table) for finding in found] == [("problem", "child"), ("problem", "grandchild"), ("note", "apart")]
    assert "the run is refused" in found[0].why
    assert [f.severity for f in audited(db, rule(), head='foreign_keys = "off"').of("child_index")] == ["note"] * 3
    for finding in found:
        assert finding.sql is not None
        db.execute(finding.sql)
    assert audited(db, rule()).of("child_index") == ()


def test_a_child_key_that_no_index_can_serve():
    db = database(*SOUND, "CREATE TABLE child(t TEXT REFERENCES t)", "CREATE INDEX i ON child(t)")
    (finding,) = audited(db, rule()).of("child_index")
    assert finding.sql is None
    assert "parent's type" in finding.fix


def test_cascades_are_told_by_level():
    db = database(
        *SOUND,
        "CREATE TABLE a(id INTEGER PRIMARY KEY, t INTEGER REFERENCES t ON DELETE CASCADE)",
        "CREATE TABLE b(id INTEGER PRIMARY KEY, a INTEGER REFERENCES a ON DELETE SET NULL, up INTEGER REFERENCES b)",
        "CREATE TABLE c(t INTEGER REFERENCES t)",
    )
    (finding,) = audited(db, rule()).of("cascade")
    assert finding.what.endswith("level 1: a (t, CASCADE); level 2: b (a, SET NULL).")
    assert audited(db, rule(), head='foreign_keys = "off"').of("cascade") == ()


def test_a_rule_that_refuses_children_on_a_table_that_has_some():
    db = database(*SOUND, "CREATE TABLE c(t INTEGER REFERENCES t)")
    assert told(audited(db, rule(more='children = "refuse"')), "children") == [("problem", "t")]
    assert told(audited(db, rule()), "children") == []
    assert told(audited(database(*SOUND), rule(more='children = "refuse"')), "children") == []


# --- coverage --------------------------------------------------------------------------------------------------------


def test_tables_that_no_rule_covers():
    db = database(
        *SOUND,
        "CREATE TABLE tenants(id INTEGER PRIMARY KEY, settings TEXT, created_at INTEGER)",
        "CREATE TABLE events(created_at INTEGER)",
        "CREATE TABLE paused(id INTEGER PRIMARY KEY, at INTEGER)",
        "CREATE TABLE users(created_at INTEGER)",
        "CREATE TABLE words(word TEXT)",
        "CREATE TABLE parts(t INTEGER REFERENCES t ON DELETE CASCADE, created_at INTEGER)",
        "CREATE VIEW v AS SELECT * FROM t",
        "CREATE TABLE d1_migrations(applied_at)",
    )
    head = '[tenants]\ntable = "Tenants"\nkey = "id"\n'
    found = {finding.table: finding for finding in audited(db, rule(), rule("paused", "enabled = false"), head=head).of("uncovered")}
    assert {table: finding.severity for table, finding in found.items()} == {
        "events": "advice",
        "paused": "advice",
        "users": "note",
        "words": "note",
        "parts": "note",
    }
    assert found["paused"].what == "Only disabled rules cover it."
    assert "'t'" in found["parts"].why


def test_a_table_that_only_a_disabled_rule_would_cascade_to_is_not_covered():
    db = database(*SOUND, "CREATE TABLE parts(t INTEGER REFERENCES t ON DELETE CASCADE, created_at INTEGER)")
    assert ("advice", "parts") in told(audited(db, rule(more="enabled = false")), "uncovered")


DEEP = (
    *SOUND,
    "CREATE TABLE child(id INTEGER PRIMARY KEY, t INTEGER REFERENCES t, at INTEGER)",
    "CREATE INDEX child_t ON child(t)",
    "CREATE TABLE deep(c INTEGER REFERENCES child, at INTEGER)",
)


@pytest.mark.parametrize("head", ["", 'foreign_keys = "off"'])
def test_drained_tables_count_as_covered_and_their_keys_are_checked(head):
    db = database(*DEEP)
    drain = rule(more='children = "drain"')
    found = audited(db, drain, head=head)
    assert told(found, "uncovered") == [("note", "child"), ("note", "deep")]
    assert told(found, "child_index") == [("problem", "deep")]
    assert told(found, "drain") == [("note", "t")]
    assert told(found, "cascade") == []
    db.execute(found.of("child_index")[0].sql)
    assert told(audited(db, drain, head=head), "child_index") == []
    alone = audited(db, rule(), head=head)
    assert told(alone, "uncovered") == [("advice", "child"), ("advice", "deep")]
    paused = audited(db, rule(), rule(more='name = "paused"\nchildren = "drain"\nenabled = false'), head=head)
    assert told(paused, "uncovered") == [("advice", "child"), ("advice", "deep")]


def test_a_family_that_cannot_be_drained():
    db = database(*SOUND, "CREATE TABLE child(rowid, oid, _rowid_, t INTEGER REFERENCES t)", "CREATE INDEX child_t ON child(t)")
    assert ("problem", "t") in told(audited(db, rule(more='children = "drain"')), "drain")


def test_a_key_to_a_missing_table_breaks_the_rules_that_cascade_to_it():
    db = database(*SOUND, "CREATE TABLE c(t INTEGER REFERENCES t ON DELETE CASCADE, k REFERENCES gone)", "CREATE INDEX ct ON c(t)")
    assert told(audited(db, rule()), "broken_key") == [("problem", "c")]
    db.pragma("foreign_keys", True)
    with pytest.raises(apsw.SQLError, match="no such table"):
        db.execute("DELETE FROM t WHERE id = 1")


ARCHIVE = 'archive = "rows"'
SAID = 'children = "cascade"'
CHILD = "CREATE TABLE child(id INTEGER PRIMARY KEY, t INTEGER REFERENCES t{}, at INTEGER)"


@pytest.mark.parametrize(
    ("action", "rules", "tables"),
    [
        (" ON DELETE CASCADE", [rule(more=f"{ARCHIVE}\n{SAID}")], ["child"]),
        (" ON DELETE CASCADE", [rule("child", ARCHIVE), rule(more=SAID)], ["child"]),
        (" ON DELETE CASCADE", [rule("child", ARCHIVE), rule(more=f"{ARCHIVE}\n{SAID}")], ["child"]),
        (" ON DELETE CASCADE", [rule("child"), rule()], []),
        (" ON DELETE CASCADE", [rule("child", ARCHIVE)], []),
        (" ON DELETE SET NULL", [rule("child", ARCHIVE), rule(more=ARCHIVE)], []),
        ("", [rule("child", ARCHIVE), rule(more=ARCHIVE)], []),
        ("", [rule("child", ARCHIVE), rule(more='children = "drain"')], ["child"]),
    ],
)
def test_rows_that_go_with_others_are_in_no_archive(action, rules, tables):
    db = database(*SOUND, CHILD.format(action), "CREATE INDEX child_t ON child(t)")
    found = audited(db, *rules)
    assert told(found, "archive") == [("advice", table) for table in tables]
    if action and tables:
        assert told(audited(db, *rules, head='foreign_keys = "off"'), "archive") == []
        unsaid = [each.replace(SAID, "") for each in rules]
        assert told(audited(db, *unsaid), "archive") == [("problem", table) for table in tables]


def test_rows_that_cascade_to_their_own_table_or_further_are_in_no_archive():
    ddl = "CREATE TABLE t(id INTEGER PRIMARY KEY, at INTEGER, up INTEGER REFERENCES t ON DELETE CASCADE)"
    own = database(ddl, "CREATE INDEX u ON t(up)")
    assert told(audited(own, rule(more=ARCHIVE)), "archive") == [("problem", "t")]
    far = database(*SOUND, CHILD.format(" ON DELETE CASCADE"), "CREATE TABLE far(c INTEGER REFERENCES child ON DELETE CASCADE, at INTEGER)")
    assert told(audited(far, rule("far", ARCHIVE), rule()), "archive") == [("problem", "far")]


# --- triggers and full text ------------------------------------------------------------------------------------------


def test_triggers_that_a_delete_fires_and_that_write_elsewhere():
    db = database(
        *SOUND,
        "CREATE TABLE audit_log(x)",
        "CREATE TABLE gone(id INTEGER PRIMARY KEY, t INTEGER REFERENCES t ON DELETE CASCADE)",
        "CREATE TABLE kept(t INTEGER REFERENCES t ON DELETE SET NULL)",
        "CREATE TRIGGER own AFTER DELETE ON t BEGIN INSERT INTO audit_log VALUES (OLD.id); END",
        "CREATE TRIGGER inward AFTER DELETE ON t BEGIN UPDATE t SET at = at; END",
        "CREATE TRIGGER on_insert AFTER INSERT ON t BEGIN DELETE FROM audit_log; END",
        "CREATE TRIGGER child AFTER DELETE ON gone BEGIN DELETE FROM audit_log; END",
        "CREATE TRIGGER nulled AFTER UPDATE ON kept BEGIN DELETE FROM audit_log; END",
        "CREATE TRIGGER not_fired AFTER DELETE ON kept BEGIN DELETE FROM audit_log; END",
    )
    found = audited(db, rule()).of("trigger")
    assert [finding.what.split("'")[1] for finding in found] == ["own", "child", "nulled"]
    alone = audited(db, rule(), head='foreign_keys = "off"').of("trigger")
    assert [finding.what.split("'")[1] for finding in alone] == ["own"]


def test_full_text_indexes_kept_by_triggers_and_those_left_behind():
    db = database(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, at INTEGER, body TEXT)",
        "CREATE VIRTUAL TABLE kept USING fts5(body, content='t', content_rowid='id')",
        "CREATE TRIGGER keep_it AFTER DELETE ON t BEGIN INSERT INTO kept(kept, rowid, body) VALUES ('delete', OLD.id, OLD.body); END",
        "CREATE VIRTUAL TABLE stale USING fts5(body, content=T, content_rowid=id)",
        "CREATE VIRTUAL TABLE own USING fts5(body)",
        "CREATE VIRTUAL TABLE other USING rtree(id, x0, x1)",
    )
    found = audited(db, rule())
    assert [(finding.severity, finding.what.split("'")[1]) for finding in found.of("full_text")] == [("advice", "stale"), ("note", "kept")]
    assert found.of("trigger") == ()


# --- keys ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ddl", "expected"),
    [
        ("CREATE TABLE t(at INTEGER)", [("note", "t")]),
        ("CREATE TABLE t(id INT PRIMARY KEY, at INTEGER)", [("note", "t")]),
        ("CREATE TABLE t(id INTEGER PRIMARY KEY, at INTEGER)", []),
        ("CREATE TABLE t(id INT PRIMARY KEY, at INTEGER) WITHOUT ROWID", []),
    ],
)
def test_rowids_that_vacuum_may_change(ddl, expected):
    assert told(audited(database(ddl), rule()), "rowid") == expected


@pytest.mark.parametrize(
    ("log", "cursors", "expected"),
    [
        ("id INTEGER PRIMARY KEY", "event_cursors", [("advice", "job_events")]),
        ("id INTEGER PRIMARY KEY AUTOINCREMENT", "event_cursors", []),
        ("id INTEGER PRIMARY KEY", "event_names", []),
        ("id INTEGER PRIMARY KEY", "page_cursors", []),
    ],
)
def test_a_log_whose_ids_are_used_again(log, cursors, expected):
    db = database(f"CREATE TABLE job_events({log}, at INTEGER)", f"CREATE TABLE {cursors}(position)")
    assert told(audited(db, rule("job_events")), "reused_ids") == expected


AGES = [
    ("id INTEGER PRIMARY KEY, at INTEGER", "unix_s", "", True),
    ("id INTEGER PRIMARY KEY, at TEXT", "utc_text", "", True),
    ("id INTEGER PRIMARY KEY, at INTEGER", "unix_s", "ordered = true", False),
    ("id INTEGER PRIMARY KEY, at INTEGER", "unix_s", 'walk = "rowid"', False),
    ("id INTEGER PRIMARY KEY, at TEXT", "unix_s", "", False),  # numbers as text are not in time order
    ("id INTEGER PRIMARY KEY, at TEXT COLLATE NOCASE", "utc_text", "", False),
    ("id INTEGER PRIMARY KEY, at TEXT", "iso8601", "", False),  # offsets
    ("at INTEGER PRIMARY KEY", "unix_s", "", False),  # the rowid is the age
    ("k TEXT PRIMARY KEY, at INTEGER) WITHOUT ROWID --", "unix_s", "", True),
    ("at INTEGER, k TEXT, PRIMARY KEY(at, k)) WITHOUT ROWID --", "unix_s", "", False),
]


@pytest.mark.parametrize(("columns", "form", "more", "helps"), AGES)
def test_an_index_that_would_help_is_advised_and_then_used(columns, form, more, helps):
    db = database(f"CREATE TABLE t({columns}\n)" if "--" not in columns else f"CREATE TABLE t({columns.removesuffix(' --')}")
    aged = rule(age=f'keep = "30d"\nage = {{ column = "AT", format = "{form}" }}', more=more)
    found = audited(db, aged).of("age_index")
    assert bool(found) is helps
    for finding in found:
        assert finding.sql is not None
        db.execute(finding.sql)
    assert audited(db, aged).of("age_index") == ()


def test_no_index_is_advised_where_a_tenants_keep_has_no_bound():
    db = database("CREATE TABLE t(id INTEGER PRIMARY KEY, at INTEGER, w)", "CREATE TABLE ws(id INTEGER PRIMARY KEY, days)")
    head = '[tenants]\ntable = "ws"\nkey = "id"\n'
    tenant = rule(more='tenant = { column = "w", days = "days" }')
    assert audited(db, tenant, head=head).of("age_index") == ()
    assert len(audited(db, tenant, head=head + 'shortest = "1d"\n').of("age_index")) == 1


def test_names_that_need_quoting_are_quoted_in_every_statement():
    db = database('CREATE TABLE "a ""b"(id INTEGER PRIMARY KEY, "at ""x" INTEGER, up INTEGER REFERENCES "a ""b" ON DELETE SET NULL)')
    text = '[[rules]]\ntable = \'a "b\'\nkeep = "1d"\nage = { column = \'at "x\', format = "unix_s" }\n'
    found = [finding for finding in audit(schema_of(db), parse(text)).findings if finding.sql]
    assert [finding.code for finding in found] == ["child_index", "age_index"]
    for finding in found:
        db.execute(finding.sql)  # type: ignore[arg-type]
    assert [f for f in audit(schema_of(db), parse(text)).findings if f.sql] == []

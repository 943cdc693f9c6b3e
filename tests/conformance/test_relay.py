from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from retention.errors import PolicyError
from retention.presets.relay.sample import NOW, make_sample, sample_policy
from tests.naive import settle

from .catalogue import CASES, Case
from .relay import TABLES, Keeps, database, expected_left, rows_left, tenant_days
from .script import script

RELAY = [c for c in CASES if c.keeps]
OTHERS = [c for c in CASES if not c.keeps]


@pytest.mark.parametrize("case", RELAY, ids=[c.id for c in RELAY])
def test_the_model_says_what_the_catalogue_says(case: Case) -> None:
    """The catalogue was written by hand, the model computes: each checks the other."""
    assert case.keeps
    db, left = case.database()
    model = expected_left(db, case.now, case.keeps)
    assert {t: model[t] for t in left} == left


@pytest.mark.parametrize("case", OTHERS, ids=[c.id for c in OTHERS])
def test_the_agents_policy_says_what_the_catalogue_says(case: Case) -> None:
    db, left = case.database()
    settle(db, case.policy, case.now)
    assert rows_left(db, tuple(left)) == left


@pytest.mark.parametrize("case", RELAY, ids=[c.id for c in RELAY])
def test_the_model_against_rules_applied_one_by_one(case: Case) -> None:
    """The same data without tenants, judged a second way: row by row, pass after pass."""
    assert case.keeps
    db, _ = case.database()
    db.execute("UPDATE workspaces SET retention = NULL")
    model = expected_left(db, case.now, case.keeps)
    settle(db, case.policy, case.now)
    assert rows_left(db) == model


def test_foreign_keys_hold_in_every_case() -> None:
    for case in CASES:
        db, _ = case.database()
        assert {row[0] for row in db.execute("PRAGMA foreign_key_check")} <= {"read_receipts"}, case.id


@pytest.mark.parametrize(
    ("text", "days"),
    [(None, 90), ("", 90), ("null", 90), ("{}", 90), ('{"k": 14}', 14), ('{"k": 0.5}', 0.5), ('{"k": NaN}', None), ('{"k": 1e400}', None)],
)
def test_tenant_days(text: str | None, days: float | None) -> None:
    assert tenant_days(text, "k", 90) == days


def test_sample(tmp_path: Path) -> None:
    counts = make_sample(tmp_path / "a.db", rows=5_000, tenants=14)
    assert sum(counts.values()) == 5_000
    db = apsw.Connection(str(tmp_path / "a.db"))
    model = expected_left(db, NOW, Keeps(holds=True))
    assert all(0 < len(model[t]) < counts[t] for t in TABLES)
    assert len(model["messages"]) > len(expected_left(db, NOW)["messages"]), "a held message would have gone"
    assert {row[0] for row in db.execute("PRAGMA foreign_key_check")} == {"read_receipts"}
    assert db.execute("PRAGMA integrity_check").get == "ok"
    db.execute("INSERT INTO messages_fts (messages_fts, rank) VALUES ('integrity-check', 1)")
    assert "legal_hold" in sample_policy()


def test_a_sample_is_the_same_each_time(tmp_path: Path) -> None:
    dumps = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        make_sample(tmp_path / f"{name}.db", rows=1_000, tenants=12, seed=seed)
        db = apsw.Connection(str(tmp_path / f"{name}.db"))
        dumps.append([list(db.execute(f"SELECT * FROM {t} ORDER BY rowid")) for t in ("workspaces", "agents", "channels", *TABLES)])
    assert dumps[0] == dumps[1] != dumps[2]


def test_a_sample_has_the_schema_of_its_preset(tmp_path: Path) -> None:
    make_sample(tmp_path / "a.db", rows=1_000, tenants=12)
    names = "SELECT type, name, sql FROM sqlite_schema ORDER BY type, name"
    assert list(apsw.Connection(str(tmp_path / "a.db")).execute(names)) == list(database().execute(names))


def test_a_sample_is_made_in_a_new_file_and_large_enough(tmp_path: Path) -> None:
    (tmp_path / "mine.db").write_bytes(b"")
    with pytest.raises(PolicyError, match=r"mine\.db exists"):
        make_sample(tmp_path / "mine.db")
    with pytest.raises(PolicyError, match="1000 rows and 12 tenants, not 10 and 40"):
        make_sample(tmp_path / "small.db", rows=10)
    assert not (tmp_path / "small.db").exists()


def test_a_script_makes_the_same_database() -> None:
    for case in CASES:
        db, _ = case.database()
        if list(db.execute("PRAGMA foreign_key_check")):
            continue
        copy = apsw.Connection(":memory:")
        copy.execute("PRAGMA foreign_keys = on")
        with copy:
            for sql in script(db):
                copy.execute(sql)
        assert rows_left(copy) == rows_left(db)
        rowids = "SELECT rowid, id FROM messages"
        assert list(copy.execute(rowids)) == list(db.execute(rowids))
        copy.execute("INSERT INTO messages_fts (messages_fts, rank) VALUES ('integrity-check', 1)")

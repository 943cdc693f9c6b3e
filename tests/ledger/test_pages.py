"""The ledger's own cases of its event pages, by their numbers, as far as they are not about HTTP; and the examples of the docs."""

from __future__ import annotations

import re
from pathlib import Path

import apsw
import pytest

from retention.events import Log
from retention.ledger.append import append, append_once
from retention.ledger.cursors import ack
from retention.ledger.listing import counts, list_after
from retention.policy.load import parse
from retention.presets import preset
from tests.ledger.databases import JOBS, NOW, Database

DOCS = Path(__file__).parents[2] / "docs"
ASKED = {"callback_url": "https://example.org/hook"}


def begun(jobs: Database, payload: dict[str, object] | None = None) -> list[int]:
    """A job that was requested and started; the ids of both events."""
    kinds = (("job.requested", payload), ("job.execution_started", None))
    return [jobs.do(append_once(JOBS, kind, stream="j", now=NOW, payload=given)).event.id for kind, given in kinds]


def page(jobs: Database) -> list[str | None]:
    return [event.public for event in jobs.do(list_after(JOBS, "j")).events]


def test_66_a_job_that_nobody_knows_has_an_empty_page_and_no_cursor(jobs: Database) -> None:
    begun(jobs)
    found = jobs.do(list_after(JOBS, "nobody"))
    assert (found.events, found.next, found.gap) == ((), None, False)
    told = jobs.do(counts(JOBS, "nobody"))
    assert (told.total, told.acked, told.unacked, told.position) == (0, 0, 0, 0)


@pytest.mark.parametrize("through", ["", "42", "evt-", "evt-1", "evt--1--1", "evt-1-1\n", "maybe", "evt-99999999999-999999"])
def test_72_what_names_no_event_moves_no_cursor(jobs: Database, through: str) -> None:
    first, _ = begun(jobs)
    jobs.do(ack(JOBS, "j", first, now=NOW))
    acked = jobs.do(ack(JOBS, "j", through, now=NOW))
    assert (acked.moved, acked.counts.acked, acked.counts.unacked, acked.counts.position) == (False, 1, 1, first)


@pytest.mark.parametrize(
    ("case", "row", "event", "told"),
    [
        ("80", "done", "outbox.delivered", {}),
        ("81", "retry_wait", "outbox.retry_scheduled", {"attempts": 1}),
        ("82", "dead", "outbox.dead", {"attempts": 1}),
    ],
)
def test_80_81_82_what_becomes_of_a_callback_changes_no_page(jobs: Database, case: str, row: str, event: str, told: dict[str, int]) -> None:
    """The outbox says how its row went in the log, in hidden kinds: no consumer sees them, and none has to ack them."""
    begun(jobs, ASKED)
    before, unacked = page(jobs), jobs.do(counts(JOBS, "j")).unacked
    assert jobs.rows("SELECT kind, status, CAST(attempts AS TEXT), CAST(max_attempts AS TEXT) FROM outbox") == [
        ("event_callback", "pending", "0", "8"),
        ("event_callback", "pending", "0", "8"),
    ]
    jobs.script(f"UPDATE outbox SET status = '{row}', attempts = {told.get('attempts', 0)}")
    jobs.do(append(JOBS, event, stream="j", now=NOW, payload=dict(told)))
    assert (page(jobs), jobs.do(counts(JOBS, "j")).unacked) == (before, unacked)
    assert jobs.do(counts(JOBS, "j")).unknown == 0
    again = jobs.do(append_once(JOBS, "job.requested", stream="j", now=NOW, payload=ASKED))
    assert (again.inserted, jobs.value("SELECT count(*) FROM outbox")) == (False, 2)


def examples(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / page).read_text(), re.S)


def test_the_page_of_events_works_as_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    connection = apsw.Connection("ledger.db")
    connection.execute(preset("ledger").schema)
    connection.close()
    (toml,) = examples("events.md", "toml")
    # The outbox of the preset wants more columns than the page shows.
    whole = parse(preset("ledger").policy).events
    assert whole is not None
    assert parse(toml).events is not None
    Path("retention.toml").write_text(preset("ledger").policy)
    exec(examples("events.md", "python")[0], {})
    assert "Counts(total=2, acked=2, unacked=0, unknown=0" in capsys.readouterr().out


def test_the_page_of_claims_works_as_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    connection = apsw.Connection("relay.db")
    connection.execute(preset("relay").schema)
    connection.execute("CREATE TABLE outbox (id TEXT PRIMARY KEY, kind TEXT, payload TEXT)")
    connection.execute("INSERT INTO workspaces (id, name, api_key_hash) VALUES ('w1', 'w1', 'h')")
    connection.execute("INSERT INTO agents (id, workspace_id, name, token_hash) VALUES ('a1', 'w1', 'a1', 't')")
    (toml,) = examples("claims.md", "toml")
    Path("retention.toml").write_text(toml)
    exec(examples("claims.md", "python")[0], {})
    assert capsys.readouterr().out.startswith("True w2 rk_live_")
    assert connection.execute("SELECT count(*) FROM outbox").get == 1
    assert connection.execute("SELECT status FROM agents").get == "blocked"


def test_a_face_opens_what_it_is_given_and_closes_only_what_it_opened(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    connection = apsw.Connection(str(path))
    connection.execute(preset("ledger").schema)
    policy = parse(preset("ledger").policy)
    with Log(str(path), policy) as by_path, Log(connection, policy) as by_connection:
        by_path.append("job.progressed", stream="j")
        assert by_connection.counts("j").total == 1
    assert connection.execute("SELECT count(*) FROM delivery_events").get == 1
    assert by_path.counts("j").total == 1
    by_path.close()

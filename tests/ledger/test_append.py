from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retention.errors import PolicyError
from retention.ledger.append import append, append_once
from retention.ledger.log import parse_event_id
from tests.ledger.conftest import HERE
from tests.ledger.databases import JOBS, NOTES, NOW, Database


def test_append_returns_the_event_as_it_stands(jobs: Database) -> None:
    added = jobs.do(append(JOBS, "job.requested", stream="j1", now=NOW, payload={"b": 1, "a": "é"}, extra={"delivery_target": "t"}))
    assert (added.inserted, added.poisoned, added.event.public, added.event.at) == (True, False, "job.accepted", NOW)
    assert added.event.payload == '{"a":"é","b":1}'
    assert jobs.rows("SELECT id, ts, slot_id, event, delivery_target, detail FROM delivery_events") == [
        (added.event.id, NOW, "j1", "job.requested", "t", '{"a":"é","b":1}')
    ]


def test_an_event_id_reads_back(jobs: Database) -> None:
    event = jobs.do(append(JOBS, "job.requested", stream="j1", now=NOW)).event
    assert event.event_id == f"evt-{NOW}-{event.id}"
    assert parse_event_id(event.event_id) == (NOW, event.id)


@pytest.mark.parametrize("text", ["", "evt-1", "evt-1-2-3", "evt-١-٢", "evt-1-1\n", " evt-1-1", "evt--1-1", "evt-1-9223372036854775808"])
def test_any_other_text_is_no_event_id(text: str) -> None:
    assert parse_event_id(text) is None


def test_a_clock_that_steps_back_does_not_take_the_stream_back(jobs: Database) -> None:
    jobs.do(append(JOBS, "job.requested", stream="j1", now=NOW))
    later = jobs.do(append(JOBS, "job.progressed", stream="j1", now=NOW - 5_000))
    other = jobs.do(append(JOBS, "job.progressed", stream="j2", now=NOW - 5_000))
    assert (later.event.at, later.poisoned) == (NOW, False)
    assert other.event.at == NOW - 5_000


def test_a_callers_future_time_is_cut_to_now_and_skew(jobs: Database) -> None:
    ahead = jobs.do(append(JOBS, "job.progressed", stream="j1", now=NOW, at=NOW + 30_000))
    far = jobs.do(append(JOBS, "job.progressed", stream="j1", now=NOW, at=NOW + 10**12))
    assert (ahead.event.at, ahead.poisoned) == (NOW + 30_000, False)
    assert (far.event.at, far.poisoned) == (NOW + 60_000, False)


def test_an_older_poisoned_time_is_followed_and_reported(jobs: Database) -> None:
    jobs.script(f"INSERT INTO delivery_events (ts, slot_id, event) VALUES ({NOW + 10**9}, 'j1', 'job.progressed')")
    added = jobs.do(append(JOBS, "job.progressed", stream="j1", now=NOW))
    assert (added.event.at, added.poisoned) == (NOW + 10**9, True)


@pytest.mark.parametrize("value", ["'2026-09-09 14:00:00'", "x'ff'", "''"])
def test_what_is_no_number_among_the_times_does_not_count(jobs: Database, value: str) -> None:
    for at in (value, NOW + 7, value):
        jobs.script(f"INSERT INTO delivery_events (ts, slot_id, event) VALUES ({at}, 'j1', 'job.progressed')")
    assert jobs.do(append(JOBS, "job.progressed", stream="j1", now=NOW)).event.at == NOW + 7


def test_an_event_without_a_stream_is_compared_with_nothing(jobs: Database) -> None:
    jobs.do(append(JOBS, "media.fallback", stream=None, now=NOW))
    assert jobs.do(append(JOBS, "media.fallback", stream=None, now=NOW - 9)).event.at == NOW - 9


def test_times_are_floored_to_the_columns_unit(notes: Database) -> None:
    assert notes.do(append(NOTES, "opened", stream="s", now=NOW + 999)).event.at == NOW
    assert notes.value('SELECT "when" FROM "note log"') == NOW // 1000


def test_a_once_event_is_written_once_and_keeps_its_first_value(jobs: Database) -> None:
    first = jobs.do(append_once(JOBS, "job.requested", stream="j1", now=NOW, payload={"n": 1}))
    again = jobs.do(append_once(JOBS, "job.requested", stream="j1", now=NOW + 9, at=NOW + 5, payload={"n": 2}))
    other = jobs.do(append_once(JOBS, "job.requested", stream="j2", now=NOW))
    assert (first.inserted, again.inserted, other.inserted) == (True, False, True)
    assert again.event == first.event
    assert jobs.value("SELECT count(*) FROM delivery_events") == 2


def test_a_once_event_that_history_holds_twice_is_the_first_one(jobs: Database) -> None:
    jobs.script(*(f"INSERT INTO delivery_events (id, ts, slot_id, event) VALUES ({n}, {n}, 'j1', 'job.requested')" for n in (3, 7)))
    found = jobs.do(append_once(JOBS, "job.requested", stream="j1", now=NOW))
    assert (found.inserted, found.event.id) == (False, 3)


def test_a_callback_row_goes_with_its_event(jobs: Database) -> None:
    """79: one outbox row for each event, with the event's key; repeats make no second one; the terminal event has its own."""
    url = "https://example.org/hook?a=1&b={x}"
    accepted = jobs.do(append_once(JOBS, "job.requested", stream="j1", now=NOW, payload={"callback_url": url}))
    failed, *_ = [jobs.do(append_once(JOBS, "job.outcome_failed", stream="j1", now=NOW + 1)) for _ in range(3)]
    rows = jobs.rows("SELECT kind, idempotency_key, delivery_target, status, max_attempts, next_attempt_at FROM outbox ORDER BY rowid")
    assert rows == [
        ("event_callback", f"job-event:j1:{accepted.event.event_id}", url, "pending", 8, NOW),
        ("event_callback", f"job-event:j1:{failed.event.event_id}", url, "pending", 8, NOW + 1),
    ]
    body = "SELECT payload_json ->> 'event_id', payload_json ->> 'public', payload_json ->> 'stream', payload_json ->> 'at' FROM outbox"
    assert jobs.rows(f"{body} ORDER BY rowid")[1] == (failed.event.event_id, "job.failed", "j1", NOW + 1)
    assert jobs.value("SELECT count(DISTINCT id) FROM outbox WHERE length(id) = 32") == 2


@pytest.mark.parametrize("payload", [None, {}, {"callback_url": ""}, {"callback_url": None}, {"other": "https://example.org"}])
def test_no_callback_asked_for_no_row(jobs: Database, payload: dict[str, object] | None) -> None:
    """78: without a callback the events are there, the outbox stays empty."""
    jobs.do(append_once(JOBS, "job.requested", stream="j1", now=NOW, payload=payload))
    jobs.do(append_once(JOBS, "job.outcome_failed", stream="j1", now=NOW, payload={"callback_url": "https://example.org"}))
    assert jobs.rows("SELECT * FROM outbox") == []


def test_a_start_payload_that_is_no_json_asks_for_nothing(jobs: Database) -> None:
    jobs.script(f"INSERT INTO delivery_events (ts, slot_id, event, detail) VALUES ({NOW}, 'j1', 'job.requested', '{{broken')")
    assert jobs.do(append_once(JOBS, "job.outcome_failed", stream="j1", now=NOW)).inserted
    assert jobs.rows("SELECT * FROM outbox") == []


def test_only_the_first_start_event_says_whither(jobs: Database) -> None:
    for url in ("https://first.example", "https://second.example"):
        jobs.do(append(JOBS, "job.requested", stream="j1", now=NOW, payload={"callback_url": url}))
    jobs.do(append_once(JOBS, "job.outcome_failed", stream="j1", now=NOW))
    assert jobs.rows("SELECT delivery_target FROM outbox") == [("https://first.example",)]


def test_a_hidden_once_event_tells_nobody(jobs: Database) -> None:
    jobs.do(append_once(JOBS, "job.requested", stream="j1", now=NOW, payload={"callback_url": "https://example.org"}))
    jobs.do(append_once(JOBS, "execution.summary", stream="j1", now=NOW))
    assert jobs.value("SELECT count(*) FROM outbox") == 1


def test_a_callback_row_that_cannot_be_written_takes_its_event_back(jobs: Database) -> None:
    jobs.script("CREATE TRIGGER full BEFORE INSERT ON outbox BEGIN SELECT RAISE(ABORT, 'outbox full'); END")
    with pytest.raises(Exception, match="outbox full"):
        jobs.do(append_once(JOBS, "job.requested", stream="j1", now=NOW, payload={"callback_url": "https://example.org"}))
    assert jobs.rows("SELECT * FROM delivery_events") == []


@pytest.mark.parametrize("stream", ["", "a'b\"c", "x\x00y", "日本語", "; DROP TABLE outbox --", "1"])
def test_streams_of_any_text(jobs: Database, stream: str) -> None:
    jobs.do(append_once(JOBS, "job.requested", stream=stream, now=NOW, payload={"callback_url": "u"}))
    assert not jobs.do(append_once(JOBS, "job.requested", stream=stream, now=NOW)).inserted
    assert jobs.rows("SELECT slot_id FROM delivery_events") == [(stream,)]


@pytest.mark.parametrize(
    "extra", [{"actor": "\ud800"}, {"retryable": 2**63}, {"retryable": float("nan")}, {"actor": object()}, {"actor": [1]}]
)
def test_what_no_database_can_hold_is_refused_before_anything_is_sent(jobs: Database, extra: dict[str, object]) -> None:
    with pytest.raises(PolicyError):
        jobs.do(append(JOBS, "job.requested", stream="j", now=NOW, extra=extra))  # type: ignore[arg-type]
    assert jobs.rows("SELECT * FROM delivery_events") == []


@pytest.mark.parametrize("column", ["id", "ts", "TS", "slot_id", "event", "detail"])
def test_extra_is_none_of_the_columns_that_keep_the_order(jobs: Database, column: str) -> None:
    """An id or a time of the caller's own would put the event behind a cursor that has passed."""
    jobs.do(append(JOBS, "job.progressed", stream="j", now=NOW))
    for write in (append, append_once):
        with pytest.raises(PolicyError, match=f"extra names {column}, which the log writes itself"):
            jobs.do(write(JOBS, "job.requested", stream="j", now=NOW, extra={column: 0}))
    assert jobs.value("SELECT count(*) FROM delivery_events") == 1


def test_extra_values_arrive_exactly(jobs: Database) -> None:
    extra = {"retryable": 2**63 - 1, "actor": None, "error_class": "12", "pixiv_id": b"\x00\xff", "execution_id": 1.5}
    jobs.do(append(JOBS, "job.requested", stream="j", now=NOW, extra=extra))
    columns = "CAST(retryable AS TEXT), actor, error_class, hex(pixiv_id), CAST(execution_id AS REAL)"
    assert jobs.rows(f"SELECT {columns} FROM delivery_events") == [(str(2**63 - 1), None, "12", "00FF", 1.5)]


CALLS = st.lists(st.tuples(st.sampled_from("ab"), st.booleans(), st.integers(-100_000, 100_000), st.integers(-200_000, 10**9)), max_size=12)


@pytest.mark.parametrize("connect", HERE, indirect=True)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(calls=CALLS)
def test_time_never_falls_in_a_stream_whatever_clock_and_caller_say(jobs: Database, calls: list[tuple[str, bool, int, int]]) -> None:
    jobs.script("DELETE FROM delivery_events")
    highest = {"a": 0, "b": 0}
    for stream, once, clock, at in calls:
        operation = append_once if once else append
        added = jobs.do(operation(JOBS, "job.outcome_failed" if once else "job.progressed", stream=stream, now=NOW + clock, at=NOW + at))
        if added.inserted:
            assert added.event.at == max(min(NOW + at, NOW + clock + JOBS.skew), highest[stream])
            highest[stream] = added.event.at
    for stream in "ab":
        times = [at for (at,) in jobs.rows("SELECT ts FROM delivery_events WHERE slot_id = ?1 ORDER BY id", stream)]
        assert times == sorted(times)

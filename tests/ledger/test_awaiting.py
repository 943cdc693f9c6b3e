from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retention.errors import PolicyError
from retention.ledger.append import append, append_once
from retention.ledger.awaiting import START, Awaiting, Mark, awaiting
from tests.ledger.conftest import HERE
from tests.ledger.databases import JOBS, NOTES, NOW, TERMINAL, Database

ASKED = {"callback_url": "https://example.org/hook"}


def request(jobs: Database, stream: str | None, payload: dict[str, object] | None = None) -> int:
    return jobs.do(append(JOBS, "job.requested", stream=stream, now=NOW, payload=ASKED if payload is None else payload)).event.id


def test_open_streams_oldest_first(jobs: Database) -> None:
    for stream in "abcd":
        request(jobs, stream)
    request(jobs, "silent", {})
    request(jobs, "blank", {"callback_url": ""})
    request(jobs, None)
    jobs.script(f"INSERT INTO delivery_events (ts, slot_id, event, detail) VALUES ({NOW}, 'broken', 'job.requested', '{{')")
    jobs.do(append_once(JOBS, TERMINAL[1], stream="b", now=NOW))
    jobs.do(append_once(JOBS, "job.execution_started", stream="c", now=NOW))
    page = jobs.do(awaiting(JOBS))
    assert (page.streams, page.wrapped) == (("a", "c", "d"), True)


def test_a_stream_that_asked_twice_is_named_once(jobs: Database) -> None:
    request(jobs, "a")
    request(jobs, "a")
    assert jobs.do(awaiting(JOBS)).streams == ("a",)


def test_the_oldest_never_starve(jobs: Database) -> None:
    """Sixty open jobs and a limit of fifty: every one is looked at within two calls, again and again."""
    for n in range(60):
        request(jobs, f"j{n:02}")
    mark, seen = START, list[str]()
    for _ in range(4):
        page = jobs.do(awaiting(JOBS, mark, limit=50))
        mark, seen = page.next, seen + list(page.streams)
    assert seen == [f"j{n:02}" for n in range(60)] * 2


def test_the_low_water_mark_passes_what_has_ended(jobs: Database) -> None:
    ids = [request(jobs, stream) for stream in "abcde"]
    for stream in "abd":
        jobs.do(append_once(JOBS, TERMINAL[0], stream=stream, now=NOW))
    page = jobs.do(awaiting(JOBS))
    assert page == Awaiting(("c", "e"), Mark(ids[1], ids[1]), True)
    assert jobs.do(awaiting(JOBS, page.next)).streams == ("c", "e")


def test_the_low_water_mark_stays_below_an_open_stream_of_an_earlier_page(jobs: Database) -> None:
    ids = [request(jobs, stream) for stream in "abc"]
    jobs.do(append_once(JOBS, TERMINAL[0], stream="b", now=NOW))
    first = jobs.do(awaiting(JOBS, limit=1))
    second = jobs.do(awaiting(JOBS, first.next, limit=1))
    assert (first.next, second.next) == (Mark(0, ids[0]), Mark(0, ids[1]))


def test_a_log_that_does_not_say_what_ends_a_stream(notes: Database) -> None:
    with pytest.raises(PolicyError, match="callback"):
        notes.do(awaiting(NOTES))


EVENTS = st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["ask", "silent", "end", "sweep"])), max_size=25)


@pytest.mark.parametrize("connect", HERE, indirect=True)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(events=EVENTS, limit=st.integers(1, 4))
def test_whatever_happens_in_between_every_open_stream_is_found(jobs: Database, events: list[tuple[int, str]], limit: int) -> None:
    jobs.script("DELETE FROM delivery_events")
    mark, open_streams, ended = START, set[str](), set[str]()
    for stream, what in [(f"j{n}", what) for n, what in events]:
        match what:
            case "ask":
                request(jobs, stream)
                open_streams |= {stream} - ended
            case "silent":
                request(jobs, stream, {})
            case "end":
                jobs.do(append_once(JOBS, TERMINAL[0], stream=stream, now=NOW))
                ended |= {stream}
                open_streams -= {stream}
            case _:
                page = jobs.do(awaiting(JOBS, mark, limit=limit))
                assert set(page.streams) <= open_streams
                mark = page.next
    found, wraps = set[str](), 0
    while wraps < 2:
        page = jobs.do(awaiting(JOBS, mark, limit=limit))
        mark, found, wraps = page.next, found | set(page.streams), wraps + page.wrapped
    assert found == open_streams

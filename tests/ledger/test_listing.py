"""Reading and acking. Numbers in docstrings are cases of the ledger's own catalogue."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retention.errors import PolicyError
from retention.ledger.append import append, append_once
from retention.ledger.cursors import ack
from retention.ledger.listing import Counts, counts, list_after
from retention.ledger.sql import clamp
from tests.ledger.conftest import HERE
from tests.ledger.databases import HIDDEN, JOBS, NOTES, NOW, PUBLIC, Database


def started(jobs: Database, stream: str = "j1") -> tuple[int, int]:
    """A job that runs: the ids of `requested` and `started`, with telemetry between and after them."""
    first = jobs.do(append_once(JOBS, "job.requested", stream=stream, now=NOW)).event
    jobs.do(append(JOBS, "outbox.claimed", stream=stream, now=NOW + 1))
    second = jobs.do(append_once(JOBS, "job.execution_started", stream=stream, now=NOW + 2)).event
    jobs.do(append(JOBS, "execution.summary", stream=stream, now=NOW + 3))
    return first.id, second.id


def kinds(page: Any) -> list[str | None]:
    return [event.public for event in page.events]


def test_a_new_job(jobs: Database) -> None:
    """64: one accepted event, nothing acked, no more pages."""
    event = jobs.do(append_once(JOBS, "job.requested", stream="j1", now=NOW)).event
    page = jobs.do(list_after(JOBS, "j1"))
    assert (kinds(page), page.next, page.gap) == (["job.accepted"], None, False)
    assert page.events == (event,)
    assert jobs.do(counts(JOBS, "j1")) == Counts(total=1, acked=0, unacked=1, unknown=0, position=0)


def test_a_stream_that_is_not_there_is_empty(jobs: Database) -> None:
    assert jobs.do(list_after(JOBS, "none")).events == ()
    assert jobs.do(counts(JOBS, "none")) == Counts(0, 0, 0, 0, 0)


def test_a_running_job_after_a_place(jobs: Database) -> None:
    """67: in order; after the first only the second; the count of unacked goes by the cursor, not by the place asked for."""
    first, _ = started(jobs)
    page = jobs.do(list_after(JOBS, "j1"))
    assert kinds(page) == ["job.accepted", "job.started"]
    assert [e.at for e in page.events] == sorted(e.at for e in page.events)
    assert kinds(jobs.do(list_after(JOBS, "j1", first))) == ["job.started"]
    assert kinds(jobs.do(list_after(JOBS, "j1", page.events[0].event_id))) == ["job.started"]
    assert jobs.do(counts(JOBS, "j1")).unacked == 2


def test_acking_the_last(jobs: Database) -> None:
    """68: all acked; a replay is the same; from the cursor nothing is left; a full read still has both."""
    _, last = started(jobs)
    acked = jobs.do(ack(JOBS, "j1", last, now=NOW + 9))
    again = jobs.do(ack(JOBS, "j1", last, now=NOW + 99))
    assert (acked.moved, acked.counts.acked, acked.counts.unacked) == (True, 2, 0)
    assert (again.moved, again.counts) == (False, acked.counts)
    assert jobs.do(list_after(JOBS, "j1", None)).events == ()
    assert len(jobs.do(list_after(JOBS, "j1")).events) == 2
    assert jobs.rows("SELECT * FROM job_event_cursors") == [("j1", NOW + 2, last, NOW + 9)]


@pytest.mark.parametrize(
    "through", [99999999999, 2**63 - 1, -1, 0, "evt-99999999999-999999", "evt-1-9999999999999999999", "", "x", "evt-1-1"]
)
def test_acking_an_unknown_event_moves_nothing(jobs: Database, through: int | str) -> None:
    """69, and the second half of 71: `evt-1-1` names an event by its id but not by its time."""
    started(jobs)
    acked = jobs.do(ack(JOBS, "j1", through, now=NOW))
    assert (acked.moved, acked.counts.acked, acked.counts.unacked) == (False, 0, 2)
    assert jobs.rows("SELECT * FROM job_event_cursors") == []


def test_acking_a_hidden_event_moves_nothing(jobs: Database) -> None:
    """70."""
    started(jobs)
    hidden = jobs.value("SELECT id FROM delivery_events WHERE event = 'execution.summary'")
    assert jobs.do(ack(JOBS, "j1", hidden, now=NOW)).counts.acked == 0


def test_acking_an_event_of_another_stream_moves_nothing(jobs: Database) -> None:
    started(jobs)
    _, foreign = started(jobs, "j2")
    assert not jobs.do(ack(JOBS, "j1", foreign, now=NOW)).moved


def test_a_cursor_never_moves_back(jobs: Database) -> None:
    """71: the second, then the first: two stay acked."""
    first, second = started(jobs)
    jobs.do(ack(JOBS, "j1", second, now=NOW))
    acked = jobs.do(ack(JOBS, "j1", first, now=NOW))
    assert (acked.moved, acked.counts.acked, acked.counts.unacked, acked.counts.position) == (False, 2, 0, second)


def test_acking_leaves_the_log_alone(jobs: Database) -> None:
    """73."""
    _, last = started(jobs)
    before = jobs.rows("SELECT * FROM delivery_events")
    jobs.do(ack(JOBS, "j1", last, now=NOW))
    assert jobs.rows("SELECT * FROM delivery_events") == before


@pytest.mark.parametrize(("outcome", "shown"), [(k, v) for k, v in PUBLIC.items() if k.startswith("job.outcome")])
def test_an_ended_job(jobs: Database, outcome: str, shown: str) -> None:
    """74 to 77: the terminal event is last, and is still listed when all is acked."""
    started(jobs)
    jobs.do(append_once(JOBS, outcome, stream="j1", now=NOW + 4))
    page = jobs.do(list_after(JOBS, "j1"))
    assert kinds(page) == ["job.accepted", "job.started", shown]
    jobs.do(ack(JOBS, "j1", page.events[-1].id, now=NOW + 5))
    assert jobs.do(list_after(JOBS, "j1")) == page


def test_every_kind_is_mapped_and_an_unknown_one_is_dropped_and_counted(jobs: Database) -> None:
    """83: seventeen kinds, seven of them public."""
    for kind in (*PUBLIC, *HIDDEN, "brand.new"):
        jobs.do(append(JOBS, kind, stream="j1", now=NOW))
    assert kinds(jobs.do(list_after(JOBS, "j1"))) == list(PUBLIC.values())
    assert (len(PUBLIC) + len(HIDDEN), len(PUBLIC)) == (17, 7)
    found = jobs.do(counts(JOBS, "j1"))
    assert (found.total, found.unknown) == (7, 1)


def test_without_public_kinds_nothing_is_asked(jobs: Database) -> None:
    engine = list_after(JOBS.model_copy(update={"public": {}, "callback": None}), "j1")
    with pytest.raises(StopIteration) as stop:
        next(engine)
    assert stop.value.value.events == ()


def test_pages(jobs: Database) -> None:
    ids = [jobs.do(append(JOBS, "job.progressed", stream="j1", now=NOW)).event.id for _ in range(7)]
    seen, place = [], 0
    while place is not None:
        page = jobs.do(list_after(JOBS, "j1", place, limit=3))
        seen.append([e.id for e in page.events])
        place = page.next
    assert seen == [ids[:3], ids[3:6], ids[6:]]
    assert jobs.do(list_after(JOBS, "j1", limit=7)).next is None


@pytest.mark.parametrize(
    ("limit", "size"), [(1, 1), (0, 1), (-5, 1), (2.9, 2), (500, 500), (501, 500), (1e300, 500)]
    + [(x, 200) for x in (None, True, "7", float("nan"), float("inf"), -float("inf"))],
)  # fmt: skip
def test_a_limit_is_cut_to_1_to_500_and_what_is_no_number_is_the_default(limit: object, size: int) -> None:
    assert clamp(limit, 200) == size


@pytest.mark.parametrize("after", ["", "evt-1-1", "evt-1-9999999999999999999", "garbage"])
def test_a_place_that_names_no_event_starts_over_and_says_so(jobs: Database, after: str) -> None:
    started(jobs)
    page = jobs.do(list_after(JOBS, "j1", after))
    assert (len(page.events), page.gap) == (2, True)


def test_a_place_below_the_oldest_kept_event_is_a_gap(jobs: Database) -> None:
    first, second = started(jobs)
    assert not jobs.do(list_after(JOBS, "j1", first)).gap
    jobs.script(f"DELETE FROM delivery_events WHERE id = {first}")
    assert jobs.do(list_after(JOBS, "j1", first)).gap
    assert not jobs.do(list_after(JOBS, "j1", 0)).gap
    assert not jobs.do(list_after(JOBS, "j1", second)).gap


def test_a_cursor_below_the_oldest_kept_event_is_a_gap(jobs: Database) -> None:
    first, _ = started(jobs)
    jobs.do(ack(JOBS, "j1", first, now=NOW))
    assert not jobs.do(list_after(JOBS, "j1", None)).gap
    jobs.script(f"DELETE FROM delivery_events WHERE id = {first}")
    page = jobs.do(list_after(JOBS, "j1", None))
    assert (kinds(page), page.gap) == (["job.started"], True)


def test_each_consumer_has_cursors_of_its_own(notes: Database) -> None:
    ids = [notes.do(append(NOTES, "edited", stream="s", now=NOW)).event.id for _ in range(3)]
    notes.do(ack(NOTES, "s", ids[1], now=NOW, consumer="anna"))
    notes.do(ack(NOTES, "s", ids[2], now=NOW, consumer="bert"))
    found = {who: notes.do(counts(NOTES, "s", consumer=who)) for who in ("anna", "bert", "carl")}
    assert {who: (c.acked, c.unacked, c.position) for who, c in found.items()} == {
        "anna": (2, 1, ids[1]),
        "bert": (3, 0, ids[2]),
        "carl": (0, 3, 0),
    }
    assert [e.id for e in notes.do(list_after(NOTES, "s", None, consumer="anna")).events] == ids[2:]


def test_a_consumer_must_be_named_exactly_where_the_cursors_name_them(jobs: Database) -> None:
    for engine in (ack(JOBS, "s", 1, now=NOW, consumer="anna"), counts(JOBS, "s", consumer="anna"), ack(NOTES, "s", 1, now=NOW)):
        with pytest.raises(PolicyError, match="consumer"):
            jobs.do(engine)
    with pytest.raises(PolicyError, match="no cursors"):
        jobs.do(ack(JOBS.model_copy(update={"cursors": None}), "s", 1, now=NOW))


def test_a_log_without_cursors_still_counts(jobs: Database) -> None:
    started(jobs)
    assert jobs.do(counts(JOBS.model_copy(update={"cursors": None}), "j1")).unacked == 2


@pytest.mark.parametrize("connect", HERE, indirect=True)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acks=st.lists(st.integers(-1, 9), max_size=8))
def test_a_cursor_is_the_largest_event_acked(notes: Database, acks: list[int]) -> None:
    notes.script('DELETE FROM "note log"', "DELETE FROM readers")
    ids = [notes.do(append(NOTES, "edited", stream="s" if n % 2 else "t", now=NOW)).event.id for n in range(8)]
    base, own = ids[0], set(ids[1::2])
    expected = 0
    for offset in acks:
        through = base + offset
        moved = notes.do(ack(NOTES, "s", through, now=NOW, consumer="anna"))
        assert moved.moved == (through in own and through > expected)
        expected = max(expected, through) if through in own else expected
        assert moved.counts.position == expected
        assert moved.counts.unacked == sum(1 for i in own if i > expected)

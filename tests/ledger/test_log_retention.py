from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retention.ledger.append import append, append_once
from retention.ledger.cursors import ack
from retention.ledger.listing import list_after
from retention.ledger.log import STOPPED
from retention.ledger.log_retention import Place, Pruned, prune
from retention.policy.ledger_models import Events
from tests.ledger.conftest import HERE
from tests.ledger.databases import JOBS, NOTES, NOW, Database

DAY = 86_400_000
KEPT = JOBS.model_copy(update={"keep": 30 * DAY})


def ids(database: Database, log: Events) -> list[int]:
    return [key for (key,) in database.rows(f'SELECT "{log.id}" FROM "{log.table}" ORDER BY 1')]


def drain(database: Database, log: Events, *, now: int = NOW, rows: int = 1_000) -> Pruned:
    return database.do(prune(log, Place(), now=now, rows=rows, pages=1_000))


def edit(notes: Database, stream: str | None, days: int, kind: str = "edited") -> int:
    """An event that many days before NOW."""
    return notes.do(append(NOTES, kind, stream=stream, now=NOW - days * DAY)).event.id


def test_what_all_have_acked_goes_but_for_the_event_at_the_cursor(notes: Database) -> None:
    first, second, third = (edit(notes, "s", days) for days in (40, 39, 38))
    notes.do(ack(NOTES, "s", second, now=NOW, consumer="anna"))
    notes.do(ack(NOTES, "s", third, now=NOW, consumer="bert"))
    pruned = drain(notes, NOTES)
    assert (pruned.deleted, pruned.stopped, pruned.finished) == (1, (), True)
    assert ids(notes, NOTES) == [second, third]
    assert first not in ids(notes, NOTES)
    assert not notes.do(list_after(NOTES, "s", None, consumer="anna")).gap


def test_an_event_exactly_as_old_as_the_keep_stays(notes: Database) -> None:
    with_no_readers = NOTES.model_copy(update={"cursors": None, "stopped_after": None})
    kept = edit(notes, "s", 30)
    assert drain(notes, with_no_readers).deleted == 0
    assert drain(notes, with_no_readers, now=NOW + 1_000).deleted == 1
    assert kept not in ids(notes, NOTES)


def test_a_live_consumer_without_a_cursor_in_the_stream_counts_as_zero(notes: Database) -> None:
    unread = edit(notes, "s", 40)
    elsewhere = edit(notes, "t", 0)
    notes.do(ack(NOTES, "t", elsewhere, now=NOW, consumer="anna"))
    assert drain(notes, NOTES).deleted == 0
    assert unread in ids(notes, NOTES)


def test_a_listed_consumer_counts_before_its_first_ack(notes: Database) -> None:
    edit(notes, "s", 40)
    patient = NOTES.model_copy(update={"consumers": ("carl",), "stopped_after": 100 * DAY})
    assert drain(notes, patient).deleted == 0
    assert drain(notes, NOTES).deleted == 1


@pytest.mark.parametrize("position", ["'far'", "x'ff'", "1e300"])
def test_a_cursor_that_is_no_whole_number_counts_as_zero(notes: Database, position: str) -> None:
    edit(notes, "s", 40)
    notes.script(f"INSERT INTO readers VALUES ('anna', 's', {position}, {NOW // 1000})")
    assert drain(notes, NOTES).deleted == 0


@pytest.mark.parametrize(("moved", "deleted"), [("NULL", 0), ("'soon'", 0), ("0", 1)])
def test_a_place_of_which_nobody_knows_when_it_moved_is_a_live_consumers(notes: Database, moved: str, deleted: int) -> None:
    """A column that was added later is NULL in the old rows."""
    edit(notes, "s", 40)
    notes.script(f"INSERT INTO readers VALUES ('anna', 't', 1, {moved})")
    assert drain(notes, NOTES).deleted == deleted


def test_a_log_with_no_reader_at_all_goes_by_age(notes: Database) -> None:
    edit(notes, "s", 40)
    assert drain(notes, NOTES).deleted == 1


def test_a_once_event_never_goes(notes: Database) -> None:
    notes.do(append_once(NOTES, "opened", stream="s", now=NOW - 400 * DAY))
    assert drain(notes, NOTES).deleted == 0


def test_an_event_without_a_stream_goes_by_age(notes: Database) -> None:
    """Nobody can ack it."""
    edit(notes, None, 40)
    notes.do(ack(NOTES, "t", edit(notes, "t", 0), now=NOW, consumer="anna"))
    assert drain(notes, NOTES).deleted == 1


@pytest.mark.parametrize("at", ["'2020-01-01 00:00:00'", "NULL", "x'00'", "''"])
def test_an_event_whose_time_is_no_number_stays(notes: Database, at: str) -> None:
    notes.script(f"""INSERT INTO "note log" ("of", what, "when") VALUES ('s', 'edited', {at})""")
    assert drain(notes, NOTES).deleted == 0


def test_hidden_events_need_nobodys_ack(jobs: Database) -> None:
    for kind in ("outbox.claimed", "job.progressed", "brand.new"):
        jobs.do(append(JOBS, kind, stream="j", now=NOW - 40 * DAY))
    assert drain(jobs, KEPT).deleted == 2
    assert jobs.rows("SELECT event FROM delivery_events") == [("job.progressed",)]


def test_a_cursor_table_without_consumers_has_one_which_counts_before_its_first_ack(jobs: Database) -> None:
    first = jobs.do(append(JOBS, "job.progressed", stream="j", now=NOW - 40 * DAY)).event
    last = jobs.do(append(JOBS, "job.progressed", stream="j", now=NOW - 40 * DAY)).event
    assert drain(jobs, KEPT).deleted == 0
    jobs.do(ack(JOBS, "j", last.id, now=NOW - 40 * DAY))
    assert drain(jobs, KEPT).deleted == 1
    assert ids(jobs, JOBS) == [last.id]
    assert first.id != last.id


def test_a_consumer_that_stopped_is_given_up_and_the_log_says_so(notes: Database) -> None:
    read, unread = edit(notes, "s", 50), edit(notes, "s", 45)
    notes.do(ack(NOTES, "s", read, now=NOW - 44 * DAY, consumer="anna"))
    pruned = drain(notes, NOTES)
    assert (pruned.deleted, pruned.stopped) == (1, ("consumer:anna",))
    assert unread not in ids(notes, NOTES)
    (said,) = notes.rows('SELECT "of", "when", body FROM "note log" WHERE what = ?1', STOPPED)
    assert said == ("consumer:anna", NOW // 1000, f'{{"consumer":"anna","stopped_after_ms":{14 * DAY}}}')
    assert notes.do(list_after(NOTES, "s", None, consumer="anna")).gap
    later = edit(notes, "s", 40)
    again = drain(notes, NOTES)
    assert (again.deleted, again.stopped) == (1, ())
    assert later not in ids(notes, NOTES)


def test_what_says_that_a_consumer_was_given_up_stays(notes: Database) -> None:
    """Else a consumer that comes back after long would not learn what it missed."""
    read = edit(notes, "s", 50)
    edit(notes, "s", 45)
    notes.do(ack(NOTES, "s", read, now=NOW - 44 * DAY, consumer="anna"))
    assert drain(notes, NOTES).stopped == ("consumer:anna",)
    assert drain(notes, NOTES, now=NOW + 100 * DAY).deleted == 0
    assert notes.value('SELECT count(*) FROM "note log" WHERE what = ?1', STOPPED) == 1


def test_a_quiet_consumer_that_has_acked_everything_is_not_given_up(notes: Database) -> None:
    first, last = edit(notes, "s", 50), edit(notes, "s", 45)
    notes.do(ack(NOTES, "s", last, now=NOW - 44 * DAY, consumer="anna"))
    pruned = drain(notes, NOTES)
    assert (pruned.deleted, pruned.stopped) == (1, ())
    assert ids(notes, NOTES) == [last]
    assert first != last


def test_the_gap_of_a_consumer_that_was_given_up_ends_with_its_next_ack(notes: Database) -> None:
    read, _ = edit(notes, "s", 50), edit(notes, "s", 45)
    notes.do(ack(NOTES, "s", read, now=NOW - 44 * DAY, consumer="anna"))
    drain(notes, NOTES)
    new = edit(notes, "s", 0)
    assert notes.do(list_after(NOTES, "s", None, consumer="anna")).gap
    notes.do(ack(NOTES, "s", new, now=NOW, consumer="anna"))
    assert not notes.do(list_after(NOTES, "s", None, consumer="anna")).gap
    assert not notes.do(list_after(NOTES, "s", None, consumer="bert")).gap


def test_a_consumer_that_moved_any_cursor_is_not_given_up(notes: Database) -> None:
    edit(notes, "s", 45)
    notes.do(ack(NOTES, "t", edit(notes, "t", 20), now=NOW - 14 * DAY, consumer="anna"))
    pruned = drain(notes, NOTES)
    assert (pruned.deleted, pruned.stopped) == (0, ())


def test_a_consumer_that_comes_back_protects_again_and_is_given_up_again(notes: Database) -> None:
    first, second, third = (edit(notes, "s", days) for days in (60, 58, 56))
    notes.do(ack(NOTES, "s", first, now=NOW - 55 * DAY, consumer="anna"))
    later = NOW + 100 * DAY
    assert drain(notes, NOTES, now=NOW - 27 * DAY).stopped == ("consumer:anna",)
    assert ids(notes, NOTES)[:2] == [first, third]
    assert second not in ids(notes, NOTES)
    notes.do(ack(NOTES, "s", third, now=NOW - 26 * DAY, consumer="anna"))
    newest = edit(notes, "s", 25)
    assert drain(notes, NOTES, now=NOW - 20 * DAY).stopped == ()
    assert drain(notes, NOTES, now=later).stopped == ("consumer:anna",)
    assert newest not in ids(notes, NOTES)


def test_an_unacked_event_younger_than_the_patience_stays_whatever_the_keep(notes: Database) -> None:
    short = NOTES.model_copy(update={"keep": 1 * DAY})
    old, young = edit(notes, "s", 60), edit(notes, "s", 10)
    notes.do(ack(NOTES, "t", edit(notes, "t", 50), now=NOW - 50 * DAY, consumer="anna"))
    drain(notes, short)
    assert old not in ids(notes, NOTES)
    assert young in ids(notes, NOTES)


def test_without_patience_nobody_is_given_up(notes: Database) -> None:
    edit(notes, "s", 400)
    notes.do(ack(NOTES, "t", edit(notes, "t", 399), now=NOW - 399 * DAY, consumer="anna"))
    assert drain(notes, NOTES.model_copy(update={"stopped_after": None})).deleted == 0


def test_the_page_is_bounded_and_the_traversal_finite(notes: Database) -> None:
    for _ in range(25):
        edit(notes, "s", 40)
    first = notes.do(prune(NOTES, Place(), now=NOW, rows=10))
    assert (first.scanned, first.deleted, first.finished) == (10, 10, False)
    edit(notes, "s", 39)
    rest = notes.do(prune(NOTES, first.next, now=NOW, rows=10, pages=50))
    assert (rest.scanned, rest.deleted, rest.finished, rest.next) == (15, 15, True, Place())
    assert len(ids(notes, NOTES)) == 1


def test_a_page_without_old_events_is_not_written(notes: Database) -> None:
    edit(notes, "s", 1)
    engine = prune(NOTES, Place(), now=NOW)
    step = next(engine)
    with pytest.raises(StopIteration):
        engine.send(list(notes.host.execute(step)))  # type: ignore[arg-type]


def test_a_keep_for_ever_asks_nothing(notes: Database) -> None:
    with pytest.raises(StopIteration) as stop:
        next(prune(NOTES.model_copy(update={"keep": "forever"}), Place(), now=NOW))
    assert stop.value.value.finished


@dataclass
class Model:
    """What retention may delete, by the rules as they are written down."""

    at: dict[int, int] = field(default_factory=dict)
    stream: dict[int, str] = field(default_factory=dict)
    position: dict[tuple[str, str], int] = field(default_factory=dict)
    moved: dict[str, int] = field(default_factory=dict)

    def protected(self, key: int, now: int) -> bool:
        for who in self.moved:
            position = self.position.get((who, self.stream[key]), 0)
            unacked = [k for k in self.at if k > self.position.get((who, self.stream[k]), 0)]
            live = not (any(self.at[k] < now - 14 * DAY for k in unacked) and self.moved[who] < now - 14 * DAY)
            if key > position and live:
                return True
        return False


ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(["append", "ack", "prune"]), st.sampled_from("st"), st.sampled_from("ab"), st.integers(0, 20), st.integers(0, 9)
    ),
    max_size=30,
)


@pytest.mark.parametrize("connect", HERE, indirect=True)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(actions=ACTIONS, rows=st.integers(1, 5))
def test_no_event_that_a_live_consumer_has_not_acked_ever_goes(
    notes: Database, actions: list[tuple[str, str, str, int, int]], rows: int
) -> None:
    notes.script('DELETE FROM "note log"', "DELETE FROM readers")
    model, now = Model(), NOW
    for what, stream, who, days, choice in actions:
        now += days * DAY
        match what:
            case "append":
                event = notes.do(append(NOTES, "edited", stream=stream, now=now)).event
                model.at[event.id], model.stream[event.id] = event.at, stream
            case "ack":
                own = [k for k, s in model.stream.items() if s == stream]
                if own and notes.do(ack(NOTES, stream, own[choice % len(own)], now=now, consumer=who)).moved:
                    model.position[who, stream], model.moved[who] = own[choice % len(own)], now
            case _:
                before = set(model.at)
                drain(notes, NOTES, now=now, rows=rows)
                gone = before - set(ids(notes, NOTES))
                assert not any(model.protected(key, now) for key in gone)
                assert all(model.at[key] < now - 30 * DAY for key in gone)
                assert not gone & set(model.position.values())
                passed = {k for k in before if all(model.position.get((who, model.stream[k]), 0) > k for who in model.moved)}
                assert {k for k in passed if model.at[k] < now - 30 * DAY} <= gone
                model.at = {k: at for k, at in model.at.items() if k not in gone}
                model.stream = {k: s for k, s in model.stream.items() if k not in gone}

"""Every part of [events] is optional: whatever is left out, each operation works or says what it lacks."""

from __future__ import annotations

from typing import Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import retention
from retention.errors import PolicyError
from retention.events import Log
from retention.hosts.base import Host
from retention.hosts.sqlite import SQLite
from retention.hosts.sqlite_like_d1 import limited_like_d1
from retention.ledger.cursors import ack
from retention.ledger.listing import counts, list_after
from retention.policy.load import from_dict
from tests.ledger.databases import JOBS, NOW, Database

FIELDS = "{stream}|{kind}|{public}|{id}|{at}|{event_id}|{target}|{now}"

OPTIONS = {
    "payload": st.sampled_from([None, "body"]),
    "public": st.sampled_from([None, {}, {"start": "Start", "end": "End"}]),
    "hidden": st.sampled_from([(), ("noise",)]),
    "once": st.sampled_from([(), ("start", "end")]),
    "keep": st.sampled_from(["forever", "30d"]),
    "stopped_after": st.sampled_from([None, "14d"]),
    "cursors": st.sampled_from([None, {}, {"consumer": "who"}]),
    "at": st.sampled_from([None, "unix_s"]),
    "moved": st.sampled_from([None, "unix_ms"]),
    "callback": st.sampled_from([None, {}, {"table": "box", "columns": {"id": "{uuid}", "said": FIELDS, "event": "{event}", "n": 5}}]),
    "form": st.sampled_from(["unix_ms", "unix_s", "utc_text"]),
}


def events(o: dict[str, Any]) -> dict[str, Any]:
    """[events] as the options say, without what is left out."""
    stamps = {part: {"column": f"c_{part}", "format": o[part]} for part in ("at", "moved") if o[part]}
    cursors = None if o["cursors"] is None else {"table": "places", "stream": "s", "position": "pos", **stamps, **o["cursors"]}
    callback = None if o["callback"] is None else {"start": "start", "target": "url", "terminal": ["end"], **o["callback"]}
    said = {key: o[key] for key in ("payload", "public", "hidden", "once", "keep", "stopped_after")}
    said |= {"cursors": cursors, "callback": callback, "consumers": ["b"] if o["cursors"] else []}
    return {"table": "log", "stream": "s", "kind": "k", "at": {"column": "ts", "format": o["form"]}} | {
        key: value for key, value in said.items() if value is not None and value != () and value != []
    }


def database(o: dict[str, Any]) -> apsw.Connection:
    con = apsw.Connection("")
    who = "who, " if o["cursors"] else ""
    time = "TEXT" if o["form"] == "utc_text" else "INTEGER"
    con.execute(
        f"CREATE TABLE log (id INTEGER PRIMARY KEY AUTOINCREMENT, s TEXT, k TEXT, ts {time}, body);"
        "CREATE INDEX log_ts ON log (s, ts); CREATE INDEX log_k ON log (s, k); CREATE INDEX log_s ON log (s);"
        f"CREATE TABLE places ({who} s TEXT, pos INTEGER, c_at INTEGER, c_moved INTEGER, PRIMARY KEY ({who} s));"
        "CREATE INDEX places_s ON places (s); CREATE TABLE box (id, said, event, n);"
        "CREATE TABLE work (id TEXT PRIMARY KEY, state TEXT, at INTEGER); INSERT INTO work VALUES ('a', 'off', 1), ('b', 'on', 1)"
    )
    return con


@pytest.mark.parametrize("connect", [SQLite, limited_like_d1])
@settings(max_examples=60, deadline=None)
@given(st.fixed_dictionaries(OPTIONS))
def test_each_operation_works_whatever_is_left_out(connect: type[SQLite], o: dict[str, Any]) -> None:
    """A log with one consumer and no public kinds bound a value that its statements had no place for: each ack failed."""
    age = {"column": "at", "format": "unix_ms"}
    sweep = {"name": "w", "table": "work", "where": "state = 'on'", "age": age, "timeout": "1h", "set": {"state": "off"}}
    said = {
        "events": events(o),
        "sweeps": [sweep | {"event": {"kind": "end", "once": bool(o["once"])}}],
        "closures": [{"table": "work", "keep": "1h", "age": age, "terminal": "state = 'off'", "acked": o["cursors"] is not None}],
    }
    try:
        policy = from_dict(said)
    except PolicyError:
        return
    host: Host = connect(database(o))
    log, who = Log(host, policy, clock=lambda: NOW), {"consumer": "z"} if o["cursors"] else {}
    asked = {"url": "https://example.org"} if o["payload"] else None
    sees = o["public"] is None or bool(o["public"])
    first = log.append_once("start", stream="a", payload=asked)
    assert (first.inserted, log.append_once("start", stream="a").event) == (True, first.event)
    log.append("noise", stream="a")
    last = log.append_once("end", stream="a").event
    assert [event.id for event in log.list_after("a", 0).events if event.kind != "noise"] == ([1, 3] if sees else [])
    assert {event.id for event in log.list_after("a", first.event.event_id).events} >= ({3} if sees else set())
    if o["cursors"] is not None:
        assert log.counts("a", **who).acked == 0
        acked = log.ack("a", last.event_id, **who)
        assert (acked.moved, acked.counts.position, acked.counts.unacked) == ((True, 3, 0) if sees else (False, 0, 0))
        assert not log.ack("a", 1, **who).moved
        assert log.list_after("a", None, **who).events == ()
    if o["callback"] is not None:
        assert log.awaiting().streams == ()
        boxes = host.execute(retention.steps.Batch((retention.steps.Statement("SELECT said FROM box WHERE event IS NOT NULL"),)))[0].rows
        assert len(boxes) == (2 if o["callback"] and sees else 0)
    log.prune()
    assert retention.plan(host, policy, now=NOW).further
    assert retention.sweep(host, policy, now=NOW).sweeps[0].ended == 1
    ran = retention.run(host, policy, now=NOW)
    assert ran.outcome in ("done", "more"), ran.warnings
    assert log.advice() is not None


@pytest.mark.parametrize("place", [None, 0, -3, "'soon'", "''", "x'ff'", 2.5])
def test_a_cursor_that_stands_nowhere_counts_as_none_and_the_next_ack_moves_it(jobs: Database, place: object) -> None:
    """An ack compared itself with a text or a NULL, which no number is larger than: the reader stood still for ever."""
    jobs.script("DROP TABLE job_event_cursors")
    jobs.script("CREATE TABLE job_event_cursors (job_id TEXT PRIMARY KEY, acked_at INTEGER, acked_row_id, updated_at INTEGER)")
    jobs.script(*("INSERT INTO delivery_events (slot_id, event, ts) VALUES ('j', 'job.progressed', 1)" for _ in range(3)))
    jobs.script(f"INSERT INTO job_event_cursors VALUES ('j', 1, {'NULL' if place is None else place}, 1)")
    assert [event.id for event in jobs.do(list_after(JOBS, "j", None)).events] == [1, 2, 3]
    assert jobs.do(counts(JOBS, "j")).unacked == 3
    acked = jobs.do(ack(JOBS, "j", 2, now=NOW))
    assert (acked.moved, acked.counts.position, acked.counts.unacked) == (True, 2, 1)

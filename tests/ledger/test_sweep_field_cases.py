"""Faults that were reported about other sweeps, each as a small table."""

from __future__ import annotations

import apsw

import retention

NOW_S = 1_769_860_800

WORK = """
CREATE TABLE cl (id INTEGER PRIMARY KEY, state TEXT, claimed_at INTEGER, beat_at INTEGER);
INSERT INTO cl VALUES (1, 'running', 1769850000, NULL), (2, 'running', 1769860700, NULL), (3, 'running', 1769850000, 1769860790),
  (4, 'queued', NULL, NULL), (5, 'running', NULL, NULL);
"""
STALE = """
[[sweeps]]
name    = "stale"
table   = "cl"
where   = "state = 'running'"
age     = { column = ["beat_at", "claimed_at"], format = "unix_s" }
timeout = "30m"
set     = { state = "stale" }
"""


def test_claimed_but_never_sent_a_heartbeat() -> None:
    """NULL never compares as old, and slow is not dead: a fresh beat outweighs an old claim; a row without any time is reported."""
    db = apsw.Connection(":memory:")
    db.execute(WORK)
    receipt = retention.sweep(db, STALE, now=NOW_S * 1000).sweeps[0]
    assert db.execute("SELECT id FROM cl WHERE state = 'stale'").fetchall() == [(1,)]
    assert (receipt.ended, receipt.undated) == (1, 1)
    assert retention.sweep(db, STALE, now=NOW_S * 1000).sweeps[0].ended == 0
    db.execute("UPDATE cl SET beat_at = ? WHERE id = 1", (NOW_S,))
    retention.sweep(db, STALE, now=NOW_S * 1000)
    assert db.execute("SELECT state FROM cl WHERE id = 1").get == "stale", "a late beat revives nothing by itself"


MISSES = """
[[sweeps]]
name    = "dead"
table   = "host"
where   = "dead = 0"
age     = { column = "seen", format = "unix_s" }
timeout = { default = "30s", floor = "10s" }
set     = { dead = 1 }
"""


def test_a_stalled_sweeper_forgives_nobody() -> None:
    """Whether the ticks come late does not matter, because nothing is counted: a host is dead once it has been silent for three intervals.

    Counting misses is another thing than a sweep does: it would need a write for each host at each tick.
    """
    db = apsw.Connection(":memory:")
    db.execute("CREATE TABLE host (id INTEGER PRIMARY KEY, dead INTEGER NOT NULL DEFAULT 0, seen INTEGER NOT NULL)")
    db.execute("INSERT INTO host VALUES (1, 0, 1769850000), (2, 0, 1769850000)")
    dead_at: dict[int, int] = {}
    for tick in (0, 10, 35, 45, 70, 80):
        db.execute("UPDATE host SET seen = ? WHERE id = 2 AND dead = 0", (1_769_850_000 + tick,))
        retention.sweep(db, MISSES, now=(1_769_850_000 + tick) * 1000)
        for (id,) in db.execute("SELECT id FROM host WHERE dead = 1"):
            dead_at.setdefault(id, tick)
    assert dead_at == {1: 35}

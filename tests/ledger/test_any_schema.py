"""Sweeps, closures and the log's retention do the same whatever tables and columns are called, and whatever type a key has."""

from __future__ import annotations

import json
import string
from dataclasses import dataclass, field, replace
from typing import Any

import apsw
import pytest

import retention
from retention.errors import PolicyError, Refused
from retention.events import Log
from retention.policy.load import from_dict
from tests.ledger.databases import NOW

HOUR, DAY = 3_600_000, 86_400_000
ROLES = ("work", "child", "log", "box", "place")
COLUMNS = ("id", "number", "status", "at", "parent", "stream", "kind", "ts", "body", "who", "position", "moved")
ODD = (
    *"nvabeckst",
    "true",
    "false",
    "rowid",
    "value",
    "key",
    "type",
    "name",
    "quiet",
    "old",
    "last",
    "live",
    "k0",
    "id ",
    "?1",
    "e.x",
    'quo"te',
)


@dataclass(frozen=True)
class World:
    """Three jobs whose time has passed and two that are young, each with one open child and somebody who asked to be told."""

    tables: dict[str, str] = field(default_factory=lambda: {role: role for role in ROLES})
    columns: dict[str, str] = field(default_factory=lambda: {column: column for column in COLUMNS})
    key: str = "TEXT"
    link: str = "TEXT"

    def quoted(self, text: str) -> str:
        """SQL whose words in braces are tables and columns by their roles."""
        return text.format_map({role: '"' + name.replace('"', '""') + '"' for role, name in (self.tables | self.columns).items()})

    def made(self) -> apsw.Connection:
        con = apsw.Connection("")
        con.execute(
            self.quoted(f"""
            CREATE TABLE {{work}} ({{id}} {self.key} PRIMARY KEY, {{status}} TEXT, {{at}} INTEGER);
            CREATE TABLE {{child}} (id INTEGER PRIMARY KEY, {{parent}} {self.link}, {{status}} TEXT);
            CREATE INDEX child_parent ON {{child}} ({{parent}});
            CREATE TABLE {{log}} (
                {{number}} INTEGER PRIMARY KEY AUTOINCREMENT, {{stream}} TEXT, {{kind}} TEXT, {{ts}} INTEGER, {{body}} TEXT);
            CREATE INDEX log_time ON {{log}} ({{stream}}, {{ts}});
            CREATE INDEX log_kind ON {{log}} ({{stream}}, {{kind}});
            CREATE TABLE {{box}} (id TEXT PRIMARY KEY, {{stream}} TEXT, {{body}} TEXT);
            CREATE TABLE {{place}} (
                {{who}} TEXT, {{stream}} TEXT, {{position}} INTEGER, {{moved}} INTEGER, PRIMARY KEY ({{who}}, {{stream}}));
            CREATE INDEX place_stream ON {{place}} ({{stream}})""")
        )
        for n in range(5):
            con.execute(self.quoted("INSERT INTO {work} VALUES (?, 'on', ?)"), (n, NOW - HOUR if n < 3 else NOW))
            con.execute(self.quoted("INSERT INTO {child} ({parent}, {status}) VALUES (?, 'open')"), (n,))
            asked = json.dumps({"url": "https://example.org"})
            con.execute(
                self.quoted("INSERT INTO {log} ({stream}, {kind}, {ts}, {body}) VALUES (?, 'asked', ?, ?)"), (str(n), NOW - 2 * HOUR, asked)
            )
        return con

    def policy(self) -> dict[str, Any]:
        t, c = self.tables, self.columns
        age = {"column": c["at"], "format": "unix_ms"}
        stored = "CAST({work}.{id} AS TEXT)" if self.key != "TEXT" else "{work}.{id}"
        link = stored if self.link == "TEXT" else "{work}.{id}"
        return {
            "events": {
                "table": t["log"],
                "id": c["number"],
                "stream": c["stream"],
                "kind": c["kind"],
                "at": {"column": c["ts"], "format": "unix_ms"},
                "payload": c["body"],
                "once": ["asked", "ended"],
                "keep": "1h",
                "stopped_after": "14d",
                "cursors": {
                    "table": t["place"],
                    "stream": c["stream"],
                    "consumer": c["who"],
                    "position": c["position"],
                    "moved": {"column": c["moved"], "format": "unix_ms"},
                },
                "callback": {
                    "start": "asked",
                    "target": "url",
                    "terminal": ["ended"],
                    "table": t["box"],
                    "columns": {"id": "{uuid}", c["stream"]: "{stream}", c["body"]: "{event}"},
                },
            },
            "sweeps": [
                {
                    "name": "s",
                    "table": t["work"],
                    "where": self.quoted("{status} = 'on'"),
                    "age": age,
                    "timeout": "15m",
                    "set": {c["status"]: "{rollup}"},
                    "event": {"kind": "ended"},
                    "children": {
                        "table": t["child"],
                        "parent": c["parent"],
                        "open": self.quoted("{status} = 'open'"),
                        "set": {c["status"]: "shut"},
                    },
                    "rollup": {"status": c["status"], "rules": [{"none": True, "to": "none"}, {"all": ["shut"], "to": "off"}, {"to": "?"}]},
                }
            ],
            "closures": [
                {
                    "table": t["work"],
                    "keep": "0s",
                    "age": age,
                    "terminal": self.quoted("{status} = 'off'"),
                    "acked": True,
                    "members": [
                        {"table": t["child"], "on": self.quoted("{child}.{parent} = " + link)},
                        {"table": t["log"], "on": self.quoted("{log}.{stream} = " + stored)},
                    ],
                }
            ],
        }

    def check(self) -> None:
        """Sweep, close and prune, and look at what is left."""
        con, policy = self.made(), self.policy()
        swept = retention.sweep(con, policy, now=NOW)
        assert [(s.due, s.ended, s.children, s.error) for s in swept.sweeps] == [(3, 3, 3, None)], swept.warnings
        ended = [str(row[0]) for row in con.execute(self.quoted("SELECT {stream} FROM {log} WHERE {kind} = 'ended' ORDER BY {number}"))]
        told = sorted(str(row[0]) for row in con.execute(self.quoted("SELECT {stream} FROM {box}")))
        assert (ended, told) == (["0", "1", "2"], ["0", "1", "2"])
        with Log(con, from_dict(policy), clock=lambda: NOW - 20 * DAY) as log:
            # One consumer has read two streams, and lives on in a third.
            for stream in ("0", "1"):
                assert log.ack(stream, log.list_after(stream, 0).events[-1].id, consumer="c").moved
        with Log(con, from_dict(policy), clock=lambda: NOW) as log:
            assert log.ack("4", log.list_after("4", 0).events[-1].id, consumer="c").moved
            assert log.append_once("asked", stream="new", payload={"url": "x"}).inserted
            assert set(log.awaiting().streams) == {"3", "4", "new"}
            log.append("noise", stream="4", at=NOW - 3 * HOUR)
        ran = retention.run(con, policy, now=NOW)
        assert [(c.due, c.closed, c.unread, c.error) for c in ran.closures] == [(2, 2, 1, None)], ran.warnings
        assert sorted(str(row[0]) for row in con.execute(self.quoted("SELECT {id} FROM {work}"))) == ["2", "3", "4"]
        assert sorted(str(row[0]) for row in con.execute(self.quoted("SELECT DISTINCT {stream} FROM {log}"))) == ["2", "3", "4", "new"]
        assert con.execute(self.quoted("SELECT count(*) FROM {child}")).get == 3


@pytest.mark.parametrize("shift", range(0, 26, 2))
def test_no_table_is_taken_for_another_by_a_short_name(shift: int) -> None:
    """Names that a statement might use for itself: a table called `e` was read where the log was meant."""
    letters = string.ascii_lowercase
    World(tables={role: letters[(shift + 5 * place) % 26] for place, role in enumerate(ROLES)}).check()


@pytest.mark.parametrize("word", ODD)
def test_no_column_is_taken_for_something_else_by_its_name(word: str) -> None:
    """In a table with a column named `true`, SQLite takes the word TRUE for it: a unit went before its reader had read it."""
    for column in COLUMNS:
        World(columns={name: word if name == column else name for name in COLUMNS}).check()


@pytest.mark.parametrize(("key", "link"), [("INTEGER", "INTEGER"), ("INTEGER", "TEXT"), ("INT", "NUMERIC"), ("TEXT", "TEXT")])
def test_a_key_that_is_a_number_has_a_stream_of_its_own_text(key: str, link: str) -> None:
    World(key=key, link=link).check()


def test_children_that_no_index_can_find_are_refused_with_the_reason() -> None:
    world = World(key="INTEGER", link="")
    with pytest.raises(Refused, match=r"child\.parent has no type and work\.id is a number.*declare parent INTEGER"):
        retention.plan(world.made(), world.policy(), now=NOW)


@pytest.mark.parametrize("index", ["", "CREATE INDEX i ON place (position, stream)", "CREATE INDEX i ON place (stream) WHERE position > 0"])
def test_places_of_many_consumers_must_be_found_by_their_stream(index: str) -> None:
    world = World()
    con = world.made()
    con.execute(f"DROP INDEX place_stream; {index}")
    with pytest.raises(Refused, match=r'CREATE INDEX "place_stream" ON "place" \("stream"\)'):
        retention.plan(con, world.policy(), now=NOW)


def test_consumers_must_be_found_without_reading_all_places() -> None:
    world = World()
    con = world.made()
    con.execute("DROP TABLE place; CREATE TABLE place (who TEXT, stream TEXT, position INTEGER, moved INTEGER, PRIMARY KEY (stream, who))")
    policy = world.policy()
    for left_out in ([], ["closures"], ["closures", "sweeps"]):
        with pytest.raises(Refused, match=r'consumers are found by \'who\'.*CREATE INDEX "place_who" ON "place" \("who"\)'):
            retention.plan(con, {key: part for key, part in policy.items() if key not in left_out}, now=NOW)


def test_a_member_that_is_the_places_table_is_found_by_an_index_too() -> None:
    """That the consumers' names stand at one end of that table's key let any scan of it pass."""
    world = World()
    con, policy = world.made(), world.policy()
    del policy["events"]["stopped_after"]
    con.execute("DROP INDEX place_stream")
    policy["closures"][0]["members"].append({"table": "place", "on": "place.stream = work.id"})
    with pytest.raises(Refused, match=r'CREATE INDEX "place_stream" ON "place" \("stream"\)'):
        retention.plan(con, policy, now=NOW)


@pytest.mark.parametrize(
    ("trigger", "refused"),
    [
        ("AFTER INSERT ON log BEGIN INSERT INTO log (stream, kind, ts) VALUES (new.stream, 'seen', new.ts); END", True),
        ("AFTER INSERT ON log BEGIN INSERT OR IGNORE INTO \"LOG\" (stream, kind, ts) VALUES (new.stream, 'seen', new.ts); END", True),
        ("AFTER INSERT ON log BEGIN UPDATE log SET body = '{}' WHERE number = new.number AND body IS NULL; END", False),
        ("AFTER INSERT ON log WHEN new.kind = 'ended' BEGIN INSERT INTO audit VALUES (new.number); END", False),
        ("AFTER DELETE ON log BEGIN INSERT INTO log (stream, kind, ts) VALUES ('gone', 'seen', 1); END", False),
    ],
)
def test_who_asked_is_told_beside_triggers_of_the_log_or_the_sweep_is_refused(trigger: str, refused: bool) -> None:
    """A trigger that adds events between the sweep's own left some streams without their callback, in silence."""
    world = World()
    con = world.made()
    con.execute(f"CREATE TABLE audit (id); CREATE TRIGGER t {trigger}")
    policy = {key: part for key, part in world.policy().items() if key != "closures"}
    del policy["events"]["keep"]
    receipt = retention.sweep(con, policy, now=NOW)
    if refused:
        assert (receipt.outcome, con.execute("SELECT count(*) FROM box").get) == ("refused", 0)
        assert "adds further events to it" in receipt.warnings[-1]
        del policy["events"]["callback"]
        receipt = retention.sweep(con, policy, now=NOW)
    assert receipt.sweeps[0].ended == 3
    assert con.execute("SELECT count(*) FROM box").get == (0 if refused else 3)


@pytest.mark.parametrize(
    "pair", [("kind", "number"), ("kind", "stream"), ("body", "KIND"), ("ts", "stream"), ("who", "stream"), ("moved", "position")]
)
def test_one_column_is_not_two_things(pair: tuple[str, str]) -> None:
    world = World()
    columns = world.columns | {pair[0]: pair[1]}
    with pytest.raises(PolicyError, match="for two things; give each its own"):
        from_dict(replace(world, columns=columns).policy())

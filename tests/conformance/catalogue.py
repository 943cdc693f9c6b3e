"""The conformance catalogue as far as it is about rows: what stands in a relay database, and what must be left of it.

Ids are the catalogue's: RP is the rowid pruner, BD the bounded path, RT the first generation, AR the retention of agents. Each case is
run to its end; the number of calls, statements and saves on the way is for other tests. Where the original has a weakness, `better`
says what we do instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

import apsw

from .relay import (
    DAY,
    EPOCH_MS,
    NOW,
    NOW_S,
    Keeps,
    database,
    deliveries,
    delivery,
    event,
    log,
    message,
    policy,
    receipt,
    snowflake,
    workspace,
)

Left = dict[str, set[Any]]
OLD = 110  # days
THIRTY = Keeps(messages=30)
SECOND = Fraction(1, DAY)


@dataclass(frozen=True)
class Case:
    """One entry.

    Attributes:
        id: the catalogue's.
        build: fills a relay database and says what must be left, by table; tables that it does not name are not compared.
        policy: TOML.
        now: the clock.
        better: what we do where the original does something else.
    """

    id: str
    build: Callable[[apsw.Connection], Left]
    policy: str
    now: datetime = NOW
    better: str = ""
    keeps: Keeps | None = field(default=None, repr=False)

    def database(self) -> tuple[apsw.Connection, Left]:
        """A filled database in memory, and what must be left of it."""
        db = database()
        return db, self.build(db)


CASES: list[Case] = []


def case(
    id: str, keeps: Keeps | None = None, *, now: datetime = NOW, better: str = ""
) -> Callable[[Callable[[apsw.Connection], Left]], None]:
    """Registers the decorated builder."""

    def add(build: Callable[[apsw.Connection], Left]) -> None:
        CASES.append(Case(id, build, policy(keeps or Keeps()), now, better, keeps or Keeps()))

    return add


def ids(db: apsw.Connection, table: str) -> set[str]:
    return {name for (name,) in db.execute(f"SELECT id FROM {table}")}


def _file(db: apsw.Connection, by: str) -> None:
    db.execute(
        "INSERT INTO files (id, workspace_id, uploaded_by, filename, content_type, size_bytes, storage_key) "
        "VALUES ('f', 'ws', ?, 'a.txt', 'text/plain', 1, 'k')",
        (by,),
    )


# The rowid pruner ----------------------------------------------------------------------------------------------------


@case("RP-1")
def _(db: apsw.Connection) -> Left:
    workspace(db)
    deliveries(db, 1000, 1)
    return {"deliveries": ids(db, "deliveries"), "messages": ids(db, "messages")}


@case("RP-2")
def _(db: apsw.Connection) -> Left:
    workspace(db)
    workspace(db, "two", '{"delivery_ttl_days": null}')
    first, second = message(db, 1), message(db, 1, "two")
    for status in ("acked", "failed", "dead_lettered"):
        delivery(db, OLD, status, of=first)
    kept = {delivery(db, OLD, "queued", of=first), delivery(db, OLD, "delivered", of=first), delivery(db, 1, of=first)}
    return {"deliveries": kept | {delivery(db, OLD, ws="two", of=second)}, "messages": {first, second}}


@case("RP-3")
def _(db: apsw.Connection) -> Left:
    workspace(db)
    deliveries(db, 23, OLD)
    return {"deliveries": set()}


@case("RP-4", THIRTY)
def _(db: apsw.Connection) -> Left:
    workspace(db)
    parent = message(db, OLD)
    message(db, OLD, thread=parent)
    receipt(db, parent)
    events = [event(db, seq, OLD) for seq in (1, 2, 3)]
    return {"messages": set(), "workspace_events": {events[2]}, "read_receipts": set()}


@case("RP-5")
def _(db: apsw.Connection) -> Left:
    workspace(db)
    active = delivery(db, OLD, "delivered")
    for _ in range(6):
        delivery(db, OLD)
    return {"deliveries": {active}}


@case("RP-6")
def _(db: apsw.Connection) -> Left:
    event(db, 1, OLD, "gone")
    return {"workspace_events": {event(db, 2, OLD, "gone")}}


@case("RP-19", Keeps(recovery=7))
def _(db: apsw.Connection) -> Left:
    workspace(db)
    delivery(db, 40, "queued", expired=30)
    delivery(db, 40, "delivered", expired=30)
    return {"deliveries": set()}


@case("RP-20", Keeps(recovery=7))
def _(db: apsw.Connection) -> Left:
    workspace(db)
    return {"deliveries": {delivery(db, 9, "queued", expired=2)}}


@case("RP-21", Keeps(recovery=7))
def _(db: apsw.Connection) -> Left:
    workspace(db)
    return {"deliveries": {delivery(db, OLD, "queued")}}


@case("RP-22 grace 30", Keeps(deliveries=None, recovery=30))
def _(db: apsw.Connection) -> Left:
    workspace(db)
    return {"deliveries": {delivery(db, 17, "queued", expired=10)}}


@case("RP-22 grace 7", Keeps(deliveries=None, recovery=7))
def _(db: apsw.Connection) -> Left:
    workspace(db)
    delivery(db, 17, "queued", expired=10)
    return {"deliveries": set()}


@case("RP-23", Keeps(recovery=7))
def _(db: apsw.Connection) -> Left:
    workspace(db)
    deliveries(db, 5000, 17, "queued", expired=10)
    return {"deliveries": set()}


@case("RP-24", Keeps(recovery=7))
def _(db: apsw.Connection) -> Left:
    workspace(db)
    delivery(db, 27, "queued", expired=20)
    return {"deliveries": {delivery(db, 27, "queued"), delivery(db, 10, "queued", expired=3), delivery(db, 17, "acked", expired=10)}}


@case("RP-27", Keeps(recovery=7))
def _(db: apsw.Connection) -> Left:
    workspace(db)
    deliveries(db, 9000, 27, "delivered", expired=20)
    return {"deliveries": set()}


@case("RP-28", Keeps(deliveries=None))
def _(db: apsw.Connection) -> Left:
    workspace(db)
    return {"deliveries": {delivery(db, 37, "queued", expired=30), delivery(db, 37, "acked", expired=30)}}


@case("RP-29", Keeps(recovery=7))
def _(db: apsw.Connection) -> Left:
    workspace(db)
    delivery(db, 15, "queued", expired=8)
    return {"deliveries": set()}


@case("RP-31")
def _(db: apsw.Connection) -> Left:
    return {"messages": set(), "deliveries": set(), "message_logs": set(), "workspace_events": set(), "read_receipts": set()}


@case("RP-32", THIRTY)
def _(db: apsw.Connection) -> Left:
    workspace(db)
    for number in range(1200):
        message(db, 40 + Fraction(number, 1000))
    return {"messages": set()}


@case("RP-34", THIRTY)
def _(db: apsw.Connection) -> Left:
    workspace(db)
    for rowid in (-9000, -3, 0, 7):
        message(db, OLD, rowid=rowid)
    return {"messages": set()}


@case("RP-35", THIRTY, better="rowids up to 2^63-1 are exact; the original raises, and the table is never pruned again")
def _(db: apsw.Connection) -> Left:
    workspace(db)
    for rowid in (2**53 + 1, 2**63 - 1, -(2**63)):
        message(db, OLD, rowid=rowid)
    return {"messages": {message(db, 1, rowid=2**53 + 2)}}


@case("RP-38", THIRTY, better="only the tenant with the unreadable document is kept; the original raises and is stuck for all")
def _(db: apsw.Connection) -> Left:
    workspace(db)
    workspace(db, "broken", "{broken")
    message(db, OLD)
    return {"messages": {message(db, OLD, "broken")}}


@case("RP-39", THIRTY, better="JSON null is no document: the default applies; the original raises")
def _(db: apsw.Connection) -> Left:
    workspace(db, retention="null")
    message(db, OLD)
    return {"messages": {message(db, 29)}}


@case("RP-40", better="fractions of a day work; the original raises where they are no whole milliseconds")
def _(db: apsw.Connection) -> Left:
    kept = set()
    for name, days in (("a", "1.23456789"), ("b", "0.5"), ("c", "0.1"), ("d", repr(1 / 3))):
        workspace(db, name, f'{{"message_ttl_days": {days}}}')
        message(db, Fraction(days) + 2 * SECOND, name)
        kept.add(message(db, Fraction(days) - 2 * SECOND, name))
    return {"messages": kept}


@case("RP-40 shortest", better="a keep below the policy's `shortest` is raised to it")
def _(db: apsw.Connection) -> Left:
    workspace(db, retention='{"message_ttl_days": 0.01}')
    message(db, Fraction(61, 1440))
    return {"messages": {message(db, Fraction(59, 1440))}}


@case("RP-41", THIRTY, better="ids that are no decimal snowflakes are kept and counted; the original takes short ones for ancient")
def _(db: apsw.Connection) -> Left:
    workspace(db)
    message(db, OLD)
    odd = ("msg_gone", "message", "0000000001", "5d2f9c1e-7a4b-4c3d-9e8f-0a1b2c3d4e5f", "z" * 20, "", "1e5", "-5", "9" * 19, "٣٣٣")
    return {"messages": {message(db, OLD, id=name) for name in odd}}


@case("RP-42", THIRTY, better="a whole chain goes in one command")
def _(db: apsw.Connection) -> Left:
    workspace(db)
    first = message(db, OLD)
    message(db, OLD - 2, thread=message(db, OLD - 1, thread=first))
    return {"messages": set()}


@case("RP-43", THIRTY)
def _(db: apsw.Connection) -> Left:
    workspace(db)
    own = message(db, OLD)
    one = message(db, OLD)
    two = message(db, OLD, thread=one)
    db.execute("UPDATE messages SET thread_id = id WHERE id = ?", (own,))
    db.execute("UPDATE messages SET thread_id = ? WHERE id = ?", (two, one))
    return {"messages": {own, one, two}}


@case("RP-44", THIRTY)
def _(db: apsw.Connection) -> Left:
    workspace(db)
    deliveries(db, 500, 5, "queued", of=message(db, OLD))
    return {"messages": set(), "deliveries": set()}


@case("RP-51 exact")
def _(db: apsw.Connection) -> Left:
    workspace(db)
    return {"deliveries": {delivery(db, 90)}}


@case("RP-51 a second older")
def _(db: apsw.Connection) -> Left:
    workspace(db)
    delivery(db, 90 + SECOND)
    return {"deliveries": set()}


@case(
    "RP-51 exact, a millisecond later",
    now=NOW + timedelta(milliseconds=1),
    better="the cutoff is floored to the column's unit: no row goes early",
)
def _(db: apsw.Connection) -> Left:
    workspace(db)
    return {"deliveries": {delivery(db, 90)}}


@case("RP-52", THIRTY)
def _(db: apsw.Connection) -> Left:
    workspace(db)
    bound = (NOW_S - 30 * DAY) * 1000 - EPOCH_MS << 22
    assert str(bound) == snowflake(NOW_S - 30 * DAY) == "212570682163200000"
    message(db, 30, id=str(bound - 1))
    return {"messages": {message(db, 30, id=str(bound)), message(db, 30, id=str(bound + 1))}}


def _rp53(db: apsw.Connection) -> Left:
    workspace(db)
    delivery(db, 9, "queued", expired=7 + SECOND)
    return {"deliveries": {delivery(db, 9, "queued", expired=7)}}


for _later in (0, 500, 999):
    case(f"RP-53 +{_later} ms", Keeps(recovery=7), now=NOW + timedelta(milliseconds=_later))(_rp53)


@case("RP-54 grace 0", Keeps(recovery=0))
def _(db: apsw.Connection) -> Left:
    workspace(db)
    delivery(db, 1, "queued", expired=10 * SECOND)
    return {"deliveries": {delivery(db, 1, "queued", expired=-10 * SECOND)}}


# The bounded path ----------------------------------------------------------------------------------------------------


@case("BD-6")
def _(db: apsw.Connection) -> Left:
    workspace(db, retention='{"delivery_ttl_days": null}')
    deliveries(db, 2000, 5000 / 10)
    return {"deliveries": ids(db, "deliveries")}


@case("BD-7")
def _(db: apsw.Connection) -> Left:
    kept = {event(db, 1, OLD, f"ws{number:03}") for number in range(250)}
    event(db, 1, OLD, "z-target")
    return {"workspace_events": kept | {event(db, 2, OLD, "z-target")}}


@case("BD-8")
def _(db: apsw.Connection) -> Left:
    workspace(db)
    kept = {delivery(db, 1, rowid=rowid) for rowid in (1, 2, 3, 4)}
    delivery(db, OLD, rowid=5)
    return {"deliveries": kept}


# The first generation ------------------------------------------------------------------------------------------------


@case("RT-1", Keeps(deliveries=None, message_logs=None, workspace_events=None))
def _(db: apsw.Connection) -> Left:
    workspace(db)
    old = message(db, 400)
    return {"messages": {old}, "deliveries": {delivery(db, 400, of=old)}, "message_logs": {log(db, 400, of=old)}}


@case("RT-2")
def _(db: apsw.Connection) -> Left:
    workspace(db)
    old = message(db, 400)
    delivery(db, 400, of=old)
    log(db, 400, of=old)
    return {"messages": {old}, "deliveries": set(), "message_logs": set()}


@case("RT-3")
def _(db: apsw.Connection) -> Left:
    workspace(db, "a", '{"message_ttl_days": 30}')
    workspace(db, "b")
    message(db, 40, "a")
    return {"messages": {message(db, 10, "a"), message(db, 40, "b")}}


@case("RT-4", THIRTY)
def _(db: apsw.Connection) -> Left:
    workspace(db)
    old = message(db, 40)
    receipt(db, old)
    log(db, 1, of=old)
    delivery(db, 1, "delivered", of=old)
    db.execute("INSERT INTO reactions (id, message_id, agent_id, emoji) VALUES ('r', ?, 'ag_ws', '+1')", (old,))
    _file(db, "ag_ws")
    db.execute("INSERT INTO message_attachments (message_id, file_id) VALUES (?, 'f')", (old,))
    db.execute(
        "INSERT INTO a2a_inbound (id, workspace_id, message_id, fingerprint, response) VALUES ('in', 'ws', ?, 'x', 'secret')", (old,)
    )
    return {"messages": set(), "deliveries": set(), "message_logs": set(), "read_receipts": set()}


@case("RT-5", THIRTY)
def _(db: apsw.Connection) -> Left:
    workspace(db)
    parent = message(db, 40)
    return {"messages": {parent, message(db, 10, thread=parent)}}


@case("RT-6", THIRTY)
def _(db: apsw.Connection) -> Left:
    workspace(db)
    message(db, 45, thread=message(db, 50))
    return {"messages": set()}


@case("RT-7", THIRTY)
def _(db: apsw.Connection) -> Left:
    workspace(db)
    for _ in range(5):
        message(db, OLD)
    return {"messages": set()}


@case("RT-8")
def _(db: apsw.Connection) -> Left:
    workspace(db)
    delivery(db, 100, "acked")
    delivery(db, 100, "failed")
    return {"deliveries": {delivery(db, 100, "queued"), delivery(db, 10, "acked")}}


@case("RT-9")
def _(db: apsw.Connection) -> Left:
    workspace(db, "never", '{"delivery_ttl_days": null, "message_log_ttl_days": null}')
    workspace(db, "week", '{"delivery_ttl_days": 7, "message_log_ttl_days": 7}')
    delivery(db, 10, ws="week")
    log(db, 10, "week")
    return {"deliveries": {delivery(db, 100, ws="never")}, "message_logs": {log(db, 100, "never")}}


@case("RT-10")
def _(db: apsw.Connection) -> Left:
    workspace(db)
    receipt(db, "no such message")
    return {"read_receipts": {receipt(db, message(db, 1))}}


# Documents that tenants write ----------------------------------------------------------------------------------------


@case("tenant documents")
def _(db: apsw.Connection) -> Left:
    """Each spelling with a delivery of 95 days, which the default of 90 lets go, and one of 20."""
    spellings = {
        None: "default", "": "default", "null": "default", "{}": "default", '{"message_ttl_days": 1}': "default",
        '{"delivery_ttl_days": 100}': "kept", '{"delivery_ttl_days": 10}': "gone", '{"delivery_ttl_days": 10.5}': "gone",
        '{"delivery_ttl_days": null}': "kept", '{"delivery_ttl_days": 0}': "kept", '{"delivery_ttl_days": -5}': "kept",
        '{"delivery_ttl_days": "10"}': "kept", '{"delivery_ttl_days": true}': "kept", '{"delivery_ttl_days": [10]}': "kept",
        '{"delivery_ttl_days": 1e300}': "kept", '{"delivery_ttl_days": 1e1}': "gone",
        "[]": "kept", "5": "kept", '"x"': "kept", "{": "kept", "{'delivery_ttl_days': 10}": "kept", "{delivery_ttl_days: 10}": "kept",
        '{"delivery_ttl_days": 10, "delivery_ttl_days": 10}': "kept", '{"delivery_ttl_days": 10,}': "kept",
    }  # fmt: skip
    kept = set()
    for number, (text, fate) in enumerate(spellings.items()):
        ws = workspace(db, f"ws{number}", text)
        older, younger = delivery(db, 95, ws=ws), delivery(db, 20, ws=ws)
        kept |= {"default": {younger}, "kept": {older, younger}, "gone": set()}[fate]
    return {"deliveries": kept}


# Agents --------------------------------------------------------------------------------------------------------------

AGENTS_NOW = datetime(2026, 9, 8, 12, tzinfo=NOW.tzinfo)

AGENTS = """
version = 1

[[rules]]
table = "agents"
keep  = "7d"
age   = { column = "last_seen", format = "unix_s" }
only  = '''
  status IN ('offline', 'released')
  AND typeof(last_seen) = 'integer' AND typeof(created_at) = 'integer' AND created_at BETWEEN 0 AND last_seen
  AND location_type = 'self_connected' AND location_node_id IS NULL AND origin_node_id IS NULL
  AND CASE WHEN json_valid(metadata) AND json_type(metadata) = 'object'
    THEN COALESCE(json_type(metadata, '$.fleet'), json_type(metadata, '$.broker'), json_type(metadata, '$.node_id')) IS NULL ELSE 0 END
  AND NOT EXISTS (SELECT 1 FROM nodes WHERE nodes.id = 'node_direct_' || agents.id)
  AND NOT EXISTS (SELECT 1 FROM agent_node_bindings AS b WHERE b.agent_id = agents.id)
  AND NOT EXISTS (SELECT 1 FROM messages AS m WHERE m.agent_id = agents.id)
  AND NOT EXISTS (SELECT 1 FROM channels AS c WHERE c.created_by = agents.id)
  AND NOT EXISTS (SELECT 1 FROM files AS f WHERE f.uploaded_by = agents.id)
  AND NOT EXISTS (SELECT 1 FROM webhooks AS w WHERE w.created_by = agents.id)
'''
"""
"""Agents that nobody owns and no history names. `created_at` no later than `last_seen` stands for an age of its own: then both are old."""


def agent(db: apsw.Connection, name: str, **columns: Any) -> str:
    """An agent that may go (offline, unseen for nine days), but for the columns given."""
    seen = int(AGENTS_NOW.timestamp()) - 9 * DAY
    row = {
        "id": name,
        "workspace_id": "ws",
        "name": name,
        "token_hash": name,
        "status": "offline",
        "created_at": seen,
        "last_seen": seen,
    } | columns
    db.execute(f"INSERT INTO agents ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", tuple(row.values()))
    return name


def _tenant(db: apsw.Connection) -> set[str]:
    workspace(db)
    return ids(db, "agents")  # the workspace's own is active


def agents_case(id: str, *, better: str = "") -> Callable[[Callable[[apsw.Connection], Left]], None]:
    def add(build: Callable[[apsw.Connection], Left]) -> None:
        CASES.append(Case(id, build, AGENTS, AGENTS_NOW, better))

    return add


CUTOFF = int(AGENTS_NOW.timestamp()) - 7 * DAY


@agents_case("AR-1")
def _(db: apsw.Connection) -> Left:
    kept = _tenant(db)
    agent(db, "stale")
    agent(db, "released", status="released")
    return {"agents": kept | {agent(db, "recent", last_seen=CUTOFF + 1)}}


@agents_case("AR-2")
def _(db: apsw.Connection) -> Left:
    kept = _tenant(db)
    agent(db, "stale")
    live = {agent(db, status, status=status) for status in ("active", "online", "idle", "blocked", "waiting")}
    edge = {agent(db, "edge", last_seen=CUTOFF), agent(db, "new", created_at=CUTOFF + 5), agent(db, "future", last_seen=CUTOFF + 90 * DAY)}
    return {"agents": kept | live | edge}


@agents_case("AR-3")
def _(db: apsw.Connection) -> Left:
    kept = _tenant(db)
    agent(db, "stale")
    db.execute(
        "INSERT INTO nodes (id, workspace_id, name, token_hash) VALUES ('n1', 'ws', 'n1', 'n1'), ('node_direct_direct', 'ws', 'n2', 'n2')"
    )
    owned = {
        agent(db, "located", location_node_id="n1"), agent(db, "origin", origin_node_id="n1"), agent(db, "via", location_type="via_node"),
        agent(db, "unknown", location_type="elsewhere"), agent(db, "fleet", metadata='{"fleet": null}'),
        agent(db, "broker", metadata='{"broker": 1}'), agent(db, "node", metadata='{"node_id": "x"}'), agent(db, "direct"),
    }  # fmt: skip
    for status in ("active", "standby", "released"):
        owned.add(agent(db, f"bound-{status}"))
        db.execute(
            "INSERT INTO agent_node_bindings (id, workspace_id, agent_id, node_id, status) VALUES (?1, 'ws', ?1, 'n1', ?2)",
            (f"bound-{status}", status),
        )
    return {"agents": kept | owned}


@agents_case("AR-4")
def _(db: apsw.Connection) -> Left:
    kept = _tenant(db)
    agent(db, "stale")
    return {
        "agents": kept | {agent(db, "broken", metadata="{"), agent(db, "array", metadata="[]"), agent(db, "text", last_seen="yesterday")}
    }


@agents_case("AR-6")
def _(db: apsw.Connection) -> Left:
    kept = _tenant(db)
    agent(db, "stale")
    for column in ("last_seen", "created_at"):
        kept |= {agent(db, f"{column} {value}", **{column: value}) for value in ("soon", 1.5, -1)}
    return {"agents": kept | {agent(db, "at the cutoff", last_seen=CUTOFF, created_at=CUTOFF)}}


@agents_case("AR-9..12")
def _(db: apsw.Connection) -> Left:
    kept = _tenant(db)
    agent(db, "unused")
    authors = {agent(db, table) for table in ("messages", "channels", "files", "webhooks")}
    db.execute("INSERT INTO messages (id, workspace_id, channel_id, agent_id, body) VALUES ('1', 'ws', 'ch_ws', 'messages', 'x')")
    db.execute("INSERT INTO channels (id, workspace_id, name, created_by) VALUES ('c', 'ws', 'c', 'channels')")
    _file(db, "files")
    db.execute("INSERT INTO webhooks (id, workspace_id, name, channel_id, created_by) VALUES ('w', 'ws', 'w', 'ch_ws', 'webhooks')")
    return {"agents": kept | authors}


@agents_case("AR-22")
def _(db: apsw.Connection) -> Left:
    kept = _tenant(db)
    seen = int(AGENTS_NOW.timestamp()) - 9 * DAY
    db.execute(
        "INSERT INTO agents (id, workspace_id, name, token_hash, status, created_at, last_seen) "
        "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 2569) "
        "SELECT 'a' || i, 'ws', 'a' || i, 'a' || i, CASE WHEN i % 10 THEN 'offline' ELSE 'active' END, ?1, ?1 FROM n",
        (seen,),
    )
    return {"agents": kept | {f"a{i}" for i in range(0, 2570, 10)}}

"""Relay databases by hand, the relay policy with other keeps, and which rows must be left.

`expected_left` is worked out in plain Python from what the policy means; it shares nothing with the package but the schema.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from functools import cache
from itertools import count
from typing import Any, NoReturn

import apsw

from retention.presets import preset, statements
from retention.presets.relay.sample import EPOCH_MS, HOLD

NOW = datetime(2026, 9, 9, 14, tzinfo=UTC)
NOW_S = 1_788_962_400
DAY = 86_400
TABLES = ("messages", "deliveries", "message_logs", "workspace_events", "read_receipts")
KEYS = {
    "messages": ("id",),
    "deliveries": ("id",),
    "message_logs": ("id",),
    "workspace_events": ("workspace_id", "seq"),
    "read_receipts": ("message_id", "agent_id"),
    "agents": ("id",),
}
SHORTEST = Fraction(1, 24)  # days

Keys = set[Any]
"""One-column keys bare, others as tuples."""


@dataclass(frozen=True)
class Keeps:
    """The policy's keeps in days; None keeps for ever. `recovery` is the grace after expires_at, None switches that rule off."""

    messages: int | None = None
    deliveries: int | None = 90
    message_logs: int | None = 90
    workspace_events: int | None = 30
    recovery: int | None = None
    holds: bool = False


def policy(keeps: Keeps) -> str:
    """The relay preset with these keeps (TOML)."""
    head, *rules = preset("relay").policy.split("\n[[rules]]\n")
    text = head
    for rule in rules:
        name = re.search(r'name +?= "([\w-]+)"', rule)
        assert name
        days = getattr(keeps, {"expired-deliveries": "recovery"}.get(name[1], name[1]), 0)
        if name[1] == "expired-deliveries" and days is not None:
            rule = rule.replace("enabled   = false\n", "")
        keep = "forever" if days is None else f"{days}d" if days else "0s"
        text += "\n[[rules]]\n" + re.sub(r'keep( +)= "\w+"', rf'keep\1= "{keep}"', rule)
    return text + (HOLD if keeps.holds else "")


# Building ------------------------------------------------------------------------------------------------------------

_number = count(1)


def database(path: str = ":memory:") -> apsw.Connection:
    """An empty relay database with foreign keys on."""
    db = apsw.Connection(path)
    for sql in statements(preset("relay").schema):
        db.execute(sql)
    db.execute("PRAGMA foreign_keys = on")
    return db


def snowflake(seconds: float | Fraction, low: int = 0) -> str:
    """The id that was given out at that unix time."""
    return str((math.floor(Fraction(seconds) * 1000) - EPOCH_MS) << 22 | low)


def workspace(db: apsw.Connection, name: str = "ws", retention: str | None = None) -> str:
    """A workspace with one channel and one agent."""
    db.execute("INSERT INTO workspaces (id, name, api_key_hash, retention) VALUES (?1, ?1, ?1, ?2)", (name, retention))
    db.execute("INSERT INTO agents (id, workspace_id, name, token_hash) VALUES ('ag_' || ?1, ?1, 'agent', 'token-' || ?1)", (name,))
    db.execute("INSERT INTO channels (id, workspace_id, name) VALUES ('ch_' || ?1, ?1, 'general')", (name,))
    return name


def message(
    db: apsw.Connection,
    days: float | Fraction,
    ws: str = "ws",
    *,
    id: str | None = None,
    thread: str | None = None,
    rowid: int | None = None,
) -> str:
    """A message of that age, in days; its id, a fresh snowflake unless given."""
    at = NOW_S - Fraction(days) * DAY
    name = id if id is not None else snowflake(at, next(_number) % 4096)
    db.execute(
        "INSERT INTO messages (rowid, id, workspace_id, channel_id, agent_id, thread_id, body, created_at) "
        "VALUES (?1, ?2, ?3, 'ch_' || ?3, 'ag_' || ?3, ?4, 'words', ?5)",
        (rowid, name, ws, thread, math.floor(at)),
    )
    return name


def delivery(
    db: apsw.Connection,
    days: float | Fraction,
    status: str = "acked",
    ws: str = "ws",
    *,
    id: str | None = None,
    of: str | None = None,
    expired: float | Fraction | None = None,
    rowid: int | None = None,
) -> str:
    """A delivery created that many days ago, of a fresh message unless `of` names one; `expired` is the days since expires_at."""
    number = next(_number)
    name = id if id is not None else f"d{number:010}"
    target = of if of is not None else message(db, 0, ws)
    agent = f"ag_{ws}_{number}"
    db.execute("INSERT INTO agents (id, workspace_id, name, token_hash) VALUES (?1, ?2, ?1, ?1)", (agent, ws))
    at = math.floor(NOW_S - Fraction(days) * DAY)
    until = None if expired is None else math.floor(NOW_S - Fraction(expired) * DAY)
    db.execute(
        "INSERT INTO deliveries (rowid, id, workspace_id, message_id, agent_id, status, seq, expires_at, created_at) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1, ?7, ?8)",
        (rowid, name, ws, target, agent, status, until, at),
    )
    return name


def deliveries(
    db: apsw.Connection,
    rows: int,
    days: float,
    status: str = "acked",
    ws: str = "ws",
    *,
    expired: float | None = None,
    of: str | None = None,
) -> None:
    """Many of them: all of one message, each to an agent of its own (`of`); or all to one agent, each of a fresh message."""
    at, until = math.floor(NOW_S - days * DAY), None if expired is None else math.floor(NOW_S - expired * DAY)
    first = int(snowflake(NOW_S))
    numbers = "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < :rows - 1) "
    given = {
        "rows": rows,
        "ws": ws,
        "at": at,
        "until": until,
        "status": status,
        "first": first,
        "of": of,
        "base": next(_number) * 1_000_000,
    }
    if of is None:
        db.execute(
            "INSERT INTO messages (id, workspace_id, channel_id, agent_id, body) " + numbers +
            "SELECT :first + :base + i, :ws, 'ch_' || :ws, 'ag_' || :ws, 'words' FROM n", given,
        )  # fmt: skip
    else:
        db.execute(
            "INSERT INTO agents (id, workspace_id, name, token_hash) " + numbers +
            "SELECT 'ag' || (:base + i), :ws, 'ag' || (:base + i), 'ag' || (:base + i) FROM n", given,
        )  # fmt: skip
    db.execute(
        "INSERT INTO deliveries (id, workspace_id, message_id, agent_id, status, seq, expires_at, created_at) " + numbers +
        "SELECT printf('d%010d', :base + i), :ws, COALESCE(:of, :first + :base + i), "
        "CASE WHEN :of IS NULL THEN 'ag_' || :ws ELSE 'ag' || (:base + i) END, :status, :base + i, :until, :at FROM n", given,
    )  # fmt: skip


def log(db: apsw.Connection, days: float, ws: str = "ws", *, of: str | None = None) -> str:
    """A log row of that age, of a fresh message unless `of` names one."""
    name = snowflake(NOW_S - Fraction(days) * DAY, next(_number) % 4096)
    db.execute(
        "INSERT INTO message_logs (id, workspace_id, message_id, channel_id, agent_id, delivery_kind, body) "
        "VALUES (?1, ?2, ?3, 'ch_' || ?2, 'ag_' || ?2, 'channel', 'words')",
        (name, ws, of if of is not None else message(db, 0, ws)),
    )
    return name


def event(db: apsw.Connection, seq: int, days: float, ws: str = "ws") -> tuple[str, int]:
    """An event; the workspace need not exist."""
    at = math.floor(NOW_S - days * DAY)
    db.execute("INSERT INTO workspace_events (workspace_id, seq, type, payload, created_at) VALUES (?1, ?2, 't', '{}', ?3)", (ws, seq, at))
    return ws, seq


def receipt(db: apsw.Connection, of: str, ws: str = "ws") -> tuple[str, str]:
    """A receipt by the workspace's agent; the message need not exist."""
    db.execute("PRAGMA foreign_keys = off")
    db.execute("INSERT INTO read_receipts (message_id, agent_id) VALUES (?1, 'ag_' || ?2)", (of, ws))
    db.execute("PRAGMA foreign_keys = on")
    return of, f"ag_{ws}"


# Reading -------------------------------------------------------------------------------------------------------------


def rows_left(db: apsw.Connection, tables: tuple[str, ...] = TABLES) -> dict[str, Keys]:
    """The keys that are there."""
    found = {t: set(db.execute(f"SELECT {', '.join(KEYS[t])} FROM {t}")) for t in tables}
    return {t: {k[0] for k in keys} if len(KEYS[t]) == 1 else keys for t, keys in found.items()}


def expected_left(db: apsw.Connection, now: datetime = NOW, keeps: Keeps = Keeps()) -> dict[str, Keys]:
    """The keys that are there once everything has gone that may go: what `run --until-done` must leave."""
    now_ms = int(now.timestamp() * 1000)
    documents = dict(db.execute("SELECT id, retention FROM workspaces"))

    @cache
    def cutoff_ms(ws: str, setting: str, default: int | None) -> int | None:
        days = tenant_days(documents.get(ws), setting, default)
        return None if days is None else math.floor(now_ms - days * DAY * 1000)

    def old_id(name: Any, cutoff: int | None) -> bool:
        if cutoff is None or not isinstance(name, str) or not re.fullmatch("0|[1-9][0-9]{0,18}", name) or int(name) >= 2**63:
            return False
        return int(name) < max(0, cutoff - EPOCH_MS) << 22

    def old_second(at: Any, cutoff: int | None) -> bool:
        return cutoff is not None and isinstance(at, int | float) and at < cutoff // 1000

    # Messages go from the leaves of a thread to its root, as far as each may go.
    parents: dict[str, str | None] = {}
    may_go: set[str] = set()
    for name, ws, thread, metadata in db.execute("SELECT id, workspace_id, thread_id, metadata FROM messages"):
        parents[name] = thread
        if old_id(name, cutoff_ms(ws, "message_ttl_days", keeps.messages)) and not (keeps.holds and held(metadata)):
            may_go.add(name)
    replies = Counter(parents.values())
    leaves = [m for m in may_go if not replies[m]]
    gone: set[str] = set()
    while leaves:
        name = leaves.pop()
        gone.add(name)
        parent = parents[name]
        replies[parent] -= 1
        if parent in may_go and not replies[parent]:
            leaves.append(parent)

    left: dict[str, Keys] = defaultdict(set)
    left["messages"] = parents.keys() - gone
    for name, ws, of, status, at, until in db.execute(
        "SELECT id, workspace_id, message_id, status, created_at, expires_at FROM deliveries"
    ):
        settled = status in ("acked", "failed", "dead_lettered")
        if settled and old_second(at, cutoff_ms(ws, "delivery_ttl_days", keeps.deliveries)):
            continue
        if keeps.recovery is not None and status in ("queued", "delivered") and old_second(until, now_ms - keeps.recovery * DAY * 1000):
            continue
        if of not in gone:
            left["deliveries"].add(name)
    for name, ws, of in db.execute("SELECT id, workspace_id, message_id FROM message_logs"):
        if of not in gone and not old_id(name, cutoff_ms(ws, "message_log_ttl_days", keeps.message_logs)):
            left["message_logs"].add(name)
    newest: dict[str, int] = {}
    events = list(db.execute("SELECT workspace_id, seq, created_at FROM workspace_events"))
    for ws, seq, at in events:
        if isinstance(at, int | float):
            newest[ws] = max(seq, newest.get(ws, seq))
    for ws, seq, at in events:
        if newest.get(ws) == seq or not old_second(at, cutoff_ms(ws, "workspace_event_ttl_days", keeps.workspace_events)):
            left["workspace_events"].add((ws, seq))
    for of, agent in db.execute("SELECT message_id, agent_id FROM read_receipts"):
        if of in left["messages"]:
            left["read_receipts"].add((of, agent))
    return {t: left[t] for t in TABLES}


def tenant_days(text: str | None, setting: str, default: int | None) -> Fraction | None:
    """The keep in days that a workspace's document gives; None keeps for ever, as does a document that cannot be read."""
    absent = None if default is None else max(Fraction(default), Fraction(0))
    if text is None or text == "":
        return absent
    try:
        document = json.loads(text, object_pairs_hook=_Pairs, parse_constant=_refuse)
    except ValueError:
        return None
    if document is None:
        return absent
    if not isinstance(document, _Pairs):
        return None
    values = [value for name, value in document if name == setting]
    if not values:
        return absent
    value = values[0]
    if len(values) > 1 or isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        return None
    return max(Fraction(value), SHORTEST)


def held(metadata: str | None) -> bool:
    """The sample's legal hold."""
    try:
        document = json.loads(metadata or "", parse_constant=_refuse)
    except ValueError:
        return False
    return isinstance(document, dict) and document.get("legal_hold") == 1


class _Pairs(list[tuple[str, Any]]):
    """A JSON object with its double keys."""


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")

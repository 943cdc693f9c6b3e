"""A relay database to look at, plan on and run on: the same one for the same arguments.

It holds what makes retention hard: tenants whose keeps are fractional, null, negative, absent, raised or unreadable; threads
that cross the cutoff; messages under legal hold; receipts and events whose parents are gone.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw

from ...errors import PolicyError
from .. import preset, statements

__all__ = ["EPOCH_MS", "HOLD", "NOW", "make_sample", "sample_policy"]

NOW = datetime(2026, 9, 9, 14, 0, tzinfo=UTC)
"""The sample's clock: its rows are dated back from here, so plan and run it with this `now`."""

EPOCH_MS = 1_735_689_600_000
"""2025-01-01T00:00:00Z: what the ids of messages and logs count from (milliseconds, shifted left by 22 bits)."""

HOLD = """
[[holds]]
table = "messages"
where = "CASE WHEN json_valid(metadata) THEN json_extract(metadata, '$.legal_hold') END = 1"
"""
"""The sample's legal hold: a flag in the message's own JSON, so the schema stays as it is."""

_DOCUMENTS: tuple[str | None, ...] = (
    None,
    '{"message_ttl_days": 45, "delivery_ttl_days": 14}',
    '{"message_ttl_days": 30.5, "delivery_ttl_days": 0.5}',
    '{"delivery_ttl_days": null, "message_log_ttl_days": null}',
    '{"delivery_ttl_days": -1, "workspace_event_ttl_days": 0}',
    '{"message_ttl_days": 0.01}',  # a quarter of an hour: raised to the policy's `shortest`
    "",
    "null",
    '{"message_ttl_days": 60, "workspace_event_ttl_days": 7}',
    '{"delivery_ttl_days": "30"}',  # a text is no number: kept for ever
    '{"delivery_ttl_days": 30',  # malformed
    '{"delivery_ttl_days": 30, "delivery_ttl_days": 3650}',  # malformed: which of the two?
)
_WELL_FORMED = 10  # tenants past the list take one of its first ten in turn, so exactly two stay malformed

# `mix(n)` scatters n over 0..9999, the same way for the same seed.
_MIX = "((({n} + :seed) * 2654435761 % 4294967296) / 65536 % 10000)"

_FILL = (
    """
    INSERT INTO agents (id, workspace_id, name, token_hash, delivery_seq, created_at, last_seen)
    WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < :tenants * 6 - 1)
    SELECT printf('ag_%04d_%d', i / 6, i % 6), printf('ws_%04d', i / 6), 'agent-' || (i % 6), 'token-' || i,
      :messages, :now - 10368000, :now
    FROM n
    """,
    """
    INSERT INTO channels (id, workspace_id, name, created_by, created_at)
    WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < :tenants * 2 - 1)
    SELECT printf('ch_%04d_%d', i / 2, i % 2), printf('ws_%04d', i / 2), 'channel-' || (i % 2), printf('ag_%04d_0', i / 2), :now - 10368000
    FROM n
    """,
    # Eight messages in a row belong to one tenant: two stand alone, two answer the first, four are a chain. The ages span 120 days.
    f"""
    INSERT INTO messages (id, workspace_id, channel_id, agent_id, thread_id, body, metadata, created_at)
    WITH RECURSIVE
      n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < :messages - 1),
      m AS (SELECT i, i / 8 % :tenants AS tenant, :now * 1000 - (:messages - i) * (10368000000 / :messages) AS ms FROM n)
    SELECT
      ((ms - :epoch) << 22 | i % 1024 * 2) || '',
      printf('ws_%04d', tenant), printf('ch_%04d_%d', tenant, i / 8 % 2), printf('ag_%04d_%d', tenant, i % 6),
      CASE WHEN i % 8 IN (2, 3) THEN id_of.first WHEN i % 8 > 4 THEN id_of.previous END,
      'note ' || i || CASE {_MIX.format(n="i")} % 4 WHEN 0 THEN ' on deploys' WHEN 1 THEN ' on reviews' WHEN 2 THEN ' on plans' ELSE '' END,
      CASE WHEN {_MIX.format(n="i")} < 20 THEN '{{"legal_hold": true}}' ELSE '{{}}' END,
      ms / 1000
    FROM m
    JOIN (SELECT i AS j,
      ((ms - i % 8 * (10368000000 / :messages) - :epoch) << 22 | (i - i % 8) % 1024 * 2) || '' AS first,
      ((ms - 10368000000 / :messages - :epoch) << 22 | (i - 1) % 1024 * 2) || '' AS previous FROM m) AS id_of ON j = i
    """,
    """
    INSERT INTO message_logs (id, workspace_id, message_id, channel_id, agent_id, delivery_kind, body, created_at)
    SELECT (CAST(id AS INTEGER) + 1) || '', workspace_id, id, channel_id, agent_id, 'channel', body, created_at
    FROM messages WHERE rowid % 6 <> 0 ORDER BY rowid
    """,
    # Nine of ten are settled. Half of the active ones carry a deadline of a week.
    f"""
    INSERT INTO deliveries (id, workspace_id, message_id, agent_id, status, seq, expires_at, created_at)
    SELECT printf('d%09d', n), workspace_id, id, printf('ag_%s_%d', substr(workspace_id, 4), a),
      CASE WHEN k < 8000 THEN 'acked' WHEN k < 8500 THEN 'failed' WHEN k < 9000 THEN 'dead_lettered'
        WHEN k < 9600 THEN 'queued' ELSE 'delivered' END, i, CASE WHEN k % 2 THEN created_at + 604800 END, created_at
    FROM (
      SELECT m.rowid * 5 + a AS n, m.rowid AS i, m.*, a, {_MIX.format(n="m.rowid * 5 + a")} AS k
      FROM messages AS m, (SELECT 0 AS a UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4)
    ) ORDER BY n
    """,
    # One receipt in a hundred names a message that is no longer there.
    """
    INSERT INTO read_receipts (message_id, agent_id, read_at)
    SELECT CASE WHEN rowid % 100 THEN id ELSE 'gone-' || id END, printf('ag_%s_%d', substr(workspace_id, 4), rowid % 6), created_at + 60
    FROM messages ORDER BY rowid
    """,
    # Two workspaces more than there are; the first one's events are all old, so that its newest must be seen to stay.
    """
    INSERT INTO workspace_events (workspace_id, seq, type, payload, created_at)
    WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < :events - 1)
    SELECT CASE WHEN t < :tenants THEN printf('ws_%04d', t) ELSE printf('ws_gone_%d', t) END,
      i / (:tenants + 2) + 1, 'message.created', '{}',
      :now - 5184000 * (:events - i) / :events - CASE t WHEN 0 THEN 5184000 ELSE 0 END
    FROM (SELECT i, i % (:tenants + 2) AS t FROM n)
    """,
)


def _document(tenant: int) -> str | None:
    return _DOCUMENTS[tenant if tenant < len(_DOCUMENTS) else tenant % _WELL_FORMED]


def sample_policy() -> str:
    """The relay policy with the sample's legal hold (TOML)."""
    return preset("relay").policy + HOLD


def make_sample(path: str | os.PathLike[str], rows: int = 300_000, tenants: int = 40, seed: int = 1) -> dict[str, int]:
    """Make a relay database of that many rows.

    Args:
        path: the file to make.
        rows: rows in the five tables that the policy prunes, together; at least 1,000.
        tenants: workspaces, at least 12 (one for each kind of keep).
        seed: scatters states, holds and texts; equal arguments make equal rows.

    Returns:
        Rows by table.

    Raises:
        PolicyError: the file exists, or a number is too small.
    """
    if rows < 1_000 or tenants < len(_DOCUMENTS):
        raise PolicyError(f"a sample has at least 1000 rows and {len(_DOCUMENTS)} tenants, not {rows} and {tenants}")
    if Path(path).exists():
        raise PolicyError(f"{os.fspath(path)} exists; the sample is made in a new file, so delete it or name another")
    # A message brings a receipt, five deliveries and five sixths of a log; events, about one a message, fill up to `rows`.
    messages = rows * 6 // 53
    given = {
        "now": int(NOW.timestamp()), "epoch": EPOCH_MS, "seed": seed, "tenants": tenants, "messages": messages,
        "events": rows - messages * 7 - (messages - messages // 6),
    }  # fmt: skip
    ddl = statements(preset("relay").schema)
    late = tuple(s for s in ddl if s.startswith(("CREATE INDEX", "CREATE UNIQUE INDEX", "CREATE TRIGGER")))
    db: Any = apsw.Connection(os.fspath(path))
    try:
        # Nobody else reads a file that is being made, and a half-made one is thrown away: no journal, no fsync.
        for pragma in ("journal_mode = off", "synchronous = off", "cache_size = -200000", "temp_store = memory", "foreign_keys = off"):
            db.execute(f"PRAGMA {pragma}")
        with db:
            for sql in ddl:
                if sql not in late:
                    db.execute(sql)
            db.executemany(
                "INSERT INTO workspaces (id, name, api_key_hash, retention, created_at) VALUES (?1, ?1, 'key-' || ?1, ?2, ?3)",
                ((f"ws_{t:04}", _document(t), given["now"] - 10_368_000) for t in range(tenants)),
            )
            for sql in _FILL:
                db.execute(sql, given)
            db.execute("INSERT INTO messages_fts (messages_fts) VALUES ('rebuild')")
            for sql in late:
                db.execute(sql)
        db.execute("PRAGMA journal_mode = wal")
        pruned = ("messages", "deliveries", "message_logs", "workspace_events", "read_receipts")
        return {t: db.execute(f'SELECT count(*) FROM "{t}"').get for t in pruned}
    finally:
        db.close()

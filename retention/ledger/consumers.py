"""Who reads the log, and which of them still count, as SQL: a common table, and what it takes for a consumer to need an event."""

from __future__ import annotations

from ..policy.ledger_models import Cursors, Events
from ..statements.quoting import name
from .log import column, consumer_test
from .sql import Params, unit

__all__ = ["CONSUMERS", "acked", "common_table", "given_up", "with_cursors"]

CONSUMERS = "retention_consumers"
"""The common table: `name`, and `quiet`: whether the consumer has moved no cursor, in any stream, since `stopped_after` ago.

The prefix keeps it from hiding a table of the application.
"""


def common_table(log: Events, cursors: Cursors, p: Params, now: int) -> str:
    """The WITH clause that makes `CONSUMERS`. A consumer that is listed in the policy and never acked is quiet."""
    quiet = "0"
    if log.stopped_after is not None and cursors.moved is not None:
        moved = f"retention_m.{name(cursors.moved.column)}"
        since = p(unit(cursors.moved.format).encode(now - log.stopped_after))
        mine = f"SELECT 1 FROM {name(cursors.table)} AS retention_m WHERE {consumer_test(cursors, 'retention_n.name', 'retention_m')}"
        # Of a place without a time nobody knows when it moved: its consumer counts. Two look-ups, each through the index.
        quiet = f"NOT EXISTS ({mine} AND {moved} >= {since}) AND NOT EXISTS ({mine} AND {moved} IS NULL)"
    each = f"SELECT retention_n.name, {quiet} FROM retention_names AS retention_n"
    return f"WITH RECURSIVE {_names(log, cursors, p)}, {CONSUMERS}(name, quiet) AS MATERIALIZED ({each})"


def _names(log: Events, cursors: Cursors, p: Params) -> str:
    if cursors.consumer is None:
        return "retention_names(name) AS (SELECT '')"
    # Steps from name to name through the index, however many cursors each has; DISTINCT would read them all.
    key = f"retention_s.{name(cursors.consumer)}"
    least = f"SELECT MIN({key}) FROM {name(cursors.table)} AS retention_s"
    following = f"SELECT ({least} WHERE {key} > retention_w.name) FROM retention_walk AS retention_w WHERE retention_w.name IS NOT NULL"
    walk = f"{least} UNION ALL {following}"
    listed = f" UNION SELECT value FROM {p.list(log.consumers)}" if log.consumers else ""
    return f"retention_walk(name) AS ({walk}), retention_names(name) AS (SELECT name FROM retention_walk WHERE name IS NOT NULL{listed})"


def with_cursors(log: Events, cursors: Cursors) -> str:
    """What joins a consumer `c` to its cursor `k` in the event's stream, if it has one there."""
    mine = f"retention_k.{name(cursors.stream)} = {column(log, 'stream')} AND {consumer_test(cursors, 'retention_c.name', 'retention_k')}"
    return f"LEFT JOIN {name(cursors.table)} AS retention_k ON {mine}"


def acked(log: Events, cursors: Cursors) -> str:
    """Whether the cursor `k` is at or past the event. No cursor, or one that is no number, counts as 0."""
    at = f"retention_k.{name(cursors.position)}"
    return f"(typeof({at}) = 'integer' AND {at} >= {column(log, 'id')})"


def given_up(log: Events, p: Params, now: int) -> str:
    """Whether the consumer `c` no longer protects an event that it has not acked."""
    if log.stopped_after is None:
        return "0"
    return f"(retention_c.quiet AND {unit(log.at.format).older(column(log, 'at'), now - log.stopped_after, p)})"

"""SQLite that takes no more than D1: for testing policies and engines without a server."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import apsw

from ..capabilities import D1, Capabilities
from ..steps import Batch, Result, Statement, Value
from .sqlite import SQLite
from .sqlite_limits import impose_d1_limits

__all__ = ["LikeD1", "limited_like_d1"]


def limited_like_d1(connection: apsw.Connection) -> LikeD1:
    """A host over `connection` with D1's limits, capabilities and ways with numbers. The limits stay on the connection."""
    return LikeD1(connection)


class LikeD1(SQLite):
    """As D1 does: every bound number arrives as a float, integers past 2^53 come back rounded, infinities come back as NULL,
    changes are only known with those of cascades and triggers, and `max_changes` is not watched.

    The transaction around several writes belongs to the server, so BEGIN and COMMIT are not part of `cost`, though a trace of
    the connection shows them. `meters` is off: SQLite has no count of rows read.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        impose_d1_limits(connection)
        super().__init__(connection, foreign_keys="on")

    @property
    def capabilities(self) -> Capabilities:
        """D1's but for the name and the meters."""
        return replace(D1, name="sqlite-like-d1", meters=False)

    def execute(self, batch: Batch, timeout: float | None = None) -> Sequence[Result]:
        """See `SQLite.execute`."""
        bound = tuple(Statement(s.sql, tuple(map(_bind, s.params))) for s in batch.statements)
        results = super().execute(replace(batch, statements=bound, max_changes=None, max_seconds=None), timeout)
        return [replace(r, rows=[tuple(map(_arrive, row)) for row in r.rows], changes=None, cascaded=None) for r in results]


def _bind(value: Value) -> Value:
    return float(value) if isinstance(value, int) else value


def _arrive(value: Value) -> Value:
    if isinstance(value, int):
        return int(float(value))
    if isinstance(value, float):
        return None if math.isinf(value) else int(value) if value.is_integer() else value
    return value

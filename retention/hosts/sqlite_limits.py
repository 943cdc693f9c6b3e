"""SQLite's run-time limits (sqlite.org/limits.html): reading a connection's, and imposing D1's on one for tests."""

from __future__ import annotations

from dataclasses import replace

import apsw

from ..capabilities import D1, Capabilities

__all__ = ["impose_d1_limits", "read_limits"]

# D1's, as workerd sets them (cloudflare/workerd, src/workerd/util/sqlite.c++, setupSecurity).
_D1_LIMITS = {
    apsw.SQLITE_LIMIT_VARIABLE_NUMBER: D1.max_params,
    apsw.SQLITE_LIMIT_SQL_LENGTH: D1.max_sql_bytes,
    apsw.SQLITE_LIMIT_EXPR_DEPTH: D1.max_depth,
    apsw.SQLITE_LIMIT_COMPOUND_SELECT: D1.max_compound,
    apsw.SQLITE_LIMIT_COLUMN: D1.max_columns,
    apsw.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: D1.max_pattern_bytes,
    apsw.SQLITE_LIMIT_LENGTH: D1.max_value_bytes,
    apsw.SQLITE_LIMIT_FUNCTION_ARG: 127,
    apsw.SQLITE_LIMIT_VDBE_OP: 25_000,
    apsw.SQLITE_LIMIT_ATTACHED: 0,
    apsw.SQLITE_LIMIT_TRIGGER_DEPTH: 10,
}


HAS_PREUPDATE = hasattr(apsw.Connection, "preupdate_hook")
"""Builds without it (apsw 3.47) measure a `max_changes` between BEGIN and COMMIT."""


def read_limits(connection: apsw.Connection) -> Capabilities:
    """The capabilities of a SQLite connection."""
    return replace(
        Capabilities(),
        measures=HAS_PREUPDATE,
        max_params=connection.limit(apsw.SQLITE_LIMIT_VARIABLE_NUMBER),
        max_sql_bytes=connection.limit(apsw.SQLITE_LIMIT_SQL_LENGTH),
        max_depth=connection.limit(apsw.SQLITE_LIMIT_EXPR_DEPTH),
        max_compound=connection.limit(apsw.SQLITE_LIMIT_COMPOUND_SELECT),
        max_columns=connection.limit(apsw.SQLITE_LIMIT_COLUMN),
        max_pattern_bytes=connection.limit(apsw.SQLITE_LIMIT_LIKE_PATTERN_LENGTH),
        max_value_bytes=connection.limit(apsw.SQLITE_LIMIT_LENGTH),
    )


def impose_d1_limits(connection: apsw.Connection) -> None:
    """Make a connection refuse what D1 refuses, with the same messages."""
    for limit, value in _D1_LIMITS.items():
        connection.limit(limit, value)

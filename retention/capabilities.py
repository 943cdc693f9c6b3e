"""What a host can do and how much it takes. The planner reads this; the engine never asks which host it is on."""

from __future__ import annotations

from dataclasses import dataclass

from .steps import Batch

__all__ = ["D1", "LIBSQL", "Capabilities"]


@dataclass(frozen=True, slots=True)
class Capabilities:
    """A host's abilities and limits. Sources: sqlite.org/limits.html; for D1 the platform's limits page, re-measured on workerd.

    Attributes:
        name: for plans and messages: `"sqlite"`, `"d1"`, `"libsql"`.
        remote: a round trip a batch; the outcome of a write may stay unknown.
        transactions: several writes cost BEGIN and COMMIT, and a batch can be measured and rolled back by its `max_changes`.
        wraps: every batch that writes costs BEGIN and COMMIT, though it cannot be measured and rolled back.
        measures: a single statement is held to its `max_changes` without a transaction around it.
        exact_changes: `Result.changes` is exact; otherwise `SELECT changes()` must follow in the same batch.
        pragmas: all read-only PRAGMAs work (D1 refuses most, but not the schema's).
        integers: every 64-bit integer arrives exactly when read as such (else read it as text).
        meters: results carry rows_read and rows_written.
        fence: statements that the runner puts before each batch that writes (a lease).
        max_params: bound values in one statement.
        max_sql_bytes: length of one statement.
        max_depth: depth of an expression tree.
        max_compound: terms in one compound SELECT.
        max_columns: in a table or a result.
        max_pattern_bytes: of LIKE and GLOB.
        max_value_bytes: of one text or blob.
        max_seconds: for one batch, or None.
    """

    name: str = "sqlite"
    remote: bool = False
    transactions: bool = True
    wraps: bool = False
    measures: bool = True
    exact_changes: bool = True
    pragmas: bool = True
    integers: bool = True
    meters: bool = False
    fence: int = 0
    max_params: int = 32_766
    max_sql_bytes: int = 1_000_000
    max_depth: int = 1_000
    max_compound: int = 500
    max_columns: int = 2_000
    max_pattern_bytes: int = 50_000
    max_value_bytes: int = 1_000_000_000
    max_seconds: float | None = None

    def cost(self, batch: Batch) -> int:
        """Statements that the host sends for a batch: its own, and BEGIN and COMMIT where it needs them."""
        fence = self.fence if batch.writes else 0
        several = len(batch.statements) + fence > 1
        wrapped = self.wraps or (self.transactions and (several or (batch.max_changes is not None and not self.measures)))
        return len(batch.statements) + fence + (2 if batch.writes and wrapped else 0)


D1 = Capabilities(
    name="d1",
    remote=True,
    transactions=False,
    exact_changes=False,
    pragmas=False,
    integers=False,
    meters=True,
    max_params=100,
    max_sql_bytes=100_000,
    max_depth=100,
    max_compound=5,
    max_columns=100,
    max_pattern_bytes=50,
    max_value_bytes=2_000_000,
    max_seconds=30.0,
)
"""Cloudflare D1 over its REST API. A batch is one transaction by itself, so nothing wraps it."""

LIBSQL = Capabilities(name="libsql", remote=True, transactions=False, wraps=True, meters=True)
"""libSQL (sqld, Turso) over Hrana: SQLite's own limits. A statement alone would keep what RAISE(FAIL) had done, so each is wrapped."""

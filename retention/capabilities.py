"""What a host can do and how much it takes. The planner reads this; the engine never asks which host it is on."""

from __future__ import annotations

from dataclasses import dataclass

from .steps import Batch

__all__ = ["Capabilities"]


@dataclass(frozen=True, slots=True)
class Capabilities:
    """A host's abilities and limits. Sources: sqlite.org/limits.html; for D1 the platform's limits page, re-measured on workerd.

    Attributes:
        name: for plans and messages: `"sqlite"`, `"d1"`, `"libsql"`.
        remote: a round trip a batch; the outcome of a write may stay unknown.
        transactions: a batch can be measured and rolled back by its `max_changes`, and costs BEGIN and COMMIT.
        exact_changes: `Result.changes` is exact; otherwise `SELECT changes()` must follow in the same batch.
        pragmas: all read-only PRAGMAs work (D1 refuses most, but not the schema's).
        integers: every 64-bit integer arrives exactly when read as such (else read it as text).
        meters: results carry rows_read and rows_written.
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
    exact_changes: bool = True
    pragmas: bool = True
    integers: bool = True
    meters: bool = False
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
        wrapped = self.transactions and batch.writes and (len(batch.statements) > 1 or batch.max_changes is not None)
        return len(batch.statements) + (2 if wrapped else 0)

"""What one drain of a table took, and how several of them are summed up."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Reading", "percentile", "rounded", "spread", "summary", "waits"]


@dataclass(slots=True)
class Reading:
    """One peer's drain of one file.

    Attributes:
        rows: deleted.
        seconds: from the first statement to the last, opening left out.
        statements: sent, reads and transaction control included.
        writes: duration of each write transaction, s.
        saves: times that progress was stored.
        requests: round trips, on a remote host.
        rows_read: by the host's own meter, on a remote host.
        left: digest of the rows that stay, to see that all peers did the same.
    """

    rows: int = 0
    seconds: float = 0.0
    statements: int = 0
    writes: list[float] = field(default_factory=list[float])
    saves: int = 0
    requests: int = 0
    rows_read: int = 0
    left: str = ""

    @property
    def rate(self) -> float:
        """Rows a second."""
        return self.rows / self.seconds if self.seconds else 0.0


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which that share (0 to 1) of the values lies, by the nearest rank; 0.0 of none."""
    if not values:
        return 0.0
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def spread(values: Sequence[float]) -> float:
    """Half the range, as a share of the median: 0.1 is +-10 %."""
    middle = statistics.median(values)
    return (max(values) - min(values)) / 2 / middle if middle else 0.0


def rounded(value: float, digits: int = 4) -> float:
    """To so many significant digits: more than that is noise."""
    return float(f"{value:.{digits}g}")


def waits(seconds: Sequence[float]) -> dict[str, float]:
    """A distribution of waits, in ms."""
    points = {"p50_ms": 0.5, "p99_ms": 0.99}
    return {name: rounded(percentile(seconds, share) * 1e3) for name, share in points.items()} | {
        "max_ms": rounded(max(seconds, default=0.0) * 1e3)
    }


def summary(readings: Sequence[Reading]) -> dict[str, Any]:
    """Medians of several rounds."""
    rates = [r.rate for r in readings]
    writes = [w for r in readings for w in r.writes]
    rows = readings[0].rows
    return {
        "rows": rows,
        "rows_per_second": rounded(statistics.median(rates)),
        "spread": rounded(spread(rates), 2),
        "seconds": rounded(statistics.median(r.seconds for r in readings)),
        "statements": readings[-1].statements,
        "statements_per_1000": rounded(readings[-1].statements * 1000 / rows) if rows else 0.0,
        "write_ms_p50": rounded(percentile(writes, 0.5) * 1e3),
        "write_ms_p95": rounded(percentile(writes, 0.95) * 1e3),
        "write_ms_max": rounded(max(writes, default=0.0) * 1e3),
        "saves": readings[-1].saves,
    }

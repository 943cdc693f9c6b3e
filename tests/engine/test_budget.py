from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retention.engine.budget import Budget


@pytest.mark.parametrize(
    ("budget", "cost", "why"),
    [
        (Budget(), 10**9, None),
        (Budget(statements=10, used=7), 3, None),
        (Budget(statements=10, used=7), 4, "statements"),
        (Budget(deadline=5.0, now=4.999), 1, None),
        (Budget(deadline=5.0, now=5.0), 0, "deadline"),
        (Budget(rows_read=10, read=9), 1, None),
        (Budget(rows_read=10, read=10), 1, "rows_read"),
        (Budget(rows_written=10, written=11), 1, "rows_written"),
        (Budget(halt="wal"), 0, "wal"),
        (Budget(halt="paused", deadline=0.0), 0, "paused"),
    ],
)
def test_a_step_is_admitted_if_its_worst_case_fits(budget: Budget, cost: int, why: str | None) -> None:
    assert budget.refuses(cost) == why


@given(st.integers(0, 100), st.integers(0, 100), st.integers(0, 100))
def test_what_is_admitted_never_passes_the_limit(limit: int, used: int, cost: int) -> None:
    assert (Budget(statements=limit, used=used).refuses(cost) is None) == (used + cost <= limit)

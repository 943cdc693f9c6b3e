"""Stored times in ms, as sweeps compare them: against an independent reading, on the oldest and the newest SQLite."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retention.errors import PolicyError
from retention.statements.ages import FORMATS, MAX_MS
from retention.statements.instants import STAMPS, first_of, milliseconds, stamp
from tests.statements.reading import EPOCH_MS, READ
from tests.statements.test_ages import values

DB = apsw.Connection("")
EXACT = [f for f in FORMATS if f not in ("julian", "unix_s", "unix_us", "mixed")]
"""The others hold doubles, or are divided: exact to a twentieth of a ms in the year 9999."""


def sql_ms(form: str, value: Any) -> Any:
    return DB.execute(f"SELECT {milliseconds(form, 'c', EPOCH_MS)} FROM (SELECT ?1 AS c)", (value,)).get


@pytest.mark.parametrize("form", FORMATS)
def test_sql_reads_the_instant_that_an_independent_reader_reads(form: str) -> None:
    """Never earlier: a part of a ms counts as a whole one in texts."""

    @settings(max_examples=300, deadline=None)
    @given(values(form))
    def check(value: Any) -> None:
        at, found = READ[form](value), sql_ms(form, value)
        assert (at is None) == (found is None), (value, at, found)
        if at is None or abs(at) * 1000 > MAX_MS:
            return
        if form in ("utc_text", "iso8601"):
            assert found == math.ceil(at * 1000), value
        elif form in EXACT:
            assert found == at * 1000, value
        else:
            assert abs(Fraction(found) - at * 1000) <= (1 if form in ("julian", "mixed", "unix_us") else Fraction(1, 20)), value

    check()


@pytest.mark.parametrize("form", STAMPS)
def test_what_python_writes_sql_reads_as_the_same_instant(form: str) -> None:
    unit = {"unix_s": 1000, "utc_text": 1000, "date": 86_400_000}.get(form, 1)

    @settings(max_examples=300, deadline=None)
    @given(st.integers(0, MAX_MS))
    def check(ms: int) -> None:
        found = sql_ms(form, stamp(form, ms))
        assert found == ms // unit * unit if form != "julian" else abs(found - ms) < 0.1

    check()


def test_no_time_is_written_as_an_id() -> None:
    for form in ("snowflake", "ulid", "mixed", "nonsense"):
        with pytest.raises(PolicyError, match="utc_text"):
            stamp(form, 0)


HAZARDS: list[tuple[str, Any, int | None]] = [
    ("utc_text", "2026-09-27 10:00:00", 1_790_503_200_000),
    ("utc_text", "2026-09-27 10:00:00.5", 1_790_503_200_500),
    ("utc_text", "2026-09-27 10:00:00.0000001", 1_790_503_200_001),
    ("utc_text", "2026-09-27T10:00:00Z", None),
    ("utc_text", "2026-09-27 10:00:00\n", None),
    ("utc_text", "2026-9-7 1:0:0", None),
    ("utc_text", "10:00", None),
    ("utc_text", "2026-02-30 10:00:00", None),
    ("utc_text", "2026-09-27 24:00:00", None),
    ("utc_text", "2026-09-27 10:00:60", None),
    ("utc_text", "٢٠٢٦-09-27 10:00:00", None),
    ("utc_text", "+010000-01-01 00:00", None),
    ("utc_text", 1_790_503_200_000, None),
    ("iso8601", "2026-09-27T10:00:00.123Z", 1_790_503_200_123),
    ("iso8601", "2026-09-27T10:00:00", 1_790_503_200_000),
    ("iso8601", "2026-09-27 10:00:00+08:00", 1_790_474_400_000),
    ("iso8601", "2026-09-27T10:00:00.999999+08:00", 1_790_474_401_000),
    ("date", "2026-09-27", 1_790_467_200_000),
    ("unix_ms", -1, -1),
    ("unix_ms", 253_402_300_800_000, 253_402_300_800_000),
    ("unix_ms", "1790503200000", None),
    ("mixed", "2026-09-27T10:00:00.123Z", 1_790_503_200_123),
    ("mixed", "2026-09-27 10:00:00", 1_790_503_200_000),
    ("mixed", 1_790_503_200_123, 1_790_503_200_123),
    ("mixed", 1_790_503_200, 1_790_503_200_000),
]
"""Forms that meet in one ledger: `T` against a space, ms in a text column, fractions, zones, years past 9999, rollovers."""


@pytest.mark.parametrize(("form", "value", "ms"), HAZARDS)
def test_hazards_of_one_ledger(form: str, value: Any, ms: int | None) -> None:
    assert sql_ms(form, value) == ms


def test_the_first_column_that_is_not_null_decides_even_where_it_cannot_be_read() -> None:
    present, ms = first_of([("a", "unix_ms", 0), ("b", "utc_text", 0)])
    sql = f"SELECT {present}, {ms} FROM (SELECT ?1 AS a, ?2 AS b)"
    assert DB.execute(sql, (5, "2026-09-27 10:00:00")).fetchall() == [(1, 5)]
    assert DB.execute(sql, (None, "2026-09-27 10:00:00")).fetchall() == [(1, 1_790_503_200_000)]
    assert DB.execute(sql, ("soon", "2026-09-27 10:00:00")).fetchall() == [(1, None)]
    assert DB.execute(sql, (None, None)).fetchall() == [(0, None)]

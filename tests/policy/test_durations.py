from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retention.policy.durations import DAY, MAX_DURATION, parse_duration, show_duration
from retention.policy.models import Rule


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("90d", 90 * DAY),
        ("12h", 43_200_000),
        ("30m", 1_800_000),
        ("10s", 10_000),
        ("500ms", 500),
        ("2w", 14 * DAY),
        ("1d12h", 36 * 3_600_000),
        ("1w2d3h4m5s6ms", 9 * DAY + 3 * 3_600_000 + 4 * 60_000 + 5_006),
        ("0s", 0),
        ("007d", 7 * DAY),
        ("P90D", 90 * DAY),
        ("PT12H", 43_200_000),
        ("P1DT12H", 36 * 3_600_000),
        ("P2W", 14 * DAY),
        ("PT30M10S", 1_810_000),
        ("3652059d", MAX_DURATION),
    ],
)
def test_durations_are_milliseconds(text: str, ms: int) -> None:
    assert parse_duration(text) == ms


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("30", 'no unit; write "30d"'),
        ("30.5", "no unit"),
        ("-5d", "negative"),
        ("P-1D", "negative"),
        ("", "empty"),
        ("  ", "empty"),
        ("P", "not a duration"),
        ("PT", "not a duration"),
        ("P1DT", "not a duration"),
        ("12h1d", "not a duration"),
        ("1d1d", "not a duration"),
        ("abc", "not a duration"),
        ("٣d", "not a duration"),
        ("forever", "not a duration"),
        ("1.5h", "fraction"),
        ("P1M", "no fixed length"),
        ("P1Y", "no fixed length"),
        ("3 months", "no fixed length"),
        ("1y", "no fixed length"),
        ("90 days", 'write "90d"'),
        ("90D", 'write "90d"'),
        ("5 min", 'write "5m"'),
        ("20 milliseconds", 'write "20ms"'),
        ("10s\n", 'write "10s"'),
        ("3652060d", "longer than"),
        ("9" * 5_000 + "d", "longer than"),
    ],
)
def test_what_is_no_duration_says_what_to_write(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=r"\A") as caught:
        parse_duration(text)
    assert says in str(caught.value)


@given(st.integers(0, MAX_DURATION))
def test_a_shown_duration_reads_back(ms: int) -> None:
    assert parse_duration(show_duration(ms)) == ms


@given(st.text(max_size=12))
def test_any_text_is_a_duration_within_range_or_a_value_error(text: str) -> None:
    try:
        ms = parse_duration(text)
    except ValueError as error:
        ms, said = 0, str(error)
    else:
        said = "nothing"
    assert said
    assert 0 <= ms <= MAX_DURATION


@pytest.mark.parametrize("given_keep", ["36h", timedelta(hours=36), "P1DT12H"])
def test_python_may_give_a_timedelta(given_keep: object) -> None:
    rule = Rule(table="t", keep=given_keep, age={"column": "at", "format": "unix_s"})
    assert rule.keep == 36 * 3_600_000


@pytest.mark.parametrize("given_keep", [timedelta(days=-1), timedelta(microseconds=1), 30, 1.5, True, None, b"1d", ["1d"]])
def test_other_values_are_no_durations(given_keep: object) -> None:
    with pytest.raises(ValueError, match="keep: "):
        Rule(table="t", keep=given_keep, age={"column": "at", "format": "unix_s"})

"""Each form of time against an independent reading: what SQL reads, what Python writes, and that the two agree.

Run on the newest SQLite here, and on 3.47 by `test_old_sqlite.py`.
"""

from __future__ import annotations

import struct
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

import apsw
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from retention.errors import PolicyError
from retention.statements.ages import FORMATS, MAX_MS, age_format, raw

from .reading import CROCKFORD, EPOCH_MS, READ, floored

FORMS = list(FORMATS)
DB = apsw.Connection("")
NOW_MS = 1_788_962_400_000
EXAMPLES = 400


def sql_reads(form: str, value: Any, ms: int) -> tuple[bool, Any, Any]:
    """Whether SQL can read the value, and whether it is older than the cutoff: bound, and computed in SQL."""
    f = FORMATS[form]
    older = f"{f.value('c')} < {f.bind('?2')}"
    computed = f"{f.value('c')} < {f.from_ms('CAST(?3 AS INTEGER)', EPOCH_MS)}"
    sql = f"SELECT {f.value('c')} IS NOT NULL, {older}, {computed} FROM (SELECT ?1 AS c)"
    return DB.execute(sql, (value, f.encode(ms, EPOCH_MS), str(ms))).fetchall()[0]


def agrees(form: str, value: Any, ms: int) -> None:
    at = READ[form](value)
    older = None if at is None else int(at < floored(form, ms))
    assert sql_reads(form, value, ms) == (at is not None, older, older), (form, value, ms, at)


# --- values of each form, and values that nearly are

instants = st.integers(0, MAX_MS)
near = st.integers(-2_000, 2_000).map(lambda d: NOW_MS - 30 * 86_400_000 + d)
times = st.one_of(near, instants)


def stamp(ms: int) -> str:
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)).strftime("%Y-%m-%d %H:%M:%S")


fractions = st.one_of(st.just(""), st.text("0123456789", min_size=1, max_size=9).map(lambda d: "." + d))
zones = st.sampled_from(
    ["", "Z", "+00:00", "-00:00", "+05:30", "-14:00", "+14:59", "+15:00", "+24:00", "z", " Z", "+0530", "-5:00", "Z+01:00"]
)
texts = st.builds(lambda ms, f: stamp(ms) + f, times, fractions)
isos = st.builds(lambda ms, sep, f, z: stamp(ms).replace(" ", sep) + f + z, times, st.sampled_from("T t_"), fractions, zones)
ids = times.map(lambda ms: (max(0, ms - EPOCH_MS) << 22) % 2**63)
uuids = st.builds(lambda ms, tail: f"{ms:012x}7{tail}", times, st.text("0123456789abcdef", min_size=19, max_size=19))
dashed = uuids.map(lambda h: f"{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}")
ulids = st.builds(
    lambda ms, tail: "".join(CROCKFORD[ms >> s & 31] for s in range(45, -1, -5)) + tail, times, st.text(CROCKFORD, min_size=16, max_size=16)
)

VALUES: dict[str, st.SearchStrategy[Any]] = {
    "unix_s": st.one_of(times.map(lambda ms: ms // 1000), times.map(lambda ms: ms / 1000)),
    "unix_ms": st.one_of(times, times.map(float), times.map(lambda ms: ms + 0.5)),
    "unix_us": times.map(lambda ms: ms * 1000),
    "utc_text": texts,
    "iso8601": st.one_of(isos, texts),
    "date": times.map(lambda ms: stamp(ms)[:10]),
    "julian": st.one_of(times.map(lambda ms: ms // 1000 / 86400 + 2440587.5), st.floats(0, 5_373_484)),
    "snowflake": st.one_of(ids, ids.map(str), ids.map(lambda i: f"0{i}")),
    "uuid7": st.one_of(dashed, dashed.map(str.upper), uuids.map(bytes.fromhex), uuids),
    "ulid": st.one_of(ulids, ulids.map(str.lower), ulids.map(str.swapcase)),
    "mixed": st.one_of(
        times, times.map(lambda ms: ms // 1000), times.map(lambda ms: ms * 1000), times.map(lambda ms: str(ms / 1000)),
        times.map(lambda ms: stamp(ms)[:10]), isos, texts,
    ),
}  # fmt: skip

numbers = st.one_of(st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False))
anything = st.one_of(st.none(), numbers, st.binary(max_size=17), st.text(max_size=30))


@st.composite
def spoilt(draw: st.DrawFn, form: str) -> Any:
    """A value of the form, with a character put in, taken out or changed."""
    value = draw(VALUES[form])
    if not isinstance(value, str):
        return draw(anything)
    place = draw(st.integers(0, len(value)))
    other = draw(st.sampled_from(["\x00", "\n", " ", "0", "9", "-", ".", ":", "T", "Z", "٣", "²", "é", "x", "+", "%", "7", "24"]))
    before, at, after = value[:place], value[place : place + 1], value[place + 1 :]
    return before + draw(st.sampled_from([other + at, "", other])) + after


def values(form: str) -> st.SearchStrategy[Any]:
    return st.one_of(VALUES[form], spoilt(form), anything)


@pytest.mark.parametrize("form", FORMS)
def test_sql_reads_what_an_independent_reader_reads(form: str) -> None:
    @settings(max_examples=EXAMPLES, deadline=None)
    @given(values(form), times)
    def check(value: Any, ms: int) -> None:
        agrees(form, value, ms)

    check()


@pytest.mark.parametrize("form", FORMS)
def test_a_cutoff_is_the_same_from_python_and_from_sql(form: str) -> None:
    f = FORMATS[form]

    @settings(max_examples=EXAMPLES, deadline=None)
    @given(instants)
    @example(0)
    @example(999)
    @example(EPOCH_MS - 1)
    @example(EPOCH_MS)
    @example(EPOCH_MS + 2**41 - 1)
    @example(EPOCH_MS + 2**41)
    @example(MAX_MS)
    def check(ms: int) -> None:
        bound, computed = f.bind("?1"), f.from_ms("CAST(?2 AS INTEGER)", EPOCH_MS)
        sql = f"SELECT {bound} IS {computed}, typeof({bound}) = typeof({computed})"
        assert DB.execute(sql, (f.encode(ms, EPOCH_MS), str(ms))).fetchall() == [(1, 1)], ms

    check()


STORED = [f for f in FORMS if f not in ("uuid7", "ulid", "iso8601", "mixed", "snowflake")]
"""Forms whose cutoffs are stored values themselves; the others' are the beginning of an id, or seconds."""


@pytest.mark.parametrize("form", STORED)
def test_what_python_writes_sql_reads_as_the_same_instant(form: str) -> None:
    f = FORMATS[form]
    numbers = f.order == "number" and form != "julian"

    @settings(max_examples=EXAMPLES, deadline=None)
    @given(instants)
    def check(ms: int) -> None:
        written: Any = f.encode(ms, 0)
        value = int(written) if numbers else written
        assert abs((READ[form](value) or 0) - floored(form, ms)) < Fraction(1, 10_000)
        assert sql_reads(form, value, ms)[0] == 1
        assert DB.execute(f"SELECT {f.value('c')} = {f.bind('?2')} FROM (SELECT ?1 AS c)", (value, written)).get == 1

    check()


@pytest.mark.parametrize("form", ["utc_text", "date", "uuid7"])
def test_an_expired_text_lies_below_the_walks_end(form: str) -> None:
    """A walk by age ends at `seek`: no readable text of an older instant may stand behind it.

    ULIDs in lower case do, which is why no index is chosen for them.
    """
    f = FORMATS[form]

    @settings(max_examples=EXAMPLES, deadline=None)
    @given(values(form), times)
    def check(value: Any, ms: int) -> None:
        end = (f.seek or f.encode)(ms, EPOCH_MS)
        if isinstance(value, str) and sql_reads(form, value, ms)[1]:
            assert DB.execute("SELECT ?1 < ?2", (value, end)).get == 1, (value, end)

    check()


@pytest.mark.parametrize("form", ["snowflake", "uuid7", "ulid"])
def test_an_id_is_as_old_as_its_first_bits(form: str) -> None:
    """At the bound: an id of the cutoff's own ms is not older, one of the ms before is."""
    ms = NOW_MS - 30 * 86_400_000
    highest = (1 << 22) - 1
    made: dict[str, list[Any]] = {
        "snowflake": [((ms - 1 - EPOCH_MS) << 22) | highest, (ms - EPOCH_MS) << 22, str((ms - EPOCH_MS) << 22)],
        "uuid7": [f"{ms - 1:012x}", f"{ms:012x}", f"{ms:012X}"],
        "ulid": ["".join(CROCKFORD[m >> s & 31] for s in range(45, -1, -5)) for m in (ms - 1, ms, ms)],
    }
    tail = {"uuid7": "7fffffffffffffffffff", "ulid": "Z" * 16}
    for value, older in zip(made[form], (1, 0, 0), strict=True):
        if form == "uuid7":
            value = f"{value[:8]}-{value[8:]}-7{tail[form][1:4]}-{tail[form][4:8]}-{tail[form][8:]}"
        elif form == "ulid":
            value += tail[form]
        assert sql_reads(form, value, ms)[1] == older
        agrees(form, value, ms)


# --- values that were met in the field

NASTY: list[tuple[str, Any, Fraction | int | None]] = [
    ("utc_text", "2026-09-27 10:00:00", 1790503200),
    ("utc_text", "2026-09-27 10:00:00.123", 1790503200 + Fraction("0.123")),
    ("utc_text", "2026-09-27 10:00:00.", None),
    ("utc_text", "2026-09-27T10:00:00", None),  # greater than any text of that day with a blank
    ("utc_text", "2026-09-27 10:00:00Z", None),
    ("utc_text", "2026-09-27", None),
    ("utc_text", "2026-09-27 10:00", None),
    ("utc_text", "12:00", None),  # SQLite reads the year 2000
    ("utc_text", " 2026-09-27 10:00:00", None),
    ("utc_text", "2026-09-27 10:00:00\n", None),
    ("utc_text", "2026-09-27 10:00:00\x00", None),
    ("utc_text", "2026-09-27 10:00:00.5\x00", None),
    ("utc_text", "2026-9-7 1:0:0", None),
    ("utc_text", "2026-02-30 10:00:00", None),  # SQLite reads 2 March
    ("utc_text", "2026-02-29 10:00:00", None),
    ("utc_text", "2028-02-29 10:00:00", 1835431200),
    ("utc_text", "2026-13-01 10:00:00", None),
    ("utc_text", "2026-00-10 10:00:00", None),
    ("utc_text", "2026-09-27 24:00:00", None),  # SQLite's versions differ
    ("utc_text", "2026-09-27 10:00:60", None),
    ("utc_text", "9999-99-99 99:99:99", None),
    ("utc_text", "9999-12-31 23:59:59", 253402300799),
    ("utc_text", "+010000-01-01 00:00", None),
    ("utc_text", "10000-01-01 00:00:00", None),
    ("utc_text", "-2026-09-27 10:00:00", None),
    ("utc_text", "0000-00-00 00:00:00", None),
    ("utc_text", "1969-12-31 23:59:59", -1),
    ("utc_text", "٢٠٢٦-٠٩-٢٧ ١٠:٠٠:٠٠", None),
    ("utc_text", "2026-09-27 10:00:0٣", None),
    ("utc_text", "27.09.2026 10:00:00", None),  # sorts below any cutoff
    ("utc_text", "09/27/2026 10:00:00", None),
    ("utc_text", "", None),
    ("utc_text", "now", None),  # SQLite reads the present
    ("utc_text", "2460000.5", None),  # a Julian day to SQLite
    ("utc_text", 1790503200, None),
    ("utc_text", b"2026-09-27 10:00:00", None),
    ("iso8601", "2026-09-27T10:00:00Z", 1790503200),
    ("iso8601", "2026-09-27 10:00:00+08:00", 1790474400),
    ("iso8601", "2026-09-27T10:00:00.999999-00:30", 1790503200 + 1800 + Fraction("0.999999")),
    ("iso8601", "2026-09-27T10:00:00", 1790503200),  # no zone is UTC
    ("iso8601", "2026-09-27T10:00Z", None),
    ("iso8601", "2026-09-27t10:00:00z", None),
    ("iso8601", "20260927T100000Z", None),
    ("iso8601", "2026-09-27T10:00:00+0800", None),
    ("iso8601", "2026-09-27T10:00:00+15:00", None),
    ("iso8601", "2026-09-27T24:00:00Z", None),
    ("iso8601", "2026-02-30T10:00:00Z", None),
    ("iso8601", "2026-09-27T10:00:00.Z", None),
    ("iso8601", "2026-09-27T10:00:00.1.2Z", None),
    ("iso8601", "2026-09-27T10:00:00Z\n", None),
    ("iso8601", "2026-09-27T10:00:00Z\x00", None),
    ("iso8601", "2026-09-27T10:00:00 Z", None),
    ("iso8601", "2026-W39-7T10:00:00Z", None),
    ("date", "2026-09-27", 1790467200),
    ("date", "2026-02-30", None),
    ("date", "2026-9-27", None),
    ("date", "2026-09-27 00:00:00", None),
    ("date", "27.09.2026", None),
    ("date", "2026-09-27\x00", None),
    ("date", "-2026-09-27", None),
    ("date", "-026-09-27", None),
    ("unix_s", 1790503200, 1790503200),
    ("unix_s", 1790503200.5, 1790503200 + Fraction(1, 2)),
    ("unix_s", -1, -1),
    ("unix_s", "1790503200", None),  # digits as text compare digit by digit
    ("unix_s", "", None),
    ("unix_s", b"1790503200", None),
    ("unix_ms", 1790503200123, 1790503200 + Fraction(123, 1000)),
    ("unix_ms", -1, Fraction(-1, 1000)),
    ("snowflake", "212570682163200000", Fraction((212570682163200000 >> 22) + EPOCH_MS, 1000)),
    ("snowflake", 212570682163200000, Fraction((212570682163200000 >> 22) + EPOCH_MS, 1000)),
    ("snowflake", "0000000001", None),
    ("snowflake", "msg_gone", None),
    ("snowflake", "9223372036854775807", Fraction(((2**63 - 1) >> 22) + EPOCH_MS, 1000)),
    ("snowflake", "9223372036854775808", None),
    ("snowflake", "9" * 20, None),
    ("snowflake", "", None),
    ("snowflake", "-5", None),
    ("snowflake", -5, None),
    ("snowflake", "1e5", None),
    ("snowflake", "5.0", None),
    ("snowflake", "5\x00", None),
    ("snowflake", "٣٣٣", None),
    ("snowflake", 5.0, None),
    ("uuid7", "019f3b5c-2b6d-7c11-8a55-0123456789ab", Fraction(0x019F3B5C2B6D, 1000)),
    ("uuid7", "019F3B5C-2B6D-7C11-8A55-0123456789AB", Fraction(0x019F3B5C2B6D, 1000)),
    ("uuid7", "019f3b5c-2b6d-4c11-8a55-0123456789ab", None),  # version 4 is random
    ("uuid7", "019f3b5c2b6d7c118a550123456789ab", None),
    ("uuid7", "{19f3b5c-2b6d-7c11-8a55-0123456789ab", None),
    ("uuid7", "019f3b5c-2b6d-7c11-8a55-0123456789a\x00", None),
    ("ulid", "01ARZ3NDEKTSV4RRFFQ69G5FAV", Fraction(1469922850259, 1000)),
    ("ulid", "01ARZ3NDEKTSV4RRFFQ69G5FA", None),
    ("ulid", "01ARZ3NDEKTSV4RRFFQ69G5FAU", None),
    ("ulid", "81ARZ3NDEKTSV4RRFFQ69G5FAV", None),
    ("julian", 2440587.5, 0),
    ("julian", "2440587.5", None),
    ("mixed", 1790503200, 1790503200),
    ("mixed", 1790503200123, 1790503200 + Fraction(123, 1000)),
    ("mixed", 1790503200123456, 1790503200 + Fraction(123456, 1_000_000)),
    ("mixed", "1790503200.0", 1790503200),
    ("mixed", "1790503200", 1790503200),
    ("mixed", "2026-09-27", 1790467200),
    ("mixed", "2026-09-27 10:00:00", 1790503200),
    ("mixed", "2026-09-27T10:00:00Z", 1790503200),
    ("mixed", "20260927", None),  # a date without dashes, or seconds of 1970
    ("mixed", "27.09.2026 10:00:00", None),
    ("mixed", "2026-02-30", None),
    ("mixed", "now", None),
    ("mixed", -(2**63), Fraction(-(2**63), 1_000_000)),  # abs() of it is an error
    ("mixed", 2**63 - 1, Fraction(2**63 - 1, 1_000_000)),
    ("mixed", "9" * 30, Fraction(float("9" * 30)) / 1_000_000),
    ("mixed", b"1790503200", None),
]  # fmt: skip


@pytest.mark.parametrize(("form", "value", "at"), NASTY, ids=[f"{f} {v!a}" for f, v, _ in NASTY])
def test_values_met_in_the_field(form: str, value: Any, at: Fraction | int | None) -> None:
    read = READ[form](value)
    assert read is None if at is None else abs((read or 0) - at) < Fraction(1, 1_000_000)
    for ms in (0, NOW_MS, MAX_MS, *([] if at is None else [min(max(0, int(at * 1000) + d), MAX_MS) for d in (-1000, -1, 0, 1, 1000)])):
        agrees(form, value, ms)


def test_a_clock_before_the_ids_begin_lets_none_go() -> None:
    assert FORMATS["snowflake"].encode(EPOCH_MS - 5, EPOCH_MS) == "0"
    assert sql_reads("snowflake", 0, EPOCH_MS - 5) == (1, 0, 0)


def test_infinity_and_the_edges_of_numbers() -> None:
    for value in (struct.unpack("<d", b"\xff\xff\xff\xff\xff\xff\xef\x7f")[0], 5e-324, -0.0, 2**63 - 1):
        agrees("unix_s", value, NOW_MS)


def test_the_first_column_that_is_not_null_decides() -> None:
    """Also where it cannot be read: another column's time would be a guess."""
    f = FORMATS["utc_text"]
    sql = f"SELECT {f.value(raw(('a', 'b')))} FROM (SELECT ?1 AS a, ?2 AS b)"
    assert DB.execute(sql, (None, "2026-09-27 10:00:00")).get == "2026-09-27 10:00:00"
    assert DB.execute(sql, ("soon", "2026-09-27 10:00:00")).get is None


def test_an_unknown_form_names_the_known() -> None:
    with pytest.raises(PolicyError, match="use one of unix_s, unix_ms"):
        age_format("epoch")

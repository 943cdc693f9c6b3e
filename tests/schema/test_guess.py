from __future__ import annotations

import pytest

from retention.schema.guess import guess, role, words
from retention.schema.model import Affinity, Column
from retention.schema.reader import affinity
from retention.statements.ages import FORMATS
from tests.schema.driver import database


def column(name: str = "created_at", declared: str = "", default: str | None = None) -> Column:
    found: Affinity = affinity(declared)
    return Column(name, declared, found, notnull=False, default=default, pk=0)


VALUES = {
    "unix_s": (1_760_000_000, 1_760_000_000.25, 631_152_000, 4_102_444_799),
    "unix_ms": (1_760_000_000_000, 1_760_000_000_000.5, 631_152_000_000),
    "unix_us": (1_760_000_000_000_000, 631_152_000_000_000),
    "julian": (2_460_000.5, 2_460_001),
    "utc_text": ("2026-01-31 12:00:00", "2026-01-31 12:00:00.999999"),
    "iso8601": ("2026-01-31T12:00:00Z", "2026-01-31T12:00:00.123+02:00", "2026-01-31 12:00:00", "2026-01-31 12:00:00-08:00"),
    "date": ("2026-01-31", "2024-02-29"),
    "snowflake": (1_234_567_890_123_456_789, "1234567890123456789", 123_456_789_012_345_678),
    "uuid7": ("0198c2f4-5a00-7abc-8def-0123456789ab", bytes.fromhex("0198c2f45a007abc8def0123456789ab")),
    "ulid": ("01K31F8NG0ABCDEFGHJKMNPQRS", "01k31f8ng0abcdefghjkmnpqrs"),
    "mixed": ("1760000000", 1_760_000_000, "2026-01-31T12:00:00Z", "2026-01-31", 1_760_000_000_000),
}


@pytest.mark.parametrize("form", list(FORMATS))
def test_each_form_is_recognised_and_the_engine_reads_every_value_of_it(form):
    db = database("CREATE TABLE t(created_at)")
    for value in VALUES[form]:
        db.execute("INSERT INTO t VALUES (?)", (value,))
    sql = "SELECT typeof(created_at), CASE typeof(created_at) WHEN 'blob' THEN hex(created_at) ELSE CAST(created_at AS TEXT) END FROM t"
    sample = db.execute(sql).fetchall()
    found = guess(column(), "creation", sample)
    assert (found.format, found.seen) == (form, len(VALUES[form]))
    assert db.execute(f"SELECT count({FORMATS[form].value('created_at')}) FROM t").get == len(VALUES[form])


@pytest.mark.parametrize(
    "values",
    [
        [("text", "1970-01-01 00:00:03.000000")] * 5,  # a span of time, stored as a date since 1970
        [("integer", "3"), ("integer", "1760000000"), ("integer", "17")],
        [("text", "31/01/2026 12:00")] * 3,
        [("text", "12:00"), ("text", "yesterday")],
        [("text", "2026-01-31 12:00:00"), ("real", "2460000.5")],  # no format reads both
        [("blob", "00ff")],
        [("text", "8ZZZZZZZZZZZZZZZZZZZZZZZZZ")],
        [("text", "0198c2f4-5a00-4abc-8def-0123456789ab")],  # a random UUID
    ],
)
def test_what_is_no_plausible_time_is_not_guessed(values):
    assert guess(column(), "creation", values).format is None


def test_a_few_odd_values_do_not_hide_the_form():
    sample = [("text", "2026-01-31 12:00:00")] * 8 + [("text", "9999-12-31 23:59:59"), ("text", "0999-01-01 00:00:00"), ("null", None)]
    found = guess(column(declared="datetime"), "creation", sample)
    assert found.format == "utc_text"
    assert found.evidence == ("declared datetime, 8 of 10 sampled values look like utc_text, 2026-01-31 to 2026-01-31, NULL in 1 more")


@pytest.mark.parametrize(
    ("name", "declared", "default", "form"),
    [
        ("created_at", "INTEGER", None, "unix_s"),
        ("created_at", "INTEGER", "unixepoch()", "unix_s"),
        ("created_at", "INTEGER", "strftime('%s', 'now')", "unix_s"),
        ("created", "TEXT", "CURRENT_TIMESTAMP", "utc_text"),
        ("created", "TEXT", "datetime('now')", "utc_text"),
        ("created", "DATETIME", None, "utc_text"),
        ("birthday", "date", None, "date"),
        ("created", "TEXT", None, None),
        ("failures_since_start", "INTEGER", None, None),
        ("id", "INTEGER", None, None),
    ],
)
def test_without_values_the_declaration_decides(name, declared, default, form):
    for sample in ([], [("null", None)]):
        found = guess(column(name, declared, default), "creation", sample)
        assert (found.format, found.seen) == (form, 0)
        assert ("guessed from name and type alone" in found.evidence) is (form is not None)


@pytest.mark.parametrize(
    ("name", "declared", "key", "expected"),
    [
        ("finishedAt", "", False, "completion"),
        ("expires_at", "", False, "expiry"),
        ("last_seen_at", "", False, "change"),
        ("created", "", False, "creation"),
        ("ts", "", False, "creation"),
        ("x", "TIMESTAMP", False, "creation"),
        ("id", "TEXT", True, "creation"),
        ("id", "TEXT", False, None),
        ("status", "TEXT", False, None),
        ("format", "TEXT", False, None),
        ("next_attempt_at", "INTEGER", False, None),
    ],
)
def test_names_tell_the_moment_in_a_rows_life(name, declared, key, expected):
    assert role(column(name, declared), key) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("created_at", ("created", "at")),
        ("createdAt", ("created", "at")),
        ("HTTPTime", ("httptime",)),
        ("Created-At 2", ("created", "at")),
        ("", ()),
    ],
)
def test_words(name, expected):
    assert words(name) == expected

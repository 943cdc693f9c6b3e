"""The guide's table of errors is the table that the host uses."""

from __future__ import annotations

from pathlib import Path

from retention.hosts.classify import D1_ROWS, Row
from retention.hosts.d1 import BASE_URL, BASE_URL_VARIABLE, TOKEN_VARIABLE
from retention.hosts.libsql import TOKEN_VARIABLE as LIBSQL_TOKEN_VARIABLE

GUIDE = (Path(__file__).parents[2] / "docs/d1.md").read_text()
CERTAIN = {False: "no", None: "unknown"}


def line(row: Row) -> str:
    return f"| {row.cause} | {row.kind} | {75 if row.retryable else 1} | {CERTAIN[row.applied]} | {row.advice} |"


def test_the_guide_lists_every_error_in_order():
    lines = list(dict.fromkeys(map(line, D1_ROWS)))
    start = GUIDE.index("| What is wrong |")
    listed = GUIDE[start : GUIDE.index("\n\n", start)].splitlines()[2:]
    assert listed == lines, "\n".join(lines)


def test_the_guide_names_what_the_environment_gives():
    for name in (TOKEN_VARIABLE, BASE_URL_VARIABLE, BASE_URL, LIBSQL_TOKEN_VARIABLE):
        assert name in GUIDE

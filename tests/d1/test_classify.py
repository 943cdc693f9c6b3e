"""The table of answers: each row is reached, and what is documented means what it should."""

from __future__ import annotations

import typing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retention.errors import Fenced, Kind
from retention.hosts.classify import D1_ROWS, LIBSQL_ROWS, Signal, classify, failure

TABLES = {"d1": D1_ROWS, "libsql": LIBSQL_ROWS}
ROWS = [pytest.param(rows, row, id=f"{name}-{row.seen.code}-{row.cause}") for name, rows in TABLES.items() for row in rows]


@pytest.mark.parametrize(("rows", "row"), ROWS)
def test_each_row_is_reached_by_what_was_seen(rows, row):
    assert classify(row.seen, rows) is row


@pytest.mark.parametrize(("rows", "row"), ROWS)
def test_each_message_names_the_database_the_answer_and_what_to_do(rows, row):
    error = failure(row.seen, row, "d1://account/database", writes=True)
    text = str(error)
    assert text.startswith("d1://account/database: ")
    assert row.cause in text
    assert row.seen.message in text
    assert text.endswith(row.advice)
    assert ("not known whether" in text) == (row.applied is None)
    assert error.kind in typing.get_args(Kind)
    assert error.exit_status == (75 if row.retryable else 1)


# (status, code, message) -> (kind, retryable, applied) of a write
DOCUMENTED = [
    # developers.cloudflare.com/d1/observability/debug-d1
    (500, "7500", "D1_ERROR: D1 DB reset because its code was updated.", ("network", True, None)),
    (500, "7500", "Internal error while starting up D1 DB storage caused object to be reset.", ("network", True, None)),
    (500, "7500", "Network connection lost.", ("network", True, None)),
    (500, "7500", "Internal error in D1 DB storage caused object to be reset.", ("network", True, None)),
    (500, "7500", "Cannot resolve D1 DB due to transient issue on remote node.", ("network", True, False)),
    (500, "7500", "Can't read from request stream because client disconnected.", ("network", True, None)),
    (500, "7500", "D1 DB storage operation exceeded timeout which caused object to be reset.", ("overloaded", True, None)),
    (429, "7500", "D1 DB is overloaded. Requests queued for too long.", ("overloaded", True, False)),
    (429, "7500", "D1 DB is overloaded. Too many requests queued.", ("overloaded", True, False)),
    (500, "7500", "D1 DB is overloaded. Too many requests queued.", ("overloaded", True, None)),
    (500, "7500", "D1 DB's isolate exceeded its memory limit and was reset.", ("overloaded", True, None)),
    (500, "7500", "D1 DB exceeded its CPU time limit and was reset.", ("overloaded", True, None)),
    # seen in reports
    (400, "7500", "Currently processing a long-running export.", ("busy", True, False)),
    (500, "7500", "internal error; reference = e_Gz3hrU", ("network", True, None)),
    (403, "7403", "The given account is not valid or is not authorized to access this service", ("denied", False, False)),
    (403, "10000", "Authentication error", ("denied", False, False)),
    (401, "10000", "Authentication error", ("denied", False, False)),
    (400, "6003", "Invalid request headers", ("denied", False, False)),
    (404, "7404", "The database x could not be found", ("denied", False, False)),
    (404, "7000", "No route for that URI", ("denied", False, False)),
    (400, "7003", "Could not route to /accounts/x/d1/database, perhaps your object identifier is invalid?", ("denied", False, False)),
    (400, "7500", "D1_ERROR: Exceeded maximum DB size", ("full", False, False)),
    (500, "7500", "D1_ERROR: Exceeded maximum DB size.", ("full", False, False)),
    (400, "7500", "Your account has exceeded D1's free tier daily row write limit. Upgrade to a paid plan", ("quota", True, False)),
    (400, "7500", "Your account has exceeded D1's maximum account storage limit", ("full", False, False)),
    (429, "971", "Please wait and consider throttling your request speed", ("quota", True, False)),
    (429, "7500", "Network connection lost.", ("quota", True, False)),
    (429, "7500", "D1 DB's isolate exceeded its memory limit and was reset.", ("quota", True, False)),
    (504, "", "a body that is not JSON (text/html)", ("network", True, None)),
    (502, "", "", ("network", True, None)),
    (520, "", "", ("network", True, None)),
    (503, "", "", ("network", True, None)),
    (200, "", "a body that is not JSON (text/html)", ("network", True, None)),
    # measured on workerd
    (400, "7500", "UNIQUE constraint failed: p.id: SQLITE_CONSTRAINT", ("constraint", False, False)),
    (400, "7500", "network connection lost: SQLITE_CONSTRAINT", ("constraint", False, False)),
    (400, "7500", 'near "selec": syntax error at offset 0: SQLITE_ERROR', ("error", False, False)),
    (400, "7500", "too many SQL variables at offset 300: SQLITE_ERROR", ("limit", False, False)),
    (400, "7500", "variable number must be between ?1 and ?100 at offset 7: SQLITE_ERROR", ("limit", False, False)),
    (400, "7500", "Expression tree is too large (maximum depth 100): SQLITE_ERROR", ("limit", False, False)),
    (400, "7500", "too many terms in compound SELECT: SQLITE_ERROR", ("limit", False, False)),
    (400, "7500", "statement too long: SQLITE_TOOBIG", ("limit", False, False)),
    (400, "7500", "string or blob too big: SQLITE_TOOBIG", ("limit", False, False)),
    (400, "7500", "out of memory: SQLITE_NOMEM", ("limit", False, False)),
    (400, "7500", "too many columns on t: SQLITE_ERROR", ("limit", False, False)),
    (400, "7500", "LIKE or GLOB pattern too complex: SQLITE_ERROR", ("limit", False, False)),
    (400, "7500", "too many levels of trigger recursion: SQLITE_ERROR", ("limit", False, False)),
    (400, "7500", "Wrong number of parameter bindings for SQL query.", ("limit", False, False)),
    (400, "7500", "no such table: nix at offset 14: SQLITE_ERROR", ("schema", False, False)),
    (400, "7500", "not authorized: SQLITE_AUTH", ("denied", False, False)),
    (400, "7500", "not authorized to use function: sqlite_version at offset 7: SQLITE_ERROR", ("denied", False, False)),
    (400, "7500", "incomplete input: SQLITE_ERROR", ("error", False, False)),
    # the transport
    (0, "ConnectError", "[Errno 111] Connection refused", ("network", True, False)),
    (0, "ConnectTimeout", "timed out", ("network", True, False)),
    (0, "PoolTimeout", "", ("network", True, False)),
    (0, "ProxyError", "502 Bad Gateway", ("network", True, False)),
    (0, "ConnectError", "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed", ("network", False, False)),
    (0, "ReadTimeout", "timed out", ("network", True, None)),
    (0, "ReadError", "", ("network", True, None)),
    (0, "WriteError", "", ("network", True, None)),
    (0, "WriteTimeout", "", ("network", True, None)),
    (0, "RemoteProtocolError", "Server disconnected without sending a response.", ("network", True, None)),
    (0, "DecodingError", "", ("network", True, None)),
    (0, "UnsupportedProtocol", "", ("error", False, False)),
]


@pytest.mark.parametrize(("status", "code", "message", "expected"), DOCUMENTED)
def test_what_d1_answers(status, code, message, expected):
    row = classify(Signal(status, code, message), D1_ROWS)
    assert (row.kind, row.retryable, row.applied) == expected


@pytest.mark.parametrize(
    ("status", "code", "message", "expected"),
    [
        (200, "SQLITE_CONSTRAINT", "SQLite error: FOREIGN KEY constraint failed", ("constraint", False, False)),
        (200, "SQLITE_BUSY", "SQLite error: database is locked", ("busy", True, False)),
        (200, "SQLITE_UNKNOWN", "SQLite error: no such table: nix", ("schema", False, False)),
        (200, "SQLITE_UNKNOWN", "SQLite error: too many SQL variables", ("limit", False, False)),
        (200, "SQL_PARSE_ERROR", "SQL string could not be parsed", ("error", False, False)),
        (200, "BLOCKED", "Operation was blocked: SQL write operations are forbidden", ("quota", True, False)),
        (401, "", "Authentication failed: The JWT is invalid", ("denied", False, False)),
        (404, "", "Namespace `nix` doesn't exist", ("denied", False, False)),
        (429, "", "", ("quota", True, False)),
        (500, "", "invalid utf-8 sequence of 1 bytes from index 0", ("error", False, None)),
        (502, "", "a body that is not JSON (text/html)", ("network", True, None)),
    ],
)
def test_what_libsql_answers(status, code, message, expected):
    row = classify(Signal(status, code, message), LIBSQL_ROWS)
    assert (row.kind, row.retryable, row.applied) == expected


@pytest.mark.parametrize("rows", TABLES.values(), ids=TABLES)
@given(signal=st.builds(Signal, st.integers(0, 999), st.text(max_size=8), st.text(max_size=40)))
def test_every_answer_has_a_row(rows, signal):
    assert classify(signal, rows).matches(signal)


@given(status=st.integers(500, 999), code=st.sampled_from(["", "7500", "1101"]), message=st.text(max_size=30))
def test_a_server_error_without_known_words_leaves_a_write_unknown(status, code, message):
    row = classify(Signal(status, code, message), D1_ROWS)
    assert row.applied is None or row.pattern is not None


@pytest.mark.parametrize(("rows", "row"), ROWS)
def test_a_read_is_never_applied(rows, row):
    assert failure(row.seen, row, "db", writes=False).applied is False


def test_a_fence_is_named_only_by_sqlites_own_message():
    fenced = failure(Signal(400, "7500", "bad JSON path: 'fence:lease': SQLITE_ERROR"), D1_ROWS[0], "db", writes=True)
    assert isinstance(fenced, Fenced)
    assert fenced.name == "lease"
    assert fenced.applied is False
    for words in ("fence:lease: SQLITE_CONSTRAINT", "no such column: 'fence:lease'"):
        signal = Signal(400, "7500", words)
        assert not isinstance(failure(signal, classify(signal, D1_ROWS), "db", writes=True), Fenced)


def test_values_of_the_database_are_not_repeated():
    signal = Signal(400, "7500", "bad JSON path: 'someone@example.org': SQLITE_ERROR")
    assert "example.org" not in str(failure(signal, classify(signal, D1_ROWS), "db", writes=True))

"""What each answer of a remote host means: one table a host, read from the top, the first row that matches decides.

Sources of the rows: developers.cloudflare.com/d1/observability/debug-d1 (messages and what to do about them),
.../d1/best-practices/retry-queries, .../fundamentals/api/reference/limits, the API's error envelope, sqlite.org/rescode.html,
Hrana over HTTP version 2, and answers that were seen.

A batch that the database itself refused was rolled back. A platform's message that says "lost" or "reset" does not tell on which
side of the commit that happened, nor does a 5xx or a body that is not the API's: such a write is `applied=None`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..errors import Fenced, HostError, Kind

__all__ = ["D1_ROWS", "LIBSQL_ROWS", "Row", "Signal", "classify", "failure"]


@dataclass(frozen=True, slots=True)
class Signal:
    """What came back instead of results.

    Attributes:
        status: HTTP status; 0 where no answer came.
        code: the API's or SQLite's code; without an answer the name of the transport's exception.
        message: the server's words.
    """

    status: int
    code: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A kind of answer.

    Attributes:
        seen: an answer that this row is for.
        kind, retryable, applied: of the `HostError`. `applied` holds for a write; None means that nobody knows.
        cause: what is wrong, in a few words.
        advice: what to do.
        statuses: lowest and highest HTTP status that match.
        codes: codes that match; empty for any.
        pattern: searched in the message and the code; None for any.
    """

    seen: Signal
    kind: Kind
    cause: str
    advice: str
    statuses: tuple[int, int] = (0, 999)
    codes: frozenset[str] = frozenset()
    pattern: re.Pattern[str] | None = None
    retryable: bool = False
    applied: bool | None = False

    def matches(self, signal: Signal) -> bool:
        """Whether this row is for that answer."""
        return (
            self.statuses[0] <= signal.status <= self.statuses[1]
            and (not self.codes or signal.code in self.codes)
            and (self.pattern is None or self.pattern.search(f"{signal.message} [{signal.code}]") is not None)
        )


def _words(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives), re.IGNORECASE)


_TRANSPORT = (
    Row(
        Signal(0, "ConnectError", "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed"),
        "network",
        "the server's certificate was not accepted",
        "check the address, and the machine's clock and certificates",
        statuses=(0, 0),
        codes=frozenset({"ConnectError"}),
        pattern=_words(r"\[SSL", "certificate"),
    ),
    Row(
        Signal(0, "ConnectError", "[Errno 111] Connection refused"),
        "network",
        "no connection",
        "nothing was sent; check the address and the network, and try again",
        statuses=(0, 0),
        codes=frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError"}),
        retryable=True,
    ),
    Row(
        Signal(0, "UnsupportedProtocol", "Request URL is missing an 'http://' or 'https://' protocol."),
        "error",
        "the request cannot be made",
        "check the address",
        statuses=(0, 0),
        codes=frozenset({"UnsupportedProtocol", "LocalProtocolError", "InvalidURL"}),
    ),
    Row(
        Signal(0, "ReadTimeout", "timed out"),
        "network",
        "the answer did not arrive",
        "try again: what is left is found by reading it again",
        statuses=(0, 0),
        retryable=True,
        applied=None,
    ),
)

_SQL = (
    Row(
        Signal(
            500,
            "7500",
            "Durable Object was reset and rolled back to its last known good state because the application left the database in a state"
            " where constraints were violated: FOREIGN KEY constraint failed",
        ),
        "constraint",
        "a deferred foreign key was still violated at the commit, so the whole batch was rolled back",
        "delete the children first, or declare what happens to them (ON DELETE)",
        pattern=_words("constraints were violated"),
    ),
    Row(
        Signal(400, "7500", "FOREIGN KEY constraint failed: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_FOREIGNKEY)"),
        "constraint",
        "a constraint or a trigger refused the write",
        "the batch was rolled back",
        pattern=_words("SQLITE_CONSTRAINT", "constraint failed"),
    ),
    Row(
        Signal(400, "7500", "too many SQL variables at offset 12: SQLITE_ERROR"),
        "limit",
        "the statement does not fit a limit of this database",
        "use a smaller statement",
        pattern=_words(
            "too many SQL variables",
            "variable number must be",
            "Wrong number of parameter",
            "Expression tree is too large",
            "too many terms in",
            "too many columns",
            "too many arguments on",
            "too many levels of",
            "tables in a join",
            "pattern too complex",
            "statement too long",
            "parser stack overflow",
            "string or blob too big",
            "SQLITE_TOOBIG",
            "SQLITE_NOMEM",
        ),
    ),
    Row(
        Signal(400, "7500", "no such table: nix at offset 14: SQLITE_ERROR"),
        "schema",
        "the schema has no such name",
        "if the schema has just changed, plan again; otherwise check the name",
        pattern=_words(r"no such (table|column|index|view|trigger|module|function|collation)", "has no column named"),
    ),
    Row(
        Signal(400, "7500", "not authorized: SQLITE_AUTH"),
        "denied",
        "the database does not allow this statement",
        "leave it out: some pragmas and functions are refused to everybody",
        pattern=_words("SQLITE_AUTH", "not authorized to use function"),
    ),
    Row(
        Signal(400, "7500", "Exceeded maximum DB size"),
        "full",
        "the database is full",
        "it may refuse reads and deletes too: raise its size limit or the plan, or drop an index or a table you can do without",
        pattern=_words("Exceeded maximum DB size", "maximum account storage limit", "SQLITE_FULL", "database or disk is full"),
    ),
    Row(
        Signal(400, "7500", "database is locked: SQLITE_BUSY"),
        "busy",
        "another connection holds the database",
        "try again",
        pattern=_words("SQLITE_BUSY", "SQLITE_LOCKED", "database (table )?is locked"),
        retryable=True,
    ),
    Row(
        Signal(400, "7500", "attempt to write a readonly database: SQLITE_READONLY"),
        "readonly",
        "the database cannot be written",
        "use a database, and a token, that may write",
        pattern=_words("SQLITE_READONLY", "readonly database"),
    ),
    Row(
        Signal(400, "7500", "database disk image is malformed: SQLITE_CORRUPT"),
        "corrupt",
        "the database is damaged",
        "restore it to an earlier time",
        pattern=_words("SQLITE_CORRUPT", "SQLITE_NOTADB", "disk image is malformed"),
    ),
    Row(
        Signal(400, "7500", "interrupted: SQLITE_INTERRUPT"),
        "overloaded",
        "the database stopped the statement",
        "use smaller pages, and try again",
        pattern=_words("SQLITE_INTERRUPT"),
        retryable=True,
    ),
)

_STATEMENT = Row(
    Signal(400, "7500", 'near "selec": syntax error at offset 0: SQLITE_ERROR'),
    "error",
    "the database refused the statement",
    "the batch was rolled back",
    pattern=_words("SQLITE_(ERROR|MISMATCH|RANGE|MISUSE|SCHEMA)", "syntax error", "incomplete input", "No SQL statements detected"),
)

_D1_PLATFORM = (
    Row(
        Signal(429, "7500", "D1 DB is overloaded. Too many requests queued."),
        "overloaded",
        "the database has too many requests waiting",
        "try again later, with smaller pages, or spread the callers over time",
        statuses=(429, 429),
        pattern=_words("overloaded"),
        retryable=True,
    ),
    Row(
        Signal(429, "971", "Please wait and consider throttling your request speed"),
        "quota",
        "the user's 1,200 requests in 5 minutes are used up",
        "wait, run less often, or give other programs a user of their own",
        statuses=(429, 429),
        retryable=True,
    ),
    Row(
        Signal(400, "7500", "Your account has exceeded D1's free tier daily row read limit. Upgrade to a paid plan or wait until tomorrow"),
        "quota",
        "the account's rows for today are used up",
        "every query fails until 00:00 UTC: wait, or move to a paid plan",
        pattern=_words("daily row (read|write) limit"),
        retryable=True,
    ),
    Row(
        Signal(400, "7500", "Currently processing a long-running export."),
        "busy",
        "the database is being exported",
        "nothing is executed until the export has ended: try again later",
        pattern=_words("long-running export"),
        retryable=True,
    ),
    Row(
        Signal(500, "7500", "D1 DB is overloaded. Requests queued for too long."),
        "overloaded",
        "the database has too many requests waiting",
        "try again later, with smaller pages, or spread the callers over time",
        pattern=_words("overloaded"),
        retryable=True,
        applied=None,
    ),
    Row(
        Signal(500, "7500", "D1 DB storage operation exceeded timeout which caused object to be reset."),
        "overloaded",
        "the batch took too long, and the database was restarted",
        "use smaller pages",
        pattern=_words("exceeded timeout"),
        retryable=True,
        applied=None,
    ),
    Row(
        Signal(500, "7500", "D1 DB exceeded its CPU time limit and was reset."),
        "overloaded",
        "the batch used up its CPU time, and the database was restarted",
        "use smaller pages, and check that no statement scans a large table",
        pattern=_words("exceeded its CPU time limit"),
        retryable=True,
        applied=None,
    ),
    Row(
        Signal(500, "7500", "D1 DB's isolate exceeded its memory limit and was reset."),
        "overloaded",
        "the batch used up its memory, and the database was restarted",
        "use smaller pages",
        pattern=_words("exceeded its memory limit"),
        retryable=True,
        applied=None,
    ),
    Row(
        Signal(500, "7500", "Cannot resolve D1 DB due to transient issue on remote node."),
        "network",
        "the platform did not find the database",
        "nothing was executed; try again",
        pattern=_words("Cannot resolve D1 DB"),
        retryable=True,
    ),
    Row(
        Signal(500, "7500", "Network connection lost."),
        "network",
        "the platform lost the connection to the database",
        "try again: what is left is found by reading it again",
        pattern=_words(
            "Network connection lost",
            "caused object to be reset",
            "reset because its code was updated",
            "client disconnected",
            "internal error",
        ),
        retryable=True,
        applied=None,
    ),
)

_D1_API = (
    Row(
        Signal(400, "6003", "Invalid request headers"),
        "denied",
        "the token has not the form of a token",
        "set CLOUDFLARE_API_TOKEN to an API token, without quotes or 'Bearer'",
        codes=frozenset({"6003", "6111"}),
    ),
    Row(
        Signal(401, "10000", "Authentication error"),
        "denied",
        "the token is wrong, expired, or not allowed to use D1 in this account",
        "set CLOUDFLARE_API_TOKEN to a token of this account with the permission D1:Edit (D1:Read is enough for plan and audit)",
        codes=frozenset({"10000", "10001", "9109", "9106", "1000"}),
    ),
    Row(
        Signal(401, "", "Unauthorized"),
        "denied",
        "the token was not accepted",
        "set CLOUDFLARE_API_TOKEN to a token of this account with the permission D1:Edit (D1:Read is enough for plan and audit)",
        statuses=(401, 401),
    ),
    Row(
        Signal(403, "7403", "The given account is not valid or is not authorized to access this service"),
        "denied",
        "the account is wrong, or the token has no permission there",
        "check the account ID, and give the token the permission D1:Edit for that account (D1:Read is enough for plan and audit)",
        statuses=(403, 403),
    ),
    Row(
        Signal(404, "7000", "No route for that URI"),
        "denied",
        "the API has no such address",
        "check the account ID, and CLOUDFLARE_API_BASE_URL where it is set",
        statuses=(400, 404),
        codes=frozenset({"7000", "7003"}),
    ),
    Row(
        Signal(404, "7404", "The database 0f0e could not be found"),
        "denied",
        "there is no such database",
        "check the account ID and the database's ID or name (`wrangler d1 list` shows them)",
        statuses=(404, 404),
    ),
    Row(
        Signal(413, "", "Payload Too Large"),
        "limit",
        "the request is too large",
        "use smaller chunks",
        statuses=(413, 413),
    ),
)

_HTTP = (
    Row(
        Signal(408, "", "Request Timeout"),
        "network",
        "the server gave up waiting",
        "try again: what is left is found by reading it again",
        statuses=(408, 408),
        retryable=True,
        applied=None,
    ),
    Row(
        Signal(302, "", "Found"),
        "error",
        "the server sends its callers elsewhere",
        "the address is not that of the API: correct it",
        statuses=(300, 399),
    ),
    Row(
        Signal(400, "7400", "The request is malformed"),
        "error",
        "the server did not accept the request",
        "check the address",
        statuses=(400, 499),
    ),
    Row(
        Signal(502, "", "a body that is not JSON (text/html)"),
        "network",
        "the server failed",
        "try again: what is left is found by reading it again",
        statuses=(500, 999),
        retryable=True,
        applied=None,
    ),
    Row(
        Signal(200, "", "a body that is not JSON (text/html)"),
        "network",
        "the answer cannot be read",
        "check that the address is the API's and that nothing on the way rewrites its answers",
        retryable=True,
        applied=None,
    ),
)

_LIBSQL = (
    Row(
        Signal(200, "SQL_PARSE_ERROR", "SQL string could not be parsed: syntax error around L1:6: `selec`"),
        "error",
        "the server refused the statement",
        "nothing was executed",
        codes=frozenset({"SQL_PARSE_ERROR", "SQL_NO_STATEMENT", "SQL_MANY_STATEMENTS", "ARGS_INVALID", "ARGS_BOTH_POSITIONAL_AND_NAMED"}),
    ),
    Row(
        Signal(200, "BLOCKED", "Operation was blocked: SQL write operations are forbidden"),
        "quota",
        "the plan's reads or writes are used up, and the provider blocks them",
        "wait for the next period, or raise the plan",
        codes=frozenset({"BLOCKED", "SQL_READS_BLOCKED", "SQL_WRITES_BLOCKED"}),
        retryable=True,
    ),
    Row(
        Signal(500, "", "invalid utf-8 sequence of 1 bytes from index 0"),
        "error",
        "a text in the database is not valid UTF-8, and the server cannot send it",
        "exclude that column or repair the value",
        pattern=_words("invalid utf-8"),
        applied=None,
    ),
    Row(
        Signal(200, "RESPONSE_TOO_LARGE", "Response is too large"),
        "limit",
        "the result is too large",
        "use smaller pages",
        codes=frozenset({"RESPONSE_TOO_LARGE"}),
        applied=None,
    ),
    Row(
        Signal(401, "", "Authentication failed: The JWT is invalid"),
        "denied",
        "the token was not accepted",
        "set LIBSQL_AUTH_TOKEN to a token of this database",
        statuses=(401, 401),
    ),
    Row(
        Signal(403, "", "Forbidden"),
        "denied",
        "the token has no permission here",
        "set LIBSQL_AUTH_TOKEN to a token that may write (a read-only one is enough for plan and audit)",
        statuses=(403, 403),
    ),
    Row(
        Signal(404, "", "Namespace `nix` doesn't exist"),
        "denied",
        "there is no such database",
        "check the host name and the port",
        statuses=(404, 404),
    ),
    Row(
        Signal(429, "", "Too Many Requests"),
        "quota",
        "the server asks for fewer requests",
        "wait, and run less often",
        statuses=(429, 429),
        retryable=True,
    ),
    Row(
        Signal(200, "SQLITE_UNKNOWN", "SQLite error: malformed JSON"),
        "error",
        "the database refused the statement",
        "the batch was rolled back",
        pattern=re.compile(r"SQLite error|SQLITE_"),
    ),
    Row(
        Signal(200, "SQL_INPUT_ERROR", "SQL input error: subqueries prohibited in CHECK constraints (at offset 41)"),
        "error",
        "the database refused the statement",
        "the batch was rolled back",
        codes=frozenset({"SQL_INPUT_ERROR"}),
    ),
)

D1_ROWS: tuple[Row, ...] = (*_TRANSPORT, *_SQL, _STATEMENT, *_D1_PLATFORM, *_D1_API, *_HTTP)
"""What D1's REST API answers."""

LIBSQL_ROWS: tuple[Row, ...] = (*_TRANSPORT, *_SQL, *_LIBSQL, *_HTTP)
"""What a libSQL server answers."""

# Only SQLite's own message for a bad path counts: text that happens to hold "fence:" does not.
_FENCE = re.compile(r"bad JSON path: '\$?\.?fence:([^']+)'")
# Messages that repeat a value of the database after these words.
_QUOTED = re.compile(r"(bad JSON path:|MATCH expression:|fts5: \w+ error near) .*", re.DOTALL)
_LONGEST = 300


def classify(signal: Signal, rows: tuple[Row, ...]) -> Row:
    """The row for an answer. The last row of each table matches whatever is left."""
    return next(row for row in rows if row.matches(signal))


def failure(signal: Signal, row: Row, name: str, *, writes: bool, seconds: float = 0.0, retry_after: float | None = None) -> HostError:
    """The error that an answer stands for.

    Args:
        signal: the answer, without any credential.
        row: its row.
        name: the database as a person knows it.
        writes: whether the batch could change anything; what only reads is never applied.
        seconds: how long the attempt took.
        retry_after: seconds that the host asked us to wait.
    """
    if fence := _FENCE.search(signal.message):
        return Fenced(fence[1], seconds=seconds)
    applied = row.applied if writes else False
    words = _QUOTED.sub(r"\1 ...", signal.message)[:_LONGEST]
    where = f"HTTP {signal.status}" if signal.status else signal.code
    code = f", code {signal.code}" if signal.status and signal.code else ""
    unknown = "; it is not known whether the batch was applied" if applied is None else ""
    return HostError(
        f"{name}: {row.cause} ({where}{code}: {words}){unknown}; {row.advice}",
        row.kind,
        retryable=row.retryable,
        applied=applied,
        seconds=seconds,
        retry_after=retry_after,
    )

"""Cloudflare D1 over its REST API."""

from __future__ import annotations

import asyncio
import json
import os
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, cast
from urllib.parse import quote

import httpx

from ..capabilities import D1 as D1_CAPABILITIES
from ..capabilities import Capabilities
from ..errors import PolicyError
from ..steps import Batch, Result, Value
from .classify import D1_ROWS, Row, Signal
from .http import DEFAULT, EXACT_INTEGER, AsyncRemote, Options, Pace, Reply, Request, Secret, SyncRemote, checked_url

__all__ = ["BASE_URL", "BASE_URL_VARIABLE", "D1", "TOKEN_VARIABLE", "AsyncD1"]

TOKEN_VARIABLE = "CLOUDFLARE_API_TOKEN"
BASE_URL_VARIABLE = "CLOUDFLARE_API_BASE_URL"
BASE_URL = "https://api.cloudflare.com/client/v4"

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_LISTED = 1_000  # the API's own default for one page of a listing


class _Wire:
    """D1's requests and answers."""

    capabilities: Capabilities = D1_CAPABILITIES
    rows: tuple[Row, ...] = D1_ROWS

    def __init__(self, account: str, database: str, token: str | None, base_url: str | None) -> None:
        if not account.strip() or not database.strip():
            raise PolicyError("D1 needs an account ID and a database ID or name: d1://ACCOUNT/DATABASE")
        token = token or os.environ.get(TOKEN_VARIABLE)
        if not token:
            raise PolicyError(f"no API token: set {TOKEN_VARIABLE} to a token with the permission D1:Edit (D1:Read for plan and audit)")
        self.token = Secret(token, TOKEN_VARIABLE)
        address = base_url or os.environ.get(BASE_URL_VARIABLE) or BASE_URL
        self.base_url = checked_url(address, "base_url" if base_url else BASE_URL_VARIABLE)
        self.name = f"d1://{account}/{database}"
        self._collection = f"/accounts/{quote(account, safe='')}/d1/database"
        self._database = database
        self._uuid = database if _UUID.fullmatch(database) else None

    def lookup(self) -> Request | None:
        """The listing that turns the database's name into its ID, once."""
        if self._uuid is not None:
            return None
        return Request("GET", f"{self._collection}?name={quote(self._database, safe='')}&per_page={_LISTED}")

    def found(self, reply: Reply) -> Signal | None:
        """Keep the ID. The listing matches parts of names, so the whole name is compared here."""
        body = _body(reply)
        if isinstance(body, Signal):
            return body
        try:
            self._uuid = next((str(d["uuid"]) for d in body["result"] if d["name"] == self._database), None)
        except (TypeError, KeyError):
            return Signal(reply.status, "", "a listing without names")
        return None if self._uuid else Signal(404, "", f"no database of this account has the name {self._database!r}")

    def request(self, batch: Batch) -> Request:
        """All statements in one request, which D1 executes as one transaction."""
        statements = [{"sql": s.sql, "params": list(s.params)} for s in batch.statements]
        body = json.dumps({"batch": statements}, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        return Request("POST", f"{self._collection}/{self._uuid}/raw", body, len(statements))

    def read(self, reply: Reply, batch: Batch) -> list[Result] | Signal:
        """One result a statement, or what went wrong."""
        body = _body(reply)
        if isinstance(body, Signal):
            return body
        try:
            answers = [_Answer(a) for a in body["result"]]
        except (TypeError, KeyError, ValueError, AttributeError, OverflowError):
            return Signal(reply.status, "", "an answer of an unknown form")
        if len(answers) != len(batch.statements):
            return Signal(reply.status, "", f"{len(answers)} results for {len(batch.statements)} statements")
        # Where the server's clock is too coarse to see the batch at all, the round trip is the better measure.
        seconds = sum(a.seconds for a in answers) or reply.seconds
        return [
            Result(a.rows, total_changes=a.total_changes, rows_read=a.rows_read, rows_written=a.rows_written, seconds=seconds)
            for a in answers
        ]


class _Answer:
    """One statement's part of an answer. Every field of `meta` is optional."""

    def __init__(self, answer: dict[str, Any]) -> None:
        meta: dict[str, Any] = answer.get("meta") or {}
        rows: list[list[Any]] = answer["results"].get("rows") or []
        self.rows = [tuple(map(_value, row)) for row in rows]
        self.total_changes = _count(meta.get("changes"))
        self.rows_read = _count(meta.get("rows_read"))
        self.rows_written = _count(meta.get("rows_written"))
        timings: dict[str, Any] = meta.get("timings") or {}
        self.seconds = float(timings.get("sql_duration_ms", meta.get("duration")) or 0.0) / 1_000


def _count(number: float | None) -> int | None:
    return None if number is None else int(number)


def _value(value: Any) -> Value:
    """A JSON value as SQLite's: a blob arrives as a list of its bytes."""
    if isinstance(value, list):
        return bytes(cast("list[int]", value))
    if isinstance(value, dict | bool):
        raise ValueError("SQLite has no such value")
    # The server writes doubles in their shortest form: past 2^53 the digits name a double, not that integer.
    return float(value) if isinstance(value, int) and abs(value) > EXACT_INTEGER else value


def _body(reply: Reply) -> dict[str, Any] | Signal:
    """The API's envelope (`result`, `success`, `errors`), or what went wrong."""
    try:
        body: Any = json.loads(reply.body)
    except ValueError:
        return Signal(reply.status, "", f"a body that is not JSON ({reply.headers.get('content-type', 'of no type')})")
    if not isinstance(body, dict):
        return Signal(reply.status, "", "a body that is not the API's")
    envelope = cast("dict[str, Any]", body)
    if reply.status == 200 and envelope.get("success") is True:
        return envelope
    errors: Any = envelope.get("errors")
    first: Any = cast("list[Any]", errors)[0] if isinstance(errors, list) and errors else {}
    error = cast("dict[str, Any]", first) if isinstance(first, dict) else {}
    return Signal(reply.status, str(error.get("code", "")), str(error.get("message", "no reason given")))


class D1(SyncRemote):
    """A D1 database.

    `Result.seconds` is the server's own measure where it gives one. Integers past 2^53 come back as the nearest float, 1.0 as 1 and
    infinities as None: read them as text (`Capabilities.integers` is False).

    Args:
        account: the account's ID.
        database: the database's ID, or its name, which is looked up once.
        token: an API token; by default `CLOUDFLARE_API_TOKEN`.
        base_url: of the API; by default `CLOUDFLARE_API_BASE_URL`, else Cloudflare's.
        options: without a pace of theirs, the host keeps to the limit of one Cloudflare user by itself.
        transport, sleep: for tests.

    Raises:
        PolicyError: no token, or one that cannot be a token; no account or database; a base address that is none.
    """

    def __init__(
        self,
        account: str,
        database: str,
        *,
        token: str | None = None,
        base_url: str | None = None,
        options: Options = DEFAULT,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        super().__init__(_Wire(account, database, token, base_url), _paced(options), transport=transport, sleep=sleep)


class AsyncD1(AsyncRemote):
    """`D1` for asynchronous callers; the same arguments."""

    def __init__(
        self,
        account: str,
        database: str,
        *,
        token: str | None = None,
        base_url: str | None = None,
        options: Options = DEFAULT,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        super().__init__(_Wire(account, database, token, base_url), _paced(options), transport=transport, sleep=sleep)


def _paced(options: Options) -> Options:
    return options if options.pace else replace(options, pace=Pace())

"""libSQL (sqld, Turso) over Hrana: version 2 of its HTTP API, github.com/tursodatabase/libsql/blob/main/docs/HTTP_V2_SPEC.md."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import time
from collections.abc import Awaitable, Callable
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

import httpx

from ..capabilities import LIBSQL, Capabilities
from ..errors import PolicyError
from ..steps import Batch, Result, Value
from .classify import LIBSQL_ROWS, Row, Signal
from .http import DEFAULT, AsyncRemote, Options, Reply, Request, Secret, SyncRemote, checked_url, is_local

__all__ = ["TOKEN_VARIABLE", "AsyncLibSQL", "LibSQL"]

TOKEN_VARIABLE = "LIBSQL_AUTH_TOKEN"


class _Wire:
    """Hrana's requests and answers. Each batch is a stream of its own, which the server closes with the answer."""

    capabilities: Capabilities = LIBSQL
    rows: tuple[Row, ...] = LIBSQL_ROWS

    def __init__(self, url: str, token: str | None) -> None:
        token = token or os.environ.get(TOKEN_VARIABLE)
        # A server at home needs no token.
        self.token = Secret(token, TOKEN_VARIABLE) if token else None
        self.base_url = _address(url)
        self.name = f"libsql://{urlsplit(self.base_url).netloc}"

    def lookup(self) -> Request | None:
        """Nothing: the address names the database."""
        return None

    def found(self, reply: Reply) -> Signal | None:
        """Never called."""
        return None

    def request(self, batch: Batch) -> Request:
        """One batch whose steps each need the one before; writes stand in a transaction, which any failure rolls back."""
        statements = [{"sql": s.sql, "args": [_argument(p) for p in s.params]} for s in batch.statements]
        chain = [{"sql": "BEGIN IMMEDIATE"}, *statements, {"sql": "COMMIT"}] if batch.writes else statements
        steps: list[dict[str, Any]] = [{"stmt": s} for s in chain]
        for number, step in enumerate(steps[1:]):
            step["condition"] = {"type": "ok", "step": number}
        if batch.writes:
            uncommitted = {"type": "not", "cond": {"type": "ok", "step": len(steps) - 1}}
            begun = {"type": "ok", "step": 0}
            steps.append({"stmt": {"sql": "ROLLBACK"}, "condition": {"type": "and", "conds": [begun, uncommitted]}})
        body = {"baton": None, "requests": [{"type": "batch", "batch": {"steps": steps}}, {"type": "close"}]}
        text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return Request("POST", "/v2/pipeline", text.encode(), self.capabilities.cost(batch))

    def read(self, reply: Reply, batch: Batch) -> list[Result] | Signal:
        """One result a statement, or the first error."""
        try:
            body: Any = json.loads(reply.body)
        except ValueError:
            return Signal(reply.status, "", f"a body that is not JSON ({reply.headers.get('content-type', 'of no type')})")
        if reply.status != 200:
            error = cast("dict[str, Any]", body) if isinstance(body, dict) else {}
            return Signal(reply.status, str(error.get("code", "")), str(error.get("message", error.get("error", "no reason given"))))
        try:
            first = body["results"][0]
            if first["type"] == "error":
                return _signal(first["error"])
            result = first["response"]["result"]
            for error in result["step_errors"]:
                if error is not None:
                    return _signal(error)
            answers = result["step_results"][1:-2] if batch.writes else result["step_results"]
            if len(answers) != len(batch.statements):
                return Signal(200, "", f"{len(answers)} results for {len(batch.statements)} statements")
            seconds = sum(float(a.get("query_duration_ms") or 0.0) for a in answers) / 1_000 or reply.seconds
            return [_result(a, seconds) for a in answers]
        except (TypeError, KeyError, ValueError, IndexError, AttributeError, OverflowError):
            return Signal(200, "", "an answer of an unknown form")


def _address(url: str) -> str:
    """The http address of a libsql one: TLS, except to this machine or with `?tls=0`."""
    try:
        parts = urlsplit(url)
    except ValueError:
        raise PolicyError("this is no libSQL address; write libsql://HOST[:PORT]") from None
    if parts.scheme != "libsql":
        return checked_url(url, "the libSQL address")
    query = parse_qs(parts.query, keep_blank_values=True)
    if set(query) - {"tls"} or query.get("tls", ["1"])[0] not in ("0", "1"):
        raise PolicyError(f"a libSQL address takes only ?tls=0 or ?tls=1; the token is read from {TOKEN_VARIABLE}")
    plain = query["tls"][0] == "0" if "tls" in query else is_local(parts.hostname or "")
    return checked_url(parts._replace(scheme="http" if plain else "https", query="").geturl(), "the libSQL address")


def _argument(value: Value) -> dict[str, Any]:
    """Hrana's typed value."""
    match value:
        case None:
            return {"type": "null"}
        case str():
            return {"type": "text", "value": value}
        case int():
            return {"type": "integer", "value": str(value)}
        case float():
            return {"type": "float", "value": value}
        case bytes():
            return {"type": "blob", "base64": base64.b64encode(value).decode()}


def _value(typed: dict[str, Any]) -> Value:
    match typed["type"]:
        case "null":
            return None
        case "integer":
            return int(typed["value"])
        case "float":
            # JSON has no infinity, and the server sends null; which of the two it was is lost, as on D1.
            return None if typed["value"] is None else float(typed["value"])
        case "blob":
            text: str = typed["base64"]
            return base64.b64decode(text + "=" * (-len(text) % 4))
        case "text":
            return str(typed["value"])
        case other:
            raise ValueError(other)


def _signal(error: dict[str, Any]) -> Signal:
    return Signal(200, str(error.get("code") or ""), str(error.get("message") or "no reason given"))


def _result(answer: dict[str, Any], seconds: float) -> Result:
    rows: list[list[dict[str, Any]]] = answer["rows"]
    return Result(
        [tuple(map(_value, row)) for row in rows],
        changes=int(answer["affected_row_count"]),
        rows_read=answer.get("rows_read"),
        rows_written=answer.get("rows_written"),
        seconds=seconds,
    )


class LibSQL(SyncRemote):
    """A database behind a libSQL server.

    Infinities come back as None; everything else is exact.

    Args:
        url: `libsql://HOST[:PORT]`: over TLS, except to this machine or with `?tls=0`; or an http or https address.
        token: by default `LIBSQL_AUTH_TOKEN`; none is needed where the server asks for none.
        options: see `Options`; there is no pace by default.
        transport, sleep: for tests.

    Raises:
        PolicyError: an address that is none or holds a credential, or a token that cannot be one.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        options: Options = DEFAULT,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        super().__init__(_Wire(url, token), options, transport=transport, sleep=sleep)


class AsyncLibSQL(AsyncRemote):
    """`LibSQL` for asynchronous callers; the same arguments."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        options: Options = DEFAULT,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        super().__init__(_Wire(url, token), options, transport=transport, sleep=sleep)

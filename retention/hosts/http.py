"""What the hosts behind HTTP share: sending, waiting, sending again, and the limits that are checked before anything is sent.

A call is a generator that yields `Send` and `Sleep` and is sent what came of it, so the synchronous and the asynchronous host are
one body and two short loops. What differs between services is a `Wire`: how a batch is written and how its answer is read.
"""

from __future__ import annotations

import asyncio
import ipaddress
import math
import random
import re
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar
from urllib.parse import urlsplit

import httpx

from ..capabilities import Capabilities
from ..errors import HostError, PolicyError
from ..steps import Batch, Result, Value
from .classify import Row, Signal, classify, failure

__all__ = [
    "DEFAULT",
    "EXACT_INTEGER",
    "AsyncRemote",
    "Options",
    "Pace",
    "Remote",
    "Reply",
    "Request",
    "Secret",
    "SyncRemote",
    "Wire",
    "asked_to_wait",
    "checked_url",
    "is_local",
]

T = TypeVar("T")

ATTEMPTS = 5
"""Requests for one batch, the first included: as many as Cloudflare's own sample for retrying D1 makes."""

CONNECT_SECONDS = 10.0
DEFAULT_SECONDS = 60.0
"""How long to wait for an answer where the service names no limit of its own."""

LONGEST_WAIT = 600.0
"""Seconds to wait and repeat where the caller sets no timeout: twice Cloudflare's window of requests, so a long run waits it out."""

GRACE_SECONDS = 5.0
"""Added to the service's own limit, so that its answer arrives before we stop waiting for it."""

KEEPALIVE_SECONDS = 4.0
"""Idle connections are dropped before workerd drops them (after 5 s): a write on a dead one has an unknown outcome."""

FIRST_PAUSE, LONGEST_PAUSE = 0.25, 5.0
"""Seconds between two attempts: doubled each time, then between half and the whole of it, so that callers do not march in step."""

EXACT_INTEGER = 2**53 - 1
"""JSON numbers are doubles to most servers: beyond this an integer is silently another one."""


# --- what a call asks for, and what it is told ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Request:
    """An HTTP request, without its credential. `path` follows the base address; `statements` may be executed by it."""

    method: str
    path: str
    body: bytes = b""
    statements: int = 0


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP answer. Header names are in lower case; `seconds` is the round trip."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    seconds: float


@dataclass(frozen=True, slots=True)
class Lost:
    """No answer. `error` is the name of the transport's exception: the exception itself holds the request and so the token."""

    error: str
    message: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Send:
    """Send a request; wait `connect` seconds for the connection and `timeout` seconds for each part of the answer."""

    request: Request
    connect: float
    timeout: float


@dataclass(frozen=True, slots=True)
class Sleep:
    seconds: float


Call = Generator[Send | Sleep, "Reply | Lost | None", T]


class Secret:
    """A credential that no repr shows, not even in a traceback with its local variables."""

    __slots__ = ("_value",)

    def __init__(self, value: str, variable: str) -> None:
        """Raises PolicyError for what cannot stand in a header; the message does not repeat it."""
        stripped = value.strip()
        if not stripped or not stripped.isascii() or not stripped.isprintable() or " " in stripped:
            raise PolicyError(f"the token holds no text, or a character that no token has; set {variable} to the token alone")
        self._value = stripped

    def reveal(self) -> str:
        return self._value

    def hide(self, text: str) -> str:
        """The text without the credential."""
        return text.replace(self._value, "[token]")

    def __repr__(self) -> str:
        return "Secret('***')"


class Pace:
    """A sliding window over the requests of one user: never more than `requests` in any `seconds`, and no request while a server
    has asked for silence. Hosts that share a user share one `Pace`; it may be used from several threads.

    Args:
        requests, seconds: 1,200 in 5 minutes is Cloudflare's limit for a user; whoever passes it is blocked for 5 minutes.
    """

    def __init__(self, requests: int = 1_200, seconds: float = 300.0) -> None:
        self._window = seconds
        self._sent: deque[float] = deque(maxlen=requests)
        self._silent_until = -math.inf
        self._lock = threading.Lock()

    def take(self, now: float) -> float:
        """0.0 if a request may be sent at once, and it is then counted; else the seconds to wait before asking again."""
        with self._lock:
            full = len(self._sent) == self._sent.maxlen
            free_at = max(self._silent_until, self._sent[0] + self._window if full else -math.inf)
            if free_at > now:
                return free_at - now
            self._sent.append(now)
            return 0.0

    def rest(self, seconds: float, now: float) -> None:
        """Send nothing for so long: a server asked for it."""
        with self._lock:
            self._silent_until = max(self._silent_until, now + seconds)


# `"default";r=0;t=30`: the requests that remain, and the seconds until more are allowed.
_USED_UP = re.compile(r";\s*r=0\s*;\s*t=(\d{1,5})\b")


def asked_to_wait(status: int, headers: Mapping[str, str]) -> float | None:
    """Seconds that a server asks its caller to wait, or None. Names are in lower case."""
    asked = _seconds(headers.get("retry-after")) if status in (429, 503) else None
    if asked is None and headers.get("x-ratelimit-remaining") == "0":
        asked = _seconds(headers.get("x-ratelimit-reset"))
    if asked is None:
        asked = max(map(float, _USED_UP.findall(headers.get("ratelimit", ""))), default=None)
    return asked


def _seconds(text: str | None) -> float | None:
    try:
        seconds = float(text) if text is not None else math.nan
    except ValueError:
        return None  # an HTTP date: it would compare two clocks
    return seconds if 0 <= seconds <= 86_400 else None


# --- the body -------------------------------------------------------------------------------------------------------


class Wire(Protocol):
    """One service: how a batch is written and how its answer is read. No I/O."""

    @property
    def name(self) -> str: ...
    @property
    def base_url(self) -> str: ...
    @property
    def capabilities(self) -> Capabilities: ...
    @property
    def rows(self) -> tuple[Row, ...]: ...
    @property
    def token(self) -> Secret | None: ...

    def lookup(self) -> Request | None:
        """What must be asked before the first batch, or None."""
        ...

    def found(self, reply: Reply) -> Signal | None:
        """Take in the answer to `lookup`."""
        ...

    def request(self, batch: Batch) -> Request: ...

    def read(self, reply: Reply, batch: Batch) -> list[Result] | Signal: ...


@dataclass(frozen=True, slots=True)
class Options:
    """How a remote host behaves.

    Attributes:
        readonly: refuse batches that write.
        resend_unknown: send reads, and writes marked `repeatable`, again when the answer was lost. Such statements may be executed
            twice; `Remote.resent` counts them. Off, so that a batch costs what `Capabilities.cost` says.
        pace: the window of requests that this host shares with others, or None for no pacing.
        clock: monotonic seconds.
        jitter: a number from 0 to 1.
    """

    readonly: bool = False
    resend_unknown: bool = False
    pace: Pace | None = None
    clock: Callable[[], float] = time.monotonic
    jitter: Callable[[], float] = random.random


DEFAULT = Options()


class Remote:
    """The part without I/O that the synchronous and the asynchronous host share.

    Attributes:
        requests: HTTP requests sent.
        retries: those of them that repeated an earlier one.
        resent: statements sent again after an answer was lost; they are not part of `Capabilities.cost`.
    """

    def __init__(self, wire: Wire, options: Options) -> None:
        self._wire = wire
        self._options = options
        self.requests = 0
        self.retries = 0
        self.resent = 0

    @property
    def name(self) -> str:
        """The database as a person knows it, without a credential."""
        return self._wire.name

    @property
    def capabilities(self) -> Capabilities:
        """What the service can do and how much it takes."""
        return self._wire.capabilities

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def call(self, batch: Batch, timeout: float | None) -> Call[list[Result]]:
        """Execute one batch; the contract is `Host.execute`'s."""
        if self._options.readonly and batch.writes:
            raise HostError(f"{self.name} was opened for reading only; open it for writing to run a policy", "readonly")
        if misfit := misfits(batch, self.capabilities):
            raise HostError(f"{self.name}: {misfit}", "limit")
        if not batch.statements:
            return []
        until = self._options.clock() + (LONGEST_WAIT if timeout is None else timeout)
        if (lookup := self._wire.lookup()) is not None:
            yield from self._exchange(lookup, self._wire.found, until, timeout, writes=False, safe=True)
        safe = self._options.resend_unknown and (batch.repeatable or not batch.writes)
        request = self._wire.request(batch)
        return (yield from self._exchange(request, lambda reply: self._wire.read(reply, batch), until, timeout, batch.writes, safe))

    def _exchange(
        self, request: Request, read: Callable[[Reply], T | Signal], until: float, timeout: float | None, writes: bool, safe: bool
    ) -> Call[T]:
        """Send until there is a result, an error that does not pass, or no time left.

        Args:
            request: sent again only if it certainly was not executed, or is `safe`.
            read: makes a result, or the signal of a failure, of a reply.
            until: when to stop waiting and repeating, by the clock.
            timeout: the caller's own limit, or None.
            writes: its answer is waited for as long as the service may take: to stop listening would not stop the write.
            safe: whether it may be executed twice.
        """
        clock = self._options.clock
        attempt = 0
        while True:
            attempt += 1
            yield from self._turn(until)
            answer = yield self._send(request, until, writes)
            self.requests += 1
            self.retries += attempt > 1
            assert answer is not None
            if isinstance(answer, Lost):
                asked, outcome = None, Signal(0, answer.error, answer.message)
            else:
                asked, outcome = asked_to_wait(answer.status, answer.headers), read(answer)
            if asked is not None and self._options.pace is not None:
                self._options.pace.rest(asked, clock())
            if not isinstance(outcome, Signal):
                return outcome
            if isinstance(answer, Lost) and answer.error == "ReadTimeout" and not writes and timeout is not None and clock() >= until:
                words = f"{self.name}: the read was stopped at its time limit"
                raise HostError(words, "interrupted", retryable=True, seconds=answer.seconds)
            row = classify(outcome, self._wire.rows)
            may_have_run = row.applied is None
            pause = max(asked or 0.0, self._backoff(attempt))
            last = attempt == ATTEMPTS or clock() + pause >= until
            if last or not row.retryable or (may_have_run and not safe):
                hidden = Signal(outcome.status, self._hide(outcome.code), self._hide(outcome.message))
                raise failure(hidden, row, self.name, writes=writes, seconds=answer.seconds, retry_after=asked)
            self.resent += request.statements if may_have_run else 0
            yield Sleep(pause)

    def _backoff(self, attempt: int) -> float:
        return min(FIRST_PAUSE * 2 ** (attempt - 1), LONGEST_PAUSE) * (1 + self._options.jitter()) / 2

    def _send(self, request: Request, until: float, writes: bool) -> Send:
        patience = (self.capabilities.max_seconds or DEFAULT_SECONDS) + GRACE_SECONDS
        if writes:
            return Send(request, CONNECT_SECONDS, patience)
        left = max(until - self._options.clock(), 0.001)
        return Send(request, min(CONNECT_SECONDS, left), min(patience, left))

    def _hide(self, text: str) -> str:
        return self._wire.token.hide(text) if self._wire.token else text

    def _turn(self, until: float) -> Call[None]:
        """Wait until the pace allows a request."""
        while self._options.pace is not None and (wait := self._options.pace.take(self._options.clock())) > 0:
            if self._options.clock() + wait >= until:
                raise HostError(
                    f"{self.name}: the requests that the server allows in this time are used up for {math.ceil(wait)} s;"
                    " nothing was sent; try again later",
                    "quota",
                    retryable=True,
                    retry_after=wait,
                )
            yield Sleep(wait)


def misfits(batch: Batch, capabilities: Capabilities) -> str | None:
    """Why a batch cannot be sent as it is, naming the limit, or None. What would arrive as something else is refused here."""
    for statement in batch.statements:
        if not (sql := _utf8(statement.sql)):
            return "a statement is empty, or holds a lone surrogate, which has no UTF-8 form; write valid Unicode"
        if (size := len(sql)) > capabilities.max_sql_bytes:
            return f"a statement of {size:,} bytes is longer than the limit of {capabilities.max_sql_bytes:,} bytes; use a smaller one"
        if (given := len(statement.params)) > capabilities.max_params:
            return f"a statement binds {given} values, more than the limit of {capabilities.max_params}; use a JSON list or smaller chunks"
        for number, value in enumerate(statement.params, 1):
            if problem := _misfit(value, capabilities):
                return f"the value bound as ?{number} {problem}"
    return None


def _utf8(text: str) -> bytes | None:
    try:
        return text.encode()
    except UnicodeEncodeError:
        return None


def _misfit(value: Value, capabilities: Capabilities) -> str | None:
    if isinstance(value, str):
        if (text := _utf8(value)) is None:
            return "holds a lone surrogate, which has no UTF-8 form; bind valid Unicode"
        if (size := len(text)) > capabilities.max_value_bytes:
            return f"has {size:,} bytes, more than the limit of {capabilities.max_value_bytes:,}; use smaller chunks"
        return None
    if isinstance(value, float):
        return None if math.isfinite(value) else f"is {value}, which JSON cannot carry; write it into the statement as 9e999 or NULL"
    if type(value) is int:
        return None if abs(value) <= EXACT_INTEGER else f"is {value}, past 2^53; bind it as text with CAST(?{{n}} AS INTEGER)"
    return None if value is None else f"is of type {type(value).__name__}; bind text, a number or None (a blob as hex with unhex())"


# --- the two shells -------------------------------------------------------------------------------------------------


def _headers(wire: Wire) -> dict[str, str]:
    headers = {"content-type": "application/json", "user-agent": "retention"}
    return headers | ({"authorization": f"Bearer {wire.token.reveal()}"} if wire.token else {})


def _settings(wire: Wire) -> dict[str, Any]:
    return {
        "headers": _headers(wire),
        "limits": httpx.Limits(keepalive_expiry=KEEPALIVE_SECONDS),
        "follow_redirects": False,  # the token goes to no other host
        "trust_env": not is_local(urlsplit(wire.base_url).hostname or ""),
    }


def is_local(host: str) -> bool:
    """Whether a host name is this machine's own."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _build(client: httpx.Client | httpx.AsyncClient, wire: Wire, step: Send) -> httpx.Request:
    timeout = httpx.Timeout(step.timeout, connect=step.connect)
    return client.build_request(step.request.method, wire.base_url + step.request.path, content=step.request.body, timeout=timeout)


def _reply(response: httpx.Response, wire: Wire, seconds: float) -> Reply:
    # Rows are left as they are; a server that complains may repeat what it was sent.
    body = response.content if response.status_code == 200 or not wire.token else wire.token.hide(response.text).encode()
    return Reply(response.status_code, {k.lower(): v for k, v in response.headers.items()}, body, seconds)


def _lost(error: Exception, wire: Wire, seconds: float) -> Lost:
    return Lost(type(error).__name__, wire.token.hide(str(error)) if wire.token else str(error), seconds)


class SyncRemote(Remote):
    """A remote host for synchronous callers."""

    def __init__(
        self, wire: Wire, options: Options, *, transport: httpx.BaseTransport | None, sleep: Callable[[float], object] = time.sleep
    ) -> None:
        super().__init__(wire, options)
        self._sleep = sleep
        self._client = httpx.Client(transport=transport, **_settings(wire))

    def execute(self, batch: Batch, timeout: float | None = None) -> Sequence[Result]:
        """Execute one batch; see `Host.execute`.

        Args:
            batch: the statements.
            timeout: seconds for waiting, repeating and reading. A write that was sent is waited for as long as the service may take.

        Raises:
            HostError: `applied` is None where the answer to a write was lost.
            Fenced: a fence did not hold.
        """
        call, answer = self.call(batch, timeout), None
        while True:
            try:
                step = call.send(answer)
            except StopIteration as done:
                return done.value
            if isinstance(step, Sleep):
                self._sleep(step.seconds)
                answer = None
            else:
                answer = self._post(step)

    def _post(self, step: Send) -> Reply | Lost:
        started = time.monotonic()
        try:
            return _reply(self._client.send(_build(self._client, self._wire, step)), self._wire, time.monotonic() - started)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return _lost(error, self._wire, time.monotonic() - started)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class AsyncRemote(Remote):
    """A remote host for asynchronous callers."""

    def __init__(
        self,
        wire: Wire,
        options: Options,
        *,
        transport: httpx.AsyncBaseTransport | None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        super().__init__(wire, options)
        self._sleep = sleep
        self._client = httpx.AsyncClient(transport=transport, **_settings(wire))

    async def execute(self, batch: Batch, timeout: float | None = None) -> Sequence[Result]:
        """As `SyncRemote.execute`. A call that is cancelled leaves the outcome of a write unknown."""
        call, answer = self.call(batch, timeout), None
        while True:
            try:
                step = call.send(answer)
            except StopIteration as done:
                return done.value
            if isinstance(step, Sleep):
                await self._sleep(step.seconds)
                answer = None
            else:
                answer = await self._post(step)

    async def _post(self, step: Send) -> Reply | Lost:
        started = time.monotonic()
        try:
            return _reply(await self._client.send(_build(self._client, self._wire, step)), self._wire, time.monotonic() - started)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return _lost(error, self._wire, time.monotonic() - started)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.aclose()


def checked_url(url: str, source: str) -> str:
    """A base address without its last slash.

    Args:
        url: an http or https address.
        source: where it came from, for the message.

    Raises:
        PolicyError: no such address, or one that holds a credential (which the message does not repeat).
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise PolicyError(f"{source} is no address; write https://HOST/PATH") from None
    if parts.username is not None or parts.password is not None:
        raise PolicyError(f"{source} holds a user name or a password; leave it out and give the token by itself")
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0 or parts.query or parts.fragment:
        raise PolicyError(f"{source} is no http or https address; write https://HOST/PATH")
    return url.rstrip("/")

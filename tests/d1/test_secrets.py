"""The token is nowhere but in the header of a request."""

from __future__ import annotations

import asyncio
import logging
import traceback

import httpx
import pytest

from retention.errors import HostError, PolicyError, RetentionError
from retention.hosts import open_host
from retention.hosts.d1 import D1, AsyncD1
from retention.hosts.http import Options
from retention.hosts.libsql import AsyncLibSQL, LibSQL
from retention.steps import Batch, Statement

TOKEN = "s3cr3t-0123456789abcdef"
UUID = "0b1c2d3e-0000-4000-8000-000000000001"
READ = Batch((Statement("SELECT 1"),))
WRITE = Batch((Statement("DELETE FROM t"),), writes=True)


def raising(error: type[Exception]):
    def answer(request: httpx.Request) -> httpx.Response:
        raise error(f"about {request.headers['authorization']}")

    return answer


def echoing(status: int, form: str):
    """A server that repeats what it was sent."""

    def answer(request: httpx.Request) -> httpx.Response:
        sent = request.headers["authorization"]
        body = {
            "api": {"success": False, "errors": [{"code": 6111, "message": f"Invalid format for Authorization header: {sent}"}]},
            "hrana": {"error": f"bad header {sent}", "code": sent},
            "step": {"results": [{"type": "error", "error": {"code": sent, "message": sent}}]},
        }
        return httpx.Response(status, html=sent) if form == "html" else httpx.Response(status, json=body[form])

    return answer


TRANSPORT = ["ConnectError", "ConnectTimeout", "ReadTimeout", "ReadError", "RemoteProtocolError", "UnsupportedProtocol"]
ANSWERS = [
    *(pytest.param(raising(getattr(httpx, e)), id=e) for e in TRANSPORT),
    *(pytest.param(echoing(s, f), id=f"{f}-{s}") for s in (302, 400, 401, 403, 404, 429, 500, 502) for f in ("api", "hrana", "html")),
]
OPTIONS = Options(clock=lambda: 0.0, jitter=lambda: 0.0)


def everything(error: BaseException, *, variables: bool = True) -> str:
    """All that a log, a crash reporter or a debugger's traceback could show of an error, local variables included."""
    shown = traceback.TracebackException.from_exception(error, capture_locals=variables)
    return "".join([*shown.format(), repr(error), str(error), repr(vars(error)), repr(error.__context__), repr(error.__cause__)])


async def nothing(_: float) -> None: ...


@pytest.mark.parametrize("batch", [READ, WRITE], ids=["read", "write"])
@pytest.mark.parametrize("answer", ANSWERS)
def test_no_error_shows_the_token(answer, batch, caplog):
    caplog.set_level(logging.DEBUG)
    made = {"transport": httpx.MockTransport(answer), "options": OPTIONS}
    hosts = [
        D1("acc", UUID, token=TOKEN, base_url="http://api.test", sleep=lambda _: None, **made),
        LibSQL("http://db.test", TOKEN, sleep=lambda _: None, **made),
    ]
    for host in hosts:
        with host, pytest.raises(HostError) as caught:
            host.execute(batch)
        assert TOKEN not in everything(caught.value)
        assert caught.value.__context__ is None
    assert TOKEN not in caplog.text


@pytest.mark.parametrize("form", ["api", "hrana", "step", "html"])
def test_a_server_that_repeats_the_token_in_an_answer_is_not_quoted(form):
    made = {"transport": httpx.MockTransport(echoing(200, form)), "options": OPTIONS}
    for host in (D1("acc", UUID, token=TOKEN, base_url="http://api.test", **made), LibSQL("http://db.test", TOKEN, **made)):
        with host, pytest.raises(HostError) as caught:
            host.execute(WRITE)
        assert TOKEN not in everything(caught.value, variables=False)


@pytest.mark.parametrize("answer", ANSWERS)
def test_no_error_of_an_asynchronous_host_shows_it(answer):
    async def run() -> None:
        made = {"transport": httpx.MockTransport(answer), "options": OPTIONS, "sleep": nothing}
        for host in (AsyncD1("acc", UUID, token=TOKEN, base_url="http://api.test", **made), AsyncLibSQL("http://db.test", TOKEN, **made)):
            async with host:
                with pytest.raises(HostError) as caught:
                    await host.execute(WRITE)
                assert TOKEN not in everything(caught.value)

    asyncio.run(run())


def test_no_repr_shows_it():
    for host in (D1("acc", UUID, token=TOKEN), LibSQL("libsql://db.test", TOKEN)):
        with host:
            shown = repr(host) + str(host) + host.name + repr(vars(host)) + repr(vars(host._wire)) + repr(host._client.headers)
            assert TOKEN not in shown
    assert repr(host) == "LibSQL('libsql://db.test')"


@pytest.mark.parametrize("path", ["account", "base_url", "token"])
def test_a_call_that_is_refused_does_not_show_it(path):
    wrong = {"account": "", "base_url": "no address", "token": f"{TOKEN}\nx"}
    given = {"account": "acc", "base_url": "http://api.test", "token": TOKEN} | {path: wrong[path]}
    with pytest.raises(PolicyError) as caught:
        D1(given["account"], UUID, token=given["token"], base_url=given["base_url"])
    assert TOKEN not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("url", [f"libsql://db.test?authToken={TOKEN}", f"libsql://user:{TOKEN}@db.test", f"libsql://db.test:{TOKEN}"])
def test_a_token_in_an_address_is_refused_and_not_repeated(url):
    with pytest.raises(RetentionError) as caught:
        open_host(url)
    assert TOKEN not in "".join(traceback.format_exception(caught.value))

"""What the hosts do with answers, lost ones included: a scripted transport, a clock that only sleeping moves."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retention.errors import HostError, PolicyError
from retention.hosts.d1 import D1, AsyncD1
from retention.hosts.http import ATTEMPTS, Options, Pace, Secret, asked_to_wait, checked_url
from retention.hosts.libsql import LibSQL
from retention.steps import Batch, Statement

UUID = "0b1c2d3e-0000-4000-8000-000000000001"
READ = Batch((Statement("SELECT 1"),))
WRITE = Batch((Statement("DELETE FROM t"), Statement("SELECT changes()")), writes=True)
REPEATABLE = Batch(WRITE.statements, writes=True, repeatable=True)


def ok(request: httpx.Request) -> httpx.Response:
    statements = json.loads(request.content)["batch"]
    answer = {"results": {"columns": ["1"], "rows": [[1]]}, "success": True, "meta": {"rows_read": 3, "rows_written": 0, "changes": 2}}
    return httpx.Response(200, json={"result": [answer] * len(statements), "success": True, "errors": [], "messages": []})


def refused(status: int, message: str = "", code: int = 7500, **headers: str) -> httpx.Response:
    body = {"result": None, "success": False, "errors": [{"code": code, "message": message}], "messages": []}
    return httpx.Response(status, json=body, headers={k.replace("_", "-"): v for k, v in headers.items()})


HTML = httpx.Response(502, html="<html>Bad gateway</html>")
PORTAL = httpx.Response(200, html="<p>sign in")
LOST = refused(500, "Network connection lost.")
EXPORT = refused(400, "Currently processing a long-running export.")


@dataclass
class World:
    """The answers to come, in order; after the last one every request succeeds."""

    answers: list[Any]
    now: float = 1_000.0
    slept: list[float] = field(default_factory=list)
    requests: list[httpx.Request] = field(default_factory=list)
    takes: float = 0.0

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        self.now += self.takes
        answer = self.answers.pop(0) if self.answers else ok
        if isinstance(answer, type) and issubclass(answer, Exception):
            raise answer("as scripted")
        if callable(answer):
            return answer(request)
        # A response belongs to the client that read it.
        return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    async def asleep(self, seconds: float) -> None:
        self.sleep(seconds)

    def arguments(self, options: dict[str, Any]) -> dict[str, Any]:
        made = Options(**({"clock": lambda: self.now, "jitter": lambda: 0.5} | options))
        return {"token": "test-token", "base_url": "http://api.test/v4", "options": made, "transport": httpx.MockTransport(self.answer)}


Run = Callable[..., tuple[Any, Any]]


@pytest.fixture(params=["sync", "async"])
def run(request: pytest.FixtureRequest) -> Run:
    """Executes a batch in a world: `(results or the error, the host)`. Everything here holds for both kinds of caller."""

    def sync(world: World, batch: Batch, timeout: float | None = None, database: str = UUID, **options: Any) -> tuple[Any, Any]:
        with D1("acc", database, **world.arguments(options), sleep=world.sleep) as host:
            try:
                return host.execute(batch, timeout), host
            except HostError as error:
                return error, host

    async def awaited(world: World, batch: Batch, timeout: float | None, database: str, **options: Any) -> tuple[Any, Any]:
        async with AsyncD1("acc", database, **world.arguments(options), sleep=world.asleep) as host:
            try:
                return await host.execute(batch, timeout), host
            except HostError as error:
                return error, host

    def run_async(world: World, batch: Batch, timeout: float | None = None, database: str = UUID, **options: Any) -> tuple[Any, Any]:
        return asyncio.run(awaited(world, batch, timeout, database, **options))

    return sync if request.param == "sync" else run_async


def test_a_batch_is_one_request(run):
    world = World([])
    results, host = run(world, Batch((Statement("SELECT ?1", ("5",)), Statement("SELECT ?1", (None,)))))
    (request,) = world.requests
    assert request.method == "POST"
    assert str(request.url) == f"http://api.test/v4/accounts/acc/d1/database/{UUID}/raw"
    assert request.headers["authorization"] == "Bearer test-token"
    assert json.loads(request.content) == {"batch": [{"sql": "SELECT ?1", "params": ["5"]}, {"sql": "SELECT ?1", "params": [None]}]}
    assert [r.rows for r in results] == [[(1,)], [(1,)]]
    assert [(r.changes, r.total_changes, r.rows_read, r.rows_written) for r in results] == [(None, 2, 3, 0)] * 2
    assert (host.requests, host.retries, host.resent) == (1, 0, 0)


def test_an_empty_batch_sends_nothing(run):
    world = World([])
    assert run(world, Batch(()))[0] == []
    assert world.requests == []


@pytest.mark.parametrize("batch", [READ, WRITE], ids=["read", "write"])
@pytest.mark.parametrize("answer", [httpx.ConnectError, httpx.ConnectTimeout, refused(429), EXPORT], ids=["port", "slow", "429", "export"])
def test_what_certainly_was_not_executed_is_sent_again(run, batch, answer):
    world = World([answer, answer])
    results, host = run(world, batch)
    assert len(results) == len(batch.statements)
    assert (host.requests, host.retries, host.resent) == (3, 2, 0)
    assert len(world.slept) == 2
    assert world.slept[1] > world.slept[0] > 0


@pytest.mark.parametrize("batch", [READ, WRITE, REPEATABLE], ids=["read", "write", "repeatable"])
@pytest.mark.parametrize(
    "answer",
    [httpx.ReadTimeout, httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError, LOST, HTML, PORTAL, refused(503)],
    ids=["timeout", "read", "write", "protocol", "lost", "html", "portal", "503"],
)
def test_an_unknown_outcome_is_told_and_nothing_is_sent_twice(run, batch, answer):
    world = World([answer])
    error, host = run(world, batch)
    assert (error.kind, error.retryable, error.applied) == ("network", True, None if batch.writes else False)
    assert (host.requests, host.retries) == (1, 0)
    assert "<" not in str(error)


@pytest.mark.parametrize(("batch", "again"), [(READ, True), (REPEATABLE, True), (WRITE, False)], ids=["read", "repeatable", "write"])
@pytest.mark.parametrize("answer", [httpx.ReadError, LOST, HTML], ids=["read", "lost", "html"])
def test_what_may_be_executed_twice_is_sent_again_on_demand(run, batch, again, answer):
    world = World([answer])
    got, host = run(world, batch, resend_unknown=True)
    assert isinstance(got, HostError) is not again
    assert host.requests == 1 + again
    assert host.resent == again * len(batch.statements)


@pytest.mark.parametrize("answer", [refused(400, "no such table: t: SQLITE_ERROR"), refused(403, "no", 7403), refused(401, "no", 10000)])
def test_what_cannot_pass_is_not_repeated(run, answer):
    world = World([answer])
    error, host = run(world, WRITE, resend_unknown=True)
    assert not error.retryable
    assert host.requests == 1
    assert world.slept == []


def test_attempts_end(run):
    world = World([httpx.ConnectError] * 50)
    error, host = run(world, READ, 10_000.0)
    assert (error.kind, error.applied) == ("network", False)
    assert host.requests == ATTEMPTS


@pytest.mark.parametrize("batch", [READ, WRITE], ids=["read", "write"])
def test_repeating_ends_with_the_timeout(run, batch):
    world = World([httpx.ConnectError] * 50, takes=1.0)
    error, host = run(world, batch, 2.0)
    assert error.retryable
    assert host.requests == 2
    assert world.now <= 1_000.0 + 2.0 + 1.0


def test_retry_after_is_waited_for_when_there_is_time(run):
    world = World([refused(429, retry_after="7")])
    results, host = run(world, WRITE, 10.0)
    assert len(results) == 2
    assert sum(world.slept) == pytest.approx(7.0)
    assert host.retries == 1


def test_retry_after_past_the_timeout_ends_at_once(run):
    world = World([refused(429, retry_after="120")])
    error, host = run(world, WRITE, 10.0)
    assert (error.kind, error.retryable, error.applied, error.retry_after) == ("quota", True, False, 120.0)
    assert error.exit_status == 75
    assert world.slept == []
    assert host.requests == 1


def test_a_read_stops_at_its_timeout(run):
    world = World([httpx.ReadTimeout], takes=2.0)
    error, _ = run(world, READ, 2.0)
    assert (error.kind, error.retryable, error.applied) == ("interrupted", True, False)


def test_a_write_that_is_not_answered_by_then_is_unknown_not_stopped(run):
    world = World([httpx.ReadTimeout], takes=36.0)
    error, _ = run(world, WRITE, 2.0)
    assert (error.kind, error.retryable, error.applied) == ("network", True, None)


def test_a_write_is_waited_for_longer_than_its_timeout(run):
    """To stop listening would not stop it: it would only lose the answer."""
    world = World([])
    run(world, WRITE, 0.5)
    run(world, READ, 0.5)
    write, read = (request.extensions["timeout"]["read"] for request in world.requests)
    assert write == 35.0
    assert read == 0.5


def test_a_late_write_is_still_sent(run):
    """A page that a save has announced is run even if the save used up the deadline."""
    world = World([])
    assert len(run(world, WRITE, 0.0)[0]) == 2


def test_a_host_for_reading_refuses_writes(run):
    world = World([])
    error, _ = run(world, WRITE, readonly=True)
    assert (error.kind, error.applied, error.retryable) == ("readonly", False, False)
    assert world.requests == []
    assert len(run(world, READ, readonly=True)[0]) == 1


# --- the limits that are checked before anything is sent --------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (Statement("SELECT " + ", ".join("?" for _ in range(101)), ("x",) * 101), "101 values, more than the limit of 100"),
        (Statement("SELECT '" + "x" * 100_000 + "'"), "100,009 bytes is longer than the limit of 100,000"),
        (Statement("SELECT '" + "é" * 50_000 + "'"), "100,009 bytes is longer"),
        (Statement("SELECT ?1", ("é" * 1_000_001,)), "2,000,002 bytes, more than the limit of 2,000,000"),
        (Statement("SELECT ?1", (b"x",)), "type bytes"),
        (Statement("SELECT ?1", (True,)), "type bool"),
        (Statement("SELECT ?1", (2**53,)), "past 2^53"),
        (Statement("SELECT ?1", (-(2**53),)), "past 2^53"),
        (Statement("SELECT ?1", (math.inf,)), "JSON cannot carry"),
        (Statement("SELECT ?1", (math.nan,)), "JSON cannot carry"),
        (Statement("SELECT ?1", ("\ud800",)), "lone surrogate"),
        (Statement("SELECT '\ud800'"), "lone surrogate"),
        (Statement(""), "is empty"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_would_not_arrive_is_refused_before_it_is_sent(run, statement, words):
    world = World([])
    error, _ = run(world, Batch((Statement("SELECT 1"), statement), writes=True))
    assert (error.kind, error.retryable, error.applied) == ("limit", False, False)
    assert words in str(error)
    assert world.requests == []


VALUES = st.one_of(st.none(), st.text(), st.floats(allow_nan=False, allow_infinity=False), st.integers(-(2**53) + 1, 2**53 - 1))


@given(st.lists(VALUES, max_size=100))
def test_what_is_sent_arrives_as_it_was(params):
    world = World([])
    transport = httpx.MockTransport(world.answer)
    with D1("a", UUID, token="test-token", base_url="http://api.test", transport=transport) as host:
        host.execute(Batch((Statement("SELECT 1", tuple(params)),)))
    assert json.loads(world.requests[0].content)["batch"][0]["params"] == params


# --- answers of other forms -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        [],
        {},
        "text",
        None,
        {"success": True},
        {"success": True, "result": None},
        {"success": True, "result": []},
        {"success": True, "result": [{}, {}]},
        {"success": True, "result": [{"results": []}, {"results": []}]},
        {"success": True, "result": [{"results": {"rows": [["x"]]}}]},
        {"success": True, "result": [{"results": {"rows": [[["no byte"]]]}}] * 2},
        {"success": True, "result": [{"results": {"rows": 7}}] * 2},
        {"success": True, "result": [{"results": {"rows": []}, "meta": {"changes": "many"}}] * 2},
        {"success": False, "errors": None},
        {"success": False, "errors": ["text"]},
        {"success": False, "errors": [{}]},
    ],
    ids=str,
)
def test_an_answer_of_another_form_leaves_a_write_unknown(run, body):
    world = World([httpx.Response(200, json=body)])
    error, _ = run(world, WRITE)
    assert isinstance(error, HostError)
    assert (error.kind, error.applied) == ("network", None)


def test_every_field_of_meta_is_optional(run):
    world = World([httpx.Response(200, json={"success": True, "result": [{"results": {"columns": [], "rows": []}}] * 2})])
    results, _ = run(world, WRITE)
    assert [(r.rows, r.total_changes, r.rows_read, r.rows_written) for r in results] == [([], None, None, None)] * 2


@pytest.mark.parametrize(
    ("metas", "seconds"),
    [
        ([{"timings": {"sql_duration_ms": 1.5}, "duration": 9.0}, {"timings": {"sql_duration_ms": 0.5}}], 0.002),
        ([{"duration": 3.0}, {"duration": 4.0}], 0.007),
    ],
)
def test_the_servers_own_duration_is_that_of_the_whole_batch(run, metas, seconds):
    answers = [{"results": {"rows": []}, "meta": meta} for meta in metas]
    results, _ = run(World([httpx.Response(200, json={"success": True, "result": answers})]), WRITE)
    assert [r.seconds for r in results] == [pytest.approx(seconds)] * 2


def test_a_round_trip_stands_in_for_a_duration_of_nought(run):
    answers = [{"results": {"rows": []}, "meta": {"duration": 0}}] * 2
    results, _ = run(World([httpx.Response(200, json={"success": True, "result": answers})]), WRITE)
    assert results[0].seconds > 0


def test_a_redirect_is_not_followed(run):
    world = World([httpx.Response(302, headers={"location": "http://elsewhere.test/"})])
    error, _ = run(world, WRITE)
    assert error.applied is False
    assert [r.url.host for r in world.requests] == ["api.test"]


# --- a database given by its name -------------------------------------------------------------------------------------


def listing(*names: str) -> httpx.Response:
    result = [{"name": name, "uuid": f"{i:08}-0000-4000-8000-000000000000"} for i, name in enumerate(names)]
    return httpx.Response(200, json={"success": True, "result": result, "errors": []})


def test_a_name_is_looked_up_once():
    world = World([listing("app-old", "app", "apple")])
    transport = httpx.MockTransport(world.answer)
    with D1("acc", "app", token="test-token", base_url="http://api.test", transport=transport) as host:
        host.execute(READ)
        host.execute(READ)
        assert host.name == "d1://acc/app"
    assert [(r.method, r.url.path) for r in world.requests] == [
        ("GET", "/accounts/acc/d1/database"),
        ("POST", "/accounts/acc/d1/database/00000001-0000-4000-8000-000000000000/raw"),
        ("POST", "/accounts/acc/d1/database/00000001-0000-4000-8000-000000000000/raw"),
    ]
    assert world.requests[0].url.params["name"] == "app"


def test_an_unknown_name_is_named(run):
    error, _ = run(World([listing("apple")]), WRITE, None, "app")
    assert (error.kind, error.applied) == ("denied", False)
    assert "'app'" in str(error)


def test_a_lost_listing_is_asked_for_again(run):
    results, host = run(World([httpx.ReadError, listing("app")]), WRITE, None, "app")
    assert len(results) == 2
    assert (host.requests, host.retries, host.resent) == (3, 1, 0)


def test_names_and_accounts_cannot_leave_their_place_in_the_address():
    world = World([listing("a/../b?x=1&y#z")])
    transport = httpx.MockTransport(world.answer)
    with D1("acc/../evil", "a/../b?x=1&y#z", token="test-token", base_url="http://api.test", transport=transport) as host:
        host.execute(READ)
    assert world.requests[0].url.raw_path.startswith(b"/accounts/acc%2F..%2Fevil/d1/database?name=a%2F..%2Fb%3Fx%3D1%26y%23z&")


# --- the pace ---------------------------------------------------------------------------------------------------------


@given(st.lists(st.floats(0.0, 50.0), min_size=1, max_size=60), st.integers(1, 8))
def test_no_window_holds_more_requests_than_allowed(gaps, most):
    pace, now, sent = Pace(most, 100.0), 0.0, []
    for gap in gaps:
        now += gap
        while (wait := pace.take(now)) > 0:
            now += wait
        sent.append(now)
    assert all(b - a >= 100.0 - 1e-6 for a, b in zip(sent, sent[most:], strict=False))


def test_the_pace_waits_for_nobody_below_the_limit():
    pace = Pace()
    assert [pace.take(0.0) for _ in range(1_200)] == [0.0] * 1_200
    assert pace.take(0.0) == 300.0
    assert pace.take(300.0) == 0.0


def test_a_full_window_is_waited_for_or_told(run):
    pace = Pace(2, 300.0)
    world = World([])
    for _ in range(2):
        run(world, READ, pace=pace)
    error, host = run(world, WRITE, 10.0, pace=pace)
    assert (error.kind, error.retryable, error.applied, error.retry_after) == ("quota", True, False, 300.0)
    assert host.requests == 0
    assert len(run(world, WRITE, 301.0, pace=pace)[0]) == 2
    assert world.slept == [300.0]


def test_a_run_without_a_deadline_waits_a_full_window_out(run):
    world = World([])
    results, host = run(world, WRITE, None, pace=full_pace(world.now))
    assert len(results) == 2
    assert world.slept == [300.0]
    assert (host.requests, host.retries) == (1, 0)


def full_pace(now: float) -> Pace:
    pace = Pace()
    for _ in range(1_200):
        pace.take(now)
    return pace


def test_a_server_that_asks_for_a_day_is_not_waited_for(run):
    world = World([refused(429, retry_after="86400")])
    error, _ = run(world, WRITE, None)
    assert (error.kind, error.retry_after, world.slept) == ("quota", 86_400.0, [])


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        (429, {"retry_after": "30"}),
        (503, {"retry_after": "30"}),
        (400, {"x_ratelimit_remaining": "0", "x_ratelimit_reset": "30"}),
        (400, {"ratelimit": '"default";r=0;t=30'}),
        (400, {"ratelimit": '"burst";r=9;t=90, "default";r=0;t=30'}),
    ],
    ids=str,
)
def test_hosts_that_share_a_pace_obey_what_one_of_them_was_told(run, status, headers):
    pace = Pace()
    answer = refused(status, "", **headers)
    world = World([answer])
    run(world, READ, 5.0, pace=pace)
    sent = len(world.requests)
    error, _ = run(world, READ, 5.0, pace=pace)
    assert error.kind == "quota"
    assert error.retry_after == pytest.approx(30.0)
    assert len(world.requests) == sent
    assert len(run(world, READ, 60.0, pace=pace)[0]) == 1


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        (200, {"retry-after": "30"}),
        (429, {"retry-after": "Fri, 31 Dec 1999 23:59:59 GMT"}),
        (429, {"retry-after": "-5"}),
        (429, {"retry-after": "nan"}),
        (200, {"x-ratelimit-remaining": "5", "x-ratelimit-reset": "30"}),
        (200, {"ratelimit": '"default";r=10;t=30'}),
        (200, {"ratelimit": "nonsense"}),
    ],
    ids=str,
)
def test_headers_that_ask_for_nothing(status, headers):
    assert asked_to_wait(status, headers) is None


def test_a_server_without_a_pace_is_waited_for_too():
    world = World([refused(429, retry_after="7"), refused(401)])
    made = {"transport": httpx.MockTransport(world.answer), "sleep": world.sleep, "options": Options(clock=lambda: world.now)}
    with LibSQL("http://db.test", **made) as host, pytest.raises(HostError, match="LIBSQL_AUTH_TOKEN"):
        host.execute(READ, 10.0)
    assert world.slept == [7.0]


# --- addresses and tokens ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "api.test",
        "ftp://api.test",
        "http://",
        "http://u:secret@api.test/",
        "http://api.test/?a=1",
        "http://[::1",
        "http://h:0",
        "http://h:99999",
    ],
)
def test_an_address_that_is_none_is_refused(url):
    with pytest.raises(PolicyError) as caught:
        checked_url(url, "base_url")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("token", ["", "  ", "two words", "line\nbreak", "tokén", "\x00"])
def test_a_token_that_is_none_is_refused(token):
    with pytest.raises(PolicyError) as caught:
        Secret(token, "VARIABLE")
    assert token.strip() == "" or token not in str(caught.value)


def test_a_token_from_a_file_loses_its_line_break():
    assert Secret("token\n", "VARIABLE").reveal() == "token"


def test_the_token_and_the_address_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("CLOUDFLARE_API_TOKEN", "from-environment")
    monkeypatch.setenv("CLOUDFLARE_API_BASE_URL", "http://env.test/v4/")
    world = World([])
    with D1("acc", UUID, transport=httpx.MockTransport(world.answer)) as host:
        host.execute(READ)
    assert world.requests[0].headers["authorization"] == "Bearer from-environment"
    assert str(world.requests[0].url).startswith("http://env.test/v4/accounts/")


def test_a_missing_token_says_which_one(monkeypatch):
    monkeypatch.delenv("CLOUDFLARE_API_TOKEN", raising=False)
    with pytest.raises(PolicyError, match="CLOUDFLARE_API_TOKEN"):
        D1("acc", UUID)


@pytest.mark.parametrize(("account", "database"), [("", "x"), ("x", ""), (" ", "x")])
def test_an_account_and_a_database_are_needed(account, database):
    with pytest.raises(PolicyError, match="d1://ACCOUNT/DATABASE"):
        D1(account, database, token="test-token")

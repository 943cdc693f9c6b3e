"""Runs on real D1 and libSQL over a bad network: answers lost before and after the commit, answers that are none, requests refused.

No row goes that should not, none is left in the end, no write is sent again blindly, and no count is invented.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import retention
from tests.d1.fixtures import Servers, d1_server
from tests.places import Place, opened
from tests.properties.world import NOW_MS, World, unbounded

__all__ = ["d1_server"]


class BadNetwork(httpx.BaseTransport):
    """Meets the requests in turn with what was planned for them; afterwards it is a good one.

    Attributes:
        plan: by the number of the request, what goes wrong. `executed` faults lose the answer of a request that was executed.
        sent: of each request, its body and what was done with it.
    """

    FAULTS = ("lost", "broken", "html", "500", "unsent", "unreached", "503", "429")
    executed = ("lost", "broken", "html", "500")

    def __init__(self, plan: dict[int, str]) -> None:
        self.plan = plan
        self.sent: list[tuple[bytes, str]] = []
        self._real = httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        fault = self.plan.get(len(self.sent), "")
        self.sent.append((request.read(), fault))
        if fault in self.executed:
            answer = self._real.handle_request(request)
            whole = answer.read()
            answer.close()
            match fault:
                case "lost":
                    raise httpx.ReadError("the connection broke")
                case "broken":
                    return httpx.Response(200, content=whole[: len(whole) // 2], headers={"content-type": "application/json"})
                case "html":
                    return httpx.Response(502, html="<html><body>Bad gateway</body></html>")
                case _:
                    return httpx.Response(500, json={"success": False, "errors": [{"code": 7500, "message": "Network connection lost."}]})
        match fault:
            case "unsent":
                raise httpx.ConnectError("nobody listens")
            case "unreached":
                raise httpx.ReadTimeout("no answer came")
            case "503":
                return httpx.Response(503, text="upstream connect error")
            case "429":
                return httpx.Response(429, json={"success": False, "errors": [{"code": 971, "message": "Please wait"}]})
            case _:
                return self._real.handle_request(request)

    def close(self) -> None:
        self._real.close()


def writes(body: bytes) -> bool:
    """Whether a request deletes."""
    sent = json.loads(body)
    found = sent["batch"] if "batch" in sent else [step["stmt"] for step in sent["requests"][0]["batch"]["steps"]]
    return any("DELETE FROM" in statement["sql"] and not statement["sql"].startswith("EXPLAIN") for statement in found)


@pytest.fixture(scope="module", params=["d1", "libsql"])
def place(request: pytest.FixtureRequest, d1_server: Servers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with opened(request.param, d1_server, tmp_path_factory.mktemp("place")) as found:
        yield found


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(world=unbounded(), plan=st.dictionaries(st.integers(0, 25), st.sampled_from(BadNetwork.FAULTS), max_size=6))
def test_a_bad_network_loses_no_row_and_counts_none_twice(place: Place, world: World, plan: dict[int, str]) -> None:
    place.load(world.build())
    rows = len(world.keys(place.beside))
    network, store, receipts = BadNetwork(plan), retention.MemoryStore(), list[retention.Receipt]()
    assert place.connect is not None
    with place.connect(transport=network, sleep=lambda _: None) as host:
        for _ in range(20):
            receipts.append(retention.run(host, world.policy(), store=store, now=NOW_MS, until_done=True))
            if receipts[-1].outcome == "done":
                break
            assert receipts[-1].outcome in ("more", "busy", "failed"), receipts[-1]
    assert receipts[-1].outcome == "done", receipts[-1]
    retention.run(place.host, world.policy(), store=store, now=NOW_MS, until_done=True)
    assert world.keys(place.beside) == world.fixpoint()
    gone = rows - len(world.fixpoint())
    told = sum(rule.deleted + rule.unconfirmed for receipt in receipts for rule in receipt.rules)
    assert told <= gone
    lost = [body for body, fault in network.sent if fault in network.executed and writes(body)]
    if not lost:
        assert told == gone
    for (body, fault), (following, _) in zip(network.sent, network.sent[1:], strict=False):
        if writes(body) and fault in (*network.executed, "unreached", "503"):
            assert not writes(following), json.loads(following)


def test_a_page_whose_answer_is_lost_is_counted_when_it_is_read_again(place: Place) -> None:
    """Ten rows go with the second delete, whose answer is lost: they are told as unconfirmed, by the run that finds them gone."""
    place.empty()
    place.setup(
        (
            "CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER)",
            "INSERT INTO t WITH RECURSIVE n (v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 40) SELECT v, 1700000000 FROM n",
        )
    )
    policy: dict[str, Any] = {
        "version": 1,
        "rules": [{"table": "t", "keep": "30d", "age": {"column": "at", "format": "unix_s"}, "page_rows": 10}],
    }

    class SecondDelete(BadNetwork):
        deletes = 0

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            self.deletes += writes(request.read())
            if writes(request.content) and self.deletes == 2:
                self.plan[len(self.sent)] = "lost"
            return super().handle_request(request)

    assert place.connect is not None
    with place.connect(transport=SecondDelete({}), sleep=lambda _: None) as host:
        receipt = retention.run(host, policy, now=NOW_MS)
    assert (receipt.outcome, receipt.exit_status) == ("done", 0), receipt
    assert (receipt.rules[0].deleted, receipt.rules[0].unconfirmed) == (30, 10)
    assert place.beside.execute("SELECT count(*) FROM t").fetchall() == [(0,)]

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import apsw
import pytest

from retention.capabilities import Capabilities
from retention.errors import HostError
from retention.hosts.sqlite import SQLite
from retention.ledger.drive import ATTEMPTS, PATIENCE, adrive, drive
from retention.steps import Batch, Engine, Result, Save, Statement
from tests.ledger.relay import Faulty

ONE = Statement("SELECT 1")


@pytest.fixture
def host() -> SQLite:
    return SQLite(apsw.Connection(":memory:"))


class Awaited:
    """A synchronous host, awaited."""

    def __init__(self, host: Any) -> None:
        self.host = host

    @property
    def name(self) -> str:
        return self.host.name

    @property
    def capabilities(self) -> Capabilities:
        return self.host.capabilities

    async def execute(self, batch: Batch, timeout: float | None = None) -> Sequence[Result]:
        await asyncio.sleep(0)
        return self.host.execute(batch, timeout)

    async def aclose(self) -> None: ...


def engine(batch: Batch) -> Engine[int]:
    results = yield batch
    assert results is not None
    return int(str(results[0].rows[0][0]))


def both(batch: Batch, faulty: Faulty, pauses: list[float], kind: str) -> int:
    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    if kind == "sync":
        return drive(engine(batch), faulty, sleep=pauses.append)
    return asyncio.run(adrive(engine(batch), Awaited(faulty), sleep=pause))


@pytest.mark.parametrize("kind", ["sync", "async"])
@pytest.mark.parametrize(
    ("writes", "repeatable", "fault", "sent"),
    [
        (False, False, "before", 3),
        (False, False, "after", 3),
        (True, True, "after", 3),
        (True, False, "before", 3),
        (True, False, "after", 1),
        (False, False, "refused", 1),
        (True, True, "refused", 1),
    ],
)
def test_only_what_may_be_sent_again_is(host: SQLite, kind: str, writes: bool, repeatable: bool, fault: str, sent: int) -> None:
    faulty, pauses = Faulty(host, [fault] * 2), list[float]()
    batch = Batch((ONE,), writes, repeatable)
    if sent == 1:
        with pytest.raises(HostError):
            both(batch, faulty, pauses, kind)
    else:
        assert both(batch, faulty, pauses, kind) == 1
    assert (len(faulty.sent), len(pauses)) == (sent, sent - 1)
    assert pauses == sorted(pauses)


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_attempts_are_counted_and_the_last_error_reaches_the_engine(host: SQLite, kind: str) -> None:
    faulty, pauses = Faulty(host, ["before"] * 99), list[float]()
    with pytest.raises(HostError, match="connection refused"):
        both(Batch((ONE,)), faulty, pauses, kind)
    assert (len(faulty.sent), len(pauses)) == (ATTEMPTS, ATTEMPTS - 1)


def test_a_host_that_asks_to_wait_is_waited_for(host: SQLite) -> None:
    class Busy(Faulty):
        def execute(self, batch: Batch, timeout: float | None = None) -> Sequence[Result]:
            self.sent.append(batch)
            if len(self.sent) == 1:
                raise HostError("slow down", "quota", retryable=True, retry_after=7.0)
            return self.host.execute(batch, timeout)

    pauses: list[float] = []
    assert drive(engine(Batch((ONE,))), Busy(host), sleep=pauses.append) == 1
    assert pauses == [7.0]


def test_a_lock_is_waited_for_without_using_up_attempts(host: SQLite) -> None:
    class Locked(Faulty):
        def execute(self, batch: Batch, timeout: float | None = None) -> Sequence[Result]:
            self.sent.append(batch)
            if len(self.sent) <= 50:
                raise HostError("locked", "busy", retryable=True)
            return self.host.execute(batch, timeout)

    pauses: list[float] = []
    assert drive(engine(Batch((ONE,), writes=True)), Locked(host), sleep=pauses.append) == 1
    assert sum(pauses) < PATIENCE


def test_a_lock_that_stays_is_an_error_in_the_end(host: SQLite) -> None:
    class Locked(Faulty):
        def execute(self, batch: Batch, timeout: float | None = None) -> Sequence[Result]:
            raise HostError("locked", "busy", retryable=True)

    pauses: list[float] = []
    with pytest.raises(HostError, match="locked"):
        drive(engine(Batch((ONE,), writes=True)), Locked(host), sleep=pauses.append)
    assert PATIENCE <= sum(pauses) < PATIENCE + 2


def test_other_steps_need_the_runner(host: SQLite) -> None:
    def saving() -> Engine[None]:
        yield Save({})

    with pytest.raises(TypeError, match="Save"):
        drive(saving(), host)


def test_an_engine_that_yields_nothing(tmp_path: Path, host: SQLite) -> None:
    def idle() -> Engine[str]:
        return "done"
        yield

    assert drive(idle(), host) == "done"

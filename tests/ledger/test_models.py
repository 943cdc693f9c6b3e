from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest

from retention.errors import PolicyError
from retention.policy import ledger_models
from retention.policy.ledger_models import Callback, Claims, Events
from tests.ledger.databases import CALLBACK, JOBS, NOTES

LOG: dict[str, Any] = {"table": "log", "stream": "s", "kind": "k", "at": {"column": "at", "format": "unix_ms"}}
START: dict[str, Any] = {"start": "a", "target": "url", "terminal": ["b"]}


def example() -> dict[str, Any]:
    """The policy in the module's own documentation."""
    text = re.search(r"^    \[events\].*", ledger_models.__doc__ or "", re.S | re.M)
    assert text is not None
    return tomllib.loads(text[0])


def test_the_documented_example_loads() -> None:
    found = example()
    assert set(found) == {"events", "claims"}
    events, claims = Events(**found["events"]), Claims(**found["claims"])
    assert (events.keep, events.skew, events.once) == (30 * 86_400_000, 60_000, ("job.requested", "job.outcome_failed"))
    assert claims.record is not None
    assert claims.record.scope == ("workspace_id", "agent_id")


def test_the_models_are_frozen() -> None:
    with pytest.raises(Exception, match="frozen"):
        JOBS.table = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"tabel": "x"}, "did you mean table"),
        ({"table": ""}, "empty"),
        ({"at": {"column": "at", "format": "iso8601"}}, "unix_ms"),
        ({"keep": "30"}, "no unit"),
        ({"keep": "-1d"}, "negative"),
        ({"hidden": ["x"]}, "every kind is public"),
        ({"hidden": ["x"], "public": {"x": "y"}}, "public as well"),
        ({"callback": START, "once": ["a", "b"]}, "payload"),
        ({"callback": START, "once": ["a"], "payload": "p"}, 'must hold "b"'),
        ({"stopped_after": "1d", "payload": "p"}, "cursor moved"),
        ({"stopped_after": "1d", "cursors": {"table": "c", "stream": "s", "position": "p", "moved": LOG["at"]}}, "payload column"),
        ({"consumers": ["a"], "cursors": {"table": "c", "stream": "s", "position": "p"}}, "consumer column"),
    ],
)
def test_a_log_that_cannot_work_is_refused_with_a_sentence(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        Events(**(LOG | wrong))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"table": "outbox"}, "columns"),
        ({"columns": {"id": "{uuid}"}}, "table"),
        ({"table": "outbox", "columns": {"id": "{steam}"}}, "steam"),
        ({"table": "outbox", "columns": {"id": "{"}}, "template"),
        ({"terminal": []}, "empty list"),
        ({"target": "$.url"}, "key of the payload"),
    ],
)
def test_a_callback_that_cannot_be_written_is_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        Callback(**(START | wrong))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"status": {"table": "agents"}}, "claims.record"),
        ({"record": {"table": "e", "scope": []}}, "empty list"),
        ({"record": {"table": "e", "scope": ["a", "A"]}}, "twice"),
        ({"record": {"table": "e", "scope": ["a"]}, "status": {"table": "agents"}}, "as many columns"),
    ],
)
def test_claims_that_cannot_work_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        Claims(**wrong)


@pytest.mark.parametrize("model", [JOBS, NOTES])
def test_a_dumped_log_reads_back(model: Events) -> None:
    assert Events(**model.model_dump()) == model


def test_every_placeholder_is_filled() -> None:
    """The names that the model lets through are those that the insert knows."""
    from retention.ledger.append import callback_rows

    columns = {f"c{n}": f"<{{{field}}}>" for n, field in enumerate(sorted(ledger_models.PLACEHOLDERS))}
    log = JOBS.model_copy(update={"callback": CALLBACK.model_copy(update={"columns": columns})})
    statement = callback_rows(log, log.callback, "job.requested", 1, "s")  # type: ignore[arg-type]
    assert statement.sql.count("<") == 0
    assert statement.params.count("<") == len(ledger_models.PLACEHOLDERS)

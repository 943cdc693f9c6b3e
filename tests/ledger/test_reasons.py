from __future__ import annotations

from dataclasses import replace

import pytest

from retention.errors import PolicyError
from retention.ledger.reasons import LEDGER, PROTOCOL, Reason, Reasons

TABLE = {
    "no_candidate": ("acquisition", True, "no_candidate"),
    "duplicate_exhausted": ("acquisition", True, "no_candidate"),
    "filter_exhausted": ("acquisition", True, "no_candidate"),
    "download_timeout": ("download", True, "source_error"),
    "download_failed": ("download", True, "source_error"),
    "metadata_failed": ("acquisition", True, "source_error"),
    "rate_limited": ("acquisition", True, "quota_exceeded"),
    "auth_failed": ("acquisition", False, "auth_error"),
    "remote_http_error": ("acquisition", True, "source_error"),
    "delivery_failed": ("delivery", True, "delivery_failed"),
    "telepost_rejected": ("delivery", False, "delivery_rejected"),
    "telegram_failed": ("delivery", True, "delivery_failed"),
    "network_error": ("execution", True, "source_error"),
    "execution_timeout": ("execution", True, "deadline_exceeded"),
    "configuration_error": ("configuration", False, "internal_error"),
    "internal_error": ("execution", False, "internal_error"),
    "queued_too_long": ("execution", True, "queued_too_long"),
    "stalled_no_heartbeat": ("execution", True, "stalled_no_progress"),
    "delivery_abandoned": ("delivery", True, "delivery_abandoned"),
    "cancelled_by_consumer": ("execution", False, "cancelled_by_consumer"),
}

ONE = Reason("a", "execution", True, "source_error", "it failed", "Retry.")


def test_the_ledgers_twenty_codes() -> None:
    assert {r.code: (r.stage, r.retryable, r.protocol) for r in LEDGER} == TABLE


def test_the_protocol_is_closed_and_agrees_about_retrying() -> None:
    assert len(PROTOCOL) == 16
    assert all(reason.retryable == PROTOCOL[reason.protocol] for reason in LEDGER)


def test_every_entry_says_something() -> None:
    assert all(reason.message and reason.hint.endswith(".") for reason in LEDGER)


@pytest.mark.parametrize(
    ("codes", "reasons", "wrong"),
    [
        (["a", "b"], [ONE], "without an entry: b"),
        ([], [ONE], "not among the codes: a"),
        (["a"], [ONE, replace(ONE, hint="Other.")], "two entries: a"),
        (["a"], [replace(ONE, protocol="new_code")], "outside the protocol: a"),
        (["x" * 65], [replace(ONE, code="x" * 65)], "longer than 64"),
    ],
)
def test_a_mapping_with_a_hole_is_refused_when_it_is_built(codes: list[str], reasons: list[Reason], wrong: str) -> None:
    with pytest.raises(PolicyError, match=wrong):
        Reasons(codes, reasons, PROTOCOL)


@pytest.mark.parametrize("code", [None, "", "NO_CANDIDATE", "no_candidate ", "constructor"])
def test_an_unknown_code_is_never_guessed(code: str | None) -> None:
    assert LEDGER.get(code) is None
    assert LEDGER.public(code) == "internal_error"
    assert code is None or LEDGER.stored(code, "x") is None


@pytest.mark.parametrize(("message", "stored"), [(None, "the login"), ("  ", "the login"), (" why \n", "why"), ("x" * 500, "x" * 400)])
def test_a_blank_message_is_the_codes_own_and_a_long_one_is_cut(message: str | None, stored: str) -> None:
    reasons = Reasons(["a"], [replace(ONE, message="the login")], PROTOCOL)
    found = reasons.stored("a", message)
    assert found is not None
    assert (found.code, found.message) == ("a", stored)

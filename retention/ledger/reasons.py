"""Why work ended: a registry from internal reason codes to what an operator and a client may be told.

Only a code and a message are stored with a row; stage, retryable, hint and public code are derived when they are read. A code that
is not in the registry has no entry: nothing is guessed about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from ..errors import PolicyError

__all__ = ["LEDGER", "PROTOCOL", "Reason", "Reasons", "Stage", "Stored"]

Stage = Literal["acquisition", "download", "delivery", "execution", "configuration"]

CODE_LENGTH = 64
"""Characters of a stored code (the ledger's `terminal_reason_code`)."""

MESSAGE_LENGTH = 400
"""Characters of a stored message (the ledger's `terminal_reason_message`)."""

PROTOCOL: Mapping[str, bool] = {
    "no_candidate": True,
    "source_error": True,
    "quota_exceeded": True,
    "resource_busy": True,
    "queued_too_long": True,
    "stalled_no_progress": True,
    "deadline_exceeded": True,
    "delivery_failed": True,
    "delivery_abandoned": True,
    "auth_error": False,
    "cancelled_by_consumer": False,
    "idempotency_conflict": False,
    "unsupported_protocol_version": False,
    "invalid_params": False,
    "delivery_rejected": False,
    "internal_error": False,
}
"""The ledger's public protocol: each code a client can see, and whether the client may ask again. Closed: there are no others."""


@dataclass(frozen=True, slots=True)
class Reason:
    """What one internal code means.

    Attributes:
        code: internal, stored.
        stage: where in the work it arose.
        retryable: whether the same work may succeed later without a change by a person.
        protocol: the public code.
        message: the fixed sentence that is stored when there is nothing more exact to say.
        hint: what an operator can do.
    """

    code: str
    stage: Stage
    retryable: bool
    protocol: str
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Stored:
    """What is written with a row: the code and the message, within the columns' lengths."""

    code: str
    message: str


class Reasons:
    """The registry.

    Args:
        codes: every code that the application can write.
        reasons: one entry for each of them.
        protocol: every public code, and whether it is retryable.

    Raises:
        PolicyError: if a code has no entry or two, an entry has a code that nothing writes or that does not fit its column, or its
            public code is not in the protocol.
    """

    def __init__(self, codes: Iterable[str], reasons: Iterable[Reason], protocol: Mapping[str, bool]) -> None:
        known, entries = set(codes), tuple(reasons)
        self._entries = {entry.code: entry for entry in entries}
        self.protocol = dict(protocol)
        faults = {
            "without an entry": known - self._entries.keys(),
            "in an entry but not among the codes": self._entries.keys() - known,
            "with two entries": {e.code for e in entries if e is not self._entries[e.code]},
            f"longer than {CODE_LENGTH} characters": {code for code in known if len(code) > CODE_LENGTH},
            "with a public code outside the protocol": {e.code for e in entries if e.protocol not in self.protocol},
        }
        found = [f"{what}: {', '.join(sorted(which))}" for what, which in faults.items() if which]
        if found:
            raise PolicyError(f"the reasons must map every code exactly once to a public code; codes {'; codes '.join(found)}")

    def __iter__(self) -> Iterable[Reason]:  # type: ignore[override]
        return iter(self._entries.values())

    def get(self, code: str | None) -> Reason | None:
        """The entry of a code, or None for an unknown one."""
        return self._entries.get(code) if code is not None else None

    def public(self, code: str | None, fallback: str = "internal_error") -> str:
        """The public code of an internal one; of an unknown one the `fallback`, which says nothing about the cause."""
        entry = self.get(code)
        return entry.protocol if entry else fallback

    def stored(self, code: str, message: str | None = None) -> Stored | None:
        """What to write for a code: the trimmed message, or the code's own where there is none. None for an unknown code."""
        entry = self.get(code)
        if entry is None:
            return None
        return Stored(code, ((message or "").strip() or entry.message)[:MESSAGE_LENGTH])


_LEDGER = (
    Reason("no_candidate", "acquisition", True, "no_candidate",
           "found nothing to deliver", "Wait for the next run, or retry with wider filters."),
    Reason("duplicate_exhausted", "acquisition", True, "no_candidate",
           "everything found was already handled", "Wait for new works, or retry with wider filters."),
    Reason("filter_exhausted", "acquisition", True, "no_candidate",
           "the filters left nothing", "Check the filters, or widen them."),
    Reason("download_timeout", "download", True, "source_error",
           "the download took too long", "Retry later; check the connection if it happens again."),
    Reason("download_failed", "download", True, "source_error",
           "the download failed", "Retry later; check the network and the disk."),
    Reason("metadata_failed", "acquisition", True, "source_error",
           "the work's description could not be read", "Retry later; a single work may be deleted or private."),
    Reason("rate_limited", "acquisition", True, "quota_exceeded",
           "the source limits our rate", "Wait until the limit's window has ended."),
    Reason("auth_failed", "acquisition", False, "auth_error",
           "the source refused the login", "Renew the account's login."),
    Reason("remote_http_error", "acquisition", True, "source_error",
           "the source answered with an error", "Retry later; check the service's status."),
    Reason("delivery_failed", "delivery", True, "delivery_failed",
           "the delivery failed", "Check that the receiver can be reached and its API works, then retry."),
    Reason("telepost_rejected", "delivery", False, "delivery_rejected",
           "the receiver rejected the delivery", "Check the content against what the receiver accepts."),
    Reason("telegram_failed", "delivery", True, "delivery_failed",
           "the messenger did not take the delivery", "Check that it can be reached and what the bot may do."),
    Reason("network_error", "execution", True, "source_error",
           "the network failed", "Check the worker's network."),
    Reason("execution_timeout", "execution", True, "deadline_exceeded",
           "the work ran out of time", "Check how long it runs and what it has to run on."),
    Reason("configuration_error", "configuration", False, "internal_error",
           "the configuration is wrong", "Mend the configuration and validate it."),
    Reason("internal_error", "execution", False, "internal_error",
           "an unexpected error", "Read the run's record; report it if it happens again."),
    Reason("queued_too_long", "execution", True, "queued_too_long",
           "waited too long to be started", "Check that the scheduler runs and that no queue for a resource blocks it."),
    Reason("stalled_no_heartbeat", "execution", True, "stalled_no_progress",
           "stopped making progress", "The heartbeat was lost midway (a crash or a hang); retry after a restart."),
    Reason("delivery_abandoned", "delivery", True, "delivery_abandoned",
           "nothing will retry the delivery", "It was rejected or cancelled for good: check the receiver, then fetch again."),
    Reason("cancelled_by_consumer", "execution", False, "cancelled_by_consumer",
           "cancelled by the user", "Nothing to do: the user cancelled it."),
)  # fmt: skip

LEDGER = Reasons(
    codes=(
        "no_candidate",
        "duplicate_exhausted",
        "filter_exhausted",
        "download_timeout",
        "download_failed",
        "metadata_failed",
        "rate_limited",
        "auth_failed",
        "remote_http_error",
        "delivery_failed",
        "telepost_rejected",
        "telegram_failed",
        "network_error",
        "execution_timeout",
        "configuration_error",
        "internal_error",
        "queued_too_long",
        "stalled_no_heartbeat",
        "delivery_abandoned",
        "cancelled_by_consumer",
    ),
    reasons=_LEDGER,
    protocol=PROTOCOL,
)
"""The ledger preset's twenty codes."""

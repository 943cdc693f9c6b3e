"""Every error that a caller can meet.

RetentionError
├── PolicyError        the caller's mistake: a policy, an argument, a database that is not there   exit 2
├── Refused            a safety check said no; the message says what would allow it               exit 4
└── HostError          the database or the network failed                                         exit 75 if retryable, else 1
    └── Fenced         a fence in the batch did not hold; the whole batch was rolled back

Each message is one sentence or two: what is wrong, why, and what to do instead.
"""

from __future__ import annotations

from typing import Literal

__all__ = ["Fenced", "HostError", "Kind", "PolicyError", "Refused", "RetentionError"]


class RetentionError(Exception):
    """The root: `except RetentionError` catches all that this package raises on purpose.

    Attributes:
        exit_status: what the command returns for it (design, section 5).
    """

    exit_status = 1


class PolicyError(RetentionError):
    """The policy or the call is wrong. Nothing was read from or written to any table."""

    exit_status = 2


class Refused(RetentionError):
    """A safety check said no. Nothing was deleted by the work that was refused.

    Attributes:
        why: the receipt's `why`: `"guard"`, `"schema"` or `"policy"`.
    """

    exit_status = 4

    def __init__(self, message: str, why: Literal["guard", "schema", "policy"] = "guard") -> None:
        super().__init__(message)
        self.why: Literal["guard", "schema", "policy"] = why


Kind = Literal[
    "busy",  # another connection holds the lock: try again
    "quota",  # the host's rate or daily limit: try again, later than usual
    "overloaded",  # the host is short of time, memory or CPU: try again, with smaller statements
    "interrupted",  # our own deadline stopped the statement
    "too_many_changes",  # the batch passed its `max_changes` and was rolled back
    "constraint",  # a constraint or a trigger's RAISE refused the write
    "schema",  # the schema changed, or a name in the statement is not there
    "limit",  # the statement does not fit a limit of the host
    "full",  # no space left
    "readonly",  # the database cannot be written
    "corrupt",  # the file is damaged, or no database
    "index",  # a virtual table's own index (full-text) is out of step with what it serves; the file is sound
    "denied",  # no such database, no permission, wrong token
    "network",  # no answer, or one that cannot be read
    "error",  # anything else
]


class HostError(RetentionError):
    """A statement or a connection failed.

    Attributes:
        kind: what failed, by which the engine decides what to do.
        retryable: whether the same call may succeed later without any change.
        applied: whether the batch took effect: False (certainly not), True (in part or whole), None (nobody knows:
            the reply was lost). Writes whose `applied` is not False are never sent again.
        seconds: how long the failed attempt took.
        retry_after: seconds that the host asked us to wait, where it did.
        changes: rows that the statement changed and kept although it failed (RAISE(FAIL)), or None where the host cannot tell.
    """

    def __init__(
        self,
        message: str,
        kind: Kind = "error",
        *,
        retryable: bool = False,
        applied: bool | None = False,
        seconds: float = 0.0,
        retry_after: float | None = None,
        changes: int | None = None,
    ) -> None:
        super().__init__(message)
        self.kind: Kind = kind
        self.retryable = retryable
        self.applied = applied
        self.seconds = seconds
        self.retry_after = retry_after
        self.changes = changes

    @property
    def exit_status(self) -> int:  # type: ignore[override]
        return 75 if self.retryable else 1


class Fenced(HostError):
    """A fence did not hold, so its whole batch was rolled back.

    Attributes:
        name: the fence's label, the NAME of `fence:NAME` in its statement.
    """

    def __init__(self, name: str, message: str | None = None, *, seconds: float = 0.0) -> None:
        super().__init__(message or f"fence {name!r} did not hold; the batch was rolled back", "error", seconds=seconds)
        self.name = name

"""How a claim can fail. `code` and `status` are what a service would answer over HTTP."""

from __future__ import annotations

from ..errors import HostError, Refused

__all__ = ["ClaimRefused", "ClaimUnreadable"]


class ClaimRefused(Refused):
    """The claim was looked at and turned down; the same call will be turned down again.

    Attributes:
        code: which rule said no, for programs.
        status: the HTTP status that says so.
    """

    def __init__(self, code: str, status: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.status = status


class ClaimUnreadable(HostError):
    """Nobody can tell what became of the claim; the same call with the same key finds out.

    Attributes:
        code, status: as for `ClaimRefused`.
    """

    status = 503

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message, retryable=True, applied=None)
        self.code = code

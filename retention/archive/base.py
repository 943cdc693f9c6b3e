"""Where rows go before they are deleted."""

from __future__ import annotations

from typing import Protocol

from ..steps import Archive

__all__ = ["Sink"]


class Sink(Protocol):
    """Takes the rows of `Archive` steps.

    A crash between the archive and the delete brings the same rows again: a sink holds every deleted row at least once.
    """

    def write(self, step: Archive) -> None:
        """Store the rows. Returns only when they are durable, because their delete follows.

        Raises:
            HostError: they could not be stored.
        """
        ...

    def close(self) -> None: ...

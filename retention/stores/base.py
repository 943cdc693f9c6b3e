"""Where a checkpoint lives between runs."""

from __future__ import annotations

import copy
from typing import Any, Protocol

__all__ = ["CursorStore", "MemoryStore"]


class CursorStore(Protocol):
    """Holds one checkpoint document (design of the document: docs, "checkpoint").

    What `load` returns is not trusted: an invalid document restarts every rule from the beginning, which is safe because every
    delete decides again.

    A store whose class has `any_thread = True` beside its `save` is saved to from a thread of its own, while the next page is read; any
    other one on the thread of the call. No two calls overlap, and no row is deleted before the save in front of it has returned.
    """

    def load(self) -> dict[str, Any] | None:
        """The stored document, None if there is none yet, or `{"invalid": REASON}` for something that is no document."""
        ...

    def save(self, document: dict[str, Any]) -> None:
        """Store the document. Returns only when it is durable.

        Raises:
            HostError: it could not be stored; the previous document is still there.
        """
        ...


class MemoryStore:
    """Keeps the document in this process: for tests, and for callers that store it themselves.

    Attributes:
        document: the last one saved, or None.
        saves: how many there were.
    """

    def __init__(self, document: dict[str, Any] | None = None) -> None:
        self.document = copy.deepcopy(document)
        self.saves = 0

    def load(self) -> dict[str, Any] | None:
        """A copy, so that nobody changes what is stored by changing what was read."""
        return copy.deepcopy(self.document)

    def save(self, document: dict[str, Any]) -> None:
        self.document = copy.deepcopy(document)
        self.saves += 1

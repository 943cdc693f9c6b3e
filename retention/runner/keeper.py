"""Storing what a run has done, behind the deletes and beside the next read.

A delete, its log on the disk, the checkpoint on the disk: nothing of it may pass what stands before it. But while the disk works, the next
page can be read: a tenth of a run's time where a page's own work is short.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from ..archive.base import Sink
from ..errors import HostError, RetentionError
from ..hosts.base import Host
from ..steps import Archive, Save
from ..stores.base import CursorStore

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

__all__ = ["Keeper", "keep"]


class Keeper:
    """Keeps one host's writes and one store's checkpoints in order, while a synchronous driver goes on reading.

    A host takes part by `settle_later(bool)` and `settle()`, as `SQLite` does; any other one's writes are durable when `execute` returns.
    A store takes part by `any_thread = True` beside its `save`, as `FileStore` does; any other one may be bound to its thread, and is
    called on that.
    """

    def __init__(self, host: Host, store: CursorStore) -> None:
        self._host: Any = host if hasattr(host, "settle_later") and hasattr(host, "settle") else None
        self._store = store
        self._apart = _any_thread(store)
        self._thread: ThreadPoolExecutor | None = None
        self._saving: Future[None] | None = None

    def save(self, step: Save, sinks: Mapping[str, Sink]) -> None:
        """Begin to store a checkpoint, and be done with it where that cannot go beside a read. Raises HostError."""
        if not self._apart:
            self.settle()
            keep(step, self._store, sinks)
            return
        if self._thread is None:
            from concurrent.futures import ThreadPoolExecutor

            self._thread = ThreadPoolExecutor(1, thread_name_prefix="retention-save")
        try:
            self._saving = self._thread.submit(self._behind, step, sinks)
        except RuntimeError:  # no thread can be started, as while the interpreter ends
            self._behind(step, sinks)

    def _behind(self, step: Save, sinks: Mapping[str, Sink]) -> None:
        if self._host:
            self._host.settle()
        keep(step, self._store, sinks)

    def settle(self) -> None:
        """Wait until all that was written and saved is durable. Raises HostError, also for a save that was begun."""
        saving, self._saving = self._saving, None
        if saving:
            saving.result()
        elif self._host:
            self._host.settle()

    def __enter__(self) -> Self:
        if self._host:
            self._host.settle_later(True)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if self._thread:
                self._thread.shutdown()
        finally:
            if self._host:
                self._host.settle_later(False)
        if self._host and error is not None:
            with suppress(HostError):
                self._host.settle()


def _any_thread(store: CursorStore) -> bool:
    """Whether the class that says how to save says so too: a subclass may save elsewhere, to what is bound to its thread."""
    return next((vars(kind).get("any_thread") is True for kind in type(store).__mro__ if "save" in vars(kind)), False)


def keep(step: Save | Archive, store: CursorStore, sinks: Mapping[str, Sink]) -> None:
    """Store a document or rows. What a caller's store or archive raises is its own; the run ends by it, and says whose it is."""
    try:
        if isinstance(step, Save):
            store.save(step.document)
        else:
            sinks[step.rule].write(step)
    except RetentionError:
        raise
    except Exception as error:
        what = "the checkpoint could not be saved" if isinstance(step, Save) else f"rows of {step.table} could not be archived"
        raise HostError(f"{what}: {type(error).__name__}: {error}") from error

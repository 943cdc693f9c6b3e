"""Performing actions: synchronously and asynchronously. A few lines each."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any, TypeVar

from ..archive.base import Sink
from ..errors import HostError, RetentionError
from ..hosts.base import AsyncHost, Host
from ..steps import Archive, Save
from ..stores.base import CursorStore
from .conduct import Conducted, Execute, Sleep

__all__ = ["adrive", "drive"]

R = TypeVar("R")


def drive(conducted: Conducted[R], host: Host, store: CursorStore, sinks: Mapping[str, Sink]) -> R:
    """Perform each action on this thread."""
    reply: Any = None
    failure: BaseException | None = None
    while True:
        try:
            action = conducted.send(reply) if failure is None else conducted.throw(failure)
        except StopIteration as stop:
            return stop.value
        reply, failure = None, None
        try:
            match action:
                case Execute():
                    reply = host.execute(action.batch, action.timeout)
                case Sleep():
                    time.sleep(action.seconds)
                case _:
                    _keep(action, store, sinks)
        except HostError as error:
            failure = error


async def adrive(conducted: Conducted[R], host: AsyncHost, store: CursorStore, sinks: Mapping[str, Sink]) -> R:
    """Perform each action without blocking the event loop; stores and archives work in a thread."""
    reply: Any = None
    failure: BaseException | None = None
    while True:
        try:
            action = conducted.send(reply) if failure is None else conducted.throw(failure)
        except StopIteration as stop:
            return stop.value
        reply, failure = None, None
        try:
            match action:
                case Execute():
                    reply = await host.execute(action.batch, action.timeout)
                case Sleep():
                    await asyncio.sleep(action.seconds)
                case _:
                    await asyncio.to_thread(_keep, action, store, sinks)
        except HostError as error:
            failure = error


def _keep(action: Save | Archive, store: CursorStore, sinks: Mapping[str, Sink]) -> None:
    """Store a document or rows. What a caller's store or archive raises is its own; the run ends by it, and says whose it is."""
    try:
        if isinstance(action, Save):
            store.save(action.document)
        else:
            sinks[action.rule].write(action)
    except RetentionError:
        raise
    except Exception as error:
        what = "the checkpoint could not be saved" if isinstance(action, Save) else f"rows of {action.table} could not be archived"
        raise HostError(f"{what}: {type(error).__name__}: {error}") from error

"""Performing actions: synchronously and asynchronously. A few lines each."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import closing
from typing import Any, TypeVar

from ..archive.base import Sink
from ..errors import HostError
from ..hosts.base import AsyncHost, Host
from ..steps import Archive, Save
from ..stores.base import CursorStore
from .conduct import Conducted, Execute, Settle, Sleep
from .keeper import Keeper, keep

__all__ = ["adrive", "drive"]

R = TypeVar("R")


def drive(conducted: Conducted[R], host: Host, store: CursorStore, sinks: Mapping[str, Sink]) -> R:
    """Perform each action on this thread, but for a save that may go beside the next read."""
    reply: Any = None
    failure: BaseException | None = None
    with closing(conducted), Keeper(host, store) as keeper:
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
                    case Settle():
                        keeper.settle()
                    case Save():
                        keeper.save(action, sinks)
                    case Archive():
                        keep(action, store, sinks)
            except HostError as error:
                failure = error


async def adrive(conducted: Conducted[R], host: AsyncHost, store: CursorStore, sinks: Mapping[str, Sink]) -> R:
    """Perform each action without blocking the event loop; stores and archives work in a thread. Each has settled when it is answered."""
    reply: Any = None
    failure: BaseException | None = None
    with closing(conducted):
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
                    case Save() | Archive():
                        await _akeep(action, store, sinks)
                    case Settle():
                        pass
            except HostError as error:
                failure = error


async def _akeep(step: Save | Archive, store: CursorStore, sinks: Mapping[str, Sink]) -> None:
    """`keep`, in a thread. That cannot be stopped: who is cancelled waits for it, or it would go on in files that others have by then."""
    work = asyncio.ensure_future(asyncio.to_thread(keep, step, store, sinks))
    try:
        await asyncio.shield(work)
    except asyncio.CancelledError:
        await asyncio.wait([work])
        raise

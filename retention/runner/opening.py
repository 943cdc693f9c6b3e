"""A database for the length of a call: the caller's own stays open, what the call opened is closed."""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, TypeGuard

from ..hosts import open_async_host, open_host
from ..hosts.base import AsyncHost, Host
from ..hosts.threaded import Threaded
from ..policy.models import Policy

if TYPE_CHECKING:
    import apsw

__all__ = ["aopened", "opened"]


@contextmanager
def opened(db: str | os.PathLike[str] | apsw.Connection | Host, policy: Policy, *, readonly: bool = False) -> Generator[Host]:
    """A host for a path, an address, a connection, or a host. See `open_host` for what is raised."""
    if _is_host(db):
        yield db
        return
    host = _open(db, policy, readonly)
    try:
        yield host
    finally:
        host.close()


@asynccontextmanager
async def aopened(db: str | os.PathLike[str] | apsw.Connection | Host | AsyncHost, policy: Policy) -> AsyncGenerator[AsyncHost]:
    """The same, for asynchronous callers: files and connections are worked on in a thread."""
    if _is_host(db):
        yield db if _is_async(db) else Threaded(db)
        return
    if isinstance(db, str | os.PathLike):
        host = await asyncio.to_thread(open_async_host, os.fspath(db), foreign_keys=policy.foreign_keys)
    else:
        host = Threaded(await asyncio.to_thread(_open, db, policy, False))
    try:
        yield host
    finally:
        await host.aclose()


def _open(db: Any, policy: Policy, readonly: bool) -> Host:
    if isinstance(db, str | os.PathLike):
        return open_host(os.fspath(db), readonly=readonly, foreign_keys=policy.foreign_keys)  # type: ignore[arg-type]
    from ..hosts.sqlite import SQLite

    return SQLite(db, readonly=readonly, foreign_keys=policy.foreign_keys)


def _is_host(db: Any) -> TypeGuard[Any]:
    return hasattr(db, "execute") and hasattr(db, "capabilities")


def _is_async(host: Any) -> bool:
    return inspect.iscoroutinefunction(host.execute)

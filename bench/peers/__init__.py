"""What a user would pick instead: one file each, each a function that drains a job's table through a `Client`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..client import FileClient
from ..data import Job
from . import bare_delete, home_assistant, keyset_ids, limit_loop, relaycast, sqlite_utils

__all__ = ["PEERS", "Peer"]

Drain = Callable[[FileClient, Job], None]


@dataclass(frozen=True, slots=True)
class Peer:
    """Attributes:
    name: its key in the results.
    title: its name in the table.
    drain: removes all that the job's condition selects.
    cache_kib: page cache of its connection, KiB; None for SQLite's default.
    stores: what it stores of its progress is stored durably, as ours is; else that costs it nothing.
    """

    name: str
    title: str
    drain: Drain
    cache_kib: int | None = None
    stores: bool = True


PEERS = (
    Peer("bare_delete", "one bare DELETE", bare_delete.drain),
    Peer("bare_delete_16mb", "one bare DELETE, cache of 16 MB", bare_delete.drain, 16_384),
    Peer("limit_loop", "DELETE .. IN (SELECT .. LIMIT 1000)", limit_loop.drain),
    Peer("keyset_ids", "keyset page of 1,000, DELETE .. IN (100 ids)", keyset_ids.drain),
    Peer("relaycast", "relaycast's rowid pruner", relaycast.drain),
    Peer("relaycast_unsaved", "relaycast's rowid pruner, its saves left out", relaycast.drain, stores=False),
    Peer("home_assistant", "Home Assistant's purge shape", home_assistant.drain),
    Peer("sqlite_utils", "sqlite-utils' delete_where", sqlite_utils.drain),
)

"""An optional lease: of two callers on one database, one works. The database's own clock decides, in the batch that writes.

Without it every row is still judged by the statement that deletes it; a lease only keeps two callers from doing the same work.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace

from ..policy import models
from ..statements.quoting import integer, name, text
from ..steps import Batch, Statement

__all__ = ["FENCE", "Lease"]

FENCE = "lease"
"""The fence's label: a batch that fails by it was sent by a caller that had lost its lease."""

_ROW = "retention"


@dataclass(frozen=True, slots=True)
class Lease:
    """A caller's claim on a database.

    Attributes:
        table: made by the user, see `create`.
        owner: this caller, a random text.
        ttl_s: seconds that a claim lasts; each write renews it.
    """

    table: str
    owner: str
    ttl_s: int

    @classmethod
    def of(cls, policy: models.Lease | None) -> Lease | None:
        """The lease that a policy asks for, with a new owner."""
        return None if policy is None else cls(policy.table, secrets.token_hex(8), max(1, policy.ttl // 1000))

    @property
    def create(self) -> str:
        """The one statement that makes the table."""
        return f"CREATE TABLE {name(self.table)} (name TEXT PRIMARY KEY NOT NULL, owner TEXT NOT NULL, until INTEGER NOT NULL)"

    def acquire(self) -> Batch:
        """Take the lease if it is free, run out or ours. The second statement's row is (owner, seconds left)."""
        table = name(self.table)
        take = (
            f"INSERT INTO {table} (name, owner, until) VALUES ({text(_ROW)}, ?1, unixepoch() + {integer('?2')}) "
            f"ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, until = excluded.until "
            f"WHERE {table}.until <= unixepoch() OR {table}.owner = excluded.owner"
        )
        read = f"SELECT owner, until - unixepoch() FROM {table} WHERE name = {text(_ROW)}"
        return Batch((Statement(take, (self.owner, str(self.ttl_s))), Statement(read)), writes=True, repeatable=True)

    def fenced(self, batch: Batch) -> Batch:
        """The batch behind a renewal that fails the whole of it where the lease is no longer ours."""
        renew = (
            f"UPDATE {name(self.table)} SET until = unixepoch() + {integer('?2')} "
            f"WHERE name = {text(_ROW)} AND owner = ?1 AND until > unixepoch()"
        )
        fence = f"SELECT CASE WHEN changes() = 1 THEN 1 ELSE json_extract('1', {text('fence:' + FENCE)}) END"
        return replace(batch, statements=(Statement(renew, (self.owner, str(self.ttl_s))), Statement(fence), *batch.statements))

    def release(self) -> Batch:
        """Give it back, if it is still ours."""
        sql = f"DELETE FROM {name(self.table)} WHERE name = {text(_ROW)} AND owner = ?1"
        return Batch((Statement(sql, (self.owner,)),), writes=True, repeatable=True)

"""relaycast's rowid pruner (8.9.0), written anew from a description of it.

Pages of 200 rows by rowid; the host decides each row's age from its tenant's raw document; candidates go in chunks of 10 guarded
clauses, each repeating identity, policy text, age and status; progress is saved before and after each page; a call makes at most five
pages of a table, and each call begins by reading its high-water mark if it has none.
"""

from __future__ import annotations

import json
from typing import Any

from ..client import Client
from ..data import DAY, KEEP_DAYS, NOW, SETTLED, Job

__all__ = ["CHUNK", "PAGE", "PAGES", "drain"]

PAGE = 200
"""rows a page"""
CHUNK = 10
"""rows a DELETE"""
PAGES = 5
"""pages of a table in one call"""

HIGH = "SELECT rowid FROM deliveries NOT INDEXED ORDER BY rowid DESC LIMIT 1"


def page_sql(first: bool) -> str:
    """A page of rows, then what the host needs to judge them. Filters apply after the LIMIT."""
    lower = "" if first else "AND rowid > CAST(?2 AS INTEGER) "
    return (
        "WITH page AS MATERIALIZED (SELECT rowid AS r, id, workspace_id, created_at, status FROM deliveries NOT INDEXED "
        f"WHERE rowid <= CAST(?1 AS INTEGER) {lower}ORDER BY rowid LIMIT {PAGE}) "
        f"SELECT page.r, page.id, page.workspace_id, page.created_at, page.status, {SETTLED} AS eligible, w.retention "
        "FROM page LEFT JOIN workspaces AS w ON w.id = page.workspace_id ORDER BY page.r"
    )


def delete_sql(count: int) -> str:
    """One chunk: each row by its rowid and all that was read of it, seven values a row."""
    clauses: list[str] = []
    for n in range(count):
        r, key, workspace, policy_of, policy, created, status = (f"?{7 * n + k}" for k in range(1, 8))
        clauses.append(
            f"(rowid = CAST({r} AS INTEGER) AND id = CAST({key} AS INTEGER) AND workspace_id = {workspace} "
            f"AND (SELECT w.retention FROM workspaces AS w WHERE w.id = {policy_of}) IS {policy} "
            f"AND created_at = CAST({created} AS INTEGER) AND status = {status})"
        )
    return f"DELETE FROM deliveries NOT INDEXED WHERE ({' OR '.join(clauses)}) AND {SETTLED}"


def expired(created: int, retention: str | None) -> bool:
    """Whether the row's age is past its tenant's keep, else the default."""
    days = json.loads(retention).get("delivery_ttl_days", KEEP_DAYS) if retention else KEEP_DAYS
    return days is not None and days > 0 and created * 1000 < NOW * 1000 - days * DAY * 1000


def drain(client: Client, _job: Job) -> None:
    """Calls until one traversal has ended."""
    state: dict[str, Any] = {}
    while not call(client, state):
        pass


def call(client: Client, state: dict[str, Any]) -> bool:
    """One scheduled call on one table. True when the traversal has ended."""
    for _ in range(PAGES):
        save(client, state)
        if "high" not in state:
            high = client.read(HIGH)
            if not high:
                return True
            state["high"] = int(high[0][0])
        first = "cursor" not in state
        bound = (str(state["high"]),) if first else (str(state["high"]), str(state["cursor"]))
        rows = client.read(page_sql(first), bound)
        gone = [row for row in rows if row[5] and expired(int(row[3]), row[6])]
        for start in range(0, len(gone), CHUNK):
            chunk = gone[start : start + CHUNK]
            values: list[Any] = []
            for r, key, workspace, created, status, _eligible, retention in chunk:
                values += [str(int(r)), str(int(key)), workspace, workspace, retention, str(int(created)), status]
            client.write(delete_sql(len(chunk)), values)
        ended = len(rows) < PAGE or int(rows[-1][0]) == state["high"]
        if ended:
            state.clear()
        else:
            state["cursor"] = int(rows[-1][0])
        save(client, state)
        if ended:
            return True
    return False


def save(client: Client, state: dict[str, Any]) -> None:
    """The document that the host stores; its contract is that `save` returns only when it is durable."""
    client.save({"version": 1, "next": 0, "tables": {"deliveries": state}})

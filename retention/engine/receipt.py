"""What a run did, as data: the return value of `run` and the JSON of the command (design, section 5)."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from .budget import Why

__all__ = [
    "EXIT_STATUS",
    "ClosureReceipt",
    "LogReceipt",
    "MigrationReceipt",
    "Outcome",
    "Receipt",
    "RuleReceipt",
    "Statements",
    "SweepReceipt",
]

Outcome = Literal["done", "more", "busy", "refused", "failed"]

EXIT_STATUS: dict[Outcome, int] = {"done": 0, "failed": 1, "more": 3, "refused": 4, "busy": 75}
"""The command's exit status for each outcome (75 is EX_TEMPFAIL of sysexits.h: try again)."""

NAMED_TENANTS = 20
"""At most so many malformed tenants are named for each rule: enough to start mending, short enough for a log line."""


@dataclass(slots=True)
class RuleReceipt:
    """One rule's counts, in rows.

    Attributes:
        rule, table, cutoff, walk, mode: what ran. `cutoff` is UTC, of the rule's own keep; None where there is none.
        pages: pages whose work is done.
        scanned: rows looked at.
        deleted: the rule's own rows that are gone.
        side_changes: what the database changed beyond them: cascades, triggers, FTS.
        cascaded: the same by table, or None where the host cannot tell.
        drained: rows of the families below that went with their parents (`children = "drain"`), by table.
        partial: parents that stayed although rows below them had gone: rescued, or kept by a constraint, midway.
        changed: chunk mode: rows that changed between read and delete, and were kept.
        undated, unreadable, held, referenced: rows kept, by reason.
        blocked: rows that a constraint or a trigger would not let go.
        too_large: rows whose cascade alone passes `rows_changed`.
        unconfirmed: rows of pages whose outcome was lost, and that were gone when read again.
        malformed_tenants: at most 20 tenants whose document cannot be read; their rows were kept.
        rows_read, rows_written: the host's own meters, or None.
        finished: the rule finished a traversal, or had nothing to do.
        error: what stopped the rule, or what blocked its rows; None where nothing did.
    """

    rule: str
    table: str
    cutoff: str | None = None
    walk: str = "rowid"
    mode: str = "range"
    pages: int = 0
    scanned: int = 0
    deleted: int = 0
    side_changes: int = 0
    cascaded: dict[str, int] | None = None
    drained: dict[str, int] = field(default_factory=dict[str, int])
    partial: int = 0
    changed: int = 0
    undated: int = 0
    unreadable: int = 0
    held: int = 0
    referenced: int = 0
    blocked: int = 0
    too_large: int = 0
    unconfirmed: int = 0
    malformed_tenants: list[str] = field(default_factory=list[str])
    rows_read: int | None = None
    rows_written: int | None = None
    finished: bool = False
    error: str | None = None

    @property
    def gone(self) -> int:
        """Rows deleted by name: the rule's own and their families'."""
        return self.deleted + sum(self.drained.values())

    @property
    def beyond(self) -> int:
        """What a person did not name: rows of the families below, and what cascades and triggers changed."""
        return self.side_changes + sum(self.drained.values())


@dataclass(slots=True)
class SweepReceipt:
    """One sweep's counts, in rows.

    Attributes:
        sweep, table: what ran.
        visited: rows looked at.
        due: rows that had to end; without `skipped`.
        skipped: rows that had to end, and that the caller asked to leave alone.
        ended: rows that this call ended. children: rows that ended with them.
        raced: due rows that a worker took before the write.
        blocked: keys of rows that cannot end.
        unconfirmed: rows of batches whose outcome was lost, and that were no longer due when read again.
        undated, unreadable: live rows without a time, and with one that cannot be read; they stay.
        finished: the sweep has visited everything.
        error: what stopped it, or what blocked its rows.
    """

    sweep: str
    table: str
    visited: int = 0
    due: int = 0
    skipped: int = 0
    ended: int = 0
    children: int = 0
    raced: int = 0
    blocked: list[str] = field(default_factory=list[str])
    unconfirmed: int = 0
    undated: int = 0
    unreadable: int = 0
    finished: bool = False
    error: str | None = None


@dataclass(slots=True)
class ClosureReceipt:
    """One closure's counts, in units: a parent with its members.

    Attributes:
        closure, table: what ran.
        visited: parents looked at.
        due: units that had to go. closed: units that this call deleted.
        members: rows that went with them, by table.
        raced: due units that changed before the write.
        blocked: keys of parents that a constraint or a trigger keeps.
        too_large: keys of parents whose unit is larger than `rows_changed`.
        unconfirmed: units of batches whose outcome was lost, and that were gone when read again.
        undated, unreadable, leased, open, unread, held: old terminal parents that stay, by reason.
        finished: the closure has visited everything.
        error: what stopped it, or what blocked its units.
    """

    closure: str
    table: str
    visited: int = 0
    due: int = 0
    closed: int = 0
    members: dict[str, int] = field(default_factory=dict[str, int])
    raced: int = 0
    blocked: list[str] = field(default_factory=list[str])
    too_large: list[str] = field(default_factory=list[str])
    unconfirmed: int = 0
    undated: int = 0
    unreadable: int = 0
    leased: int = 0
    open: int = 0
    unread: int = 0
    held: int = 0
    finished: bool = False
    error: str | None = None


@dataclass(slots=True)
class LogReceipt:
    """What the retention of the event log did, in events.

    Attributes:
        table, cutoff: what ran; older events may go.
        pages: pages whose work is done. scanned: events looked at.
        deleted: events that are gone.
        stopped: streams in which events now say that a consumer was given up.
        unconfirmed: events of pages whose outcome was lost, and that were gone when read again.
        blocked: pages of one event that a constraint or a trigger would not let go.
        finished: the whole log has been visited.
        error: what stopped it, or what blocked its events.
    """

    table: str
    cutoff: str
    pages: int = 0
    scanned: int = 0
    deleted: int = 0
    stopped: list[str] = field(default_factory=list[str])
    unconfirmed: int = 0
    blocked: int = 0
    finished: bool = False
    error: str | None = None


@dataclass(slots=True)
class MigrationReceipt:
    """What became of one step of a migration.

    Attributes:
        migration, table: the step's name and its table's.
        does: `create`, `add`, `fill` or `index`.
        state: `there`: nothing was to do. `made`, `filled`: done by this call. `plain`: an index is there, but duplicates keep it from
            being unique. `missing`, `open`: to be done (a dry run, or a call that ended before). `refused`: cannot be done.
        sql: the statements that make it; none for a step that is there already.
        rows: rows that the statement reads, of which at most `index_rows` + 1 are counted; None where it reads none, or nobody looked.
        duplicates: up to 5 keys that keep an index from being unique, each with its number of rows.
        filled: rows that a back-fill has written.
        finished: nothing is left of the step.
        note: what a person should know.
        error: why it cannot be done.
    """

    migration: str
    table: str
    does: Literal["create", "add", "fill", "index"]
    state: Literal["there", "made", "plain", "filled", "missing", "open", "refused"] = "missing"
    sql: tuple[str, ...] = ()
    rows: int | None = None
    duplicates: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    filled: int = 0
    finished: bool = False
    note: str | None = None
    error: str | None = None


@dataclass(slots=True)
class Statements:
    """Statements sent: `used` by the largest pass, `total` by all passes, `planning` before the first page.

    `limit` and `ceiling` are None where nothing bounds them.
    """

    used: int = 0
    total: int = 0
    planning: int = 0
    limit: int | None = None
    ceiling: int | None = None


@dataclass(slots=True)
class Receipt:
    """The whole call. `to_dict()` is the JSON; `exit_status` the command's."""

    outcome: Outcome
    why: Why
    now: str
    elapsed_s: float = 0.0
    passes: int = 1
    statements: Statements = field(default_factory=Statements)
    rules: list[RuleReceipt] = field(default_factory=list[RuleReceipt])
    sweeps: list[SweepReceipt] = field(default_factory=list[SweepReceipt])
    closures: list[ClosureReceipt] = field(default_factory=list[ClosureReceipt])
    events: list[LogReceipt] = field(default_factory=list[LogReceipt])
    migrations: list[MigrationReceipt] = field(default_factory=list[MigrationReceipt])
    warnings: list[str] = field(default_factory=list[str])
    version: Literal[1] = 1

    @property
    def exit_status(self) -> int:
        return EXIT_STATUS[self.outcome]

    @property
    def deleted(self) -> int:
        """Rows deleted by all rules."""
        return sum(r.deleted for r in self.rules)

    def to_dict(self) -> dict[str, Any]:
        """The receipt as JSON-ready data, in the documented order of keys."""
        data = asdict(self)
        work = ("rules", "sweeps", "closures", "events", "migrations")
        order = ("version", "outcome", "why", "now", "elapsed_s", "passes", "statements", *work, "warnings")
        return {k: data.pop(k) for k in order} | data

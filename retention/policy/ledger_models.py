"""`[events]` and `[claims]`: which tables and columns hold the event log, its cursors, and the claims.

The same models are what `retention.events.Log` and `retention.claims.Claims` are bound to. Every name is a name in the database;
times are stored as `format` tells.

    [events]
    table   = "delivery_events"
    stream  = "slot_id"
    kind    = "event"
    at      = { column = "ts", format = "unix_ms" }
    payload = "detail"
    public  = { "job.requested" = "job.accepted", "job.progressed" = "job.progress", "job.outcome_failed" = "job.failed" }
    hidden  = ["outbox.claimed"]
    once    = ["job.requested", "job.outcome_failed"]
    keep    = "30d"
    stopped_after = "14d"

    [events.cursors]
    table    = "job_event_cursors"
    stream   = "job_id"
    position = "acked_row_id"
    moved    = { column = "updated_at", format = "unix_ms" }

    [events.callback]
    start    = "job.requested"
    terminal = ["job.outcome_failed"]
    target   = "callback_url"
    table    = "outbox"
    columns  = { id = "{uuid}", kind = "event_callback", idempotency_key = "job-event:{stream}:{event_id}", payload_json = "{event}" }

    [claims.record]
    table  = "session_events"
    scope  = ["workspace_id", "agent_id"]

    [claims.status]
    table = "agents"

    [claims.creation]
    table   = "workspaces"
    binding = "workspace_create_idempotency"
"""

from __future__ import annotations

import re
import string
from typing import Annotated, Literal

from pydantic import Field, model_validator

from .base import Invalid, Listed, Model, Name, Names, Problem, show
from .durations import Duration, Keep

__all__ = ["PLACEHOLDERS", "Callback", "Claims", "Creation", "Cursors", "Events", "Record", "Stamp", "Status"]

Kinds = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Listed]

PLACEHOLDERS = frozenset({"uuid", "stream", "kind", "public", "id", "at", "event_id", "target", "event", "now"})
"""What a callback's columns may hold in braces; `retention.ledger.append` says what each becomes."""


class Stamp(Model):
    """A column that holds a time: a whole number since 1970, or text `YYYY-MM-DD HH:MM:SS`, with or without a fraction."""

    column: Name
    format: Literal["unix_s", "unix_ms", "unix_us", "utc_text"]


def _distinct(*columns: str | None) -> None:
    """Raises ValueError where one column is named for two things."""
    names = [column for column in columns if column is not None]
    twice = next((column for place, column in enumerate(names) if column.lower() in map(str.lower, names[:place])), None)
    if twice is not None:
        raise ValueError(f"names the column {show(twice)} for two things; give each its own")


class Cursors(Model):
    """How far each consumer has read each stream. `(consumer, stream)` must be unique.

    Attributes:
        consumer: the column that names the consumer; without one there is exactly one consumer.
        position: the id of the last event acked.
        at: the time of that event, where a column keeps it.
        moved: when the cursor last moved. Needed for `stopped_after`.
    """

    table: Name
    stream: Name
    position: Name
    consumer: Name | None = None
    at: Stamp | None = None
    moved: Stamp | None = None

    @model_validator(mode="after")
    def _apart(self) -> Cursors:
        stamps = (stamp.column for stamp in (self.at, self.moved) if stamp is not None)
        _distinct(self.consumer, self.stream, self.position, *stamps)
        return self


class Callback(Model):
    """Who wants to be told, and the row that tells them.

    Attributes:
        start: the kind whose payload may ask for a callback.
        target: the key of that payload (a JSON object) that says whither.
        terminal: the kinds after which nothing more happens in a stream.
        table: where a row goes for each public once-event of a stream that asked; None: no rows, only `awaiting`.
        columns: of that row; texts may hold `{stream}`, `{event_id}` and the other placeholders, `{{` is a brace.
    """

    start: Annotated[str, Field(min_length=1, examples=["job.requested"])]
    target: Annotated[str, Field(min_length=1, examples=["callback_url"])]
    terminal: Annotated[Kinds, Field(min_length=1, examples=[["job.done"]])]
    table: Name | None = None
    columns: dict[Name, str | int] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _row(self) -> Callback:
        if (self.table is None) != (not self.columns):
            raise ValueError("needs table and columns together; name both, or neither if nothing is to be sent")
        if not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", self.target):
            raise Invalid([Problem(("target",), f"must be a key of the payload, such as callback_url, not {show(self.target)}")])
        unknown = [(c, field) for c, text in self.columns.items() for field in _fields(c, text) if field not in PLACEHOLDERS]
        if unknown:
            column, field = unknown[0]
            known = ", ".join(sorted(PLACEHOLDERS))
            raise Invalid([Problem(("columns", column), f"has the placeholder {show(field)}, which nothing fills; known are {known}")])
        return self


def _fields(column: str, text: str | int) -> list[str]:
    if isinstance(text, int):
        return []
    try:
        return [field for _, field, _, _ in string.Formatter().parse(text) if field is not None]
    except ValueError as error:
        raise Invalid([Problem(("columns", column), f"is not a template ({error}); write {{{{ and }}}} for braces")]) from None


class Events(Model):
    """An append-only log, read by streams in the order of its id.

    Attributes:
        id: the INTEGER PRIMARY KEY AUTOINCREMENT.
        stream: whose event it is; text.
        kind: what happened.
        at: when; never falls within a stream.
        payload: JSON text, or None where the table has no such column.
        public: kinds that consumers see, and the name each has there; None: all, under their own names.
        hidden: kinds that are known and not shown. What is in neither list is not shown either, but counted `unknown`.
        once: kinds of which a stream has one event. Retention never deletes them: without them they would be written again.
        skew: ms that a caller's time may lie ahead of the clock.
        keep: ms, or "forever": how long the other events stay.
        stopped_after: ms after which a consumer that has not acked counts as gone; None: never.
        consumers: consumers that may not have a cursor yet.
    """

    table: Name
    stream: Name
    kind: Name
    at: Stamp
    id: Name = "id"
    payload: Name | None = None
    public: dict[Annotated[str, Field(min_length=1)], Annotated[str, Field(min_length=1)]] | None = None
    hidden: Kinds = ()
    once: Kinds = ()
    skew: Duration = 60_000
    keep: Keep = "forever"
    stopped_after: Annotated[Duration, Field(ge=1)] | None = None
    consumers: Kinds = ()
    cursors: Cursors | None = None
    callback: Callback | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Events:
        _distinct(self.id, self.stream, self.kind, self.at.column, self.payload)
        problems = [Problem(path, message) for path, message, wrong in self._faults() if wrong]
        if problems:
            raise Invalid(problems)
        return self

    def _faults(self) -> list[tuple[tuple[str, ...], str, bool]]:
        callback, cursors = self.callback, self.cursors
        needed = (callback.start, *callback.terminal) if callback else ()
        loose = next((kind for kind in needed if kind not in self.once), None)
        both = next((kind for kind in self.hidden if kind in (self.public or {})), None)
        return [
            (("once",),
             f"must hold {show(loose)}, which [events.callback] relies on; retention deletes what is not in once", loose is not None),
            (("hidden",), f"names {show(both)}, which is public as well; leave it out of one of them", both is not None),
            (("hidden",), "has no meaning while every kind is public; list the public kinds", bool(self.hidden) and self.public is None),
            (("callback",), "needs a payload column, where streams ask for it; name it in [events]",
             callback is not None and self.payload is None),
            (("stopped_after",), "needs to know when a cursor moved; add moved to [events.cursors]",
             self.stopped_after is not None and (cursors is None or cursors.moved is None)),
            (("stopped_after",), "writes an event that says who was given up, which needs a payload column; name it in [events]",
             self.stopped_after is not None and self.payload is None),
            (("consumers",), "needs a consumer column; add it to [events.cursors]",
             bool(self.consumers) and (cursors is None or cursors.consumer is None)),
        ]  # fmt: skip


class Record(Model):
    """Events recorded under a caller's idempotency key. `(*scope, key)` must be unique.

    Attributes:
        scope: columns within which a key is one key; the last is the owner, in whose events `sequence` counts.
        key, digest: the hashes of the caller's key and of the request.
        applied: when the event's status took effect; NULL until then.
        legacy: 1 for events from before `applied` was kept, of which nobody knows whether they took effect; None: there are none.
    """

    table: Name
    scope: Annotated[Names, Field(min_length=1, examples=[["workspace_id", "agent_id"]])]
    id: Name = "id"
    kind: Name = "type"
    payload: Name = "payload"
    key: Name = "idempotency_key_hash"
    digest: Name = "request_digest"
    sequence: Name = "sequence"
    at: Stamp = Stamp(column="created_at", format="unix_s")
    applied: Stamp = Stamp(column="status_applied_at", format="unix_s")
    legacy: Name | None = "status_legacy_pending"

    @model_validator(mode="after")
    def _apart(self) -> Record:
        texts = (self.id, self.kind, self.payload, self.key, self.digest, self.sequence, self.legacy)
        _distinct(*self.scope, *texts, self.at.column, self.applied.column)
        return self


class Status(Model):
    """The rows whose status the events move; `scope` are its columns for `[claims.record]`'s, in the same order.

    Attributes:
        released: the status of a row that no event touches any more.
        witness: when the row's status last moved; decides for legacy events. None: legacy events never move a row.
        prefix: of the kinds that move a status.
    """

    table: Name
    scope: Annotated[Names, Field(min_length=1)] = ("workspace_id", "id")
    status: Name = "status"
    released: str = "released"
    witness: Stamp | None = Stamp(column="status_updated_at", format="unix_s")
    prefix: Annotated[str, Field(min_length=1)] = "status."


class Creation(Model):
    """A row that is made once for each caller's key, and the binding that remembers it.

    Attributes:
        table, id, secret: the row made, its key, and the column of its secret's hash.
        binding: the table that remembers; `(scope, key)` must be unique in it.
        bound: the column of the binding that holds the row's id.
        active, terminalized: the binding's states.
        ended: when the binding was terminalized.
        called: the row's name, by which an owner without a key finds it again.
        expires: when the row may go; one that has expired is not used again. None: rows do not expire.
    """

    table: Name
    binding: Name
    id: Name = "id"
    secret: Name = "api_key_hash"
    scope: Name = "owner_scope_hash"
    key: Name = "idempotency_key_hash"
    digest: Name = "request_digest"
    bound: Name = "workspace_id"
    state: Name = "status"
    active: str = "active"
    terminalized: str = "terminalized"
    at: Stamp = Stamp(column="created_at", format="unix_s")
    ended: Stamp = Stamp(column="terminalized_at", format="unix_s")
    called: Name = "name"
    expires: Stamp | None = None


class Claims(Model):
    record: Record | None = None
    status: Status | None = None
    creation: Creation | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Claims:
        if self.status and not self.record:
            raise Invalid([Problem(("status",), "is moved by recorded events; add [claims.record]")])
        if self.status and self.record and len(self.status.scope) != len(self.record.scope):
            raise Invalid([Problem(("status", "scope"), "must name as many columns as the scope of [claims.record], in the same order")])
        return self

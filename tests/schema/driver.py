"""Drives an engine that only reads, with a database in hand."""

from __future__ import annotations

from typing import TypeVar

import apsw

from retention.capabilities import Capabilities
from retention.schema.model import Schema
from retention.schema.reader import read
from retention.steps import Batch, Engine, Result

R = TypeVar("R")


def drive(db: apsw.Connection, engine: Engine[R], sent: list[Batch] | None = None) -> R:
    """Run an engine to its end; the batches that it asked for are appended to `sent`."""
    answer: list[Result] | None = None
    while True:
        try:
            step = engine.send(answer)
        except StopIteration as stop:
            return stop.value
        assert isinstance(step, Batch)
        assert not step.writes
        if sent is not None:
            sent.append(step)
        answer = [Result(db.execute(s.sql, s.params).fetchall()) for s in step.statements]


def schema_of(db: apsw.Connection) -> Schema:
    return drive(db, read(Capabilities()))


def database(*statements: str) -> apsw.Connection:
    db = apsw.Connection("")
    for sql in statements:
        db.execute(sql)
    return db

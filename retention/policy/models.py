"""The policy file as models: what the TOML may say, and the Python API to say the same."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from .durations import Duration, Keep

__all__ = ["Age", "Hold", "KeepNewest", "Lease", "Limits", "Mode", "Policy", "Rule", "Tenant", "Tenants", "Walk"]

Format = Literal[
    "unix_s", "unix_ms", "unix_us", "utc_text", "iso8601", "date", "julian", "snowflake", "uuid7", "ulid", "mixed"
]


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Age(Model):
    column: str | tuple[str, ...]
    format: Format
    epoch_ms: int = 0


class Tenant(Model):
    """`setting` is a key of the tenants' JSON document; `days` is a numeric column of the tenants' table. Exactly one."""

    column: str
    setting: str | None = None
    days: str | None = None


class KeepNewest(Model):
    rows: int
    per: tuple[str, ...] = ()
    by: tuple[str, ...] = ()


class Walk(Model):
    """`walk = "rowid" | "primary_key" | { index = NAME }` in the file."""

    kind: Literal["rowid", "primary_key", "index"]
    index: str | None = None


class Mode(Model):
    """`mode = "range" | "chunk" | { chunk = ROWS }` in the file."""

    kind: Literal["range", "chunk"] = "range"
    chunk: int | None = None


class Rule(Model):
    name: str
    table: str
    keep: Keep
    age: Age | None = None
    only: str | None = None
    tenant: Tenant | None = None
    keep_newest: KeepNewest | None = None
    walk: Walk | None = None
    mode: Mode = Mode()
    ordered: bool = False
    revisit: Duration
    page_rows: int | None = None
    max_pages: int | None = None
    archive: str | None = None
    children: Literal["cascade", "refuse"] = "cascade"
    plausible: bool = True
    enabled: bool = True


class Hold(Model):
    table: str
    where: str


class Tenants(Model):
    table: str
    key: str
    settings: str | None = None
    shortest: Duration | None = None


class Limits(Model):
    statements: int | None = None
    deadline: Duration | None = None
    rows_changed: int = 10_000
    page_rows: int = 50_000
    rows_read: int | None = None
    rows_written: int | None = None
    wal_bytes: int = 64 * 1024 * 1024


class Lease(Model):
    table: str
    ttl: Duration


class Policy(Model):
    version: Literal[1] = 1
    foreign_keys: Literal["on", "off"] = "on"
    limits: Limits = Limits()
    lease: Lease | None = None
    tenants: Tenants | None = None
    holds: tuple[Hold, ...] = ()
    rules: tuple[Rule, ...] = ()

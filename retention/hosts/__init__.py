"""Databases, by address."""

from __future__ import annotations

from typing import Literal

from .base import AsyncHost, Host

__all__ = ["AsyncHost", "Host", "open_host"]


def open_host(target: str, *, readonly: bool = False, foreign_keys: Literal["on", "off"] = "on") -> Host:
    """The database at an address."""
    from .sqlite import SQLite

    return SQLite(target, readonly=readonly, foreign_keys=foreign_keys)

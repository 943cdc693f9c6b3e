from __future__ import annotations

from .fixtures import libsql

__all__ = ["libsql"]

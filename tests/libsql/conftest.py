from __future__ import annotations

from tests.d1.fixtures import d1, d1_server

from .fixtures import libsql, libsql_module

__all__ = ["d1", "d1_server", "libsql", "libsql_module"]

from __future__ import annotations

from tests.d1.fixtures import d1, d1_server

__all__ = ["d1", "d1_server"]

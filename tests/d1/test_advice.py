"""What `plan` advises and estimates, over real remote servers: sixty-four looks in one batch."""

from __future__ import annotations

from typing import Any

import pytest

import retention
from retention.cli.reading import answered
from retention.engine.preview import preview
from tests.libsql.fixtures import libsql

__all__ = ["libsql"]

NOW_MS = 1_788_962_400_000
ROWS, OLD = 14_000, 1_000
POLICY: dict[str, Any] = {
    "version": 1,
    "rules": [{"table": "t", "keep": "30d", "age": {"column": "at", "format": "unix_s"}, "page_rows": 100, "plausible": False}],
}


@pytest.mark.parametrize("server", ["d1", "libsql"])
def test_a_large_table_is_estimated_in_one_batch(server: str, request: pytest.FixtureRequest) -> None:
    database = request.getfixturevalue(server)
    database.setup(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER)",
        f"INSERT INTO t WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS}) "
        f"SELECT i * 1000, {NOW_MS // 1000 - 30 * 86_400 - OLD} + i FROM n",
    )
    with database.host() as host:
        plan = retention.plan(host, POLICY, now=NOW_MS)
        assert plan.rules[0].advice == 'CREATE INDEX "idx_t_at" ON "t" ("at")'
        (counted,) = answered(preview(plan, NOW_MS, pages=2), host).rules
    assert counted.saving is not None
    assert not counted.saving.exact
    assert abs(counted.saving.now - ROWS) <= ROWS // 20
    assert abs(counted.saving.then - OLD) <= ROWS // 20

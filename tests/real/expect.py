"""What software deletes from its own database, said as policies.

Each entry is a policy for `<folder>/before.db.xz` and what should be left of the tables it names: the keys in `<folder>/left.json.xz`,
which are those that the software's own clean-up left. Where one table and its references cannot say the software's rule, `kept`
counts the rows that it deletes and the policy keeps, `gone` the reverse, and `why` says what differs.
"""

from __future__ import annotations

import json
import lzma
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import apsw

from retention.presets import preset

FOLDER = Path(__file__).parent
NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Expect:
    """One clean-up.

    Attributes:
        folder: where the database lies.
        name: the software's command or task.
        policy: the same rule in our words (TOML).
        tables: those whose rows are compared.
        kept: rows by table that the software deletes and the policy keeps.
        gone: rows by table that the policy deletes and the software keeps.
        why: what differs, and why it cannot be said; empty where nothing does.
    """

    folder: str
    name: str
    policy: str
    tables: tuple[str, ...]
    kept: dict[str, int] = field(default_factory=dict)
    gone: dict[str, int] = field(default_factory=dict)
    why: str = ""


def database(folder: str) -> apsw.Connection:
    """A fresh copy of the database before the clean-up, in memory."""
    db = apsw.Connection(":memory:")
    db.deserialize("main", _unpacked(folder))
    return db


def unpack(folder: str, path: Path) -> None:
    """The same as a file."""
    path.write_bytes(_unpacked(folder))


def left(folder: str, table: str) -> set[tuple[Any, ...]]:
    """The keys that the software's own clean-up left."""
    return {tuple(key) for key in _left(folder)[table]}


@cache
def _unpacked(folder: str) -> bytes:
    return lzma.decompress((FOLDER / folder / "before.db.xz").read_bytes())


@cache
def _left(folder: str) -> dict[str, list[list[Any]]]:
    return json.loads(lzma.decompress((FOLDER / folder / "left.json.xz").read_bytes()))


def _policy(*rules: str, head: str = "") -> str:
    return "version = 1\n" + head + "".join(f"\n[[rules]]\n{rule}\n" for rule in rules)


def _enabled(policy: str, *names: str) -> str:
    """The policy with just those rules switched on."""
    head, *rules = policy.split("\n[[rules]]\n")
    wanted = [r.replace("enabled = false\n", "") for r in rules if any(f'name  = "{n}"\n' in r for n in names)]
    assert len(wanted) == len(names), names
    return head + "".join("\n[[rules]]\n" + r for r in wanted)


_DJANGO = preset("django").policy
_CELERY = preset("celery").policy
_REFRESH, _ACCESS, _ID, _GRANT = (f"oauth2_provider_{t}" for t in ("refreshtoken", "accesstoken", "idtoken", "grant"))

HASS = _policy(
    'table = "states"\nkeep = "10d"\nage = { column = "last_updated_ts", format = "unix_s" }',
    'table = "events"\nkeep = "10d"\nage = { column = "time_fired_ts", format = "unix_s" }',
    'table = "statistics_short_term"\nkeep = "10d"\nage = { column = "start_ts", format = "unix_s" }',
    'table = "statistics_runs"\nkeep = "10d"\nage = { column = "start", format = "utc_text" }\nkeep_newest = { rows = 1, by = ["run_id"] }',
    'table = "recorder_runs"\nkeep = "10d"\nage = { column = "end", format = "utc_text" }',
    'table = "state_attributes"\nkeep = "0s"\n'
    'only = "NOT EXISTS (SELECT 1 FROM states AS s WHERE s.attributes_id = state_attributes.attributes_id)"',
    'table = "states_meta"\nkeep = "0s"\nonly = "NOT EXISTS (SELECT 1 FROM states AS s WHERE s.metadata_id = states_meta.metadata_id)"',
    'table = "event_data"\nkeep = "0s"\nonly = "NOT EXISTS (SELECT 1 FROM events AS e WHERE e.data_id = event_data.data_id)"',
    'table = "event_types"\nkeep = "0s"\nonly = "NOT EXISTS (SELECT 1 FROM events AS e WHERE e.event_type_id = event_types.event_type_id)"',
    head='foreign_keys = "off"\n',
)

PREFECT = _policy(
    'table = "flow_run"\nkeep = "30d"\nage = { column = "end_time", format = "utc_text" }\n'
    "only = \"parent_task_run_id IS NULL AND state_type IN ('COMPLETED', 'FAILED', 'CANCELLED', 'CRASHED')\"",
    'table = "log"\nkeep = "0s"\n'
    'only = "flow_run_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM flow_run AS f WHERE f.id = log.flow_run_id)"',
    'table = "artifact"\nkeep = "0s"\n'
    'only = "flow_run_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM flow_run AS f WHERE f.id = artifact.flow_run_id)"',
    'name = "heartbeat_resources"\ntable = "event_resources"\nkeep = "7d"\nage = { column = "occurred", format = "utc_text" }\n'
    "only = \"EXISTS (SELECT 1 FROM events AS e WHERE e.id = event_resources.event_id AND e.event = 'prefect.flow-run.heartbeat')\"",
    'name = "heartbeats"\ntable = "events"\nkeep = "7d"\nage = { column = "occurred", format = "utc_text" }\n'
    "only = \"event = 'prefect.flow-run.heartbeat' AND NOT EXISTS "
    '(SELECT 1 FROM event_resources AS r WHERE r.event_id = events.id)"',
    'name = "resources"\ntable = "event_resources"\nkeep = "14d"\nage = { column = "occurred", format = "utc_text" }',
    'table = "events"\nkeep = "14d"\nage = { column = "occurred", format = "utc_text" }',
)

EXPECT = (
    Expect("celery", "backend cleanup, result_expires = 7 d", _CELERY.replace('"1d"', '"7d"'), ("celery_taskmeta", "celery_tasksetmeta")),
    Expect(
        "connect-sqlite3",
        "dbCleanup",
        _policy('table = "sessions"\nkeep = "0s"\nage = { column = "expired", format = "unix_ms" }'),
        ("sessions",),
    ),
    Expect("django", "clearsessions", _enabled(_DJANGO, "sessions"), ("django_session",)),
    Expect(
        "django",
        "axes_reset_logs, 30 d",
        _enabled(_DJANGO, "axes-access"),
        ("axes_accesslog",),
        kept={"axes_accesslog": 1},
        why="axes compares inclusively: it also takes the row exactly at the cutoff",
    ),
    Expect(
        "django",
        "clean_old_history --auto, 30 d",
        _policy('table = "shop_historicalcustomer"\nkeep = "30d"\nage = { column = "history_date", format = "utc_text" }'),
        ("shop_historicalcustomer",),
    ),
    Expect(
        "django",
        "celery results cleanup, 1 d",
        _enabled(_DJANGO, "task-results", "group-results"),
        ("django_celery_results_taskresult", "django_celery_results_groupresult"),
    ),
    Expect(
        "django",
        "flushexpiredtokens",
        _enabled(_DJANGO, "jwt-outstanding"),
        ("token_blacklist_outstandingtoken", "token_blacklist_blacklistedtoken"),
        kept={"token_blacklist_outstandingtoken": 201, "token_blacklist_blacklistedtoken": 201},
        why="an expired token takes its blacklist row with it; that row's age is in its parent, so here it stays and keeps the token",
    ),
    Expect(
        "django",
        "cleartokens",
        _enabled(_DJANGO, "oauth-revoked", "oauth-orphans", "oauth-access", "oauth-ids", "oauth-grants"),
        (_REFRESH, _ACCESS, _ID, _GRANT),
        kept={_REFRESH: 85, _ACCESS: 84, _ID: 31},
        why="65 refresh tokens are aged by their access token, which one table cannot say; 20 stay because an access token names them "
        "as its source, a column that Django clears first; access and ID tokens stay with what refers to them",
    ),
    Expect(
        "hass",
        "recorder purge, 10 d",
        HASS,
        (
            "states", "events", "statistics_short_term", "statistics_runs", "recorder_runs", "state_attributes", "states_meta",
            "event_data", "event_types", "statistics", "statistics_meta", "schema_changes",
        ),
        why="foreign keys are off, since each state refers to the one before it: Home Assistant clears that column in the 25 states that "
        "stay, here it keeps its value",
    ),
    Expect(
        "prefect",
        "db_vacuum",
        PREFECT,
        (
            "flow_run", "flow_run_state", "task_run", "task_run_state", "flow_run_input", "log", "artifact", "events",
            "event_resources", "artifact_collection",
        ),
        kept={"artifact_collection": 2},
        why="a collection whose newest artifact is gone is pointed at the next one, or deleted where there is none: an update",
    ),
)  # fmt: skip

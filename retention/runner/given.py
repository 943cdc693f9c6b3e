"""What a caller gives, in the engine's terms: a policy, limits, the time."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ..errors import PolicyError
from ..policy.load import from_dict, load, parse
from ..policy.models import Limits, Policy

__all__ = ["Now", "as_policy", "limited", "milliseconds"]

Now = datetime | int | str | None
"""A run's clock: an aware datetime, ms since 1970, `2026-09-09T14:00:00Z`, or None for the real one."""


def as_policy(policy: Policy | Mapping[str, Any] | str | os.PathLike[str]) -> Policy:
    """A policy from any form of it. Raises PolicyError."""
    if isinstance(policy, Policy):
        return policy
    if isinstance(policy, Mapping):
        return from_dict(policy)
    if isinstance(policy, str) and ("\n" in policy or "=" in policy):
        return parse(policy)
    return load(Path(policy))


def limited(base: Limits, given: Limits | Mapping[str, Any]) -> Limits:
    """A policy's limits with those of the call in their place."""
    if isinstance(given, Limits):
        return given
    checked = Limits(**given)
    return base.model_copy(update={key: getattr(checked, key) for key in given})


def milliseconds(now: datetime | int | str) -> int:
    """A clock reading as ms since 1970. Raises PolicyError for what is none."""
    if not isinstance(now, (int, str, datetime)) or isinstance(now, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise PolicyError(f"the clock {now!r} is not a time; give a datetime, whole ms since 1970, or text like 2026-09-09T14:00:00Z.")
    if isinstance(now, int):
        return now
    if isinstance(now, str):
        try:
            now = datetime.fromisoformat(now)
        except ValueError:
            raise PolicyError(f"{now!r} is not a time; write it like 2026-09-09T14:00:00Z.") from None
    if now.tzinfo is None:
        now = now.replace(tzinfo=UTC)
    return (now - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)

"""`sweep` and `asweep`: the sweeps of a policy, and nothing else of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..engine.receipt import Receipt
from ..errors import PolicyError
from ..hosts.base import AsyncHost, Host
from ..policy.models import Limits, Policy
from ..stores.base import CursorStore, MemoryStore
from .conduct import Observer
from .drive import adrive, drive
from .given import Now, as_policy
from .opening import aopened, opened
from .session import Session

if TYPE_CHECKING:
    import apsw

__all__ = ["asweep", "sweep"]

TURN = "next_sweep"
"""Where the checkpoint keeps whose turn it is among the sweeps, so that `next`, which counts all of the policy, stays as it is."""


def sweep(
    db: str | os.PathLike[str] | apsw.Connection | Host,
    policy: Policy | Mapping[str, Any] | str | os.PathLike[str],
    *,
    skip: Collection[str] = (),
    allow_mass: Collection[str] = (),
    store: CursorStore | None = None,
    limits: Limits | Mapping[str, Any] | None = None,
    now: Now = None,
    on_step: Observer | Sequence[Observer] = (),
    stop: Callable[[], bool] | None = None,
) -> Receipt:
    """End work that has stopped, as the policy's `[[sweeps]]` say, once.

    Args:
        db, policy, store, limits, now, on_step, stop: as for `run`; the store may be the same.
        skip: keys, as text, of rows to leave alone: work that was just given to somebody.
        allow_mass: names of sweeps that may end more than 100 rows that are more than half of the live ones.

    Returns:
        the receipt; what was done is in its `sweeps`.

    Raises:
        PolicyError: the policy has no sweep, or the call is wrong; nothing was read or changed.
        HostError: the database could not be opened.
    """
    session = _session(policy, skip, allow_mass, limits, now, on_step, stop)
    with opened(db, session.policy, readonly=False) as host:
        return drive(session.conducted(host, store, False, None), host, store or MemoryStore(), session.sinks)


async def asweep(
    db: str | os.PathLike[str] | apsw.Connection | Host | AsyncHost,
    policy: Policy | Mapping[str, Any] | str | os.PathLike[str],
    *,
    skip: Collection[str] = (),
    allow_mass: Collection[str] = (),
    store: CursorStore | None = None,
    limits: Limits | Mapping[str, Any] | None = None,
    now: Now = None,
    on_step: Observer | Sequence[Observer] = (),
    stop: Callable[[], bool] | None = None,
) -> Receipt:
    """`sweep`, awaited."""
    session = _session(policy, skip, allow_mass, limits, now, on_step, stop)
    async with aopened(db, session.policy) as host:
        return await adrive(session.conducted(host, store, False, None), host, store or MemoryStore(), session.sinks)


def _session(
    policy: Policy | Mapping[str, Any] | str | os.PathLike[str],
    skip: Collection[str],
    allow_mass: Collection[str],
    limits: Limits | Mapping[str, Any] | None,
    now: Now,
    on_step: Observer | Sequence[Observer],
    stop: Callable[[], bool] | None,
) -> Session:
    chosen = as_policy(policy)
    names = [one.name for one in chosen.sweeps if one.enabled]
    if not names:
        raise PolicyError("the policy has no sweep that is enabled; add [[sweeps]], or use run for its rules.")
    unknown = sorted(set(allow_mass) - set(names))
    if unknown:
        raise PolicyError(f"no sweep is called {unknown[0]!r}; allow_mass takes the name of one of {', '.join(names)}.")
    # The log is written to, and nothing of it goes.
    events = chosen.events and chosen.events.model_copy(update={"keep": "forever"})
    alone = chosen.model_copy(update={"rules": (), "closures": (), "events": events})
    session = Session.start(alone, limits, now, None, on_step, stop)
    session.skip, session.allow_mass, session.turn_key = frozenset(skip), frozenset(allow_mass), TURN
    return session

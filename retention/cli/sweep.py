"""`retention sweep`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..engine.receipt import Receipt
from ..errors import PolicyError
from ..hosts.base import Host
from ..policy.models import Policy
from ..runner.sweeps import sweep as carry_out
from .run import given_limits, one_runner

__all__ = ["skipped", "sweep"]


def sweep(
    db: str,
    policy: Policy,
    state: Path,
    skip: list[str],
    allow_mass: list[str],
    statements: int | None,
    deadline: str | None,
    now: str | None,
    as_json: bool,
    debug: bool,
) -> int:
    """End work that has stopped. Returns the exit status, as of `run`.

    Raises:
        PolicyError: nothing was done, and there is no receipt.
    """
    keys, limits = skipped(skip), given_limits(statements, deadline)

    def carry(host: Host, **watched: Any) -> Receipt:
        return carry_out(host, policy, skip=keys, allow_mass=allow_mass, limits=limits, now=now, **watched)

    return one_runner(db, policy, state, now, as_json, debug, carry)


def skipped(given: Iterable[str]) -> frozenset[str]:
    """The keys to leave alone: `ID`, or `@FILE` with one on each line.

    Raises:
        PolicyError: the file cannot be read.
    """
    keys: set[str] = set()
    for one in given:
        if not one.startswith("@"):
            keys.add(one)
            continue
        try:
            lines = Path(one[1:]).read_text("utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise PolicyError(f"--skip {one}: cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8 text'}.") from None
        keys.update(line.strip() for line in lines if line.strip())
    return frozenset(keys)

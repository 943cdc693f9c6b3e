"""`retention reclaim`."""

from __future__ import annotations

import math

from ..policy.models import Limits
from ..report.words import number
from ..space import reclaim as reclaimed
from .ending import complain
from .output import write, write_json
from .signals import asked_to_stop

__all__ = ["reclaim"]


def reclaim(db: str, vacuum: bool, deadline: str | None, as_json: bool) -> int:
    """Give free pages back, and say what was given. Returns the exit status."""
    most = None if deadline is None else Limits.model_validate({"deadline": deadline}).deadline
    seconds = math.inf if most is None else most / 1000
    with asked_to_stop() as stop:
        space = reclaimed(db, vacuum=vacuum, deadline_s=seconds, stop=stop)
    if as_json:
        write_json(space.to_dict())
    else:
        given = space.size_before - space.size
        words = f"{number(given)} bytes given back in {number(space.steps)} steps, {number(space.free)} of {number(space.size)} are free"
        write(f"{space.outcome}: {words}" + ("" if space.why == "finished" else f" ({space.why})"))
    if space.note:
        complain(f"{space.note}.")
    return space.exit_status

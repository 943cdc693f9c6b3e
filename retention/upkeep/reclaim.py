"""Free pages inside a file, given back to the file system: in steps where the file allows that, by VACUUM where a person asks for it.

Deleting leaves free pages, which later rows use again. Only a file with `auto_vacuum = INCREMENTAL` gives them back in steps
(sqlite.org/pragma.html#pragma_incremental_vacuum); any other needs VACUUM, which rewrites the whole file under one lock.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from ..engine.budget import Budget, Why
from ..engine.receipt import EXIT_STATUS, Outcome
from ..errors import Refused
from ..steps import Batch, Engine, Statement

__all__ = ["LEAST_SHARE", "Space", "reclaim"]

LEAST_SHARE = 0.1
"""VACUUM rewrites all that is kept to give back what is free: for less than a tenth it is not worth its lock."""

FIRST_PAGES, MOST_PAGES, FEWEST_PAGES = 256, 16_384, 16
"""Pages of one step: 1 MiB at first with pages of 4 KiB."""

AIM_S = 0.025
"""Aim for one step, s, as for a delete on a file."""

_MODES: dict[int, Literal["none", "full", "incremental"]] = {0: "none", 1: "full", 2: "incremental"}

_LOOK = Batch(tuple(Statement(f"PRAGMA {of}") for of in ("auto_vacuum", "page_size", "page_count", "freelist_count", "journal_mode")))


@dataclass(slots=True)
class Space:
    """What was given back, in bytes.

    Attributes:
        outcome, why: as in a run's receipt. `more` without a limit's name: bytes are free that only VACUUM gives back. Why `wal`: a reader
            keeps the log from being copied, and the file from being shorter.
        auto_vacuum: how the file was made.
        size_before, size: of the file, without its journal or log. free_before, free: of them, what no row or index needs: free pages, and
            what the file is longer than the database.
        steps: writes that gave pages back.
        note: what a person should know.
    """

    outcome: Outcome = "done"
    why: Why = "finished"
    auto_vacuum: Literal["none", "full", "incremental"] = "none"
    size_before: int = 0
    size: int = 0
    free_before: int = 0
    free: int = 0
    steps: int = 0
    note: str | None = None

    @property
    def exit_status(self) -> int:
        return EXIT_STATUS[self.outcome]

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready data."""
        return {"version": 1, **asdict(self)}


@dataclass(frozen=True, slots=True)
class _Found:
    """The database as its header and log have it, in bytes."""

    auto_vacuum: Literal["none", "full", "incremental"]
    size: int
    free: int
    wal: bool


def reclaim(
    budget: Budget, *, vacuum: bool = False, disk_free: int | None = None, file_size: Callable[[], int] = lambda: 0
) -> Engine[Space]:
    """Give free pages back.

    Args:
        budget: its deadline is looked at before each step.
        vacuum: where steps are not possible, rewrite the file; it locks everyone out meanwhile.
        disk_free: bytes that the disk has left, None where nobody knows.
        file_size: bytes of the file. In WAL mode it keeps its length until the log has been copied.

    Raises:
        Refused: the disk has not the room that VACUUM needs.
        HostError: from the host.
    """
    found = yield from _look()
    behind = max(0, file_size() - found.size)
    space = Space(auto_vacuum=found.auto_vacuum, size_before=found.size + behind, free_before=found.free + behind)
    if found.free and found.auto_vacuum == "incremental":
        yield from _in_steps(space, budget, found.free)
    elif found.free and not vacuum:
        space.outcome, space.note = "more", _price(found)
    elif found.free and found.free < found.size * LEAST_SHARE:
        space.note = f"left alone: VACUUM would rewrite {_mb(found.size - found.free)} to give back {_mb(found.free)}"
    elif found.free:
        yield from _rewrite(space, found, disk_free)
    if found.wal and (space.steps or behind):
        yield from _copied(space)
    found = yield from _look()
    behind = max(0, file_size() - found.size)
    space.size, space.free = found.size + behind, found.free + behind
    return space


def _look() -> Engine[_Found]:
    results = yield _LOOK
    assert results is not None
    mode, page_size, pages, free, journal = (result.rows[0][0] for result in results)
    page = int(page_size or 0)  # type: ignore[arg-type]
    return _Found(_MODES[int(mode or 0)], int(pages or 0) * page, int(free or 0) * page, journal == "wal")  # type: ignore[arg-type]


def _rewrite(space: Space, found: _Found, disk_free: int | None) -> Engine[None]:
    needed = 2 * (found.size - found.free)
    if disk_free is not None and disk_free < needed:
        raise Refused(
            f"VACUUM needs up to {_mb(needed)} on the disk for a while, and it has {_mb(disk_free)} left; make room there first.", "guard"
        )
    yield Batch((Statement("VACUUM"),), writes=True)
    space.steps = 1


def _copied(space: Space) -> Engine[None]:
    """Bring the log over, for only then does the file become shorter."""
    results = yield Batch((Statement("PRAGMA wal_checkpoint(PASSIVE)"),))
    assert results is not None
    busy, frames, copied = results[0].rows[0]
    if busy or frames != copied:
        space.note = "a reader still holds the write-ahead log; the file shrinks at the first checkpoint after it, such as the next call's"
        if space.outcome == "done":
            space.outcome, space.why = "more", "wal"
    elif space.auto_vacuum != "incremental" and space.steps:
        # The log of a VACUUM is as long as the file was. Only after PASSIVE: TRUNCATE keeps writers out while it waits for readers.
        yield Batch((Statement("PRAGMA wal_checkpoint(TRUNCATE)"),))


def _in_steps(space: Space, budget: Budget, free: int) -> Engine[None]:
    pages = FIRST_PAGES
    while free:
        why = budget.refuses(1 + len(_LOOK.statements))
        if why is not None:
            space.outcome, space.why = "more", why
            return
        before = free
        results = yield Batch((Statement(f"PRAGMA incremental_vacuum({pages:d})"),), writes=True)
        assert results is not None
        free = (yield from _look()).free
        if free >= before:
            # Others free pages as fast as they are given back.
            space.outcome = "more"
            return
        space.steps += 1
        fitting = int(pages * AIM_S / max(results[0].seconds, 1e-6))
        pages = max(FEWEST_PAGES, min(MOST_PAGES, pages * 4, fitting))


def _price(found: _Found) -> str:
    kept = found.size - found.free
    return (
        f"{_mb(found.free)} of {_mb(found.size)} are free and will be used again; auto_vacuum is {found.auto_vacuum}, so only VACUUM gives "
        f"them back: it rewrites {_mb(kept)}, needs up to {_mb(2 * kept)} on the disk meanwhile, and locks everyone out. --vacuum does it"
    )


def _mb(size: int) -> str:
    return f"{size / 1_000_000:,.1f} MB"

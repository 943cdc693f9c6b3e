"""How large the next page is: two numbers that adapt, keys read and rows written.

The write time steers only the rows written. Time is a fixed part (fsync, round trip, index pages that are rewritten whatever the number
of rows) plus a slope; a line through the latest writes tells the two apart. The fixed part is no reason to shrink.
"""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["FIRST_ROWS", "FLOOR_ROWS", "WORTH_ROWS", "Sizes"]

FIRST_ROWS = 1_000
"""First guess of both numbers: about 1 ms of reads and 5 to 10 ms of writes on a file."""

CAREFUL_ROWS = 250
"""First guess where somebody may wait for us: rows dear enough to make it long (a scattered index on a slow disk) take 0.1 ms each."""

FLOOR_ROWS = 100
"""Smaller pages cost more in round trips than they save in latency; below go failures, and rows so dear that `_MOST` would be passed."""

WORTH_ROWS = 1_000
"""A write of fewer rows may take longer than the aim, up to the rule's patience: with ten scattered indexes, or a family of seven tables, a
row costs up to 0.1 ms, and writes of 25 ms would need a dozen statements for each 1,000 rows."""

_GROWTH = 4
"""A page may be so many times larger than the last: one slow page is enough to correct a wrong guess."""

_MEMORY = 0.7
"""Weight of what was known before against the latest write: about three writes back still count."""

_LONGEST, _LONGEST_BESIDE = 2, 1.1
"""A write may take so many times the aim where its fixed part alone fills two thirds of it: a smaller one would only repeat that part.
Beside another writer less: 16 ms leave room for chance before the 18 ms after which a waiter looks again (it sleeps 15 ms then)."""

_MOST = 4
"""No page is meant to take more than so many times the aim, however few its rows: with a megabyte in each, a hundred take a second."""


@dataclass(slots=True)
class _Line:
    """Seconds as a line over rows, through the latest writes (least squares, older ones fading)."""

    weight: float = 0.0
    x: float = 0.0
    y: float = 0.0
    xx: float = 0.0
    xy: float = 0.0

    def add(self, rows: int, seconds: float) -> None:
        self.weight = self.weight * _MEMORY + 1
        self.x = self.x * _MEMORY + rows
        self.y = self.y * _MEMORY + seconds
        self.xx = self.xx * _MEMORY + rows * rows
        self.xy = self.xy * _MEMORY + rows * seconds

    def parts(self) -> tuple[float, float]:
        """(fixed seconds, seconds a row). Writes of one size cannot tell: all of it then counts as slope."""
        mean, seconds = self.x / self.weight, self.y / self.weight
        spread = self.xx / self.weight - mean * mean
        if spread < (mean / 10) ** 2:
            return 0.0, seconds / mean
        slope = min(max((self.xy / self.weight - mean * seconds) / spread, seconds / mean / 20), seconds / mean)
        return seconds - slope * mean, slope


@dataclass(slots=True)
class Sizes:
    """Page sizes of one rule.

    Attributes:
        keys: keys that the next boundary reads.
        writes: rows that the next delete may remove.
        max_keys: cap of `keys` (`page_rows`).
        max_writes: cap of `writes` (`rows_changed`).
        target: aim for one write, s (25 ms on a file: two frames of a 60 Hz screen wait at the most; 200 ms remote).
        patience: a write of fewer than `WORTH_ROWS` may take so long, s; never less than `target`.
        longest: a write may take so many times `target` where its fixed part fills it.
        guessed: nothing was ever learnt of this rule's rows.
    """

    keys: int
    writes: int
    max_keys: int
    max_writes: int
    target: float
    patience: float
    longest: float = _LONGEST
    guessed: bool = False
    _line: _Line = field(default_factory=_Line)
    _page: tuple[int, int, float] | None = None

    @classmethod
    def start(cls, stored: tuple[int, int] | None, max_keys: int, max_writes: int, target: float, patience: float = 0.0) -> Sizes:
        """The stored sizes of an earlier run, or the first guess."""
        keys, writes = stored or (FIRST_ROWS, FIRST_ROWS)
        keys, writes = max(1, min(keys, max_keys)), max(1, min(writes, max_writes))
        return cls(keys, writes, max_keys, max_writes, target, max(target, patience), guessed=stored is None)

    def beside(self, aim: float | None, target: float, patience: float) -> None:
        """To be called before a page: aim at what the rule does, or, while others may be waiting, at `aim`, from a smaller first guess."""
        self.target, self.patience, self.longest = (aim, aim, _LONGEST_BESIDE) if aim else (target, patience, _LONGEST)
        if aim and self.guessed:
            self.keys, self.writes, self.guessed = min(self.keys, CAREFUL_ROWS), min(self.writes, CAREFUL_ROWS), False

    def wrote(self, rows: int, seconds: float, *, limited: bool) -> None:
        """Learn from a write of so many rows; `limited` tells that more were there, so that a larger page would have been used."""
        if not rows or seconds <= 0:
            return
        self.guessed = False
        self._line.add(rows, seconds)
        fixed, slope = self._line.parts()
        aim = min(self.longest * self.target, max(self.target, 1.5 * fixed))
        fitting = max(int((aim - fixed) / slope), min(WORTH_ROWS, int((self.patience - fixed) / slope)))
        if fitting < rows:
            floor = max(1, min(FLOOR_ROWS, self.max_writes, int(_MOST * self.target / slope)))
            # One slow write may be chance, and is met half-way; one that others waited long for is not repeated.
            least = rows // 2 if seconds <= _MOST * self.target else floor
            self.writes = max(floor, min(self.writes, max(fitting, least)))
        elif limited:
            self.writes = min(self.max_writes, max(self.writes, min(fitting, rows * _GROWTH)))
        self._choose()

    def read(self, seen: int, expired: int, seconds: float, *, filled: bool) -> None:
        """Choose the next boundary's size from what this one found: as many keys as hold one write, or nine tenths where rows are kept
        too, since the next page may hold a few more of the others and would be read twice."""
        if filled:
            self._page = (seen, expired, seconds)
            self._choose()

    def _choose(self) -> None:
        if self._page is None:
            return
        seen, expired, seconds = self._page
        room = self.writes if expired == seen else max(1, self.writes * 9 // 10)
        wanted = room * seen // expired if expired else seen * _GROWTH
        # A write visits the keys once more, under the lock, and takes as long for that as the read.
        longest = self.target if expired else _MOST * self.target
        if seconds > longest:
            wanted = min(wanted, int(seen * longest / seconds))
        self.keys = max(min(FLOOR_ROWS, self.writes, self.max_keys), min(self.max_keys, seen * _GROWTH, wanted))

    def fewer(self, seen: int, expired: int) -> int:
        """Keys to ask for again where the page holds more expired rows than one write may take: what holds as many if they are spread
        evenly. If they all stand in front, it is still no more than `max_writes`, nor several times a write."""
        return max(1, min(seen - 1, seen * self.writes // max(1, expired), _MOST * self.writes, self.max_writes))

    def failed(self, rows: int) -> None:
        """A page of so many rows was too much (timeout, interrupt, too many changes): half of it, below the floor if need be."""
        half, self._page = max(1, rows // 2), None
        self.keys = min(self.keys, half)
        self.writes = min(self.writes, half)

    def stored(self) -> list[int] | None:
        """What the checkpoint keeps, None where nothing was learnt."""
        first = (min(FIRST_ROWS, self.max_keys), min(FIRST_ROWS, self.max_writes))
        return None if (self.keys, self.writes) == first else [self.keys, self.writes]

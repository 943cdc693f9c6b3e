"""SIGTERM and SIGINT: finish the page, save, end; a second SIGINT stops at once."""

from __future__ import annotations

import signal
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

__all__ = ["Asked", "asked_to_stop"]


class Asked:
    """Whether a signal asked the run to end. Called before each page."""

    def __init__(self) -> None:
        self.stop = False

    def __call__(self) -> bool:
        return self.stop

    def receive(self, number: int, _frame: FrameType | None) -> None:
        """The signal handler."""
        if number == signal.SIGINT and self.stop:
            raise KeyboardInterrupt
        self.stop = True


@contextmanager
def asked_to_stop() -> Generator[Asked]:
    """Listen for the two signals while the block runs."""
    asked = Asked()
    before = {number: signal.signal(number, asked.receive) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

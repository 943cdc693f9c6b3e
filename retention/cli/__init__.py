"""The command `retention`: its entry point is `main`. What it means is in the library; this reads arguments and shows results."""

from __future__ import annotations

import signal
import sys

__all__ = ["INTERRUPTED", "main"]

INTERRUPTED = 130
"""What a shell reports for a process that SIGINT ended (128 + 2)."""


def main() -> None:
    """Run the command with this process's arguments, and exit with its status."""
    try:
        # Until a run listens by itself, both end the command with a sentence, and what is open closed. SIGINT too is asked for: a shell
        # without job control starts what stands before `&` with SIGINT ignored, and Python leaves it so.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.default_int_handler)
        from .app import app

        app()
    except KeyboardInterrupt:
        print("retention: stopped before anything was done.", file=sys.stderr)
        sys.exit(INTERRUPTED)

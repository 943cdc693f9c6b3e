"""How a command ends when something is wrong: one sentence on standard error, and an exit status."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Generator
from contextlib import contextmanager

import typer

from ..errors import RetentionError
from . import INTERRUPTED

__all__ = ["complain", "ending"]


def complain(message: str) -> None:
    """Write one line to standard error."""
    print(f"retention: {' '.join(message.split())}", file=sys.stderr)


@contextmanager
def ending(debug: bool) -> Generator[None]:
    """Turn an error of the block into a sentence and a status; with `debug`, its traceback comes first."""
    try:
        yield
    except RetentionError as error:
        if debug:
            traceback.print_exc()
        complain(str(error))
        raise typer.Exit(error.exit_status) from None
    except KeyboardInterrupt:
        complain("stopped at once; what was not yet committed was rolled back, and the next run goes on from the last save.")
        raise typer.Exit(INTERRUPTED) from None

"""The command `retention`: its entry point is `main`. What it means is in the library; this reads arguments and shows results."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command with this process's arguments, and exit with its status."""
    from .app import app

    app()

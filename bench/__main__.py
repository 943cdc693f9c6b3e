"""`python -m bench compare | steady | growth | wide | cascade | startup | d1 [--rows N] [--rounds K] [--json]`."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from .report import Outcome, publish

__all__ = ["COMMANDS", "Command", "main"]


@dataclass(frozen=True, slots=True)
class Command:
    """Attributes:
    rows: default for `--rows`.
    rounds: default for `--rounds`.
    what: one line for the help.
    """

    rows: int
    rounds: int
    what: str


COMMANDS = {
    "compare": Command(300_000, 5, "throughput beside the peers"),
    "steady": Command(300_000, 3, "another writer's waits while a run drains the table"),
    "growth": Command(1_000_000, 3, "cost of a run in steady state, by size of the table (10^5, 10^6; --rows 10000000 adds 10^7)"),
    "wide": Command(100_000, 3, "rows that are dear to delete: long, with blobs, in many indexes, in a full-text index"),
    "cascade": Command(50_000, 1, "a parent with so many children"),
    "startup": Command(1_000, 7, "an empty tick, as a process and as a call"),
    "d1": Command(20_000, 1, "requests and rows read over D1's REST interface"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. Returns its exit status."""
    options = _parser().parse_args(arguments)
    command = COMMANDS[options.command]
    rows, rounds = options.rows or command.rows, options.rounds or command.rounds
    # Each command is a module and a function of one name, imported only when it is asked for.
    measure: Callable[..., Outcome] = getattr(import_module(f"bench.{options.command}"), options.command)
    with tempfile.TemporaryDirectory(prefix="bench-", dir=options.scratch) as scratch:
        outcome = measure(Path(scratch), rows=rows, rounds=rounds)
    publish(outcome, options.out, as_json=options.json)
    if options.write_doc:
        from .doc import write

        write(outcome)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure our run beside what a user would pick instead.")
    parser.add_argument(
        "command", nargs="?", choices=COMMANDS, default="compare", help="; ".join(f"{n}: {c.what}" for n, c in COMMANDS.items())
    )
    parser.add_argument("--rows", type=_positive, help="size of the table")
    parser.add_argument("--rounds", type=_positive, help="how often each peer runs")
    parser.add_argument("--json", action="store_true", help="the result as one JSON object on the last line")
    parser.add_argument("--out", type=Path, default=Path(".benchmarks"), help="folder for the JSON file and the plots")
    parser.add_argument("--scratch", type=Path, help="folder for the databases; on the disk that is to be measured")
    parser.add_argument("--write-doc", action="store_true", help="put the table and the machine into docs/performance.md")
    return parser


def _positive(text: str) -> int:
    number = int(text.replace("_", ""))
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


if __name__ == "__main__":
    sys.exit(main())

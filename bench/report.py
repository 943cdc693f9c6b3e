"""What a benchmark leaves behind: a table on the terminal, a JSON file, a plot, and the JSON object on the last line."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw
from rich.console import Console
from rich.table import Table

__all__ = ["Outcome", "machine", "publish", "table"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one command found.

    Attributes:
        name: the command's.
        result: the JSON object.
        head, rows: the table.
        note: one line under it.
        plots: SVG text by file name.
    """

    name: str
    result: dict[str, Any]
    head: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    note: str = ""
    plots: Mapping[str, str] = field(default_factory=dict[str, str])


def machine() -> dict[str, Any]:
    """What a reader must know of the machine to compare."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "sqlite": apsw.sqlite_lib_version(),
        "load": round(os.getloadavg()[0], 1),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def table(outcome: Outcome) -> Table:
    """The table, numbers to the right."""
    drawn = Table(title=f"bench {outcome.name}", caption=outcome.note or None)
    for number, title in enumerate(outcome.head):
        drawn.add_column(title, justify="left" if number == 0 else "right")
    for row in outcome.rows:
        drawn.add_row(*row)
    return drawn


def publish(outcome: Outcome, folder: Path, *, as_json: bool) -> None:
    """Write the files, print the table (to stderr with `--json`), and with `--json` the object as the last line of stdout."""
    folder.mkdir(parents=True, exist_ok=True)
    document = outcome.result | {"machine": machine()}
    (folder / f"{outcome.name}.json").write_text(json.dumps(document, indent=2) + "\n")
    for name, text in outcome.plots.items():
        (folder / name).write_text(text)
    console = Console(stderr=as_json, width=None if sys.stderr.isatty() or sys.stdout.isatty() else 150)
    console.print(table(outcome))
    console.print(f"written to {folder}: {', '.join([f'{outcome.name}.json', *outcome.plots])}", highlight=False)
    if as_json:
        print(json.dumps(document))

"""Putting a command's table, plot and machine into docs/performance.md, between the marks that the file has for it."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

from .report import Outcome, machine

__all__ = ["DOCUMENT", "PLOTS", "markdown", "put", "write"]

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "performance.md"
PLOTS = ROOT / "bench" / "plots"


def write(outcome: Outcome) -> None:
    """Replace the command's part of the document, and its plots. Raises ValueError if the document has no place for it."""
    DOCUMENT.write_text(put(DOCUMENT.read_text(), outcome.name, markdown(outcome)))
    PLOTS.mkdir(exist_ok=True)
    for name, text in outcome.plots.items():
        (PLOTS / name).write_text(text)


def put(document: str, name: str, part: str) -> str:
    """The document with `part` between `<!-- NAME -->` and `<!-- /NAME -->`."""
    start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    found = re.compile(f"{re.escape(start)}.*?{re.escape(end)}", re.DOTALL)
    if not found.search(document):
        raise ValueError(f"the document has no part {start} ... {end}; add the two marks where the table is to stand")
    return found.sub(lambda _: f"{start}\n{part}\n{end}", document, count=1)


def markdown(outcome: Outcome) -> str:
    """The table as Markdown, with the machine and the day above it."""
    of = machine()
    lines = [
        f"Measured on {datetime.now(UTC):%Y-%m-%d}: {of['processor']}, {of['cores']} cores, {of['memory_gb']} GB, {of['system']}, "
        f"Python {of['python']}, SQLite {of['sqlite']}; load average {of['load']} when it ended.",
        "",
        _row([title.replace("|", "\\|") or " " for title in outcome.head]),
        _row([":--", *["--:"] * (len(outcome.head) - 1)]),
        *(_row([_plain(cell) for cell in row]) for row in outcome.rows),
    ]
    if outcome.note:
        lines += ["", *(f"{line}  " for line in outcome.note.splitlines())]
    lines += [line for name in outcome.plots for line in ("", f"![{name}](../bench/plots/{name})")]
    return "\n".join(lines)


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _plain(cell: str) -> str:
    return cell.replace("[bold]", "**").replace("[/bold]", "**").strip()

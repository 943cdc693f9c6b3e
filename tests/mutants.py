"""Takes each guard away in turn and asserts that a named test then fails: `python -m tests.mutants [WORD]`.

Works on a copy. A line that has moved, or a test that passes all the same, is an error. WORD picks the mutants that contain it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent


class Mutant(NamedTuple):
    """`old`, which stands once in `file`, becomes `new`; `test` must fail."""

    file: str
    old: str
    new: str
    test: str


def mutants() -> list[Mutant]:
    """The table, from the file beside this one."""
    with (ROOT / "tests" / "mutants.toml").open("rb") as file:
        return [Mutant(**entry) for entry in tomllib.load(file)["mutants"]]


def passes(where: Path, *tests: str) -> bool:
    environment = os.environ | {"PYTHONPATH": str(where), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(command, cwd=where, env=environment, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(tests)}: pytest ended with {done.returncode}\n{done.stdout[-2000:]}")
    return done.returncode == 0


def main(word: str = "") -> None:
    chosen = [m for m in mutants() if word in "".join(m)]
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in ("retention", "tests", "pyproject.toml"):
            source = ROOT / name
            ignored = shutil.ignore_patterns("node_modules", "__pycache__", ".old_sqlite", ".hypothesis")
            (shutil.copytree(source, copy / name, ignore=ignored) if source.is_dir() else shutil.copy(source, copy / name))
        if not passes(copy, *dict.fromkeys(m.test for m in chosen)):
            raise SystemExit("a test fails before anything is taken away")
        alive = [m for m in chosen if survives(copy, m)]
    for mutant in alive:
        print(f"alive: {mutant.file}: {mutant.old!r} -> {mutant.new!r}: {mutant.test} passes")
    print(f"{len(chosen) - len(alive)} of {len(chosen)} killed")
    raise SystemExit(bool(alive))


def survives(copy: Path, mutant: Mutant) -> bool:
    """Whether the test passes although the guard is gone."""
    file = copy / mutant.file
    text = file.read_text()
    if text.count(mutant.old) != 1:
        print(f"{mutant.file}: {mutant.old!r} stands {text.count(mutant.old)} times")
        return True
    file.write_text(text.replace(mutant.old, mutant.new))
    try:
        return passes(copy, mutant.test)
    finally:
        file.write_text(text)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Running tests on SQLite 3.47: in a process of their own, with the older apsw before the installed one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
OLD = HERE / ".old_sqlite"


def run_on_old_sqlite(*tests: str) -> None:
    """Run these tests (paths below tests/, with pytest's options). Fails where they fail, or where `tests/old_sqlite.sh` was not run."""
    assert (OLD / "apsw").is_dir(), "SQLite 3.47 is not here; run tests/old_sqlite.sh"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(OLD), str(HERE.parent)])}
    version = [sys.executable, "-c", "import apsw; print(apsw.sqlite_lib_version())"]
    assert subprocess.run(version, env=environment, capture_output=True, text=True).stdout.startswith("3.47."), "another SQLite was found"
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(command, env=environment, cwd=HERE, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]

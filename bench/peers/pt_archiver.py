"""pt-archiver --purge against MariaDB, on the same rows: another engine, so its speed is a rough neighbour, not a ratio.

Used where both programs are installed (Debian: `percona-toolkit`, `mariadb-server`, `libdbd-mysql-perl`). The server is started for the
measurement in a folder of its own, without network, and stopped afterwards.
"""

from __future__ import annotations

import getpass
import shutil
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from ..client import digest_keys
from ..data import CUTOFF, SETTLED, Job, deliveries
from ..measure import Reading

__all__ = ["drain", "missing"]

LIMIT = 1_000
"""rows a SELECT and a transaction; `--bulk-delete` makes one range DELETE of each"""

TABLE = """
CREATE TABLE deliveries (
    id BIGINT PRIMARY KEY, workspace_id VARCHAR(16) NOT NULL, seq BIGINT NOT NULL, status VARCHAR(16) NOT NULL,
    token CHAR(16) NOT NULL, created_at BIGINT NOT NULL, payload VARCHAR(255) NOT NULL,
    KEY deliveries_created (created_at), KEY deliveries_token (token)
) ENGINE = InnoDB DEFAULT CHARSET = latin1;
"""


def missing() -> str | None:
    """What is not installed, or None."""
    programs = ("pt-archiver", "mariadbd", "mariadb", "mariadb-install-db")
    absent = [program for program in programs if _program(program) is None]
    return f"{', '.join(absent)} not installed" if absent else None


def _program(name: str) -> str | None:
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/libexec")


def drain(job: Job, folder: Path) -> Reading:
    """Load the rows into a fresh server, archive them away, count what has gone. Perl's start is part of the time.

    Statements are the server's own count (`Questions`), the archiver's questions about the server included.
    """
    with tempfile.TemporaryDirectory(prefix="mariadb-", dir=folder) as home, _server(Path(home)) as socket:
        _query(socket, "CREATE DATABASE bench")
        _query(socket, TABLE, "bench")
        rows = Path(home) / "rows.tsv"
        rows.write_text("".join("\t".join(map(str, row)) + "\n" for row in deliveries(job)))
        _query(socket, f"LOAD DATA LOCAL INFILE '{rows}' INTO TABLE deliveries", "bench")
        before, asked = int(_query(socket, COUNT, "bench")), _questions(socket)
        began = time.perf_counter()
        command = [_program("pt-archiver") or "", "--source", f"S={socket},D=bench,t=deliveries,u={getpass.getuser()},i=PRIMARY", "--purge"]
        command += ["--where", f"{SETTLED} AND created_at < {CUTOFF}", "--limit", str(LIMIT), "--commit-each", "--bulk-delete"]
        subprocess.run([*command, "--primary-key-only", "--no-check-charset"], check=True, capture_output=True)
        seconds = time.perf_counter() - began
        # Ours are the question how many there were, and the client's own when it connects.
        asked = _questions(socket) - asked - 1
        left = digest_keys(map(int, _query(socket, "SELECT id FROM deliveries ORDER BY id", "bench").split()))
        gone = before - int(_query(socket, COUNT, "bench"))
    return Reading(rows=gone, seconds=seconds, statements=asked, left=left)


COUNT = "SELECT count(*) FROM deliveries"


def _questions(socket: str) -> int:
    return int(_query(socket, "SHOW GLOBAL STATUS LIKE 'Questions'").split()[1])


def _query(socket: str, sql: str, database: str = "mysql") -> str:
    command = [_program("mariadb") or "", "--local-infile=1", f"--socket={socket}", "--batch", "--skip-column-names", database]
    return subprocess.run([*command, "-e", sql], check=True, capture_output=True, text=True).stdout.strip()


@contextmanager
def _server(home: Path) -> Generator[str]:
    data, socket, user = home / "data", str(home / "socket"), getpass.getuser()
    install = [_program("mariadb-install-db") or "", "--no-defaults", f"--datadir={data}", f"--user={user}"]
    subprocess.run([*install, "--auth-root-authentication-method=normal", "--skip-test-db"], check=True, capture_output=True)
    command = [_program("mariadbd") or "", "--no-defaults", f"--datadir={data}", f"--socket={socket}", f"--user={user}", "--local-infile=1"]
    server = subprocess.Popen(
        [*command, "--skip-networking", f"--pid-file={home / 'pid'}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(200):
            try:
                _query(socket, "SELECT 1")
                break
            except subprocess.CalledProcessError:
                time.sleep(0.1)
        else:
            raise TimeoutError("mariadbd did not answer within 20 s")
        yield socket
    finally:
        server.terminate()
        server.wait(timeout=60)

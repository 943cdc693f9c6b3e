"""`retention init`."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from ..errors import HostError, PolicyError
from ..hosts import open_host
from ..schema.reader import read
from ..upkeep.first_policy import first_policy
from .output import write
from .reading import answered

__all__ = ["init"]


def init(db: str, output: Path) -> None:
    """Write a first policy for a database; `-` is standard output.

    Raises:
        PolicyError: the file is there already; no such database.
        HostError: from the database, or the file cannot be written.
    """
    if str(output) != "-" and output.exists():
        raise PolicyError(f"{output} exists and is not overwritten; move it, or name another file with -o.")
    with closing(open_host(db, readonly=True)) as host:
        text = answered(first_policy(answered(read(host.capabilities), host), Path(db).name), host)
    if str(output) == "-":
        write(text.rstrip("\n"))
        return
    try:
        with output.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise HostError(f"{output} cannot be written: {error.strerror}; check its directory and permissions.", "denied") from error
    write(f"wrote {output}: take its rules one by one, then look at `retention plan {db} -p {output}`.")

"""The checkpoint as a JSON file, replaced as a whole."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import tempfile
from pathlib import Path
from typing import Any, cast

from ..errors import HostError, Kind

__all__ = ["FileStore", "file_error", "sync_directory"]

_KINDS: dict[int, Kind] = {
    errno.ENOSPC: "full",
    errno.EDQUOT: "full",
    errno.EROFS: "readonly",
    errno.EACCES: "denied",
    errno.EPERM: "denied",
}


class FileStore:
    """A checkpoint file, mode 0600. A reader or a crash meets the old document or the new one, never a part.

    Args:
        path: the file; it need not exist, its directory must. A symbolic link is followed and kept.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def load(self) -> dict[str, Any] | None:
        """See `CursorStore.load`.

        Raises:
            HostError: `denied`: the file is there and cannot be read.
        """
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise file_error(error, f"the state file {self.path} cannot be read") from error
        try:
            document: Any = json.loads(data)
        except (ValueError, RecursionError) as error:
            return {"invalid": f"{self.path} is not JSON: {error}"}
        if not isinstance(document, dict):
            return {"invalid": f"{self.path} holds no JSON object"}
        return cast("dict[str, Any]", document)

    def save(self, document: dict[str, Any]) -> None:
        """See `CursorStore.save`. Written beside the file, synced, renamed over it, and the directory synced.

        Raises:
            HostError: `full`, `readonly`, `denied` or `error`.
        """
        target = Path(os.path.realpath(self.path))
        data = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        try:
            # mkstemp makes the file with mode 0600.
            descriptor, temporary = tempfile.mkstemp(prefix=f"{target.name}.", suffix=".tmp", dir=target.parent)
            try:
                with open(descriptor, "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(descriptor)
                os.replace(temporary, target)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
                raise
            sync_directory(target.parent)
        except OSError as error:
            raise file_error(error, f"the state file {self.path} cannot be written") from error

    def __repr__(self) -> str:
        return f"FileStore({str(self.path)!r})"


def sync_directory(path: Path) -> None:
    """Make a new or renamed name in a directory durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def file_error(error: OSError, what: str) -> HostError:
    """The `HostError` for a file that is not the database."""
    return HostError(
        f"{what}: {error.strerror or error}; check its directory, permissions and free space", _KINDS.get(error.errno or 0, "error")
    )

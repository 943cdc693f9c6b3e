"""The checkpoint as a JSON file, replaced as a whole."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import stat
from pathlib import Path
from typing import Any, cast

from ..errors import HostError, Kind, PolicyError

__all__ = ["FileStore", "file_error", "sync_directory"]

_KINDS: dict[int, Kind] = {
    errno.ENOSPC: "full",
    errno.EDQUOT: "full",
    errno.EROFS: "readonly",
    errno.EACCES: "denied",
    errno.EPERM: "denied",
}


_BEGIN = b'{"version":'
"""How each checkpoint begins. A file that ends before it can be read as JSON is taken for one only if it begins so."""


class FileStore:
    """A checkpoint file, mode 0600. A reader or a crash meets the old document or the new one, never a part.

    A file that is there and no checkpoint is somebody's own, and is never replaced. Taken for a checkpoint, valid or not, are an
    empty file, `{}`, a JSON object whose `version` is a whole number, and the torn beginning of one, which an editor or a full disk
    may have left.

    Args:
        path: the file; it need not exist, its directory must. A symbolic link is followed and kept.
    """

    any_thread = True
    """See `CursorStore`."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._checked = False

    def check(self) -> None:
        """Make sure that the file may be replaced: it is not there yet, or holds a checkpoint.

        Raises:
            PolicyError: it is something else.
        """
        wrong = self._foreign()
        if wrong is not None:
            raise PolicyError(wrong)

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
            HostError: `full`, `readonly`, `denied` or `error`; `denied` too where the file is no checkpoint.
        """
        if not self._checked:
            wrong = self._foreign()
            if wrong is not None:
                raise HostError(wrong, "denied")
        target = Path(os.path.realpath(self.path))
        data = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        try:
            descriptor, temporary = _temporary(target)
            try:
                with open(descriptor, "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(descriptor)
                    # While the file is open, and so locked: nobody else writes to it before it has its name.
                    os.replace(temporary, target)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
                raise
            sync_directory(target.parent)
        except OSError as error:
            raise file_error(error, f"the state file {self.path} cannot be written") from error
        self._checked = True

    def _foreign(self) -> str | None:
        """Why the file may not be replaced, or None."""
        try:
            regular = stat.S_ISREG(os.stat(self.path).st_mode)
            data = self.path.read_bytes() if regular else b""
        except OSError:
            # Not there, or not to be reached: loading and saving say so themselves.
            return None
        if regular and _is_checkpoint(data):
            return None
        what = "holds no checkpoint" if regular else "is no regular file"
        return f"the state file {self.path} {what}, and is not overwritten; name another file, or move this one away."

    def __repr__(self) -> str:
        return f"FileStore({str(self.path)!r})"


def _temporary(target: Path) -> tuple[int, Path]:
    """The file beside a checkpoint in which the next one is written: empty, mode 0600, and ours alone until it is closed.

    It always has one name, so that what a killed process left is written over, and is locked, so that others wait for their turn.
    """
    path = target.with_name(f".{target.name}.tmp")
    while True:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if os.path.samestat(os.stat(path), os.fstat(descriptor)):
                os.fchmod(descriptor, 0o600)
                os.ftruncate(descriptor, 0)
                return descriptor, path
        except FileNotFoundError:
            pass
        except BaseException:
            os.close(descriptor)
            raise
        # Another process gave it its final name while we waited: it is the checkpoint now.
        os.close(descriptor)


def _is_checkpoint(data: bytes) -> bool:
    text = data.strip()
    try:
        document: Any = json.loads(text)
    except (ValueError, RecursionError):
        return _BEGIN.startswith(text[: len(_BEGIN)])
    return document == {} or (isinstance(document, dict) and type(cast("dict[str, Any]", document).get("version")) is int)


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

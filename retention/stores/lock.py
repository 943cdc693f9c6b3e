"""One runner at a time for one state file.

The lock is on a file of its own and never on the database: closing any descriptor of a database file drops the locks that
SQLite holds on it for the whole process (sqlite.org/howtocorrupt.html, section 2.2).
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
from types import TracebackType
from typing import Self

from ..errors import HostError
from .file import file_error

__all__ = ["StateLock"]


_PID = b"pid "
_SHOWN = 200
"""Bytes of the holder's line that a message shows at most."""


class StateLock:
    """An exclusive lock on `STATE.lock`, held until `release()` or the end of the process, however it ends.

    The file names the holder's process and host, for the message of whoever comes second; a full disk may leave it empty, which
    takes nothing from the lock. It is removed at the release. A file of that name that no lock wrote is locked and left as it is.

    Args:
        state: path of the state file. Names that lead to the same file by symbolic links share one lock.
    """

    def __init__(self, state: str | os.PathLike[str]) -> None:
        self.path = os.path.realpath(state) + ".lock"
        self._descriptor: int | None = None
        self._ours = False

    def acquire(self) -> None:
        """Take the lock at once.

        Raises:
            HostError: `busy` (retryable): another run holds it; `denied` or `readonly`: the file cannot be made.
        """
        while True:
            descriptor = self._locked()
            if _names(self.path, descriptor):
                break
            # Its holder removed it between our opening and our lock.
            os.close(descriptor)
        held = os.read(descriptor, _SHOWN)
        self._ours = not held or held.startswith(_PID)
        if self._ours:
            with contextlib.suppress(OSError):
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, b"%s%d on %s\n" % (_PID, os.getpid(), socket.gethostname().encode()), 0)
        self._descriptor = descriptor

    def _locked(self) -> int:
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise file_error(error, f"the lock file {self.path} cannot be opened") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            held = os.read(descriptor, _SHOWN)
            os.close(descriptor)
            who = f" ({held.decode(errors='replace').strip()})" if held.startswith(_PID) else ""
            raise HostError(f"another run holds {self.path}{who}; try again when it has ended", "busy", retryable=True) from None
        except OSError as error:
            os.close(descriptor)
            raise file_error(error, f"the lock file {self.path} cannot be locked") from error
        return descriptor

    def release(self) -> None:
        """Let the lock go; a second call does nothing."""
        if self._descriptor is not None:
            if self._ours and _names(self.path, self._descriptor):
                with contextlib.suppress(OSError):
                    os.unlink(self.path)
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.release()


def _names(path: str, descriptor: int) -> bool:
    """Whether a path still leads to an open file."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except OSError:
        return False

"""One runner at a time for one state file.

The lock is on a file of its own and never on the database: closing any descriptor of a database file drops the locks that
SQLite holds on it for the whole process (sqlite.org/howtocorrupt.html, section 2.2).
"""

from __future__ import annotations

import fcntl
import os
import socket
from types import TracebackType
from typing import Self

from ..errors import HostError
from .file import file_error

__all__ = ["StateLock"]


class StateLock:
    """An exclusive lock on `STATE.lock`, held until `release()` or the end of the process, however it ends.

    The file names the holder's process and host, for the message of whoever comes second. It is never removed: somebody may
    already wait on it.

    Args:
        state: path of the state file. Names that lead to the same file by symbolic links share one lock.
    """

    def __init__(self, state: str | os.PathLike[str]) -> None:
        self.path = os.path.realpath(state) + ".lock"
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Take the lock at once.

        Raises:
            HostError: `busy` (retryable): another run holds it; `denied` or `readonly`: the file cannot be made.
        """
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise file_error(error, f"the lock file {self.path} cannot be opened") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(descriptor, 200).decode(errors="replace").strip()
            os.close(descriptor)
            who = f" ({holder})" if holder else ""
            raise HostError(f"another run holds {self.path}{who}; try again when it has ended", "busy", retryable=True) from None
        except OSError as error:
            os.close(descriptor)
            raise file_error(error, f"the lock file {self.path} cannot be locked") from error
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"pid {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
        self._descriptor = descriptor

    def release(self) -> None:
        """Let the lock go; a second call does nothing."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.release()

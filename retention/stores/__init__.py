"""Where checkpoints live, and the lock that keeps runs on one of them apart."""

from .base import CursorStore, MemoryStore
from .file import FileStore
from .lock import StateLock

__all__ = ["CursorStore", "FileStore", "MemoryStore", "StateLock"]

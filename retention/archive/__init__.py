"""Where rows go before they are deleted."""

from .base import Sink
from .jsonl import JsonLines, read

__all__ = ["JsonLines", "Sink", "read"]

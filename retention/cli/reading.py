"""Engines that only read, carried out at once."""

from __future__ import annotations

import time
from typing import TypeVar

from ..engine.budget import Budget
from ..hosts.base import Host
from ..runner.conduct import conduct
from ..runner.drive import drive
from ..steps import Engine
from ..stores import MemoryStore

__all__ = ["answered"]

R = TypeVar("R")


def answered(engine: Engine[R], host: Host) -> R:
    """What an engine returns that saves nothing. Raises what the engine or the host raises."""
    return drive(conduct(engine, host.capabilities, Budget(), time.monotonic), host, MemoryStore(), {})

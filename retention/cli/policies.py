"""Which policy a command works with, and where its state lies."""

from __future__ import annotations

import re
from pathlib import Path

from ..errors import PolicyError
from ..policy.load import load, parse
from ..policy.models import Policy

__all__ = ["chosen_policy", "state_file"]

DEFAULT = Path("retention.toml")


def chosen_policy(file: Path | None, preset: str | None) -> Policy:
    """The policy of `-p FILE`, of `--preset NAME`, or of `./retention.toml`.

    Raises:
        PolicyError: both are given, or the policy is wrong or not there.
    """
    if preset is None:
        return load(file or DEFAULT)
    if file is not None:
        raise PolicyError("-p and --preset both name a policy; give one of them.")
    from ..presets import preset as shipped

    return parse(shipped(preset).policy, f"preset {preset}")


def state_file(db: str, given: Path | None) -> Path:
    """Where the checkpoint lies: beside a file, or in the current directory under a remote database's name."""
    from ..hosts import is_remote

    if given is not None:
        return given
    if not is_remote(db):
        return Path(f"{db}.retention.json")
    last = db.split("://", 1)[1].rstrip("/").rsplit("/", 1)[-1]
    return Path(f"{re.sub(r'[^A-Za-z0-9._-]', '_', last)}.retention.json")

"""Which policy a command works with, and where its state lies."""

from __future__ import annotations

import re
from pathlib import Path

from ..errors import PolicyError
from ..policy.load import load, parse
from ..policy.models import Policy

__all__ = ["checked_state", "chosen_policy", "state_file"]

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


def checked_state(db: str, given: Path | None, file: Path | None, preset: str | None, policy: Policy) -> Path:
    """The state file. Neither it nor an archive, which are to be written, is another file of the command.

    Args:
        db: the command's argument.
        given: `--state`.
        file, preset: `-p` and `--preset`.
        policy: what these name.

    Raises:
        PolicyError: one is the database, a file beside it, the policy or the other, or the state file holds no checkpoint.
    """
    from ..runner.sinks import archives_apart, own_files, sinks_of
    from ..stores import FileStore
    from ..stores.apart import keep_apart, state_files

    state = state_file(db, given)
    others = own_files(db, None)
    if preset is None:
        others[str(file or DEFAULT)] = "the policy"
    keep_apart(state, "the state file", others)
    for path, what in state_files(state).items():
        keep_apart(path, what, others)
    FileStore(state).check()
    archives_apart(policy, sinks_of(policy), others | state_files(state))
    return state

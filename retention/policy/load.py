"""Reading a policy from a file, from text or from a dictionary, with messages that say where and what to write instead."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

from ..errors import PolicyError
from .base import Invalid, Path, sentence, show
from .models import Policy

__all__ = ["from_dict", "load", "parse"]

_SETTINGS = frozenset({"version", "foreign_keys", "limits", "lease", "tenants", "holds"})
"""Keys that say how to work, but ask for none."""


def load(path: str | FilePath) -> Policy:
    """The policy in a TOML file.

    Raises:
        PolicyError: the file cannot be read, is not UTF-8 or not TOML, or does not hold a policy.
    """
    path = FilePath(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise PolicyError(f"{path}: there is no such policy file; retention init DB writes a first one.") from None
    except IsADirectoryError:
        raise PolicyError(f"{path}: is a directory; name the policy file in it.") from None
    except UnicodeDecodeError as error:
        raise PolicyError(f"{path}: is not UTF-8 text (byte {error.start}); save it as UTF-8.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise PolicyError(f"{path}: cannot be read: {str(reason).lower()}.") from None
    return parse(text, str(path))


def parse(text: str, source: str = "policy") -> Policy:
    """The policy in TOML text; `source` begins each message.

    Raises:
        PolicyError: it is not TOML, or does not hold a policy.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PolicyError(f"{source}: {_toml_message(str(error), text)}.") from None
    except RecursionError:
        raise PolicyError(f"{source}: is nested too deeply for a policy; write it with fewer brackets.") from None
    return from_dict(data, source)


def from_dict(data: Mapping[str, Any], source: str = "policy") -> Policy:
    """The policy in a dictionary of the file's shape; `source` begins each message.

    Raises:
        PolicyError: it does not hold a policy, or one that asks for no work.
    """
    odd = next((key for key in data if not isinstance(key, str)), None)  # type: ignore[reportUnnecessaryIsInstance]
    if odd is not None:
        raise PolicyError(f"{source}: {odd!r} is not a key; keys are text.")
    if not any(data[key] for key in data.keys() - _SETTINGS):
        raise PolicyError(f"{source}: says nothing to do; add a rule with [[rules]], table, keep and age.")
    try:
        return Policy(**data)
    except Invalid as error:
        places = [part for part in (source, _place(error.problems[0].path, data)) if part]
        raise PolicyError(f"{': '.join(places)}: {sentence(error.problems)}") from None


def _place(path: Path, data: Any) -> str:
    """`rules[2] "messages": keep` of `("rules", 2, "keep")`: entries of a list are numbered from 0 and named, if they have a name."""
    place = ""
    for part in path:
        if isinstance(part, int):
            data = data[part] if isinstance(data, list | tuple) and part < len(data) else None  # type: ignore[reportUnknownVariableType]
            place += f"[{part}]" + _name_of(data)
            continue
        data = data.get(part) if isinstance(data, Mapping) else None  # type: ignore[reportUnknownVariableType]
        separator = "" if not place else ": " if place.endswith(('"', "]")) else "."
        place += separator + (part or '""')
    return place


def _name_of(entry: Any) -> str:
    for key in ("name", "table"):
        name: Any = entry.get(key) if isinstance(entry, dict) else None  # type: ignore[reportUnknownVariableType]
        if isinstance(name, str) and name:
            return f" {show(name)}"
    return ""


def _toml_message(message: str, text: str) -> str:
    """`line 3, column 8: is not TOML: invalid value` of Python's `Invalid value (at line 3, column 8)`."""
    found = re.fullmatch(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", message, re.DOTALL)
    if not found:
        return f"is not TOML: {message[:1].lower()}{message[1:]}"
    reason, line, column = found.groups()
    if line is None:
        lines = text.split("\n")
        line, column = len(lines), len(lines[-1]) + 1
    return f"line {line}, column {column}: is not TOML: {reason[:1].lower()}{reason[1:]}; text needs quotes, and a key its = and value"

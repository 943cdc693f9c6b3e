"""Policies that ship with the package: `retention run app.db --preset relay`."""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib.resources import files

import apsw

from ..errors import PolicyError

__all__ = ["Preset", "preset", "presets", "statements"]


@dataclass(frozen=True, slots=True)
class Preset:
    """A policy, the schema that it was written for, and the page that explains both.

    Attributes:
        name: the folder's name, what `--preset` takes.
        policy: TOML, as in a `retention.toml`.
        schema: SQL that makes the tables, their indexes and triggers in an empty database.
        readme: Markdown; what each rule does and why.
    """

    name: str
    policy: str = field(repr=False)
    schema: str = field(repr=False)
    readme: str = field(repr=False)


def presets() -> tuple[str, ...]:
    """The names that `preset` takes, sorted."""
    return tuple(sorted(f.name for f in files(__name__).iterdir() if f.joinpath("policy.toml").is_file()))


def preset(name: str) -> Preset:
    """The preset of that name.

    Raises:
        PolicyError: there is none of that name; the message lists those that there are.
    """
    known = presets()
    if name not in known:
        near = get_close_matches(name, known, 1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise PolicyError(f"no preset is called {name!r}; {hint}the presets are {', '.join(known)}")
    folder = files(__name__) / name
    policy, schema, readme = (folder.joinpath(f).read_text("utf-8") for f in ("policy.toml", "schema.sql", "README.md"))
    return Preset(name, policy, schema, readme)


def statements(schema: str) -> tuple[str, ...]:
    """A script cut into its statements, for hosts that take one at a time. Each statement must start on a line of its own."""
    done: list[str] = []
    text = ""
    for line in schema.splitlines():
        bare = line.strip()
        if not text and (not bare or bare.startswith("--")):
            continue
        text += line + "\n"
        if apsw.complete(text):
            done.append(text.strip().removesuffix(";"))
            text = ""
    return (*done, text.strip()) if text.strip() else tuple(done)

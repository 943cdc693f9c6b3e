"""What every model of the policy shares: strictness, field types, and errors that a person can act on.

A model that is built from wrong data raises `Invalid`, which is a `PolicyError` for the caller and a `ValueError` for pydantic,
so that an outer model collects what its inner models found, each with its path. Pydantic's own text is never shown.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from ..errors import PolicyError

__all__ = ["Count", "Invalid", "Listed", "Model", "Name", "Names", "Path", "Problem", "distinct", "nearest", "sentence", "show"]

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault. `path` leads to the key, from the model that found it; `message` goes on where the key's name ended."""

    path: Path
    message: str


class Invalid(PolicyError, ValueError):
    """A model cannot be built. `problems` holds every fault, the one to mend first in front."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        place = f"{dotted(problems[0].path)}: " if problems[0].path else ""
        super().__init__(place + sentence(problems))
        self.problems = tuple(problems)


class Model(BaseModel):
    """Strict (no text for a number, no 1 for true), frozen, without unknown keys.

    Raises:
        Invalid: when it is built from wrong data.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    def __init__(self, /, **data: Any) -> None:
        try:
            super().__init__(**data)
        except ValidationError as error:
            found = [problem for detail in error.errors(include_url=False) for problem in _problems(type(self), detail)]
        else:
            return
        # A misspelt key often leaves its right spelling missing: the cause first.
        raise Invalid(sorted(found, key=lambda problem: not problem.message.startswith("is not a key")))


def sentence(problems: Sequence[Problem]) -> str:
    """The first fault as a sentence, and how many wait behind it."""
    message, more = problems[0].message, len(problems) - 1
    stop = "" if message.endswith("?") else "."
    return f"{message}{stop}" + (f" ({more} more after this one.)" if more else "")


def dotted(path: Path) -> str:
    """`rules[2].keep` of `("rules", 2, "keep")`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def show(value: Any) -> str:
    """A value as the policy file would write it, cut short."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value if len(value) <= 40 else f"{value[:37]}...", ensure_ascii=False)
    if isinstance(value, int | float):
        return str(value) if len(str(value)) <= 40 else "a very large number"
    if value in ([], ()):
        return "an empty list"
    kind = type(value).__name__
    return _KINDS.get(kind, f"a {kind}")


_KINDS = {"dict": "a table", "list": "a list", "tuple": "a list", "NoneType": "nothing"}


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` was probably meant to be, or None."""
    by_lower = {other.lower(): other for other in known}
    found = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[found[0]] if found else None


def _unknown_key(model: type[BaseModel], key: str) -> str:
    known = tuple(model.model_fields)
    meant = nearest(key, known)
    advice = f"did you mean {meant}?" if meant else f"known are {', '.join(known)}"
    return f"is not a key here; {advice}"


def _choice(model: type[BaseModel], path: Path, value: Any) -> str:
    options = _options(model, path)
    quoted = " or ".join(", ".join(show(option) for option in options).rsplit(", ", 1))
    meant = nearest(value, [option for option in options if isinstance(option, str)]) if isinstance(value, str) else None
    return f"must be {quoted}, not {show(value)}" + (f"; did you mean {show(meant)}?" if meant else "")


def _options(model: type[BaseModel], path: Path) -> tuple[Any, ...]:
    field = model.model_fields.get(str(path[0]))
    return get_args(field.annotation) if field else ()


_MESSAGES = {
    "dict_type": "must be a table such as {{ key = value }}, not {value}",
    "int_type": "must be a whole number without quotes, not {value}",
    "int_from_float": "must be a whole number, not {value}",
    "string_type": "must be text in quotes, not {value}",
    "string_too_short": "is empty; leave the key out or give it a value",
    "bool_type": "must be true or false, without quotes, not {value}",
    "tuple_type": "must be a list in square brackets, not {value}",
    "model_type": "must be a table such as {{ key = value }}, not {value}",
    "greater_than_equal": "must be at least {ge}, not {value}",
    "less_than_equal": "must be at most {le}, not {value}",
    "too_short": "is an empty list; name at least {min_length}",
}
"""A sentence for each of pydantic's error types that these models can meet."""


def _problems(model: type[BaseModel], detail: ErrorDetails) -> Iterable[Problem]:
    path, value, context = detail["loc"], detail["input"], detail.get("ctx", {})
    cause = context.get("error")
    match detail["type"]:
        case "value_error" if isinstance(cause, Invalid):
            return [Problem(path + inner.path, inner.message) for inner in cause.problems]
        case "value_error":
            message = str(cause)
        case "extra_forbidden":
            message = _unknown_key(model, str(path[-1]))
        case "literal_error":
            message = _choice(model, path, value)
        case "missing":
            field = model.model_fields[str(path[0])]
            message = f"is missing; write, for example, {path[0]} = {show((field.examples or ['...'])[0])}"
        case kind:
            message = _MESSAGES.get(kind, "cannot be {value}").format(value=show(value), **context)
    return [Problem(path, message)]


def _listed(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value  # type: ignore[reportUnknownArgumentType]


def distinct(value: Any) -> Any:
    """A list of names as a tuple; a name that stands in it twice (as SQLite compares names) is a ValueError."""
    value = _listed(value)
    if isinstance(value, tuple):
        names = [str(name).lower() for name in value]  # type: ignore[reportUnknownVariableType]
        repeated = next((name for place, name in enumerate(names) if name in names[:place]), None)
        if repeated is not None:
            raise ValueError(f"names {repeated} twice; name each column once")
    return value  # type: ignore[reportUnknownVariableType]


Name = Annotated[str, Field(min_length=1, examples=["name"])]
"""A name in the database, as SQL would quote it: never empty."""

Names = Annotated[tuple[Name, ...], BeforeValidator(distinct)]
"""Distinct column names, in order."""

Listed = BeforeValidator(_listed)
"""TOML has lists, frozen models have tuples."""

Count = Annotated[int, Field(ge=1, le=2**53 - 1, examples=[1000])]
"""A whole number from 1 to 2^53-1, which every host carries exactly."""

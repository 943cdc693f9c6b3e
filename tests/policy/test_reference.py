"""The reference cannot drift: each model has its table of keys, with their defaults, and nothing else has one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import PlainSerializer
from pydantic.fields import FieldInfo

from retention.policy.base import Model, show
from retention.policy.durations import show_duration
from retention.policy.load import parse
from retention.policy.models import Format, Policy

DOCS = Path(__file__).parents[2] / "docs"
REFERENCE = (DOCS / "policy.md").read_text()

# Defaults that a model fills in from other keys, or that are models of their own.
IMPLIED = {
    ("Rule", "name"): "the table's name",
    ("Rule", "mode"): '`"range"`',
    ("Policy", "limits"): "all defaults",
    ("Closure", "name"): "the table's name",
    ("Callback", "columns"): "`{}`",
    ("Migration", "name"): "what the step makes",
    **{("Record", key): f"`{column}`, `unix_s`" for key, column in (("at", "created_at"), ("applied", "status_applied_at"))},
    **{("Creation", key): f"`{column}`, `unix_s`" for key, column in (("at", "created_at"), ("ended", "terminalized_at"))},
    ("Status", "witness"): "`status_updated_at`, `unix_s`",
    ("Status", "scope"): "`workspace_id`, `id`",
}

KEY_TABLE = re.compile(
    r"^#+ [^\n]*\(`(\w+)`\)\n(?:(?!\n#).)*?\n\| Key \| Type \| Default \| Meaning \|\n\|[-|]+\n((?:\|[^\n]*\n)+)", re.M | re.S
)


def documented() -> dict[str, dict[str, str]]:
    """Model -> key -> default, of every page: parts of the product with a page of their own document their keys there."""
    pages = "\n\n".join(path.read_text() for path in sorted(DOCS.glob("*.md")))
    return {
        model: {cells[1].strip().strip("`"): cells[3].strip() for cells in (row.split("|") for row in rows.splitlines())}
        for model, rows in KEY_TABLE.findall(pages)
    }


def models(model: type[Model]) -> set[type[Model]]:
    found = {model}
    for field in model.model_fields.values():
        for inner in inner_types(field.annotation) - found:
            found |= models(inner)
    return found


def inner_types(annotation: Any) -> set[type[Model]]:
    if isinstance(annotation, type) and issubclass(annotation, Model):
        return {annotation}
    return {found for part in get_args(annotation) for found in inner_types(part)}


def default(model: type[Model], key: str, field: FieldInfo) -> str:
    if (model.__name__, key) in IMPLIED:
        return IMPLIED[model.__name__, key]
    if field.is_required():
        return "required"
    if field.default is None:
        return "none"
    if isinstance(field.default, int) and any(isinstance(part, PlainSerializer) for part in field.metadata):
        return f'`"{show_duration(field.default)}"`'
    return "`[]`" if field.default == () else f"`{show(field.default)}`"


@pytest.mark.parametrize("model", sorted(models(Policy), key=lambda model: model.__name__))
def test_every_key_is_documented_with_its_default(model: type[Model]) -> None:
    expected = {key: default(model, key, field) for key, field in model.model_fields.items()}
    assert documented().get(model.__name__) == expected


def test_no_page_documents_a_model_that_is_not_there() -> None:
    assert set(documented()) <= {model.__name__ for model in models(Policy)}


def test_every_format_is_documented() -> None:
    table = REFERENCE.split("| Format |")[1].split("\n\n")[0]
    assert re.findall(r"`(\w+)`", "".join(row.split("|")[1] for row in table.splitlines()[2:])) == list(get_args(Format))


def test_the_complete_example_loads() -> None:
    policy = parse(re.findall(r"```toml\n(.*?)```", REFERENCE, re.S)[0], "docs/policy.md")
    assert [rule.name for rule in policy.rules] == ["deliveries", "messages", "workspace_events", "read_receipts", "expired-deliveries"]


def test_the_python_example_runs() -> None:
    names: dict[str, Any] = {}
    exec(re.findall(r"```python\n(.*?)```", REFERENCE, re.S)[0], names)
    assert names["policy"].rules[0].keep == 0

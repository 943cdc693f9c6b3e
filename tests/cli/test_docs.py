"""README and docs say what the command does: their commands, options, statuses and examples are checked against it."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest
import typer.main

import retention
from retention.cli.app import app
from retention.engine.receipt import EXIT_STATUS
from retention.policy.load import parse
from retention.presets import presets

from .tools import NOW_S, create, policy, rows

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def test_the_two_commands_stand_at_the_top_a_line_each() -> None:
    first, second = blocks(README, "sh")[:2]
    assert first.count("\n") == second.count("\n") == 1
    assert first.endswith("pip install . && .venv/bin/retention demo\n")
    assert second.endswith("-m pytest\n")
    assert README.index(second) < README.index("\n## ")


COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_in_the_readme(name: str) -> None:
    assert f"retention {name}" in README
    assert COMMANDS[name].help
    for parameter in COMMANDS[name].params:
        assert parameter.param_type_name == "argument" or parameter.help
        options = [o for o in parameter.opts if o.startswith("-")]
        assert not options or name == "init" or any(f"`{o}" in README or f" {o}" in README for o in options), options


def test_the_exit_statuses_are_the_commands() -> None:
    told = {outcome: int(status) for status, outcome in re.findall(r"^\| (\d+) \| (\w+) \|", README, re.MULTILINE)}
    assert told == EXIT_STATUS
    assert {retention.PolicyError.exit_status, retention.Refused.exit_status} == {2, 4}


def test_the_first_policy_has_ten_lines_and_works(tmp_path: Path) -> None:
    (text,) = blocks(README, "toml")
    assert len(text.strip().splitlines()) <= 10
    db = create(
        tmp_path / "app.db",
        "CREATE TABLE deliveries (id INTEGER PRIMARY KEY, status TEXT, created_at INTEGER)",
        f"INSERT INTO deliveries (status, created_at) VALUES ('acked', {NOW_S - 10**8}), ('queued', {NOW_S - 10**8}), ('acked', {NOW_S})",
    )
    assert retention.run(db, parse(text), now=NOW_S * 1000).deleted == 1
    assert rows(db, "SELECT id FROM deliveries") == [(2,), (3,)]


def test_every_preset_is_named() -> None:
    named = re.search(r"--preset NAME` \((.*?)\)", README)
    assert named
    assert set(re.findall(r"`(\w+)`", named[1])) <= set(presets())


def test_every_link_leads_somewhere() -> None:
    for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_the_examples_of_docs_testing_are_tests_that_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("schema.sql").write_text("CREATE TABLE deliveries (id INTEGER PRIMARY KEY, status TEXT, created_at INTEGER);")
    policy(Path("retention.toml"), blocks(README, "toml")[0].removeprefix("version = 1"))
    names: dict[str, Any] = {}
    for block in blocks((ROOT / "docs" / "testing.md").read_text(encoding="utf-8"), "python"):
        exec(compile(block, "docs/testing.md", "exec"), names)
    tests = {name: test for name, test in names.items() if name.startswith("test_")}
    assert len(tests) == 5
    for test in tests.values():
        test(*(retention.MemoryStore() for _ in inspect.signature(test).parameters))


def test_the_helpers_of_retention_testing_are_documented() -> None:
    import retention.testing

    page = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
    assert [name for name in retention.testing.__all__ if name not in page] == []


def test_everything_public_is_exported() -> None:
    assert len(set(retention.__all__)) == len(retention.__all__)
    assert all(hasattr(retention, name) for name in retention.__all__)

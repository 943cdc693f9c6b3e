"""Bad input: one clear sentence that names the key, and never a word of the libraries beneath."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retention.errors import PolicyError
from retention.policy.load import from_dict, load, parse
from retention.policy.models import Age, Hold, Limits, Policy, Rule

RULE = '[[rules]]\ntable = "x"\n'
AGED = RULE + 'keep = "30d"\nage = { column = "at", format = "unix_s" }\n'
TENANTS = '[tenants]\ntable = "w"\nkey = "id"\n'
LIBRARIES = re.compile(r"pydantic|validation error|input_value|input should|type=|sqlglot|<class|Traceback", re.I)


def message(text: str) -> str:
    with pytest.raises(PolicyError) as caught:
        parse(text, "retention.toml")
    found = str(caught.value)
    assert found.startswith("retention.toml: ")
    assert not LIBRARIES.search(found)
    assert found.endswith((".", "?", ".)"))
    return found.removeprefix("retention.toml: ")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "says nothing to do; add a rule with [[rules]], table, keep and age."),
        ("version = 1\n[limits]\nstatements = 5\n", "says nothing to do; add a rule with [[rules]], table, keep and age."),
        ("rules = []\n", "says nothing to do; add a rule with [[rules]], table, keep and age."),
        ("a =", "line 1, column 4: is not TOML: invalid value; text needs quotes, and a key its = and value."),
        (AGED + "keep = '1d'", "line 5, column 12: is not TOML: cannot overwrite a value; text needs quotes, and a key its = and value."),
        ("version = 2\n" + AGED, "version: must be 1, not 2."),
        (RULE + 'kep = "1d"', 'rules[0] "x": kep: is not a key here; did you mean keep? (1 more after this one.)'),
        ('[[rule]]\ntable = "x"\n', "rule: is not a key here; did you mean rules?"),
        (
            AGED + AGED + 'name = "y"\nkeep_newst = 1',
            'rules[1] "y": keep_newst: is not a key here; did you mean keep_newest?',
        ),
        ("[limits]\nstatement = 5\n" + AGED, "limits.statement: is not a key here; did you mean statements?"),
        ('[[rules]]\nkeep = "1d"\n', 'rules[0]: name: is missing; write, for example, name = "name". (1 more after this one.)'),
        (RULE + 'only = "a = 1"', 'rules[0] "x": keep: is missing; write, for example, keep = "90d".'),
        (
            RULE + 'keep = "30"',
            'rules[0] "x": keep: "30" has no unit; write "30d" for days, "30h" for hours or "30s" for seconds.',
        ),
        (
            RULE + "keep = 30",
            'rules[0] "x": keep: 30 has no unit; write it in quotes with one, such as "30d" for days or "30s" for seconds.',
        ),
        (
            RULE + 'keep = "1d"',
            'rules[0] "x": says neither age, only nor keep_newest, so it would take every row; say which rows may go.',
        ),
        ("rules = 3", "rules: must be a list in square brackets, not 3."),
        ('rules = ["x"]', 'rules[0]: must be a table such as { key = value }, not "x".'),
        ('foreign_keys = "of"\n' + AGED, 'foreign_keys: must be "on" or "off", not "of"; did you mean "off"?'),
        (AGED + 'walk = "rowidd"', 'rules[0] "x": walk: must be "rowid", "primary_key" or a table { index = ... }, not "rowidd"; '
         'did you mean "rowid"?'),
        (AGED + AGED, 'rules[1] "x": name: is "x" like an earlier rule\'s; progress is kept by name, so write a name of its own.'),
        ("[limits]\npage_rows = 1000000000\n" + AGED, "limits.page_rows: must be at most 1000000, not 1000000000."),
        ('[limits]\ndeadline = "0s"\n' + AGED, "limits.deadline: must be at least 1ms, not 0s."),
    ],
)  # fmt: skip
def test_the_message_names_the_key_and_what_to_write(text: str, expected: str) -> None:
    assert message(text) == expected


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (RULE + 'keep = "3d"\nonly = "a = 1"', "keep: is \"3d\", but the rule has no age"),
        (RULE + 'keep = "1d"\nage = { column = "id", format = "snowflake" }', "needs epoch_ms"),
        (RULE + 'keep = "1d"\nage = { column = "id", format = "snowflake", epoch_ms = 1735689600 }', "is it in seconds?"),
        (RULE + 'keep = "1d"\nage = { column = "id", format = "unix_s", epoch_ms = 1735689600000 }', "for snowflake ids only"),
        (RULE + 'keep = "1d"\nage = { column = "id", format = "unix_sec" }', 'did you mean "unix_s"?'),
        (RULE + 'keep = "1d"\nage = { column = [], format = "unix_s" }', "column's name or a list of names, not an empty list"),
        (RULE + 'keep = "1d"\nage = { column = ["a", "A"], format = "unix_s" }', "age.column: names a twice"),
        (RULE + 'keep = "1d"\nage = "created_at"', "age: must be a table"),
        (AGED + 'tenant = { column = "w" }', "tenant: has neither setting nor days"),
        (TENANTS + AGED + 'tenant = { column = "w", days = "d", setting = "s" }', "tenant: has both setting and days"),
        (AGED + 'tenant = { column = "w", days = "d" }', "tenant: needs to know where the tenants stand; add [tenants]"),
        (TENANTS + AGED + 'tenant = { column = "w", setting = "s" }', "tenant.setting: is a key of the tenants' JSON document"),
        (TENANTS + AGED + 'ordered = true\ntenant = { column = "w", days = "d" }', "ordered: stops at the newest possible cutoff"),
        (TENANTS + AGED + 'walk = { index = "i" }\ntenant = { column = "w", days = "d" }', "walk: ends at the newest possible cutoff"),
        (TENANTS + RULE + 'keep = "0s"\nonly = "a = 1"\ntenant = { column = "w", days = "d" }', "tenant: gives a keep in days, but"),
        (RULE + 'keep = "0s"\nonly = "a = 1"\nordered = true', "ordered: says that the age never falls"),
        (RULE + 'keep = "0s"\nonly = "a = 1"\nwalk = { index = "i" }', "walk: follows an index that is led by the age"),
        (RULE + 'keep = "0s"\nkeep_newest = { rows = 1 }', 'keep_newest: needs an order, and the rule has no age'),
        (RULE + 'keep = "1d"\nage = { column = "at", format = "iso8601" }\nkeep_newest = { rows = 1 }', "do not sort in time order"),
        (RULE + 'keep = "1d"\nage = { column = ["a", "b"], format = "unix_s" }\nkeep_newest = { rows = 1 }', "do not sort in time order"),
        (AGED + 'keep_newest = { rows = 1, per = ["k"], by = ["K"] }', "k is both in per and in by"),
        (AGED + "keep_newest = { rows = 0 }", "keep_newest.rows: must be at least 1, not 0"),
        (AGED + 'archive = "old.jsonl"\nmode = "range"', "archive must see them first"),
        (AGED + 'only = ""', "only: is empty"),
        (AGED + 'only = "a"', "only: asks a for yes or no"),
        ('[[holds]]\ntable = "m"\n' + AGED, 'holds[0] "m": where: is missing; write, for example, where = "legal_hold = 1"'),
        ('[[holds]]\ntable = "m"\nwhere = "a = 1)"\n' + AGED, 'holds[0] "m": where: has parentheses that do not match'),
        ('[lease]\ntable = "l"\nttl = "500ms"\n' + AGED, "lease.ttl: must be at least 1s, not 500ms"),
        (AGED + 'table = ""'.replace("table", "name"), "name: is empty"),
        (RULE + "keep = 2026-01-01", "keep: must be a duration in quotes"),
        (AGED + 'walk = { indx = "i" }', "walk.indx: is not a key here; did you mean index?"),
        (AGED + "walk = 3", "walk: must be a table"),
        (AGED + 'walk = { kind = "index" }', "walk: an index walk names its index"),
        (AGED + 'walk = { kind = "rowid", index = "i" }', "walk: an index walk names its index and no other does"),
        (AGED + 'mode = { kind = "range", chunk = 5 }', "mode: a range has no chunk size"),
        (AGED + 'revisit = "0s"', "revisit: must be at least 1ms"),
        ('x = """\nabc', "line 2, column 4: is not TOML"),
        ("a = " + "[" * 5_000, "is nested too deeply"),
    ],
)  # fmt: skip
def test_parts_that_make_no_sense_together_are_refused(text: str, says: str) -> None:
    assert says in message(text)


COUNTS = {
    "page_rows": AGED + "page_rows = VALUE",
    "max_pages": AGED + "max_pages = VALUE",
    "mode.chunk": AGED + "mode = { chunk = VALUE }",
    "keep_newest.rows": AGED + "keep_newest = { rows = VALUE }",
    **{f"limits.{key}": f"[limits]\n{key} = VALUE\n" + AGED for key in Limits.model_fields if key not in ("deadline", "duty")},
}


SIZES = ["0", "-1", "2.5", "true", '"100"', "1e3", "inf", "nan", "[]", "{}", str(2**63), pytest.param("9" * 400, id="huge")]


@pytest.mark.parametrize("key", COUNTS)
@pytest.mark.parametrize("value", SIZES)
def test_a_size_that_is_no_whole_number_from_one_on_is_refused(key: str, value: str) -> None:
    """A batch of 0 spins for ever, one of -1 takes everything at once, and true is 1 to Python: none may reach the engine."""
    found = message(COUNTS[key].replace("VALUE", value))
    assert f"{key}: must be " in found


@pytest.mark.parametrize("value", ["0", "0.001", "1.01", "-1", "true", '"0.5"', "inf", "nan", "[]", "{}"])
def test_a_duty_that_is_no_share_is_refused(value: str) -> None:
    assert "limits.duty" in message(f"[limits]\nduty = {value}\n" + AGED)


@pytest.mark.parametrize(("value", "share"), [("1", 1.0), ("0.5", 0.5), ("0.01", 0.01)])
def test_a_duty_is_a_share_of_the_time(value: str, share: float) -> None:
    assert parse(f"[limits]\nduty = {value}\n" + AGED).limits.duty == share


def test_a_page_of_a_rule_is_capped_by_the_limit() -> None:
    policy = parse("[limits]\npage_rows = 2000\n" + AGED + "page_rows = 1000000000\n" + AGED + 'name = "y"\npage_rows = 10\n')
    assert [policy.page_rows(rule) for rule in policy.rules] == [2000, 10]
    assert parse(AGED).page_rows(parse(AGED).rules[0]) == 50_000


SWITCHES = [(key, field.default) for key, field in Rule.model_fields.items() if field.annotation is bool]


@pytest.mark.parametrize("key", [key for key, _ in SWITCHES])
@pytest.mark.parametrize("value", ['"treu"', '"true"', "1", "0", '""', '"no"', "[]"])
def test_a_misspelt_switch_is_refused_and_never_read_as_off(key: str, value: str) -> None:
    assert f"{key}: must be true or false, without quotes" in message(f"{AGED}{key} = {value}")


@pytest.mark.parametrize("key", ["dry_run", "dryrun", "batc", "DRY_RUN", "Enabled", "ordred", ""])
def test_an_unknown_key_is_refused_at_every_level(key: str) -> None:
    quoted = f'"{key}"'
    levels = [
        f"{quoted} = true\n" + AGED,
        AGED + f"{quoted} = true",
        f"[limits]\n{quoted} = true\n" + AGED,
        RULE + f'keep = "1d"\nage = {{ column = "at", format = "unix_s", {quoted} = true }}',
        f"{TENANTS}{quoted} = true\n" + AGED,
        f'[[holds]]\ntable = "m"\nwhere = "a = 1"\n{quoted} = true\n' + AGED,
        AGED + f"keep_newest = {{ rows = 1, {quoted} = true }}",
    ]
    for text in levels:
        assert f"{key or quoted}: is not a key here; " in message(text)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    missing, latin, nul = tmp_path / "no.toml", tmp_path / "latin.toml", tmp_path / "nul\0.toml"
    latin.write_bytes(b"# caf\xe9\n")
    for path, says in [(missing, "there is no such policy file"), (tmp_path, "is a directory"), (latin, "is not UTF-8"), (nul, "be read")]:
        with pytest.raises(PolicyError, match=re.escape(str(path))) as caught:
            load(path)
        assert says in str(caught.value)


def test_a_file_from_any_editor_is_read(tmp_path: Path) -> None:
    path = tmp_path / "retention.toml"
    path.write_bytes(b"\xef\xbb\xbf" + AGED.replace("\n", "\r\n").encode())
    assert load(path) == load(str(path)) == parse(AGED)


def test_python_callers_get_the_same_errors_with_the_path_from_where_they_build() -> None:
    with pytest.raises(PolicyError, match=r'^keep: "30" has no unit'):
        Rule(table="x", keep="30")
    with pytest.raises(PolicyError, match=r"^rules\[0\]\.keep: "):
        Policy(rules=[{"table": "x", "keep": "30"}])
    with pytest.raises(PolicyError, match="keys are text"):
        from_dict({1: 2})  # type: ignore[dict-item]
    rule = Rule(table="x", keep="30d", age=Age(column="at", format="unix_s"))
    assert Policy(rules=[rule], holds=(Hold(table="x", where="a = 1"),)).rules == (rule,)
    assert from_dict({"rules": [rule]}).rules[0].name == "x"


def test_what_is_left_out_is_implied() -> None:
    rule = parse(AGED).rules[0]
    assert (rule.name, rule.revisit, rule.mode.kind, rule.walk) == ("x", 7 * 86_400_000, "range", None)
    assert parse(AGED + 'archive = "old.jsonl"').rules[0].mode.kind == "chunk"
    assert parse(AGED + "mode = { chunk = 10 }").rules[0].mode.chunk == 10
    assert parse(AGED + 'walk = { index = "i" }').rules[0].walk.model_dump() == {"kind": "index", "index": "i"}


@pytest.mark.parametrize("mode", ["python", "json"])
def test_a_dumped_policy_reads_back(mode: Any) -> None:
    policy = parse(
        "version = 1\n[limits]\ndeadline = '10s'\n" + TENANTS + "settings = 's'\nshortest = '1d'\n"
        + AGED + 'walk = { index = "i" }\nmode = { chunk = 10 }\ntenant = { column = "w", setting = "s" }\nkeep_newest = { rows = 1 }\n'
        + '[[rules]]\ntable = "m"\nkeep = "forever"\nage = { column = ["id"], format = "snowflake", epoch_ms = 0 }\n'
    )  # fmt: skip
    assert from_dict(policy.model_dump(mode=mode)) == policy


KEYS = st.sampled_from([*Rule.model_fields, *Age.model_fields])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(["0s", "a = 1", "unix_s", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*Policy.model_fields, "x"]), ANYTHING | st.lists(ANYTHING, max_size=3), max_size=4))
def test_any_data_is_a_policy_or_one_policy_error(data: dict[str, Any]) -> None:
    try:
        said = repr(from_dict(data))
    except PolicyError as error:
        said = str(error)
    assert said
    assert not LIBRARIES.search(said)

"""Archives: exact, durable, mendable, and never anywhere but under the template."""

from __future__ import annotations

import errno
import json
import math
import os
import stat
import struct
from datetime import date

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import retention
from retention.archive import JsonLines, jsonl, read
from retention.archive.values import decode, encode
from retention.errors import HostError, PolicyError
from retention.steps import Archive

STEP = Archive("events", "ev", ("id", "kind", "body"), ((17, "opened", b"\0\xff"), (2**63 - 1, None, 1.0)))
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), TEXTS, st.binary())


def bits(value):
    return struct.pack("<d", value) if isinstance(value, float) else value


@settings(deadline=None)
@given(VALUES)
def test_a_value_comes_back_with_its_class_and_bits(value):
    back = decode(json.loads(json.dumps(encode(value), allow_nan=False)))
    assert type(back) is type(value)
    assert bits(back) == bits(value)


@settings(deadline=None)
@given(st.integers(-(2**63), 2**63 - 1))
def test_every_plain_integer_is_exact_as_a_double(value):
    assert not isinstance(encode(value), int) or int(float(value)) == value


@pytest.mark.parametrize("value", [[1], {"int": 1}, {"real": "x"}, {"blob": "0"}, {"other": "1"}, True])
def test_what_is_no_value_is_refused(value):
    with pytest.raises(ValueError, match=r"archived value|hexadecimal|non-hex|fromhex|convert string"):
        decode(value)


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def rows(path):
    return [row for step in read(path) for row in step.rows]


def test_the_lines_are_as_documented(tmp_path):
    sink = JsonLines(str(tmp_path / "a.jsonl"))
    sink.write(STEP)
    sink.write(STEP)
    sink.close()
    row = {"rule": "events", "table": "ev", "row": [17, "opened", {"blob": "00ff"}]}
    big = {"rule": "events", "table": "ev", "row": [{"int": "9223372036854775807"}, None, 1.0]}
    header = {"archive": 1, "rule": "events", "table": "ev", "columns": ["id", "kind", "body"]}
    assert lines(tmp_path / "a.jsonl") == [header, row, big, row, big]
    assert "1.0]" in (tmp_path / "a.jsonl").read_text(), "a real stays one"
    assert stat.S_IMODE((tmp_path / "a.jsonl").stat().st_mode) == 0o600


@settings(deadline=None)
@given(st.lists(st.tuples(VALUES, VALUES), max_size=5))
def test_rows_come_back(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("a") / "a.jsonl"
    sink = JsonLines(str(path))
    sink.write(Archive("r", "t", ("a", "b"), tuple(values)))
    sink.close()
    assert [tuple(map(bits, row)) for row in rows(path)] == [tuple(map(bits, row)) for row in values]


def test_columns_that_change_get_a_header(tmp_path):
    path = tmp_path / "a.jsonl"
    sink = JsonLines(str(path))
    wider = Archive("events", "ev", (*STEP.columns, "x"), ((1, "a", None, 2),))
    for step in (STEP, wider, Archive("other", "o", ("k",), ((5,),)), wider):
        sink.write(step)
    sink.close()
    assert [(s.rule, s.columns[-1], s.rows[0][0]) for s in read(path)] == [
        ("events", "body", 17),
        ("events", "body", 2**63 - 1),
        ("events", "x", 1),
        ("other", "k", 5),
        ("events", "x", 1),
    ]
    assert sum("archive" in line for line in lines(path)) == 3


def test_a_later_process_appends_below_its_own_header(tmp_path):
    for _ in range(2):
        sink = JsonLines(str(tmp_path / "a.jsonl"))
        sink.write(STEP)
        sink.close()
    assert rows(tmp_path / "a.jsonl") == [*STEP.rows, *STEP.rows]


def test_a_row_archived_twice_is_two_equal_lines(tmp_path):
    sink = JsonLines(str(tmp_path / "a.jsonl"))
    sink.write(STEP)
    sink.write(STEP)
    sink.close()
    body = (tmp_path / "a.jsonl").read_text().splitlines()[1:]
    assert len(set(body)) == len(STEP.rows)


@pytest.mark.parametrize("kept", range(0, 400, 7))
def test_a_torn_end_is_cut_wherever_it_was_torn(tmp_path, kept):
    path = tmp_path / "a.jsonl"
    sink = JsonLines(str(path))
    sink.write(STEP)
    sink.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:kept])
    before = rows(path)
    assert before == list(STEP.rows[: len(before)])
    sink = JsonLines(str(path))
    sink.write(STEP)
    sink.close()
    assert rows(path) == [*before, *STEP.rows]


@pytest.mark.parametrize(
    "data",
    [
        b"remember the milk", b"a\nb\nhalf a li", b"SQLite format 3\0" + bytes(4_080), b"\n", b"{}", b'{"archive": 2, "rule": "r"}\n',
        b'{"version":1,"next":0,"tables":{}}', b'{"rule": "events", "table": "ev", "row": [1]}\n', b"x" * 200_000,
    ],
)  # fmt: skip
def test_a_file_that_is_no_archive_is_left_as_it_is(tmp_path, data):
    path = tmp_path / "a.jsonl"
    path.write_bytes(data)
    sink = JsonLines(str(path))
    for _ in range(2):
        with pytest.raises(HostError, match="is no archive") as caught:
            sink.write(STEP)
        assert (caught.value.kind, caught.value.retryable) == ("denied", False)
    sink.close()
    assert path.read_bytes() == data


def test_a_torn_line_longer_than_a_block_is_cut(tmp_path):
    path = tmp_path / "a.jsonl"
    sink = JsonLines(str(path))
    sink.write(STEP)
    sink.close()
    with path.open("ab") as file:
        file.write(b"x" * 200_000)
    sink = JsonLines(str(path))
    sink.write(STEP)
    sink.close()
    assert len(rows(path)) == 4


@pytest.mark.parametrize(("code", "kind"), [(errno.ENOSPC, "full"), (errno.EIO, "error")])
@pytest.mark.parametrize("written", [0, 1, 60, 150])
def test_a_write_that_fails_leaves_no_part(tmp_path, monkeypatch, code, kind, written):
    path = tmp_path / "a.jsonl"
    sink = JsonLines(str(path))
    sink.write(STEP)
    before = path.read_bytes()
    write = os.write

    def fail(descriptor, data):
        write(descriptor, bytes(data)[:written])
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(jsonl.os, "write", fail)
        with pytest.raises(HostError, match=r"a\.jsonl cannot be written") as caught:
            sink.write(STEP)
    assert caught.value.kind == kind
    assert path.read_bytes() == before
    sink.write(STEP)
    sink.close()
    assert rows(path) == [*STEP.rows, *STEP.rows]


def test_a_short_write_is_continued(tmp_path, monkeypatch):
    write = os.write
    monkeypatch.setattr(jsonl.os, "write", lambda descriptor, data: write(descriptor, bytes(data)[:5]))
    sink = JsonLines(str(tmp_path / "a.jsonl"))
    sink.write(STEP)
    sink.close()
    assert rows(tmp_path / "a.jsonl") == list(STEP.rows)


def test_rows_are_synced_before_the_answer(tmp_path, monkeypatch):
    sink = JsonLines(str(tmp_path / "a.jsonl"))
    sizes = []
    fsync = os.fsync
    monkeypatch.setattr(jsonl.os, "fsync", lambda d: (sizes.append(os.fstat(d).st_size), fsync(d)))
    sink.write(STEP)
    assert sizes[-1] == (tmp_path / "a.jsonl").stat().st_size
    sink.close()


def test_two_writers_of_one_file_are_refused(tmp_path):
    first, second = JsonLines(str(tmp_path / "a.jsonl")), JsonLines(str(tmp_path / "a.jsonl"))
    first.write(STEP)
    with pytest.raises(HostError, match="another run") as caught:
        second.write(STEP)
    assert (caught.value.kind, caught.value.retryable) == ("busy", True)
    first.close()
    second.write(STEP)
    second.close()
    assert len(rows(tmp_path / "a.jsonl")) == 4


def test_the_templates_fields(tmp_path):
    days = iter([date(2026, 9, 9)] * 2 + [date(2026, 9, 10)] * 2)
    sink = JsonLines(str(tmp_path / "{date}" / "{table}-{rule}.jsonl"), today=lambda: next(days))
    sink.write(STEP)
    sink.write(STEP)
    sink.write(STEP)
    sink.close()
    assert sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*.jsonl")) == [
        "2026-09-09/ev-events.jsonl",
        "2026-09-10/ev-events.jsonl",
    ]


@pytest.mark.parametrize("name", ["../../etc/x", "..", ".", "/etc/passwd", "a\0b", "a/b", "ü", "a b", "%2F", "C:\\x"])
def test_a_name_cannot_leave_the_directory(tmp_path, name):
    place = tmp_path / "in"
    sink = JsonLines(str(place / "{rule}" / "{table}.jsonl"))
    sink.write(Archive(name, name, ("a",), ((1,),)))
    sink.close()
    (made,) = [p for p in tmp_path.rglob("*") if p.is_file()]
    assert made.parent.parent == place


def test_different_names_have_different_files(tmp_path):
    names = ["a/b", "a%2Fb", "a_b", ".a", "%2Ea", "a b", "A/b"]
    sink = JsonLines(str(tmp_path / "{rule}.jsonl"))
    for name in names:
        sink.write(Archive(name, "t", ("a",), ((1,),)))
    sink.close()
    assert len(os.listdir(tmp_path)) == len(names)


@pytest.mark.parametrize("template", ["{tenant}.jsonl", "{}.jsonl", "{rule.x}", "{rule", "{0}"])
def test_an_unknown_field_is_a_policy_error(template):
    with pytest.raises(PolicyError, match=r"\{rule\}, \{table\} and \{date\}"):
        JsonLines(template)


@pytest.mark.parametrize(
    "line", ["[]", "{}", "x", '{"rule": "r", "table": "t", "row": [1]}', '{"archive": 1, "rule": "r", "table": "t", "columns": 5}']
)
def test_a_file_that_is_no_archive_is_told_by_line(tmp_path, line):
    path = tmp_path / "a.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(ValueError, match="line 1"):
        list(read(path))


def test_a_path_with_a_nul_is_a_policy_error():
    with pytest.raises(PolicyError, match="NUL"):
        JsonLines("a\0b.jsonl")


def test_infinities_are_archived(tmp_path):
    sink = JsonLines(str(tmp_path / "a.jsonl"))
    sink.write(Archive("r", "t", ("a",), ((math.inf,), (-math.inf,), (-0.0,))))
    sink.close()
    assert [bits(row[0]) for row in rows(tmp_path / "a.jsonl")] == [bits(v) for v in (math.inf, -math.inf, -0.0)]


def test_restored_by_what_the_reference_says(tmp_path):
    """Generated columns are archived as values, and left out of the INSERT; a line that stands twice is passed over."""
    con, archive = apsw.Connection(""), tmp_path / "o.jsonl"
    con.execute(
        "CREATE TABLE o (id INTEGER PRIMARY KEY, qty INTEGER, price REAL, total REAL GENERATED ALWAYS AS (qty * price) STORED,"
        " label TEXT AS ('o' || id) VIRTUAL, at INTEGER NOT NULL)"
    )
    con.execute("INSERT INTO o (id, qty, price, at) VALUES (1, 2, 9.5, 1700000000), (2, 1, 1.0, 1788960000)")
    before = con.execute("SELECT * FROM o").fetchall()
    rule = {"table": "o", "keep": "30d", "age": {"column": "at", "format": "unix_s"}, "archive": str(archive)}
    assert retention.run(con, {"version": 1, "rules": [rule]}, now="2026-09-09T14:00:00Z").deleted == 1
    assert con.execute("SELECT id FROM o").fetchall() == [(2,)]
    archive.write_bytes(archive.read_bytes() + archive.read_bytes().splitlines(keepends=True)[-1])
    (row, again) = [dict(zip(part.columns, row, strict=True)) for part in read(archive) for row in part.rows]
    assert row == again == {"id": 1, "qty": 2, "price": 9.5, "total": 19.0, "label": "o1", "at": 1_700_000_000}
    plain = [c for c, hidden in con.execute("SELECT name, hidden FROM pragma_table_xinfo('o')") if not hidden]
    for each in (row, again):
        con.execute(f"INSERT OR IGNORE INTO o ({', '.join(plain)}) VALUES ({', '.join('?' * len(plain))})", [each[c] for c in plain])
    assert con.execute("SELECT * FROM o ORDER BY id").fetchall() == before

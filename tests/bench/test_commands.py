"""Each command, small: its last line is a JSON object with the promised keys, and its files are written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from bench.__main__ import main

FIGURES = {"rows", "rows_per_second", "spread", "statements", "statements_per_1000", "write_ms_p50"}
WAITS = {"p50_ms", "p99_ms", "max_ms"}


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    def call(command: str, rows: int, rounds: int = 1) -> dict[str, Any]:
        arguments = [command, "--rows", str(rows), "--rounds", str(rounds), "--json", "--out", str(tmp_path), "--scratch", str(tmp_path)]
        assert main(arguments) == 0
        document = json.loads(capsys.readouterr().out.splitlines()[-1])
        assert json.loads((tmp_path / f"{command}.json").read_text()) == document
        for plot in tmp_path.glob("*.svg"):
            ElementTree.parse(plot)
        return document

    return call


def test_compare(run: Any, tmp_path: Path) -> None:
    found = run("compare", 1_000, 2)
    peers = {"bare_delete", "limit_loop", "keyset_ids", "relaycast", "home_assistant", "sqlite_utils", "bare_loop", "range", "chunk"}
    ratios = ("bare_delete", "bare_delete_ordered_indexes", "bare_loop", "relaycast")
    assert {f"range_vs_{name}" for name in ratios} | {"chunk_vs_relaycast"} <= set(found["ratios"])
    assert all(value > 0 for value in found["ratios"].values())
    assert all(set(found[peer]) >= FIGURES for peer in peers)
    assert len({found[peer]["rows"] for peer in peers}) == 1
    assert found["range"]["statements_per_1000"] < found["relaycast"]["statements_per_1000"]
    assert ("pt_archiver" in found) is ("pt_archiver" not in found["absent"])
    assert found.get("pt_archiver", found["range"])["rows"] == found["range"]["rows"]
    assert (tmp_path / "compare.svg").exists()


def test_steady(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.steady.ALONE_S", 0.2)
    monkeypatch.setattr("bench.steady.ROLLBACK_S", 1)
    found = run("steady", 20_000)
    assert set(found["alone"]) >= WAITS
    assert set(found["beside"]) >= WAITS
    assert {"wal_mb", "speed_ratio"} <= set(found)
    assert set(found["rollback_journal"]) >= WAITS
    assert set(found["rollback_writer"]) >= WAITS
    assert found["wal_mb"] > 0
    assert (tmp_path / "steady.svg").exists()


def test_growth(run: Any) -> None:
    found = run("growth", 20_000)
    for kind in ("ordered", "index", "rowid"):
        assert set(found[kind]) == {"20000"}
        assert set(found[kind]["20000"]) == {"vm_steps", "statements"}
    assert found["rowid_us_per_kept_row"] > 0


def test_cascade(run: Any) -> None:
    found = run("cascade", 2_000)
    assert {"max_changes", "max_lock_ms", "target_ms", "rows"} <= set(found)
    assert found["rows"] == 101 + 2_020
    assert found["too_large"] == 0


def test_wide(run: Any) -> None:
    found = run("wide", 2_000)
    for kind in ("plain", "wide", "blobs", "indexes", "fts"):
        assert set(found[kind]["range"]) >= FIGURES
        assert found[kind]["range"]["rows"] == found[kind]["bare_delete"]["rows"] > 0
        assert found[kind]["ratio"] > 0


def test_startup(run: Any) -> None:
    found = run("startup", 100)
    assert {"tick_seconds", "tick_mb", "library_ms"} <= set(found)


def test_d1(run: Any) -> None:
    found = run("d1", 1_000)
    contenders = ("range", "chunk", "relaycast", "limit_loop")
    assert all({"rows_per_second", "requests", "statements", "rows_read_per_1000"} <= set(found[name]) for name in contenders)
    assert len({found[name]["rows"] for name in contenders}) == 1
    assert found["range"]["requests"] < found["relaycast"]["requests"]


@pytest.mark.parametrize("wrong", [["--rows", "0"], ["--rounds", "-1"], ["nothing"]])
def test_wrong_arguments_are_refused(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(wrong)
    assert stopped.value.code == 2
    assert capsys.readouterr().err

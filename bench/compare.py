"""`compare`: our two modes and every peer, each on a fresh copy of the same file, interleaved."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import ours
from .client import digest, timed
from .data import Job, build, copy
from .measure import Reading, rounded, summary
from .peers import PEERS, Peer, pt_archiver
from .report import Outcome
from .svg import Axis, points

__all__ = ["Disagreement", "compare"]

TITLES = (
    {"range": "retention, range mode", "chunk": "retention, chunk mode", "bare_loop": "bare loop of range mode's statements"}
    | {peer.name: peer.title for peer in PEERS}
    | {"pt_archiver": "pt-archiver --purge, on MariaDB"}
)

BESIDE = {
    "ordered": ("range", "chunk", "bare_loop", "bare_delete", "bare_delete_16mb"),
    "scattered": ("range", "chunk", "bare_loop", *(peer.name for peer in PEERS)),
    "tenants": ("range", "chunk", "bare_loop", "bare_delete", "relaycast", "relaycast_unsaved"),
}
"""Who takes part where. relaycast's algorithm looks up each row's tenant whatever the job, so it is compared where ours does too."""

TIMES = {"ordered": 3}
"""So many times the rounds: runs of a quarter of a second, which a moment's noise changes by a third."""

RATIOS = {
    "range_vs_bare_delete": ("scattered", "range", "bare_delete"),
    "range_vs_bare_delete_16mb": ("scattered", "range", "bare_delete_16mb"),
    "range_vs_bare_delete_ordered_indexes": ("ordered", "range", "bare_delete"),
    "range_vs_bare_delete_tenants": ("tenants", "range", "bare_delete"),
    "range_vs_bare_loop": ("scattered", "range", "bare_loop"),
    "range_vs_limit_loop": ("scattered", "range", "limit_loop"),
    "range_vs_relaycast": ("tenants", "range", "relaycast"),
    "chunk_vs_relaycast": ("tenants", "chunk", "relaycast"),
    "range_vs_relaycast_unsaved": ("tenants", "range", "relaycast_unsaved"),
    "chunk_vs_relaycast_unsaved": ("tenants", "chunk", "relaycast_unsaved"),
}


class Disagreement(Exception):
    """Two peers left different rows: the comparison would be void."""


def compare(folder: Path, *, rows: int, rounds: int) -> Outcome:
    """Run all jobs. Ratios are medians of the rounds' own ratios, since a noisy machine is noisy for neighbours alike."""
    jobs = {"ordered": Job(rows, "ordered"), "scattered": Job(rows), "tenants": Job(rows, tenants=True)}
    found = {name: _rounds(job, BESIDE[name], folder, rounds * TIMES.get(name, 1)) for name, job in jobs.items()}
    tables = {job: {peer: summary(readings) for peer, readings in peers.items()} for job, peers in found.items()}
    absent = pt_archiver.missing()
    if absent is None:
        others = [pt_archiver.drain(jobs["scattered"], folder) for _ in range(rounds)]
        _agreed(jobs["scattered"], {"bare_delete": found["scattered"]["bare_delete"][0], "pt_archiver": others[0]})
        tables["scattered"]["pt_archiver"] = summary(others)
    result: dict[str, Any] = {
        "rows": rows,
        "rounds": rounds,
        "ratios": {name: rounded(_ratio(found[job], a, b), 3) for name, (job, a, b) in RATIOS.items()},
        **tables["scattered"],
        "ordered_indexes": tables["ordered"],
        "tenants": tables["tenants"],
        "absent": {} if absent is None else {"pt_archiver": absent},
    }
    return Outcome("compare", result, HEAD, _lines(tables), _note(result), {"compare.svg": _plot(tables["scattered"])})


def _rounds(job: Job, names: Sequence[str], folder: Path, rounds: int) -> dict[str, list[Reading]]:
    source = build(job, folder)
    readings: dict[str, list[Reading]] = {name: [] for name in names}
    for _ in range(rounds):
        for name, reading in _round(job, names, source).items():
            readings[name].append(reading)
    return readings


def _round(job: Job, names: Sequence[str], source: Path) -> dict[str, Reading]:
    """Each peer once. The bare loop repeats what range mode has just sent."""
    target = source.with_name("run.db")
    run: dict[str, Callable[[], Reading]] = {peer.name: lambda peer=peer: _peer(peer, job, target) for peer in PEERS}
    sent: list[ours.Metered] = []

    def range_mode() -> Reading:
        reading, host = ours.drain(target, ours.policy(job))
        sent.append(host)
        return reading

    run["range"] = range_mode
    run["chunk"] = lambda: ours.drain(target, ours.policy(job, "chunk"))[0]
    run["bare_loop"] = lambda: timed(target, lambda client: ours.replay(client, sent[0].sent, sent[0].capabilities))
    readings: dict[str, Reading] = {}
    for name in names:
        copy(source, target)
        readings[name] = run[name]()
        readings[name].left = digest(target)
    _agreed(job, readings)
    return readings


def _agreed(job: Job, readings: Mapping[str, Reading]) -> None:
    if len({reading.left for reading in readings.values()}) != 1:
        raise Disagreement(f"{job.name}: the peers left different rows: { {n: r.left for n, r in readings.items()} }")


def _peer(peer: Peer, job: Job, target: Path) -> Reading:
    return timed(target, lambda client: peer.drain(client, job), peer.cache_kib, stores=peer.stores)


def _ratio(readings: Mapping[str, Sequence[Reading]], a: str, b: str) -> float:
    return statistics.median(x.rate / y.rate for x, y in zip(readings[a], readings[b], strict=True))


HEAD = ("", "rows/s", "±", "of bare DELETE", "statements / 1,000", "write p50 ms", "p95", "max", "saves")


def _lines(tables: Mapping[str, Mapping[str, Any]]) -> list[list[str]]:
    lines: list[list[str]] = []
    for job, peers in tables.items():
        lines.append([f"[bold]{job}[/bold]"] + [""] * (len(HEAD) - 1))
        base = peers["bare_delete"]["rows_per_second"]
        for name, of in peers.items():
            share = of["rows_per_second"] / base if base else 0.0
            milliseconds = [f"{of[key]:,.1f}" if of[key] else "" for key in ("write_ms_p50", "write_ms_p95", "write_ms_max")]
            numbers = [f"{of['rows_per_second']:,.0f}", f"{of['spread']:.0%}", f"{share:.2f}", f"{of['statements_per_1000']:,.2f}"]
            lines.append([f"  {TITLES.get(name, name)}", *numbers, *milliseconds, str(of["saves"])])
    return lines


def _note(result: Mapping[str, Any]) -> str:
    ratios = "  ".join(f"{name} {value:g}" for name, value in result["ratios"].items())
    absent = "".join(f"\nabsent: {name}: {why}" for name, why in result["absent"].items())
    return ratios + absent


def _plot(peers: Mapping[str, Any]) -> str:
    dots = [(TITLES.get(name, name), of["statements_per_1000"], of["rows_per_second"]) for name, of in peers.items()]
    x = Axis.around("statements for each 1,000 rows deleted", [d[1] for d in dots])
    y = Axis.around("rows deleted a second", [d[2] for d in dots])
    return points("Speed against chattiness (one scattered index)", x, y, dots)

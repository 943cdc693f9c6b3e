"""Where each rule's rows go before they are deleted."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ..archive.base import Sink
from ..archive.jsonl import JsonLines
from ..errors import PolicyError
from ..hosts import is_remote
from ..policy.models import Policy
from ..stores.apart import database_files, keep_apart, state_files
from ..stores.file import FileStore

__all__ = ["archives_apart", "own_files", "sinks_of"]


def sinks_of(policy: Policy, given: Mapping[str, Sink] | None = None) -> dict[str, Sink]:
    """A sink for each rule that archives: the one given, else JSON lines, of which rules with the same template share one.

    Raises:
        PolicyError: a template is not understood.
    """
    sinks = dict(given or {})
    made: dict[str, JsonLines] = {}
    for rule in policy.rules:
        if rule.enabled and rule.archive is not None and rule.name not in sinks:
            sinks[rule.name] = made.setdefault(rule.archive, JsonLines(rule.archive))
    return sinks


def own_files(database: str, store: object) -> dict[str, str]:
    """The files of a run by name, and what each is."""
    files = {} if not database or database == ":memory:" or is_remote(database) else database_files(database)
    return files | state_files(store.path) if isinstance(store, FileStore) else files


def archives_apart(policy: Policy, sinks: Mapping[str, Sink], others: Mapping[str, str]) -> None:
    """Make sure that no archive is another file of the run, nor written by two sinks.

    Raises:
        PolicyError: one is.
    """
    writers: dict[str, Sink] = {}
    for rule in policy.rules:
        sink = sinks.get(rule.name)
        if not rule.enabled or not isinstance(sink, JsonLines):
            continue
        path = sink.path(rule.name, rule.table)
        keep_apart(path, f'rule "{rule.name}": the archive', others)
        if writers.setdefault(os.path.realpath(path), sink) is not sink:
            raise PolicyError(f'rule "{rule.name}": the archive {path} is another rule\'s too; write the path of both in the same way.')

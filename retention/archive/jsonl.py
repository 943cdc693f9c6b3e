"""An archive of JSON lines.

    {"archive": 1, "rule": "events", "table": "events", "columns": ["id", "kind", "body"]}
    {"rule": "events", "table": "events", "row": [17, "opened", {"blob": "00ff"}]}

Values stand as `retention.archive.values` says: `{"blob": HEX}`, `{"text": HEX}` for a text that is not valid Unicode, `{"int": DECIMAL}`.
The first line, and a new one wherever the columns change, names the columns of the rows below it with the same rule and table.
A row that was archived twice, because a crash came before its delete, stands as two equal lines: each holds the row's key, and
equal values have one form. Whoever restores inserts by key, and passes over a line that it has already seen.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..errors import HostError, PolicyError
from ..steps import Archive
from ..stores.file import file_error, sync_directory
from .values import decode, encode

__all__ = ["JsonLines", "read"]

_BLOCK = 65_536

_BEGIN = b'{"archive": 1, "rule": '
"""How each archive begins."""


def _today() -> date:
    return datetime.now(UTC).date()


@dataclass(slots=True)
class _File:
    descriptor: int
    columns: dict[tuple[str, str], tuple[str, ...]]


class JsonLines:
    """Appends rows to files, mode 0600, synced before `write` returns. A file that is there and no archive is left as it is.

    Args:
        template: path of the files, in which `{rule}`, `{table}` and `{date}` (UTC, `YYYY-MM-DD`) are replaced. In names,
            characters that could lead elsewhere are written as `%XX`. Directories are made.
        today: the date, for `{date}`.

    Raises:
        PolicyError: the template names another field, or holds a NUL character.
    """

    def __init__(self, template: str, *, today: Callable[[], date] = _today) -> None:
        self._template = template
        self._today = today
        self._files: dict[str, _File] = {}
        if "\0" in template:
            raise PolicyError(f"the archive path {template!r} holds a NUL character, which no path can; leave it out.")
        self.path("rule", "table")

    def write(self, step: Archive) -> None:
        """Append the rows of one step; see `Sink.write`. What a failed attempt had written is cut off again.

        Raises:
            HostError: `busy`: another run writes this file; `full`, `readonly`, `denied` (also where it is no archive) or `error`.
        """
        path = self.path(step.rule, step.table)
        try:
            file = self._files.get(path)
            if file is None:
                file = self._files[path] = _File(_open(Path(path)), {})
            _append(file, step)
        except OSError as error:
            raise file_error(error, f"the archive {path} cannot be written") from error

    def close(self) -> None:
        while self._files:
            os.close(self._files.popitem()[1].descriptor)

    def path(self, rule: str, table: str) -> str:
        """Where the rows of a rule go today."""
        try:
            return self._template.format(rule=_safe(rule), table=_safe(table), date=self._today().isoformat())
        except (KeyError, IndexError, ValueError, AttributeError) as error:
            fields = "{rule}, {table} and {date}"
            raise PolicyError(f"the archive path {self._template!r} is not understood ({error}); it may name {fields}") from None


def _safe(name: str) -> str:
    escaped = quote(name, safe=" ")
    return "%2E" + escaped[1:] if escaped.startswith(".") else escaped


def _open(path: Path) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _check(descriptor, path)
        _cut_torn_line(descriptor)
        sync_directory(path.parent)
    except BlockingIOError:
        os.close(descriptor)
        raise HostError(f"another run writes the archive {path}; try again when it has ended", "busy", retryable=True) from None
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _check(descriptor: int, path: Path) -> None:
    """Raise where the file is somebody else's; an empty one, or a header torn in its beginning, is an archive."""
    if not _BEGIN.startswith(os.pread(descriptor, len(_BEGIN), 0)):
        what = "is there and is no archive: its first line is none of ours"
        raise HostError(f"{path} {what}; nothing was written to it. Name another file, or move this one away.", "denied")


def _cut_torn_line(descriptor: int) -> None:
    """A crash in mid-write leaves a line without its end. Its rows were never reported as durable, so none was deleted."""
    end = os.fstat(descriptor).st_size
    start = end
    while start > 0:
        start = max(0, start - _BLOCK)
        found = os.pread(descriptor, _BLOCK, start).rfind(b"\n", 0, end - start)
        if found >= 0:
            start += found + 1
            break
    if start < end:
        os.ftruncate(descriptor, start)


def _append(file: _File, step: Archive) -> None:
    key = step.rule, step.table
    known = file.columns.get(key) == step.columns
    header = [] if known else [{"archive": 1, "rule": step.rule, "table": step.table, "columns": step.columns}]
    rows = [{"rule": step.rule, "table": step.table, "row": [encode(value) for value in row]} for row in step.rows]
    data = b"".join(json.dumps(line, ensure_ascii=False, allow_nan=False).encode() + b"\n" for line in [*header, *rows])
    size = os.fstat(file.descriptor).st_size
    try:
        _write_all(file.descriptor, data)
        os.fsync(file.descriptor)
    except OSError:
        os.ftruncate(file.descriptor, size)
        raise
    file.columns[key] = step.columns


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def read(path: str | os.PathLike[str]) -> Iterator[Archive]:
    """The rows of an archive, one a step, in the order of the file; a torn last line is left out.

    Raises:
        ValueError: a line is no part of an archive, or a row's columns were not named before it.
    """
    columns: dict[tuple[str, str], tuple[str, ...]] = {}
    with open(path, "rb") as file:
        for number, text in enumerate(file, 1):
            if not text.endswith(b"\n"):
                return
            try:
                line: dict[str, Any] = json.loads(text)
                key = line["rule"], line["table"]
                if line.get("archive") == 1:
                    columns[key] = tuple(line["columns"])
                else:
                    yield Archive(*key, columns[key], (tuple(map(decode, line["row"])),))
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise ValueError(f"{os.fspath(path)}, line {number} is no line of an archive: {error!r}") from error

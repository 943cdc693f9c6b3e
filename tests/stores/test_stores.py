"""Checkpoints: the old document or the new one, never a part, and garbage is told from nothing."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retention.errors import HostError, PolicyError
from retention.stores import FileStore, MemoryStore
from retention.stores import file as file_module

DOCUMENT = {"version": 1, "next": 0, "tables": {"deliveries": {"cursor": 4711, "high": "9007199254740993", "key": ["ü", 1]}}}


@pytest.fixture(params=["file", "memory"])
def store(request, tmp_path):
    return FileStore(tmp_path / "s.json") if request.param == "file" else MemoryStore()


def test_nothing_is_stored_at_first(store):
    assert store.load() is None


def test_what_was_saved_last_is_loaded(store):
    store.save({"version": 1})
    store.save(DOCUMENT)
    assert store.load() == DOCUMENT


def test_what_is_loaded_is_a_copy(store):
    store.save(DOCUMENT)
    store.load()["tables"].clear()
    assert store.load() == DOCUMENT


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), inner, max_size=3)
    ),
    max_leaves=10,
)


@settings(deadline=None)
@given(document=st.dictionaries(st.sampled_from(["version", "next", "tables", "x"]), JSON))
def test_any_document_comes_back(tmp_path_factory, document):
    store = FileStore(tmp_path_factory.mktemp("s") / "s.json")
    store.save(document)
    assert store.load() == document


REPLACED = [b"", b" \n", b"{", b'{"ver', b'{"version":1,"tables":{"t":{"cur', b"{}", b'{"version": 9}', b'{"version":0,"x":[]}']
KEPT = [
    b"notes\n", b"\xff\xfe", b"[1]", b"null", b'"x"', b"12", b"{}x", b"[" * 100_000, b'{"a":1', b'{"a": 1}', b'{"version": "1.0.0"}',
    b'{"version": true}', b"{ // settings\n}", b"SQLite format 3\0" + bytes(4_080), b'version = 1\n[[rules]]\ntable = "t"\n',
    b'{"archive": 1, "rule": "t", "table": "t", "columns": ["id"]}\n{"rule": "t", "table": "t", "row": [1]}\n',
]  # fmt: skip


@pytest.mark.parametrize("data", REPLACED)
def test_a_spoilt_checkpoint_is_replaced(tmp_path, data):
    path = tmp_path / "s.json"
    path.write_bytes(data)
    FileStore(path).check()
    FileStore(path).save(DOCUMENT)
    assert FileStore(path).load() == DOCUMENT


@pytest.mark.parametrize("data", KEPT)
def test_what_is_no_checkpoint_is_kept(tmp_path, data):
    path = tmp_path / "s.json"
    path.write_bytes(data)
    with pytest.raises(PolicyError, match="is not overwritten"):
        FileStore(path).check()
    for _ in range(2):
        with pytest.raises(HostError, match="is not overwritten") as caught:
            FileStore(path).save(DOCUMENT)
        assert (caught.value.kind, caught.value.retryable) == ("denied", False)
    assert path.read_bytes() == data
    assert os.listdir(tmp_path) == ["s.json"]


def test_a_directory_or_a_pipe_is_no_checkpoint(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(PolicyError, match="no regular file"):
            FileStore(path).check()
        with pytest.raises(HostError, match="no regular file"):
            FileStore(path).save(DOCUMENT)


@pytest.mark.parametrize("garbage", [b"", b"{", b"\xff\xfe", b"[1]", b"null", b'"x"', b"12", b"{}x", b"[" * 100_000, b'{"a":1'])
def test_garbage_is_told_as_such(tmp_path, garbage):
    path = tmp_path / "s.json"
    path.write_bytes(garbage)
    document = FileStore(path).load()
    assert document is not None
    assert list(document) == ["invalid"]
    assert str(path) in document["invalid"]


def test_the_file_is_the_owners_alone(tmp_path):
    FileStore(tmp_path / "s.json").save(DOCUMENT)
    assert stat.S_IMODE((tmp_path / "s.json").stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["s.json"]


def test_a_symbolic_link_stays_one(tmp_path):
    (tmp_path / "real").mkdir()
    link = tmp_path / "s.json"
    link.symlink_to(tmp_path / "real" / "state.json")
    FileStore(link).save(DOCUMENT)
    assert link.is_symlink()
    assert FileStore(tmp_path / "real" / "state.json").load() == DOCUMENT


@pytest.mark.parametrize(
    ("code", "kind"),
    [(errno.ENOSPC, "full"), (errno.EDQUOT, "full"), (errno.EROFS, "readonly"), (errno.EACCES, "denied"), (errno.EIO, "error")],
)
@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_save_that_fails_leaves_the_old_document_and_no_litter(tmp_path, monkeypatch, code, kind, call):
    store = FileStore(tmp_path / "s.json")
    store.save(DOCUMENT)

    def fail(*args):
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(file_module.os, call, fail)
        with pytest.raises(HostError, match=r"s\.json cannot be written") as caught:
            store.save({"version": 1})
    assert (caught.value.kind, caught.value.retryable) == (kind, False)
    assert store.load() == DOCUMENT
    assert os.listdir(tmp_path) == ["s.json"]


def test_a_missing_directory_is_a_host_error(tmp_path):
    with pytest.raises(HostError, match="cannot be written"):
        FileStore(tmp_path / "nowhere" / "s.json").save(DOCUMENT)


def test_a_file_that_cannot_be_read_is_not_taken_for_garbage(tmp_path):
    with pytest.raises(HostError, match="cannot be read"):
        FileStore(tmp_path).load()


def test_a_document_that_is_no_json_is_refused_before_the_file_is_touched(tmp_path):
    store = FileStore(tmp_path / "s.json")
    store.save(DOCUMENT)
    with pytest.raises(ValueError, match="JSON compliant"):
        store.save({"version": float("nan")})
    assert store.load() == DOCUMENT


def test_the_new_document_is_synced_before_it_replaces_the_old(tmp_path, monkeypatch):
    calls = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(file_module.os, "fsync", lambda d: (calls.append("fsync"), fsync(d)))
    monkeypatch.setattr(file_module.os, "replace", lambda a, b: (calls.append("replace"), replace(a, b)))
    FileStore(tmp_path / "s.json").save(DOCUMENT)
    assert calls == ["fsync", "replace", "fsync"]


def test_kill_9_at_any_moment_leaves_a_whole_document(tmp_path):
    path = tmp_path / "s.json"
    script = (
        "import sys; from retention.stores import FileStore; s = FileStore(sys.argv[1]); n = 0\n"
        "while True:\n    n += 1; s.save({'version': 1, 'n': n, 'pad': 'x' * 100000})\n    if n == 1: print(flush=True)"
    )
    for pause in (0.0, 0.004, 0.011, 0.02):
        child = subprocess.Popen([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE)
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(pause)
        child.kill()
        child.wait()
        child.stdout.close()
        document = FileStore(path).load()
        assert document is not None
        assert len(document["pad"]) == 100_000
    FileStore(path).save(DOCUMENT)
    assert os.listdir(tmp_path) == ["s.json"]


def test_what_a_killed_save_left_is_written_over(tmp_path):
    stale = tmp_path / ".s.json.tmp"
    stale.write_text("x" * 100_000)
    stale.chmod(0o644)
    FileStore(tmp_path / "s.json").save(DOCUMENT)
    assert FileStore(tmp_path / "s.json").load() == DOCUMENT
    assert stat.S_IMODE((tmp_path / "s.json").stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["s.json"]


def test_a_link_in_the_place_of_the_temporary_file_is_not_followed(tmp_path):
    (tmp_path / "victim").write_text("mine")
    (tmp_path / ".s.json.tmp").symlink_to(tmp_path / "victim")
    with pytest.raises(HostError, match="cannot be written"):
        FileStore(tmp_path / "s.json").save(DOCUMENT)
    assert (tmp_path / "victim").read_text() == "mine"


def test_savers_without_a_lock_leave_a_whole_document(tmp_path):
    path = tmp_path / "s.json"
    seen = []

    def saver(n):
        store = FileStore(path)
        for _ in range(40):
            store.save({"version": 1, "pad": str(n) * (1_000 * (n + 1))})
            seen.append(FileStore(path).load())

    threads = [threading.Thread(target=saver, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 160
    assert all(len(set(document["pad"])) == 1 and len(document["pad"]) % 1_000 == 0 for document in seen)
    assert os.listdir(tmp_path) == ["s.json"]

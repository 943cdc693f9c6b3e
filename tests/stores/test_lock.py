"""One runner at a time, and a dead one blocks nobody."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from contextlib import contextmanager

import pytest

from retention.errors import HostError
from retention.stores import StateLock
from retention.stores import lock as lock_module

HOLD = "import sys; from retention.stores import StateLock; StateLock(sys.argv[1]).acquire(); print(flush=True); sys.stdin.read()"


@contextmanager
def another_process(state):
    child = subprocess.Popen([sys.executable, "-c", HOLD, str(state)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdin is not None
    try:
        child.stdout.readline()
        yield child
    finally:
        child.kill()
        child.wait()
        child.stdin.close()
        child.stdout.close()


def test_the_second_process_is_busy_at_once_and_told_by_whom(tmp_path):
    state = tmp_path / "s.json"
    with another_process(state) as child, pytest.raises(HostError) as caught:
        StateLock(state).acquire()
    assert (caught.value.kind, caught.value.retryable, caught.value.exit_status) == ("busy", True, 75)
    assert f"pid {child.pid} on {os.uname().nodename}" in str(caught.value)
    assert "s.json.lock" in str(caught.value)


def test_a_dead_process_does_not_block(tmp_path):
    state = tmp_path / "s.json"
    with another_process(state) as child:
        child.kill()
        child.wait()
        with StateLock(state):
            assert (tmp_path / "s.json.lock").read_text().startswith(f"pid {os.getpid()} on ")


def test_two_in_one_process_exclude_each_other(tmp_path):
    state = tmp_path / "s.json"
    first = StateLock(state)
    with first:
        with pytest.raises(HostError, match="another run"):
            StateLock(state).acquire()
        with pytest.raises(HostError, match="another run"):
            first.acquire()
    with StateLock(state):
        pass


def test_release_can_be_repeated(tmp_path):
    lock = StateLock(tmp_path / "s.json")
    lock.acquire()
    lock.release()
    lock.release()
    lock.acquire()
    lock.release()


def test_a_link_to_the_state_shares_its_lock(tmp_path):
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "s.json")
    with StateLock(tmp_path / "s.json"), pytest.raises(HostError, match="another run"):
        StateLock(link).acquire()


def test_different_states_are_free(tmp_path):
    with StateLock(tmp_path / "a.json"), StateLock(tmp_path / "b.json"):
        pass


def test_the_lock_file_is_the_owners_alone_and_the_state_is_not_made(tmp_path):
    with StateLock(tmp_path / "s.json"):
        assert os.listdir(tmp_path) == ["s.json.lock"]
        assert stat.S_IMODE((tmp_path / "s.json.lock").stat().st_mode) == 0o600


def test_an_older_longer_text_is_replaced(tmp_path):
    (tmp_path / "s.json.lock").write_text("pid " + "x" * 500)
    with StateLock(tmp_path / "s.json"):
        assert (tmp_path / "s.json.lock").read_text().count("x") <= 1


def test_somebody_elses_file_is_locked_and_left_as_it_is(tmp_path):
    (tmp_path / "s.lock").write_text("[[package]]\n")
    with StateLock(tmp_path / "s"), pytest.raises(HostError, match=r"another run holds .*s\.lock; "):
        StateLock(tmp_path / "s").acquire()
    assert (tmp_path / "s.lock").read_text() == "[[package]]\n"


def test_a_released_lock_leaves_no_file(tmp_path):
    with StateLock(tmp_path / "s.json"):
        pass
    assert os.listdir(tmp_path) == []


def test_a_lock_on_a_removed_file_is_none(tmp_path, monkeypatch):
    """The holder lets go between our opening and our lock: the file that we opened is not the one that the next comer opens."""
    state, first = tmp_path / "s.json", StateLock(tmp_path / "s.json")
    first.acquire()
    flock, calls = lock_module.fcntl.flock, []

    def late(descriptor, how):
        if not calls:
            first.release()
        calls.append(how)
        flock(descriptor, how)

    with monkeypatch.context() as patch:
        patch.setattr(lock_module.fcntl, "flock", late)
        second = StateLock(state)
        second.acquire()
    assert len(calls) == 2
    with pytest.raises(HostError, match="another run"):
        StateLock(state).acquire()
    second.release()


@pytest.mark.parametrize("call", ["pwrite", "ftruncate"])
def test_a_full_disk_does_not_keep_the_lock_from_holding(tmp_path, monkeypatch, call):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(lock_module.os, call, full)
    with StateLock(tmp_path / "s.json"), pytest.raises(HostError, match="another run"):
        StateLock(tmp_path / "s.json").acquire()
    assert os.listdir(tmp_path) == []


def test_a_full_disk_on_which_no_lock_can_be_made(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(lock_module.os, "open", full)
    with pytest.raises(HostError, match="cannot be opened") as caught:
        StateLock(tmp_path / "s.json").acquire()
    assert (caught.value.kind, caught.value.exit_status) == ("full", 1)


def test_a_missing_directory_is_a_host_error(tmp_path):
    with pytest.raises(HostError, match="cannot be opened"):
        StateLock(tmp_path / "nowhere" / "s.json").acquire()

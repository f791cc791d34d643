"""Locks: held by one process, and gone with it."""

import errno
import os
import signal
import subprocess
import sys

import pytest

from featsieve.io.locks import LockedError, locked

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes of Unix")

HOLD = """
import sys, time
from pathlib import Path
from featsieve.io.locks import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_lock_is_held_by_one_and_leaves_nothing(tmp_path):
    for place in (tmp_path, tmp_path / "mine.lock"):
        with locked(place):
            with pytest.raises(LockedError, match="Another process writes to"), locked(place):
                pytest.fail("held twice")
            assert len(os.listdir(tmp_path)) == 1
        assert os.listdir(tmp_path) == []


@pytest.mark.slow
def test_a_killed_process_holds_nothing(tmp_path):
    command = [sys.executable, "-c", HOLD, tmp_path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(LockedError), locked(tmp_path):
            pytest.fail("held by another process")
        other.send_signal(signal.SIGKILL)
    with locked(tmp_path):
        assert os.listdir(tmp_path) == [".lock"]
    assert os.listdir(tmp_path) == []


def test_a_disk_without_locks_gets_a_warning(tmp_path, monkeypatch):
    def refuse(*arguments):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", refuse)
    message = "cannot be locked .*: let no two commands write to it"
    with pytest.warns(UserWarning, match=message), locked(tmp_path):
        pass
    assert os.listdir(tmp_path) == []


def test_without_filelock_the_error_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "filelock", None)
    message = r"needs filelock: .* 'featsieve\[cli\]'"
    with pytest.raises(ImportError, match=message), locked(tmp_path):
        pass

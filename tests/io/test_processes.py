"""Processes: alive, dead, dead without anybody looking, with a number used again, elsewhere."""

import os
import subprocess
import sys

import pytest

from featsieve.io import processes
from featsieve.io.processes import Process, is_alive, this_machine, this_process

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks /proc")

ASK = "from featsieve.io.processes import this_process; print(this_process())"


def ask(*words):
    """Return what another process calls itself."""
    done = subprocess.run([*words, sys.executable, "-c", ASK], capture_output=True, text=True)
    return Process.parse(done.stdout.strip()), done


def test_from_its_start_to_its_end_a_process_is_alive():
    sleeper = subprocess.Popen(["sleep", "60"])
    try:
        assert is_alive(sleeper.pid)
        start = this_process().start  # not that of the sleeper: somebody else had this number
        assert not is_alive(sleeper.pid, start=start - 1)
        assert not Process(this_machine(), sleeper.pid, start - 1).is_alive()
    finally:
        sleeper.kill()
    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)  # dead, and left as it is
    assert not is_alive(sleeper.pid)
    sleeper.wait()
    assert not is_alive(sleeper.pid)
    assert Process(this_machine(), sleeper.pid, 0).is_alive() is False


def test_a_process_of_somebody_else_is_alive():
    assert is_alive(1)


def test_a_number_that_no_process_can_have():
    assert not is_alive(2**80)


def test_a_process_knows_its_own_name():
    me = this_process()
    assert (me.number, me.is_alive()) == (os.getpid(), True)
    assert Process.parse(str(me)) == me
    child, _ = ask()
    assert child.machine == me.machine
    assert child.start >= me.start > 0
    assert child.is_alive() is False


@pytest.mark.parametrize(
    "word", ["", "12", "3fa9c1d2-12", "3FA9C1D2-12-1", "3fa9c1d2-٣-1", "a-1-2"]
)
def test_other_words_are_no_processes(word):
    assert Process.parse(word) is None


def test_of_another_machine_nobody_can_tell():
    """A container counts its processes for itself, under the name of the machine or another one."""
    assert Process("00000000", os.getpid(), 0).is_alive() is None
    try:
        inside, done = ask("unshare", "--pid", "--fork", "--mount-proc")
    except FileNotFoundError:
        pytest.skip("needs unshare")
    if inside is None:
        pytest.skip(f"no container can be made here: {done.stderr}")
    assert inside.machine != this_machine()
    assert inside.is_alive() is None


def test_machines_of_the_same_name_are_told_apart(tmp_path, monkeypatch):
    """Two hosts called localhost, whose processes are counted under the same number."""
    words = {this_machine()}
    for name in ("one", "two"):
        (tmp_path / name).write_text(f"{name}\n")
        monkeypatch.setattr(processes, "BOOT", tmp_path / name)
        words.add(this_machine())
    monkeypatch.setattr(processes, "BOOT", tmp_path / "not there")
    words.add(this_machine())
    assert len(words) == 4
    assert {len(word) for word in words} == {8}

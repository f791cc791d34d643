"""Numbers of processes: alive, dead, dead without anybody looking, and used again."""

import os
import subprocess
import sys
import time

import pytest

from featsieve.processes import SLACK, is_alive

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks /proc")


def test_from_its_start_to_its_end_a_process_is_alive():
    sleeper = subprocess.Popen(["sleep", "60"])
    now = time.time()
    try:
        assert is_alive(sleeper.pid, since=now)
        # it was not there then: somebody else had this number
        assert not is_alive(sleeper.pid, since=now - SLACK - 10.0)
    finally:
        sleeper.kill()
    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)  # dead, and left as it is
    assert not is_alive(sleeper.pid, since=now)
    sleeper.wait()
    assert not is_alive(sleeper.pid, since=now)


def test_a_process_of_somebody_else_is_alive():
    assert is_alive(1, since=time.time())

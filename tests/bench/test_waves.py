"""Every cell gets an outcome: after crashes, and beside other runs."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from featsieve.bench.plan import load_plan
from featsieve.bench.progress import Progress
from featsieve.bench.run import run_plan
from featsieve.bench.store import Store
from featsieve.io.temporary import maker_of
from tests.bench.test_run import write_plan
from tests.bench.test_store import sleeper_at_work

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes of Unix")

# The first one takes longer than anybody waits.
TWO = """
datasets = ["iris"]
experiments = ["default"]
counts = [2]
kmeans_seeds = 3
methods = [
    {name = "guilty", selector = "NDFS", params = {max_iter = 100000000, tol = 0.0}},
    {name = "innocent", selector = "MaxVariance"},
]
"""
ONE = TWO.replace("max_iter = 100000000, tol = 0.0", "")


def two_cells(folder, text):
    plan = load_plan(write_plan(folder, text))
    return plan, {cell.method: cell for cell in plan.cells({"iris": (150, 4, 3)})}


class Killer(threading.Thread):
    """Kill the process of whoever begins a certain cell, the first time with one at another."""

    def __init__(self, out, cell, beside):
        super().__init__(daemon=True)
        self.pattern, self.folder, self.beside = f".{cell.id}.*.tmp", out / "cells", beside
        self.killed, self.stop = set(), False
        self.spared = os.getpid()  # it is the one that records the failure

    def run(self):
        while not self.stop:
            paths = []
            with contextlib.suppress(OSError):  # the folder appears, and files go, as one looks
                paths = list(self.folder.glob(self.pattern))
            for path in paths:
                process = maker_of(path)
                number = process.number
                if number not in self.killed and number != self.spared:
                    with contextlib.suppress(ProcessLookupError, FileNotFoundError):
                        if not self.killed:
                            (self.folder / f".{self.beside.id}.{process}-0123abcd.tmp").touch()
                        os.kill(number, signal.SIGKILL)
                        self.killed.add(number)
            time.sleep(0.001)


def test_a_cell_that_kills_its_process_is_found_and_the_rest_is_run(tmp_path):
    plan, cells = two_cells(tmp_path, TWO)
    out = tmp_path / "out"
    killer = Killer(out, cells["guilty"], beside=cells["innocent"])
    killer.start()
    try:
        summary = run_plan(plan, out)
    finally:
        killer.stop = True
        killer.join()
    assert len(killer.killed) == 2  # beside others, and alone
    statuses = {name: Store(out).status(cell.id) for name, cell in cells.items()}
    assert statuses == {"innocent": "done", "guilty": "failed"}
    assert list(out.rglob(".*")) == []
    rows = Store(out).read().set_index("method")
    assert "its process died" in rows.loc["guilty", "reason"]
    assert len(summary.failures) == 1
    assert summary.computed == len(cells)


class Witness(Progress):
    """End another process some time after it is said that it is waited for."""

    def __init__(self, sleeper):
        super().__init__()
        self.sleeper, self.heard = sleeper, []

    def say(self, text):
        self.heard.append(text)

    def tick(self):
        super().tick()
        if self.heard:
            self.sleeper.kill()
            self.sleeper.wait()


def test_a_cell_of_another_run_is_waited_for_and_run_if_that_one_dies(tmp_path):
    plan, cells = two_cells(tmp_path, ONE)
    out = tmp_path / "out"
    with sleeper_at_work(out, cells["guilty"]) as sleeper:
        witness = Witness(sleeper)
        summary = run_plan(plan, out, progress=witness)
    assert witness.heard == ["Another run works on 1 cell: waiting for it."]
    assert summary.statuses == {"done": 2}
    assert summary.computed == 2
    assert list(out.rglob(".*")) == []


def test_workers_that_never_begin_end_in_one_sentence(tmp_path):
    # python looks for this file whenever it starts
    (tmp_path / "sitecustomize.py").write_text(
        "import os, sys\nif any('loky' in word for word in sys.orig_argv): os._exit(3)\n"
    )
    plan = write_plan(tmp_path, ONE)
    ended = subprocess.run(
        [sys.executable, "-m", "featsieve", "bench", "run", plan, "--out", tmp_path / "out"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ended.returncode == 2
    assert "trying again" in ended.stderr
    assert "featsieve: Worker processes end before they begin any work" in ended.stderr
    assert "Traceback" not in ended.stderr

"""A run: each cell once, whatever is killed; failures recorded; what is missing left for later."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest
from joblib import cpu_count

from featsieve.bench.plan import load_plan
from featsieve.bench.progress import Progress
from featsieve.bench.run import _threads, run_plan
from featsieve.bench.store import Store

TINY = """
title = "Tiny"
datasets = ["iris", "planted_small"]
experiments = ["default", "grid", "label-free", "curve"]
counts = [2, 4]
kmeans_seeds = 3

[[methods]]
name = "MaxVariance"
selector = "MaxVariance"
control = true

[[methods]]
name = "NDFS"
selector = "NDFS"
grid = { alpha = [0.01, 1.0, 100.0], beta = [0.01, 1.0, 100.0] }
"""

# What differs from run to run without being wrong.
TIMINGS = ["fit_seconds", "evaluate_seconds", "peak_mib", "iteration_seconds", "started"]

posix = pytest.mark.skipif(os.name != "posix", reason="signals of Unix")


def write_plan(folder, text=TINY, name="tiny"):
    path = folder / f"{name}.toml"
    path.write_text(text)
    return path


def shapes():
    return {"iris": (150, 4, 3), "planted_small": (80, 30, 3)}


class Recorder(Progress):
    """Remember the cells in the order in which they were run."""

    def __init__(self):
        super().__init__()
        self.cells = []

    def advance(self, cell, **about):
        super().advance(cell, **about)
        self.cells.append(cell)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return a plan, and the folder and the summary of its run without any disturbance."""
    folder = tmp_path_factory.mktemp("whole")
    plan = write_plan(folder)
    return plan, folder / "out", run_plan(plan, folder / "out")


def start(plan, out):
    """Start the command with two jobs in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "featsieve", "bench", "run", plan, "--out", out, "--jobs", "2"],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )


def wait_for(condition, seconds=60.0):
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, "it never happened"
        time.sleep(0.005)


def parts(out):
    return sorted((out / "cells").glob("*.parquet"))


def same_results(one, other):
    drop = {"columns": TIMINGS}
    pd.testing.assert_frame_equal(Store(one).read().drop(**drop), Store(other).read().drop(**drop))


def group_is_gone(number):
    try:
        os.killpg(number, 0)
    except ProcessLookupError:
        return True
    return False


def test_a_plan_is_run_whole_and_once(whole):
    plan, out, summary = whole
    rows = Store(out).read()
    independent = load_plan(plan).cells(shapes())
    dependent = load_plan(plan).dependent_cells(rows)
    assert len(dependent) == 2 * 2 * 2  # data sets, methods, label-free and curve
    assert {cell.id for cell in [*independent, *dependent]} == set(rows["cell"])
    assert len(parts(out)) == rows["cell"].nunique() == summary.total == summary.computed
    assert summary.statuses == {"done": summary.total}
    assert summary.left_out == {}
    assert summary.failures == ()
    assert (out / "plan.toml").read_text() == TINY
    assert Store(out).begun() == set()


def test_cells_of_a_data_set_come_together_and_the_largest_first(tmp_path):
    text = TINY.replace('"default", "grid", "label-free", "curve"', '"default", "time"')
    recorder = Recorder()
    run_plan(write_plan(tmp_path, text), tmp_path / "out", progress=recorder)
    order = [(cell.dataset, cell.experiment, cell.method) for cell in recorder.cells]
    assert order == [
        (dataset, experiment, method)
        for dataset in ("planted_small", "iris")  # 2400 and 600 entries
        for experiment in ("default", "time")
        for method in ("MaxVariance", "NDFS")
    ]


def test_jobs_times_threads_is_at_most_cores(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    cores = cpu_count()
    assert _threads(1) == cores
    for jobs in range(1, 2 * cores):
        assert _threads(jobs) * jobs <= max(cores, jobs)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert _threads(1) == 1
    monkeypatch.setenv("OMP_NUM_THREADS", str(10 * cores))
    assert _threads(1) == cores


def test_running_again_computes_nothing_and_touches_no_part(whole):
    plan, out, first = whole
    before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in parts(out)}
    progress = Progress()
    again = run_plan(plan, out, progress=progress)
    assert again.computed == 0
    assert again.statuses == first.statuses
    assert (progress.done, progress.total) == (first.total, first.total)
    assert before == {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in parts(out)}


@posix
def test_killed_in_the_middle_it_goes_on_where_it_stopped(whole, tmp_path):
    plan, undisturbed, _ = whole
    out = tmp_path / "out"
    run = start(plan, out)
    wait_for(lambda: len(parts(out)) >= 2)
    os.killpg(run.pid, signal.SIGKILL)
    run.communicate()
    before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in parts(out)}
    assert 2 <= len(before) < len(parts(undisturbed)), "it was to be killed in the middle"

    again = run_plan(plan, out)
    assert {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in before} == before
    assert [path.name for path in parts(out)] == [path.name for path in parts(undisturbed)]
    assert again.computed == len(parts(out)) - len(before)
    assert list(out.rglob(".*")) == []
    same_results(out, undisturbed)


@posix
def test_when_only_the_parent_is_killed_the_workers_follow(whole, tmp_path):
    plan, _, _ = whole
    run = start(plan, tmp_path / "out")
    wait_for(lambda: len(parts(tmp_path / "out")) >= 1)
    os.kill(run.pid, signal.SIGKILL)
    run.communicate()
    wait_for(lambda: group_is_gone(run.pid), seconds=20.0)


@posix
def test_interrupted_it_says_how_far_it_came_and_leaves_nobody_behind(whole, tmp_path):
    plan, _, _ = whole
    out = tmp_path / "out"
    run = start(plan, out)
    wait_for(lambda: len(parts(out)) >= 2)
    os.killpg(run.pid, signal.SIGINT)  # as Ctrl-C does: parent and workers
    _, told = run.communicate(timeout=30.0)
    assert run.returncode == 130
    assert "cells done; run the same command again to go on" in told
    assert "Traceback" not in told
    wait_for(lambda: group_is_gone(run.pid), seconds=20.0)
    assert list(out.rglob(".*")) == []
    assert len(Store(out).finished()) >= 2


class Killer(threading.Thread):
    """Kill the process of whoever begins a certain cell."""

    def __init__(self, out, cell):
        super().__init__(daemon=True)
        self.pattern, self.folder = f".{cell.id}.*.tmp", out / "cells"
        self.killed, self.stop = set(), False
        self.spared = os.getpid()  # it is the one that records the failure

    def run(self):
        while not self.stop:
            for path in self.folder.glob(self.pattern):
                number = int(path.name.split(".")[-2])
                if number not in self.killed and number != self.spared:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(number, signal.SIGKILL)
                        self.killed.add(number)
            time.sleep(0.001)


@posix
def test_a_cell_that_kills_its_process_is_found_and_the_rest_is_run(tmp_path):
    # slow enough to be caught
    text = """
        datasets = ["digits"]
        experiments = ["default"]
        counts = [2]
        kmeans_seeds = 3
        methods = [
            {name = "innocent", selector = "NDFS"},
            {name = "guilty", selector = "NDFS"},
        ]
    """
    plan = load_plan(write_plan(tmp_path, text))
    cells = {cell.method: cell for cell in plan.cells({"digits": (1797, 64, 10)})}
    out = tmp_path / "out"
    killer = Killer(out, cells["guilty"])
    killer.start()
    try:
        summary = run_plan(plan, out, jobs=2)
    finally:
        killer.stop = True
        killer.join()
    assert len(killer.killed) >= 2  # beside others, and alone
    statuses = {name: Store(out).status(cell.id) for name, cell in cells.items()}
    assert statuses == {"innocent": "done", "guilty": "failed"}
    assert list(out.rglob(".*")) == []
    rows = Store(out).read().set_index("method")
    assert "its process died" in rows.loc["guilty", "reason"]
    assert len(summary.failures) == 1
    assert summary.computed == len(cells)
    used = re.findall(r"(\d+) threads?", rows.loc["innocent", "versions"])
    assert used
    assert all(2 * int(threads) <= max(2, cpu_count()) for threads in used)


def test_failures_are_recorded_with_their_reason_and_run_again_only_on_request(tmp_path):
    broken = TINY + '\n[[methods]]\nname = "Broken"\nselector = "NDFS"\nparams = { alpha = -1.0 }\n'
    plan = write_plan(tmp_path, broken)
    summary = run_plan(plan, tmp_path / "out")
    rows = Store(tmp_path / "out").read()
    failed = rows[rows["method"] == "Broken"]
    assert set(failed["status"]) == {"failed"}
    assert failed["reason"].str.contains("alpha").all()
    assert set(rows.loc[rows["method"] != "Broken", "status"]) == {"done"}
    assert summary.statuses["failed"] == failed["cell"].nunique() == len(summary.failures) > 0
    assert "Broken on iris" in " ".join(summary.failures)
    assert run_plan(plan, tmp_path / "out").computed == 0
    again = run_plan(plan, tmp_path / "out", retry=True)
    assert again.computed == summary.statuses["failed"]
    assert again.statuses == summary.statuses


@posix
def test_what_takes_too_long_is_recorded_and_the_rest_is_run(tmp_path):
    slow = """
        datasets = ["digits", "iris"]
        experiments = ["default"]
        counts = [2]
        kmeans_seeds = 3
        cell_seconds = 0.2
        methods = [{name = "RSFS", selector = "RSFS"}]
    """
    plan = write_plan(tmp_path, slow)
    summary = run_plan(plan, tmp_path / "out")
    rows = Store(tmp_path / "out").read().set_index("dataset")
    assert rows.loc["digits", "status"] == "timeout"
    assert "0.2 s" in rows.loc["digits", "reason"]
    assert rows.loc["iris", "status"] == "done"
    assert summary.statuses == {"timeout": 1, "done": 1}


def test_a_data_set_that_is_away_is_left_for_later(tmp_path, monkeypatch):
    monkeypatch.delenv("FEATSIEVE_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    text = TINY.replace('"planted_small"', '"later.npz"')
    plan = write_plan(tmp_path, text)
    heard = []
    progress = Progress()
    progress.say = heard.append
    first = run_plan(plan, tmp_path / "out", progress=progress)
    assert list(first.left_out) == ["later.npz"]
    assert "later.npz" in first.left_out["later.npz"]
    assert any("later.npz is left out" in line for line in heard)
    assert set(Store(tmp_path / "out").read()["dataset"]) == {"iris"}

    rng = np.random.default_rng(0)
    np.savez("later.npz", X=rng.normal(size=(40, 6)), y=np.arange(40) % 3)
    second = run_plan(plan, tmp_path / "out")
    assert second.left_out == {}
    assert second.total == first.total + second.computed
    assert set(Store(tmp_path / "out").read()["dataset"]) == {"iris", "later.npz"}

    # and what was computed stays in the results when it is away again
    os.remove("later.npz")
    run_plan(plan, tmp_path / "out")
    assert set(Store(tmp_path / "out").read()["dataset"]) == {"iris", "later.npz"}


def test_without_any_data_set_nothing_is_run(tmp_path):
    plan = write_plan(tmp_path, TINY.replace('"iris", "planted_small"', '"nowhere.npz"'))
    with pytest.raises(FileNotFoundError, match=r"None of the data sets can be loaded.*nowhere"):
        run_plan(plan, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_another_plan_in_the_same_folder_reuses_what_is_there(whole, tmp_path):
    _, undisturbed, first = whole
    out = tmp_path / "out"
    (out / "cells").mkdir(parents=True)
    for path in parts(undisturbed):
        (out / "cells" / path.name).write_bytes(path.read_bytes())
    fewer = write_plan(tmp_path, TINY.replace('"iris", "planted_small"', '"iris"'), name="fewer")
    summary = run_plan(fewer, out)
    assert summary.computed == 0
    assert summary.total == first.total / 2
    rows = Store(out).read()
    assert set(rows["dataset"]) == {"iris"}
    assert set(rows["plan"]) == {"fewer"}
    assert len(parts(out)) == first.total


def test_a_damaged_part_is_named_and_run_again(whole, tmp_path):
    plan, undisturbed, first = whole
    out = tmp_path / "out"
    (out / "cells").mkdir(parents=True)
    for path in parts(undisturbed):
        (out / "cells" / path.name).write_bytes(path.read_bytes())
    damaged = parts(out)[0]
    damaged.write_bytes(damaged.read_bytes()[:-10])
    summary = run_plan(plan, out)
    assert list(summary.unreadable) == [damaged.name]
    assert summary.computed == 1
    assert summary.total == first.total
    same_results(out, undisturbed)


@pytest.mark.parametrize("jobs", [0, -2])
def test_a_wrong_number_of_jobs_is_refused(tmp_path, jobs):
    with pytest.raises(ValueError, match="jobs must be"):
        run_plan("smoke", tmp_path, jobs=jobs)


def test_a_wrong_folder_of_data_is_refused(tmp_path):
    with pytest.raises(ValueError, match="is not a folder"):
        run_plan("smoke", tmp_path, data=tmp_path / "nowhere")

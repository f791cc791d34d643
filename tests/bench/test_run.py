"""A run: each cell once, whatever is killed; failures recorded; what is missing left for later."""

import importlib
import json
import linecache
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from featsieve.bench import run as run_module
from featsieve.bench.methods import code_of, defaults_of
from featsieve.bench.parse import load_plan
from featsieve.bench.run import BenchProgress, run_plan
from featsieve.bench.store import Store

TINY = """
title = "Tiny"
datasets = ["iris", "planted_small"]
experiments = ["default", "grid", "label-free"]
counts = [2, 4]
kmeans_seeds = 3

[[methods]]
name = "MaxVariance"
selector = "MaxVariance"
control = true

[[methods]]
name = "NDFS"
selector = "NDFS"
grid = { alpha = [0.01, 1.0, 100.0] }
"""

# What differs from run to run without being wrong.
TIMINGS = ["fit_seconds", "evaluate_seconds", "started", "jobs", "versions"]

posix = pytest.mark.skipif(os.name != "posix", reason="signals of Unix")


OUTSIDE = """
title = "From outside"
datasets = ["iris"]
experiments = ["default"]
counts = [2]
kmeans_seeds = 2

[[methods]]
name = "Mine"
selector = "changing_method:Mine"

[[methods]]
name = "MaxVariance"
selector = "MaxVariance"
"""


def write_plan(folder, text=TINY, name="tiny"):
    path = folder / f"{name}.toml"
    path.write_text(text)
    return path


def shapes():
    return {"iris": (150, 4, 3), "planted_small": (80, 30, 3)}


@pytest.fixture(autouse=True)
def in_this_process(request, monkeypatch):
    """Run cells without worker processes, whose start takes long, except in slow tests."""
    if "slow" not in request.keywords:
        monkeypatch.setattr(run_module, "run_cells", run_here)


def run_here(compute, cells, **how):
    """Do what `run_cells` does, in this process."""
    for cell in cells:
        yield cell, compute(cell)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return a plan, and the folder and the summary of its run without any disturbance."""
    folder = tmp_path_factory.mktemp("whole")
    plan = write_plan(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_module, "run_cells", run_here)
        return plan, folder / "out", run_plan(plan, folder / "out")


def test_results_of_another_folder_are_taken_and_the_rest_is_run(whole, tmp_path):
    plan, out, summary = whole
    half = tmp_path / "half.jsonl"
    half.write_bytes(b"".join(lines(out)[::2]))
    again = run_plan(plan, tmp_path / "out", rows=[half])
    assert again.computed == summary.computed - len(lines(out)[::2])
    assert again.statuses == summary.statuses


def start(plan, out, *, jobs):
    """Start the command in a process group of its own."""
    command = [sys.executable, "-m", "featsieve", "bench", "run", plan, "--out", out]
    return subprocess.Popen(
        [*command, "--jobs", str(jobs)],
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


def lines(out):
    """Return the finished cells, a line each."""
    path = out / "cells.jsonl"
    return path.read_bytes().splitlines(keepends=True) if path.exists() else []


def same_results(one, other):
    drop = {"columns": TIMINGS}
    pd.testing.assert_frame_equal(Store(one).read().drop(**drop), Store(other).read().drop(**drop))


def group_is_gone(number):
    try:
        os.killpg(number, 0)
    except ProcessLookupError:
        return True
    return False


def test_other_code_of_a_method_from_outside_is_other_work(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    plan = write_plan(tmp_path, OUTSIDE)
    computed = []
    for base, helper in (("pass", 1), ("pass", 1), ("pass", 2), ("extra = 3", 2), ("pass", 1)):
        (tmp_path / "changing_base.py").write_text(
            f"from featsieve import MaxVariance\n\nclass Base(MaxVariance):\n    {base}\n"
        )
        (tmp_path / "changing_method.py").write_text(
            "from changing_base import Base\n\nclass Mine(Base):\n    pass\n\n"
            f"def helper():\n    return {helper}\n"
        )
        for name in ("changing_base", "changing_method"):  # as in another process
            sys.modules.pop(name, None)
        linecache.clearcache()
        importlib.invalidate_caches()
        for known in (code_of, defaults_of):
            known.cache_clear()
        computed.append(run_plan(plan, tmp_path / "out").computed)
    # Ours is run once; a result is found again when the code is what it was.
    assert computed == [2, 0, 1, 1, 0]


def test_a_plan_is_run_whole_and_once(whole):
    plan, out, summary = whole
    rows = Store(out).read()
    independent = load_plan(plan).cells(shapes())
    dependent = load_plan(plan).dependent_cells(rows, shapes())
    assert len(dependent) == 2 * 2  # data sets, methods
    assert {cell.id for cell in [*independent, *dependent]} == set(rows["cell"])
    assert len(lines(out)) == rows["cell"].nunique() == summary.total == summary.computed
    assert summary.statuses == {"done": summary.total}
    assert summary.flawless
    about = Store(out).about()
    assert set(about["cells"]) == set(rows["cell"])
    assert list(out.rglob(".*")) == []


@pytest.mark.slow
def test_data_sets_come_together_the_largest_first_and_times_are_taken_last_and_alone(tmp_path):
    text = TINY.replace('"default", "grid", "label-free"', '"default", "time"')
    run_plan(write_plan(tmp_path, text), tmp_path / "out", jobs=2)
    first = [rows[0] for rows in Store(tmp_path / "out").cells().values()]
    order = [(row["experiment"], row["dataset"]) for row in first]
    assert {experiment for experiment, _ in order[:4]} == {"default"}  # two at a time
    assert order[4:] == [("time", "planted_small")] * 2 + [("time", "iris")] * 2
    rows = Store(tmp_path / "out").read()
    assert set(rows.loc[rows["experiment"] == "default", "jobs"]) == {2}
    times = rows[rows["experiment"] == "time"]
    assert set(times["jobs"]) == {1}
    assert all(json.loads(text)["blas"].endswith(", 1 thread") for text in times["versions"])


def test_running_again_computes_and_writes_nothing(whole):
    plan, out, first = whole
    before = lines(out)
    progress = BenchProgress()
    again = run_plan(plan, out, progress=progress)
    assert again.computed == 0
    assert again.statuses == first.statuses
    assert (progress.done, progress.total) == (first.total, first.total)
    assert lines(out) == before


@pytest.mark.slow
@posix
def test_when_it_is_killed_its_workers_follow_and_the_next_run_goes_on(whole, tmp_path):
    plan, undisturbed, _ = whole
    out = tmp_path / "out"
    run = start(plan, out, jobs=2)
    wait_for(lambda: len(lines(out)) >= 2)
    os.kill(run.pid, signal.SIGKILL)  # nobody tells the workers
    run.communicate()
    wait_for(lambda: group_is_gone(run.pid), seconds=20.0)
    before = [line for line in lines(out) if line.endswith(b"\n")]
    assert 2 <= len(before) < len(lines(undisturbed)), "it was to be killed in the middle"

    again = run_plan(plan, out)
    assert lines(out)[: len(before)] == before
    assert len(lines(out)) == len(lines(undisturbed))
    assert again.computed == len(lines(out)) - len(before)
    assert list(out.rglob(".*")) == []
    same_results(out, undisturbed)


@pytest.mark.slow
@posix
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_terminated_it_says_how_far_it_came_and_leaves_nobody_behind(whole, tmp_path, number, code):
    plan, _, _ = whole
    out = tmp_path / "out"
    run = start(plan, out, jobs=1)
    wait_for(lambda: len(lines(out)) >= 2)
    os.kill(run.pid, number)
    _, told = run.communicate(timeout=30.0)
    assert run.returncode == code
    assert "cells done; run the same command again to go on" in told.splitlines()[-1]
    assert "Traceback" not in told
    wait_for(lambda: group_is_gone(run.pid), seconds=20.0)
    assert list(out.rglob(".*")) == []
    assert len(Store(out).statuses()) >= 2


def test_failures_are_recorded_with_their_reason_and_run_again_only_on_request(tmp_path):
    one = TINY.replace('"iris", "planted_small"', '"iris"')
    broken = one + '\n[[methods]]\nname = "Broken"\nselector = "NDFS"\nparams = { alpha = -1.0 }\n'
    plan = write_plan(tmp_path, broken)
    summary = run_plan(plan, tmp_path / "out")
    rows = Store(tmp_path / "out").read()
    failed = rows[rows["method"] == "Broken"]
    assert set(failed["status"]) == {"failed"}
    assert failed["reason"].str.contains("alpha").all()
    assert summary.statuses["failed"] == failed["cell"].nunique() == len(summary.failures) > 0
    assert "Broken on iris" in " ".join(summary.failures)
    assert run_plan(plan, tmp_path / "out").computed == 0
    again = run_plan(plan, tmp_path / "out", retry=True)
    assert again.computed == summary.statuses["failed"]
    assert again.statuses == summary.statuses


def test_what_takes_too_long_is_recorded_and_the_rest_is_run(tmp_path):
    slow = """
        datasets = ["iris"]
        experiments = ["default"]
        counts = [2]
        kmeans_seeds = 3
        cell_seconds = 1.0
        methods = [
            {name = "endless", selector = "NDFS", params = {tol = 0.0, max_iter = 1000000000}},
            {name = "quick", selector = "MaxVariance"},
        ]
    """
    plan = write_plan(tmp_path, slow)
    summary = run_plan(plan, tmp_path / "out")
    rows = Store(tmp_path / "out").read().set_index("method")
    assert rows.loc["endless", "status"] == "timeout"
    assert "1 s" in rows.loc["endless", "reason"]
    assert rows.loc["quick", "status"] == "done"
    assert summary.statuses == {"timeout": 1, "done": 1}


def test_a_data_set_that_is_away_is_left_for_later(tmp_path, monkeypatch):
    monkeypatch.delenv("FEATSIEVE_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    text = TINY.replace('"planted_small"', '"later.npz"')
    plan = write_plan(tmp_path, text.replace('"default", "grid", "label-free"', '"default"'))
    heard = []
    progress = BenchProgress()
    progress.say = heard.append
    first = run_plan(plan, tmp_path / "out", progress=progress)
    assert list(first.left_out) == ["later.npz"]
    assert any("later.npz is left out" in line for line in heard)
    assert not first.flawless
    assert set(Store(tmp_path / "out").read()["dataset"]) == {"iris"}

    rng = np.random.default_rng(0)
    np.savez("later.npz", X=rng.normal(size=(40, 6)), y=np.arange(40) % 3)
    second = run_plan(plan, tmp_path / "out")
    assert second.left_out == {}
    assert second.total == first.total + second.computed
    assert set(Store(tmp_path / "out").read()["dataset"]) == {"iris", "later.npz"}


@pytest.mark.slow
@posix
def test_a_second_run_in_the_folder_is_refused(whole, tmp_path):
    plan, undisturbed, _ = whole
    out = tmp_path / "out"
    run = start(plan, out, jobs=1)
    wait_for(lambda: len(lines(out)) >= 2)
    with pytest.raises(OSError, match=r"Another command is writing to .*out: wait until"):
        run_plan(plan, out)
    run.communicate()
    assert run.returncode == 0
    same_results(out, undisturbed)

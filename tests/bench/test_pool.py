"""Worker processes: others than this one, with limits, and none left if something goes wrong."""

import os
import time
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing

import pytest
from joblib import Parallel, cpu_count, delayed

from featsieve.bench.cells import Cell
from featsieve.bench.pool import run_in_pool, threads_of
from featsieve.bench.task import Outcome
from featsieve.io.processes import is_alive

CELLS = [Cell("grid", "iris", "NDFS", "NDFS", seed=seed) for seed in range(4)]


def describe(cell):
    """Stand in for a task: tell about the process."""
    about = [os.getpid(), os.environ["OMP_NUM_THREADS"], os.environ.get("FEATSIEVE_DATA")]
    return Outcome(cell, "done", " ".join(map(str, about)))


def fail(cell):
    """Kill the process."""
    os._exit(1)


def linger(cell):
    """Tell the process at once, or take long."""
    if cell.seed:
        time.sleep(60)
    return Outcome(cell, "done", str(os.getpid()))


def test_one_job_is_another_process_too_with_the_variables_of_today(monkeypatch):
    monkeypatch.setenv("FEATSIEVE_DATA", "first")
    first = list(run_in_pool(describe, CELLS, jobs=1, threads=1))
    assert sorted(outcome.cell.seed for outcome in first) == [cell.seed for cell in CELLS]
    ((worker, threads, data),) = {tuple(outcome.reason.split()) for outcome in first}
    assert worker != str(os.getpid())
    assert (threads, data) == ("1", "first")
    # the same process works on
    (again,) = run_in_pool(describe, CELLS[:1], jobs=1, threads=1)
    assert again.reason == first[0].reason
    monkeypatch.setenv("FEATSIEVE_DATA", "second")
    (again,) = run_in_pool(describe, CELLS[:1], jobs=1, threads=3)
    assert again.reason.split()[1:] == ["3", "second"]


def test_a_worker_that_dies_is_told_and_the_next_pool_works():
    with pytest.raises(BrokenProcessPool):
        list(run_in_pool(fail, CELLS, jobs=1, threads=1))
    assert len(list(run_in_pool(describe, CELLS[:1], jobs=1, threads=1))) == 1


def test_joblib_keeps_its_own_processes():
    assert len(list(run_in_pool(describe, CELLS[:1], jobs=2, threads=1))) == 1
    assert Parallel(n_jobs=2)(delayed(abs)(-i) for i in range(3)) == [0, 1, 2]
    assert len(list(run_in_pool(describe, CELLS[:1], jobs=2, threads=1))) == 1


def test_nobody_is_left_if_it_is_not_heard_to_the_end():
    start, ticks = time.time(), []
    with closing(
        run_in_pool(linger, CELLS, jobs=1, threads=1, tick=lambda: ticks.append(0))
    ) as outcomes:
        worker = int(next(outcomes).reason)
        assert is_alive(worker)
    assert not is_alive(worker)
    assert time.time() - start < 30.0


def test_jobs_times_threads_is_at_most_cores(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    cores = cpu_count()
    assert threads_of(1) == cores
    for jobs in range(1, 2 * cores):
        assert threads_of(jobs) * jobs <= max(cores, jobs)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert threads_of(1) == 1
    monkeypatch.setenv("OMP_NUM_THREADS", str(10 * cores))
    assert threads_of(1) == cores

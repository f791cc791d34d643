"""Worker processes that die take no other cell with them."""

import os
import signal
import time

import pytest

from featsieve.bench.cells import Cell
from featsieve.bench.pool import run_cells, threads_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="signals of Unix"),
]


def cells(count):
    return [Cell("grid", "iris", "N", "NDFS", seed=seed) for seed in range(count)]


def deadly(cell):
    """Die on one of the cells."""
    if cell.seed == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.05)
    return [{"seed": cell.seed, "threads": os.environ["OMP_NUM_THREADS"]}]


def mortal(cell):
    """Die once, on the first try."""
    path = cell.dataset
    if cell.seed == 1 and not os.path.exists(path):
        with open(path, "w"):
            os.kill(os.getpid(), signal.SIGKILL)
    return [{"seed": cell.seed}]


def test_only_the_cell_that_kills_its_process_has_no_result():
    work = run_cells(deadly, cells(6), jobs=2, threads=3)
    found = {cell.seed: rows for cell, rows in work}
    assert sorted(found) == list(range(6))
    assert {seed for seed, rows in found.items() if rows is None} == {2}
    assert {rows[0]["threads"] for rows in found.values() if rows} == {"3"}


def test_a_process_that_dies_by_chance_is_replaced(tmp_path):
    path = str(tmp_path / "died")
    work = [Cell("grid", path, "N", "NDFS", seed=seed) for seed in range(4)]
    found = [rows[0]["seed"] for _, rows in run_cells(mortal, work, jobs=1, threads=1)]
    assert sorted(found) == [0, 1, 2, 3]


def test_nobody_is_left_when_the_work_is_given_up():
    results = run_cells(pid_of, cells(4), jobs=1, threads=1)
    _, rows = next(results)
    results.close()
    with pytest.raises(ProcessLookupError):
        os.kill(rows[0]["pid"], 0)


def pid_of(cell):
    return [{"pid": os.getpid()}]


def test_threads_are_shared_out(monkeypatch):
    monkeypatch.setattr("joblib.cpu_count", lambda: 8)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert [threads_of(jobs) for jobs in (1, 3, 16)] == [8, 2, 1]
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert threads_of(1) == 2

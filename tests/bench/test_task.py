"""One cell in a worker: written before anybody hears of it, once, and only if it was run."""

import os

import pytest

from featsieve.bench.cells import Cell
from featsieve.bench.store import Store
from featsieve.bench.task import BUSY, Task
from tests.bench.test_store import sleeper_at_work

CELL = Cell("grid", "iris", "MaxVariance", "MaxVariance", counts=(2,), kmeans_seeds=3)


def task(out, *, retry=False):
    return Task(out=os.fspath(out), data=None, plan="tiny", retry=retry, jobs=3)


def test_a_cell_is_written_and_then_told(tmp_path):
    outcome = task(tmp_path)(CELL)
    assert (outcome.cell, outcome.status, outcome.reason) == (CELL, "done", "")
    assert outcome.seconds > 0.0
    assert Store(tmp_path).statuses() == {CELL.id: "done"}
    assert Store(tmp_path).begun() == set()
    assert set(Store(tmp_path).rows_of([CELL.id])["jobs"]) == {3}


@pytest.mark.skipif(os.name != "posix", reason="processes of Unix")
def test_a_cell_of_another_run_is_left_to_it_as_long_as_it_lives(tmp_path):
    with sleeper_at_work(tmp_path, CELL):
        outcome = task(tmp_path)(CELL)
        assert (outcome.status, outcome.computed) == (BUSY, False)
        assert Store(tmp_path).finished() == set()
    assert task(tmp_path)(CELL).status == "done"


def test_a_cell_that_another_run_has_done_meanwhile_is_not_run(tmp_path):
    task(tmp_path)(CELL)
    (part,) = (tmp_path / "cells").iterdir()
    before = part.stat().st_mtime_ns
    outcome = task(tmp_path, retry=True)(CELL)
    assert (outcome.status, outcome.computed) == ("done", False)
    assert part.stat().st_mtime_ns == before


def test_a_failed_cell_is_run_again_only_on_request(tmp_path):
    broken = Cell("default", "iris", "Broken", "NDFS", {"alpha": -1.0}, kmeans_seeds=3)
    first = task(tmp_path)(broken)
    assert first.status == "failed"
    assert "alpha" in first.reason
    assert not task(tmp_path)(broken).computed
    assert task(tmp_path, retry=True)(broken).computed


def test_a_cell_whose_data_set_went_away_is_left_for_later(tmp_path):
    outcome = task(tmp_path)(Cell("default", "gone.npz", "MaxVariance", "MaxVariance"))
    assert outcome.status == "skipped"
    assert "gone.npz" in outcome.reason
    assert list((tmp_path / "cells").iterdir()) == []


def test_nothing_is_left_when_the_rows_cannot_be_written(tmp_path):
    (tmp_path / "cells" / f"{CELL.id}.parquet").mkdir(parents=True)  # in the way
    with pytest.raises(OSError, match="directory"):
        task(tmp_path)(CELL)
    assert Store(tmp_path).begun() == set()

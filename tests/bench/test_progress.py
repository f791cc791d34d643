"""Counting and showing how far a run is."""

import time

import pytest

from featsieve.bench.cells import Cell
from featsieve.bench.progress import BarProgress, LineProgress

CELLS = [Cell("grid", "iris", "N", "NDFS", seed=seed) for seed in range(10)]


@pytest.mark.parametrize("kind", [LineProgress, BarProgress])
def test_a_run_is_told_on_standard_error(capsys, kind):
    progress = kind()
    progress.sizes = {"iris": 600.0}
    progress.expect(CELLS, done=10, failed=1)
    for cell in CELLS:
        progress.advance(cell, status="done" if cell.seed else "timeout")
        progress.show()
    progress.say("a remark [bold]")
    progress.end()
    shown, told = capsys.readouterr()
    assert shown == ""
    assert "20 of 20 cells (100 %), 2 without a result" in " ".join(told.split())
    assert "a remark [bold]" in told


def test_the_time_left_follows_the_sizes_of_the_tables(monkeypatch, capsys):
    clock = iter([0.0, *[10.0] * 20])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    progress = LineProgress()
    progress.sizes = {"iris": 1.0, "large": 100.0}
    progress.expect([CELLS[0], Cell("grid", "large", "N", "NDFS")])
    progress.advance(CELLS[0], status="done")
    assert "1 of 2 cells (50 %), about 17 min left" in capsys.readouterr().err

"""Counting, estimating and showing how far a run is."""

import io
import os
import sys

import pytest
from rich.console import Console

from featsieve.bench.cells import Cell
from featsieve.bench.progress import (
    BarProgress,
    LineProgress,
    Progress,
    TimeLeft,
    terminal_progress,
)


def cells(count, dataset="iris", method="NDFS", experiment="grid"):
    return [Cell(experiment, dataset, method, method, seed=seed) for seed in range(count)]


def test_the_estimate_uses_the_same_kind_first_then_sizes():
    left = TimeLeft({"small": 10, "large": 1000}, jobs=2)
    slow, fast = cells(3, "small", "slow"), cells(3, "small", "fast")
    elsewhere = cells(2, "large", "slow")
    unknown = cells(1, "large", "unknown")
    left.expect([*slow, *fast, *elsewhere, *unknown])
    assert left.seconds() is None
    left.record(slow[0], 5.0)
    left.record(fast[0], 1.0)
    # the same kind: 2 x 5 + 2 x 1; 100 times larger: 2 x 500; never seen: 100 x the mean, 3
    assert left.seconds() == pytest.approx((10 + 2 + 1000 + 300) / 2)
    left.record(elsewhere[0], 40.0)
    # what was seen on the data set itself counts more than proportion; overall 46 s for 1020
    assert left.seconds() == pytest.approx((10 + 2 + 40 + 1000 * 46 / 1020) / 2)


def test_another_experiment_on_the_same_data_set_counts_more_than_other_data_sets():
    left = TimeLeft({"small": 10, "large": 1000})
    left.expect([*cells(2, "large"), *cells(1, "small"), *cells(1, "large", experiment="curve")])
    left.record(cells(1, "large")[0], 7.0)
    left.record(cells(1, "small")[0], 1.0)
    assert left.seconds() == pytest.approx(7.0 + 7.0)


def test_only_the_latest_durations_count():
    left = TimeLeft({"iris": 600})
    work = cells(100)
    left.expect(work)
    for cell in work[:40]:
        left.record(cell, 1.0)
    for cell in work[40:60]:
        left.record(cell, 10.0)
    assert left.seconds() == pytest.approx(40 * 10.0)
    left.record(work[60], None)  # done by another run: it took nobody's time here
    assert left.seconds() == pytest.approx(39 * 10.0)


def test_cells_that_are_run_alone_are_not_shared_among_jobs():
    left = TimeLeft({"iris": 600}, jobs=4)
    left.expect([*cells(8), *cells(3, experiment="time")])
    left.record(cells(1)[0], 4.0)
    left.record(cells(1, experiment="time")[0], 5.0)
    assert left.seconds() == pytest.approx(7 * 4.0 / 4 + 2 * 5.0)


def test_the_estimate_ends_at_zero_and_survives_unknown_data_sets():
    left = TimeLeft({})
    both = cells(1, "one") + cells(1, "two")
    left.expect(both)
    for cell in both:
        left.record(cell, 2.0)
    assert left.seconds() == 0.0
    left.record(both[0], 2.0)  # one more than expected
    assert left.seconds() == 0.0


def test_counts_include_earlier_runs_and_failures():
    progress = Progress()
    progress.begin({"iris": 600}, jobs=1)
    progress.expect(cells(2), done=7, failed=1)
    assert progress.line() == "7 of 9 cells (77 %), 1 without a result"
    progress.advance(cells(2)[0], status="timeout", seconds=30.0)
    assert progress.line() == "8 of 9 cells (88 %), 2 without a result, about 30 s left"
    progress.advance(cells(2)[1], status="done", seconds=30.0)
    assert progress.line() == "9 of 9 cells (100 %), 2 without a result"


def test_a_pipe_gets_a_line_at_every_tenth():
    stream = io.StringIO()
    progress = LineProgress(stream)
    progress.begin({"iris": 600}, jobs=1)
    work = cells(200)
    progress.expect(work)
    for cell in work:
        progress.advance(cell, status="done", seconds=1.0)
    progress.expect([])
    progress.end()
    lines = stream.getvalue().splitlines()
    assert len(lines) == 11
    assert lines[0] == "0 of 200 cells (0 %)"
    assert lines[1] == "20 of 200 cells (10 %), about 3 min left"
    assert lines[-1] == "200 of 200 cells (100 %)"


def test_a_pipe_gets_a_line_now_and_then_while_nothing_ends():
    stream = io.StringIO()
    progress = LineProgress(stream, every=3600.0)
    progress.to_follow = "label-free and curve"
    work = cells(100)
    progress.expect(work)
    progress.tick()
    assert len(stream.getvalue().splitlines()) == 1  # not yet
    progress.advance(work[0], status="done", seconds=1.0)
    progress.every = 0.0
    progress.tick()
    progress.every = 3600.0
    lines = stream.getvalue().splitlines()
    assert lines[1] == "1 of 100 cells (1 %), about 99 s left before label-free and curve"
    for cell in work[1:]:
        progress.advance(cell, status="done", seconds=1.0)
    ended = stream.getvalue()
    progress.every = 0.0
    progress.tick()
    assert stream.getvalue() == ended  # nothing more to wait for


def test_a_plan_of_few_cells_gets_no_line_twice():
    stream = io.StringIO()
    progress = LineProgress(stream)
    progress.expect(cells(2))
    for cell in cells(2):
        progress.advance(cell, status="done", seconds=1.0)
    progress.expect(cells(1, experiment="curve"))
    lines = stream.getvalue().splitlines()
    assert len(set(lines)) == len(lines) == 4
    assert lines[-1].startswith("2 of 3 cells (66 %)")


def test_the_bar_shows_counts_and_messages():
    stream = io.StringIO()
    progress = BarProgress(Console(file=stream, force_terminal=True, width=100))
    progress.begin({"iris": 600}, jobs=1)
    work = cells(4)
    progress.expect(work)
    progress.say("a [red] message")
    for cell in work:
        progress.advance(cell, status="failed", seconds=1.0)
    progress.end()
    shown = stream.getvalue()
    assert "a [red] message" in shown
    assert "4 of 4 cells (100 %), 4 without a result" in shown


def test_ending_before_the_beginning_is_harmless():
    stream = io.StringIO()
    BarProgress(Console(file=stream, force_terminal=True)).end()
    LineProgress(stream).end()
    assert "cells" not in stream.getvalue()


@pytest.mark.skipif(os.name != "posix", reason="terminals are made with pty")
def test_a_terminal_gets_the_bar(monkeypatch):
    terminal, end = os.openpty()
    with open(end, "w") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        assert type(terminal_progress()) is BarProgress
    os.close(terminal)


def test_a_pipe_gets_the_lines(capfd):
    progress = terminal_progress()
    progress.expect(cells(1))
    assert capfd.readouterr().err == "0 of 1 cells (0 %)\n"

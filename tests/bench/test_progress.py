"""Counting and showing how far a run is."""

import io
import time

from featsieve.bench.run import BenchProgress


def test_a_run_is_told_on_its_stream():
    stream = io.StringIO()
    progress = BenchProgress(stream)
    progress.expect(10, done=10, failed=1)
    for number in range(10):
        progress.advance("done" if number else "timeout")
        progress.show()
    progress.say("a remark [bold]")
    told = stream.getvalue().splitlines()
    assert told[-2:] == ["20 of 20 cells (100 %), 2 without a result", "a remark [bold]"]
    assert len(told) == 7  # at every tenth of the way


def test_the_time_left_follows_the_cells_that_were_run(monkeypatch):
    clock = iter([0.0, *[10.0] * 20])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    stream = io.StringIO()
    progress = BenchProgress(stream)
    progress.expect(4, done=4)
    progress.advance("done")
    assert "5 of 8 cells (62 %), about 30 s left" in stream.getvalue()

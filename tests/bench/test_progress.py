"""Counting and showing how far a run is."""

import io
import time

import pytest

from featsieve.bench.progress import BenchProgress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("kind", [io.StringIO, Terminal])
def test_a_run_is_told_on_its_stream(kind):
    stream = kind()
    progress = BenchProgress(stream)
    progress.expect(10, done=10, failed=1)
    for number in range(10):
        progress.advance("done" if number else "timeout")
        progress.show()
    progress.say("a remark [bold]")
    progress.end()
    told = stream.getvalue()
    assert "20 of 20 cells (100 %), 2 without a result" in told
    assert "a remark [bold]" in told
    assert ("\r" in told) == stream.isatty()
    assert told.endswith("\n")


def test_the_time_left_follows_the_cells_that_were_run(monkeypatch):
    clock = iter([0.0, *[10.0] * 20])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    stream = io.StringIO()
    progress = BenchProgress(stream)
    progress.expect(4, done=4)
    progress.advance("done")
    assert "5 of 8 cells (62 %), about 30 s left" in stream.getvalue()

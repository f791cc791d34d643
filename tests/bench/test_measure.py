import math
import signal
import sys
import threading
import time
from contextlib import suppress

import numpy as np
import pytest

from featsieve.bench import measure
from featsieve.bench.measure import PeakMemory, TimeUpError, time_limit


def stubborn(seconds):
    """Work for so long, and swallow every exception that is one."""
    start = time.perf_counter()
    try:
        while time.perf_counter() - start < seconds:
            pass
    except Exception:
        return


def test_the_limit_is_not_swallowed_and_its_traces_are_removed():
    before = signal.getsignal(signal.SIGALRM)
    start = time.perf_counter()
    with pytest.raises(TimeUpError, match=r"more than 0\.05 s"), time_limit(0.05):
        stubborn(10.0)
    assert time.perf_counter() - start < 5.0
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_an_alarm_after_the_block_does_nothing():
    with time_limit(5.0):
        ring = signal.getsignal(signal.SIGALRM)
        with pytest.raises(TimeUpError):
            ring(signal.SIGALRM, None)
    ring(signal.SIGALRM, None)  # one that was on its way when the block ended


def test_an_alarm_at_the_very_end_leaves_no_traces():
    before = signal.getsignal(signal.SIGALRM)
    for i in range(300):
        with suppress(TimeUpError), time_limit(1e-5 * (1 + i % 10)):
            stubborn(1e-5 * (i % 12))
        assert signal.getsignal(signal.SIGALRM) is before
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_block_in_time_goes_through():
    with time_limit(5.0):
        done = True
    assert done
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def in_a_thread(work):
    """Return what a function returns in another thread than the main one."""
    found = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    thread.join()
    (result,) = found
    return result


def test_other_threads_are_limited_too():
    def endless():
        try:
            with time_limit(0.05):
                while True:
                    time.sleep(0.001)
        except TimeUpError as error:
            return str(error)

    assert in_a_thread(endless) == "more than 0.05 s"


def test_nothing_rings_in_a_thread_after_the_block():
    def quick():
        for i in range(300):
            with suppress(TimeUpError), time_limit(1e-5 * (1 + i % 10)):
                pass
        with time_limit(0.02):
            pass
        time.sleep(0.1)
        watches = [thread for thread in threading.enumerate() if "(watch)" in thread.name]
        for thread in watches:
            thread.join(timeout=5.0)
        return [thread.name for thread in watches if thread.is_alive()]

    # one that is left would ring for ever, in whatever thread gets the number of this one
    assert in_a_thread(quick) == []


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="peaks are forgotten on Linux only"
)
def test_peak_memory_is_the_growth_inside_of_the_block():
    with PeakMemory() as large:
        np.ones(2**23).sum()  # 64 MiB
    with PeakMemory() as small:
        np.ones(2**10).sum()
    assert 60.0 < large.mib < 80.0
    assert small.mib < 10.0


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="peaks are forgotten on Linux only"
)
def test_where_peaks_cannot_be_forgotten_none_is_claimed(monkeypatch, tmp_path):
    monkeypatch.setattr(measure, "FORGET", tmp_path)  # a folder: writing to it is refused
    with PeakMemory() as peak:
        np.ones(2**10).sum()
    assert math.isnan(peak.mib)

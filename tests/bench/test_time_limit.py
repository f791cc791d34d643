"""A time limit that no method escapes."""

import signal
import time
from contextlib import suppress

import pytest

from featsieve.bench.worker import TimeUpError, time_limit


def stubborn(seconds):
    """Work for so long, and swallow every exception that is one."""
    start = time.perf_counter()
    try:
        while time.perf_counter() - start < seconds:
            pass
    except Exception:
        return


def test_the_limit_is_not_swallowed():
    with pytest.raises(TimeUpError, match=r"more than 0\.05 s"), time_limit(0.05):
        stubborn(60.0)


def test_nothing_rings_after_the_block():
    for i in range(300):
        with suppress(TimeUpError), time_limit(1e-5 * (1 + i % 10)):
            stubborn(1e-5 * (i % 12))
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0.0
    with time_limit(60.0):
        stubborn(1e-3)

"""A time limit that no method escapes."""

import threading
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


def in_a_thread(work):
    """Return what a function returns in another thread than the main one."""
    found = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    thread.join()
    return found[0]


def limited():
    with pytest.raises(TimeUpError, match=r"more than 0\.05 s"), time_limit(0.05):
        stubborn(60.0)
    return True


def test_the_limit_is_not_swallowed_in_any_thread():
    assert limited()
    assert in_a_thread(limited)


def test_nothing_rings_after_the_block():
    def quick():
        for i in range(300):
            with suppress(TimeUpError), time_limit(1e-5 * (1 + i % 10)):
                stubborn(1e-5 * (i % 12))
        with time_limit(60.0):
            return True

    assert quick()
    assert in_a_thread(quick)

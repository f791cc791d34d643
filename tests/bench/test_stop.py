"""SIGTERM stops a block once, and is as before after it."""

import os
import signal
import threading

import pytest

from featsieve.bench.stop import Terminated, terminable

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of Unix")


def test_it_stops_like_ctrl_c_and_a_second_one_does_not_disturb_the_clean_up():
    before = signal.getsignal(signal.SIGTERM)
    cleaned = []

    def work():
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)
            cleaned.append(True)

    with pytest.raises(KeyboardInterrupt) as stopped, terminable():
        work()
    assert stopped.type is Terminated
    assert cleaned == [True]
    assert signal.getsignal(signal.SIGTERM) is before


def test_another_thread_is_left_alone():
    seen = []

    def work():
        with terminable():
            seen.append(signal.getsignal(signal.SIGTERM))

    before = signal.getsignal(signal.SIGTERM)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]

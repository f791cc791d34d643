"""Signals that wait: none is lost, and what was set before is set afterwards."""

import os
import signal
import threading

import pytest

from featsieve.interruptions import uninterrupted

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of Unix")
BOTH = (signal.SIGINT, signal.SIGTERM)


@pytest.fixture
def heard():
    """Let both signals be noted, and return the notes."""
    notes = []
    before = {number: signal.signal(number, lambda got, _: notes.append(got)) for number in BOTH}
    yield notes
    for number, handler in before.items():
        signal.signal(number, handler)


def test_signals_wait_and_none_is_lost(heard):
    handlers = [signal.getsignal(number) for number in BOTH]
    with uninterrupted():
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGINT):
            os.kill(os.getpid(), number)
        assert heard == []
    assert heard == [signal.SIGTERM, signal.SIGINT]
    assert [signal.getsignal(number) for number in BOTH] == handlers


def test_an_error_in_the_block_does_not_hide_them(heard):
    def fail():
        with uninterrupted():
            os.kill(os.getpid(), signal.SIGINT)
            raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        fail()
    assert heard == [signal.SIGINT]


def test_blocks_in_blocks(heard):
    with uninterrupted():
        with uninterrupted():
            os.kill(os.getpid(), signal.SIGINT)
        assert heard == []
    assert heard == [signal.SIGINT]


def test_what_is_ignored_stays_so(heard):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with uninterrupted():
        os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN


def test_other_threads_are_never_interrupted(heard):
    seen = []

    def work():
        with uninterrupted():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGINT)]

"""Signals that wait: none is lost, and what was set before is set afterwards."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from featsieve.io.interruptions import uninterrupted

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


def test_other_threads_do_not_let_them_in(heard):
    """A signal that the main thread blocked would come by way of another one."""
    ended = threading.Event()
    thread = threading.Thread(target=ended.wait)
    thread.start()
    try:
        with uninterrupted():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)
            assert heard == []
        assert heard == [signal.SIGINT]
    finally:
        ended.set()
        thread.join()


def test_an_interruption_hides_no_other_signal(heard):
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def both():
        with uninterrupted():
            for number in BOTH:
                os.kill(os.getpid(), number)

    with pytest.raises(KeyboardInterrupt):
        both()
    assert heard == [signal.SIGTERM]


def test_an_interruption_while_handlers_are_put_back(heard, monkeypatch):
    """Whatever is left in place then, no signal is swallowed."""
    set_handler = signal.signal

    def interrupted(number, handler):
        before = set_handler(number, handler)
        if handler is signal.default_int_handler:
            signal.raise_signal(signal.SIGINT)
        return before

    signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr(signal, "signal", interrupted)
    with pytest.raises(KeyboardInterrupt), uninterrupted():
        pass
    monkeypatch.undo()
    signal.raise_signal(signal.SIGTERM)
    assert heard == [signal.SIGTERM]


@pytest.mark.parametrize("failing", BOTH)
def test_a_handler_that_cannot_be_put_back_hands_on(heard, monkeypatch, failing):
    set_handler, inside = signal.signal, False

    def fail(number, handler):
        if inside and number == failing:
            raise KeyboardInterrupt  # another signal, which the system call looks for first
        return set_handler(number, handler)

    monkeypatch.setattr(signal, "signal", fail)
    with pytest.raises(KeyboardInterrupt), uninterrupted():
        inside = True
    monkeypatch.undo()
    for number in BOTH:
        signal.raise_signal(number)
    assert heard == [*BOTH]


FROM_C = """
import ctypes, signal
from featsieve.io.interruptions import uninterrupted

@ctypes.CFUNCTYPE(None, ctypes.c_int)
def handler(number):
    print("heard", flush=True)

ctypes.CDLL(None).signal(signal.SIGTERM, handler)
signal.getsignal = lambda number, ask=signal.getsignal: None if number == 15 else ask(number)
with uninterrupted():
    pass
signal.raise_signal(signal.SIGTERM)
print("alive")
"""


def test_a_handler_that_was_set_from_c_stays():
    """Python says None of one that was set before it started, as by a program that embeds it."""
    done = subprocess.run([sys.executable, "-c", FROM_C], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("heard\nalive\n", 0), done.stderr

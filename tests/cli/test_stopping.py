"""Ctrl-C, also where a library swallows it."""

import os
import signal

import pytest
import typer

from featsieve.cli.stopping import stoppable


def interrupt(number):
    os.kill(os.getpid(), number)


def stopped(number, *, swallowed=False):
    with stoppable() as stop:
        try:
            interrupt(number)
        except KeyboardInterrupt:
            if not swallowed:
                raise
        stop.check()
        pytest.fail("not reached")


@pytest.mark.skipif(os.name != "posix", reason="signals of Unix")
@pytest.mark.parametrize("swallowed", [False, True])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_exit_code_tells(number, code, swallowed, capsys):
    before = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    with pytest.raises(typer.Exit) as ended:
        stopped(number, swallowed=swallowed)
    assert ended.value.exit_code == code
    assert capsys.readouterr().err == "featsieve: stopped; nothing was written.\n"
    assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)] == before


def test_other_errors_and_none_pass():
    with stoppable() as stop:
        stop.check()
    with pytest.raises(ValueError, match="mine"), stoppable():
        raise ValueError("mine")

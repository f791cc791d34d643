"""Fixtures shared by the tests of the command line."""

import pytest

from featsieve.cli import main


@pytest.fixture
def call(capfd, monkeypatch):
    """Return a function that calls the command in this process, which is faster."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("FEATSIEVE_DEBUG", "")

    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        return ended.value.code, *capfd.readouterr()

    return run

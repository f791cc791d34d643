"""What is printed where."""

import pytest

from featsieve.cli import console
from featsieve.cli.console import print_notes, progress_line


def test_notes_are_no_markup(capsys):
    print_notes(["Column '[red]x[/]' is odd."])
    assert capsys.readouterr().err == "note: Column '[red]x[/]' is odd.\n"


def test_a_pipe_is_quiet_and_asks_whether_to_stop(capsys, monkeypatch):
    with progress_line() as progress:
        progress("working")
        monkeypatch.setattr(console, "_received", [2])
        with pytest.raises(KeyboardInterrupt):
            progress("working")
    assert capsys.readouterr() == ("", "")

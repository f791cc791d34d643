"""What is printed where."""

import pytest

from featsieve.cli import stopping
from featsieve.cli.console import print_notes, progress_bar


def test_notes_are_no_markup(capsys):
    print_notes(["Column '[red]x[/]' is odd."])
    assert capsys.readouterr().err == "note: Column '[red]x[/]' is odd.\n"


def test_a_pipe_is_quiet_and_asks_whether_to_stop(capsys, monkeypatch):
    with progress_bar() as progress:
        progress("working", 1, 2)
        monkeypatch.setattr(stopping, "_received", [2])
        with pytest.raises(KeyboardInterrupt):
            progress("working", 2, 2)
    assert capsys.readouterr() == ("", "")

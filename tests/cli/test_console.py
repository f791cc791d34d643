"""What is printed where."""

import json
import os

import pytest

from featsieve.cli import stopping
from featsieve.cli.console import print_notes, progress_bar, with_interval
from featsieve.evaluation import Stability


def test_notes_are_no_markup(capsys):
    print_notes(["Column '[red]x[/]' is odd."])
    assert capsys.readouterr().err == "note: Column '[red]x[/]' is odd.\n"


def test_few_selections_have_no_interval():
    few, more = (Stability(0.5, (0.4, 0.6), 0.05, n) for n in (2, 10))
    assert with_interval(few) == "0.50"
    assert with_interval(more) == "0.50 (0.40 to 0.60)"


def test_a_pipe_is_quiet_and_asks_whether_to_stop(capsys, monkeypatch):
    with progress_bar() as progress:
        progress("working", 1, 2)
        monkeypatch.setattr(stopping, "_received", [2])
        with pytest.raises(KeyboardInterrupt):
            progress("working", 2, 2)
    assert capsys.readouterr() == ("", "")


@pytest.mark.slow
def test_letters_that_cannot_be_shown_are_no_reason_to_fail(spawn, people, tmp_path):
    people.rename(columns={people.columns[1]: "größe"}).to_csv(tmp_path / "t.csv", index=False)
    arguments = ("select", tmp_path / "t.csv", "--drop-text", "--clusters", "3", "--features", "50")
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii", "OMP_NUM_THREADS": "1"}
    plain = ("--subsamples", "0", "-o")
    shown = spawn(*arguments, *plain, tmp_path / "a", env=ascii_only)
    assert shown.returncode == 0, shown.stderr
    told = spawn(*arguments, "--json", *plain, tmp_path / "b", env=ascii_only)
    assert told.returncode == 0, told.stderr
    assert "gr\\u00f6\\u00dfe" in told.stdout
    assert "größe" in json.dumps(json.loads(told.stdout), ensure_ascii=False)

"""What is printed where."""

import io
import json
import os

import pytest
from rich.console import Console

from featsieve.cli.console import (
    bar,
    output,
    print_notes,
    print_points,
    progress_bar,
    with_interval,
)
from featsieve.cli.stopping import Stop
from featsieve.evaluation import Stability


class Ascii(io.StringIO):
    encoding = "ascii"


def test_bars_are_of_letters_that_can_be_shown():
    assert bar(Console(file=io.StringIO()), 0.5) == 10 * "█"
    assert bar(Console(file=Ascii()), 0.5) == 10 * "#"
    assert len(bar(Console(file=io.StringIO()), 0.0)) == 1
    assert len(bar(Console(file=io.StringIO()), 7.0)) == 20


def test_notes_are_no_markup_and_points_are_indented(capsys):
    print_notes(["Column '[red]x[/]' is odd."])
    assert capsys.readouterr().err == "note: Column '[red]x[/]' is odd.\n"
    print_points(output(), ["word " * 30, "[bold]short[/]"])
    first, second, third = capsys.readouterr().out.splitlines()
    assert first.startswith("- word")
    assert second.startswith("  word")
    assert third == "- [bold]short[/]"


def test_few_selections_have_no_interval():
    few, more = (Stability(0.5, (0.4, 0.6), 0.05, n) for n in (2, 10))
    assert with_interval(few) == "0.50"
    assert with_interval(more) == "0.50 (0.40 to 0.60)"


def test_a_pipe_is_quiet_and_asks_whether_to_stop(capsys):
    stop = Stop()
    with progress_bar(stop) as progress:
        progress("working", 1, 2)
        stop.signal = 2
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

"""The command as a whole: what it needs, how fast it starts, what becomes of errors."""

import subprocess
import sys
from importlib.metadata import entry_points

import pytest

from featsieve import __version__
from featsieve.cli import app, main


def test_version_and_help(call):
    assert call("--version") == (0, f"featsieve {__version__}\n", "")
    code, shown, _ = call("--help")
    assert code == 0
    assert "--debug" in shown
    assert "bench" in shown


@pytest.mark.parametrize("name", ["select", "apply", "inspect", "compare", "report", "doctor"])
def test_every_command_teaches_by_example(call, name):
    code, shown, _ = call(name, "--help")
    assert code == 0
    assert f"Example: featsieve {name}" in shown


def test_the_help_shows_the_commonest_uses(call):
    _, shown, _ = call("--help")
    text = " ".join(shown.split())
    for use in (
        "featsieve inspect table.csv",
        "featsieve select table.csv -o results",
        "featsieve apply results/model.skops new.csv -o selected.csv",
    ):
        assert use in text


def test_wrong_options_are_a_mistake(call):
    code, shown, told = call("select", "table.csv", "--outpt", "x")
    assert (code, shown) == (2, "")
    assert "--outpt" in told


def test_running_out_of_memory_is_told(monkeypatch, capsys):
    def run_out(*arguments, **options):
        raise MemoryError("Unable to allocate 8 TiB")

    monkeypatch.setattr(app, "app", run_out)
    monkeypatch.setenv("FEATSIEVE_DEBUG", "")
    with pytest.raises(SystemExit) as ended:
        main(["doctor"])
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert told.startswith("featsieve: There is not enough memory (Unable to allocate 8 TiB): use")


def test_the_entry_point_is_installed():
    (found,) = entry_points(group="console_scripts", name="featsieve")
    assert found.value == "featsieve.cli:main"


def test_where_an_error_comes_from_is_shown_on_request(monkeypatch):
    monkeypatch.setenv("FEATSIEVE_DEBUG", "")
    with pytest.raises(FileNotFoundError, match="holds no results"):
        main(["--debug", "bench", "report", "nowhere"])
    monkeypatch.setenv("FEATSIEVE_DEBUG", "1")
    with pytest.raises(FileNotFoundError, match="holds no results"):
        main(["bench", "report", "nowhere"])


def test_without_the_extra_one_sentence_says_what_to_install(call, monkeypatch):
    monkeypatch.setitem(sys.modules, "typer", None)
    told = "The command featsieve needs typer and rich: pip install 'featsieve[cli]'.\n"
    assert call("bench", "list") == (1, "", told)


def test_importing_the_command_line_imports_nothing_heavy():
    code = (
        "import sys, featsieve; before = set(sys.modules); import featsieve.cli.app; "
        "print(*{name.split('.')[0] for name in set(sys.modules) - before})"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    new = set(ended.stdout.split())
    assert "typer" in new
    heavy = {"pandas", "pyarrow", "matplotlib", "jinja2", "h5py", "pooch", "skops", "anndata"}
    assert not new & heavy

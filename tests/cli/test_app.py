"""The command as a whole: what it needs and imports, what becomes of words, errors and signals."""

import os
import signal
import subprocess
import sys
from importlib.metadata import entry_points

import pytest
import typer

from featsieve import __version__
from featsieve.cli import app, main
from featsieve.cli.console import check_stopped, stoppable
from featsieve.cli.options import METHODS, read_count, read_image, read_methods
from featsieve.workflow.methods import method_names


def test_version_and_help(call):
    assert call("--version") == (0, f"featsieve {__version__}\n", "")
    code, shown, _ = call("--help")
    assert code == 0
    text = " ".join(shown.split())
    for use in (
        *("inspect table.csv", "select table.csv -o results"),
        "apply results/model.skops new.csv -o selected.csv",
    ):
        assert f"featsieve {use}" in text
    assert all(name in text for name in app.COMMANDS)


@pytest.mark.parametrize(
    "command",
    [
        *("select", "apply", "inspect", "compare", "report", "doctor", "demo"),
        *("bench run", "bench report", "bench export"),
    ],
)
def test_every_command_teaches_by_example(call, command):
    code, shown, _ = call(*command.split(), "--help")
    assert code == 0
    assert f"Example: featsieve {command}" in shown


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("--outpt x", "--outpt"),
        ("-o x --clusters few", "a number such as 5, or auto"),
        ("-o x --features few", "a number such as 5, or auto"),
        ("-o x --image 8", "height x width in pixels"),
        ("-o x --seed -1", "--seed"),
    ],
)
def test_wrong_options_are_a_mistake(call, words, hint):
    code, shown, told = call("select", "table.csv", *words.split())
    assert (code, shown) == (2, "")
    assert hint in told
    # one line, as our own errors are
    assert told.startswith("featsieve: ")
    assert told.endswith(" See featsieve select --help.\n")
    assert told.count("\n") == 1


def test_words_that_lack_a_command(call):
    code, shown, told = call("slect")
    assert (code, shown) == (2, "")
    assert told.startswith("featsieve: No such command 'slect'")
    code, shown, told = call()
    assert (code, told) == (2, "")
    assert "featsieve inspect table.csv" in shown


def test_what_words_mean():
    assert read_count(" Auto ") == "auto"
    assert [read_count(word) for word in ("auto", "1", "1.0", "5e-2")] == ["auto", 1, 1.0, 0.05]
    assert isinstance(read_count("1"), int)
    assert read_image("2X3") == (2, 3)
    assert read_methods("ALL") == METHODS.split(", ") == [name.lower() for name in method_names()]
    assert read_methods("a,,b ,") == ["a", "b"]


@pytest.mark.parametrize("word", ["0x4", "3", "3x", "-1x4", "3x4x5"])
def test_images_that_are_none(word):
    with pytest.raises(typer.BadParameter, match="height x width"):
        read_image(word)


def test_running_out_of_memory_is_told(monkeypatch, capsys):
    def run_out(*arguments, **options):
        raise MemoryError("Unable to allocate 8 TiB")

    monkeypatch.setattr(app, "app", run_out)
    with pytest.raises(SystemExit) as ended:
        main(["doctor"])
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert told.startswith("featsieve: There is not enough memory (Unable to allocate 8 TiB): use")


def test_the_entry_point_is_installed():
    (found,) = entry_points(group="console_scripts", name="featsieve")
    assert found.value == "featsieve.cli:main"


def test_where_an_error_comes_from_is_shown_on_request():
    with pytest.raises(FileNotFoundError, match="holds no results"):
        main(["--debug", "report", "nowhere"])


def test_without_the_extra_one_sentence_says_what_to_install(call, monkeypatch):
    monkeypatch.setitem(sys.modules, "typer", None)
    told = "The command featsieve needs typer and rich: pip install 'featsieve[cli]'.\n"
    assert call("doctor") == (1, "", told)


def imported_by(code):
    """Return the modules that a new process has loaded after running some code."""
    code += "\nimport sys; print('\\n', *sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_a_help_text_does_not_wait_for_numerical_libraries():
    loaded = imported_by(
        "from featsieve.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass"
    )
    assert {"typer", "featsieve.cli.bench"} <= loaded
    assert not loaded & {"numpy", "scipy", "sklearn", "pandas", "matplotlib", "jinja2", "skops"}


def test_select_loads_nothing_of_other_commands():
    """What the command imports when it runs, without the run."""
    loaded = imported_by(
        "import featsieve.cli.app, featsieve.cli.select, featsieve.workflow.outputs"
    )
    packages = {".".join(name.split(".")[:2]) for name in loaded}
    assert "featsieve.workflow" in packages
    assert "featsieve.arrays.dask" not in loaded
    assert not packages & {"featsieve.bench", "featsieve.anndata"}
    assert not loaded & {"dask", "torch", "distributed", "anndata", "polars"}


def interrupted(number, *, swallowed):
    with stoppable():
        try:
            os.kill(os.getpid(), number)
        except KeyboardInterrupt:
            if not swallowed:
                raise
        check_stopped()


@pytest.mark.skipif(os.name != "posix", reason="signals of Unix")
@pytest.mark.parametrize("swallowed", [False, True])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stops_it_also_where_a_library_swallows_it(number, code, swallowed, capsys):
    before = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    with pytest.raises(typer.Exit) as ended:
        interrupted(number, swallowed=swallowed)
    assert ended.value.exit_code == code
    assert capsys.readouterr().err == "featsieve: stopped; nothing is left half written.\n"
    assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)] == before
    check_stopped()  # the next command is not stopped


def test_other_errors_pass():
    with pytest.raises(ValueError, match="mine"), stoppable():
        raise ValueError("mine")

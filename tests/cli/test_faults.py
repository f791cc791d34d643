"""Faults around the commands: full disks, closed pipes, odd surroundings, two at a time."""

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager

import pandas as pd
import pytest

from tests.bench.test_run import write_plan

resource = pytest.importorskip("resource")

pytestmark = pytest.mark.skipif(os.name != "posix", reason="faults of Unix")

FAST = ("--clusters", "3", "--features", "6", "--subsamples", "0", "--drop-text")
QUICK = (*FAST, "--method", "maxvariance")  # where it does not matter what is selected
THREE = "maxvariance,laplacianscore,randomselector"
ONE = """
datasets = ["iris"]
experiments = ["default"]
counts = [2]
kmeans_seeds = 2
methods = [{name = "variance", selector = "MaxVariance"}]
"""


@contextmanager
def files_of_at_most(size):
    """Let files not grow beyond a size, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture(scope="module")
def home(people, tmp_path_factory):
    """Return a folder with a table, a selection of it, a benchmark, and a page that was there."""
    from featsieve.bench.parse import load_plan
    from featsieve.bench.store import Store
    from featsieve.bench.worker import run_cell
    from featsieve.datasets import read_table
    from featsieve.workflow import save_run, select_features

    home = tmp_path_factory.mktemp("home")
    people.to_csv(home / "people.csv", index=False)
    data = read_table(home / "people.csv", drop_text=True)
    run = select_features(data, n_clusters=3, n_features=6, n_subsamples=0)
    save_run(run, home / "results")
    plan = load_plan(write_plan(home, ONE, "one"))
    (cell,) = plan.cells({"iris": (150, 4, 3)})
    with Store(home / "bench").writing():
        Store(home / "bench").adopt(plan, [cell])
        Store(home / "bench").write(run_cell(cell, data=None))
    (home / "there.csv").write_text("old")
    return home


def content(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("arguments", "file"),
    [
        (("select", "people.csv", "-o", "results", *FAST, "--force"), "results/selected.csv"),
        (("select", "people.csv", "-o", "new/deep", *FAST), "new/deep/selected.csv"),
        (("apply", "results", "people.csv", "-o", "there.csv", "--force"), "there.csv"),
        (("apply", "results", "people.csv", "-o", "a.parquet"), "a.parquet"),
        (("apply", "results", "people.csv", "-o", "a.h5ad"), "a.h5ad"),
        (("apply", "results", "people.csv", "-o", "a.csv", "--clusters", "c.csv"), "c.csv"),
        (("compare", "people.csv", "-o", "c.csv", "--methods", THREE, *FAST), "c.csv"),
        (("report", "results"), "results/report.html"),
        (("report", "bench"), "bench/report.md"),
        (("bench", "export", "bench", "-o", "there.csv", "--force"), "there.csv"),
        (("bench", "run", "one.toml", "--out", "bench"), "bench/plan.json"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_full_disk(call, home, monkeypatch, arguments, file):
    """One sentence that names the file and the reason; what was there stays as it was."""
    monkeypatch.chdir(home)
    before = content(home)
    with files_of_at_most(150):
        code, shown, told = call(*arguments)
    assert (code, shown) == (2, "")
    assert told.splitlines()[-1] == (
        f"featsieve: {file} cannot be written (File too large): make room, or name another place."
    )
    assert told.count("\n") == 1
    assert content(home) == before
    assert not (home / "new" / "deep").exists()


@pytest.mark.slow
def test_results_that_a_killed_command_had_renamed_come_back(call, home, tmp_path):
    """Whatever command opens them next."""
    out = tmp_path / "out"
    for arguments in (
        ("apply", out, home / "people.csv", "-o", tmp_path / "a.csv"),
        ("apply", out / "model.skops", home / "people.csv", "-o", tmp_path / "b.csv"),
        ("report", out, "-o", tmp_path / "page.html"),
        ("inspect", out / "selected.csv"),
        ("select", home / "people.csv", "-o", out, *FAST, "--force"),
    ):
        shutil.copytree(home / "results", tmp_path / ".out.old")
        shutil.copytree(home / "results", tmp_path / ".out.new")
        (tmp_path / ".out.new" / "model.skops").unlink()
        assert call(*arguments)[0] == 0
        assert sorted(os.listdir(out)) == sorted(os.listdir(home / "results"))
        assert not (tmp_path / ".out.old").exists()
        assert not (tmp_path / ".out.new").exists()
        shutil.rmtree(out)


@pytest.mark.parametrize(
    ("arguments", "file", "words"),
    [
        (("compare", "people.csv", "--methods", "maxvariance", *FAST, "-o"), "c.csv", "MaxVar"),
        (("apply", "results", "people.csv", "-o"), "a.csv", "marker_"),
        (("report", "results", "-o"), "page.html", "</html>"),
        (("bench", "report", "bench", "-o"), "page.md", "variance"),
        (("bench", "export", "bench", "-o"), "rows.csv", "variance"),
    ],
    ids=lambda value: "-".join(value[:2]) if isinstance(value, tuple) else "",
)
def test_a_file_is_replaced_on_request_only(
    call, home, tmp_path, monkeypatch, arguments, file, words
):
    monkeypatch.chdir(home)
    out = tmp_path / file
    out.write_text("precious")
    code, shown, told = call(*arguments, out)
    assert (code, shown) == (2, "")
    assert told == (
        f"featsieve: {out} is there already: add --force to replace it (in Python "
        "overwrite=True), or name another file.\n"
    )
    assert out.read_text() == "precious"
    assert call(*arguments, out, "--force")[0] == 0
    assert words in out.read_text()


@pytest.mark.slow
def test_the_page_of_a_run_is_its_own(call, home, monkeypatch):
    """It is written again without asking, under whatever name."""
    monkeypatch.chdir(home)
    for folder, name, words in (
        ("results", "report.html", "</html>"),
        ("bench", "report.md", "ACC"),
    ):
        page = home / folder / name
        for more in ((), ("-o", page), ("-o", f"{folder}/{name}")):
            page.write_text("old")
            assert call("report", folder, *more)[0] == 0
            assert words in page.read_text()


@pytest.mark.slow
def test_two_selections_at_the_same_time(spawn, table, tmp_path):
    """The slower one gives up before it begins; nothing of it is left."""
    out = tmp_path / "out"
    both = [
        spawn("select", table, "-o", out, *QUICK, "--features", k, "--seed", k, wait=False)
        for k in (4, 5)
    ]
    ended = [process.communicate(timeout=300) for process in both]
    codes = [process.returncode for process in both]
    assert sorted(codes) == [0, 2], ended
    (_, told) = ended[codes.index(2)]
    assert told.startswith(
        (f"featsieve: Another command is writing to {out}", f"featsieve: {out} holds results")
    )
    assert told.count("\n") == 1
    k = (4, 5)[codes.index(0)]
    assert pd.read_csv(out / "selected.csv").shape == (90, k)
    assert pd.read_csv(out / "features.csv")["selected"].sum() == k
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "people.csv"]
    assert len(list(out.iterdir())) == 6


@pytest.mark.parametrize("command", ["--help", "--version", "select --help", "select"])
def test_a_closed_pipe_ends_it_well(spawn, table, tmp_path, command):
    words = command.split()
    if command == "select":
        words += [table, "-o", tmp_path / "out", *QUICK]
    process = spawn(*words, wait=False)
    process.stdout.close()  # as head does once it has its lines
    assert process.stderr.read() == ""
    process.wait()
    process.stderr.close()
    assert process.returncode == 0
    assert (tmp_path / "out").exists() == (command == "select")


@pytest.mark.slow
def test_streams_that_are_closed(home, tmp_path):
    """What is printed goes nowhere, and never into a file that gets the number of the stream."""
    out = tmp_path / "closed.csv"
    words = [sys.executable, "-m", "featsieve", "bench", "export", home / "bench", "-o", out]
    shell = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *map(str, words)]
    assert subprocess.run(shell, check=False).returncode == 0
    assert pd.read_csv(out)["cell"].nunique() == 1
    words = [sys.executable, "-m", "featsieve", "compare", "t.csv", "--methods", ","]
    shell = ["sh", "-c", 'exec "$@" 2>&-', "sh", *map(str, words)]
    done = subprocess.run(shell, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_what_is_printed_to_a_full_disk(spawn):
    with open("/dev/full", "w") as full:
        done = spawn("--version", stdout=full)
    assert done.returncode == 2
    assert done.stderr == (
        "featsieve: What is printed cannot be written (No space left on device).\n"
    )


@pytest.mark.slow
def test_odd_surroundings(home, tmp_path):
    """No home, no temporary folder, no locale: a folder whose name Python cannot read will do."""
    ascii_only = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "OMP_NUM_THREADS": "1",
        "TMPDIR": str(tmp_path / "gone"),
        "PYTHONCOERCECLOCALE": "0",
        **ascii_only,
    }
    out = os.path.join(os.fsencode(tmp_path), "größer".encode(), b"\xff")
    command = [sys.executable, "-m", "featsieve", "select", home / "people.csv", "-o", out, *QUICK]
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    assert len(os.listdir(out)) == 6
    with open(os.path.join(out, b"report.html"), encoding="utf-8") as page:
        assert "größer" in page.read()


@pytest.mark.slow
def test_a_folder_that_is_read_only(home, tmp_path):
    """Mounted so: nobody, not even root, can write there."""
    script = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" || exit 99; exec "$0" -c "$2"'
    commands = [
        ("select", f"{home}/people.csv", "-o", f"{home}/results", "--force", *FAST),
        ("bench", "run", f"{home}/one.toml", "--out", f"{home}/bench"),
        ("report", f"{home}/results"),
        ("report", f"{home}/results", "-o", f"{tmp_path}/page.html"),
    ]
    code = f"""
import sys
from featsieve.cli import main
for command in {commands!r}:
    try:
        main(command)
    except SystemExit as end:
        print(end.code, file=sys.stderr)
"""
    shell = ["unshare", "-m", "sh", "-c", script, sys.executable, home, code]
    try:
        done = subprocess.run(map(str, shell), capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("needs unshare")
    if done.returncode == 99 or "unshare failed" in done.stderr:
        pytest.skip("nothing can be mounted here")
    reason = "Read-only file system"
    assert done.stderr.splitlines() == [
        f"featsieve: Nothing can be written to {home}/results: {home} cannot be written to or "
        f"locked ({reason}). Name another folder.",
        "2",
        f"featsieve: Results cannot be written to {home}/bench ({reason}): name another folder "
        "with --out.",
        "2",
        f"featsieve: {home}/results/report.html cannot be written ({reason}): name another place.",
        "2",
        "0",
    ]
    assert "<html" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("digits.html", "holds digits.html, which is not a result of this command: name"),
        ("planted.html", "holds results already (planted.html): add --force"),
    ],
)
def test_a_demo_replaces_demos_only(call, tmp_path, name, told):
    """And says so before it begins."""
    if name == "digits.html":
        (tmp_path / name).mkdir()
    else:
        (tmp_path / name).write_text("# My own report\n")
    code, shown, error = call("demo", "-o", tmp_path)
    assert (code, shown) == (2, "")
    assert error.startswith(f"featsieve: {tmp_path} {told}")
    assert os.listdir(tmp_path) == [name]

"""Kill -9 in the middle: nothing lost, nothing mixed up, and the next run ends as if undisturbed.

A few kills here; the figures of many more are committed. That the harness finds faults is tested,
too.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from featsieve.workflow import save_run, select_features

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "kills.md"
FAULTS = ("losses", "mixtures", "corrupt", "leftovers", "not exact")

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes of Unix")


def table_of(text):
    """Return the figures of each case."""
    header, _, *lines = [line for line in text.splitlines() if line.startswith("|")]
    names = [name.strip() for name in header.strip("|").split("|")][1:]
    rows = {}
    for line in lines:
        case, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        rows[case] = dict(zip(names, map(int, cells), strict=True))
    return rows


def check(row, *, at_least):
    assert row["kills"] >= at_least
    assert row["resumes"] == row["kills"]
    assert {name: row[name] for name in FAULTS} == dict.fromkeys(FAULTS, 0)


def test_killed_commands_lose_nothing_and_go_on():
    """Commands are killed in forks, which spares the imports, if not those of the workers."""
    few = ("--select-times", "0", "--select-operations", "4")
    bench = ("--bench-times", "0", "--bench-operations", "1", "--bench-workers", "0")
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "kills.py"), "--warm", *few, *bench],
        env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = table_of(done.stdout)
    check(rows["select"], at_least=4)
    check(rows["select --force"], at_least=4)
    check(rows["bench run"], at_least=1)


def test_the_committed_figures():
    rows = table_of(RESULTS.read_text())
    for case, row in rows.items():
        check(row, at_least=100 if case == "all" else 1)
    assert rows["all"]["kills"] == sum(row["kills"] for case, row in rows.items() if case != "all")


@pytest.fixture(scope="module")
def checks():
    """Return the checks of the harness."""
    sys.path.append(str(ROOT / "benchmarks"))
    try:
        import kills
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))
    return kills


@pytest.fixture(scope="module")
def results(small_planted, tmp_path_factory):
    """Return folders with two selections of one table."""
    home = tmp_path_factory.mktemp("results")
    for k in (2, 3):
        run = select_features(small_planted.X, n_clusters=k, n_features=2 * k, n_subsamples=0)
        save_run(run, home / str(k))
    return home / "2", home / "3"


def test_the_harness_tells_a_mixture_from_a_result(checks, results, tmp_path):
    contents = [checks.selection_content(folder) for folder in results]
    assert contents[0] != contents[1]
    names = sorted(path.name for path in results[0].iterdir())
    assert len(names) == 6
    for name in names:
        for source in (0, 1):
            mixed = tmp_path / f"{name}-{source}"
            mixed.mkdir()
            for other in names:
                folder = results[source] if other == name else results[1 - source]
                (mixed / other).write_bytes((folder / other).read_bytes())
            assert checks.selection_content(mixed) not in contents
    assert checks.selection_content(tmp_path / "nowhere") is None


def test_the_harness_finds_files_that_are_not_whole(checks, results, tmp_path):
    assert checks.corrupt_files(results[0]) == []
    for path in results[0].iterdir():
        content = path.read_bytes()
        (tmp_path / path.name).write_bytes(content[: len(content) * 2 // 3 + 1])
    (tmp_path / ".hidden.csv").write_text("a,b\n1")
    assert len(checks.corrupt_files(tmp_path)) == 6
    assert checks.hidden_files(tmp_path) == [".hidden.csv"]

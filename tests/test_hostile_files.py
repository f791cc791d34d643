"""Hostile files are refused in one sentence, at little cost, and nothing of them runs.

The files are those of benchmarks/hostile_files.py, which runs the command line on each in a process
of its own. Here they are read in this process, under a small limit of memory; some that would end
the process if they got through are given to the command line as well.
"""

import importlib.util
import re
import resource
import sys
import time
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from featsieve.bench import load_plan
from featsieve.datasets import open_table, read_table
from featsieve.io.models import load_model
from featsieve.workflow.summary import read_summary

ROOT = Path(__file__).parents[1]
SCRIPTS = ("hostile_cases", "hostile_tables", "hostile_models", "hostile_files")
MEMORY = 2**29
SECONDS = 20.0  # of processor time; the slowest takes a few


def load(names):
    """Import scripts of the benchmarks, which are no package."""
    before = list(sys.path)
    try:
        for name in names:
            place = ROOT / "benchmarks" / f"{name}.py"
            spec = importlib.util.spec_from_file_location(name, place)
            sys.modules[name] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(sys.modules[name])
    finally:
        sys.path[:] = before
    return sys.modules[names[-1]]


HOSTILE = load(SCRIPTS)
QUICK = [case for case in HOSTILE.CASES if not case.slow]


def read(case, path):
    """Do in this process what the command does with the file first."""
    readers = {
        "apply": load_model,
        "bench": load_plan,
        "report": read_summary,
        "open_table": lambda path: open_table(path).compute(scheduler="synchronous"),
        "inspect": lambda path: read_table(path, drop_text=True),
        "select": read_table,
    }
    return readers[case.command[0]](path)


@contextmanager
def memory_left(size):
    """Let this process have so many more bytes of memory: whoever asks for more gets an error.

    The highest memory so far would not do: it says nothing after another test that took more.
    """
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def test_more_memory_is_refused():
    with memory_left(MEMORY):
        np.ones(MEMORY // 16)
        with pytest.raises(MemoryError):
            np.ones(MEMORY // 7)


@pytest.mark.parametrize("case", QUICK, ids=lambda case: f"{case.group}: {case.what}")
def test_a_hostile_file(case, tmp_path, monkeypatch):
    monkeypatch.setenv("FEATSIEVE_MAX_MEMORY", str(MEMORY))
    monkeypatch.chdir(tmp_path)
    path = tmp_path / case.file
    case.build(path)
    before = HOSTILE.contents(tmp_path)
    begun = time.process_time()
    with memory_left(MEMORY * 3 // 2), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if not case.says:
            read(case, path)
        else:
            with pytest.raises((ValueError, OSError)) as told:
                read(case, path)
    assert time.process_time() - begun < SECONDS
    assert not caught, str(caught[0].message)
    assert HOSTILE.contents(tmp_path) == before
    if case.says:
        said = str(told.value)
        assert re.search(case.says, said), said
        assert Path(case.file).stem in said
        assert said.isprintable()
        assert said.endswith((".", "?"))


# Files that would end the process if they got through.
FATAL = ("100,000 deep", "8 GiB of rows")


@pytest.mark.parametrize("what", FATAL)
def test_the_command_line_survives(what, tmp_path, monkeypatch):
    monkeypatch.setattr(HOSTILE, "MEMORY", 2**31)  # less than in the benchmark: it is full sooner
    (case,) = [case for case in HOSTILE.CASES if what in case.what]
    outcome = HOSTILE.run(case, tmp_path)
    assert outcome.problems == ()
    assert outcome.peak < HOSTILE.MEMORY / 2**20


def test_every_kind_of_file_has_cases():
    groups = {case.group.split(" ")[0] for case in HOSTILE.CASES}
    assert groups == {
        *("path", "csv", "csv.gz", "npz", "mat", "h5ad", "parquet", "zarr", "model", "plan"),
        "summary",
    }
    assert len(HOSTILE.CASES) > 100
    assert len({(case.group, case.what) for case in HOSTILE.CASES}) == len(HOSTILE.CASES)


def test_problems_are_seen():
    case = next(case for case in QUICK if case.what == "empty")
    told = "table.csv: the file is empty"
    assert HOSTILE.problems(case, 2, told, set(), set()) == []
    assert HOSTILE.problems(case, -11, "", set(), set())[0] == "exit code -11, not 2"
    assert HOSTILE.problems(case, 2, f"{told}\nTraceback", set(), set())
    assert HOSTILE.problems(case, 2, "table.csv: no", set(), set())
    assert HOSTILE.problems(case, 2, "the file is empty", set(), set())
    assert HOSTILE.problems(case, 2, f"{told}\x1b", set(), set())
    assert HOSTILE.problems(case, 2, told, set(), {HOSTILE.MARK})

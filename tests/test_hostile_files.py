"""Hostile files are refused in one sentence, and nothing of them runs.

The files are those of benchmarks/hostile_files.py, which runs the command line on each in a process
of its own. Here they are read by the functions behind it, with small limits.
"""

import importlib.util
import re
import sys
import warnings
from pathlib import Path

import pytest

from featsieve.bench import load_plan
from featsieve.datasets import read_table
from featsieve.io import child
from featsieve.io.models import load_model
from featsieve.workflow.outputs import read_summary

ROOT = Path(__file__).parents[1]
SCRIPTS = ("hostile_cases", "hostile_tables", "hostile_models", "hostile_files")


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
# One for every way to end: the others are read by `make test-all`.
QUICK = {
    "a pipe that nobody writes to",
    "zero bytes far inside",
    "pickled objects",
    "a shape of 10^15",
    "cells inside of cells, 100,000 deep (20 KB)",
    "words in a heap that has no end",
    "a table that is a mosaic of other files",
    "a column that makes pyarrow end the process",
    "lists without end",
}


def marked(case):
    """Return a case with its marks."""
    slow = case.what not in QUICK
    name = f"{case.group}: {case.what}"
    return pytest.param(case, id=name, marks=[pytest.mark.slow] if slow else [])


def read(case, path):
    """Do in this process what the command does with the file first."""
    readers = {
        "apply": load_model,
        "bench": load_plan,
        "report": read_summary,
        "inspect": lambda path: read_table(path, drop_text=True),
        "select": read_table,
    }
    return readers[case.command[0]](path)


@pytest.mark.parametrize("case", [marked(case) for case in HOSTILE.CASES if not case.slow])
def test_a_hostile_file(case, tmp_path, monkeypatch):
    monkeypatch.setattr(child, "isolated", True)
    monkeypatch.setenv("FEATSIEVE_MAX_MEMORY", "512M")
    # long enough for the honest among them on a busy machine
    monkeypatch.setenv(
        "FEATSIEVE_MAX_SECONDS", "3" if case.says == sys.modules["hostile_cases"].TOO_LONG else "60"
    )
    monkeypatch.chdir(tmp_path)
    path = tmp_path / case.file
    case.build(path)
    before = HOSTILE.contents(tmp_path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if not case.says:
            read(case, path)
        else:
            with pytest.raises((ValueError, OSError)) as told:
                read(case, path)
    assert not caught, str(caught[0].message)
    assert HOSTILE.contents(tmp_path) == before
    if case.says:
        said = str(told.value)
        assert re.search(case.says, said), said
        assert Path(case.file).stem in said
        assert said.isprintable()
        assert said.endswith((".", "?"))


# Files that would end the process if they got through.
@pytest.mark.slow
@pytest.mark.parametrize("what", ["100,000 deep", "8 GiB of rows"])
def test_the_command_line_survives(what, tmp_path, monkeypatch):
    monkeypatch.setattr(HOSTILE, "MEMORY", 2**31)  # less than in the benchmark: it is full sooner
    (case,) = [case for case in HOSTILE.CASES if what in case.what]
    outcome = HOSTILE.run(case, tmp_path)
    assert outcome.problems == ()


def test_every_kind_of_file_has_cases():
    groups = {case.group.split(" ")[0] for case in HOSTILE.CASES}
    assert groups == {
        *("path", "csv", "csv.gz", "npz", "mat", "h5ad", "parquet", "model", "plan"),
        "summary",
    }
    assert len({(case.group, case.what) for case in HOSTILE.CASES}) == len(HOSTILE.CASES) == 144
    assert {case.what for case in HOSTILE.CASES} > QUICK


def test_problems_are_seen():
    case = next(case for case in HOSTILE.CASES if case.what == "empty")
    told = "table.csv: the file is empty"
    assert HOSTILE.problems(case, 2, told, set(), set()) == []
    assert HOSTILE.problems(case, -11, "", set(), set())[0] == "exit code -11, not 2"
    for said in (f"{told}\nTraceback", "table.csv: no", "the file is empty", f"{told}\x1b"):
        assert HOSTILE.problems(case, 2, said, set(), set())
    assert HOSTILE.problems(case, 2, told, set(), {HOSTILE.MARK})

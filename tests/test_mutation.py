"""The mutants of benchmarks/mutation.py: what is changed, and what the page says of it."""

import ast
import importlib
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
SOURCE = '''"""A module."""

LIMIT = 3


def f(x: int, y: float = 0.5) -> float:
    """Return something."""
    if x < LIMIT and not y:
        raise ValueError(f"{x} + 1 is wrong")
    for i in range(x):
        if i == 2:
            break
        y += max(i, 1)
    return -y
'''


@pytest.fixture
def benchmark(monkeypatch):
    """Import files of the benchmarks folder, which is no package."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    names = ("mutants", "mutant_tests", "mutation")
    yield lambda name: importlib.import_module(name)
    for name in names:
        sys.modules.pop(name, None)


@pytest.fixture
def some(benchmark, tmp_path):
    path = tmp_path / "some.py"
    path.write_text(SOURCE)
    return list(benchmark("mutants").mutants(path))


def test_every_mutant_is_another_program(some):
    programs = {ast.dump(ast.parse(mutant.source)) for mutant in some}
    assert len(programs) == len(some)
    assert ast.dump(ast.parse(SOURCE)) not in programs


def test_the_changes(some):
    changes = [(mutant.line, mutant.change) for mutant in some]
    assert changes == [
        (3, "3 → 4"),
        (6, "0.5 → 1.5"),
        (8, "if x < LIMIT and (not y): → if not (x < LIMIT and (not y)):"),
        (8, "x < LIMIT and (not y) → x < LIMIT or not y"),
        (8, "x < LIMIT → x <= LIMIT"),
        (8, "not y → y"),
        (9, "raise ValueError(f'{x} + 1 is wrong') → pass"),
        (11, "i == 2 → i != 2"),
        (11, "2 → 3"),
        (12, "break → continue"),
        (13, "y += max(i, 1) → y -= max(i, 1)"),
        (13, "y += max(i, 1) → pass"),
        (13, "max(i, 1) → min(i, 1)"),
        (13, "1 → 2"),
        (14, "-y → y"),
    ]
    assert some[0].name == "LIMIT"
    assert {mutant.scope for mutant in some[1:]} == {(6, 14)}


def test_a_changed_line_is_run_by_the_tests_that_reach_it(benchmark, some, tmp_path, monkeypatch):
    tests_of = benchmark("mutant_tests").tests_of
    monkeypatch.setattr(benchmark("mutant_tests"), "SOLVERS", tmp_path)
    watched = {
        "seconds": {"slow": 9.0, "fast": 1.0},
        "lines": {"some": {"8": ["slow", "fast"], "14": ["slow"]}},
    }
    at = {mutant.line: mutant for mutant in some}
    assert list(tests_of(at[8], watched, most=99.0)) == ["fast", "slow"]
    assert list(tests_of(at[8], watched, most=5.0)) == ["fast"]
    assert list(tests_of(at[14], watched, most=5.0)) == ["slow"]  # never none
    assert list(tests_of(at[12], watched, most=99.0)) == ["fast", "slow"]  # of the function
    assert list(tests_of(at[3], watched, most=99.0)) == ["fast", "slow"]  # where LIMIT is used


def test_the_page_drops_no_survivor(benchmark, some):
    mutation = benchmark("mutation")
    outcomes = [(mutant, "killed") for mutant in some[:12]]
    outcomes += [(some[12], "timed out"), (some[13], "survived"), (some[14], "survived")]
    text = mutation.page(outcomes)
    assert "| some | 15 | 12 | 1 | 2 | 0 | 86.7% |" in text
    assert "| some:14 | `-y → y` |" in text


def test_every_explained_line_is_there(benchmark):
    solvers = BENCHMARKS.parent / "src" / "featsieve" / "solvers"
    texts = {
        f"{path.stem}: {line.strip()}"
        for path in solvers.glob("*.py")
        for line in path.read_text().splitlines()
    }
    for entry in benchmark("mutation").equivalents():
        shorter = [entry.rsplit(" | ", count)[0] for count in range(3)]
        assert texts.intersection(shorter), entry

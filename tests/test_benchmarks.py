"""The benchmark scripts run where there are no data sets (the tables themselves take minutes)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def run_script(name, *arguments, data=None):
    environment = {key: value for key, value in os.environ.items() if key != "FEATSIEVE_DATA"}
    if data is not None:
        environment["FEATSIEVE_DATA"] = data
    command = [sys.executable, str(ROOT / "benchmarks" / name), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_quality_says_why_it_is_skipped():
    done = run_script("quality.py")
    assert done.returncode == 0, done.stderr
    assert "FEATSIEVE_DATA" in done.stdout


def test_text_measures_rules_on_a_synthetic_collection_and_says_what_it_skips(tmp_path):
    output = tmp_path / "text.md"
    rules = ("all columns", "variance")
    done = run_script(
        "text.py", "--tables", "t0", "news20", "--rules", *rules, "--output", str(output)
    )
    assert done.returncode == 0, done.stderr
    assert "news20 is skipped" in done.stdout
    lines = (tmp_path / "text.csv").read_text().splitlines()
    assert [line.split(",")[:3] for line in lines[1:]] == [
        ["t0", "all columns", "8000"],
        ["t0", "variance", "200"],
    ]
    assert all(f"| {rule} |" in output.read_text() for rule in rules)


def test_core_measures_both_solvers(tmp_path):
    output = tmp_path / "core.md"
    done = run_script(
        "core.py", "--synthetic", "300", "20", "--repeat", "1", "--output", str(output)
    )
    assert done.returncode == 0, done.stderr
    rows = [line.split("|") for line in output.read_text().splitlines() if "300 x 20" in line]
    assert [row[3].strip() for row in rows] == ["joint", "paper"]
    assert all(float(row[7]) > 0.0 for row in rows)


@pytest.mark.skipif(
    "FEATSIEVE_DATA" not in os.environ, reason="needs the data sets (FEATSIEVE_DATA)"
)
def test_quality_on_a_real_set_puts_joint_first(tmp_path):
    output = tmp_path / "quality.md"
    done = run_script(
        "quality.py", "--sets", "brain", "--output", str(output), data=os.environ["FEATSIEVE_DATA"]
    )
    assert done.returncode == 0, done.stderr
    row = next(line for line in output.read_text().splitlines() if line.startswith("| brain"))
    areas = [float(cell.split("/")[0]) for cell in row.split("|")[5:10]]
    assert areas[0] == max(areas)
    assert areas[0] > 70.0


def test_the_readme_shows_the_tables_that_the_scripts_printed():
    readme = (ROOT / "README.md").read_text()
    quality = (ROOT / "benchmarks" / "results" / "quality.md").read_text()
    for row in [line for line in quality.splitlines() if "**mean" in line]:
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        for cell in (cells[1], *cells[4:9]):
            assert cell in readme


def test_fuzz_counts_what_became_of_the_tables(tmp_path):
    output = tmp_path / "fuzz.md"
    test = "tests/fuzz/test_estimators.py::test_any_table_is_fitted_or_refused[MaxVariance]"
    options = ("--examples", "5", "--processes", "1", "--tests", test, "--output", str(output))
    done = run_script("fuzz.py", *options)
    assert done.returncode == 0, done.stdout
    rows = [line.strip("| ").split(" | ") for line in output.read_text().splitlines()]
    counts = {
        row[0]: [int(count) for count in row[1:]]
        for row in rows
        if len(row) == 8 and row[1].isdigit()
    }
    assert counts["MaxVariance"] == counts["**all**"]
    examples, fitted, read, refused, failures, _, layouts = counts["**all**"]
    assert examples >= 5
    assert (fitted + refused, read, failures) == (examples, 0, 0)
    assert layouts <= fitted

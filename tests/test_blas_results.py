"""Other BLAS libraries change the last digits, no selection: what is committed says so."""

import csv
import re
import subprocess
import sys
from pathlib import Path

import pytest

import featsieve

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
TOLERANCE = 1e-9  # documented: scores and objectives agree to this


@pytest.fixture(scope="module")
def rows():
    with (RESULTS / "blas.csv").open() as file:
        return list(csv.DictReader(file))


def test_every_selector_was_compared_with_several_libraries(rows):
    assert {row["method"] for row in rows} == set(featsieve.selectors.__all__)
    ways = {row["way"] for row in rows}
    assert {"OpenBLAS, two threads", "torch"} <= ways
    assert len(ways) >= 4
    assert len({row["table"] for row in rows}) >= 3


def test_selections_are_the_same_and_scores_agree(rows):
    for row in rows:
        assert row["same_selection"] == "yes", row
        assert float(row["scores"]) <= TOLERANCE, row
        assert float(row["objective"] or 0.0) <= TOLERANCE, row


def test_the_page_shows_the_largest_difference(rows):
    page = (RESULTS / "blas.md").read_text()
    largest = max(max(float(row["scores"]), float(row["objective"] or 0.0)) for row in rows)
    assert f"The largest of all is {largest:.1e}, within the tolerance of {TOLERANCE:g}." in page


@pytest.mark.skipif(sys.platform != "linux", reason="kernels of x86 under Linux")
def test_the_script_compares_kernels_and_threads(tmp_path):
    output = tmp_path / "blas"
    script = str(ROOT / "benchmarks" / "blas.py")
    some = ["--tables", "planted_small", "--methods", "MaxVariance", "UDFS", "--no-torch"]
    command = [sys.executable, script, *some, "--kernels", "Haswell", "--output", str(output)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with output.with_suffix(".csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["method"] for row in rows] == ["MaxVariance", "UDFS"]
    assert {row["way"] for row in rows} == {"OpenBLAS, two threads"}
    assert [bool(row["objective"]) for row in rows] == [False, True]
    assert re.search(r"The largest of all is \d", output.with_suffix(".md").read_text())

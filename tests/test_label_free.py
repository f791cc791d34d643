"""The benchmark of the label-free rules runs, and repeats a committed row."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
ROWS = ROOT / "benchmarks" / "results" / "label_free.csv"


@pytest.mark.slow
@pytest.mark.skipif("FEATSIEVE_DATA" not in os.environ, reason="needs the real data sets")
def test_the_script_repeats_a_committed_row(tmp_path):
    out = tmp_path / "rows.csv"
    command = [sys.executable, str(ROOT / "benchmarks" / "label_free.py"), "--sets", "colon"]
    command += ["--methods", "LaplacianScore", "--jobs", "1", "--csv", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "## LaplacianScore: regret" in done.stdout
    with out.open(encoding="utf-8") as file:
        ours = {row["rule"]: row for row in csv.DictReader(file)}
    with ROWS.open(encoding="utf-8") as file:
        committed = {
            row["rule"]: row
            for row in csv.DictReader(file)
            if (row["set"], row["method"]) == ("colon", "LaplacianScore")
        }
    assert ours.keys() == committed.keys()
    same = [float(ours[rule]["chosen"]) == float(committed[rule]["chosen"]) for rule in ours]
    assert np.mean(same) >= 0.8  # k-means may end elsewhere with another BLAS

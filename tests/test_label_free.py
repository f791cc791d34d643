"""The benchmark of the label-free rules runs, and has the rules of the committed rows."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROWS = ROOT / "benchmarks" / "results" / "label_free.csv"


@pytest.mark.slow
@pytest.mark.skipif("FEATSIEVE_DATA" not in os.environ, reason="needs the real data sets")
def test_the_script_has_the_rules_of_the_committed_rows(tmp_path):
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
    # Numbers differ: the committed rows are of the pseudo-labels before the label hypotheses.
    for rule in ours:
        assert 1 <= float(ours[rule]["chosen"]) <= 2000, rule

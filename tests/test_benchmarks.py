"""Smoke runs of the benchmark scripts (the tables themselves take minutes)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
ONE_TEST = "tests/fuzz/test_estimators.py::test_any_table_is_fitted_or_refused[MaxVariance]"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("quality.py",), "FEATSIEVE_DATA"),  # says why it is skipped
        (("planted.py", "--kinds=60x2000", "--seeds=1", "--jobs=1", "--no-more"), "| 60x2000 |"),
        (("planted_methods.py", "--kinds=tall", "--seeds=1", "--methods", "MCFS"), "| tall |"),
        (
            ("hypotheses.py", "--kinds=60x2000", "--seeds=1", "--constants", "LEAST_ROOM"),
            "LEAST_ROOM",
        ),
        (
            ("calibration_qvalues.py", "--tables=1", "--noise=normal 60x300", "--kinds"),
            "without a discovery",
        ),
        (("core.py", "--synthetic", "300", "20", "--repeat", "1"), "300 x 20"),
        (("text.py", "--tables", "t0", "news20", "--rules", "variance"), "news20 is skipped"),
        (("fuzz.py", "--examples", "5", "--processes", "1", "--tests", ONE_TEST), "MaxVariance"),
        (("fseval.py",), "--published"),  # says what it needs
        (("genes.py",), "skipped"),  # without scanpy, or without cells
        (("peers.py", "--help"), "--iterations"),
        (("kills.py", "--help"), "--bench-operations"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_scripts_run(tmp_path, command, words):
    environment = {key: value for key, value in os.environ.items() if key != "FEATSIEVE_DATA"}
    script, *options = command
    output = [] if "--help" in options else ["--output", str(tmp_path / "page.md")]
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / script), *options, *output],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert words in done.stdout

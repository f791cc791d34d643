"""Kill -9 in the middle: nothing lost, nothing mixed up, and the next run ends as if undisturbed.

A few kills here; the figures of many more are in ``benchmarks/results/kills.md``.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "kills.py"


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="processes of Unix")
def test_killed_commands_lose_nothing_and_go_on():
    """Any fault is an exit status.

    Kills of `bench run` are in tests/bench/test_run.py, kills before every single operation on a
    folder of results in tests/io/test_results.py.
    """
    few = ("--select-times", "0", "--select-operations", "1")
    bench = ("--bench-times", "0", "--bench-operations", "0", "--bench-workers", "0")
    done = subprocess.run(
        [sys.executable, SCRIPT, *few, *bench], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "| all | 2 | 2 | 0 | 0 | 0 | 0 | 0 |" in done.stdout

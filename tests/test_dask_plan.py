"""The plan for many machines: the page shows what the script prints, and the arithmetic adds up."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def plan(*options):
    script = [sys.executable, str(ROOT / "benchmarks" / "dask_plan.py"), *options]
    return subprocess.run(script, capture_output=True, text=True, check=True).stdout


def test_the_page_shows_what_the_script_prints():
    printed = plan().strip()
    assert printed in (ROOT / "docs" / "guide" / "dask.md").read_text(encoding="utf-8")
    assert printed == (ROOT / "benchmarks" / "results" / "dask_plan.md").read_text().strip()


def test_twice_the_machines_read_in_half_the_time():
    def minutes(text):
        row = next(line for line in text.splitlines() if line.startswith("| means"))
        return row.split("|")[5].strip()

    assert minutes(plan("--rows", "3e8", "--memory-gb", "10", "--machines", "10")) == "10 min"
    assert minutes(plan("--rows", "3e8", "--memory-gb", "10", "--machines", "20")) == "5 min"
    assert minutes(plan("--rows", "1e6", "--machines", "20")) == "0.0 s"  # it fits into memory

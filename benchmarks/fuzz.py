"""Fuzzing: what becomes of tables of every kind.

Every selector and meta-estimator is given tables drawn at random (shapes, types, layouts, extreme,
constant, repeated and missing numbers; see tests/fuzz/tables.py) with parameters drawn at random
(tests/fuzz/estimators.py). The fit must end with a complete, finite, repeatable answer, or with an
error that says what to do (tests/fuzz/contract.py). So must questions about a table, and the
reading of files that were damaged at random. Fitted or read: the former; refused: the latter;
failures: neither. Examples that failed are kept by hypothesis, and are tried first the next time.

Fits that were made again on a table that says the same in another way (tests/fuzz/relations.py):
in other units, that is times a power of two, where the answer must be the same to the last bit; in
another layout, type of matrix, byte order or array library, where the selection must be the same
(of tables without copies and ties, and of clusters that are several and have three samples each, or
more: where rounding would decide otherwise).

Usage: python benchmarks/fuzz.py [--examples 600] [--processes 2] [--tests tests/fuzz]
           [--output benchmarks/results/fuzz.md]
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from common import finish, options, table

ROOT = Path(__file__).parents[1]
CORES = len(os.sched_getaffinity(0))


def run(examples: int, tests: list[str], *, processes: int, folder: str) -> int:
    """Run the tests in some processes; return pytest's exit status."""
    command = [sys.executable, "-m", "pytest", "-q", "-n", str(processes), "--tb", "short", *tests]
    settings = {"FEATSIEVE_FUZZ_EXAMPLES": str(examples), "FEATSIEVE_FUZZ_COUNTS": folder}
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **settings}, check=False).returncode


def outcomes(folder: str) -> Counter[tuple[str, str]]:
    """Return how often each estimator was fitted, refused, or failed."""
    total: Counter[tuple[str, str]] = Counter()
    for file in Path(folder).glob("*.json"):
        for name, what, count in json.loads(file.read_text()):
            total[name, what] += count
    return total


def report(total: Counter[tuple[str, str]], seconds: float) -> list[str]:
    """Return the lines of the table."""
    columns = ("examples", "fitted", "read", "refused", "failures", "other units", "other layout")
    names = sorted({name for name, _ in total})
    for name in names:
        done = sum(total[name, what] for what in columns[1:4])
        total[name, "failures"] = total[name, "examples"] - done
    rows = [[name, *(total[name, what] for what in columns)] for name in names]
    rows.append(["**all**", *(sum(total[name, what] for name in names) for what in columns)])
    text = [f"Measured on {CORES} cores in {seconds / 60:.0f} minutes.", ""]
    return text + table(["what", *columns], rows)


def main() -> int:
    parser = options(__doc__)
    parser.add_argument("--examples", type=int, default=600, help="of each estimator")
    parser.add_argument("--tests", nargs="+", default=["tests/fuzz"], help="arguments of pytest")
    parser.add_argument("--processes", type=int, default=CORES)
    arguments = parser.parse_args()
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        status = run(
            arguments.examples, arguments.tests, processes=arguments.processes, folder=folder
        )
        text = report(outcomes(folder), time.perf_counter() - begun)
    whole = status in (0, 1)  # passed or failed, not interrupted
    finish(arguments.output if whole else None, "Fuzzing", __doc__, text)
    if not whole:
        print(f"pytest ended with status {status}: these are not the counts of a whole run.")
    return status


if __name__ == "__main__":
    sys.exit(main())

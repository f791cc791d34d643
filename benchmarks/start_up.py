"""What starting costs: modules, calls and processor seconds of imports and commands.

Every row runs in a fresh process. Seconds are processor time (user and system, waiting for a busy
machine is not counted), the median of several processes after one that fills the caches. Modules
are those of featsieve, and the optional libraries among all others. Depth is the largest number of
functions of featsieve that were inside each other. ``select`` reads a csv file of 100 x 50.

Usage: python benchmarks/start_up.py [--repeat 5] [--output benchmarks/results/start_up.md]
"""

import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from common import finish, options

OPTIONAL = (
    "anndata", "cupy", "dask", "distributed", "h5py", "jinja2", "matplotlib", "pandas", "polars",
    "pooch", "pyarrow", "skops", "torch", "typer", "zarr",
)  # fmt: skip
# What is measured, as Python; the commands end with SystemExit.
ROWS = {
    "`import featsieve`": "import featsieve",
    "`from sklearn.feature_selection import SelectKBest`": (
        "from sklearn.feature_selection import SelectKBest"
    ),
    "`from featsieve import JASFS`": "from featsieve import JASFS",
    "`from featsieve import *`": "from featsieve import *",
    "`featsieve --help`": "from featsieve.cli import main; main(['--help'])",
    "`featsieve select TABLE -o FOLDER`": (
        "from featsieve.cli import main; main(['select', 'table.csv', '-o', 'out'])"
    ),
}
# Counts the functions of featsieve on the stack at every call, and lists modules at the end.
WATCH = """
import json, os, sys
depth = deepest = 0
def own(frame):
    name = frame.f_globals.get("__name__") or ""
    return name.split(".")[0] == "featsieve" and frame.f_code.co_name[0] != "<"
def watch(frame, event, argument):
    global depth, deepest
    if event in ("call", "return") and own(frame):
        depth += 1 if event == "call" else -1
        deepest = max(depth, deepest)
sys.setprofile(watch)
try:
    exec({code!r})
except SystemExit as end:
    assert not end.code, end.code
finally:
    sys.setprofile(None)
found = sorted(name for name in sys.modules if name.split(".")[0] == "featsieve")
optional = [name for name in {optional!r} if name in sys.modules]
with open({report!r}, "w") as file:
    json.dump([len(found), optional, deepest, found], file)
"""
TABLE = """
from featsieve.datasets import make_planted
import numpy
X = make_planted(100, 50, n_informative=10, n_clusters=3, random_state=0).X
numpy.savetxt("table.csv", X, delimiter=",", header=",".join(f"g{j}" for j in range(50)),
              comments="")
"""


def run(program: str, folder: Path) -> float:
    """Run a program in a process of its own; return its processor seconds."""
    shutil.rmtree(folder / "out", ignore_errors=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(repeat: int, folder: Path) -> dict[str, list]:
    """Return modules, optional libraries, depth, names of modules and seconds of every row."""
    run(TABLE, folder)
    found = {}
    for name, code in ROWS.items():
        report = str(folder / "report.json")
        run(WATCH.format(code=code, optional=OPTIONAL, report=report), folder)
        found[name] = json.loads(Path(report).read_text(encoding="utf-8"))
    # the rows take turns, so that a slow moment hits all alike
    seconds = [[run(code, folder) for code in ROWS.values()] for _ in range(repeat)]
    for name, times in zip(ROWS, zip(*seconds, strict=True), strict=True):
        found[name].append(statistics.median(times))
    return found


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--repeat", type=int, default=5, help="processes for each row")
    parser.add_argument("--modules", action="store_true", help="list the modules of `select`")
    arguments = parser.parse_args()
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        found = measure(arguments.repeat, Path(folder))
    lines = [
        "| what | processor seconds | modules of featsieve | calls deep | optional libraries |",
        "|---|---:|---:|---:|---|",
    ]
    for name, (modules, optional, depth, _, seconds) in found.items():
        listed = ", ".join(optional) or "none"
        lines.append(f"| {name} | {seconds:.2f} | {modules} | {depth} | {listed} |")
    import sklearn

    lines += [
        "",
        f"Python {platform.python_version()}, scikit-learn {sklearn.__version__}, median of "
        f"{arguments.repeat}; TABLE is a csv file of 100 x 50.",
        "",
    ]
    finish(arguments.output, "What starting costs", __doc__, lines)
    if arguments.modules:
        print(*found["`featsieve select TABLE -o FOLDER`"][3], sep="\n")


if __name__ == "__main__":
    main()

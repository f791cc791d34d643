"""What importing featsieve costs beyond scikit-learn, in time and in modules.

Each row imports something in a fresh process, after what it is compared with: the figure is what
comes on top. Times are processor time (waiting for a busy machine is not counted), the median of
several processes after one that fills the caches.

Usage: python benchmarks/import_time.py [--repeat 9] [--output benchmarks/results/import_time.md]
"""

import argparse
import json
import platform
import statistics
import subprocess
import sys
from pathlib import Path

# What is measured, and what is there already.
ROWS = (
    ("import featsieve", "pass"),
    ("import sklearn", "pass"),
    ("from sklearn.feature_selection import SelectKBest", "pass"),
    ("from featsieve import JASFS", "from sklearn.feature_selection import SelectKBest"),
    ("from featsieve import *", "from sklearn.feature_selection import SelectKBest"),
    ("from featsieve import JASFS", "pass"),
)
OPTIONAL = (
    "anndata", "dask", "distributed", "h5py", "jinja2", "matplotlib", "polars", "pooch", "pyarrow",
    "skops", "torch", "typer", "zarr",
)  # fmt: skip
PROGRAM = """
import json, sys, time
{before}
known, begun = set(sys.modules), time.process_time()
{code}
seconds = time.process_time() - begun
new = set(sys.modules) - known
own = sum(name.split(".")[0] == "featsieve" for name in new)
optional = sorted(new & set({optional!r}))
print(json.dumps([seconds, len(new), own, optional]))
"""


def measure(code: str, before: str) -> tuple[float, int, int, list[str]]:
    """Return seconds, new modules, those of featsieve, and the optional libraries among them."""
    program = PROGRAM.format(before=before, code=code, optional=OPTIONAL)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return tuple(json.loads(done.stdout))


def table(repeat: int) -> str:
    """Return the Markdown table; the rows take turns, so that a slow moment hits all alike."""
    for row in ROWS:
        measure(*row)
    runs = [[measure(*row) for row in ROWS] for _ in range(repeat)]
    lines = [
        "| import | after | seconds | modules | of featsieve | optional libraries |",
        "|---|---|---:|---:|---:|---|",
    ]
    for row, measured in zip(ROWS, zip(*runs, strict=True), strict=True):
        seconds = statistics.median(run[0] for run in measured)
        _, modules, own, optional = measured[0]
        after = "" if row[1] == "pass" else f"`{row[1]}`"
        listed = ", ".join(optional) or "none"
        lines.append(f"| `{row[0]}` | {after} | {seconds:.3f} | {modules} | {own} | {listed} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=9, help="processes for each row")
    parser.add_argument("--output", type=Path, default=None, help="write the table there")
    arguments = parser.parse_args()
    import sklearn

    about = (
        f"Python {platform.python_version()}, scikit-learn {sklearn.__version__}, processor time, "
        f"median of {arguments.repeat}."
    )
    text = f"{table(arguments.repeat)}\n\n{about}\n"
    print(text)
    if arguments.output is not None:
        arguments.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

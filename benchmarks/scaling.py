"""Time and memory of JASFS as tables grow, each fit in a process of its own.

"samples": MNIST, 784 pixels, 2,000 to 70,000 images as bytes (where the data are), and a synthetic
table of 500 float32 columns with 50,000 to 1,000,000 rows. "features": 500 rows, 1,000 to 60,000
float32 columns. 100 features and 10 clusters, everything else at its default.

Peak memory is the highest resident memory of the process during the fit, less what it held before
the table was made: the table itself is part of it. It is given in MiB and in multiples of the
table; the libraries' own blocks and buffers take about 100 MiB, which is most of it for small
tables. Times are the better of two fits. The exponent of a series is the slope of a straight line
through log(seconds), or through log(peak), against log(size): 1 is linear. (Up to 5000
samples all of them form the label hypotheses, above 5000 rows do: the line goes through both.)

Usage: [FEATSIEVE_DATA=folder] python benchmarks/scaling.py [--largest 1000000]
       [--series mnist samples features] [--output benchmarks/results/scaling]
"""

import argparse
import json
import os
import platform
import time
from pathlib import Path

import numpy as np

import real_data
from common import finish, in_own_process, line, options, resident

SIZES = {
    "mnist": [2_000, 5_000, 10_000, 20_000, 40_000, 70_000],
    "samples": [50_000, 100_000, 200_000, 500_000, 1_000_000],
    "features": [1_000, 4_000, 15_000, 60_000],
}
UNITS = {"mnist": "images of 784 pixels", "samples": "rows of 500", "features": "columns of 500"}
N_CLUSTERS = 10
N_FEATURES = 100
FIELDS = ["series", "size", "seconds", "table_mib", "peak_mib", "peak_over_table", "families"]


def table(series: str, size: int) -> np.ndarray:
    """Return the table of a series."""
    if series == "mnist":
        with np.load(real_data.folder() / "scale" / "mnist_70000x784.npz") as stored:
            X = stored["X"]
        order = np.random.RandomState(0).permutation(len(X))[:size]
        return np.ascontiguousarray(X[np.sort(order)])
    n, d = (size, 500) if series == "samples" else (500, size)
    informative = d // 10
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((N_CLUSTERS, informative), dtype=np.float32)
    X = np.empty((n, d), dtype=np.float32)
    for start in range(0, n, 10_000):
        block = X[start : start + 10_000]
        rng.standard_normal(out=block, dtype=np.float32)
        block[:, :informative] += centres[rng.integers(0, N_CLUSTERS, len(block))]
    return X


def measure(series: str, size: int) -> dict:
    """Fit one table; called in a process of its own."""
    from featsieve import JASFS

    def estimator(**settings: object) -> JASFS:
        return JASFS(N_CLUSTERS, n_features_to_select=N_FEATURES, random_state=0, **settings)

    # Whatever is loaded by the first fit is loaded now.
    warm = np.random.default_rng(0).standard_normal((300, 200)).astype(np.float32)
    estimator().fit(warm)
    before = resident("VmRSS")
    X = table(series, size)
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    seconds = np.inf
    for _ in range(2):
        start = time.perf_counter()
        sieve = estimator().fit(X)
        seconds = min(seconds, time.perf_counter() - start)
    peak = resident("VmHWM") - before
    mib = X.nbytes / 2**20
    row = [series, size, round(seconds, 2), round(mib, 1), round(peak, 1), round(peak / mib, 2)]
    believed = zip(sieve.init_["family"], sieve.init_["weight"], strict=True)
    families = ", ".join(name for name, weight in believed if weight > 0.0)
    return dict(zip(FIELDS, [*row, families], strict=True))


def exponent(sizes: np.ndarray, values: np.ndarray) -> float:
    """Return the slope of log(values) against log(sizes)."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def tabulate(rows: list[dict]) -> list[str]:
    """Return the tables of the page."""
    cores = len(os.sched_getaffinity(0))
    text = [f"Measured on {cores} cores ({platform.machine()}), NumPy {np.__version__}.", ""]
    text += ["| table | size | seconds | table, MiB | peak, MiB | peak / table | families |"]
    text += ["|---|---|---|---|---|---|---|"]
    for row in rows:
        text.append(
            line([UNITS[row["series"]], f"{row['size']:,}", *(row[name] for name in FIELDS[2:])])
        )
    text += ["", "| table | exponent of time | exponent of memory |", "|---|---|---|"]
    for series in SIZES:
        own = [row for row in rows if row["series"] == series]
        if len(own) > 2:
            sizes = np.array([row["size"] for row in own])
            seconds = np.array([row["seconds"] for row in own])
            peak = np.array([row["peak_mib"] for row in own])
            text.append(
                f"| {UNITS[series]} | {exponent(sizes, seconds):.2f} | "
                f"{exponent(sizes, np.maximum(peak, 1.0)):.2f} |"
            )
    return text


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--largest", type=int, default=1_000_000, help="most samples or features")
    parser.add_argument("--series", nargs="+", choices=list(SIZES), default=list(SIZES))
    parser.add_argument("--measure", nargs=2, metavar=("SERIES", "SIZE"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        series, size = arguments.measure
        print(json.dumps(measure(series, int(size))))
        return
    rows = []
    for series in arguments.series:
        if series == "mnist" and real_data.folder() is None:
            print("FEATSIEVE_DATA is not set: MNIST is left out")
            continue
        for size in SIZES[series]:
            if size > arguments.largest:
                continue
            rows.append(in_own_process(__file__, "--measure", series, str(size)))
            print(rows[-1], flush=True)
    finish(arguments.output, "How JASFS scales", __doc__, tabulate(rows), rows)


if __name__ == "__main__":
    main()

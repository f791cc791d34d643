"""Honest files of 100 MB: read in the child process, in this one, and by the plain library.

Every file is read three times in each way, and the shortest time counts: seconds of the processor,
those of the child included (the files are in the cache of the system). They depend on what else
the machine does: a run beside other work gave starts that were three times as long.
"child" is `featsieve.datasets.read_table` as users call it; "here" is the same
without the child process; "library" is the shortest call of pandas, pyarrow, NumPy or h5py
that gives the numbers. The start of the process is what a table of two cells takes, of each format.

Usage: python benchmarks/reading.py [--mib 100] [--output benchmarks/results/reading]
"""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import scipy.sparse as sp

from common import finish, options
from featsieve.datasets import Dataset, read_table, write_table
from featsieve.io import child

RUNS = 3
COLUMNS = 100


def write_h5ad(path: Path, X: sp.csr_array) -> None:
    """Write compressed rows as anndata does: without packing them."""
    with h5py.File(path, "w") as file:
        group = file.create_group("X")
        group.attrs.update({"encoding-type": "csr_matrix", "shape": X.shape})
        for part in ("data", "indices", "indptr"):
            group[part] = getattr(X, part)


def read_h5ad(path: Path) -> Any:
    """Return compressed rows."""
    with h5py.File(path) as file:
        parts = tuple(file["X"][part][()] for part in ("data", "indices", "indptr"))
        return sp.csr_array(parts, shape=file["X"].attrs["shape"])


LIBRARIES: dict[str, Callable[[Path], Any]] = {
    ".csv": lambda path: pd.read_csv(path, float_precision="round_trip").to_numpy(),
    ".parquet": lambda path: pq.read_table(path).to_pandas().to_numpy(),
    ".npz": lambda path: np.load(path)["X"],
    ".h5ad": read_h5ad,
}


def write(folder: Path, size: int) -> None:
    """Write a file of every format with about so many bytes, and one of two cells."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(size // (8 * COLUMNS), COLUMNS))
    names = [f"gene {j}" for j in range(COLUMNS)]
    rows = len(X) * 8 // 19  # a number takes 19 letters
    pd.DataFrame(X[:rows], columns=names).to_csv(folder / "large.csv", index=False)
    pd.DataFrame(X, columns=names).to_parquet(folder / "large.parquet")
    np.savez(folder / "large.npz", X=X)
    entries = sp.random_array((size // (12 * 100), 1000), density=0.1, dtype=np.float32, rng=rng)
    write_h5ad(folder / "large.h5ad", sp.csr_array(entries))
    for ending in LIBRARIES:
        write_table(folder / f"tiny{ending}", Dataset("tiny", np.ones((1, 2))))


def seconds(read: Callable[[Path], Any], path: Path) -> float:
    """Return the shortest time of some runs."""
    times = []
    for _ in range(RUNS):
        begun = sum(os.times()[:4])  # of this process, and of those that it has waited for
        read(path)
        times.append(sum(os.times()[:4]) - begun)
    return min(times)


def measure(folder: Path, ending: str) -> str:
    """Return the line of a table."""
    large = folder / f"large{ending}"
    library = seconds(LIBRARIES[ending], large)
    child.isolated = False
    here = seconds(read_table, large)
    child.isolated = True
    start, isolated = seconds(read_table, folder / f"tiny{ending}"), seconds(read_table, large)
    size = large.stat().st_size / 2**20
    return (
        f"| {ending} | {size:.0f} | {library:.2f} | {here:.2f} | {isolated:.2f} | {start:.2f} | "
        f"{isolated - here - start:+.2f} | {isolated / library:.2f} |"
    )


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--mib", type=int, default=100, help="size of the files")
    arguments = parser.parse_args()
    text = ["| format | MiB | library, s | here, s | child, s | start, s | child - here - start | "
             "child / library |", "|---|---|---|---|---|---|---|---|"]  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        write(Path(name), arguments.mib * 2**20)
        for ending in LIBRARIES:
            text.append(measure(Path(name), ending))
            print(text[-1], flush=True)
    finish(arguments.output, "Reading honest files", __doc__, text)


if __name__ == "__main__":
    main()

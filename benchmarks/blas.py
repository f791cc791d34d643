"""What the BLAS library changes: the selections, and how many digits of the scores.

Every selector on three embedded tables, 10 % of the features to select, the true number of
clusters, all else at its default; each way of computing in a process of its own. OpenBLAS comes
with kernels for many processors, which sum in different orders and widths (SSE to AVX-512): the
variable OPENBLAS_CORETYPE chooses one. Two threads share the sums in another way again. The tables
of torch are multiplied by the BLAS library of torch, MKL on Intel and AMD processors.

The difference of the scores is relative to the largest score of the method, that of the objective
to the objective. The first way is the one that the others are compared with.

Usage: python benchmarks/blas.py [--output benchmarks/results/blas]
"""

import argparse
import json
import os
import subprocess
import warnings
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_info, threadpool_limits

import featsieve
from common import finish, in_own_process, line, options, selector, table
from featsieve.datasets import load_dataset

TABLES = ("planted_small", "wine", "planted_wide")
# Oldest first; a processor without the instructions of a kernel cannot run it.
KERNELS = ("Prescott", "Sandybridge", "Haswell", "SkylakeX")
# What differs by no more than this is said to agree: see docs/reliability.md.
TOLERANCE = 1e-9


def ways(kernels: list[str], *, torch: bool = True) -> dict[str, dict[str, str]]:
    """Return what the environment of each way is, by its name."""
    alone = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "FEATSIEVE_TABLES": "numpy"}
    found = {f"OpenBLAS, {name}": {**alone, "OPENBLAS_CORETYPE": name} for name in kernels}
    first = found[f"OpenBLAS, {kernels[0]}"]
    found["OpenBLAS, two threads"] = {**first, "OPENBLAS_NUM_THREADS": "2"}
    if torch and find_spec("torch"):
        found["torch"] = {**first, "FEATSIEVE_TABLES": "torch"}
    return found


def measure(tables: list[str], methods: list[str]) -> dict[str, Any]:
    """Fit everything; called in a process of its own. Says which BLAS it had."""
    libraries = {_words(pool) for pool in threadpool_info() if pool["user_api"] == "blas"}
    found: dict[str, Any] = {"blas": sorted(libraries)}
    in_torch = os.environ["FEATSIEVE_TABLES"] == "torch"
    if in_torch:
        import torch

        torch.set_num_threads(1)
        vendor = "MKL" if torch.backends.mkl.is_available() else "a BLAS library of its own"
        found["blas"].append(f"torch {torch.__version__.split('+')[0]} with {vendor}")
    for name in tables:
        data = load_dataset(name)
        X: Any = torch.tensor(data.X) if in_torch else data.X
        for method in methods:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                sieve = selector(method, len(np.unique(data.y)), 0.1).fit(X)
            found[f"{name} {method}"] = {
                "scores": sieve.scores_.tolist(),
                "objective": [float(value) for value in getattr(sieve, "objective_", ())[-1:]],
                "support": np.flatnonzero(sieve.support_).tolist(),
            }
    return found


def _words(pool: dict[str, Any]) -> str:
    """Name a BLAS library and its kernel."""
    threads = f"{pool['num_threads']} thread{'s'[: pool['num_threads'] != 1]}"
    return f"{pool['internal_api']} {pool['version']} ({pool['architecture']}, {threads})"


def relative(value: list[float], reference: list[float]) -> float:
    """Return the largest difference, relative to the largest number; NaN of nothing."""
    if not reference:
        return np.nan
    size = float(np.abs(reference).max()) or 1.0
    return float(np.abs(np.subtract(value, reference)).max()) / size


def compare(way: str, found: dict[str, Any], reference: dict[str, Any]) -> list[dict[str, Any]]:
    """Return one row for each table and method."""
    rows = []
    for key in (key for key in reference if key != "blas"):
        name, method = key.split()
        ours, theirs = found[key], reference[key]
        differences = {part: relative(ours[part], theirs[part]) for part in ("scores", "objective")}
        same = "yes" if ours["support"] == theirs["support"] else "no"
        rows.append(
            {"table": name, "method": method, "way": way, **differences, "same_selection": same}
        )
    return rows


def page(rows: pd.DataFrame, blas: dict[str, list[str]]) -> list[str]:
    """Return the tables of the page."""

    def number(values: pd.Series) -> str:
        return "" if values.isna().all() else f"{values.max():.1e}"

    text = table(["way", "libraries", "largest difference, scores", "objective",
                  "other selections"], [])  # fmt: skip
    for way, libraries in blas.items():
        own = rows[rows["way"] == way]
        if own.empty:
            text.append(line([way, "; ".join(libraries), "the reference", "", ""]))
            continue
        other = own[own["same_selection"] == "no"]
        words = ", ".join(other["method"] + " on " + other["table"]) or "none"
        text.append(
            line(
                [way, "; ".join(libraries), number(own["scores"]), number(own["objective"]), words]
            )
        )
    text += ["", "The largest of every method, over all ways and tables:", ""]
    text += table(["method", "scores", "objective", "selections"], [])
    for method, own in rows.groupby("method", sort=False):
        same = f"{(own['same_selection'] == 'yes').sum()} of {len(own)} the same"
        text.append(line([method, number(own["scores"]), number(own["objective"]), same]))
    largest = rows[["scores", "objective"]].max().max()
    within = "within" if largest <= TOLERANCE else "NOT within"
    return [
        *text, "", f"The largest of all is {largest:.1e}, {within} the tolerance of {TOLERANCE:g}.",
    ]  # fmt: skip


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--tables", nargs="+", default=TABLES)
    parser.add_argument("--methods", nargs="+", default=featsieve.selectors.__all__)
    parser.add_argument("--kernels", nargs="+", default=KERNELS)
    parser.add_argument("--no-torch", action="store_true", help="leave out the tables of torch")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        with threadpool_limits(int(os.environ["OPENBLAS_NUM_THREADS"])):
            print(json.dumps(measure(arguments.tables, arguments.methods)))
        return
    command = [__file__, "--measure", "--tables", *arguments.tables]
    command += ["--methods", *arguments.methods]
    reference: dict[str, Any] = {}
    rows, blas = [], {}
    for way, variables in ways(arguments.kernels, torch=not arguments.no_torch).items():
        try:
            found = in_own_process(*command, variables=variables)
        except subprocess.CalledProcessError:
            print(f"{way} is left out: this processor cannot run it.", flush=True)
            continue
        blas[way] = found["blas"]
        if reference:
            rows += compare(way, found, reference)
        reference = reference or found
        print(way, *found["blas"], sep="; ", flush=True)
    finish(arguments.output, "Other BLAS libraries", __doc__, page(pd.DataFrame(rows), blas), rows)


if __name__ == "__main__":
    main()

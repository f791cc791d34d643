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
import csv
import inspect
import json
import os
import subprocess
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

import featsieve
from featsieve.datasets import load_dataset

TABLES = ("planted_small", "wine", "planted_wide")
# Oldest first; a processor without the instructions of a kernel cannot run it.
KERNELS = ("Prescott", "Sandybridge", "Haswell", "SkylakeX")
FIELDS = ["table", "method", "way", "scores", "objective", "same_selection"]
# What differs by no more than this is said to agree: see docs/reliability.md.
TOLERANCE = 1e-9


def ways(kernels: tuple[str, ...], *, torch: bool = True) -> dict[str, dict[str, str]]:
    """Return what the environment of each way is, by its name."""
    alone = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "FEATSIEVE_TABLES": "numpy"}
    found = {f"OpenBLAS, {name}": {**alone, "OPENBLAS_CORETYPE": name} for name in kernels}
    found["OpenBLAS, two threads"] = {
        **alone,
        "OPENBLAS_NUM_THREADS": "2",
        "OPENBLAS_CORETYPE": kernels[0],
    }
    if torch and find_spec("torch"):
        found["torch"] = {**alone, "FEATSIEVE_TABLES": "torch", "OPENBLAS_CORETYPE": kernels[0]}
    return found


def settings_of(method: str, n_clusters: int) -> dict[str, Any]:
    """Return the parameters of a method that has them."""
    wanted = {"n_clusters": n_clusters, "n_features_to_select": 0.1, "random_state": 0}
    takes = inspect.signature(getattr(featsieve, method)).parameters
    return {name: value for name, value in wanted.items() if name in takes}


def measure(tables: list[str], methods: list[str]) -> dict[str, Any]:
    """Fit everything; called in a process of its own. Says which BLAS it had."""
    found: dict[str, Any] = {"blas": sorted({_words(pool) for pool in threadpool_info()} - {""})}
    if os.environ["FEATSIEVE_TABLES"] == "torch":
        import torch

        torch.set_num_threads(1)
        vendor = "MKL" if torch.backends.mkl.is_available() else "a BLAS library of its own"
        found["blas"].append(f"torch {torch.__version__.split('+')[0]} with {vendor}")
    for table in tables:
        data = load_dataset(table)
        X: Any = data.X
        if os.environ["FEATSIEVE_TABLES"] == "torch":
            X = torch.tensor(X)
        n_clusters = len(np.unique(data.y))
        for method in methods:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                selector = getattr(featsieve, method)(**settings_of(method, n_clusters)).fit(X)
            found[f"{table} {method}"] = {
                "scores": selector.scores_.tolist(),
                "objective": float(selector.objective_[-1])
                if hasattr(selector, "objective_")
                else None,
                "support": np.flatnonzero(selector.support_).tolist(),
            }
    return found


def _words(pool: dict[str, Any]) -> str:
    """Name a BLAS library and its kernel."""
    if pool["user_api"] != "blas":
        return ""
    threads = f"{pool['num_threads']} thread{'s'[: pool['num_threads'] != 1]}"
    return f"{pool['internal_api']} {pool['version']} ({pool['architecture']}, {threads})"


def relative(value: Any, reference: Any) -> float:
    """Return the largest difference, relative to the largest number of the reference."""
    value, reference = np.atleast_1d(value), np.atleast_1d(reference)
    size = float(np.abs(reference).max()) or 1.0
    return float(np.abs(value - reference).max()) / size


def compare(name: str, found: dict[str, Any], reference: dict[str, Any]) -> list[list[str]]:
    """Return one row for each table and method."""
    rows = []
    for key in reference.keys() - {"blas"}:
        ours, theirs = found[key], reference[key]
        objective = ""
        if theirs["objective"] is not None:
            objective = f"{relative(ours['objective'], theirs['objective']):.1e}"
        scores = f"{relative(ours['scores'], theirs['scores']):.1e}"
        same = "yes" if ours["support"] == theirs["support"] else "no"
        rows.append([*key.split(), name, scores, objective, same])
    return rows


def page(rows: list[list[str]], blas: dict[str, list[str]]) -> list[str]:
    """Return the words and tables of the page."""
    text = ["# Other BLAS libraries", "", *__doc__.split("\n\nUsage")[0].splitlines(), ""]
    text += ["| way | libraries | largest difference, scores | objective | other selections |"]
    text += ["|---|---|---|---|---|"]
    for way, libraries in blas.items():
        own = [row for row in rows if row[2] == way]
        if not own:
            text.append(f"| {way} | {'; '.join(libraries)} | the reference | | |")
            continue
        other = [f"{row[1]} on {row[0]}" for row in own if row[5] == "no"]
        text.append(
            f"| {way} | {'; '.join(libraries)} | {max(float(row[3]) for row in own):.1e} "
            f"| {max(float(row[4] or 0) for row in own):.1e} | {', '.join(other) or 'none'} |"
        )
    text += ["", "The largest of every method, over all ways and tables:", ""]
    text += ["| method | scores | objective | selections |", "|---|---|---|---|"]
    for method in dict.fromkeys(row[1] for row in rows):
        own = [row for row in rows if row[1] == method]
        objectives = [float(row[4]) for row in own if row[4]]
        same = sum(row[5] == "yes" for row in own)
        text.append(
            f"| {method} | {max(float(row[3]) for row in own):.1e} "
            f"| {f'{max(objectives):.1e}' if objectives else ''} | {same} of {len(own)} the same |"
        )
    largest = max(max(float(row[3]), float(row[4] or 0)) for row in rows)
    within = "within" if largest <= TOLERANCE else "NOT within"
    text += ["", f"The largest of all is {largest:.1e}, {within} the tolerance of {TOLERANCE:g}."]
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", default=TABLES)
    parser.add_argument("--methods", nargs="+", default=featsieve.selectors.__all__)
    parser.add_argument("--kernels", nargs="+", default=KERNELS)
    parser.add_argument("--no-torch", action="store_true", help="leave out the tables of torch")
    parser.add_argument("--output", type=Path, default=None, help="write .md and .csv there")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        with threadpool_limits(int(os.environ["OPENBLAS_NUM_THREADS"])):
            print(json.dumps(measure(arguments.tables, arguments.methods)))
        return
    command = [sys.executable, __file__, "--measure", "--tables", *arguments.tables]
    command += ["--methods", *arguments.methods]
    reference: dict[str, Any] = {}
    rows, blas = [], {}
    chosen = ways(tuple(arguments.kernels), torch=not arguments.no_torch)
    for way, variables in chosen.items():
        done = subprocess.run(
            command, env={**os.environ, **variables}, stdout=subprocess.PIPE, text=True, check=False
        )
        if done.returncode:
            print(f"{way} is left out: this processor cannot run it.", flush=True)
            continue
        found = json.loads(done.stdout.splitlines()[-1])
        blas[way] = found["blas"]
        if reference:
            rows += compare(way, found, reference)
        reference = reference or found
        print(way, *found["blas"], sep="; ", flush=True)
    order = {name: place for place, name in enumerate((*arguments.tables, *arguments.methods))}
    rows.sort(key=lambda row: (order[row[0]], order[row[1]], list(blas).index(row[2])))
    text = page(rows, blas)
    print("\n".join(text))
    if arguments.output is not None:
        arguments.output.with_suffix(".md").write_text("\n".join(text) + "\n")
        with arguments.output.with_suffix(".csv").open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([FIELDS, *rows])


if __name__ == "__main__":
    main()

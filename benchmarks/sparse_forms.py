"""Time and memory on a large sparse table: news20, 15,935 documents, 62,061 words.

tf-idf of the counts (scikit-learn's TfidfTransformer), 20 clusters, 1000 words to select, all else
at its default; each fit in a process of its own. Peak memory is the highest resident memory of the
whole process, Python and its libraries included: the table as a dense array would take 7545 MiB.

Usage: FEATSIEVE_DATA=folder python benchmarks/sparse_forms.py [--output benchmarks/results/sparse]
"""

import argparse
import csv
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer

import featsieve
import real_data
from scaling import resident

METHODS = ("JASFS", "LaplacianScore", "MCFS", "NDFS")
FIELDS = ["method", "seconds", "peak_mib", "selected"]


def news20() -> Any:
    """Return the tf-idf table."""
    with np.load(real_data.folder() / "scale" / "news20_15935x62061.npz") as stored:
        parts = (stored["data"], stored["indices"], stored["indptr"])
        counts = sp.csr_matrix(parts, shape=tuple(stored["shape"]))
    return TfidfTransformer().fit_transform(counts)


def measure(method: str) -> list:
    """Fit one method; called in a process of its own."""
    X = news20()
    selector = getattr(featsieve, method)(n_features_to_select=1000)
    known = selector.get_params()
    wanted = {"n_clusters": 20, "random_state": 0}
    selector.set_params(**{name: value for name, value in wanted.items() if name in known})
    begun = time.perf_counter()
    selector.fit(X)
    seconds = time.perf_counter() - begun
    return [method, round(seconds, 1), round(resident(peak=True)), selector.n_features_selected_]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--output", type=Path, default=None, help="write .md and .csv there")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        csv.writer(sys.stdout).writerow(measure(arguments.measure))
        return
    if real_data.folder() is None:
        parser.error("FEATSIEVE_DATA is not set: it names the folder with scale/news20_*.npz")
    rows = []
    for method in arguments.methods:
        command = [sys.executable, __file__, "--measure", method]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        rows.append(done.stdout.strip().splitlines()[-1].split(","))
        print(rows[-1], flush=True)
    text = ["# A large sparse table", "", *__doc__.split("\n\nUsage")[0].splitlines(), ""]
    text += [f"Measured on {len(os.sched_getaffinity(0))} cores.", ""]
    text += ["| method | seconds | peak, MiB | selected |", "|---|---|---|---|"]
    text += [f"| {' | '.join(row)} |" for row in rows]
    print("\n".join(text))
    if arguments.output is not None:
        arguments.output.with_suffix(".md").write_text("\n".join(text) + "\n")
        with arguments.output.with_suffix(".csv").open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([FIELDS, *rows])


if __name__ == "__main__":
    main()

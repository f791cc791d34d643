"""Time and memory on a large sparse table: news20, 15,935 documents, 62,061 words.

tf-idf of the counts (scikit-learn's TfidfTransformer), 20 clusters, 1000 words to select, all else
at its default; each fit in a process of its own. Peak memory is the highest resident memory of the
whole process, Python and its libraries included: the table as a dense array would take 7545 MiB.

Usage: FEATSIEVE_DATA=folder python benchmarks/sparse_forms.py [--output benchmarks/results/sparse]
"""

import argparse
import json
import os
import time
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer

import real_data
from common import finish, in_own_process, options, resident, selector, table

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
    sieve = selector(method, 20, 1000)
    begun = time.perf_counter()
    sieve.fit(X)
    seconds = time.perf_counter() - begun
    return [method, round(seconds, 1), round(resident("VmHWM")), int(sieve.n_features_selected_)]


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure(arguments.measure)))
        return
    if real_data.folder() is None:
        parser.error("FEATSIEVE_DATA is not set: it names the folder with scale/news20_*.npz")
    rows = []
    for method in arguments.methods:
        rows.append(in_own_process(__file__, "--measure", method))
        print(rows[-1], flush=True)
    text = [f"Measured on {len(os.sched_getaffinity(0))} cores.", ""]
    text += table(["method", "seconds", "peak, MiB", "selected"], rows)
    named = [dict(zip(FIELDS, row, strict=True)) for row in rows]
    finish(arguments.output, "A large sparse table", __doc__, text, named)


if __name__ == "__main__":
    main()

"""Every method with its defaults on tables with known truth: features found, and seconds.

Every table is standard normal noise with cluster means of two noise deviations in the informative
columns; redundant columns repeat an informative one with noise of their own. "units" multiplies
every column by a random unit between 1/1000 and 1000. As many features are selected as are
informative or redundant; printed is the mean share of the selected that are one or the other, in
percent, over three tables, and the mean seconds of a fit. All methods get the number of clusters
and otherwise their defaults. Some of these (the automatic penalties, UGFS's and URAFS's weights,
the steps of DUFS) were set while looking at planted tables of this kind, other seeds and mostly
other shapes: the table shows what the defaults do, it is no independent test of them.

Usage: python benchmarks/methods.py [--output FILE]
"""

import time
import warnings

import numpy as np

import featsieve
from common import finish, options, selector, table
from featsieve.datasets import make_planted

NAMES = tuple(featsieve.selectors.__all__)
# samples, features, informative, redundant, clusters, random units
CASES = (
    (300, 60, 10, 0, 3, False),
    (300, 60, 10, 0, 3, True),
    (150, 1000, 20, 0, 4, False),
    (150, 1000, 30, 30, 4, False),
    (150, 1000, 60, 0, 4, True),
    (60, 2000, 60, 0, 3, False),
)
SEEDS = range(3)


def fit(name: str, X: np.ndarray, n_clusters: int, n_features: int) -> tuple[object, float]:
    """Fit a method with its defaults; return it with the seconds that took."""
    sieve = selector(name, n_clusters, n_features)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # iteration limits, large penalties: part of the defaults
        sieve.fit(X)
    return sieve, time.perf_counter() - start


def main() -> None:
    arguments = options(__doc__).parse_args()
    head = ["method"]
    columns: dict[str, list[str]] = {name: [] for name in NAMES}
    for n, d, informative, redundant, c, units in CASES:
        k = informative + redundant
        title = f"{n} x {d}, {informative}" + (f" + {redundant}" if redundant else "")
        head.append(title + (", units" if units else ""))
        found: dict[str, list[float]] = {name: [] for name in NAMES}
        seconds: dict[str, list[float]] = {name: [] for name in NAMES}
        for seed in SEEDS:
            planted = make_planted(
                n, d, n_informative=informative, n_redundant=redundant, n_clusters=c,
                random_state=seed,
            )  # fmt: skip
            X, wanted = planted.X, planted.informative | planted.redundant
            if units:
                X = X * 10.0 ** np.random.default_rng(seed).uniform(-3, 3, d)
            for name in NAMES:
                sieve, elapsed = fit(name, X, c, k)
                found[name].append(100.0 * np.mean(wanted[sieve.support_]))
                seconds[name].append(elapsed)
        for name in NAMES:
            cell = f"{np.mean(found[name]):.0f} ({np.mean(seconds[name]):.2f} s)"
            columns[name].append(cell)
        print(head[-1], {name: cells[-1] for name, cells in columns.items()}, flush=True)
    lines = table(head, ([name, *cells] for name, cells in columns.items()))
    finish(arguments.output, "Every method on planted features", __doc__, lines)


if __name__ == "__main__":
    main()

"""How often the suggested number of clusters is right, beside silhouette and gap statistic.

Planted tables: 24 in a row, 2, 3, 4, 5, 6 and 8 clusters in tables of four shapes (200 x 100, 300 x
60, 300 x 300, 400 x 1000; 15, 10, 20, 25 informative columns, cluster means N(0, 2²) in units of
the noise). Unbalanced: shares fall by equal factors, the largest is ten times the smallest (four
clusters: 56, 26, 12 and 6 %). Scaled: every column times 10^U(-3, 3). Many columns: 300 x 200, all
informative with means N(0, 0.7²), and 200 x 400, half of them with N(0, 1). Spreadsheets: 40 rows
for each of 2 to 6 clusters in 4 to 12 columns of any units, half of them with noise alone in up to
six; clusters at least five deviations apart, or in equal steps on one line; with equal shares, with
shares that fall to a fifth, and with a quarter of the columns skewed (exp(x/2)). Constants were
chosen on tables of other random states. Real tables: the development sets, on which they were
chosen too, and where classes need not be clusters. Wine: the 178 wines of scikit-learn with one
more column, random and boolean, 18 draws. Simulated cells: 1500 of seven types of 30 to 3 %, 5,000
genes (`make_cells`, normalised), six draws of which the first three were looked at for the rule.

Cells: share of tables on which the answer is exact / within a factor 1.5 / within a factor 2.
Silhouette: largest mean silhouette width of k-means. Gap: the smallest number whose gap statistic
reaches that of the next less its standard error (ten reference tables, uniform in the box of the
principal components). Both look at the 30 leading principal components of at most 1000 samples, for
the same candidates, of the columns as they are and of standardised columns.

Usage: [FEATSIEVE_DATA=folder] python benchmarks/calibration_clusters.py [--jobs 2] [--constants]
       [--ours] [--kept rows.jsonl] [--output benchmarks/results/calibration_clusters.md]
"""

import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.metrics import silhouette_score
from sklearn.preprocessing import StandardScaler

import real_data
from common import finish, in_parallel, options, table
from featsieve import defaults
from featsieve.criteria.n_clusters import candidate_numbers
from featsieve.datasets import make_cells
from featsieve.io.counts import read_expression
from featsieve.tuning import suggest_n_clusters
from hypotheses import scaled as times

FEW = ((200, 100, 15, 2.0), (300, 60, 10, 2.0), (300, 300, 20, 2.0), (400, 1000, 25, 2.0))
MANY = ((300, 200, 200, 0.7), (200, 400, 200, 1.0))
COUNTS = (2, 3, 4, 5, 6, 8)
PLANTED = {
    "balanced, raw": (FEW, True, False),
    "balanced, scaled": (FEW, True, True),
    "unbalanced, raw": (FEW, False, False),
    "unbalanced, scaled": (FEW, False, True),
    "many columns, balanced": (MANY, True, True),
    "many columns, unbalanced": (MANY, False, True),
}
REAL, WINE, CELLS = "development sets", "wine and a random column", "simulated cells"
SHEETS = "spreadsheets"
WINE_DRAWS, CELL_DRAWS = 18, 6
# Clusters, columns that show them, others; and whether the clusters are on a line.
LINES = ((3, 4, 0), (3, 4, 3), (4, 5, 3), (5, 6, 0), (3, 6, 6))
BLOBS = ((2, 4, 2), (3, 4, 0), (3, 5, 5), (4, 6, 2), (5, 8, 4), (6, 8, 0))
FORMS = ("equal", "unequal", "skewed")
REFERENCES = 10
FACTORS = (1.0, 1.5, 2.0)
CONSTANTS = """What other random states do to the number, and half and double of its constants.

Of COUNT_RATIO the part above 1. Cells as in calibration_clusters.md; of its planted tables those of
200 x 100 and 300 x 60. Last, what "2" scores without a look at the table.
"""
FELT = (REAL, "unbalanced, scaled", SHEETS)
# Constants that do not matter where the clusters show in the hat view, and elsewhere.
UNREAD = {"hat": {"COUNT_FIRST", "COUNT_ROUNDS"}, "raw": {"COUNT_POWER"}}


# Tables -------------------------------------------------------------------------------------------


def planted(
    c: int, shape: tuple[int, int, int, float], *, balanced: bool, scaled: bool
) -> tuple[np.ndarray, int]:
    """Return a table with c clusters, and c."""
    n, d, m, signal = shape
    rng = np.random.default_rng([1, c, n, d])
    share = np.ones(c) if balanced else 10.0 ** -(np.arange(c) / (c - 1))
    ends = np.round(np.cumsum(share) / share.sum() * n)
    labels = rng.permutation(np.searchsorted(ends, np.arange(n), side="right"))
    X = rng.standard_normal((n, d))
    X[:, :m] += signal * rng.standard_normal((c, m))[labels]
    X = X[:, rng.permutation(d)]
    return X * 10.0 ** rng.uniform(-3.0, 3.0, d) if scaled else X, c


def real(name: str) -> tuple[Any, int]:
    """Return a data set, and how many classes it has."""
    X, y = real_data.prepared(name)
    return X, len(np.unique(y))


def wine(draw: int) -> tuple[np.ndarray, int]:
    """Return the wines with one random boolean column."""
    X = load_wine().data
    return np.column_stack([X, np.random.default_rng(draw).integers(2, size=len(X))]), 3


def cells(draw: int) -> tuple[np.ndarray, int]:
    """Return logarithms of normalised counts of seven types."""
    return read_expression(make_cells(1500, 5000, random_state=draw).X).X, 7


def spreadsheet(
    size: tuple[int, int, int], *, on_a_line: bool, form: str
) -> tuple[np.ndarray, int]:
    """Return a narrow table whose clusters are well apart."""
    c, m, n_noise = size
    rng = np.random.default_rng([2, *size, on_a_line, FORMS.index(form)])
    share = 5.0 ** -(np.arange(c) / (c - 1)) if form == "unequal" else np.ones(c)
    labels = rng.choice(c, 40 * c, p=share / share.sum())
    if on_a_line:
        means = 5.0 * np.outer(np.arange(c), rng.uniform(0.6, 1.2, m) * rng.choice([-1, 1], m))
    else:
        means = np.zeros((c, m))
        while pdist(means).min() < 5.0:
            means = 3.5 * rng.standard_normal((c, m))
    X = rng.standard_normal((len(labels), m + n_noise))
    X[:, :m] += means[labels]
    if form == "skewed":
        X[:, ::4] = np.exp(X[:, ::4] / 2.0)
    return X * 10.0 ** rng.uniform(-1.0, 2.0, X.shape[1]), c


MAKERS: dict[str, Callable[..., tuple[Any, int]]] = {
    REAL: real,
    WINE: wine,
    CELLS: cells,
    SHEETS: spreadsheet,
}


# Rules --------------------------------------------------------------------------------------------


def components(X: Any, *, scaled: bool) -> np.ndarray:
    """Return what the two other rules look at."""
    rows = np.sort(np.random.default_rng(0).permutation(X.shape[0])[:1000])
    X = StandardScaler().fit_transform(X[rows]) if scaled else X[rows]
    return PCA(min(30, *X.shape), random_state=0).fit_transform(X)


def clusters(points: np.ndarray, c: int) -> KMeans:
    """Return k-means with c clusters."""
    return KMeans(c, n_init=3, random_state=0).fit(points)


def by_silhouette(X: Any, *, scaled: bool) -> int:
    """Return the number of the largest mean silhouette width."""
    points = components(X, scaled=scaled)
    numbers = candidate_numbers(len(points)).tolist()
    return max(numbers, key=lambda c: silhouette_score(points, clusters(points, c).labels_))


def by_gap(X: Any, *, scaled: bool) -> int:
    """Return the smallest number whose gap is that of the next less a standard error."""
    points = components(X, scaled=scaled)
    rng = np.random.default_rng(0)
    box = (points.min(axis=0), points.max(axis=0))
    references = [rng.uniform(*box, size=points.shape) for _ in range(REFERENCES)]

    def gap(c: int) -> tuple[float, float]:
        by_chance = [np.log(clusters(A, c).inertia_) for A in references]
        error = np.std(by_chance) * np.sqrt(1.0 + 1.0 / REFERENCES)
        return float(np.mean(by_chance) - np.log(clusters(points, c).inertia_)), float(error)

    numbers = candidate_numbers(len(points)).tolist()
    last = gap(numbers[0])
    for c, following in pairwise(numbers):
        this, last = last, gap(following)
        if this[0] >= last[0] - last[1]:
            return c
    return numbers[-1]


RULES: dict[str, Callable[[Any], int]] = {
    "featsieve": lambda X: suggest_n_clusters(X).n_clusters,
    "silhouette": lambda X: by_silhouette(X, scaled=False),
    "silhouette, standardised": lambda X: by_silhouette(X, scaled=True),
    "gap": lambda X: by_gap(X, scaled=False),
    "gap, standardised": lambda X: by_gap(X, scaled=True),
}


# All of them --------------------------------------------------------------------------------------


def measure(row: str, keywords: dict, rules: Sequence[str]) -> dict[str, Any]:
    """Return the answers of some rules for one table."""
    warnings.simplefilter("ignore")
    X, c = MAKERS.get(row, planted)(**keywords)
    begun = time.process_time()
    found: dict[str, Any] = {"row": row, "true": c}
    for name in rules:
        found[name] = RULES[name](X)
        if name == "featsieve":
            found["seconds"] = time.process_time() - begun
    return found


def cases() -> list[tuple[str, dict[str, Any]]]:
    """Return all tables: the row they belong to, and how they are made."""
    found: list[tuple[str, dict[str, Any]]] = []
    for row, (shapes, balanced, scaled) in PLANTED.items():
        form = {"balanced": balanced, "scaled": scaled}
        found += [(row, {"c": c, "shape": s, **form}) for s in shapes for c in COUNTS]
    sizes = [(size, kind is LINES) for kind in (LINES, BLOBS) for size in kind]
    found += [
        (SHEETS, {"size": size, "on_a_line": on_a_line, "form": form})
        for size, on_a_line in sizes
        for form in FORMS
    ]
    if real_data.folder() is not None:
        names = (*real_data.PAPER, *real_data.SKFEATURE, *real_data.MORE)
        found += [(REAL, {"name": name}) for name in names]
    found += [(WINE, {"draw": draw}) for draw in range(WINE_DRAWS)]
    return found + [(CELLS, {"draw": draw}) for draw in range(CELL_DRAWS)]


def changes() -> dict[str, tuple[int, dict[str, Any]]]:
    """Return random states and changed constants, by what is said of them."""
    found: dict[str, tuple[int, dict[str, Any]]] = {f"random state {i}": (i, {}) for i in range(3)}
    names = [name for name in vars(defaults) if name.startswith("COUNT_")]
    for name in [name for name in names if name != "COUNT_UNCERTAINTY"]:  # of the range alone
        value = getattr(defaults, name)
        for factor in (0.5, 2.0):
            new = times(value, factor)
            if name == "COUNT_RATIO":
                new = round(1.0 + (value - 1.0) * factor, 3)
            found[f"{name} = {new}"] = (0, {name: new})
    return found


def measure_changes(row: str, keywords: dict) -> dict:
    """Return our answers for one table, for every change."""
    X, c = MAKERS.get(row, planted)(**keywords)
    found: dict[str, Any] = {"row": row, "true": c}
    usual = suggest_n_clusters(X)
    unread = UNREAD.get(str(usual.view), set())
    for words, (state, constants) in changes().items():
        if state == 0 and set(constants) <= unread:
            found[words] = usual.n_clusters
            continue
        with mock.patch.multiple(defaults, **constants) if constants else nullcontext():
            found[words] = suggest_n_clusters(X, random_state=state).n_clusters
    return found


def shares(answers: Sequence[int], true: Sequence[int]) -> str:
    """Return how many answers are exact, within 1.5 and within 2."""
    ratio = np.asarray(answers) / np.asarray(true)
    off = np.maximum(ratio, 1.0 / ratio)
    return " / ".join(f"{np.mean(off <= factor):.2f}" for factor in FACTORS)


def page(results: list[dict[str, Any]], rules: Sequence[str]) -> list[str]:
    """Return the table of all rows and rules."""
    lines = []
    for row in dict.fromkeys(one["row"] for one in results):
        own = [one for one in results if one["row"] == row]
        true = [one["true"] for one in own]
        cells = [shares([one[rule] for one in own], true) for rule in rules]
        lines.append([f"{row} ({len(own)})", *cells, f"{np.mean([r['seconds'] for r in own]):.1f}"])
    return table(["tables", *rules, "seconds"], lines)


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--kept", type=Path, help="file of answers, to stop and go on")
    parser.add_argument("--ours", action="store_true", help="leave the other rules out")
    parser.add_argument("--constants", action="store_true", help="random states and constants")
    arguments = parser.parse_args()
    if arguments.constants:
        felt = [c for c in cases() if c[0] in FELT and c[1].get("shape", FEW[0]) in FEW[:2]]
        results = in_parallel(measure_changes, felt, jobs=arguments.jobs)
        rows = dict.fromkeys(one["row"] for one in results)
        own = [[one for one in results if one["row"] == row] for row in rows]
        cells = [
            [words, *(shares([r[words] for r in rs], [r["true"] for r in rs]) for rs in own)]
            for words in changes()
        ]
        cells.append(["always 2", *(shares([2] * len(rs), [r["true"] for r in rs]) for rs in own)])
        lines = table(["change", *(f"{rs[0]['row']} ({len(rs)})" for rs in own)], cells)
        finish(arguments.output, "Constants of the number of clusters", CONSTANTS, lines)
        return
    rules = tuple(RULES)[: 1 if arguments.ours else None]
    tasks = [(*case, rules) for case in cases()]
    lines = page(in_parallel(measure, tasks, jobs=arguments.jobs, kept=arguments.kept), rules)
    lines += ["", "Seconds: processor time of featsieve for one table, in the mean."]
    finish(arguments.output, "How many clusters", __doc__, lines)


if __name__ == "__main__":
    main()

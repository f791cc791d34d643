"""Choosing without labels, judged by labels: how much is lost.

Regret: the best of a path of selections less the selection that a rule chooses, in points of
accuracy (ACC) and normalised mutual information (NMI), of k-means on the selected columns from
random starts, mean of 20 seeds. The labels are used to judge, never to choose. The path is that of
a fit with the true number of classes, at 5, 10, 20, 30, 50, 80, 100, 150, 200, 300 and 400
features; what is selected off it (5 % of the columns, all of them) can have a negative regret.

Rules: the criteria of featsieve.tuning (and two more, other_criteria.py), the smallest number
within their tolerance of the best value ("smallest") or the largest value ("best"), with k-means on
columns of unit variance ("unit"), as they are ("raw"), or the better of both; fixed numbers; a
number drawn at random from the path (its expectation). "JASFS default" is what
JASFS(n_clusters=c) selects, labels and all, scored by itself; "nothing given" is the same with
n_clusters="auto".

Half A is every other data set in the alphabet, half B the rest; the best rule of half A is tried on
half B. The default rules come from an earlier study, except that both scales are looked at, which
was found in trials on these sets (both halves), and that the better of them counts, for tables such
as wine, on which columns of other units hide the clusters as they are. The scores here are of
columns as they are, to which such a choice does harm: on lung 300 features are chosen, which are
good at unit variance only. Of the data sets in scale/, 1000 rows are used, drawn with a fixed seed.

Usage: FEATSIEVE_DATA=folder python benchmarks/label_free.py [--sets brain ...] [--methods JASFS]
       [--output docs/results/label_free.md] [--csv benchmarks/results/label_free.csv]
"""

import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from joblib import Parallel, delayed, parallel_config
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

import real_data
from common import finish, line, options, table
from featsieve import JASFS, NDFS, LaplacianScore, defaults
from featsieve.criteria.curve import judge
from featsieve.evaluation import ClusteringScores
from featsieve.hypotheses.families import table_labels
from featsieve.tuning import LabelAgreement, Modularity
from other_criteria import CentroidAccuracy, FullSilhouette

N_SEEDS = 20
SCALE_ROWS = 1000
EVERY = sorted((*real_data.PAPER, *real_data.SKFEATURE, *real_data.SCALE), key=str.lower)
METHODS = ("JASFS", "LaplacianScore", "NDFS")
CRITERIA = {
    "modularity": Modularity(),
    "modularity, unit": Modularity(scale="unit"),
    "modularity, raw": Modularity(scale="none"),
    "agreement": LabelAgreement(),
    "agreement, raw": LabelAgreement(scale="none"),
    "centroid accuracy": CentroidAccuracy(),
    "full silhouette": FullSilhouette(),
}
FIXED = {"30 features": 30, "100 features": 100, "300 features": 300, "5 % of the features": 0.05}
DEFAULT_OF = {
    "JASFS": "modularity, smallest",
    "LaplacianScore": "agreement, smallest",
    "NDFS": "agreement, smallest",
}


def quality(X: Any, y: np.ndarray, support: np.ndarray) -> tuple[float, float]:
    """Return mean accuracy and NMI of single k-means runs from random starts, in percent."""
    columns = X[:, support]
    n, k = columns.shape
    if not sp.issparse(columns) and k > n:  # a rotation changes no distance
        centred = columns - columns.mean(axis=0)
        energy, U = np.linalg.eigh(centred @ centred.T)
        columns = U * np.sqrt(np.maximum(energy, 0.0))
    n_classes = len(np.unique(y))
    found = []
    for seed in range(N_SEEDS):
        labels = KMeans(n_classes, init="random", n_init=1, random_state=seed).fit(columns).labels_
        found.append(labels)
    accuracy, nmi, _ = ClusteringScores.of_labels(y, found).mean()
    return 100.0 * accuracy, 100.0 * nmi


def load(name: str) -> tuple[Any, np.ndarray]:
    """Return a data set; some rows of the large ones."""
    X, y = real_data.load(name)
    if name in real_data.SCALE:
        rows = np.sort(np.random.default_rng(0).permutation(X.shape[0])[:SCALE_ROWS])
        X, y = X[rows], y[rows]
    return X, y


def fit(method: str, X: Any, n_classes: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the features of a method, best first, its labels, and the seconds it took."""
    k = min(100, X.shape[1] // 2)
    start = time.perf_counter()
    if method == "LaplacianScore":
        sieve = LaplacianScore(k).fit(X)
        labels = table_labels(X, n_classes, random_state=np.random.RandomState(0))
    else:
        options = {"path_length": defaults.PATH_SIZES[-1]} if method == "JASFS" else {}
        cls = JASFS if method == "JASFS" else NDFS
        sieve = cls(n_classes, n_features_to_select=k, random_state=0, **options).fit(X)
        labels = sieve.labels_
    return np.argsort(sieve.ranking_), labels, time.perf_counter() - start


def evaluate(name: str, method: str) -> list[dict[str, Any]]:
    """Return one row per rule: what it chose, and its regret."""
    warnings.simplefilter("ignore")
    X, y = load(name)
    n_classes, d = len(np.unique(y)), X.shape[1]
    order, labels, seconds = fit(method, X, n_classes)
    sizes = np.array([size for size in defaults.PATH_SIZES if size <= d])
    path = {int(size): quality(X, y, order[:size]) for size in sizes}
    best = np.max(list(path.values()), axis=0)
    rows: list[dict[str, Any]] = []

    def add(rule: str, chosen: float, score: Any) -> None:
        accuracy, nmi = best - np.asarray(score)
        rows.append(
            {"set": name, "method": method, "rule": rule, "chosen": chosen}
            | {"regret_acc": round(float(accuracy), 3), "regret_nmi": round(float(nmi), 3)}
        )

    for label, criterion in CRITERIA.items():
        curve = judge(criterion, X, labels, order=order, sizes=sizes)
        add(f"{label}, smallest", curve.chosen, path[curve.chosen])
        add(f"{label}, best", curve.best, path[curve.best])
    for label, number in FIXED.items():
        k = min(d, max(1, round(number * d)) if isinstance(number, float) else number)
        add(label, k, path[k] if k in path else quality(X, y, order[:k]))
    add("all features", d, quality(X, y, order))
    add("random number", float(np.mean(sizes)), np.mean(list(path.values()), axis=0))
    if method == "JASFS":
        start = time.perf_counter()
        sieve = JASFS(n_classes, random_state=0).fit(X)
        cost = (time.perf_counter() - start) / seconds
        score = quality(X, y, np.flatnonzero(sieve.support_))
        nothing = JASFS("auto", random_state=0).fit(X)
        other = quality(X, y, np.flatnonzero(nothing.support_))
        add("JASFS, nothing given", nothing.n_features_selected_, other)
        add("JASFS default", sieve.n_features_selected_, score)
        rows[-1] |= {
            "cost": round(cost, 2),
            "classes": n_classes,
            "suggested": nothing.n_clusters_,
            "structure": sieve.structure_.verdict,
            "ari": round(float(adjusted_rand_score(y, sieve.labels_)), 3),
        }
    return rows


def mean_and_error(values: pd.Series) -> str:
    """Return mean and standard error."""
    return f"{values.mean():.1f} ± {values.sem() if len(values) > 1 else 0.0:.1f}"


def regrets(rows: pd.DataFrame, method: str, sets: list[str]) -> list[str]:
    """Return the lines of the table of regrets of a method, smallest first."""
    own = rows[rows["method"] == method]
    by_rule = {rule: part.set_index("set") for rule, part in own.groupby("rule")}
    half_a, half_b = sets[::2], sets[1::2]

    def both(rule: str, names: list[str]) -> tuple[float, float]:
        accuracy, nmi = by_rule[rule].loc[names, ["regret_acc", "regret_nmi"]].mean()
        return accuracy, nmi

    def words(rule: str, names: list[str]) -> str:
        return "{:.1f} / {:.1f}".format(*both(rule, names)) if names else ""

    head = ["rule", "ACC", "NMI", "half A: ACC / NMI", "half B: ACC / NMI", "features, median"]
    lines = table(head, [])
    for rule in sorted(by_rule, key=lambda rule: both(rule, sets)[0]):
        part = by_rule[rule]
        cells = [rule, mean_and_error(part["regret_acc"]), mean_and_error(part["regret_nmi"])]
        cells += [words(rule, half_a), words(rule, half_b), f"{part['chosen'].median():.0f}"]
        lines.append(line(cells))
    if half_b:
        rules = [rule for rule in by_rule if rule.endswith(("smallest", "best"))]
        winner = min(rules, key=lambda rule: sum(both(rule, half_a)))
        default = DEFAULT_OF[method]
        lines += [
            "",
            f"Best criterion of half A: {winner}; on half B it has {words(winner, half_b)}, "
            f'the default ("{default}") {words(default, half_b)}.',
        ]
    return lines


def per_set(rows: pd.DataFrame, sets: list[str]) -> list[str]:
    """Return the table of what JASFS found by itself on every data set."""
    own = rows[rows["rule"] == "JASFS default"].set_index("set").loc[sets]
    own = own.astype({"chosen": int, "classes": int, "suggested": int})
    head = ["data set", "half", "features", "regret ACC / NMI", "cost, in fits"]
    head += ["classes", "suggested clusters", "structure"]
    lines = table([*head, "ARI of the labels"], [])
    for i, row in enumerate(own.itertuples()):
        cells = [row.Index, "AB"[i % 2], row.chosen, f"{row.regret_acc:.1f} / {row.regret_nmi:.1f}"]
        cells += [row.cost, row.classes, row.suggested, row.structure, row.ari]
        lines.append(line(cells))
    ratio = own["suggested"] / own["classes"]
    ratio = np.maximum(ratio, 1.0 / ratio)
    lines += [
        "",
        f"Number of clusters, of {len(sets)}: exact {np.sum(ratio == 1.0)}, within a factor of 1.5 "
        f"{np.sum(ratio <= 1.5)}, within a factor of 2 {np.sum(ratio <= 2.0)}.",
        f"Cost of the automatic number: {own['cost'].median():.1f} fits in the median, "
        f"{own['cost'].max():.1f} at most. (A fit is one with 100 features and a path of 400.)",
    ]
    return lines


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--sets", nargs="+", default=EVERY, choices=EVERY, metavar="SET")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--csv", type=Path)
    arguments = parser.parse_args()
    if real_data.folder() is None:
        print("label_free.py: skipped, FEATSIEVE_DATA does not name a folder with the data sets.")
        return
    sets = [name for name in EVERY if name in arguments.sets]
    jobs = [(name, method) for method in arguments.methods for name in sets]
    with parallel_config(backend="loky", inner_max_num_threads=1):
        found = Parallel(n_jobs=arguments.jobs, verbose=5)(
            delayed(evaluate)(name, method) for name, method in jobs
        )
    rows = pd.DataFrame([row for part in found for row in part])
    lines = []
    for method in arguments.methods:
        lines += [f"## {method}: regret", "", *regrets(rows, method, sets), ""]
    if "JASFS" in arguments.methods:
        lines += ["## What JASFS finds by itself", "", *per_set(rows, sets), ""]
    finish(arguments.output, "Choosing without labels", __doc__, lines)
    if arguments.csv:
        rows.to_csv(arguments.csv, index=False, lineterminator="\n")


if __name__ == "__main__":
    main()

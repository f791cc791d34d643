"""How many planted columns are found, and how well the clusters, on tables with known truth.

The catalogue (featsieve.datasets.planted_kinds): fourteen kinds of tables, as made and with
standardised columns, five tables each. Every method is given the number of clusters and selects as
many columns as are planted, with its defaults otherwise. Cells show the recall (per cent of the
planted columns that are among the selected ones) and the adjusted Rand index of k-means (ten
starts) on the selected columns, standardised; in brackets that of the clusters which the method
itself returns. "Sparse k-means" (Witten and Tibshirani 2010) is told how many columns to use, and
ranks all by their sums of squares between its clusters. "True labels" is JASFS with the true
clusters given as `init`: what the same selection finds where no label is wrong.

Some defaults of JASFS were chosen while looking at tables of these kinds (featsieve/defaults.py).

Usage: python benchmarks/planted.py [--kinds iid15 ...] [--seeds 5] [--jobs 2] [--no-more]
       [--output benchmarks/results/planted.md]
"""

import time
import warnings
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from common import finish, in_parallel, line, options, selector, table
from featsieve import JASFS
from featsieve.datasets import make_catalogue_table, make_cells, make_planted, planted_kinds
from featsieve.hypotheses.families import components
from featsieve.hypotheses.sparse_kmeans import sparse_kmeans

SELECTORS = ("JASFS", "MaxVariance", "LaplacianScore", "MCFS", "NDFS")
METHODS = (*SELECTORS, "sparse k-means")
FORMS = ("as made", "standardised")
WINE_DRAWS = 18
# Simulated cells: range of the log fold changes, smallest mean of a marker gene.
CELLS = {
    "strong": ((1.2, 3.0), 0.0),
    "strong, markers of mean 0.2 and above": ((1.2, 3.0), 0.2),
    "weak": ((0.6, 2.0), 0.0),
    "weak, markers of mean 0.2 and above": ((0.6, 2.0), 0.2),
}
CELL_METHODS = ("JASFS", "true labels", "MaxVariance")
CELL_SEEDS = 3


# The catalogue ------------------------------------------------------------------------------------


def chosen(method: str, X: np.ndarray, c: int, m: int) -> tuple[np.ndarray, np.ndarray | None]:
    """Return which m columns a method selects, and its clusters if it finds any."""
    if method == "sparse k-means":
        return by_sparse_kmeans(X, c, m)
    sieve = selector(method, c, m).fit(X)
    return sieve.support_, getattr(sieve, "labels_", None)


def by_sparse_kmeans(X: np.ndarray, c: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the m columns of the largest sums of squares between the clusters of m columns."""
    rng = np.random.default_rng(0)
    Z = StandardScaler().fit_transform(X)
    labels = sparse_kmeans(Z, components(Z, rng)[:, :30], c, m, rng)
    between = sum((labels == k).sum() * Z[labels == k].mean(axis=0) ** 2 for k in range(c))
    support = np.zeros(X.shape[1], dtype=bool)
    support[np.argsort(-between, kind="stable")[:m]] = True
    return support, labels


def of_catalogue(kind: str, form: str, seed: int) -> dict[str, Any]:
    """Return recall and ARI of every method on one table, and what becomes of its true labels."""
    warnings.simplefilter("ignore")  # iteration limits: part of the defaults
    planted = make_catalogue_table(kind, random_state=seed)
    X, y, truth = planted.X, planted.labels, planted.informative
    if form == "standardised":
        X = StandardScaler().fit_transform(X)
    c, m = int(y.max()) + 1, int(truth.sum())
    row: dict[str, Any] = {"kind": kind, "form": form, "seed": seed}

    def judged(support: np.ndarray, labels: np.ndarray | None) -> tuple[float, float, float]:
        columns = StandardScaler().fit_transform(X[:, support])
        on_them = KMeans(c, n_init=10, random_state=0).fit_predict(columns)
        own = np.nan if labels is None else adjusted_rand_score(y, labels)
        return 100.0 * float(truth[support].mean()), adjusted_rand_score(y, on_them), own

    for method in METHODS:
        begun = time.perf_counter()
        found = chosen(method, X, c, m)
        row[f"{method} s"] = time.perf_counter() - begun
        row[method] = judged(*found)
    given = JASFS(c, n_features_to_select=m, init=y, random_state=0).fit(X)
    row["true labels"] = judged(given.support_, None)
    refined = JASFS(c, n_features_to_select=m, init=y, refine_labels=True, random_state=0).fit(X)
    row["kept"] = {
        "`labels_`": adjusted_rand_score(y, given.labels_),
        "`predict`": adjusted_rand_score(y, given.predict(X)),
        "`labels_`, `refine_labels=True`": adjusted_rand_score(y, refined.labels_),
    }
    return row


def catalogue_table(rows: list[dict], kinds: list[str]) -> list[str]:
    """Return the lines of the means of every kind, and of all."""
    lines = table(["kind", "columns", *METHODS, "true labels"], [])

    def cells(some: list[dict], show: str = "{}") -> list[str]:
        shown = []
        for method in (*METHODS, "true labels"):
            recall, ari, own = np.mean([row[method] for row in some], axis=0)
            bracket = "" if np.isnan(own) else f" ({own:.2f})"
            shown.append(show.format(f"{recall:.0f} / {ari:.2f}{bracket}"))
        return shown

    for kind in kinds:
        for form in FORMS:
            own = [row for row in rows if (row["kind"], row["form"]) == (kind, form)]
            lines.append(line([kind, form, *cells(own)]))
    for form in FORMS:
        own = [row for row in rows if row["form"] == form]
        lines.append(line(["**mean**", form, *cells(own, "**{}**")]))
    lines.append(line(["**mean**", "both", *cells(rows, "**{}**")]))
    seconds = [f"{np.mean([row[f'{method} s'] for row in rows]):.2f} s" for method in METHODS]
    return [*lines, line(["time of a fit", "mean", *seconds, ""])]


def kept_table(rows: list[dict]) -> list[str]:
    """Return the lines of what becomes of true labels that are given."""
    lines = table(["true labels given, then", "mean ARI", "smallest"], [])
    for name in rows[0]["kept"]:
        values = [row["kept"][name] for row in rows]
        lines.append(line([name, f"{np.mean(values):.3f}", f"{np.min(values):.3f}"]))
    return lines


# Small tables, and cells --------------------------------------------------------------------------

SMALL = {
    "as made": lambda X, seed: X,
    "standardised": lambda X, seed: StandardScaler().fit_transform(X),
    "random units": lambda X, seed: (
        X * 10.0 ** np.random.default_rng(seed).uniform(-3, 3, X.shape[1])
    ),
    "each row twice": lambda X, seed: np.repeat(X, 2, axis=0),
}


def of_example(form: str, seed: int) -> dict[str, Any]:
    """Return how many of the 20 columns of the README's example are found, and the ARI."""
    warnings.simplefilter("ignore")
    planted = make_planted(150, 1000, n_informative=20, n_clusters=4, random_state=seed)
    X = SMALL[form](planted.X, seed)
    y = np.repeat(planted.labels, len(X) // len(planted.X))
    sieve = JASFS(4, n_features_to_select=20, random_state=0).fit(X)
    found = int((sieve.support_ & planted.informative).sum())
    return {"form": form, "found": found, "ari": adjusted_rand_score(y, sieve.labels_)}


def of_wine(draw: int) -> int:
    """Return the rank of a random boolean column beside those of wine."""
    warnings.simplefilter("ignore")
    X = load_wine().data
    X = np.column_stack([X, np.random.default_rng(draw).random(len(X)) < 0.5])
    return int(JASFS(3, n_features_to_select=5, random_state=0).fit(X).ranking_[-1])


def of_cells(name: str, method: str, seed: int) -> dict[str, Any]:
    """Return the share of the markers that are found in simulated cells, the ARI, the seconds."""
    warnings.simplefilter("ignore")
    fold_changes, least = CELLS[name]
    cells = make_cells(fold_changes=fold_changes, smallest_marker_mean=least, random_state=seed)
    depth = cells.X.sum(axis=1, keepdims=True)
    X = np.log1p(cells.X / depth * np.median(depth)).astype(np.float32)
    begun = time.perf_counter()
    if method == "true labels":
        sieve = JASFS(7, n_features_to_select=280, init=cells.labels, random_state=0).fit(X)
    else:
        sieve = selector(method, 7, 280).fit(X)
    seconds = time.perf_counter() - begun
    ari = np.nan if method != "JASFS" else adjusted_rand_score(cells.labels, sieve.labels_)
    found = 100.0 * cells.informative[sieve.support_].mean()
    return {"name": name, "method": method, "found": found, "ari": ari, "seconds": seconds}


def more_tables(seeds: int, jobs: int) -> list[str]:
    """Return the lines of the README's example, of wine, and of simulated cells."""
    tasks = [(of_cells, n, m, s) for m in CELL_METHODS for n in CELLS for s in range(CELL_SEEDS)]
    tasks += [(of_example, form, seed) for form in SMALL for seed in range(seeds)]
    tasks += [(of_wine, draw) for draw in range(WINE_DRAWS)]
    done = in_parallel(call, tasks, jobs=jobs)
    found = [(task[0], result) for task, result in zip(tasks, done, strict=True)]
    examples = [result for function, result in found if function is of_example]
    ranks = [result for function, result in found if function is of_wine]
    cells = [result for function, result in found if function is of_cells]
    lines = [
        "## The README's example",
        "",
        "150 x 1000, 20 informative columns, four clusters.",
        "",
    ]
    lines += table(["columns", "found of 20, mean", "least", "ARI"], [])
    for form in SMALL:
        own = [row for row in examples if row["form"] == form]
        counts = [row["found"] for row in own]
        ari = np.mean([row["ari"] for row in own])
        lines.append(line([form, f"{np.mean(counts):.1f}", min(counts), f"{ari:.2f}"]))
    lines += [
        "",
        "## Wine beside a random boolean column",
        "",
        f"Rank of the boolean among 14 columns, three clusters, {WINE_DRAWS} draws: first in "
        f"{ranks.count(1)}; ranks {', '.join(map(str, sorted(ranks)))}.",
        "",
        "## Simulated cells",
        "",
        "2,000 cells of seven types (30 to 3 %), 10,000 genes, 40 markers each; counts divided by "
        "the depth of the cell, log1p; 280 genes selected, seven clusters. Log fold changes 1.2 to "
        "3 (strong) or 0.6 to 2 (weak). Markers are any genes, or genes of a mean count of at "
        "least 0.2 (the median): fewer counts show no difference, even where types are known "
        f'("true labels"). Mean of {CELL_SEEDS}.',
        "",
    ]
    head = ["cells", *(f"markers found, %: {method}" for method in CELL_METHODS)]
    lines += table([*head, "ARI of JASFS: mean", "least", "seconds"], [])
    for name in CELLS:
        rows = {
            m: [r for r in cells if (r["name"], r["method"]) == (name, m)] for m in CELL_METHODS
        }
        ari = [row["ari"] for row in rows["JASFS"]]
        shown = [f"{np.mean([row['found'] for row in rows[m]]):.1f}" for m in CELL_METHODS]
        seconds = np.mean([row["seconds"] for row in rows["JASFS"]])
        lines.append(
            line([name, *shown, f"{np.mean(ari):.2f}", f"{min(ari):.2f}", f"{seconds:.0f}"])
        )
    return lines


def call(function: Any, *arguments: Any) -> Any:
    """Return function(*arguments): tasks of several functions in one queue."""
    return function(*arguments)


def main() -> None:
    parser = options(__doc__)
    kinds = planted_kinds()
    parser.add_argument("--kinds", nargs="+", default=kinds, choices=kinds, metavar="KIND")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--no-more", action="store_true", help="the catalogue only")
    arguments = parser.parse_args()
    begun = time.perf_counter()
    cases = [(k, f, s) for k in arguments.kinds for f in FORMS for s in range(arguments.seeds)]
    rows = in_parallel(of_catalogue, cases, jobs=arguments.jobs)
    lines = catalogue_table(rows, arguments.kinds)
    lines += ["", "## Labels that are given", "", *kept_table(rows), ""]
    if not arguments.no_more:
        lines += more_tables(arguments.seeds, arguments.jobs)
    minutes = (time.perf_counter() - begun) / 60.0
    lines += ["", f"{minutes:.1f} minutes, {arguments.jobs} processes at a time."]
    finish(arguments.output, "Planted features", __doc__, lines)


if __name__ == "__main__":
    main()

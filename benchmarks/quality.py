"""Quality of the selected features on real data, by the paper's protocol.

For every data set and method: k-means on the k selected columns (random start, one run, mean of
ten seeds, the true number of classes given), for k in {10, 30, 50, 100, 150, 200, 300}. Printed as
ACC/NMI in percent: the mean over k ("area"; nothing chosen by labels), and the best k, which IS
chosen by labels and is marked so. "own" is the clustering that JASFS itself returns, "start" where
its first labels came from (`init_`), with `label_accuracy_`: no labels are used for either.

All methods are unsupervised and run with their defaults; "paper" is the authors' algorithm ranked
by the rows of W at lambda = 1e-6, "random" the mean of three random subsets. Palm has 256 features
here (16 x 16 images), not the paper's 4096.

Usage: FEATSIEVE_DATA=folder python benchmarks/quality.py [--sets brain lung ...] [--output FILE]
"""

import time

import numpy as np
from joblib import Parallel, delayed

import real_data
from common import finish, line, options
from featsieve import JASFS
from featsieve.evaluation import ClusteringScores, paper_protocol

COUNTS = (10, 30, 50, 100, 150, 200, 300)
METHODS = ("joint", "paper", "all features", "random", "max variance")


def orders(X: np.ndarray, method: str, n_clusters: int) -> tuple[list[np.ndarray], JASFS | None]:
    """Return rankings of the features (several for "random"), and the fitted JASFS."""
    if method == "joint":
        sieve = JASFS(n_clusters, random_state=0).fit(X)
    elif method == "paper":
        sieve = JASFS(n_clusters, solver="paper", sparsity=1e-6, random_state=0).fit(X)
    elif method == "random":
        draws = [np.random.default_rng(seed).permutation(X.shape[1]) for seed in range(3)]
        return draws, None
    else:  # max variance
        return [np.argsort(-X.var(axis=0), kind="stable")], None
    return [np.argsort(sieve.ranking_)], sieve


def evaluate(name: str, method: str) -> dict:
    """Return the scores of one method on one data set."""
    X, y = real_data.load(name)
    n_clusters = len(np.unique(y))
    row: dict = {"set": name, "method": method, "own": None, "seconds": None}
    if method == "all features":
        row["scores"] = np.array([two(paper_protocol(X, y))])
        row["counts"] = (X.shape[1],)
        return row
    start = time.perf_counter()
    rankings, sieve = orders(X, method, n_clusters)
    row["seconds"] = time.perf_counter() - start
    row["counts"] = tuple(k for k in COUNTS if k <= X.shape[1])
    row["scores"] = np.mean(
        [[two(paper_protocol(X[:, order[:k]], y)) for k in row["counts"]] for order in rankings],
        axis=0,
    )
    if sieve is not None:
        row["own"] = two(ClusteringScores.of_labels(y, sieve.labels_))
        row["selected"] = sieve.n_features_selected_
        row["start"] = f"{sieve.init_} ({getattr(sieve, 'label_accuracy_', float('nan')):.2f})"
    return row


def two(scores: ClusteringScores) -> tuple[float, float]:
    """Return mean accuracy and NMI."""
    accuracy, nmi, _ = scores.mean()
    return accuracy, nmi


def pair(values: tuple[float, float] | np.ndarray | None) -> str:
    return "" if values is None else f"{100 * values[0]:.1f}/{100 * values[1]:.1f}"


def table(rows: list[dict], names: list[str]) -> list[str]:
    """Return the Markdown lines."""
    lines = [
        "| data set | joint: own labels | features chosen | start (label accuracy) | "
        + " | ".join(f"{method}: area" for method in METHODS)
        + " | joint: best k (by labels) | paper: best k (by labels) |",
        "|---" * (len(METHODS) + 6) + "|",
    ]
    found = {(row["set"], row["method"]): row for row in rows}
    for name in names:
        joint = found[name, "joint"]
        cells = [name, pair(joint["own"]), str(joint["selected"]), joint["start"]]
        cells += [pair(found[name, method]["scores"].mean(axis=0)) for method in METHODS]
        for method in ("joint", "paper"):
            row = found[name, method]
            best = int(row["scores"].mean(axis=1).argmax())
            cells.append(f"{pair(row['scores'][best])} (k={row['counts'][best]})")
        lines.append(line(cells))
    for title, group in (("paper sets", real_data.PAPER), ("all sets", names)):
        members = [name for name in group if name in names]
        if not members:
            continue
        cells = [f"**mean, {len(members)} {title}**"]
        cells.append(pair(np.mean([found[name, "joint"]["own"] for name in members], axis=0)))
        cells += ["", ""]
        for method in METHODS:
            areas = [found[name, method]["scores"].mean(axis=0) for name in members]
            cells.append(pair(np.mean(areas, axis=0)))
        lines.append(line([*cells, "", ""]))
    return lines


def main() -> None:
    parser = options(__doc__)
    every = [*real_data.PAPER, *real_data.SKFEATURE]
    parser.add_argument("--sets", nargs="+", default=every, choices=every)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    if real_data.folder() is None:
        print("quality.py: skipped, FEATSIEVE_DATA does not name a folder with the data sets.")
        return
    jobs = [(name, method) for name in arguments.sets for method in METHODS]
    rows = Parallel(n_jobs=arguments.jobs, verbose=1)(
        delayed(evaluate)(name, method) for name, method in jobs
    )
    finish(arguments.output, "Quality", __doc__, table(rows, arguments.sets))


if __name__ == "__main__":
    main()

"""FSEVAL's protocol: our methods beside its published rows.

FSEVAL (package `sdufseval`, github mrajabinasab/FSEVAL) judges a ranking at 0.5, 1, ..., 10 % of
the features (rounded up): k-means on these columns as they are, not scaled, with the true number of
classes, k-means++ and one start, mean of the seeds 0 to 9; normalised mutual information (over the
arithmetic mean of the entropies) and clustering accuracy, which it calls CLSACC. Its published
rows are read from the folder that --published names (a copy of its dashboard/resources); they are
not part of this repository. Everything is shown in percent, as the mean over the twenty shares.

"Same data": the variance ranking needs no choices, so where ours has its published NMI to 0.01 the
table and k-means are the same. Means are taken over these sets, and the other is shown apart.

Ours: one ranking per method, from a fit at 10 % of the columns with its defaults, random_state 0
and, where a method asks for it, the true number of classes. "Random" is the mean of ten rankings.
How FSEVAL has set its methods (neighbours, clusters) is not published with its rows.

Usage: FEATSIEVE_DATA=folder python benchmarks/fseval.py --published folder [--sets ORL ...]
       [--methods JASFS ...] [--kept rows.jsonl] [--output benchmarks/results/fseval.md]
"""

import csv
import math
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

import real_data
from common import difference_table, finish, in_parallel, options, selector, table
from featsieve.evaluation import clustering_accuracy, compare_ranks
from featsieve.evaluation.protocol import k_means_labels

# The name in FSEVAL's files and ours.
SETS = {
    "ALLAML": "ALLAML",
    "GLIOMA": "GLIOMA",
    "ORL": "ORL",
    "Prostate_GE": "Prostate-GE",
    "Yale": "Yale",
    "arcene": "arcene",
    "colon": "colon",
    "lung": "lung",
    "lung_discrete": "lung_small",
    "madelon": "madelon",
    "pixraw10P": "pixraw10P",
    "warpAR10P": "warpAR10P",
    "warpPIE10P": "warpPIE10P",
}
METHODS = ("MaxVariance", "LaplacianScore", "JASFS", "MCFS", "NDFS", "UDFS", "RandomSelector")
TWINS = {
    "MaxVariance": "Variance",
    "LaplacianScore": "Laplacian",
    "MCFS": "MCFS",
    "RandomSelector": "Random",
}
PUBLISHED = ("Laplacian", "LIDFS", "SCFS", "Random", "VCSDFS", "Variance", "Correlation", "MCFS")
MEASURES = ("NMI", "CLSACC")
SHARES = tuple(round(0.005 * step, 3) for step in range(1, 21))
N_SEEDS = 10
N_RANDOM = 10
SAME = 0.01  # of mean NMI: what counts as reproduced


def judge(name: str, method: str) -> dict:
    """Return the scores of one method on one data set, one for each share."""
    warnings.simplefilter("ignore")
    X, y = real_data.load(SETS[name])
    d, c = X.shape[1], len(np.unique(y))
    start = time.perf_counter()
    draws = N_RANDOM if method == "RandomSelector" else 1
    fits = [selector(method, c, 0.1) for _ in range(draws)]
    if draws > 1:
        fits = [fit.set_params(random_state=seed) for seed, fit in enumerate(fits)]
    orders = [np.argsort(fit.fit(X).ranking_) for fit in fits]
    seconds = time.perf_counter() - start
    counts = [math.ceil(share * d) for share in SHARES]
    scores = np.mean([[two(X[:, order[:k]], y, c) for k in counts] for order in orders], axis=0)
    print(f"{name}, {method}: {time.perf_counter() - start:.0f} s", flush=True)
    return {
        "counts": counts,
        "NMI": scores[:, 0].tolist(),
        "CLSACC": scores[:, 1].tolist(),
        "seconds": seconds,
    }


def two(columns: np.ndarray, y: np.ndarray, c: int) -> tuple[float, float]:
    """Return NMI and clustering accuracy of k-means, mean over its seeds."""
    runs = [k_means_labels(columns, c, random_state=seed) for seed in range(N_SEEDS)]
    nmi = np.mean([normalized_mutual_info_score(y, run) for run in runs])
    return float(nmi), float(np.mean([clustering_accuracy(y, run) for run in runs]))


def read_published(folder: Path, measure: str) -> dict[tuple[str, str], np.ndarray]:
    """Return the published rows by data set and method."""
    found = {}
    for method in PUBLISHED:
        with (folder / f"{method}_{measure}_10Percent.csv").open(encoding="utf-8") as file:
            head, *lines = csv.reader(file)
        if [float(share) for share in head[1:]] != list(SHARES):
            raise SystemExit(f"The shares of {method}, {measure} are not 0.5 to 10 %.")
        found |= {(name, method): np.array(values, float) for name, *values in lines}
    return found


def reproduction(ours: dict, theirs: dict, sets: list[str]) -> tuple[list[str], list[str]]:
    """Return the table of what both have, and the data sets whose variance rows are the same."""
    columns = [m for m in METHODS if m in TWINS and (sets[0], m) in ours]
    gaps = {
        (name, m): float(ours[name, m].mean() - theirs[name, TWINS[m]].mean())
        for name in sets
        for m in columns
    }
    same = [name for name in sets if abs(gaps[name, "MaxVariance"]) < SAME]
    rows = []
    for name in sets:
        cells: list[str] = [name if name in same else f"{name} (other data)"]
        for m in columns:
            pair = ours[name, m].mean(), theirs[name, TWINS[m]].mean()
            cells.append("{:.1f} / {:.1f} ({:+.1f})".format(*percent(*pair, gaps[name, m])))
        rows.append(cells)
    mean = {m: np.mean([gaps[name, m] for name in same]) for m in columns}
    size = {m: np.mean([abs(gaps[name, m]) for name in same]) for m in columns}
    most = {m: max(abs(gaps[name, m]) for name in same) for m in columns}
    for word, values in {"mean": mean, "mean size": size, "largest size": most}.items():
        cells = [f"{100 * values[m]:+.2f}" for m in columns]
        rows.append([f"**{word} of the difference, {len(same)} sets**", *cells])
    head = ["data set", *(f"{m}: ours / published" for m in columns)]
    return table(head, rows), same


def verdict(ours: dict, theirs: dict, sets: list[str], same: list[str]) -> list[str]:
    """Say in a few sentences what matches and what does not."""

    def gaps(method: str) -> np.ndarray:
        pairs = [(ours[name, method], theirs[name, TWINS[method]]) for name in same]
        return np.array([mine.mean() - other.mean() for mine, other in pairs])

    points = []
    if (sets[0], "LaplacianScore") in ours:
        found = gaps("LaplacianScore")
        word = "is reproduced" if np.abs(found).max() <= SAME else "is not reproduced everywhere"
        points.append(
            f"FSEVAL's Laplacian score {word} to {SAME:g} of mean NMI: the means over {len(same)} "
            f"sets differ by {found.mean():+.4f}, one set by at most {np.abs(found).max():.4f}."
        )
    other = [name for name in sets if name not in same]
    if other:
        points.append(f"Not the same data, left out of the means: {', '.join(other)}.")
    for method in PUBLISHED:
        zero = [name for (name, m), row in theirs.items() if m == method and not row.any()]
        if zero:
            points.append(
                f"Published rows of {method} are zero at every share on {len(zero)} sets "
                f"({', '.join(zero)}): they are no result, and say nothing about the method."
            )
    if (sets[0], "RandomSelector") in ours:
        points.append(
            f"Random rankings differ by {gaps('RandomSelector').mean():+.4f} on average: both are "
            "means of few draws, and FSEVAL's seeds are not known."
        )
    return [f"- {point}" for point in points]


def percent(*values: float) -> list[float]:
    """Return shares in percent."""
    return [100.0 * value for value in values]


def every_row(ours: dict, theirs: dict, sets: list[str]) -> dict[str, list[float]]:
    """Return the mean over the shares of every method, ours and published, best first."""
    mine = {m for _, m in ours}
    found = {f"{m} (ours)": [ours[name, m].mean() for name in sets] for m in METHODS if m in mine}
    found |= {
        f"{m} (published)": [theirs[name, m].mean() for name in sets]
        for m in PUBLISHED
        if all((name, m) in theirs for name in sets)
    }
    return dict(sorted(found.items(), key=lambda entry: -np.mean(entry[1])))


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--published", type=Path, help="folder of FSEVAL's CSV files")
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=list(SETS), metavar="SET")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--kept", type=Path, help="rows that were computed before, and new ones")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    if real_data.folder() is None or arguments.published is None:
        print("fseval.py: skipped, it needs FEATSIEVE_DATA and --published.")
        return
    # the variances say whether the data are the same
    sets, methods = list(arguments.sets), list(dict.fromkeys(("MaxVariance", *arguments.methods)))
    theirs = {measure: read_published(arguments.published, measure) for measure in MEASURES}
    cases = [(name, method) for method in methods for name in sets]
    found = in_parallel(judge, cases, jobs=arguments.jobs, kept=arguments.kept)
    ours = {
        measure: {case: np.array(row[measure]) for case, row in zip(cases, found, strict=True)}
        for measure in MEASURES
    }
    checks, same = reproduction(ours["NMI"], theirs["NMI"], sets)
    lines = ["## What matches, and what does not", ""]
    lines += [*verdict(ours["NMI"], theirs["NMI"], sets, same), ""]
    lines += ["## Is the protocol the same? NMI", "", *checks, ""]
    for measure in MEASURES:
        means = every_row(ours[measure], theirs[measure], same)
        title = f"## {measure} on the {len(same)} sets with the same data"
        rows = [
            [method, f"**{100 * np.mean(values):.1f}**", *(f"{v:.1f}" for v in percent(*values))]
            for method, values in means.items()
        ]
        lines += [title, "", *table(["method", "mean", *same], rows), ""]
        if "JASFS (ours)" in means and len(same) > 1:
            lines += [
                f"Differences to JASFS (ours) in points of {measure}, paired over these sets:"
            ]
            lines += ["", *difference_table(means, "JASFS (ours)"), ""]
            ranks = compare_ranks(np.transpose(list(means.values())), names=list(means))
            listed = [f"{ranks.names[i]} {ranks.average_ranks[i]:.1f}" for i in ranks.order]
            lines += [
                f"Average ranks: {', '.join(listed)}. Nemenyi's critical difference at the 5 % "
                f"level is {ranks.critical_difference:.1f}.",
                "",
            ]
    rows = [
        {"set": name, "method": method, "share": share, "n_features": k}
        | {m.lower(): round(row[m][i], 4) for m in MEASURES}
        for (name, method), row in zip(cases, found, strict=True)
        for i, (share, k) in enumerate(zip(SHARES, row["counts"], strict=True))
    ]
    finish(arguments.output, "FSEVAL's protocol", __doc__, lines, rows)


if __name__ == "__main__":
    main()

"""Quality of the selected features on real data, by the paper's protocol.

For every data set and method: k-means on the k selected columns (random start, one run, mean of
ten seeds, the true number of classes given), for k in {10, 30, 50, 100, 150, 200, 300}. Printed as
ACC/NMI in percent: the mean over those k that the table has ("area"; nothing is chosen by labels).
"Own labels" is the clustering that JASFS itself returns. "Families" are those whose hypotheses were
believed, with their weights (`init_`).

All methods but the last are unsupervised: "JASFS" with its defaults, "random" the mean of three
random subsets, "paper solver" the authors' algorithm ranked by the rows of W at lambda = 1e-6 (with
its default many rows are zero, and cannot be ranked), and "true labels" JASFS with the classes
given as `init`: a reference that no user has, not a bound (it is exceeded on some sets). "Own
labels" are another clusterer, not k-means on the selected columns: much of what they gain is the
way of clustering, not the selection.

"Differences" are paired over data sets; at most one point is a tie. The first bootstrap interval is
over the data sets, the second over the eight families of tables (genes, faces, digits, text, speech
and handwriting, single cells, categories, made tables), since sets of one family are not
independent; of so few families it is too narrow itself, and 16 of the 41 sets are genes. The gap is
that between all features and "true labels". Palm has 256 features here (16 x 16 images), not the
paper's 4096. The raw counts of single cells (sc_baron_mouse1, sc_camp, sc_mix5_celseq2) are divided
by the total of the cell, times the median total, and log1p is taken; all other tables are used as
they are.

Usage: FEATSIEVE_DATA=folder python benchmarks/quality.py [--sets brain lung ...] [--jobs 2]
       [--kept rows.jsonl] [--output benchmarks/results/quality.md] [--figure docs/_static/gap.svg]
"""

import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

import real_data
from common import difference_table, finish, in_parallel, line, options, table
from featsieve import JASFS
from featsieve.evaluation import ClusteringScores, compare_with_reference, paper_protocol
from featsieve.report.figures import FAINT, INK, draw

COUNTS = (10, 30, 50, 100, 150, 200, 300)
METHODS = ("JASFS", "all features", "random", "max variance", "paper solver", "true labels")
GROUPS = {
    "The paper's sets": real_data.PAPER,
    "Sets of scikit-feature": real_data.SKFEATURE,
    "Other kinds of tables": real_data.MORE,
}


def orders(
    X: np.ndarray, y: np.ndarray, method: str, n_clusters: int
) -> tuple[list[np.ndarray], JASFS | None]:
    """Return rankings of the features (several for "random"), and the fitted JASFS."""
    k = min(100, X.shape[1] // 2)  # the ranking does not depend on it
    if method == "random":
        return [np.random.default_rng(seed).permutation(X.shape[1]) for seed in range(3)], None
    if method == "max variance":
        return [np.argsort(-X.var(axis=0), kind="stable")], None
    settings = {
        "JASFS": {"n_features_to_select": k},
        "true labels": {"n_features_to_select": k, "init": y},
        "paper solver": {"solver": "paper", "sparsity": 1e-6},
    }
    sieve = JASFS(n_clusters, random_state=0, **settings[method]).fit(X)
    return [np.argsort(sieve.ranking_)], sieve


def evaluate(name: str, method: str) -> dict:
    """Return the scores of one method on one data set."""
    X, y = real_data.prepared(name)
    n_clusters = len(np.unique(y))
    row: dict = {"set": name, "method": method}
    start = time.perf_counter()
    if method == "all features":
        row["area"] = list(two(paper_protocol(X, y)))
    else:
        rankings, sieve = orders(X, y, method, n_clusters)
        row["seconds"] = time.perf_counter() - start
        counts = [k for k in COUNTS if k <= X.shape[1]]
        scores = [[two(paper_protocol(X[:, o[:k]], y)) for k in counts] for o in rankings]
        row["area"] = np.mean(scores, axis=(0, 1)).tolist()
        if method == "JASFS":
            row["own"] = list(two(ClusteringScores.of_labels(y, sieve.labels_)))
            row["families"] = ", ".join(
                f"{family} {weight:.2f}"
                for family, weight in zip(sieve.init_["family"], sieve.init_["weight"], strict=True)
                if weight > 0.0
            )
    row["total"] = time.perf_counter() - start
    print(f"{name}, {method}: {row['total']:.0f} s", flush=True)
    return row


def two(scores: ClusteringScores) -> tuple[float, float]:
    """Return mean accuracy and NMI."""
    accuracy, nmi, _ = scores.mean()
    return accuracy, nmi


def pair(values: tuple[float, float] | np.ndarray) -> str:
    return f"{100 * values[0]:.1f}/{100 * values[1]:.1f}"


def signed(values: np.ndarray) -> str:
    return f"{100 * values[0]:+.1f}/{100 * values[1]:+.1f}"


def group_table(found: dict, names: list[str], means: dict[str, list[str]]) -> list[str]:
    """Return the lines of some data sets, and of the means of some groups."""
    head = ["data set", "JASFS: own labels", "JASFS: area", *METHODS[1:], "families", "seconds"]
    lines = table(head, [])
    for name in names:
        jasfs = found[name, "JASFS"]
        cells = [name, pair(jasfs["own"]), *(pair(found[name, m]["area"]) for m in METHODS)]
        lines.append(line([*cells, jasfs["families"], f"{jasfs['seconds']:.1f}"]))
    for title, members in means.items():
        own = np.mean([found[name, "JASFS"]["own"] for name in members], axis=0)
        areas = [np.mean([found[name, m]["area"] for name in members], axis=0) for m in METHODS]
        cells = [f"mean, {len(members)} {title}", pair(own), *map(pair, areas)]
        lines.append(line([*(f"**{cell}**" for cell in cells), "", ""]))
    return lines


def short_table(found: dict, groups: dict[str, list[str]]) -> list[str]:
    """Return the README's table: means over groups of data sets."""
    columns = {
        "JASFS (default)": "JASFS",
        "the paper's solver, ranked at λ = 1e-6": "paper solver",
        "all features": "all features",
        "random features": "random",
        "largest variance": "max variance",
    }
    lines = table(["data sets", *columns, "JASFS's own clusters"], [])
    for title, names in groups.items():
        areas = {m: np.mean([found[name, m]["area"] for name in names], axis=0) for m in METHODS}
        own = np.mean([found[name, "JASFS"]["own"] for name in names], axis=0)
        first, *others = [pair(areas[method]) for method in columns.values()]
        lines.append(line([title, f"**{first}**", *others, pair(own)]))
    return lines


def differences(found: dict, names: list[str]) -> list[str]:
    """Return what methods gain over all features, and lose to JASFS, over all data sets."""
    lines = []
    families = [family_of(name) for name in names]
    for place, metric in enumerate(("ACC", "NMI")):
        scores = {m: [found[name, m]["area"][place] for name in names] for m in METHODS}
        lines += [f"## Differences in {metric}, {len(names)} sets", "", "To all features:", ""]
        how = {"families": families}
        lines += [*difference_table(scores, "all features", ceiling="true labels", **how), ""]
        lines += ["To JASFS:", "", *difference_table(scores, "JASFS", **how), ""]
    return lines


def family_of(name: str) -> str:
    """Return the family of tables that a data set is of."""
    return next(family for family, own in real_data.FAMILIES.items() if name in own)


def by_family(found: dict, names: list[str]) -> list[str]:
    """Return the means of every family of tables, and their mean: each family counts alike."""
    gain = {
        n: np.subtract(found[n, "JASFS"]["area"], found[n, "all features"]["area"]) for n in names
    }
    rows, means = [], []
    for family in sorted(set(map(family_of, names))):
        own = [name for name in names if family_of(name) == family]
        areas = [np.mean([found[n, m]["area"] for n in own], axis=0) for m in METHODS[:2]]
        means.append(np.mean([gain[n] for n in own], axis=0))
        points = [100.0 * gain[n][0] for n in own]
        record = (sum(p > 1.0 for p in points), sum(p < -1.0 for p in points))
        rows.append(
            [family, len(own), *map(pair, areas), signed(means[-1]), "{}/{}".format(*record)]
        )
    rows.append(
        ["**mean of the families**", len(names), "", "", signed(np.mean(means, axis=0)), ""]
    )
    head = ["family", "sets", "JASFS: area", "all features", "difference", "wins/losses in ACC"]
    lines = ["## By family", "", *table(head, rows), ""]
    if len(means) > 1:  # by Student's t: of the families, not of the sets
        half = stats.t.ppf(0.975, len(means) - 1) * stats.sem(means)
        low, high = signed(np.mean(means, axis=0) - half), signed(np.mean(means, axis=0) + half)
        lines += [f"The mean, with each family counted once: 95 % t interval {low} to {high}.", ""]
    return lines


def draw_gap(found: dict, names: list[str], path: Path) -> None:
    """Draw the share of the gap in ACC between all features and true labels that is closed."""
    table = [[found[name, m]["area"][0] for m in METHODS] for name in names]
    gap = compare_with_reference(table, "all features", names=METHODS, ceiling="true labels")
    closed = {name: 100 * np.array(own.closed) for name, own in gap.items()}
    names = sorted((n for n in closed if np.isfinite(closed[n][0])), key=lambda n: -closed[n][0])
    ends = np.array([closed[name][1:] for name in names])
    looks = {"paper solver": ("#1f83c6", "*"), "random": ("#8a8f98", "x")}
    looks |= {"true labels": ("#8a8f98", "_"), "max variance": ("#8a8f98", "+")}

    def paint(axes: Any) -> None:
        axes.axvline(0.0, color=INK, linewidth=0.8, zorder=1)
        axes.grid(visible=False, axis="y")
        for place, name in enumerate(names):
            band = {"color": FAINT, "linewidth": 5, "solid_capstyle": "round", "zorder": 2}
            axes.plot(ends[place], [place] * 2, **band)
            colour, marker = looks.get(name, ("#d55e00", "o"))
            axes.plot([closed[name][0]], [place], color=colour, marker=marker, ms=8, zorder=4)
        axes.set_yticks(range(len(names)), names)
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(len(names) - 0.4, -0.6)
        # a control far below all features must not squeeze the rest
        axes.set_xlim(max(-110.0, ends.min() - 5.0), max(105.0, ends.max() + 5.0))
        axes.set_xlabel("% of the gap in ACC: 0 all features, 100 true labels")

    path.write_text(draw(paint, 5.0, 1.0 + 0.26 * len(names)), encoding="utf-8")


def main() -> None:
    parser = options(__doc__)
    every = [name for group in GROUPS.values() for name in group]
    parser.add_argument("--sets", nargs="+", default=every, choices=every, metavar="SET")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--kept", type=Path, help="rows that were computed before, and new ones")
    parser.add_argument("--figure", type=Path, help="where to draw the share of the gap")
    arguments = parser.parse_args()
    if real_data.folder() is None:
        print("quality.py: skipped, FEATSIEVE_DATA does not name a folder with the data sets.")
        return
    sets = [name for name in every if name in arguments.sets]
    # the slowest first, so that no core waits for them in the end
    jobs = sorted(((name, method) for name in sets for method in METHODS), key=cost)
    rows = in_parallel(evaluate, jobs, jobs=arguments.jobs, kept=arguments.kept)
    found = {(row["set"], row["method"]): row for row in rows}
    lines: list[str] = []
    so_far: list[str] = []
    for title, group in GROUPS.items():
        names = [name for name in group if name in sets]
        means = {"sets": names}
        if group is real_data.SKFEATURE:
            means["sets, with the paper's"] = [*so_far, *names]
        so_far += names
        if names:
            lines += [f"## {title}", "", *group_table(found, names, means), ""]
    if sets == every:
        paper, skfeature, more = (list(group) for group in GROUPS.values())
        groups = {
            "the paper's eight": paper,
            "these and 12 of scikit-feature": paper + skfeature,
            "21 others (genes, cells, images, documents, small tables)": more,
        }
        lines += ["## In short", "", *short_table(found, groups), ""]
    if len(sets) > 1:
        lines += [*differences(found, sets), *by_family(found, sets)]
    if arguments.figure is not None:
        draw_gap(found, sets, arguments.figure)
    minutes = sum(row["total"] for row in rows) / 60.0
    slowest = max(rows, key=lambda row: row["total"])
    lines.append(
        f"{minutes:.1f} minutes of one core in all; the longest: {slowest['set']}, "
        f"{slowest['method']}, {slowest['total'] / 60.0:.1f} minutes."
    )
    finish(arguments.output, "Quality", __doc__, lines)


def cost(job: tuple[str, str]) -> float:
    """Return less for a data set and a method that take longer, roughly."""
    entry = real_data.dataset_info(job[0])
    size = entry.n_samples * entry.n_features * (entry.n_samples + 50 * entry.n_classes)
    return -float(size) * {"JASFS": 3.0, "random": 3.0, "all features": 1.0}.get(job[1], 2.0)


if __name__ == "__main__":
    main()

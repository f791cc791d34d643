"""What survives honest tuning: one benchmark, four ways to choose settings, ten methods and JASFS.

Accuracy in percent (k-means from random starts on the selected columns, mean of ten runs), means
over the paper's data sets without palm and lung, which are not the paper's data (smaller images,
another source). A rank of 1 is best among the methods, by the mean rank over data sets.

Published: the best setting by the true classes, as the paper prints it: of up to 343 settings at
each of eight numbers of features. Oracle: the same, by this library, on the grid of the plan: the
paper's seven values of two weights where a method has them, the third at its default; AUFS three
values, and one fit for all numbers ("searched": the most different selections of a data set, over
all numbers of features; settings that change nothing are no search), so that differences to
"published" are also those of the search. Default: the constructor's defaults. Label-free: the
setting that the default criterion of JASFS chooses, in the graph that JASFS starts from; neither
sees the classes. Chance: the expected best of as many random sets of columns as the method's
settings gave different selections, also chosen by the true classes; "margin" is what the oracle has
beyond it, with a 95 % bootstrap interval over data sets. A method whose margin reaches below 0 has
not been shown to find more than its search does by luck; intervals are of one method each: of as
many as there are here, one may leave 0 out by chance.

Usage: python benchmarks/honest_tuning.py [--results docs/results/paper.parquet]
       [--output docs/results/honest_tuning.md]
"""

from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import kendalltau

import real_data
from common import finish, options, table
from featsieve.bench import load_results
from featsieve.evaluation import compare_with_reference
from featsieve.report.bench.scores import NAMES, expected_best, load_published

SKIPPED = ("palm", "lung")
ROOT = Path(__file__).resolve().parents[1]
WAYS = ("published", "oracle", "label-free", "default", "chance")


def accuracies(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the accuracy of every method on every data set, by how settings were chosen."""
    done = rows[(rows["metric"] == "acc_mean") & ~rows["dataset"].isin(SKIPPED)]
    grid = done[done["experiment"] == "grid"]
    found = {
        way: done[done["experiment"] == way].pivot_table("value", "dataset", "method")
        for way in ("default", "label-free")
    }
    found["oracle"] = grid.pivot_table("value", "dataset", "method", aggfunc="max")
    if (grid["support"] == "").any():  # all settings would count as one
        raise SystemExit("These rows are of before the column support: run and export the plan.")
    settings = grid.drop_duplicates(["dataset", "method", "support"])
    budget = settings.groupby(["dataset", "method"]).size()
    draws = grid[grid["method"] == "Random"].groupby("dataset")["value"].apply(list)
    found["searched"] = budget.unstack()
    found["chance"] = pd.Series(
        {key: expected_best(draws[key[0]], number) for key, number in budget.items()}
    ).unstack()
    paper = load_published()["acc"]
    selectors = done.drop_duplicates("method").set_index("method")["selector"]
    names = {method: NAMES.get(selector) for method, selector in selectors.items()}
    names["JASFS"] = None  # the paper's row belongs to the published algorithm
    sets = found["default"].index
    found["published"] = pd.DataFrame(
        {
            method: [paper[dataset, name][0] / 100.0 for dataset in sets]
            for method, name in names.items()
            if name is not None
        },
        index=sets,
    )
    return found


def page(rows: pd.DataFrame) -> list[str]:
    """Return the tables."""
    found = accuracies(rows)
    controls = set(rows.loc[rows["control"], "method"])
    methods = [name for name in found["oracle"].columns if name not in controls]
    ranks = {
        way: scores[[m for m in methods if m in scores]].rank(axis=1, ascending=False).mean().rank()
        for way, scores in found.items()
        if way not in ("chance", "searched")
    }
    lines = []
    for method in sorted(methods, key=lambda name: ranks["label-free"][name]):
        pair = np.column_stack([found["oracle"][method], found["chance"][method]])
        margin = compare_with_reference(pair, "chance", names=["oracle", "chance"])["oracle"]
        cells = [method]
        for way in WAYS:
            if method not in found[way]:
                cells.append("-")
                continue
            rank = f" ({ranks[way][method]:g})" if way in ranks else ""
            cells.append(f"{100.0 * found[way][method].mean():.1f}{rank}")
        cells.append("{:+.1f} [{:+.1f}, {:+.1f}]".format(*(100.0 * x for x in margin.points)))
        cells.append(f"{found['searched'][method].max():.0f}")
        lines.append(cells)
    for control in ("Baseline", "MaxVariance"):
        means = [
            f"{100.0 * found[w][control].mean():.1f}" if control in found[w] else "-" for w in WAYS
        ]
        lines.append([f"*{control}*", *means, "", ""])
    head = [f"{way} (rank of {len(ranks[way].dropna())})" if way in ranks else way for way in WAYS]
    head = ["method", *head, "margin", "searched"]
    agreements = []
    for one, other in combinations([way for way in WAYS if way in ranks], 2):
        both = [m for m in methods if m in ranks[one] and m in ranks[other]]
        tau = kendalltau(ranks[one][both], ranks[other][both])
        agreements.append(
            [f"{one}, {other}", len(both), f"{tau.statistic:+.2f}", f"{tau.pvalue:.2f}"]
        )
    state = ", ".join(sorted(set(rows["source"].dropna().astype(str)) - {""}))
    return [
        f"{len(found['default'])} data sets: {', '.join(found['default'].index)}.",
        "",
        *table(head, lines),
        "",
        "Do rankings agree? Kendall's tau, and the p-value of no agreement:",
        "",
        *table(["rankings", "methods", "tau", "p"], agreements),
        "",
        f"Rows: plan {rows['plan'].iloc[0]}, state of the code {state}.",
    ]


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--results", type=Path, default=ROOT / "docs" / "results" / "paper.parquet")
    arguments = parser.parse_args()
    assert real_data.PAPER  # the page says which sets were looked at
    finish(
        arguments.output,
        "What survives honest tuning",
        __doc__,
        page(load_results(arguments.results)),
    )


if __name__ == "__main__":
    main()

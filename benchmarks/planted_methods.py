"""How many planted columns each compared method finds with its defaults, and what its numbers do.

Every method is given the number of clusters and selects as many columns as are planted; cells are
the recall in per cent. Tables of 60 x 200 with ten planted columns and three clusters: a mean for
every cluster and column, drawn with a standard deviation of 2 or of 4 (`make_planted`), or the same
three means 0, 3, 6 in all columns ("steps"). The catalogue: as in planted.py, as made and with
standardised columns; the mean of five tables of every kind, of random states with which no constant
was varied.

"True labels given": the same with the true clusters as `init` (MCFS: as the graph). Where that
finds the columns and the default does not, the pseudo-labels are wrong. The other methods have no
labels to be given.

Penalties: the same means with one number that stands behind an "auto" or a default replaced. `beta`
of NDFS, RSFS and RUFS is a share of the smallest value with which all weights vanish: "auto" is the
root of the part of the labels that neighbours contradict, "auto, part x 2" and "x 0.5" double and
halve that part, and "0.5" is what "auto" was before. `ridge` of MCFS follows the same part, that of
its functions; 0.001 is the published one. With FEATSIEVE_DATA also the mean ACC / NMI
(five runs of k-means at 10 to 300 columns; zoo, of 21 columns: at 3 to 12) of development sets,
whose classes only judge.

Read so: with the true labels nearly every method finds the columns, so it is the pseudo-labels of
all columns, noise included, that fail; a larger penalty forgives their errors. Methods whose labels
move (UGFS, AUFS, JASFS) mend some, and their numbers matter little between half and double. MCFS
stops at as many coefficients as columns are wanted; with the published ridge few of the columns
that say the same enter, with that of "auto" more. URAFS starts from k-means of all columns, and its
penalty matters little. IFPCA asks whether a column is normal: three overlapping clusters nearly
are. In blocks5, blocks2 and ar1 columns of noise that go together decide who is a neighbour of
whom.

UDFS has no automatic penalty that would do: the best gamma and local ridge of each table, chosen
with the truth, miss many of the columns (below). It minimises scatter among neighbours without
regard to how often a sample is one, and columns that vary among samples that are neighbours
of hardly any look smooth: of the ten columns that are smoothest for its own matrix few are planted.
Of the smoothest relative to their variance most are, if a sample counts as often as it is a
neighbour: but that is another method, nearly LaplacianScore. A large gamma keeps as many columns as
clusters, and the order of all others is an accident. So its constants stay.

Usage: [FEATSIEVE_DATA=folder] python benchmarks/planted_methods.py [--kinds iid15 ...] [--seeds 5]
       [--jobs 2] [--methods NDFS ...] [--kept FILE] [--output FILE.md]
"""

import os
import time
import warnings
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.preprocessing import StandardScaler

from common import finish, in_parallel, line, options, selector, table
from featsieve import UDFS, defaults
from featsieve.arrays import as_operator
from featsieve.datasets import load_dataset, make_catalogue_table, make_planted, planted_kinds
from featsieve.evaluation import paper_protocol
from featsieve.graphs.local_models import (
    local_discriminant_matrix,
    local_grams,
    mean_scatter,
    neighbourhoods,
)
from featsieve.selectors import label_regression, mcfs
from featsieve.selectors.label_regression import contradicted
from featsieve.selectors.mcfs import resolve_ridge
from featsieve.solvers.sparse_projection import roughness

METHODS = (
    *("LaplacianScore", "SPEC", "MCFS", "UDFS", "NDFS", "RSFS", "RUFS", "URAFS", "USFS"),
    *("SOGFS", "UGFS", "AUFS", "SparseKMeans", "SKFR", "IFPCA", "DUFS", "JASFS"),
)
FORMS = ("as made", "standardised")
SMALL = ("means of 2", "means of 4", "steps")
SMALL_SEEDS = 5
# Of the random states of the catalogue; no constant was varied on these tables.
FIRST = 100
WITHOUT_INIT = (
    *("LaplacianScore", "SPEC", "UDFS", "SOGFS"),
    *("SparseKMeans", "SKFR", "IFPCA", "DUFS"),
)
# What stands for the part of the labels that neighbours contradict, whose root is the share.
SHARES = {
    "0.5": lambda part: 0.5**2,
    "0.8": lambda part: 0.8**2,
    "0.9": lambda part: 0.9**2,
    "auto, part x 0.5": lambda part: 0.5 * part,
    "auto": lambda part: part,
    "auto, part x 2": lambda part: np.minimum(2.0 * part, 0.99),
}
# Method, number, values; the value in use stands in bold. A name in capitals is one of defaults.
SWEEPS = (
    ("NDFS", "beta", tuple(SHARES)),
    ("RSFS", "beta", tuple(SHARES)),
    ("RUFS", "beta", tuple(SHARES)),
    ("MCFS", "ridge", (0.001, *list(SHARES)[3:])),
    ("USFS", "USFS_GAMMA", (0.25, 0.5, 0.8)),
    ("UDFS", "UDFS_GAMMA_WIDE", (0.03, 0.3, 3.0, 10.0)),
    ("SOGFS", "SOGFS_GAMMA", (5.0, 10.0, 20.0)),
    ("URAFS", "sparsity", (5.0, 10.0, 20.0)),
    ("UGFS", "ridge", (5.0, 10.0, 20.0)),
    ("AUFS", "ridge", (5.0, 10.0, 20.0)),
)
SETS = (
    *("jaffe", "lung_small", "colon", "Yale", "zoo", "brain", "ALLAML", "lymphoma", "warpPIE10P"),
    *("GLIOMA", "DLBCL"),
)
COUNTS = (10, 20, 50, 100, 150, 200, 250, 300)
FEW_COUNTS = (3, 5, 8, 12)  # for tables of fewer than 30 columns
ON_SETS = ("NDFS", "RSFS", "RUFS", "MCFS", "USFS")
# Tried for UDFS, as shares: gamma of the mean roughness, local ridge of the mean scatter.
UDFS_GAMMAS = (0.03, 0.1, 0.3, 1.0, 3.0)
UDFS_RIDGES = (0.01, 0.1, 1.0, 10.0, 100.0)


def planted_table(kind: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a table, its clusters and its planted columns."""
    if kind == "steps":
        y = np.arange(60) % 3
        X = np.random.default_rng(seed).standard_normal((60, 200))
        X[:, :10] += 3.0 * y[:, None]
        return X, y, np.arange(200) < 10
    if kind in SMALL:
        signal = float(kind.split()[-1])
        made = make_planted(
            60, 200, n_informative=10, n_clusters=3, signal=signal, random_state=seed
        )
    else:
        made = make_catalogue_table(kind, random_state=seed)
    return made.X, made.labels, made.informative


def recall(kind: str, form: str, seed: int, method: str, change: tuple[str, Any]) -> list[float]:
    """Return the recall in per cent and the seconds of a method on a table, one number changed.

    The change ("init", True) gives the true clusters.
    """
    warnings.simplefilter("ignore")  # iteration limits: part of the defaults
    X, y, truth = planted_table(kind, seed)
    if form == "standardised":
        X = StandardScaler().fit_transform(X)
    sieve = selector(method, int(y.max()) + 1, int(truth.sum()))
    name, value = change
    if name == "init":
        same = (y[:, None] == y).astype(float) - np.eye(len(y))
        sieve.set_params(**({"affinity": same} if method == "MCFS" else {"init": y}))
    begun = time.perf_counter()
    fitted(sieve, X, name, value)
    return [100.0 * float(truth[sieve.support_].mean()), time.perf_counter() - begun]


def fitted(sieve: Any, X: np.ndarray, name: str, value: Any) -> Any:
    """Fit with a constant of the defaults (in capitals), a parameter, or a share replaced."""
    if value in SHARES:
        part = SHARES[value]
        with (
            patch.object(label_regression, "contradicted", lambda *of: part(contradicted(*of))),
            patch.object(mcfs, "resolve_ridge", lambda *of: resolve_ridge(*of[:2], part(of[2]))),
        ):
            return sieve.fit(X)
    if name.isupper():
        with patch.object(defaults, name, value):
            return sieve.fit(X)
    if name and name != "init":
        sieve.set_params(**{name: value})
    return sieve.fit(X)


def within_udfs(kind: str, seed: int) -> list[float]:
    """Return recalls in per cent: by roughness, by its share of the variance, of the best UDFS."""
    warnings.simplefilter("ignore")
    X, y, truth = planted_table(kind, seed)
    operator = as_operator(X, scale="std")
    members = neighbourhoods(operator, 5)
    grams = local_grams(operator, members)
    scatter = mean_scatter(grams)
    rough = roughness(operator, local_discriminant_matrix(members, grams, ridge=scatter))
    times = np.bincount(members.ravel(), minlength=len(X)) / members.size
    Z = StandardScaler().fit_transform(X)
    variance = times @ (Z - times @ Z) ** 2

    def share(order: np.ndarray) -> float:
        return 100.0 * float(truth[order[: truth.sum()]].mean())

    best = 0.0
    for gamma in UDFS_GAMMAS:
        for ridge in UDFS_RIDGES:
            with patch.object(defaults, "UDFS_GAMMA_WIDE", gamma):
                sieve = UDFS(int(y.max()) + 1, local_ridge=ridge * scatter).fit(X)
            best = max(best, share(np.argsort(sieve.ranking_)))
    return [share(np.argsort(rough)), share(np.argsort(rough / variance)), best]


def udfs_table(how: dict) -> list[str]:
    """Return why no penalty of UDFS finds the columns."""
    cases = [(kind, seed) for kind in SMALL for seed in range(SMALL_SEEDS)]
    found = np.reshape(in_parallel(within_udfs, cases, **how), (len(SMALL), SMALL_SEEDS, 3))
    names = [
        "smoothest columns of UDFS's matrix",
        "smoothest relative to their variance among neighbours",
        f"best of {len(UDFS_GAMMAS) * len(UDFS_RIDGES)} (gamma, local ridge), by the truth",
    ]
    lines = ["", "## UDFS: why not", "", "Mean (each 60 x 200 table).", ""]
    rows = [
        [
            name,
            *(
                f"{np.mean(own):.0f} ({', '.join(f'{x:.0f}' for x in own)})"
                for own in found[..., i]
            ),
        ]
        for i, name in enumerate(names)
    ]
    return lines + table(["", *SMALL], rows)


def area(dataset: str, method: str, name: str, value: Any) -> list[float]:
    """Return the mean accuracy and NMI in per cent over some numbers of columns."""
    warnings.simplefilter("ignore")
    data = load_dataset(dataset)
    X = np.asarray(data.X, dtype=np.float64)
    counts = [k for k in COUNTS if k < X.shape[1]] if X.shape[1] >= 30 else FEW_COUNTS
    sieve = selector(method, len(np.unique(data.y)), counts[-1])
    order = np.argsort(fitted(sieve, X, name, value).ranking_)
    scores = [paper_protocol(X[:, np.sort(order[:k])], data.y, n_seeds=5).mean() for k in counts]
    return (100.0 * np.mean(scores, axis=0)[:2]).tolist()


def recalls_of_all(kinds: list[str], methods: list[str], states: range, how: dict) -> list[str]:
    """Return the tables of the 60 x 200 tables and of the catalogue."""
    nothing, given = ("", None), ("init", True)
    small = [
        (k, "as made", s, m, nothing) for m in methods for k in SMALL for s in range(SMALL_SEEDS)
    ]
    known = [m for m in methods if m not in WITHOUT_INIT]
    told = [(k, "as made", s, m, given) for m in known for k in SMALL for s in range(SMALL_SEEDS)]
    many = [(k, f, s, m, nothing) for k in kinds for f in FORMS for s in states for m in methods]
    cases = small + told + many
    found = dict(zip(cases, in_parallel(recall, cases, **how), strict=True))

    def per_seed(kind: str, method: str, change: tuple[str, Any]) -> str:
        if change == given and method not in known:
            return ""
        own = [found[kind, "as made", s, method, change][0] for s in range(SMALL_SEEDS)]
        return f"{np.mean(own):.0f} ({', '.join(f'{r:.0f}' for r in own)})"

    lines = ["## 60 x 200, ten planted columns, three clusters", ""]
    lines += ["Mean (each table).", ""]
    head = [*SMALL, *(f"{kind}, true labels given" for kind in SMALL)]
    lines += table(["method", *head], [])
    for m in methods:
        cells = [per_seed(kind, m, change) for change in (nothing, given) for kind in SMALL]
        lines.append(line([m, *cells]))
    lines += ["", "## The catalogue", ""]
    lines += table(["kind", "columns", *methods], [])
    for kind in kinds:
        for form in FORMS:
            own = [[found[kind, form, s, m, nothing] for s in states] for m in methods]
            lines.append(line([kind, form, *(f"{r:.0f}" for r in np.mean(own, axis=1)[:, 0])]))
    for form in FORMS:
        own = [
            [found[kind, form, s, m, nothing] for kind in kinds for s in states] for m in methods
        ]
        means = np.mean(own, axis=1)
        lines.append(line(["**mean**", form, *(f"**{r:.0f}**" for r in means[:, 0])]))
    return [*lines, line(["seconds", "", *(f"{seconds:.2f}" for seconds in means[:, 1])])]


def sweeps(kinds: list[str], methods: list[str], how: dict) -> list[str]:
    """Return the tables of recall, and of development sets, with one number replaced."""
    wanted = [sweep for sweep in SWEEPS if sweep[0] in methods]
    cases = [
        (kind, "as made", 0, method, (name, value))
        for method, name, values in wanted
        for value in values
        for kind in (*SMALL, *kinds)
    ]
    found = dict(zip(cases, in_parallel(recall, cases, **how), strict=True))
    on_sets = [sweep for sweep in wanted if sweep[0] in ON_SETS and "FEATSIEVE_DATA" in os.environ]
    runs = [(d, m, name, v) for m, name, values in on_sets for v in values for d in SETS]
    areas = dict(zip(runs, in_parallel(area, runs, **how), strict=True))
    lines = ["", "## Penalties", ""]
    lines += ["Mean recall of one table of every kind, as made; mean ACC / NMI.", ""]
    lines += table(["method", "number", "value", "60 x 200", "catalogue", "development sets"], [])
    for method, name, values in wanted:
        used = getattr(defaults, name) if name.isupper() else getattr(selector(method, 2, 1), name)
        for value in values:
            cells = []
            for group in (SMALL, kinds):
                own = [found[kind, "as made", 0, method, (name, value)][0] for kind in group]
                cells.append(f"{np.mean(own):.1f}")
            own = [areas[run] for run in runs if run[1:] == (method, name, value)]
            cells.append("{:.1f} / {:.1f}".format(*np.mean(own, axis=0)) if own else "")
            shown = f"**{value}**" if value == used else value
            lines.append(line([method, f"`{name}`", shown, *cells]))
    if not on_sets:
        return lines
    lines += ["", "Each development set, ACC / NMI.", ""]
    lines += table(["method", "value", *SETS], [])
    for method, name, values in on_sets:
        for value in values:
            cells = ["{:.1f} / {:.1f}".format(*areas[d, method, name, value]) for d in SETS]
            lines.append(line([method, value, *cells]))
    return lines


def main() -> None:
    parser = options(__doc__)
    kinds = planted_kinds()
    parser.add_argument("--kinds", nargs="+", default=kinds, choices=kinds, metavar="KIND")
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS, metavar="METHOD")
    parser.add_argument("--seeds", type=int, default=5, help="tables of every kind")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--kept", type=Path, help="file of results, with which a run is taken up")
    arguments = parser.parse_args()
    begun = time.perf_counter()
    methods = list(arguments.methods)
    how = {"jobs": arguments.jobs, "kept": arguments.kept}
    changed = sweeps(arguments.kinds, methods, how)
    lines = (
        recalls_of_all(arguments.kinds, methods, range(FIRST, FIRST + arguments.seeds), how)
        + changed
    )
    lines += udfs_table(how) if "UDFS" in methods else []
    minutes = (time.perf_counter() - begun) / 60.0
    lines += ["", f"{minutes:.1f} minutes ({arguments.jobs} at a time) beside what was kept."]
    finish(arguments.output, "Planted features, all methods", __doc__, lines)


if __name__ == "__main__":
    main()

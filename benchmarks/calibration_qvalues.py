"""q-values of features: false discoveries on noise, error rate and power on planted tables.

JASFS with the number of clusters given (four on noise) and 15 features to select; its labels are
tested by `featsieve.tuning.feature_qvalues` at a false discovery rate of 0.1, and by the naive
test: Kruskal-Wallis p-values of the same labels with Benjamini and Hochberg. Noise has no feature
to discover: at most one table in ten may have any. On planted tables (`planted_kinds`) the realised
false discovery rate is the mean share of false features among those called; power is the share of
the informative ones that are called, and "true labels" that of the naive test with the true labels,
which is valid: what there is to find. In the kinds ar1, blocks2 and blocks5 columns of noise
correlate with each other: where clusters follow a block, its columns are associated with them, and
are counted as false.

Usage: python benchmarks/calibration_qvalues.py [--tables 5] [--kinds iid15 ...]
       [--noise "normal 60x300" ...] [--jobs 1] [--kept rows.jsonl] [--output FILE]
"""

import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binomtest, chi2, false_discovery_control

from common import finish, in_parallel, line, options, table
from featsieve import JASFS
from featsieve.criteria.qvalues import kruskal_wallis
from featsieve.datasets import make_catalogue_table, planted_kinds
from featsieve.tuning import feature_qvalues

LEVEL = 0.1
N_SELECTED = 15
CORRELATED = ("blocks5", "blocks2", "ar1")
NOISE = {
    "normal 60x300": lambda rng: rng.standard_normal((60, 300)),
    "normal 200x10": lambda rng: rng.standard_normal((200, 10)),
    "t3 100x100": lambda rng: rng.standard_t(3, (100, 100)),
    "binary 100x100": lambda rng: (rng.random((100, 100)) < rng.uniform(0.05, 0.5, 100)) * 1.0,
    "zeros 100x100": lambda rng: np.maximum(rng.standard_normal((100, 100)), 0.0),
    "mixed 100x60": lambda rng: np.hstack(
        [rng.standard_normal((100, 40)), (rng.random((100, 20)) < 0.4) * 1.0]
    ),
}


def naive(X: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return which columns the Kruskal-Wallis test calls, as if the labels had been given."""
    p_values = chi2.sf(kruskal_wallis(X, labels)[0], len(np.unique(labels)) - 1)
    return false_discovery_control(p_values) <= LEVEL


def of_table(
    X: np.ndarray, n_clusters: int, informative: np.ndarray, labels: np.ndarray | None, seed: int
) -> dict[str, Any]:
    """Return false and true features that each test calls; ``labels`` are the true ones, if any."""
    warnings.simplefilter("ignore")
    n_selected = min(N_SELECTED, X.shape[1] // 2)
    sieve = JASFS(n_clusters, n_features_to_select=n_selected, random_state=0).fit(X)
    begun = time.perf_counter()
    found = feature_qvalues(sieve, X, level=LEVEL, random_state=seed)
    row: dict[str, Any] = {"seconds": time.perf_counter() - begun, "refits": found.n_refits}
    called = {"q": found.significant(LEVEL), "naive": naive(X, sieve.labels_)}
    if labels is not None:
        called["nominal"] = naive(X, labels)
    for test, mask in called.items():
        row[f"{test} true"] = int((mask & informative).sum())
        row[f"{test} false"] = int((mask & ~informative).sum())
    return row | {"informative": int(informative.sum())}


def of_noise(name: str, seed: int) -> dict[str, Any]:
    """Return what is called in a table without clusters."""
    X = NOISE[name](np.random.default_rng(seed))
    nothing = np.zeros(X.shape[1], dtype=bool)
    return {"kind": name, "seed": seed, **of_table(X, 4, nothing, None, seed)}


def of_planted(kind: str, seed: int) -> dict[str, Any]:
    """Return what is called in a planted table."""
    made = make_catalogue_table(kind, random_state=seed)
    n_clusters = int(made.labels.max()) + 1
    found = of_table(made.X, n_clusters, made.informative, made.labels, seed)
    return {"kind": kind, "seed": seed, **found}


def noise_table(rows: list[dict]) -> list[str]:
    """Return the lines about tables without clusters, with 95 % intervals."""
    lines = table(["noise", "tables", "without a discovery", "naive", "refits", "seconds"], [])
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    for kind in (*kinds, "**all**"):
        own = rows if kind == "**all**" else [row for row in rows if row["kind"] == kind]
        shares = [_share([row[f"{test} false"] == 0 for row in own]) for test in ("q", "naive")]
        lines.append(line([kind, len(own), *shares, *_cost(own)]))
    return lines


def planted_table(rows: list[dict]) -> list[str]:
    """Return the lines about planted tables; those with correlated noise stand apart."""
    head = ["planted", "tables", "false discovery rate", "naive", "power", "naive", "true labels"]
    lines = table([*head, "refits", "seconds"], [])
    apart = [row for row in rows if row["kind"] in CORRELATED]
    plain = [row for row in rows if row["kind"] not in CORRELATED]
    for some, name in ((plain, "**all of these**"), (apart, "**correlated noise**")):
        kinds = list(dict.fromkeys(row["kind"] for row in some))
        for kind in (*kinds, name) if some else ():
            own = some if kind == name else [row for row in some if row["kind"] == kind]
            rates = [_mean([false_rate(row, test) for row in own]) for test in ("q", "naive")]
            power = [_mean([hit_rate(row, t) for row in own]) for t in ("q", "naive", "nominal")]
            lines.append(line([kind, len(own), *rates, *power, *_cost(own)]))
    return lines


def false_rate(row: dict[str, Any], test: str) -> float:
    """Return the share of false features among those called; 0 if there are none."""
    false = row[f"{test} false"]
    return false / max(1, false + row[f"{test} true"])


def hit_rate(row: dict[str, Any], test: str) -> float:
    """Return the share of the informative features that are called."""
    return row[f"{test} true"] / row["informative"]


def _share(outcomes: list[bool]) -> str:
    """Write a share with its exact 95 % interval."""
    low, high = binomtest(sum(outcomes), len(outcomes)).proportion_ci()
    return f"{np.mean(outcomes):.2f} ({low:.2f} to {high:.2f})"


def _mean(values: list[float]) -> str:
    """Write a mean with twice its standard error."""
    error = np.std(values, ddof=1) / len(values) ** 0.5 if len(values) > 1 else np.nan
    return f"{np.mean(values):.2f} ± {2.0 * error:.2f}"


def _cost(rows: list[dict]) -> list[str]:
    """Write the mean numbers of refits and of seconds."""
    return [f"{np.mean([row[name] for row in rows]):.0f}" for name in ("refits", "seconds")]


def main() -> None:
    parser = options(__doc__)
    kinds = planted_kinds()
    parser.add_argument("--tables", type=int, default=5, help="tables of every kind")
    parser.add_argument("--kinds", nargs="*", default=kinds, choices=kinds, metavar="KIND")
    parser.add_argument("--noise", nargs="*", default=list(NOISE), choices=list(NOISE))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--kept", type=Path, help="file of rows, to stop and go on")
    arguments = parser.parse_args()
    seeds = range(arguments.tables)
    of_none = [(name, seed) for name in arguments.noise for seed in seeds]
    of_some = [(kind, seed) for kind in arguments.kinds for seed in seeds]
    noise = in_parallel(of_noise, of_none, jobs=arguments.jobs, kept=arguments.kept)
    planted = in_parallel(of_planted, of_some, jobs=arguments.jobs, kept=arguments.kept)
    lines = noise_table(noise) if noise else []
    lines += ["", *planted_table(planted)] if planted else []
    left_out = [kind for kind in kinds if kind not in arguments.kinds]
    lines += ["", f"Not looked at: {', '.join(left_out)}."] if left_out else []
    finish(arguments.output, "Calibration of q-values", __doc__, lines)


if __name__ == "__main__":
    main()

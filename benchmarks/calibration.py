"""The structure test: false alarms on tables without clusters, power on tables that have some.

`featsieve.tuning.structure_test` with its defaults answers clusters, gradient or nothing. Null
tables have no groups: in the first kinds columns are independent ("nothing" is right), in the
others they are correlated ("gradient" is right). The curved gradient, an arch, is the known
exception; constants of the test were chosen on tables of these kinds, of other random states. The
last five kinds are harder than the others, since the copies without clusters have
independent, symmetric factors and rows in no order: factors that are spread evenly or skewed,
shares that sum to one, and rows that follow each other.

"False alarms" is the share of tables that are called clusters, with its exact 95 % interval.
Planted tables are those of `planted_kinds`, as made and with standardised columns, and plain ones:
c clusters, n rows, d columns of which m have means N(0, s^2) for each cluster, equal in size or
each 0.6 times the one before. Narrow tables are as spreadsheets are, with groups that nobody would
miss: those of k-means with the true number agree with them (adjusted Rand index of 0.9 or more, of
the columns as they are or standardised). Real tables are the development sets, one test each: what
the truth is, nobody knows.

Numbers of clusters and q-values: benchmarks/calibration_clusters.py and calibration_qvalues.py.

Usage: [FEATSIEVE_DATA=folder] python benchmarks/calibration.py [--tables 100] [--planted 10]
       [--first 1000] [--jobs 2] [--kept rows.jsonl] [--known] [--narrow]
       [--output benchmarks/results/calibration.md]
       python benchmarks/calibration.py --constants [--tables 3] [--planted 2] ...
"""

import json
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binomtest
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import real_data
from common import finish, in_parallel, line, options, table
from featsieve import defaults
from featsieve.datasets import make_catalogue_table, planted_kinds
from featsieve.tuning import structure_test

VERDICTS = ("clusters", "gradient", "nothing")
SHAPES = ((60, 60), (60, 300), (150, 6), (200, 10), (300, 20), (1000, 10))
INDEPENDENT = ("normal", "t3", "log-normal", "uniform", "binary")
CORRELATED = (
    *("AR(1) 0.5", "AR(1) 0.9", "one factor", "rank 5", "multivariate t3"),
    *("correlated log-normal", "correlated binary", "Poisson, library sizes"),
)
CURVED = "curved gradient"
# Without groups as well, but not normal: spread evenly, or rows that follow each other.
EVEN = (
    *("two even factors", "even mixtures of three", "even drift in time", "random walks"),
    "skewed factor",
)
PLAIN = (  # c, n, d, m, s, equal sizes
    (2, 60, 10, 4, 2.0, True),
    (2, 150, 4, 4, 2.0, True),
    (2, 100, 300, 15, 1.5, True),
    (2, 300, 20, 5, 1.5, False),
    (3, 60, 40, 10, 2.0, True),
    (3, 150, 4, 4, 2.5, True),
    (3, 100, 30, 10, 2.0, False),
    (5, 200, 50, 10, 2.0, True),
    (5, 200, 50, 10, 2.0, False),
    (8, 300, 50, 20, 2.0, True),
    (10, 400, 100, 40, 1.5, True),
)

NARROW = {  # n, d, m, c, s
    "three on a line": (150, 6, 3, 3, 2.6),
    "uneven in size and spread": (200, 5, 5, 4, 3.0),
    "in 3 of 10 columns": (120, 10, 3, 3, 3.5),
    "skewed": (150, 8, 5, 3, 2.5),
    "rounded": (240, 6, 4, 4, 3.0),
    "correlated inside": (300, 4, 4, 3, 2.5),
    "60 rows": (60, 4, 4, 3, 3.0),
    "five groups": (300, 12, 4, 5, 3.5),
    "beside a block": (300, 18, 6, 4, 2.5),
    "two groups": (60, 10, 4, 2, 2.5),
}


def null_table(kind: str, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Return a table without clusters."""
    noise = rng.standard_normal((n, d))

    def factors(rank: int, size: float = 1.0) -> np.ndarray:
        loadings = size * rng.standard_normal((rank, d))
        return rng.standard_normal((n, rank)) @ loadings + noise

    if kind.startswith("AR(1)"):
        rho = float(kind.split()[1])
        for j in range(1, d):
            noise[:, j] = rho * noise[:, j - 1] + np.sqrt(1.0 - rho**2) * noise[:, j]
        return noise
    if kind in EVEN:
        t = np.sort(rng.random((n, 1)), axis=0)
        parts = {
            "two even factors": lambda: np.sqrt(12.0) * (rng.random((n, 2)) - 0.5),
            "even mixtures of three": lambda: 4.0 * rng.dirichlet(np.ones(3), n),
            "even drift in time": lambda: np.sqrt(12.0) * (t - 0.5),
            "random walks": lambda: rng.standard_normal((n, 3)).cumsum(axis=0) / np.sqrt(n),
            "skewed factor": lambda: 2.0 * rng.exponential(size=(n, 1)),
        }[kind]()
        return parts @ rng.standard_normal((parts.shape[1], d)) + noise
    if kind == CURVED:
        t = rng.random((n, 1))
        arch = np.hstack([np.sin(3.0 * t), np.cos(3.0 * t)]) @ rng.standard_normal((2, d))
        return arch + 0.3 * noise
    if kind == "Poisson, library sizes":
        means = np.exp(rng.normal(0.0, 1.0, d) + 0.5 * rng.standard_normal((n, 1)))
        return rng.poisson(means).astype(np.float64)
    return {
        "normal": lambda: noise,
        "t3": lambda: rng.standard_t(3, (n, d)),
        "log-normal": lambda: np.exp(1.5 * noise),
        "uniform": lambda: rng.random((n, d)),
        "binary": lambda: (rng.random((n, d)) < rng.uniform(0.05, 0.5, d)) * 1.0,
        "one factor": lambda: factors(1),
        "rank 5": lambda: factors(5),
        "multivariate t3": lambda: factors(3) / np.sqrt(rng.chisquare(3, (n, 1)) / 3.0),
        "correlated log-normal": lambda: np.exp(factors(2, 0.7)),
        "correlated binary": lambda: (factors(2, 0.7) > rng.uniform(-1.5, 1.5, d)) * 1.0,
    }[kind]()


def plain_table(
    c: int, n: int, d: int, m: int, s: float, equal: bool, rng: np.random.Generator
) -> np.ndarray:
    """Return a table with clusters in its first m columns."""
    share = np.ones(c) if equal else 0.6 ** np.arange(c)
    labels = np.concatenate([np.arange(c), rng.choice(c, n - c, p=share / share.sum())])
    X = rng.standard_normal((n, d))
    X[:, :m] += s * rng.standard_normal((c, m))[labels]
    return X


def narrow_table(kind: str, rng: np.random.Generator) -> np.ndarray:
    """Return a table of few columns with groups in the first m that k-means finds."""
    n, d, m, c, s = NARROW[kind]
    while True:
        share = np.arange(c, 0, -1.0) if kind.startswith("uneven") else np.ones(c)
        own = rng.choice(c, n - 5 * c, p=share / share.sum())
        labels = np.concatenate([np.repeat(np.arange(c), 5), own])
        X, means = rng.standard_normal((n, d)), s * rng.standard_normal((c, m))
        if kind == "three on a line":
            means = s * np.arange(c)[:, None] * rng.uniform(0.7, 1.3, m) * rng.choice([-1, 1], m)
        if kind == "correlated inside":
            X = np.sqrt(0.5) * (X + rng.standard_normal((n, 1)))
        if kind.startswith("uneven"):
            X *= rng.uniform(0.6, 1.4, c)[labels, None]
        if kind == "beside a block":  # eight columns that go together, and tell no group
            X[:, m : m + 8] = 0.3 * X[:, m : m + 8] + rng.standard_normal((n, 1))
        X[:, :m] += means[labels]
        X = np.exp(0.7 * X) if kind == "skewed" else np.round(X) if kind == "rounded" else X
        for form in (X, StandardScaler().fit_transform(X)):
            found = KMeans(c, n_init=10, random_state=0).fit_predict(form)
            if adjusted_rand_score(labels, found) >= 0.9:
                return X


CONSTANTS = """What half and double of the constants of the structure test do to its answers.

Shares of tables that are called clusters, of kinds as in calibration.md: correlated without groups,
the harder five of these, and tables with clusters. One constant is changed at a time (of several
numbers all; of a quantile what is left to 1). Rows of other random states change no constant: they
show what differs by chance. STRUCTURE_TABLES has no half: 19 copies are the fewest for p = 0.05.
STRUCTURE_ENTRIES is not in it: only tables of more entries feel it.
"""
CHANGED: dict[str, tuple] = {
    "STRUCTURE_NUMBERS": ((2, 4), (4, 8, 16)),
    "STRUCTURE_GROUP": (2, 10),
    "STRUCTURE_TABLES": (39,),
    "CLOSE_LEVELS": (2, 8),
    "STRUCTURE_MORE": (2, 10),
    "CLEARLY_BEYOND": (3.0, 12.0),
    "LEAST_SPREAD": (0.025, 0.1),
    "DISTINCT_SHARE": (0.25, 1.0),
    "STRUCTURE_SAMPLES": (150, 600),
    "STRUCTURE_COMPONENTS": (5, 20),
    "STRUCTURE_NARROW": (10, 40),
    "VALLEY_NUMBERS": ((2, 3), (4, 6, 8, 12)),
    "VALLEY_WIDTH": (0.3, 1.2),
    "SMOOTHED_RANKS": (0.25, 1.0),
    "SKEW_QUANTILE": (0.95, 0.8),
}
# Constants that are about the valleys of narrow tables alone, and about the others alone.
OF_NARROW = ("VALLEY_NUMBERS", "VALLEY_WIDTH", "SMOOTHED_RANKS", "SKEW_QUANTILE")
OF_WIDE = ("STRUCTURE_NUMBERS", "DISTINCT_SHARE")


def verdict(
    group: str, kind: Any, seed: int, constants: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Return the answer of the test for one table, with some constants changed."""
    warnings.simplefilter("ignore")
    changed = constants or {}
    own = {name: getattr(defaults, name) for name in changed}
    n_tables = changed.get("STRUCTURE_TABLES", defaults.STRUCTURE_TABLES)
    # seeds of a kind of tables do not depend on the others
    rng = np.random.default_rng([seed, *str((group, kind)).encode()])
    if group == "null":
        X = null_table(kind[0], *kind[1], rng)
    elif group == "planted":
        X = make_catalogue_table(kind[0], random_state=seed).X
        X = StandardScaler().fit_transform(X) if kind[1] == "standardised" else X
    elif group == "plain":
        X = plain_table(*kind, rng)
    elif group == "narrow":
        X = narrow_table(kind, rng)
    elif group == "small":
        X = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer}[kind]().data
    else:
        X = real_data.prepared(kind)[0]
    begun = time.perf_counter()
    for name, value in changed.items():
        setattr(defaults, name, value)
    found = structure_test(X, random_state=seed, n_tables=n_tables)
    for name, value in own.items():
        setattr(defaults, name, value)
    seconds = time.perf_counter() - begun
    return {"verdict": found.verdict, "seconds": seconds}


def rates(rows: list[dict], *, interval: bool = False) -> list[str]:
    """Write the shares of the answers, with an interval of the first if that is asked for."""
    count = Counter(row["verdict"] for row in rows)
    cells = [f"{count[name] / len(rows):.2f}" for name in VERDICTS]
    if interval:
        low, high = binomtest(count["clusters"], len(rows)).proportion_ci()
        cells[0] += f" ({low:.3f} to {high:.3f})"
    return [*cells, str(len(rows)), f"{np.mean([row['seconds'] for row in rows]):.1f}"]


def page(rows: list[dict]) -> list[str]:
    """Return the lines of the page."""
    by: dict[tuple, list[dict]] = {}
    for row in rows:
        by.setdefault((row["group"], row["kind"]), []).append(row)
    head = ["clusters", "gradient", "nothing", "tables", "seconds"]
    lines = ["## Tables without clusters", ""]
    lines += table(["kind", "false alarms", *head[1:], *(f"{n}x{d}" for n, d in SHAPES)], [])
    for kind in (*INDEPENDENT, *CORRELATED, CURVED, *EVEN):
        shapes = [by.get(("null", (kind, shape)), []) for shape in SHAPES]
        own = [row for some in shapes for row in some]
        if own:
            alarms = [[row["verdict"] == "clusters" for row in some] for some in shapes]
            cells = [kind, *rates(own, interval=True)]
            cells += [f"{np.mean(one):.2f}" if one else "" for one in alarms]
            lines.append(line(cells))
    groups = {
        "planted": "Planted tables",
        "plain": "Plain clusters",
        "narrow": "Narrow tables with clear groups",
        "small": "Small real tables",
    }
    for group, title in groups.items():
        kinds = [key for key in by if key[0] == group]
        if kinds:
            lines += ["", f"## {title}", "", *table(["kind", *head], [])]
            for key in kinds:
                name = key[1] if isinstance(key[1], str) else ", ".join(map(str, key[1]))
                lines.append(line([name, *rates(by[key])]))
            lines.append(line(["**all**", *rates([row for key in kinds for row in by[key]])]))
    real = [row for row in rows if row["group"] == "real"]
    if real:
        lines += ["", "## Development sets", ""]
        for name in VERDICTS:
            sets = [row["kind"] for row in real if row["verdict"] == name]
            lines.append(f"- {name}: {len(sets)} ({', '.join(sets) or 'none'})")
    return lines


def n_columns(group: str, kind: Any) -> float:
    """Return how many columns the tables of a case have, as far as that makes them narrow."""
    known = {"null": lambda: kind[1][1], "plain": lambda: kind[2], "narrow": lambda: 1}
    return known[group]() if group in known else 4 if kind in ("iris", "wine") else np.inf


def changes() -> dict[str, tuple[int, dict[str, Any]]]:
    """Return the first random state and the changed constants, by what is said of them."""
    found: dict[str, tuple[int, dict[str, Any]]] = {"as it is": (0, {})}
    found |= {f"other random states, {i}": (1000 * i, {}) for i in (1, 2)}
    for name, values in CHANGED.items():
        usual = getattr(defaults, name)
        found |= {f"{name} = {usual}: {value}": (0, {name: value}) for value in values}
    return found


def constants_page(tables: int, planted: int, first: int, **settings: Any) -> list[str]:
    """Return the lines of the page about constants."""
    groups = {
        "correlated": [("null", (k, shape)) for k in CORRELATED for shape in SHAPES],
        "harder": [("null", (k, shape)) for k in EVEN for shape in SHAPES],
        "planted": [("planted", (kind, "as made")) for kind in planted_kinds()],
        "plain": [("plain", kind) for kind in PLAIN],
        "narrow": [("narrow", kind) for kind in NARROW],
    }
    seeds = {
        name: range(tables if name in ("correlated", "harder") else planted) for name in groups
    }

    def felt(group: str, kind: Any, constants: dict[str, Any]) -> dict[str, Any]:
        """Leave out changes that a table does not feel: the answer is the usual one."""
        narrow = n_columns(group, kind) <= defaults.STRUCTURE_NARROW
        unfelt = OF_WIDE if narrow else OF_NARROW
        return {name: value for name, value in constants.items() if name not in unfelt}

    cases = [
        (*kind, first + state + seed, felt(*kind, constants))
        for state, constants in changes().values()
        for name, kinds in groups.items()
        for kind in kinds
        for seed in seeds[name]
    ]
    answers = {repr(case): case for case in cases}
    every = in_parallel(verdict, answers.values(), **settings)
    known = dict(zip(answers, every, strict=True))
    found = iter([known[repr(case)] for case in cases])
    lines = table(
        ["constant", *(f"{name} ({len(groups[name]) * len(seeds[name])})" for name in groups)], []
    )
    for words in changes():
        cells = []
        for name, kinds in groups.items():
            own = [next(found)["verdict"] == "clusters" for _ in kinds for _ in seeds[name]]
            cells.append(f"{np.mean(own):.2f}")
        lines.append(line([words, *cells]))
    return lines


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--tables", type=int, default=100, help="of each null kind and shape")
    parser.add_argument("--planted", type=int, default=10, help="of each kind with clusters")
    parser.add_argument("--constants", action="store_true", help="what half and double of them do")
    parser.add_argument("--first", type=int, default=1000, help="the first random state")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--kept", type=Path, help="file of answers, to stop and go on")
    parser.add_argument("--known", action="store_true", help="a page of what is kept so far")
    parser.add_argument("--narrow", action="store_true", help="tables of up to 20 columns only")
    arguments = parser.parse_args()
    if arguments.constants:
        lines = constants_page(
            *(arguments.tables, arguments.planted, arguments.first),
            jobs=arguments.jobs,
            kept=arguments.kept,
        )
        finish(arguments.output, "Constants of the structure test", CONSTANTS, lines)
        return
    some = range(arguments.first, arguments.first + arguments.planted)
    many = range(arguments.first, arguments.first + arguments.tables)
    kinds = (*INDEPENDENT, *CORRELATED, CURVED, *EVEN)
    nulls = [(kind, shape) for kind in kinds for shape in SHAPES]
    cases: list[tuple] = []
    if real_data.folder() is not None:
        names = (*real_data.PAPER, *real_data.SKFEATURE, *real_data.MORE)
        cases += [("real", name, 0) for name in names]
    forms = [(kind, form) for kind in planted_kinds() for form in ("as made", "standardised")]
    cases += [("planted", kind, seed) for kind in forms for seed in some]
    cases += [("plain", kind, seed) for kind in PLAIN for seed in some]
    cases += [("narrow", kind, seed) for kind in NARROW for seed in some]
    cases += [("small", name, s) for name in ("iris", "wine", "breast cancer") for s in some]
    cases += [("null", kind, seed) for seed in many for kind in nulls]
    if arguments.narrow:
        cases = [case for case in cases if n_columns(*case[:2]) <= defaults.STRUCTURE_NARROW]
    if arguments.known:
        known = {key for key, _ in map(json.loads, arguments.kept.read_text().splitlines())}
        cases = [case for case in cases if repr(case) in known]
    found = in_parallel(verdict, cases, jobs=arguments.jobs, kept=arguments.kept)
    rows = [
        {"group": case[0], "kind": case[1], **one} for case, one in zip(cases, found, strict=True)
    ]
    finish(arguments.output, "Calibration of the structure test", __doc__, page(rows))


if __name__ == "__main__":
    main()

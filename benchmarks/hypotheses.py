"""What halving and doubling every constant of the label hypotheses does.

The constants are those of the section "hypotheses" of featsieve/defaults.py; one is changed at a
time (whole numbers are rounded down, to 1 at least; of several numbers all are changed). Planted
tables: all kinds of the catalogue, as made and with standardised columns, recall of the planted
columns in per cent and the adjusted Rand index of `labels_`, means over all tables, and the kind
whose recall changes most. Real tables: fourteen development sets, ACC/NMI in percent of k-means
on the selected columns ("area", see quality.py) and of `labels_` ("own"), means of two random
states, and the set whose own labels change most (sum of both). The rows with other random states
change no constant: they show what differs by chance. What none of these tables can feel is changed
on planted tables that do: of 12 to 36 rows, with a random column of two values among 300, of more
rows than landmarks, sparse ones with very many columns.

One family of real tables left out: the setting of this list that is best on the others (mean of the
area's ACC and NMI, families count alike) is scored on the family, beside the constants as they are,
which were chosen while looking at all of them, and the best setting for the family itself. That
says whether a constant is fitted sharply to a family, not what choosing all of them has gained.

Usage: FEATSIEVE_DATA=folder python benchmarks/hypotheses.py [--constants CREDIBLE_EXCESS ...]
       [--kinds iid15 ...] [--sets zoo ...] [--seeds 2] [--jobs 2] [--kept rows.jsonl]
       [--output benchmarks/results/hypotheses.md]
"""

import ast
import inspect
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

# Nothing else of featsieve here: constants are changed before anything has looked at them.
from common import finish, in_own_process, in_parallel, line, options, table
from featsieve import defaults

FAMILIES = {
    "genes": ("brain", "nci", "colon", "lymphoma", "GLIOMA"),
    "faces": ("jaffe", "warpAR10P"),
    "digits": ("semeion",),
    "text": ("tr11",),
    "speech and handwriting": ("lsvt", "alzheimer"),
    "single cells": ("sc_pollen",),
    "categories": ("SCADI", "zoo"),
}
SETS = tuple(name for names in FAMILIES.values() for name in names)
# Constants that none of these tables can feel, and names of tables that do.
FELT_BY = {
    "MOST_DENSE_COLUMNS": ("sparse",),
    "CUT_LANDMARKS": ("5000 rows",),
    "LARGEST_LISTS": ("12 rows", "16 rows", "24 rows", "36 rows"),
    "LONE_VARIABLES": ("coin",),
}
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
AS_IT_IS = "as it is"
# A real table is fitted with each of these random states, a planted one with the first.
STATES = (0, 1)
OTHER_STATES = ((2, 3), (4, 5))
OTHER_SEEDS = 5  # tables of each kind that feel the other constants


def section(name: str) -> list[str]:
    """Return the names of the constants in a section of featsieve/defaults.py."""
    source = inspect.getsource(defaults)
    heads = [i for i, text in enumerate(source.splitlines(), 1) if text.endswith("-----")]
    first = next(i for i in heads if source.splitlines()[i - 1].startswith(f"# {name} -"))
    last = min((i for i in heads if i > first), default=len(source))
    nodes = (node for node in ast.parse(source).body if isinstance(node, ast.Assign))
    return [ast.unparse(node.targets[0]) for node in nodes if first < node.lineno < last]


def scaled(value: Any, factor: float) -> Any:
    """Return a constant, or every one of several, times a factor."""
    if isinstance(value, (tuple, list)):
        return tuple(scaled(one, factor) for one in value)
    return max(1, int(value * factor)) if isinstance(value, int) else value * factor


# One process: a changed constant, a kind of planted tables or a real one ----------------------


def measure(case: dict[str, Any]) -> dict[str, Any]:
    """Return recall and ARI of a kind of tables, or area and own labels of a data set."""
    early = [name for name in sys.modules if name.startswith("featsieve.hypotheses")]
    if early:
        raise RuntimeError(f"Constants must be changed before {early[0]} is imported.")
    for name, value in case["constants"].items():
        setattr(defaults, name, tuple(value) if isinstance(value, list) else value)
    warnings.simplefilter("ignore")
    if "set" in case:
        return real(case["set"], case["states"])
    return planted(case["kind"], case["seeds"], case["states"][0])


def other_table(name: str, *, random_state: int) -> Any:
    """Return a planted table that feels constants which the catalogue does not feel."""
    from dataclasses import replace

    import numpy as np
    import scipy.sparse as sp

    from featsieve.datasets import make_catalogue_table, make_planted

    rng = np.random.default_rng(random_state)
    if name == "coin":
        made = make_catalogue_table("iid15", random_state=random_state)
        made.X[:, np.flatnonzero(~made.informative)[0]] = rng.integers(2, size=len(made.X))
        return made
    if name == "sparse":  # counts: clusters differ in the rates of some words
        made = make_planted(400, 30_000, n_informative=60, random_state=random_state)
        rates = np.where(made.informative, np.exp(made.X - 2.0), 0.02)
        return replace(made, X=sp.csr_array(rng.poisson(rates).astype(float)))
    n = 5000 if name == "5000 rows" else int(name.split()[0])
    return make_planted(n, 60, n_clusters=3, n_informative=12, random_state=random_state)


def planted(kind: str, seeds: int, random_state: int) -> dict[str, Any]:
    """Return the mean recall and ARI of JASFS on tables of a kind."""
    import numpy as np
    from sklearn.metrics import adjusted_rand_score
    from sklearn.preprocessing import StandardScaler

    from featsieve import JASFS
    from featsieve.datasets import make_catalogue_table, planted_kinds

    found = []
    for seed in range(seeds):
        usual = kind in planted_kinds()
        made = (make_catalogue_table if usual else other_table)(kind, random_state=seed)
        c, m = int(made.labels.max()) + 1, int(made.informative.sum())
        scaled = StandardScaler(with_mean=kind != "sparse").fit_transform(made.X)
        for X in (made.X, scaled):
            sieve = JASFS(c, n_features_to_select=m, random_state=random_state).fit(X)
            recall = 100.0 * float(made.informative[sieve.support_].mean())
            found.append((recall, adjusted_rand_score(made.labels, sieve.labels_)))
    recall, ari = np.mean(found, axis=0).tolist()
    return {"recall": recall, "ari": ari}


def real(name: str, states: list[int]) -> dict[str, Any]:
    """Return the area of the columns that JASFS selects of a data set, and its own labels."""
    import numpy as np

    import real_data
    from featsieve import JASFS
    from featsieve.evaluation import ClusteringScores, paper_protocol
    from quality import COUNTS

    X, y = real_data.prepared(name)
    c, d = len(np.unique(y)), X.shape[1]
    area, own = [], []
    for state in states:
        sieve = JASFS(c, n_features_to_select=min(100, d // 2), random_state=state).fit(X)
        order = np.argsort(sieve.ranking_)
        area += [[paper_protocol(X[:, order[:k]], y).mean()[:2] for k in COUNTS if k <= d]]
        own.append(ClusteringScores.of_labels(y, sieve.labels_).mean()[:2])
    return {
        "area": (100.0 * np.mean(area, axis=(0, 1))).tolist(),
        "own": (100.0 * np.mean(own, axis=0)).tolist(),
    }


# All of them ------------------------------------------------------------------------------------


def settings(names: list[str]) -> dict[tuple[str, str], dict[str, Any]]:
    """Return what is changed, by the name of the constant and in words."""
    found: dict[tuple[str, str], dict[str, Any]] = {
        (AS_IT_IS, ""): {"constants": {}, "states": STATES}
    }
    for states in OTHER_STATES:
        key = (AS_IT_IS, f"random states {states[0]}, {states[1]}")
        found[key] = {"constants": {}, "states": states}
    for name in names:
        value = getattr(defaults, name)
        for word, factor in (("half", 0.5), ("double", 2.0)):
            changed = scaled(value, factor)
            words = f"{word}: {json.dumps(changed)}"
            found[name, words] = {"constants": {name: changed}, "states": STATES}
    return found


def in_process(case: str) -> dict[str, Any]:
    """Measure a case (JSON) in a process of its own, with its constants."""
    return in_own_process(str(Path(__file__).resolve()), "--one", case, variables=ONE_THREAD)


def row(words: list[str], found: dict[str, dict], usual: dict[str, dict]) -> str:
    """Return the line of one setting, beside the results of the defaults."""

    def mean(key: str) -> list[float]:
        values = [one[key] for one in found.values() if key in one]
        values = [value if isinstance(value, list) else [value] for value in values]
        return [sum(column) / len(column) for column in zip(*values, strict=True)]

    def most(key: str) -> str:
        def change(name: str) -> float:
            new, old = found[name][key], usual[name][key]
            return sum(new) - sum(old) if isinstance(new, list) else new - old

        names = [name for name, one in found.items() if key in one]
        name = max(names, key=lambda name: abs(change(name)))
        return f"{name} {change(name):+.0f}" if abs(change(name)) >= 0.5 else ""

    cells = [*words]
    if mean("recall"):
        cells += [f"{mean('recall')[0]:.1f}", f"{mean('ari')[0]:.3f}", most("recall")]
    if mean("area"):
        for key in ("area", "own"):
            cells.append("/".join(f"{value:.1f}" for value in mean(key)))
        cells.append(most("own"))
    return line(cells)


def left_out(results: dict[tuple[str, str], dict[str, dict]]) -> list[str]:
    """Return the scores of every family by the setting that is best on the others."""
    present = {
        family: [name for name in names if all(name in found for found in results.values())]
        for family, names in FAMILIES.items()
    }
    present = {family: names for family, names in present.items() if names}
    if len(present) < 2:
        return []

    def score(setting: tuple[str, str], families: list[str]) -> list[float]:
        found = results[setting]
        areas = [
            [sum(found[name]["area"][i] for name in present[f]) / len(present[f]) for f in families]
            for i in (0, 1)
        ]
        return [sum(values) / len(values) for values in areas]

    def best(families: list[str]) -> tuple[str, str]:
        return max(results, key=lambda setting: sum(score(setting, families)))

    rows, chosen = [], {}
    for family in present:
        others = [name for name in present if name != family]
        chosen[family] = best(others)
        pairs = [score(s, [family]) for s in (chosen[family], (AS_IT_IS, ""), best([family]))]
        rows.append([family, " ".join(chosen[family]), *pairs])
    means = [[sum(row[i][j] for row in rows) / len(rows) for j in (0, 1)] for i in (2, 3, 4)]
    rows.append(["**mean**", "", *means])
    head = ["family", "best on the others", "its score", "as it is", "best on the family"]
    cells = [[*row[:2], *("/".join(f"{x:.1f}" for x in pair) for pair in row[2:])] for row in rows]
    return ["## One family left out", "", *table(head, cells)]


def main() -> None:
    parser = options(__doc__)
    names = section("hypotheses")
    parser.add_argument("--constants", nargs="+", default=names, choices=names, metavar="CONSTANT")
    parser.add_argument("--kinds", nargs="*", metavar="KIND")
    parser.add_argument("--sets", nargs="*", default=SETS, metavar="SET")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--kept", type=Path, help="file of results, to stop and go on")
    parser.add_argument("--one", type=json.loads, help="a case, in JSON: what a process measures")
    arguments = parser.parse_args()
    if arguments.one is not None:
        print(json.dumps(measure(arguments.one)))
        return
    import real_data
    from featsieve.datasets import planted_kinds

    begun = time.perf_counter()
    kinds = planted_kinds() if arguments.kinds is None else arguments.kinds
    tables = [{"kind": kind, "seeds": arguments.seeds} for kind in kinds]
    head = ["constant", "value"]
    if kinds:
        head += ["planted: recall", "ARI", "changes most"]
    if real_data.folder() is None:
        print("hypotheses.py: FEATSIEVE_DATA names no folder with data sets: planted tables only.")
    elif arguments.sets:
        tables += [{"set": name} for name in arguments.sets]
        head += ["real: area", "own", "changes most"]
    changes = settings([name for name in arguments.constants if name not in FELT_BY])
    others = [
        (key, {**change, "kind": kind, "seeds": OTHER_SEEDS})
        for name in FELT_BY
        if name in arguments.constants
        for key, change in settings([name]).items()
        if change["states"] == STATES
        for kind in FELT_BY[name]
    ]
    cases = [{**change, **one} for one in tables for change in changes.values()]
    cases += [case for _, case in others]
    words = [(json.dumps(case),) for case in cases]
    results = iter(in_parallel(in_process, words, jobs=arguments.jobs, kept=arguments.kept))
    found: dict[tuple[str, str], dict[str, dict]] = {key: {} for key in changes}
    for one in tables:
        for key in changes:
            found[key][one.get("kind") or one["set"]] = next(results)
    usual = found[AS_IT_IS, ""]
    lines = table(head, []) if tables else []
    for (name, words), own in found.items() if tables else ():
        value = "" if name == AS_IT_IS else f" = {json.dumps(getattr(defaults, name))}"
        lines.append(row([f"{name}{value}", words], own, usual))
    lines += ["", "## Tables that feel the others", ""] if others else []
    rows = [[case["kind"], *key, *next(results).values()] for key, case in others]
    rows = [[*words, f"{recall:.1f}", f"{ari:.3f}"] for *words, recall, ari in rows]
    lines += table(["table", "constant", "value", "recall", "ARI"], rows) if others else []
    if tables and "set" in tables[-1]:
        lines += ["", *left_out(found)]
    if arguments.kept is None:
        minutes = (time.perf_counter() - begun) / 60.0
        lines += ["", f"{minutes:.1f} minutes, {arguments.jobs} processes at a time."]
    finish(arguments.output, "Constants of the label hypotheses", __doc__, lines)


if __name__ == "__main__":
    main()

"""Rows as a benchmark writes them, made up: no selector is run."""

import itertools
import json
from typing import Any

import numpy as np
import pandas as pd

from featsieve.bench.cells import SCHEMA

EMPTY = {"string": "", "int64": 0, "float64": float("nan"), "bool": False}
SHAPES = {
    "brain": (42, 5597, 5),
    "breast3": (95, 4869, 3),
    "jaffe": (213, 676, 10),
    "lung": (203, 3312, 5),
    "mnist": (4000, 784, 10),
    "nci": (61, 5244, 8),
    "ORL": (400, 1024, 40),
    "palm": (2000, 256, 100),
    "planted_small": (90, 40, 3),
}
WEIGHTS = (1e-6, 1e-4, 1e-2, 1.0, 1e2, 1e4, 1e6)
LAMBDAS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
INERT = {"alpha": WEIGHTS, "beta": WEIGHTS}
# name -> selector, control, grid, effect on the score
METHODS: dict[str, tuple[str, bool, dict[str, tuple[float, ...]], float]] = {
    "Baseline": ("AllFeatures", True, {}, -0.03),
    "Random": ("RandomSelector", True, {}, -0.02),
    "MaxVariance": ("MaxVariance", True, {}, 0.0),
    "L-score": ("LaplacianScore", False, {}, 0.0),
    "MCFS": ("MCFS", False, {}, 0.02),
    "UDFS": ("UDFS", False, {"gamma": WEIGHTS}, 0.01),
    "NDFS": ("NDFS", False, {"alpha": WEIGHTS, "beta": WEIGHTS}, 0.03),
    "RUFS": ("RUFS", False, {"alpha": WEIGHTS, "beta": WEIGHTS}, 0.02),
    "AUFS": ("AUFS", False, {"alpha": WEIGHTS}, 0.01),
    "URAFS": ("URAFS", False, {"alpha": WEIGHTS}, 0.0),
    "USFS": ("USFS", False, {"alpha": WEIGHTS}, 0.03),
    "UGFS": ("UGFS", False, {"alpha": WEIGHTS}, 0.01),
    "JASFS (published)": ("JASFS", False, {"sparsity": LAMBDAS}, 0.02),
    "JASFS": ("JASFS", False, {"alpha": WEIGHTS, "beta": WEIGHTS}, 0.07),
}


def row(**given: Any) -> dict[str, Any]:
    """One row of SCHEMA; what is not given is empty, and the runs follow from mean and std."""
    unknown = set(given) - set(SCHEMA)
    if unknown:
        raise ValueError(f"not in SCHEMA: {unknown}")
    base: dict[str, Any] = {
        name: [] if kind.startswith("list") else EMPTY[kind] for name, kind in SCHEMA.items()
    }
    base |= {
        "plan": "made-up",
        "experiment": "grid",
        "dataset": "breast3",
        "method": "NDFS",
        "params": "{}",
        "stands_for": 1,
        "status": "done",
        "machine": "a machine, 2 cores",
        "versions": json.dumps({"python": "3.11", "numpy": "2.0"}),
        "schema_version": 2,
        "jobs": 1,
        "started": "2026-01-01T00:00:00",
    }
    base |= given
    shape = SHAPES.get(base["dataset"], (10, 20, 2))
    for name, size in zip(("n_samples", "n_columns", "n_classes"), shape, strict=True):
        base[name] = given.get(name, size)
    base["selector"] = given.get("selector") or base["method"]
    parts = [base[k] for k in ("experiment", "dataset", "method", "params", "seed")]
    base["cell"] = given.get("cell") or "|".join(map(str, parts))
    return base


def frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(SCHEMA))


def scores(rng: np.random.Generator, level: float, *, runs: int = 10) -> dict[str, Any]:
    acc = np.clip(level + 0.05 * rng.standard_normal(runs), 0, 1)
    nmi = np.clip(level - 0.05 + 0.04 * rng.standard_normal(runs), 0, 1)
    return {
        "acc_mean": acc.mean(),
        "acc_std": acc.std(ddof=1),
        "acc_runs": acc,
        "nmi_mean": nmi.mean(),
        "nmi_std": nmi.std(ddof=1),
        "nmi_runs": nmi,
        "ari_mean": level - 0.15,
        "ari_std": 0.03,
        "criterion": rng.random(),
    }


def paper_like(datasets: tuple[str, ...] = tuple(SHAPES), *, seed: int = 0) -> pd.DataFrame:
    """Every experiment for every method, with scores from a generator."""
    rng = np.random.default_rng(seed)
    rows = []
    for name in datasets:
        level = 0.45 + 0.35 * rng.random()
        for method, (selector, control, grid, gain) in METHODS.items():
            about = {"dataset": name, "method": method, "selector": selector, "control": control}
            fixed = {"solver": "paper"} if method == "JASFS (published)" else {}
            own = method == "JASFS (published)"
            everything = selector == "AllFeatures"
            for experiment in ("default", "label-free"):
                if experiment == "label-free" and everything:
                    continue
                extra = {"acc_practical": level + gain, "nmi_practical": level}
                extra |= {"redundancy": 0.3 * rng.random()}
                if selector in ("JASFS", "NDFS"):
                    extra |= {"acc_own": level, "nmi_own": level}
                if name.startswith("planted"):
                    extra |= {"planted_precision": 0.8 + gain, "planted_recall": 0.5 + gain}
                rows.append(
                    row(
                        experiment=experiment,
                        n_features=SHAPES[name][1] if everything else int(rng.integers(5, 90)),
                        own_count=True,
                        params=json.dumps(fixed),
                        **about,
                        **extra,
                        **scores(rng, level + gain),
                    )
                )
            if not everything:
                points = [
                    dict(zip(grid, values, strict=True))
                    for values in itertools.product(*grid.values())
                ]
                if selector == "RandomSelector":
                    points = [{"ranking": i} for i in range(49)]
                for point in points:
                    counts = (int(rng.integers(5, 90)),) if own else (50, 100, 200)
                    jump = 0.04 * rng.standard_normal()
                    rows += [
                        row(
                            experiment="grid",
                            params=json.dumps(fixed | point),
                            n_features=count,
                            own_count=own,
                            stands_for=49 if own else 1,
                            inert=json.dumps(INERT) if own else "",
                            **about,
                            **scores(rng, level + gain + jump),
                        )
                        for count in counts
                    ]
                trend = np.linspace(-0.08, 0.04, 8) + 0.01 * rng.standard_normal(8)
                rows += [
                    row(
                        experiment="curve",
                        params="{}",
                        n_features=30 * (i + 1),
                        **about,
                        **scores(rng, level + gain + trend[i]),
                    )
                    for i in range(8)
                ]
            if not control and selector not in ("LaplacianScore", "MCFS"):
                steps = int(rng.integers(4, 21))
                took = np.cumsum(rng.random(steps) * SHAPES[name][0] / 2000)
                rows.append(
                    row(
                        experiment="time",
                        n_iter=steps,
                        fit_seconds=took[-1] + 0.01,
                        peak_mib=50 + 100 * rng.random(),
                        iteration_seconds=took,
                        objective=3 + 10 * np.exp(-np.arange(steps) / 2.0),
                        **about,
                    )
                )
            elif not everything:
                rows.append(row(experiment="time", fit_seconds=0.02, peak_mib=40.0, **about))
            if name == "breast3" and method in ("AUFS", "UGFS", "JASFS", "JASFS (published)"):
                n, _, c = SHAPES[name]
                classes = rng.integers(0, c, n)
                points3 = rng.standard_normal((n, 3)) + 2 * classes[:, None]
                rows.append(
                    row(experiment="scatter", points=points3.ravel(), classes=classes, **about)
                )
    return frame(rows)

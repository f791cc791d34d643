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
WEIGHTS = (1e-2, 1.0, 1e2)
# name -> selector, control, grid, effect on the score
METHODS: dict[str, tuple[str, bool, dict[str, tuple[float, ...]], float]] = {
    "Baseline": ("AllFeatures", True, {}, -0.03),
    "Random": ("RandomSelector", True, {"ranking": tuple(range(9))}, -0.02),
    "MaxVariance": ("MaxVariance", True, {}, 0.0),
    "L-score": ("LaplacianScore", False, {}, 0.0),
    "MCFS": ("MCFS", False, {}, 0.02),
    "UDFS": ("UDFS", False, {"gamma": WEIGHTS}, 0.01),
    "NDFS": ("NDFS", False, {"alpha": WEIGHTS, "beta": WEIGHTS}, 0.03),
    "JASFS (published)": ("JASFS", False, {"sparsity": WEIGHTS}, 0.02),
    "JASFS": ("JASFS", False, {"alpha": WEIGHTS, "beta": WEIGHTS}, 0.07),
}


def row(**given: Any) -> dict[str, Any]:
    """One row of SCHEMA; what is not given is empty."""
    assert set(given) <= set(SCHEMA)
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


def scores(rng: np.random.Generator, level: float) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for metric, value in (("acc", level), ("nmi", level - 0.05)):
        runs = np.clip(value + 0.05 * rng.standard_normal(10), 0, 1)
        found |= {f"{metric}_mean": runs.mean(), f"{metric}_std": runs.std(ddof=1)}
        found[f"{metric}_runs"] = runs
    return found


def paper_like(datasets: tuple[str, ...]) -> pd.DataFrame:
    """Every experiment for every method, with scores from a generator."""
    rng = np.random.default_rng(0)
    rows = []
    for name in datasets:
        level = 0.45 + 0.35 * rng.random()
        for method, (selector, control, grid, gain) in METHODS.items():
            about = {"dataset": name, "method": method, "selector": selector, "control": control}
            own = method == "JASFS (published)"
            fixed = {"solver": "paper"} if own else {}
            everything = selector == "AllFeatures"
            extra = {"acc_practical": level + gain, "redundancy": 0.3 * rng.random()}
            if selector in ("JASFS", "NDFS"):
                extra |= {"acc_own": level}
            if name.startswith("planted"):
                extra |= {"planted_precision": 0.8 + gain, "planted_recall": 0.5 + gain}
            for experiment in ("default",) if everything else ("default", "label-free"):
                count = SHAPES[name][1] if everything else int(rng.integers(5, 90))
                how = {"experiment": experiment, "params": json.dumps(fixed), "n_features": count}
                rows.append(row(**how, **about, **extra, **scores(rng, level + gain)))
            if everything:
                continue
            for values in itertools.product(*grid.values()):
                params = json.dumps(fixed | dict(zip(grid, values, strict=True)))
                for count in (int(rng.integers(5, 90)),) if own else (50, 100):
                    how = {"params": params, "n_features": count, "own_count": own}
                    rows.append(row(**how, **about, **scores(rng, level + gain)))
            for count in (30, 60, 90):
                how = {"experiment": "curve", "n_features": count}
                rows.append(row(**how, **about, **scores(rng, level + gain + count / 1000)))
            rows.append(row(experiment="time", fit_seconds=0.02, peak_mib=40.0, **about))
            if selector == "JASFS":
                took = np.cumsum(rng.random(5))
                rows[-1] |= {"n_iter": 5, "fit_seconds": took[-1], "iteration_seconds": took}
                rows[-1] |= {"objective": 3 + 10 * np.exp(-np.arange(5))}
            if name == "breast3" and selector == "JASFS":
                n, _, c = SHAPES[name]
                classes = rng.integers(0, c, n)
                points = rng.standard_normal((n, 3)) + 2 * classes[:, None]
                about |= {"points": points.ravel(), "classes": classes}
                rows.append(row(experiment="scatter", **about))
    return frame(rows)

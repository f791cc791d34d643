"""What the figures of a benchmark show: curves, running times and point clouds."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from featsieve.report.bench.scores import by_method, finished, is_list

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Curve:
    """Scores against the number of features: one data set, one method, arrays of equal length."""

    dataset: str
    method: str
    counts: np.ndarray
    acc: np.ndarray
    nmi: np.ndarray


@dataclass(frozen=True)
class Timing:
    """One fit, followed from iteration to iteration.

    ``seconds`` is cumulative and may be empty (a method without iterations); so may ``objective``.
    ``jobs`` is how many cells ran at the same time; 0: not recorded.
    """

    dataset: str
    method: str
    selector: str
    fit_seconds: float
    n_iter: int
    peak_mib: float
    seconds: np.ndarray
    objective: np.ndarray
    jobs: int = 0


@dataclass(frozen=True)
class Cloud:
    """The samples over the three best features: ``points`` is (n, 3), ``classes`` is (n,)."""

    dataset: str
    method: str
    points: np.ndarray
    classes: np.ndarray


def curves(rows: "pd.DataFrame") -> list[Curve]:
    """Scores against the number of features, from the rows of experiment "curve"."""
    done = finished(rows, "acc")
    found = []
    for (dataset, method), group in by_method(done, "curve"):
        means = group.groupby("n_features")[["acc_mean", "nmi_mean"]].mean()
        found.append(
            Curve(
                dataset,
                method,
                means.index.to_numpy(),
                means["acc_mean"].to_numpy(),
                means["nmi_mean"].to_numpy(),
            )
        )
    return found


def timings(rows: "pd.DataFrame") -> list[Timing]:
    """Collect running times from the rows of experiment "time"; of several seeds the median."""
    found = []
    for (dataset, method), group in by_method(rows[rows["status"] == "done"], "time"):
        ordered = group.sort_values("fit_seconds")
        row = ordered.iloc[(len(ordered) - 1) // 2]
        found.append(
            Timing(
                dataset,
                method,
                row["selector"],
                float(row["fit_seconds"]),
                int(row["n_iter"]),
                float(row["peak_mib"]),
                _array(row["iteration_seconds"]),
                _array(row["objective"]),
                int(row["jobs"]),
            )
        )
    return found


def clouds(rows: "pd.DataFrame") -> list[Cloud]:
    """Collect the samples over the three best features from the rows of experiment "scatter"."""
    found = []
    for (dataset, method), group in by_method(rows[rows["status"] == "done"], "scatter"):
        row = group.iloc[0]
        points, classes = _array(row["points"]), _array(row["classes"])
        if len(classes) and len(points) == 3 * len(classes):
            found.append(Cloud(dataset, method, points.reshape(-1, 3), classes.astype(int)))
    return found


def _array(value: Any) -> np.ndarray:
    """Read a list column; empty where there is none."""
    return np.asarray(value, dtype=float) if is_list(value) else np.empty(0)

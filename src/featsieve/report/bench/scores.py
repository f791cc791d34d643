"""From rows of a benchmark to one score per data set, method and track.

The three tracks are chosen here and nowhere else, each from its own rows: ``default`` and
``label-free`` rows are taken as they are, and only the oracle may look at the classes.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from featsieve.evaluation.protocol import mean_interval

if TYPE_CHECKING:
    import pandas as pd

TRACKS = ("default", "label-free", "oracle")
METRICS = ("acc", "nmi", "ari")
# The control for chance.
RANDOM = "RandomSelector"
# Without parameters and without a number of features: there is nothing to choose in any track.
ALL_FEATURES = "AllFeatures"

Key = tuple[str, str]  # data set, method


@dataclass(frozen=True)
class Score:
    """One entry of a table."""

    mean: float
    std: float
    low: float
    high: float
    n_features: float
    n_seeds: int
    n_runs: int
    params: str
    own_count: bool


@dataclass(frozen=True)
class Budget:
    """What a search was allowed."""

    rankings: int
    points: int
    supports: int


def track_scores(
    rows: "pd.DataFrame",
    track: str,
    *,
    metric: str = "acc",
    unfinished: Collection[Key] = (),
) -> dict[Key, Score]:
    """Choose and average the rows of a track."""
    done = finished(rows, metric)
    if track not in TRACKS:
        raise ValueError(f"track must be one of {TRACKS}, got {track!r}.")
    everything = done[(done["experiment"] == "default") & (done["selector"] == ALL_FEATURES)]
    if track == "oracle":
        scores = _averaged(oracle_rows(rows, metric), metric)
        scores = {key: score for key, score in scores.items() if key not in unfinished}
    else:
        scores = _averaged(done[done["experiment"] == track], metric)
    return _averaged(everything, metric) | scores


def oracle_rows(rows: "pd.DataFrame", metric: str) -> "pd.DataFrame":
    """Return the grid rows that are best by labels.

    Each selector seed makes its own search, so that a method does not profit from having been
    repeated; what is averaged later are the best of each.
    """
    done = finished(rows, metric).reset_index(drop=True)
    grid = done[done["experiment"] == "grid"]
    best = grid.groupby(["dataset", "method", "seed"], sort=False)[f"{metric}_mean"].idxmax()
    return grid.loc[best]


def search_budgets(rows: "pd.DataFrame") -> dict[Key, Budget]:
    """Count what each search of the oracle track was allowed."""
    done = finished(rows, "acc")
    budgets = {}
    for key, group in by_method(done, "grid"):
        of_seed = group[group["seed"] == group["seed"].iloc[0]]
        points: dict[str, int] = {}
        supports = set()
        for row in of_seed.itertuples():
            setting = without_count(row.params)
            points[setting] = int(row.stands_for)
            supports.add((setting, row.n_features))
        budgets[key] = Budget(len(points), sum(points.values()), len(supports))
    return budgets


def by_method(rows: "pd.DataFrame", experiment: str) -> Any:
    """Rows of an experiment, grouped by data set and method."""
    return rows[rows["experiment"] == experiment].groupby(["dataset", "method"], sort=False)


def finished(rows: "pd.DataFrame", metric: str) -> "pd.DataFrame":
    """Rows that are done and carry a finite value of the metric."""
    return rows[(rows["status"] == "done") & np.isfinite(rows[f"{metric}_mean"].astype(float))]


def without_count(params: str) -> str:
    """Drop the number of features from JSON parameters: it has a column of its own."""
    content = json.loads(params or "{}")
    content.pop("n_features_to_select", None)
    return json.dumps(content, sort_keys=True)


def _averaged(rows: "pd.DataFrame", metric: str) -> dict[Key, Score]:
    """One score per data set and method: the mean over selector seeds."""
    return {
        key: _score(group, metric) for key, group in rows.groupby(["dataset", "method"], sort=False)
    }


def _score(group: "pd.DataFrame", metric: str) -> Score:
    """Average the seeds of one setting."""
    means = group[f"{metric}_mean"].to_numpy(dtype=float)
    stds = np.nan_to_num(group[f"{metric}_std"].to_numpy(dtype=float))
    runs = _runs(group.get(f"{metric}_runs"))
    # Single runs of ARI are not kept, but there are as many of them.
    counted = runs if runs is not None else _runs(group.get("acc_runs"))
    std = pooled_std(means, stds, n_runs=None if counted is None else counted.shape[1])
    low, high = (float("nan"),) * 2 if runs is None else mean_interval(runs)
    first = group.iloc[0]
    return Score(
        mean=float(means.mean()),
        std=std,
        low=low,
        high=high,
        n_features=float(group["n_features"].mean()),
        n_seeds=int(group["seed"].nunique()),
        n_runs=0 if runs is None else runs.shape[1],
        params=str(first["params"]),
        own_count=bool(first["own_count"]),
    )


def pooled_std(means: np.ndarray, stds: np.ndarray, *, n_runs: int | None) -> float:
    """Pool the standard deviations of all runs, from the means and deviations of each seed.

    All of them are those of a sample: sums of squares are divided by the number of runs less one.
    """
    if len(means) == 1:
        return float(stds[0])
    within, between = float(np.sum(stds**2)), float(np.sum((means - means.mean()) ** 2))
    if n_runs is None:
        return float(np.sqrt((within + between) / len(means)))
    total = (n_runs - 1) * within + n_runs * between
    return float(np.sqrt(total / (n_runs * len(means) - 1)))


def _runs(column: Iterable[Any] | None) -> np.ndarray | None:
    """Stack the single runs of all seeds, if they are there and as many for each."""
    if column is None:
        return None
    lists = [np.asarray(runs, dtype=float) if is_list(runs) else np.empty(0) for runs in column]
    lengths = {len(runs) for runs in lists}
    if len(lengths) != 1 or lengths == {0}:
        return None
    return np.vstack(lists)


def is_list(value: Any) -> bool:
    """Whether a table's entry holds values: Parquet gives arrays, an absent list is None or NaN."""
    return isinstance(value, list | tuple | np.ndarray) and len(value) > 0


def params_of(text: str) -> Mapping[str, Any]:
    """Read the parameters of a row."""
    return json.loads(text or "{}")

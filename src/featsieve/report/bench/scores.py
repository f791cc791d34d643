"""From rows of a benchmark to one score per data set, method and track, and what chance reaches.

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
    low: float  # of a confidence interval; NaN where single runs are not known
    high: float
    n_features: float
    n_seeds: int
    n_runs: int  # per seed; 0: not known
    params: str


@dataclass(frozen=True)
class Budget:
    """What a search of the oracle was allowed."""

    rankings: int  # settings that were fitted
    points: int  # of the grid, also those without an effect of their own
    supports: int  # selections that were judged


def finished(rows: "pd.DataFrame", metric: str = "acc") -> "pd.DataFrame":
    """Return the rows that are done and carry a finite value of the metric."""
    return rows[(rows["status"] == "done") & np.isfinite(rows[f"{metric}_mean"].astype(float))]


def by_method(rows: "pd.DataFrame") -> Any:
    """Group rows by data set and method."""
    return rows.groupby(["dataset", "method"], sort=False)


def track_scores(
    rows: "pd.DataFrame", track: str, *, metric: str = "acc", unfinished: Collection[Key] = ()
) -> dict[Key, Score]:
    """Choose and average the rows of a track; all features have a score in every track."""
    done = finished(rows, metric)
    everything = (done["experiment"] == "default") & (done["selector"] == ALL_FEATURES)
    chosen = oracle_rows(rows, metric) if track == "oracle" else done[done["experiment"] == track]
    scores = {key: _score(own, metric) for key, own in by_method(done[everything])}
    left_out = unfinished if track == "oracle" else ()
    return scores | {
        key: _score(own, metric) for key, own in by_method(chosen) if key not in left_out
    }


def oracle_rows(rows: "pd.DataFrame", metric: str = "acc") -> "pd.DataFrame":
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
    done = finished(rows)
    budgets = {}
    for key, group in by_method(done[done["experiment"] == "grid"]):
        own = group[group["seed"] == group["seed"].iloc[0]]
        own = own.assign(setting=own["params"].map(_setting))
        points = own.groupby("setting")["stands_for"].last()
        supports = len(own[["setting", "n_features"]].drop_duplicates())
        budgets[key] = Budget(len(points), int(points.sum()), supports)
    return budgets


def params_of(text: str) -> Mapping[str, Any]:
    """Read the parameters of a row."""
    return json.loads(text or "{}")


def _setting(params: str) -> str:
    """Drop the number of features from JSON parameters: it has a column of its own."""
    content = {k: v for k, v in params_of(params).items() if k != "n_features_to_select"}
    return json.dumps(content, sort_keys=True)


def _score(group: "pd.DataFrame", metric: str) -> Score:
    """Average the seeds of one setting."""
    means = group[f"{metric}_mean"].to_numpy(dtype=float)
    stds = np.nan_to_num(group[f"{metric}_std"].to_numpy(dtype=float))
    runs = _runs(group.get(f"{metric}_runs"))
    # Single runs of ARI are not kept, but there are as many of them.
    counted = runs if runs is not None else _runs(group.get("acc_runs"))
    low, high = (float("nan"),) * 2 if runs is None else mean_interval(runs)
    return Score(
        mean=float(means.mean()),
        std=pooled_std(means, stds, n_runs=None if counted is None else counted.shape[1]),
        low=low,
        high=high,
        n_features=float(group["n_features"].mean()),
        n_seeds=int(group["seed"].nunique()),
        n_runs=0 if runs is None else runs.shape[1],
        params=str(group["params"].iloc[0]),
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


def as_array(value: Any) -> np.ndarray:
    """Read a list column: Parquet gives arrays, an absent list is None or NaN."""
    is_list = isinstance(value, list | tuple | np.ndarray)
    return np.asarray(value, dtype=float) if is_list else np.empty(0)


def _runs(column: Iterable[Any] | None) -> np.ndarray | None:
    """Stack the single runs of all seeds, if they are there and as many for each."""
    lists = [] if column is None else [as_array(runs) for runs in column]
    lengths = {len(runs) for runs in lists}
    return np.vstack(lists) if len(lengths) == 1 and lengths != {0} else None


@dataclass(frozen=True)
class Survival:
    """A data set under the oracle: who exceeds random selections chosen in the same way."""

    dataset: str
    control: str
    accuracy: float  # of the best of all random selections
    budget: Budget  # of the control
    allowed: Mapping[str, int]  # selections that each method could choose from
    expected: Mapping[str, float]  # the expected best of as many random selections
    above: tuple[str, ...]  # methods that exceed what is expected
    not_above: tuple[str, ...]
    above_all: tuple[str, ...]  # methods that exceed the best of all random selections
    not_above_all: tuple[str, ...]

    @property
    def enough(self) -> bool:
        """Whether the control has as many selections as the largest search, or more."""
        return self.budget.supports >= max(self.allowed.values(), default=0)


def expected_best(values: Any, m: int) -> float:
    """Mean of the largest of m values drawn without replacement.

    Of all subsets of m out of N values, C(i-1, m-1) have the i-th smallest as their largest.
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    n = len(ordered)
    if m >= n:
        return float(ordered[-1])
    # Shares of the subsets from the largest value down: m/N, then each from the one before.
    i = np.arange(n, m, -1)
    shares = m / n * np.concatenate([[1.0], np.cumprod((i - m) / (i - 1.0))])
    return float(shares @ ordered[::-1][: len(shares)])


def survival_of(
    rows: "pd.DataFrame",
    scores: Mapping[Key, Score],
    budgets: Mapping[Key, Budget],
    *,
    datasets: Iterable[str],
    methods: Mapping[str, bool],
    control: str | None,
) -> tuple[Survival, ...]:
    """Compare every oracle accuracy with that of the random control on the same data set.

    ``methods`` are all of them, each with whether it is a control.
    """
    done = finished(rows)
    draws = done[(done["experiment"] == "grid") & (done["method"] == control)]
    found = []
    for name in datasets:
        if control is None or (name, control) not in scores:
            continue
        reached = scores[name, control].mean
        others = [method for method in methods if method != control and (name, method) in scores]
        means = {method: scores[name, method].mean for method in others}
        # all features are one selection, and there is no search for them
        allowed = {
            method: budgets[name, method].supports if (name, method) in budgets else 1
            for method in others
        }
        seeds = [own for _, own in draws[draws["dataset"] == name].groupby("seed")["acc_mean"]]
        expected = {
            method: float(np.mean([expected_best(values, m) for values in seeds]))
            for method, m in allowed.items()
        }
        judged = [method for method in others if not methods[method]]
        found.append(
            Survival(
                dataset=name,
                control=control,
                accuracy=reached,
                budget=budgets[name, control],
                allowed=allowed,
                expected=expected,
                above=tuple(m for m in judged if means[m] > expected[m]),
                not_above=tuple(m for m in judged if means[m] <= expected[m]),
                above_all=tuple(m for m in judged if means[m] > reached),
                not_above_all=tuple(m for m in judged if means[m] <= reached),
            )
        )
    return tuple(found)

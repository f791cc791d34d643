"""From rows of a benchmark to one score per data set, method and track, and what chance reaches.

The three tracks are chosen here and nowhere else, each from its own rows: ``default`` and
``label-free`` rows are taken as they are, and only the oracle may look at the classes.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

TRACKS = ("default", "label-free", "oracle")
METRICS = {"acc": "ACC", "nmi": "NMI"}
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
    n_features: float
    n_runs: int  # per seed; 0: not known


@dataclass(frozen=True)
class Budget:
    """What a search of the oracle was allowed."""

    rankings: int  # settings that were fitted
    supports: int  # selections that were judged


@dataclass(frozen=True)
class Survival:
    """A data set under the oracle: who exceeds random selections chosen in the same way."""

    dataset: str
    n_random: int  # random selections that were judged
    allowed: Mapping[str, int]  # selections that each method could choose from
    margins: Mapping[str, float]  # accuracy less the expected best of as many random selections
    judged: tuple[str, ...]  # methods that are no controls
    not_above_all: tuple[str, ...]  # those that do not exceed the best of all random selections

    @property
    def not_above(self) -> list[str]:
        """Methods that do not exceed what random selections with their own budget reach."""
        return [method for method in self.judged if self.margins[method] <= 0]

    @property
    def enough(self) -> bool:
        """Whether there are as many random selections as the largest search had, or more."""
        return self.n_random >= max(self.allowed.values(), default=0)


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
        supports = len(own[["setting", "n_features"]].drop_duplicates())
        budgets[key] = Budget(own["setting"].nunique(), supports)
    return budgets


def params_of(text: str) -> Mapping[str, Any]:
    """Read the parameters of a row."""
    return json.loads(text or "{}")


def as_array(value: Any) -> np.ndarray:
    """Read a list column: Parquet gives arrays, an absent list is None or NaN."""
    is_list = isinstance(value, list | tuple | np.ndarray)
    return np.asarray(value, dtype=float) if is_list else np.empty(0)


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
        means = {
            method: scores[name, method].mean
            for method in methods
            if method != control and (name, method) in scores
        }
        # all features are one selection, and there is no search for them
        allowed = {m: budgets[name, m].supports if (name, m) in budgets else 1 for m in means}
        seeds = [own for _, own in draws[draws["dataset"] == name].groupby("seed")["acc_mean"]]
        margins = {
            method: mean - float(np.mean([expected_best(own, allowed[method]) for own in seeds]))
            for method, mean in means.items()
        }
        judged = tuple(method for method in means if not methods[method])
        not_above_all = tuple(method for method in judged if means[method] <= reached)
        n_random = budgets[name, control].supports
        found.append(Survival(name, n_random, allowed, margins, judged, not_above_all))
    return tuple(found)


def _setting(params: str) -> str:
    """Drop the number of features from JSON parameters: it has a column of its own."""
    content = {k: v for k, v in params_of(params).items() if k != "n_features_to_select"}
    return json.dumps(content, sort_keys=True)


def _score(group: "pd.DataFrame", metric: str) -> Score:
    """Average the seeds of one setting."""
    means = group[f"{metric}_mean"].to_numpy(dtype=float)
    stds = np.nan_to_num(group[f"{metric}_std"].to_numpy(dtype=float))
    lengths = {len(as_array(runs)) for runs in group.get("acc_runs", ())}
    n_runs = (lengths.pop() or None) if len(lengths) == 1 else None
    return Score(
        mean=float(means.mean()),
        std=pooled_std(means, stds, n_runs=n_runs),
        n_features=float(group["n_features"].mean()),
        n_runs=n_runs or 0,
    )

"""From rows of a benchmark to one score per data set, method and track, and what chance reaches.

The three tracks are chosen here and nowhere else, each from its own rows: ``default`` and
``label-free`` rows are taken as they are, and only the oracle may look at the classes.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

TRACKS = ("default", "label-free", "oracle")
METRICS = {"acc": "ACC", "nmi": "NMI"}
# The control for chance.
RANDOM = "RandomSelector"
# Without parameters and without a number of features: there is nothing to choose in any track.
ALL_FEATURES = "AllFeatures"
# Was given the classes: what others are measured by, never a competitor.
TRUE_LABELS = "TrueLabels"

# Class of featsieve -> name in the paper's tables. The row of JASFS belongs to the published
# algorithm, ``solver="paper"``, only.
NAMES = {
    "AllFeatures": "Baseline",
    "LaplacianScore": "L-score",
    **{name: name for name in ("MCFS", "UDFS", "NDFS", "RUFS", "AUFS", "URAFS", "USFS", "UGFS")},
    "JASFS": "JASFS",
}

Key = tuple[str, str]  # data set, method


@cache
def load_published() -> dict[str, dict[Any, Any]]:
    """Read the paper's "shapes" by data set, "acc", "nmi" (mean, std) and "n_features" by key."""
    text = resources.files("featsieve.report.bench").joinpath("published.toml").read_text("utf-8")
    content = tomllib.loads(text)
    shapes = {name: tuple(shape) for name, shape in content.pop("shapes").items()}
    return {"shapes": shapes} | {
        table: {
            (name, method): entry
            for method, row in rows.items()
            for name, entry in zip(shapes, row, strict=True)
        }
        for table, rows in content.items()
    }


class Score(NamedTuple):
    """One entry of a table."""

    mean: float
    std: float
    n_features: float
    n_runs: int  # per seed


def by_method(rows: "pd.DataFrame") -> Any:
    """Group rows by data set and method."""
    return rows.groupby(["dataset", "method"], sort=False)


def finished(rows: "pd.DataFrame", metric: str = "acc") -> "pd.DataFrame":
    """Return the rows that are done and carry a finite value of the metric."""
    return rows[(rows["status"] == "done") & np.isfinite(rows[f"{metric}_mean"].astype(float))]


def track_rows(rows: "pd.DataFrame", track: str, metric: str = "acc") -> "pd.DataFrame":
    """Return the rows of a track; of the oracle the best of the grid by labels, for each seed."""
    if track != "oracle":
        return rows[(rows["experiment"] == track) & (rows["status"] == "done")]
    grid = finished(rows, metric).reset_index(drop=True)
    grid = grid[grid["experiment"] == "grid"]
    keys = ["dataset", "method", "seed"]
    return grid.loc[grid.groupby(keys, sort=False)[f"{metric}_mean"].idxmax()]


def track_scores(rows: "pd.DataFrame", track: str, *, metric: str = "acc") -> dict[Key, Score]:
    """Choose and average the rows of a track; all features have a score in every track."""
    everything = track_rows(rows[rows["selector"] == ALL_FEATURES], "default")
    parts = (everything, track_rows(rows, track, metric))
    return {
        key: _score(own, metric) for part in parts for key, own in by_method(finished(part, metric))
    }


def _score(group: "pd.DataFrame", metric: str) -> Score:
    """Average the seeds of one setting."""
    means, stds = (group[f"{metric}_{kind}"].to_numpy(dtype=float) for kind in ("mean", "std"))
    n_runs = min(map(len, group["acc_runs"]))
    std = pooled_std(means, np.nan_to_num(stds), n_runs=n_runs)
    return Score(float(means.mean()), std, float(group["n_features"].mean()), n_runs)


def pooled_std(means: np.ndarray, stds: np.ndarray, *, n_runs: int) -> float:
    """Pool the standard deviations of all runs, from the means and deviations of each seed."""
    if len(means) == 1:
        return float(stds[0])
    n = max(n_runs, 1)
    total = (n - 1) * np.sum(stds**2) + n * np.sum((means - means.mean()) ** 2)
    return float(np.sqrt(total / (n * len(means) - 1)))


def search_budgets(rows: "pd.DataFrame") -> dict[Key, int]:
    """Count the different selections that each search of the oracle track could choose from."""
    done = finished(rows)
    grid = done[done["experiment"] == "grid"]
    own = grid[grid["seed"] == by_method(grid)["seed"].transform("first")]
    return by_method(own.drop_duplicates(["dataset", "method", "support"])).size().to_dict()


def expected_best(values: Any, m: int) -> float:
    """Mean of the largest of m values drawn without replacement."""
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    n = len(ordered)
    if m >= n:
        return float(ordered[-1])
    # Shares of the subsets from the largest value down: m/N, then each from the one before.
    i = np.arange(n, m, -1)
    shares = m / n * np.concatenate([[1.0], np.cumprod((i - m) / (i - 1.0))])
    return float(shares @ ordered[::-1][: len(shares)])


def survival_table(
    rows: "pd.DataFrame", scores: Mapping[Key, Score], control: str | None
) -> "pd.DataFrame":
    """Compare every oracle accuracy with that of the random control on the same data set."""
    import pandas as pd

    budgets = search_budgets(rows)
    done = finished(rows)
    draws = done[(done["experiment"] == "grid") & (done["method"] == control)]
    seeds: dict[str, list[Any]] = {}
    for (name, _), values in draws.groupby(["dataset", "seed"])["acc_mean"]:
        seeds.setdefault(str(name), []).append(values)
    found = []
    for (name, method), score in scores.items():
        if method != control and name in seeds:
            # all features are one selection, and there is no search for them
            allowed = budgets.get((name, method), 1)
            margin = score.mean - np.mean([expected_best(own, allowed) for own in seeds[name]])
            n_random = budgets[name, str(control)]
            found.append((name, method, allowed, n_random, float(margin)))
    columns = ["dataset", "method", "allowed", "random", "margin"]
    return pd.DataFrame(found, columns=columns)

"""What a benchmark found, as plain data: no HTML, no figures."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from featsieve.evaluation.ranks import RankComparison, compare_ranks
from featsieve.report import bench_series
from featsieve.report.bench_facts import (
    DatasetFact,
    Failure,
    MethodFact,
    datasets_of,
    failures_of,
    methods_of,
    versions_of,
)
from featsieve.report.bench_scores import (
    METRICS,
    TRACKS,
    Budget,
    Key,
    Score,
    oracle_rows,
    search_budgets,
    track_scores,
)
from featsieve.report.bench_surfaces import Surface, surfaces
from featsieve.report.bench_survival import Survival, survival_of

if TYPE_CHECKING:
    import pandas as pd

# Further columns that are averaged for the tracks without labels.
EXTRAS = ("acc_practical", "nmi_practical", "acc_own", "nmi_own")
PLANTED = ("planted_precision", "planted_recall")


@dataclass(frozen=True)
class Track:
    """One way to choose parameters, with all its results.

    Attributes
    ----------
    name : {"default", "label-free", "oracle"}
    scores : dict
        Metric -> (data set, method) -> Score. In the oracle track each metric has its own choice.
    ranks : dict
        Metric -> RankComparison; a metric is missing where there are too few data sets.
    unranked : tuple of str
        Methods without a score, nor a failure, on some data set.
    extras : dict
        Column -> (data set, method) -> mean over seeds: the practical protocol and own labels.
    planted : dict
        The same for the share of planted features; empty without known truth.
    """

    name: str
    scores: Mapping[str, Mapping[Key, Score]]
    ranks: Mapping[str, RankComparison]
    unranked: tuple[str, ...]
    extras: Mapping[str, Mapping[Key, float]]
    planted: Mapping[str, Mapping[Key, float]]


@dataclass(frozen=True)
class BenchSummary:
    """Everything that a report of a benchmark says."""

    plans: tuple[str, ...]
    datasets: tuple[DatasetFact, ...]
    methods: tuple[MethodFact, ...]
    tracks: tuple[Track, ...]
    budgets: Mapping[Key, Budget]
    survival: tuple[Survival, ...]
    curves: tuple[bench_series.Curve, ...]
    timings: tuple[bench_series.Timing, ...]
    surfaces: tuple[Surface, ...]
    clouds: tuple[bench_series.Cloud, ...]
    failures: tuple[Failure, ...]
    n_cells: int
    n_done: int
    kmeans_runs: int
    machines: tuple[str, ...]
    versions: Mapping[str, tuple[str, ...]]
    period: tuple[str, str]

    def track(self, name: str) -> Track | None:
        """Return a track, or None where nothing of it was run."""
        return next((track for track in self.tracks if track.name == name), None)


def summarise_bench(rows: "pd.DataFrame") -> BenchSummary:
    """Collect what the rows of a benchmark say.

    Parameters
    ----------
    rows : DataFrame
        Columns of ``featsieve.bench.cells.SCHEMA``, as ``Store.read`` gives them.

    Returns
    -------
    BenchSummary
        Experiments that were not run leave their part empty.
    """
    if len(rows) == 0:
        raise ValueError(
            "There are no results to report. Run a plan first: featsieve bench run PLAN --out DIR"
        )
    datasets, methods = datasets_of(rows), methods_of(rows)
    tracks = [_track(rows, name, datasets=datasets, methods=methods) for name in TRACKS]
    budgets = search_budgets(rows)
    kept = tuple(track for track in tracks if track.scores["acc"])
    started = sorted(text for text in rows["started"].astype(str) if text not in ("", "nan"))
    return BenchSummary(
        plans=tuple(sorted(set(rows["plan"].astype(str)) - {""})),
        datasets=datasets,
        methods=methods,
        tracks=kept,
        budgets=budgets,
        survival=survival_of(
            next((track.scores["acc"] for track in kept if track.name == "oracle"), {}),
            budgets,
            datasets=datasets,
            methods=methods,
        ),
        curves=tuple(bench_series.curves(rows)),
        timings=tuple(bench_series.timings(rows)),
        surfaces=tuple(surfaces(rows)),
        clouds=tuple(bench_series.clouds(rows)),
        failures=failures_of(rows),
        n_cells=int(rows["cell"].nunique()),
        n_done=int(rows.loc[rows["status"] == "done", "cell"].nunique()),
        kmeans_runs=max(
            (score.n_runs for track in kept for score in track.scores["acc"].values()), default=0
        ),
        machines=tuple(sorted(set(rows["machine"].astype(str)) - {"", "nan"})),
        versions=versions_of(rows["versions"]),
        period=(started[0], started[-1]) if started else ("", ""),
    )


def _track(
    rows: "pd.DataFrame",
    name: str,
    *,
    datasets: tuple[DatasetFact, ...],
    methods: tuple[MethodFact, ...],
) -> Track:
    """Compute the scores of a track, and rank its methods by accuracy and by NMI."""
    scores = {metric: track_scores(rows, name, metric=metric) for metric in METRICS}
    own = rows[(rows["experiment"] == name) & (rows["status"] == "done")]
    extras = {} if name == "oracle" else _means(own, EXTRAS)
    planted = _means(oracle_rows(rows, "acc") if name == "oracle" else own, PLANTED)
    bad = rows[rows["status"].isin(["failed", "timeout"])]
    bad = bad[bad["experiment"] == ("grid" if name == "oracle" else name)]
    failed = set(zip(bad["dataset"], bad["method"], strict=True))
    ranks, unranked = {}, {}
    for metric in METRICS:
        comparison, left_out = _rank(scores[metric], failed, datasets=datasets, methods=methods)
        unranked[metric] = left_out
        if comparison is not None:
            ranks[metric] = comparison
    return Track(name, scores, ranks, unranked["acc"], extras, planted)


def _rank(
    scores: Mapping[Key, Score],
    failed: set[Key],
    *,
    datasets: tuple[DatasetFact, ...],
    methods: tuple[MethodFact, ...],
) -> tuple[RankComparison | None, tuple[str, ...]]:
    """Rank the methods that were tried on every data set; a failure comes last there."""
    present = {method for _, method in scores}
    names = [fact.name for fact in datasets if any(key[0] == fact.name for key in scores)]
    complete: list[str] = []
    left_out: list[str] = []
    for fact in methods:
        tried = all((name, fact.name) in scores or (name, fact.name) in failed for name in names)
        if fact.name in present:
            (complete if tried else left_out).append(fact.name)
    if len(names) < 2 or len(complete) < 3:
        return None, tuple(left_out)
    table = np.array(
        [
            [
                scores[name, method].mean if (name, method) in scores else -np.inf
                for method in complete
            ]
            for name in names
        ]
    )
    return compare_ranks(table, names=complete), tuple(left_out)


def _means(rows: "pd.DataFrame", columns: tuple[str, ...]) -> dict[str, dict[Key, float]]:
    """Average columns over seeds, leaving out what is not there."""
    found: dict[str, dict[Key, float]] = {}
    for column in columns:
        finite = rows[np.isfinite(rows[column].astype(float))]
        means = finite.groupby(["dataset", "method"], sort=False)[column].mean()
        if len(means):
            found[column] = {key: float(value) for key, value in means.items()}
    return found

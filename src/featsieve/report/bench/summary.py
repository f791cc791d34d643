"""What a benchmark found, as plain data: no HTML, no figures."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from featsieve.evaluation.ranks import RankComparison, compare_ranks
from featsieve.report.bench import series as bench_series
from featsieve.report.bench.facts import (
    DatasetFact,
    Failure,
    MethodFact,
    datasets_of,
    failures_of,
    methods_of,
    versions_of,
)
from featsieve.report.bench.progress import Progress, progress_of
from featsieve.report.bench.scores import (
    ALL_FEATURES,
    METRICS,
    TRACKS,
    Budget,
    Key,
    Score,
    oracle_rows,
    search_budgets,
    track_scores,
)
from featsieve.report.bench.surfaces import Surface, surfaces
from featsieve.report.bench.survival import Survival, survival_of

if TYPE_CHECKING:
    import pandas as pd

# Further columns that are averaged for the tracks without labels.
EXTRAS = ("acc_practical", "nmi_practical", "acc_own", "nmi_own", "redundancy")
PLANTED = ("planted_precision", "planted_recall")
# Status words that count as the last rank, and what is said of a search that goes on.
FAILURES = ("failed", "timeout")
UNFINISHED = "unfinished"


@dataclass(frozen=True)
class Track:
    """One way to choose parameters, with all its results."""

    name: str
    scores: Mapping[str, Mapping[Key, Score]]
    ranks: Mapping[str, RankComparison]
    unranked: tuple[str, ...]
    missing: Mapping[Key, str]
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
    progress: Progress
    kmeans_runs: int
    machines: tuple[str, ...]
    versions: Mapping[str, tuple[str, ...]]
    period: tuple[str, str]

    def track(self, name: str) -> Track | None:
        """Return a track, or None where nothing of it was run."""
        return next((track for track in self.tracks if track.name == name), None)


def summarise_bench(
    rows: "pd.DataFrame", *, planned: Collection[str] | Mapping[str, Any] | None = None
) -> BenchSummary:
    """Collect what the rows of a benchmark say."""
    if len(rows) == 0:
        raise ValueError(
            "There are no results to report. Run a plan first: featsieve bench run PLAN --out DIR"
        )
    datasets, methods = datasets_of(rows), methods_of(rows)
    progress = progress_of(rows, planned)
    tracks = [
        _track(rows, name, datasets=datasets, methods=methods, unfinished=progress.unfinished)
        for name in TRACKS
    ]
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
            rows,
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
        progress=progress,
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
    unfinished: Collection[Key],
) -> Track:
    """Compute the scores of a track, and rank its methods by accuracy and by NMI."""
    scores = {
        metric: track_scores(rows, name, metric=metric, unfinished=unfinished) for metric in METRICS
    }
    if name == "oracle":
        own, best = rows[:0], oracle_rows(rows, "acc")
        keys = zip(best["dataset"], best["method"], strict=True)
        chosen = best[np.array([key not in unfinished for key in keys], dtype=bool)]
    else:
        own = chosen = rows[(rows["experiment"] == name) & (rows["status"] == "done")]
    missing = _missing(rows, name, unfinished)
    ranks, unranked = {}, {}
    for metric in METRICS:
        comparison, left_out = _rank(scores[metric], missing, datasets=datasets, methods=methods)
        unranked[metric] = left_out
        if comparison is not None:
            ranks[metric] = comparison
    extras, planted = _means(own, EXTRAS), _means(chosen, PLANTED)
    return Track(name, scores, ranks, unranked["acc"], missing, extras, planted)


def _missing(rows: "pd.DataFrame", name: str, unfinished: Collection[Key]) -> dict[Key, str]:
    """Say why there is no score: the last word of a cell of the track.

    Where every cell of a grid failed there was nothing to choose from without labels, and no cell
    was made: a failure all the same.
    """
    grid = rows[rows["experiment"] == "grid"]
    own = grid if name == "oracle" else rows[rows["experiment"] == name]
    found = _bad(own)
    if name == "label-free":
        done = grid[grid["status"] == "done"]
        some = set(zip(done["dataset"], done["method"], strict=True))
        found = {key: word for key, word in _bad(grid).items() if key not in some} | found
    if name != "default":
        found |= dict.fromkeys(unfinished, UNFINISHED)
    return found


def _bad(rows: "pd.DataFrame") -> dict[Key, str]:
    """Status of what has no result."""
    bad = rows[rows["status"] != "done"]
    keys = zip(bad["dataset"], bad["method"], strict=True)
    return dict(zip(keys, bad["status"].astype(str), strict=True))


def _rank(
    scores: Mapping[Key, Score],
    missing: Mapping[Key, str],
    *,
    datasets: tuple[DatasetFact, ...],
    methods: tuple[MethodFact, ...],
) -> tuple[RankComparison | None, tuple[str, ...]]:
    """Rank the methods that were tried on every data set; a failure comes last there."""
    # All features have a score also where nothing has been searched yet.
    searched = {fact.name for fact in methods if fact.selector != ALL_FEATURES}
    present = {method for _, method in scores}
    names = [
        fact.name
        for fact in datasets
        if any(key[0] == fact.name and key[1] in searched for key in scores)
    ]
    tried = {key for key, word in missing.items() if word in FAILURES} | set(scores)
    complete: list[str] = []
    left_out: list[str] = []
    for fact in methods:
        everywhere = all((name, fact.name) in tried for name in names)
        # one that failed everywhere is shown as failed; it has no rank to speak of
        if fact.name in present:
            (complete if everywhere else left_out).append(fact.name)
        elif any(missing.get((name, fact.name)) == UNFINISHED for name in names):
            left_out.append(fact.name)
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

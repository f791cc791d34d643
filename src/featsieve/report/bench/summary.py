"""What a benchmark found, as plain data: no HTML, no figures."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from featsieve.datasets import dataset_info
from featsieve.evaluation.ranks import RankComparison, compare_ranks
from featsieve.report.bench.published import NAMES, load_published
from featsieve.report.bench.scores import (
    ALL_FEATURES,
    METRICS,
    RANDOM,
    TRACKS,
    Budget,
    Key,
    Score,
    Survival,
    by_method,
    oracle_rows,
    params_of,
    search_budgets,
    survival_of,
    track_scores,
)

if TYPE_CHECKING:
    import pandas as pd

# Further columns that are averaged for the tracks without labels.
EXTRAS = ("acc_practical", "acc_own", "redundancy")
PLANTED = ("planted_precision", "planted_recall")
# Status words that count as the last rank, and what is said of a search that goes on.
FAILURES = ("failed", "timeout")
UNFINISHED = "unfinished"


@dataclass(frozen=True)
class DatasetFact:
    """A data set as it was used."""

    name: str
    n_samples: int
    n_columns: int
    n_classes: int
    published: tuple[int, int, int] | None = None  # the shape that the paper gives
    note: str = ""  # what a reader of results must know about these data

    @property
    def differs(self) -> bool:
        """Whether the paper used another shape."""
        shape = (self.n_samples, self.n_columns, self.n_classes)
        return self.published is not None and self.published != shape

    @property
    def comparable(self) -> bool:
        """Whether the paper has results for these data, as far as is known."""
        return self.published is not None and not self.differs and not self.note


@dataclass(frozen=True)
class MethodFact:
    """A method of the plan; ``published`` is its name in the paper's tables, if it is there."""

    name: str
    selector: str
    control: bool
    published: str | None


@dataclass(frozen=True)
class PlanProgress:
    """How much of a plan has been run."""

    planned: int | None  # cells; None: not known
    ended: int
    done: int
    unfinished: tuple[Key, ...] = ()  # searches of the oracle that are not complete

    @property
    def complete(self) -> bool:
        """Whether nothing is known to be missing."""
        return self.planned is None or self.ended >= self.planned

    def unfinished_words(self) -> str:
        """List the unfinished searches by data set."""
        names: dict[str, list[str]] = {}
        for dataset, method in self.unfinished:
            names.setdefault(dataset, []).append(method)
        return "; ".join(f"{', '.join(methods)} on {name}" for name, methods in names.items())


@dataclass(frozen=True)
class Track:
    """One way to choose parameters, with all its results."""

    name: str
    scores: Mapping[str, Mapping[Key, Score]]  # by metric
    ranks: Mapping[str, RankComparison]  # by metric
    unranked: tuple[str, ...]  # methods that were not run everywhere
    missing: Mapping[Key, str]  # why there is no score
    extras: Mapping[str, Mapping[Key, float]]  # by column
    planted: Mapping[str, Mapping[Key, float]]


@dataclass(frozen=True)
class BenchSummary:
    """Everything that a report of a benchmark says."""

    rows: "pd.DataFrame"
    datasets: tuple[DatasetFact, ...]
    methods: tuple[MethodFact, ...]
    tracks: tuple[Track, ...]
    budgets: Mapping[Key, Budget]
    survival: tuple[Survival, ...]
    progress: PlanProgress

    def track(self, name: str) -> Track | None:
        """Return a track, or None where nothing of it was run."""
        return next((track for track in self.tracks if track.name == name), None)

    def of(self, experiment: str) -> "pd.DataFrame":
        """Return the rows of an experiment that are done."""
        return self.rows[(self.rows["experiment"] == experiment) & (self.rows["status"] == "done")]

    def words(self, column: str) -> list[str]:
        """Return the different texts of a column, sorted."""
        return sorted(set(self.rows[column].astype(str)) - {"", "nan"})

    def versions(self) -> dict[str, tuple[str, ...]]:
        """Return the versions of every package that took part."""
        found: dict[str, set[str]] = {}
        for text in self.words("versions"):
            for name, version in json.loads(text).items():
                found.setdefault(name, set()).add(str(version))
        return {name: tuple(sorted(found[name])) for name in sorted(found)}


def summarise_bench(
    rows: "pd.DataFrame", *, planned: Mapping[str, Any] | None = None
) -> BenchSummary:
    """Collect what the rows of a benchmark say."""
    if len(rows) == 0:
        raise ValueError(
            "There are no results to report. Run a plan first: featsieve bench run PLAN --out DIR"
        )
    datasets, methods = datasets_of(rows), methods_of(rows)
    progress = progress_of(rows, planned)
    tracks = {
        name: _track(rows, name, datasets=datasets, methods=methods, unfinished=progress.unfinished)
        for name in TRACKS
    }
    budgets = search_budgets(rows)
    survival = survival_of(
        rows,
        tracks["oracle"].scores["acc"],
        budgets,
        datasets=[fact.name for fact in datasets],
        methods={fact.name: fact.control for fact in methods},
        control=next((fact.name for fact in methods if fact.selector == RANDOM), None),
    )
    kept = tuple(track for track in tracks.values() if track.scores["acc"])
    return BenchSummary(rows, datasets, methods, kept, budgets, survival, progress)


def datasets_of(rows: "pd.DataFrame") -> tuple[DatasetFact, ...]:
    """Collect the data sets: the paper's in its order, then the others by name."""
    paper = load_published()
    # A cell that failed before its data were there has no shape.
    best = rows.sort_values("n_samples", kind="stable").groupby("dataset").last()
    facts = []
    for name, row in best.iterrows():
        shape = (int(row.n_samples), int(row.n_columns), int(row.n_classes))
        try:
            note = dataset_info(str(name)).note
        except ValueError:  # a file of the user's
            note = ""
        facts.append(DatasetFact(str(name), *shape, paper.shapes.get(str(name)), note))
    known = {name: place for place, name in enumerate(paper.datasets)}
    return tuple(sorted(facts, key=lambda fact: (known.get(fact.name, len(known)), fact.name)))


def methods_of(rows: "pd.DataFrame") -> tuple[MethodFact, ...]:
    """Collect the methods: controls first, then the paper's in its order, then the others.

    JASFS stands last, as what the comparison is about; its published form before ours.
    """
    facts = []
    for name, group in rows.groupby("method"):
        selector = str(group["selector"].iloc[0])
        solvers = {params_of(text).get("solver") for text in group["params"]}
        other = selector == "JASFS" and "paper" not in solvers
        printed = None if other else NAMES.get(selector)
        facts.append(MethodFact(str(name), selector, bool(group["control"].any()), printed))
    places = {selector: place for place, selector in enumerate(NAMES)} | {"JASFS": len(NAMES) + 1}

    def place(fact: MethodFact) -> tuple[bool, int, bool, str]:
        known = places.get(fact.selector, len(NAMES))
        return (not fact.control, known, fact.published is None, fact.name)

    return tuple(sorted(facts, key=place))


def progress_of(rows: "pd.DataFrame", planned: Mapping[str, Any] | None = None) -> PlanProgress:
    """Compare what is there with what was planned."""
    there = set(rows["cell"])
    done = int(rows.loc[rows["status"] == "done", "cell"].nunique())
    if planned is None:
        return PlanProgress(None, len(there), done)
    missing = [about for cell, about in planned.items() if cell not in there]
    unfinished = {(a["dataset"], a["method"]) for a in missing if a["experiment"] == "grid"}
    return PlanProgress(len(set(planned) | there), len(there), done, tuple(sorted(unfinished)))


def _keys(rows: "pd.DataFrame") -> list[Key]:
    """Return the data set and the method of every row."""
    return list(zip(rows["dataset"], rows["method"], strict=True))


def _track(
    rows: "pd.DataFrame",
    name: str,
    *,
    datasets: tuple[DatasetFact, ...],
    methods: tuple[MethodFact, ...],
    unfinished: Collection[Key],
) -> Track:
    """Compute the scores of a track, and rank its methods."""
    scores = {
        metric: track_scores(rows, name, metric=metric, unfinished=unfinished) for metric in METRICS
    }
    done = chosen = rows[(rows["experiment"] == name) & (rows["status"] == "done")]
    if name == "oracle":
        best = oracle_rows(rows)
        chosen = best[np.array([key not in unfinished for key in _keys(best)], dtype=bool)]
    missing = _missing(rows, name, unfinished)
    ranked, unranked = _complete(scores["acc"], missing, datasets=datasets, methods=methods)
    ranks = {metric: _rank(own, *ranked) for metric, own in scores.items() if ranked and own}
    extras, planted = _means(done, EXTRAS), _means(chosen, PLANTED)
    return Track(name, scores, ranks, unranked, missing, extras, planted)


def _missing(rows: "pd.DataFrame", name: str, unfinished: Collection[Key]) -> dict[Key, str]:
    """Say why there is no score: the last word of a cell of the track.

    Where every cell of a grid failed there was nothing to choose from without labels, and no cell
    was made: a failure all the same.
    """
    grid = rows[rows["experiment"] == "grid"]
    found = _bad(grid if name == "oracle" else rows[rows["experiment"] == name])
    if name == "label-free":
        some = set(_keys(grid[grid["status"] == "done"]))
        found = {key: word for key, word in _bad(grid).items() if key not in some} | found
    return found if name == "default" else found | dict.fromkeys(unfinished, UNFINISHED)


def _bad(rows: "pd.DataFrame") -> dict[Key, str]:
    """Return the status of what has no result."""
    bad = rows[rows["status"] != "done"]
    return dict(zip(_keys(bad), bad["status"].astype(str), strict=True))


def _complete(
    scores: Mapping[Key, Score],
    missing: Mapping[Key, str],
    *,
    datasets: tuple[DatasetFact, ...],
    methods: tuple[MethodFact, ...],
) -> tuple[tuple[list[str], list[str]] | None, tuple[str, ...]]:
    """Return the data sets and methods to rank, if there are enough, and the methods left out.

    Ranked are methods that were tried on every data set. One that failed everywhere is in neither.
    """
    # All features have a score also where nothing has been searched yet.
    searched = {fact.name for fact in methods if fact.selector != ALL_FEATURES}
    begun = {dataset for dataset, method in scores if method in searched}
    names = [fact.name for fact in datasets if fact.name in begun]
    present = {method for _, method in scores}
    tried = {key for key, word in missing.items() if word in FAILURES} | set(scores)
    complete: list[str] = []
    left_out: list[str] = []
    for fact in methods:
        if fact.name in present:
            everywhere = all((name, fact.name) in tried for name in names)
            (complete if everywhere else left_out).append(fact.name)
        elif any(missing.get((name, fact.name)) == UNFINISHED for name in names):
            left_out.append(fact.name)
    enough = len(names) >= 2 and len(complete) >= 3
    return (names, complete) if enough else None, tuple(left_out)


def _rank(scores: Mapping[Key, Score], names: list[str], methods: list[str]) -> RankComparison:
    """Rank methods; a failure comes last."""
    means = {key: score.mean for key, score in scores.items()}
    table = np.array([[means.get((name, m), -np.inf) for m in methods] for name in names])
    return compare_ranks(table, names=methods)


def _means(rows: "pd.DataFrame", columns: tuple[str, ...]) -> dict[str, dict[Key, float]]:
    """Average columns over seeds, leaving out what is not there."""
    means = {column: by_method(rows)[column].mean().dropna().to_dict() for column in columns}
    return {column: found for column, found in means.items() if found}

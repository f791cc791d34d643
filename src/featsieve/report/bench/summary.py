"""What a benchmark found, as plain data: no HTML, no figures."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from featsieve.datasets import dataset_info
from featsieve.evaluation import Difference, RankComparison, compare_ranks, compare_with_reference
from featsieve.report.bench.scores import (
    ALL_FEATURES,
    METRICS,
    NAMES,
    RANDOM,
    TRACKS,
    TRUE_LABELS,
    Key,
    Score,
    by_method,
    load_published,
    survival_table,
    track_rows,
    track_scores,
)

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class DatasetFact:
    """A data set as it was used."""

    name: str
    shape: tuple[int, ...]  # samples, columns, classes
    published: tuple[int, ...] | None = None  # the shape that the paper gives
    note: str = ""  # what a reader of results must know about these data

    @property
    def comparable(self) -> bool:
        """Whether the paper has results for these data, as far as is known."""
        return self.published == self.shape and not self.note


@dataclass(frozen=True)
class MethodFact:
    """A method of the plan; ``published`` is its name in the paper's tables, if it is there."""

    name: str
    selector: str
    control: bool
    published: str | None


@dataclass(frozen=True)
class Track:
    """One way to choose parameters, with all its results."""

    name: str
    rows: "pd.DataFrame"  # those behind the accuracies
    scores: Mapping[str, Mapping[Key, Score]]  # by metric
    missing: Mapping[Key, str]  # why there is no score: the status of a cell
    ranks: Mapping[str, RankComparison]  # by metric
    unranked: tuple[str, ...]  # methods that were not run everywhere

    def means(self, column: str) -> dict[Key, float]:
        """Average a column over seeds, leaving out what is not there."""
        return by_method(self.rows)[column].mean().dropna().to_dict()


@dataclass(frozen=True)
class BenchSummary:
    """Everything that a report of a benchmark says."""

    rows: "pd.DataFrame"
    datasets: tuple[DatasetFact, ...]
    methods: tuple[MethodFact, ...]
    tracks: Mapping[str, Track]  # those of which something was run
    planned: int | None  # cells; None: not known
    left_out: Mapping[str, str]  # data sets, and why

    @property
    def ended(self) -> int:
        """Number of cells that have ended."""
        return int(self.rows["cell"].nunique())

    @property
    def done(self) -> int:
        """Number of cells that have a result."""
        return int(self.rows.loc[self.rows["status"] == "done", "cell"].nunique())

    @property
    def complete(self) -> bool:
        """Whether nothing is known to be missing."""
        return self.planned is None or self.ended >= self.planned

    @property
    def references(self) -> list[str]:
        """What methods are compared with, as far as it was run: all features, and JASFS."""
        jasfs = [m.name for m in self.methods if m.selector == "JASFS" and m.published is None]
        return [name for name in (self.method_of(ALL_FEATURES), *jasfs[-1:]) if name]

    def method_of(self, selector: str) -> str | None:
        """Return the first method with a selector."""
        return next((fact.name for fact in self.methods if fact.selector == selector), None)

    def compare(self, track: Track, metric: str, reference: str) -> dict[str, Difference]:
        """Compare the methods of a track with one of them; a failure counts as a loss."""
        means = dict.fromkeys(track.missing, -np.inf)
        means |= {key: score.mean for key, score in track.scores[metric].items()}
        there = {method for _, method in means}
        names = [fact.name for fact in self.methods if fact.name in {*there, reference}]
        if len(names) < 2:
            return {}
        table = [[means.get((d.name, name), np.nan) for name in names] for d in self.datasets]
        gap = reference == self.method_of(ALL_FEATURES) and self.method_of(TRUE_LABELS) in there
        ceiling = self.method_of(TRUE_LABELS) if gap else None
        return compare_with_reference(table, reference, names=names, ceiling=ceiling)

    @cached_property
    def survival(self) -> "pd.DataFrame":
        """Oracle accuracies beside random selections chosen in the same way."""
        scores = self.tracks["oracle"].scores["acc"] if "oracle" in self.tracks else {}
        ceiling = self.method_of(TRUE_LABELS)
        scores = {key: score for key, score in scores.items() if key[1] != ceiling}
        return survival_table(self.rows, scores, self.method_of(RANDOM))

    def words(self, column: str) -> list[str]:
        """Return the different texts of a column, sorted."""
        return sorted(set(self.rows[column].astype(str)) - {"", "nan"})

    def versions(self) -> dict[str, list[str]]:
        """Return the versions of every package that took part."""
        found = [json.loads(text) for text in self.words("versions")]
        names = sorted({name for own in found for name in own})
        return {name: sorted({str(own[name]) for own in found if name in own}) for name in names}


def summarise_bench(
    rows: "pd.DataFrame",
    *,
    planned: Collection[str] | None = None,
    left_out: Mapping[str, str] | None = None,
) -> BenchSummary:
    """Collect what the rows of a benchmark say; ``planned`` are the identities of all cells."""
    if len(rows) == 0:
        raise ValueError(
            "There are no results to report. Run a plan first: featsieve bench run PLAN --out DIR"
        )
    datasets, methods = datasets_of(rows), methods_of(rows)
    tracks = {name: _track(rows, name, datasets, methods) for name in TRACKS}
    kept = {name: track for name, track in tracks.items() if track.scores["acc"]}
    total = None if planned is None else len({*planned, *rows["cell"]})
    return BenchSummary(rows, datasets, methods, kept, total, left_out or {})


def datasets_of(rows: "pd.DataFrame") -> tuple[DatasetFact, ...]:
    """Collect the data sets: the paper's in its order, then the others by name."""
    paper = load_published()["shapes"]
    # A cell that failed before its data were there has no shape.
    best = rows.sort_values("n_samples", kind="stable").groupby("dataset").last()
    facts = []
    for name, *shape in best[["n_samples", "n_columns", "n_classes"]].itertuples():
        try:
            note = dataset_info(name).note
        except ValueError:  # a file of the user's
            note = ""
        facts.append(DatasetFact(name, tuple(map(int, shape)), paper.get(name), note))
    known = {name: place for place, name in enumerate(paper)}
    return tuple(sorted(facts, key=lambda fact: (known.get(fact.name, len(known)), fact.name)))


def methods_of(rows: "pd.DataFrame") -> tuple[MethodFact, ...]:
    """Collect the methods: controls first, then the paper's in its order, the others, and JASFS."""
    facts = []
    for name, group in rows.groupby("method"):
        selector = str(group["selector"].iloc[0])
        ours = selector == "JASFS" and not group["params"].str.contains('"solver": "paper"').any()
        published = None if ours else NAMES.get(selector)
        facts.append(MethodFact(str(name), selector, bool(group["control"].any()), published))
    places = {selector: place for place, selector in enumerate(NAMES)} | {"JASFS": len(NAMES) + 1}

    def place(fact: MethodFact) -> tuple[bool, int, bool, str]:
        known = places.get(fact.selector, len(NAMES))
        return (not fact.control, known, fact.published is None, fact.name)

    return tuple(sorted(facts, key=place))


def _track(
    rows: "pd.DataFrame",
    name: str,
    datasets: tuple[DatasetFact, ...],
    methods: tuple[MethodFact, ...],
) -> Track:
    """Compute the scores of a track, and rank the methods that were tried on every data set."""
    scores = {metric: track_scores(rows, name, metric=metric) for metric in METRICS}
    sources = {"oracle": ["grid"], "label-free": ["grid", "label-free"]}.get(name, [name])
    bad = rows[rows["experiment"].isin(sources) & (rows["status"] != "done")]
    missing = dict(zip(zip(bad["dataset"], bad["method"], strict=True), bad["status"], strict=True))
    missing = {key: word for key, word in missing.items() if key not in scores["acc"]}

    # All features have a score also where nothing has been searched yet.
    searched = {fact.name for fact in methods if fact.selector != ALL_FEATURES}
    begun = {dataset for dataset, method in scores["acc"] if method in searched}
    if name != "default" and not begun:  # the plan has no such track
        scores = {metric: {} for metric in METRICS}
    names = [fact.name for fact in datasets if fact.name in begun]
    scored = {method for _, method in scores["acc"]}
    competing = [fact.name for fact in methods if fact.selector != TRUE_LABELS]
    present = [name for name in competing if name in scored]
    tried = {*scores["acc"], *missing}
    ranked = [method for method in present if all((data, method) in tried for data in names)]
    ranks = {}
    for metric, own in scores.items():
        if len(names) >= 2 and len(ranked) >= 3 and own:
            means = {key: score.mean for key, score in own.items()}
            # a failure comes last
            table = [[means.get((data, m), -np.inf) for m in ranked] for data in names]
            ranks[metric] = compare_ranks(table, names=ranked)
    unranked = tuple(method for method in present if method not in ranked)
    return Track(name, track_rows(rows, name), scores, missing, ranks, unranked)

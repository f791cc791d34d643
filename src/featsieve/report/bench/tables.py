"""The tables of a benchmark report, from its summary."""

# ruff: noqa: RUF001 - mathematical signs are meant

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from featsieve.report.bench.published import JASFS_POINTS, PAPER_COUNTS, load_published
from featsieve.report.bench.scores import Key, params_of
from featsieve.report.bench.summary import BenchSummary, DatasetFact, MethodFact, Track
from featsieve.report.bench.surfaces import tick
from featsieve.report.figure_style import METRIC_WORDS
from featsieve.report.page import Entry, PageTable, Row

DAGGER = "† Not the paper's data, or perhaps not: see the notes on data sets."
MISSING = Entry("–", missing=True)

# An entry for a method and a data set, and the last entries of a method's row.
MakeEntry = Callable[[MethodFact, str], Entry]
MakeTail = Callable[[MethodFact], tuple[Entry, ...]]


def method_table(
    summary: BenchSummary,
    present: Iterable[Key],
    entry: MakeEntry,
    *,
    caption: str,
    tail: MakeTail = lambda fact: (),
    tail_head: tuple[str, ...] = (),
    **more: Any,
) -> PageTable:
    """Make a row for every method and a column for every data set that have something to show."""
    present = list(present)
    seen = {name for name, _ in present}
    names = [fact.name for fact in summary.datasets if fact.name in seen]
    methods = {method for _, method in present}
    rows = tuple(
        method_row(fact, (*(entry(fact, name) for name in names), *tail(fact)))
        for fact in summary.methods
        if fact.name in methods
    )
    if any("†" in entry.note for row in rows for entry in row.entries):
        more["note"] = DAGGER
    return PageTable(caption, ("Method", *names, *tail_head), rows, **more)


def method_row(fact: MethodFact, entries: Iterable[Entry]) -> Row:
    """Make the row of a method; controls are marked."""
    return Row(fact.name, tuple(entries), "control" if fact.control else "")


def score_table(summary: BenchSummary, track: Track, metric: str, *, caption: str) -> PageTable:
    """Mean and standard deviation of a metric, best in bold, with average ranks.

    In the oracle track the paper's number stands below ours.
    """
    scores = track.scores[metric]
    shown = {key: round(100 * score.mean, 2) for key, score in scores.items()}
    best = _best(shown)
    ranks = track.ranks.get(metric)
    printed = load_published().scores.get(metric, {}) if track.name == "oracle" else {}

    def entry(fact: MethodFact, name: str) -> Entry:
        key, note = (name, fact.name), ""
        if fact.published and (name, fact.published) in printed:
            mean, std = printed[name, fact.published]
            note = f"{mean:.2f} ± {std:.2f}{_dagger(summary, name)}"
        if key not in scores:
            return Entry(track.missing.get(key, "–"), note, missing=True)
        text = f"{shown[key]:.2f} ± {100 * scores[key].std:.2f}"
        return Entry(text, note, best=shown[key] == best[name])

    def tail(fact: MethodFact) -> tuple[Entry, ...]:
        if ranks is None:
            return ()
        if fact.name not in ranks.names:
            return (MISSING,)
        rank = ranks.average_ranks[ranks.names.index(fact.name)]
        return (Entry(f"{rank:.2f}", best=bool(rank == ranks.average_ranks.min())),)

    return method_table(
        summary,
        {**scores, **track.missing},
        entry,
        caption=caption,
        tail=tail,
        tail_head=("average rank",) if ranks else (),
        note_label="published",
    )


def count_table(summary: BenchSummary, track: Track, *, caption: str) -> PageTable:
    """Show the number of features behind each accuracy; in the oracle track with the paper's."""
    scores = track.scores["acc"]
    printed = load_published().n_features if track.name == "oracle" else {}

    def entry(fact: MethodFact, name: str) -> Entry:
        count = printed.get((name, fact.published or ""))
        note = f"{count}{_dagger(summary, name)}" if count is not None else ""
        if (name, fact.name) not in scores:
            return Entry("–", note, missing=True)
        value = scores[name, fact.name].n_features  # a mean over seeds may have a fraction
        return Entry(f"{value:.0f}" if value == int(value) else f"{value:.1f}", note)

    return method_table(summary, scores, entry, caption=caption, note_label="published")


def _dagger(summary: BenchSummary, name: str) -> str:
    """Mark a data set of the paper that is not, or may not be, the same here."""
    fact = next(fact for fact in summary.datasets if fact.name == name)
    return " †" if fact.published and not fact.comparable else ""


def interval_table(summary: BenchSummary, track: Track, metric: str) -> PageTable | None:
    """95 % confidence intervals, or None where single runs are not known."""
    scores = {key: s for key, s in track.scores[metric].items() if np.isfinite(s.low)}
    if not scores:
        return None

    def entry(fact: MethodFact, name: str) -> Entry:
        score = scores.get((name, fact.name))
        if score is None:
            return MISSING
        seeds = f"{score.n_seeds} × {score.n_runs} runs" if score.n_seeds > 1 else ""
        low, high = max(0.0, score.low), min(1.0, score.high)
        return Entry(f"{100 * low:.1f} to {100 * high:.1f}", seeds)

    note = (
        "Student's t over k-means starts only: every selector was fitted with one seed."
        if all(score.n_seeds == 1 for score in scores.values())
        else "Student's t. Where a number of runs is given, over selector seeds and k-means "
        "starts; elsewhere over k-means starts only."
    )
    if track.name == "oracle":
        note += " It does not know that the best of many was picked: read it as too narrow."
    caption = f"{METRIC_WORDS[metric]} (%), 95 % confidence interval of the mean"
    return method_table(summary, scores, entry, caption=caption, note=note)


def value_table(
    summary: BenchSummary,
    values: Mapping[Key, float],
    *,
    caption: str,
    scale: float = 100.0,
    digits: int = 2,
    lowest: bool = False,
    bold: bool = True,
    note: str = "",
) -> PageTable:
    """Plain numbers per method and data set, best in bold."""
    shown = {key: round(scale * value, digits) for key, value in values.items()}
    best = _best(shown, lowest=lowest)

    def entry(fact: MethodFact, name: str) -> Entry:
        value = shown.get((name, fact.name))
        if value is None:
            return MISSING
        if lowest and digits and value == 0:
            return Entry(f"< {10.0**-digits:g}")
        return Entry(f"{value:.{digits}f}", best=bold and value == best[name])

    return method_table(summary, values, entry, caption=caption, note=note)


def params_table(summary: BenchSummary, track: Track) -> PageTable:
    """Show the parameters behind each accuracy."""
    scores = track.scores["acc"]

    def entry(fact: MethodFact, name: str) -> Entry:
        if (name, fact.name) not in scores:
            return MISSING
        words = [
            f"{name}={tick(value) if isinstance(value, float) else value}"
            for name, value in params_of(scores[name, fact.name].params).items()
            if name != "n_features_to_select"
        ]
        return Entry(", ".join(words) or "defaults")

    return method_table(summary, scores, entry, caption="Chosen parameters (by ACC)", words=True)


def curve_table(summary: BenchSummary, curves: Any, *, caption: str) -> PageTable:
    """Write curves (a column of percents per method, a row per number of features) in numbers."""
    shown = curves.round(2)
    best = shown.max(axis=1)
    rows = tuple(
        method_row(
            fact,
            [
                MISSING if np.isnan(value) else Entry(f"{value:.2f}", best=value == best[count])
                for count, value in shown[fact.name].items()
            ],
        )
        for fact in summary.methods
        if fact.name in shown
    )
    return PageTable(caption, ("Method", *map(str, shown.index)), rows)


def budget_table(summary: BenchSummary) -> PageTable:
    """Show what each search was allowed: the most over the data sets."""
    rows = []
    for fact in summary.methods:
        own = [b for (_, method), b in summary.budgets.items() if method == fact.name]
        if own:
            most = max(own, key=lambda budget: budget.supports)
            numbers = (most.points, most.rankings, most.supports)
            rows.append(method_row(fact, [Entry(f"{n}") for n in numbers]))
    return PageTable(
        "Search budget: what the labels could choose from",
        ("Method", "grid points", "settings fitted", "selections judged by labels"),
        tuple(rows),
        "The most on one data set. Grid points that differ only in a parameter without effect are "
        "fitted once. For the random control a setting is one random ranking.",
    )


def survival_table(summary: BenchSummary) -> PageTable:
    """Per data set: who exceeds the best of all random selections under the oracle, and who not."""
    facts = {fact.name: fact for fact in summary.datasets}
    compared = any(facts[entry.dataset].comparable for entry in summary.survival)
    rows = []
    for entry in summary.survival:
        budget = entry.budget
        cells = [
            Entry(f"{100 * entry.accuracy:.2f}"),
            Entry(f"{budget.rankings} rankings, {budget.supports} selections"),
            Entry(_counted(entry.above_all)),
            Entry(_counted(entry.not_above_all)),
        ]
        if compared:
            printed = _published_not_above(facts[entry.dataset], entry.accuracy)
            cells.append(MISSING if printed is None else Entry(_counted(printed)))
        rows.append(Row(entry.dataset, tuple(cells)))
    head = ["Data set", "random ACC (%)", "allowed", "above it", "not above it"]
    note = ""
    if compared:
        head.append("rows of the paper's table not above it")
        note = (
            f"The paper's rows are the best of the paper's searches ({JASFS_POINTS} selections for "
            f"JASFS, {JASFS_POINTS // 6} points or more at {PAPER_COUNTS} numbers of features for "
            "others with two weights or more); the random control here is the best of at most "
            f"{max(entry.budget.supports for entry in summary.survival)} selections. Where the "
            "data are not the paper's nothing is compared."
        )
    caption = "Oracle ACC against the best of all random selections (the largest budget)"
    return PageTable(caption, tuple(head), tuple(rows), note, words=True)


def _published_not_above(fact: DatasetFact, reached: float) -> list[str] | None:
    """Rows of the paper's table that do not exceed an accuracy, where the data are the paper's."""
    if not fact.comparable:
        return None
    paper = load_published()
    most = round(100 * reached, 2)  # the paper prints two decimals of percent
    return [name for name in paper.methods if paper.scores["acc"][fact.name, name][0] <= most]


def margin_table(summary: BenchSummary) -> PageTable:
    """Oracle accuracy minus what random selections with the method's own budget reach."""
    track = summary.track("oracle")
    scores = track.scores["acc"] if track else {}
    margins = {
        (entry.dataset, method): 100 * (scores[entry.dataset, method].mean - expected)
        for entry in summary.survival
        for method, expected in entry.expected.items()
    }

    def entry(fact: MethodFact, name: str) -> Entry:
        value = margins.get((name, fact.name))
        return MISSING if value is None else Entry(signed(value), best=value > 0)

    def tail(fact: MethodFact) -> tuple[Entry, ...]:
        values = [value for (_, method), value in margins.items() if method == fact.name]
        allowed = {e.allowed[fact.name] for e in summary.survival if fact.name in e.allowed}
        return (Entry(f"{sum(v > 0 for v in values)} of {len(values)}"), Entry(span(allowed)))

    return method_table(
        summary,
        margins,
        entry,
        caption="Points of ACC above random selections with the method's own budget, oracle track "
        "(bold: above)",
        tail=tail,
        tail_head=("above on", "own selections"),
        note="Subtracted is the expected best of as many random selections as the method had "
        "(last column), drawn from all those of the random control on the same data set.",
    )


def planted_table(summary: BenchSummary, track: Track) -> PageTable:
    """Precision, and below it recall, of planted features."""
    precision = track.planted.get("planted_precision", {})
    recall = track.planted.get("planted_recall", {})
    best = _best(precision)

    def entry(fact: MethodFact, name: str) -> Entry:
        key = (name, fact.name)
        if key not in precision:
            return MISSING
        note = f"{100 * recall[key]:.1f}" if key in recall else ""
        return Entry(f"{100 * precision[key]:.1f}", note, best=precision[key] == best[name])

    caption = f"Precision (%), below it recall (%), {track.name} track. Highest precision in bold."
    present = {**precision, **recall}
    return method_table(summary, present, entry, caption=caption, note_label="recall")


def failure_table(summary: BenchSummary) -> PageTable:
    """List what did not end well, and why."""
    keys = ["dataset", "method", "experiment", "status", "reason"]
    bad = summary.rows[summary.rows["status"] != "done"]
    rows = tuple(
        Row(name, tuple(Entry(str(word)) for word in (*words, count)))
        for (name, *words), count in bad.groupby(keys, dropna=False)["cell"].nunique().items()
    )
    head = ("Data set", "method", "experiment", "status", "reason", "cells")
    return PageTable("Cells without a result", head, rows, words=True)


def dataset_table(summary: BenchSummary) -> PageTable:
    """Shapes of the data sets, with the paper's where they differ."""
    rows = []
    for fact in summary.datasets:
        shape = (fact.n_samples, fact.n_columns, fact.n_classes)
        pairs = zip(shape, fact.published or shape, strict=True)
        entries = [
            Entry(str(ours), "" if ours == theirs else f"{theirs}") for ours, theirs in pairs
        ]
        rows.append(Row(fact.name, tuple(entries)))
    differs = any(fact.differs for fact in summary.datasets)
    caption = "Data sets" + (" (below: the paper's number where it differs)" if differs else "")
    notes = " ".join(f"{fact.note.rstrip('.')}." for fact in summary.datasets if fact.note)
    head = ("Data set", "samples", "features", "classes")
    return PageTable(caption, head, tuple(rows), notes, note_label="published")


def signed(value: float) -> str:
    """Write a difference with its sign and one decimal, and zero without."""
    return f"{value:+.1f}".replace("-", "−") if abs(value) >= 0.05 else "0.0"


def span(numbers: Collection[int]) -> str:
    """Write numbers as one, or from the smallest to the largest."""
    low, high = min(numbers), max(numbers)
    return f"{low}" if low == high else f"{low} to {high}"


def _best(values: Mapping[Key, float], *, lowest: bool = False) -> dict[str, float]:
    """Return the best value on every data set."""
    best: dict[str, float] = {}
    pick = min if lowest else max
    for (name, _), value in values.items():
        best[name] = pick(best.get(name, value), value)
    return best


def _counted(names: Sequence[str]) -> str:
    """Count names and list them."""
    return f"{len(names)}: {', '.join(names)}" if names else "none"

"""The tables of a benchmark report, from its summary."""

# ruff: noqa: RUF001 - mathematical signs are meant

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from featsieve.report.bench.facts import MethodFact
from featsieve.report.bench.published import load_published
from featsieve.report.bench.scores import Key, Score, params_of
from featsieve.report.bench.summary import BenchSummary, Track
from featsieve.report.bench.surfaces import tick
from featsieve.report.figure_style import METRIC_WORDS
from featsieve.report.page import Entry, Row, Table

PUBLISHED = "published"
DAGGER = "† Not the paper's data, or perhaps not: see the notes on data sets."
MISSING = Entry("–", missing=True)


def score_table(summary: BenchSummary, track: Track, metric: str, *, caption: str) -> Table:
    """Mean and standard deviation of a metric, best in bold, with average ranks.

    In the oracle track the paper's number stands below ours.
    """
    scores = track.scores[metric]
    names = columns_of(summary, scores)
    best = {
        name: max(round(100 * scores[key].mean, 2) for key in scores if key[0] == name)
        for name in names
    }
    ranks = track.ranks.get(metric)
    printed = load_published().scores.get(metric, {}) if track.name == "oracle" else {}
    doubtful = _doubtful(summary)

    def entry(fact: MethodFact, name: str) -> Entry:
        note = ""
        if fact.published and (name, fact.published) in printed:
            mean, std = printed[name, fact.published]
            note = f"{mean:.2f} ± {std:.2f}{' †' if name in doubtful else ''}"
        score = scores.get((name, fact.name))
        if score is None:
            return Entry(track.missing.get((name, fact.name), "–"), note, missing=True)
        mean = round(100 * score.mean, 2)
        return Entry(f"{mean:.2f} ± {100 * score.std:.2f}", note, best=mean == best[name])

    def tail(fact: MethodFact) -> tuple[Entry, ...]:
        if ranks is None:
            return ()
        if fact.name not in ranks.names:
            return (MISSING,)
        rank = ranks.average_ranks[ranks.names.index(fact.name)]
        return (Entry(f"{rank:.2f}", best=bool(rank == ranks.average_ranks.min())),)

    head = ("Method", *names, *(("average rank",) if ranks else ()))
    rows = method_rows(summary, {**scores, **track.missing}, names, entry=entry, tail=tail)
    return Table(caption, head, rows, _dagger_note(rows), note_label=PUBLISHED)


def count_table(summary: BenchSummary, track: Track, *, caption: str) -> Table:
    """Show the number of features behind each accuracy; in the oracle track with the paper's."""
    scores = track.scores["acc"]
    printed = load_published().n_features if track.name == "oracle" else {}
    doubtful = _doubtful(summary)

    def entry(fact: MethodFact, name: str) -> Entry:
        count = printed.get((name, fact.published or ""))
        note = f"{count}{' †' if name in doubtful else ''}" if count is not None else ""
        score = scores.get((name, fact.name))
        return Entry(_count(score.n_features), note) if score else Entry("–", note, missing=True)

    names = columns_of(summary, scores)
    rows = method_rows(summary, scores, names, entry=entry)
    return Table(caption, ("Method", *names), rows, _dagger_note(rows), note_label=PUBLISHED)


def interval_table(summary: BenchSummary, track: Track, metric: str) -> Table | None:
    """95 % confidence intervals, or None where single runs are not known."""
    scores = {key: s for key, s in track.scores[metric].items() if np.isfinite(s.low)}
    if not scores:
        return None
    names = columns_of(summary, scores)

    def entry(fact: MethodFact, name: str) -> Entry:
        score = scores.get((name, fact.name))
        if score is None:
            return MISSING
        seeds = f"{score.n_seeds} × {score.n_runs} runs" if score.n_seeds > 1 else ""
        low, high = max(0.0, score.low), min(1.0, score.high)
        return Entry(f"{100 * low:.1f} to {100 * high:.1f}", seeds)

    word = METRIC_WORDS[metric]
    single = all(score.n_seeds == 1 for score in scores.values())
    note = (
        "Student's t over k-means starts only: every selector was fitted with one seed."
        if single
        else "Student's t. Where a number of runs is given, over selector seeds and k-means "
        "starts; elsewhere over k-means starts only."
    )
    if track.name == "oracle":
        note += " It does not know that the best of many was picked: read it as too narrow."
    return Table(
        f"{word} (%), 95 % confidence interval of the mean",
        ("Method", *names),
        method_rows(summary, scores, names, entry=entry),
        note,
    )


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
) -> Table:
    """Plain numbers per method and data set, best in bold."""
    names = columns_of(summary, values)
    pick = min if lowest else max
    best = {
        name: pick(round(scale * v, digits) for key, v in values.items() if key[0] == name)
        for name in names
    }

    def entry(fact: MethodFact, name: str) -> Entry:
        value = values.get((name, fact.name))
        if value is None:
            return MISSING
        shown = round(scale * value, digits)
        if lowest and digits and shown == 0:
            return Entry(f"< {10.0**-digits:g}")
        return Entry(f"{shown:.{digits}f}", best=bold and shown == best[name])

    rows = method_rows(summary, values, names, entry=entry)
    return Table(caption, ("Method", *names), rows, note)


def params_table(summary: BenchSummary, track: Track) -> Table:
    """Show the parameters behind each accuracy."""
    scores = track.scores["acc"]
    names = columns_of(summary, scores)

    def entry(fact: MethodFact, name: str) -> Entry:
        score = scores.get((name, fact.name))
        return Entry(_params(score)) if score else MISSING

    rows = method_rows(summary, scores, names, entry=entry)
    return Table("Chosen parameters (by ACC)", ("Method", *names), rows, words=True)


def method_rows(
    summary: BenchSummary,
    present: Iterable[Key],
    names: tuple[str, ...],
    *,
    entry: Callable[[MethodFact, str], Entry],
    tail: Callable[[MethodFact], tuple[Entry, ...]] = lambda fact: (),
) -> tuple[Row, ...]:
    """Make a row for every method that has something to show."""
    methods = {method for _, method in present}
    return tuple(
        Row(fact.name, (*(entry(fact, name) for name in names), *tail(fact)), tag_of(fact))
        for fact in summary.methods
        if fact.name in methods
    )


def columns_of(summary: BenchSummary, present: Iterable[Key]) -> tuple[str, ...]:
    """Names of the data sets that have something to show."""
    seen = {name for name, _ in present}
    return tuple(fact.name for fact in summary.datasets if fact.name in seen)


def _doubtful(summary: BenchSummary) -> set[str]:
    """Names of the paper's data sets that are not, or may not be, the same here."""
    return {fact.name for fact in summary.datasets if fact.published and not fact.comparable}


def _dagger_note(rows: tuple[Row, ...]) -> str:
    """Explain the dagger where there is one."""
    return DAGGER if any("†" in entry.note for row in rows for entry in row.entries) else ""


def tag_of(fact: MethodFact) -> str:
    """Mark a control."""
    return "control" if fact.control else ""


def _count(value: float) -> str:
    """Write a number of features; a mean over seeds may have a fraction."""
    return f"{value:.0f}" if value == int(value) else f"{value:.1f}"


def _params(score: Score) -> str:
    """Write parameters as a user would."""
    words = [
        f"{name}={tick(value) if isinstance(value, float) else value}"
        for name, value in params_of(score.params).items()
        if name != "n_features_to_select"
    ]
    return ", ".join(words) or "defaults"

"""The tables of a benchmark report, from its summary."""

# ruff: noqa: RUF001 - mathematical signs are meant

from collections.abc import Collection, Mapping
from typing import Any

from featsieve.report.bench.published import load_published
from featsieve.report.bench.scores import Key
from featsieve.report.bench.summary import BenchSummary, Track
from featsieve.report.page import Entry, PageTable, Row

DAGGER = "† Not the paper's data, or perhaps not: see the notes on data sets."
MISSING = Entry("–", missing=True)


def method_table(
    summary: BenchSummary,
    entries: Mapping[Key, Entry],
    *,
    caption: str,
    tails: Mapping[str, tuple[Entry, ...]] | None = None,
    tail_head: tuple[str, ...] = (),
    **more: Any,
) -> PageTable:
    """Make a row for every method and a column for every data set that have an entry.

    ``tails`` are further cells at the end of a method's row, under ``tail_head``.
    """
    names = [fact.name for fact in summary.datasets if fact.name in {name for name, _ in entries}]
    methods = {method for _, method in entries}
    rows = []
    for fact in summary.methods:
        if fact.name in methods:
            cells = [entries.get((name, fact.name), MISSING) for name in names]
            cells += (tails or {}).get(fact.name, (MISSING,) * len(tail_head))
            rows.append(Row(fact.name, tuple(cells), "control" if fact.control else ""))
    if any("†" in entry.note for entry in entries.values()):
        more["note"] = DAGGER
    return PageTable(caption, ("Method", *names, *tail_head), tuple(rows), **more)


def score_table(summary: BenchSummary, track: Track, metric: str, *, caption: str) -> PageTable:
    """Mean and standard deviation of a metric, best in bold, with average ranks.

    In the oracle track the paper's number stands below ours.
    """
    scores, ranks = track.scores[metric], track.ranks.get(metric)
    shown = {key: round(100 * score.mean, 2) for key, score in scores.items()}
    best = _best(shown)
    printed = load_published().scores.get(metric, {}) if track.name == "oracle" else {}
    notes = {
        key: f"{mean:.2f} ± {std:.2f}{dagger}"
        for key, (mean, std), dagger in _beside(summary, printed)
    }
    entries = {
        key: Entry(word, notes.get(key, ""), missing=True) for key, word in track.missing.items()
    }
    for key, score in scores.items():
        text = f"{shown[key]:.2f} ± {100 * score.std:.2f}"
        entries[key] = Entry(text, notes.get(key, ""), best=shown[key] == best[key[0]])
    tails = {}
    if ranks is not None:
        best_rank = ranks.average_ranks.min()
        for name, rank in zip(ranks.names, ranks.average_ranks, strict=True):
            tails[name] = (Entry(f"{rank:.2f}", best=bool(rank == best_rank)),)
    return method_table(
        summary,
        entries,
        caption=caption,
        tails=tails,
        tail_head=("average rank",) if ranks else (),
        note_label="published",
    )


def count_table(summary: BenchSummary, track: Track, *, caption: str) -> PageTable:
    """Show the number of features behind each accuracy; in the oracle track with the paper's."""
    printed = load_published().n_features if track.name == "oracle" else {}
    notes = {key: f"{count}{dagger}" for key, count, dagger in _beside(summary, printed)}
    entries = {}
    for key, score in track.scores["acc"].items():
        count = score.n_features  # a mean over seeds may have a fraction
        text = f"{count:.0f}" if count == int(count) else f"{count:.1f}"
        entries[key] = Entry(text, notes.get(key, ""))
    return method_table(summary, entries, caption=caption, note_label="published")


def value_table(
    summary: BenchSummary,
    values: Mapping[Key, float],
    *,
    caption: str,
    scale: float = 100.0,
    digits: int = 2,
    lowest: bool = False,
    note: str = "",
) -> PageTable:
    """Plain numbers per method and data set, best in bold."""
    shown = {key: round(scale * value, digits) for key, value in values.items()}
    best = _best(shown, lowest=lowest)
    entries = {
        key: Entry(f"< {10.0**-digits:g}")  # what is too small to show is not called best
        if lowest and digits and value == 0
        else Entry(f"{value:.{digits}f}", best=value == best[key[0]])
        for key, value in shown.items()
    }
    return method_table(summary, entries, caption=caption, note=note)


def budget_table(summary: BenchSummary) -> PageTable:
    """Show what each search was allowed: the most over the data sets."""
    rows = []
    for fact in summary.methods:
        own = [b for (_, method), b in summary.budgets.items() if method == fact.name]
        if own:
            most = max(own, key=lambda budget: budget.supports)
            cells = tuple(Entry(f"{n}") for n in (most.rankings, most.supports))
            rows.append(Row(fact.name, cells, "control" if fact.control else ""))
    return PageTable(
        "Search budget: what the labels could choose from",
        ("Method", "settings fitted", "selections judged by labels"),
        tuple(rows),
        "The most on one data set. For the random control a setting is one random ranking.",
    )


def margin_table(summary: BenchSummary) -> PageTable:
    """Oracle accuracy minus what random selections with the method's own budget reach."""
    entries, tails = {}, {}
    for fact in summary.methods:
        own = {e.dataset: e.margins[fact.name] for e in summary.survival if fact.name in e.margins}
        for name, margin in own.items():
            entries[name, fact.name] = Entry(signed(100 * margin), best=margin > 0)
        if own:
            allowed = {e.allowed[fact.name] for e in summary.survival if e.dataset in own}
            above = sum(margin > 0 for margin in own.values())
            tails[fact.name] = (Entry(f"{above} of {len(own)}"), Entry(span(allowed)))
    return method_table(
        summary,
        entries,
        caption="Points of ACC above random selections with the method's own budget, oracle track "
        "(bold: above)",
        tails=tails,
        tail_head=("above on", "own selections"),
        note="Subtracted is the expected best of as many random selections as the method had "
        "(last column), drawn from all those of the random control on the same data set.",
    )


def planted_table(summary: BenchSummary, track: Track) -> PageTable:
    """Precision, and below it recall, of planted features."""
    precision = track.planted.get("planted_precision", {})
    recall = track.planted.get("planted_recall", {})
    best = _best(precision)
    entries = {
        key: Entry(
            f"{100 * value:.1f}",
            f"{100 * recall[key]:.1f}" if key in recall else "",
            best=value == best[key[0]],
        )
        for key, value in precision.items()
    }
    caption = f"Precision (%), below it recall (%), {track.name} track. Highest precision in bold."
    return method_table(summary, entries, caption=caption, note_label="recall")


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


def _beside(summary: BenchSummary, printed: Mapping[Key, Any]) -> list[tuple[Key, Any, str]]:
    """Return the paper's numbers by our names; a dagger where its data are, or may be, others."""
    return [
        (
            (data.name, fact.name),
            printed[data.name, fact.published],
            "" if data.comparable else " †",
        )
        for data in summary.datasets
        for fact in summary.methods
        if fact.published and (data.name, fact.published) in printed
    ]


def _best(values: Mapping[Key, float], *, lowest: bool = False) -> dict[str, float]:
    """Return the best value on every data set."""
    best: dict[str, float] = {}
    pick = min if lowest else max
    for (name, _), value in values.items():
        best[name] = pick(best.get(name, value), value)
    return best

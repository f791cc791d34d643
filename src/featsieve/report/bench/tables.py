"""The tables of a benchmark report, from its summary."""

# ruff: noqa: RUF001 - mathematical signs are meant

import json
import math
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from featsieve.bench.plan import RANKING
from featsieve.report.bench.scores import METRICS, TRUE_LABELS, Key, load_published
from featsieve.report.bench.summary import BenchSummary, Track
from featsieve.report.page import Entry, PageTable, Row

DAGGER = "† Not the paper's data, or perhaps not: see the notes on data sets."
MISSING = Entry("–")


def method_table(
    summary: BenchSummary,
    entries: Mapping[Key, Entry],
    *,
    caption: str,
    tails: Mapping[str, tuple[Entry, ...]] | None = None,
    tail_head: tuple[str, ...] = (),
    **more: Any,
) -> PageTable:
    """Make a row for every method and a column for every data set that have an entry."""
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
    """Mean and standard deviation of a metric, best in bold, with average ranks."""
    shown = {key: round(100 * score.mean, 2) for key, score in track.scores[metric].items()}
    best, notes = _best(summary, shown), _published(summary, track, metric)
    entries = {key: Entry(word, notes.get(key, "")) for key, word in track.missing.items()}
    for key, score in track.scores[metric].items():
        text = f"{shown[key]:.2f} ± {100 * score.std:.2f}"
        entries[key] = Entry(text, notes.get(key, ""), best=shown[key] == best.get(key))
    how: dict[str, Any] = {}
    if metric in track.ranks:
        ranks = track.ranks[metric]
        texts = [f"{rank:.2f}" for rank in ranks.average_ranks]
        lowest = f"{ranks.average_ranks.min():.2f}"  # what looks equal is equally good
        how["tails"] = {
            m: (Entry(text, best=text == lowest),)
            for m, text in zip(ranks.names, texts, strict=True)
        }
        how["tail_head"] = ("average rank",)
    return method_table(summary, entries, caption=caption, note_label="published", **how)


def count_table(summary: BenchSummary, track: Track, *, caption: str) -> PageTable:
    """Show the number of features behind each accuracy; in the oracle track with the paper's."""
    notes = _published(summary, track, "n_features")
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
    notes: Mapping[Key, float] | None = None,
    **more: Any,
) -> PageTable:
    """Plain numbers per method and data set, best in bold; ``notes`` are numbers below them."""
    shown = {key: round(scale * value, digits) for key, value in values.items()}
    below = {key: f"{scale * value:.{digits}f}" for key, value in (notes or {}).items()}
    best = _best(summary, shown, lowest=lowest)
    entries = {
        key: Entry(f"< {10.0**-digits:g}")  # what is too small to show is not called best
        if lowest and value == 0
        else Entry(f"{value:.{digits}f}", below.get(key, ""), best=value == best.get(key))
        for key, value in shown.items()
    }
    return method_table(summary, entries, caption=caption, **more)


def margin_table(summary: BenchSummary) -> PageTable:
    """Oracle accuracy minus what random selections with the method's own budget reach."""
    table = summary.survival
    entries = {
        (name, method): Entry(signed(100 * margin), best=signed(100 * margin).startswith("+"))
        for name, method, margin in table[["dataset", "method", "margin"]].itertuples(index=False)
    }
    tails = {
        str(method): (
            Entry(f"{(own['margin'] > 0).sum()} of {len(own)}"),
            Entry(span(own["allowed"])),
        )
        for method, own in table.groupby("method")
    }
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


def difference_table(summary: BenchSummary, track: Track, metric: str) -> PageTable:
    """Mean differences to all features and to JASFS, with intervals, and the gap that is closed."""
    head: list[str] = []
    cells: dict[str, list[Entry]] = {fact.name: [] for fact in summary.methods}
    for reference in summary.references:
        found = summary.compare(track, metric, reference)
        gap = any(np.isfinite(own.closed[0]) for own in found.values())
        head += [f"points to {reference}", "wins/ties/losses", *["% of the gap closed"] * gap]
        for name, row in cells.items():
            texts = ["–"] * 3
            if name in found and found[name].n_datasets:
                own = found[name]
                texts = [
                    "{} [{}, {}]".format(*(signed(100 * x) for x in own.points)),
                    f"{own.wins}/{own.ties}/{own.losses}",
                    "{:.0f} [{:.0f}, {:.0f}]".format(*(100 * x for x in own.closed)),
                ]
            texts = ["–" if "nan" in x else x.replace("-", "−") for x in texts[: 2 + gap]]
            row += map(Entry, texts)
    tags = {fact.name: "control" if fact.control else "" for fact in summary.methods}
    rows = tuple(Row(name, tuple(row), tags[name]) for name, row in cells.items())
    caption = f"Differences in {METRICS[metric]}, paired over data sets, {track.name} track"
    return PageTable(caption, ("Method", *head), rows)


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
        pairs = zip(fact.shape, fact.published or fact.shape, strict=True)
        entries = [Entry(f"{ours}", "" if ours == paper else f"{paper}") for ours, paper in pairs]
        rows.append(Row(fact.name, tuple(entries)))
    differs = any(entry.note for row in rows for entry in row.entries)
    caption = "Data sets" + (" (below: the paper's number where it differs)" if differs else "")
    notes = " ".join(f"{fact.note.rstrip('.')}." for fact in summary.datasets if fact.note)
    head = ("Data set", "samples", "features", "classes")
    return PageTable(caption, head, tuple(rows), notes, note_label="published")


def settings_table(summary: BenchSummary) -> PageTable:
    """List the class of every method, and the values of its parameters that were tried."""
    rows = []
    for fact in summary.methods:
        own = summary.rows.loc[summary.rows["method"] == fact.name, "params"]
        settings = [json.loads(text) for text in own.unique()]
        tried = []
        for name in sorted({name for setting in settings for name in setting} - {RANKING}):
            values = {json.dumps(setting[name]) for setting in settings if name in setting}
            words = sorted(values, key=_number)
            words += ["its default"] * any(name not in setting for setting in settings)
            tried.append(f"{name} = {', '.join(words)}")
        text = "; ".join(tried) or "the defaults"
        rows.append(Row(fact.name, (Entry(fact.selector), Entry(text))))
    head = ("Method", "class", "values that were tried")
    return PageTable("Methods and their settings", head, tuple(rows), words=True)


def _number(text: str) -> tuple[float, str]:
    """Return what sorts values: numbers by size, before words."""
    try:
        return float(text), text
    except ValueError:
        return math.inf, text


def signed(value: float) -> str:
    """Write a difference with its sign and one decimal, and zero without."""
    return f"{value:+.1f}".replace("-", "−") if abs(value) >= 0.05 else "0.0"


def span(numbers: Collection[int]) -> str:
    """Write numbers as one, or from the smallest to the largest."""
    low, high = min(numbers), max(numbers)
    return f"{low}" if low == high else f"{low} to {high}"


def _published(summary: BenchSummary, track: Track, table: str) -> dict[Key, str]:
    """Return the paper's numbers for the oracle; a dagger where its data are, or may be, others."""
    printed = load_published()[table] if track.name == "oracle" else {}
    notes = {}
    for data in summary.datasets:
        for fact in summary.methods:
            entry = printed.get((data.name, fact.published or ""))
            if entry is not None:
                text = "{:.2f} ± {:.2f}".format(*entry) if table != "n_features" else f"{entry}"
                notes[data.name, fact.name] = text + ("" if data.comparable else " †")
    return notes


def _best(
    summary: BenchSummary, values: Mapping[Key, float], *, lowest: bool = False
) -> dict[Key, float]:
    """Return the best value on its data set, for every method but the ceiling."""
    ceiling = summary.method_of(TRUE_LABELS)
    competing = {key: value for key, value in values.items() if key[1] != ceiling}
    best: dict[str, float] = {}
    pick = min if lowest else max
    for (name, _), value in competing.items():
        best[name] = pick(best.get(name, value), value)
    return {key: best[key[0]] for key in competing}

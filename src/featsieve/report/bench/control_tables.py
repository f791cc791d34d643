"""Tables about the comparison itself: budgets, controls, failures, data sets."""

# ruff: noqa: RUF001 - mathematical signs are meant

from collections.abc import Collection

from featsieve.report.bench.facts import MethodFact
from featsieve.report.bench.published import JASFS_POINTS, PAPER_COUNTS
from featsieve.report.bench.summary import BenchSummary, Track
from featsieve.report.bench.tables import MISSING, columns_of, method_rows, tag_of
from featsieve.report.page import Entry, Row, Table


def budget_table(summary: BenchSummary) -> Table:
    """Show what each search was allowed: the most over the data sets."""
    rows = []
    for fact in summary.methods:
        own = [b for (_, method), b in summary.budgets.items() if method == fact.name]
        if own:
            most = max(own, key=lambda budget: budget.supports)
            numbers = (most.points, most.rankings, most.supports)
            rows.append(Row(fact.name, tuple(Entry(f"{n}") for n in numbers), tag_of(fact)))
    return Table(
        "Search budget: what the labels could choose from",
        ("Method", "grid points", "settings fitted", "selections judged by labels"),
        tuple(rows),
        "The most on one data set. Grid points that differ only in a parameter without effect are "
        "fitted once. For the random control a setting is one random ranking.",
    )


def survival_table(summary: BenchSummary) -> Table:
    """Per data set: who exceeds the best of all random selections under the oracle, and who not."""
    rows = []
    for entry in summary.survival:
        printed = entry.published_not_above
        rows.append(
            Row(
                entry.dataset,
                (
                    Entry(f"{100 * entry.accuracy:.2f}"),
                    Entry(f"{entry.budget.rankings} rankings, {entry.budget.supports} selections"),
                    Entry(_list(entry.above_all)),
                    Entry(_list(entry.not_above_all)),
                    MISSING if printed is None else Entry(_list(printed)),
                ),
            )
        )
    with_paper = any(e.published_not_above is not None for e in summary.survival)
    head: tuple[str, ...] = (
        "Data set",
        "random ACC (%)",
        "allowed",
        "above it",
        "not above it",
        "rows of the paper's table not above it",
    )
    note = ""
    if with_paper:
        most = max(entry.budget.supports for entry in summary.survival)
        note = (
            f"The paper's rows are the best of the paper's searches ({JASFS_POINTS} selections for "
            f"JASFS, {JASFS_POINTS // 6} points or more at {PAPER_COUNTS} numbers of features for "
            "others with two weights or more); the random control here is the best of at most "
            f"{most} selections. Where the data are not the paper's nothing is compared."
        )
    else:
        head = head[:-1]
        rows = [Row(row.header, row.entries[:-1]) for row in rows]
    caption = "Oracle ACC against the best of all random selections (the largest budget)"
    return Table(caption, head, tuple(rows), note, words=True)


def margin_table(summary: BenchSummary, *, largest: bool = False) -> Table:
    """Oracle accuracy minus that of the random control."""
    track = summary.track("oracle")
    scores = track.scores["acc"] if track else {}
    random = {entry.dataset: entry for entry in summary.survival}
    names = tuple(random)
    control = summary.survival[0].control

    def margin(fact: MethodFact, name: str) -> float | None:
        score = scores.get((name, fact.name))
        if score is None:
            return None
        chance = random[name].accuracy if largest else random[name].expected[fact.name]
        return 100 * (score.mean - chance)

    def entry(fact: MethodFact, name: str) -> Entry:
        value = margin(fact, name)
        return MISSING if value is None else Entry(signed(value), best=value > 0)

    def tail(fact: MethodFact) -> tuple[Entry, ...]:
        values = [v for name in names if (v := margin(fact, name)) is not None]
        allowed = {e.allowed[fact.name] for e in summary.survival if fact.name in e.allowed}
        number = _range(allowed)
        return (Entry(f"{sum(v > 0 for v in values)} of {len(values)}"), Entry(number))

    others = {key: score for key, score in scores.items() if key[1] != control and key[0] in random}
    rows = method_rows(summary, others, names, entry=entry, tail=tail)
    against = (
        "the best of all random selections (the largest budget)"
        if largest
        else "random selections with the method's own budget"
    )
    return Table(
        f"Points of ACC above {against}, oracle track (bold: above)",
        ("Method", *names, "above on", "own selections"),
        rows,
        ""
        if largest
        else "Subtracted is the expected best of as many random selections as the method had "
        "(last column), drawn from all those of the random control on the same data set.",
    )


def planted_table(summary: BenchSummary, track: Track) -> Table:
    """Precision, and below it recall, of planted features."""
    precision = track.planted.get("planted_precision", {})
    recall = track.planted.get("planted_recall", {})
    present = {**precision, **recall}
    names = columns_of(summary, present)
    best = {name: max(v for key, v in precision.items() if key[0] == name) for name in names}

    def entry(fact: MethodFact, name: str) -> Entry:
        key = (name, fact.name)
        if key not in precision:
            return MISSING
        note = f"{100 * recall[key]:.1f}" if key in recall else ""
        return Entry(f"{100 * precision[key]:.1f}", note, best=precision[key] == best[name])

    rows = method_rows(summary, present, names, entry=entry)
    caption = f"Precision (%), below it recall (%), {track.name} track. Highest precision in bold."
    return Table(caption, ("Method", *names), rows, note_label="recall")


def failure_table(summary: BenchSummary) -> Table:
    """List what did not end well, and why."""
    rows = tuple(
        Row(
            f.dataset,
            tuple(Entry(x) for x in (f.method, f.experiment, f.status, f.reason, str(f.n_cells))),
        )
        for f in summary.failures
    )
    head = ("Data set", "method", "experiment", "status", "reason", "cells")
    return Table("Cells without a result", head, rows, words=True)


def dataset_table(summary: BenchSummary) -> Table:
    """Shapes of the data sets, with the paper's where they differ."""
    rows = []
    differs = any(fact.differs for fact in summary.datasets)
    for fact in summary.datasets:
        shape = (fact.n_samples, fact.n_columns, fact.n_classes)
        paper = fact.published or shape
        rows.append(
            Row(
                fact.name,
                tuple(
                    Entry(str(ours), "" if ours == theirs else f"{theirs}")
                    for ours, theirs in zip(shape, paper, strict=True)
                ),
            )
        )
    head = ("Data set", "samples", "features", "classes")
    caption = "Data sets" + (" (below: the paper's number where it differs)" if differs else "")
    notes = " ".join(f"{fact.note.rstrip('.')}." for fact in summary.datasets if fact.note)
    return Table(caption, head, tuple(rows), notes, note_label="published")


def signed(value: float) -> str:
    """Write a difference with its sign and one decimal, and zero without."""
    return f"{value:+.1f}".replace("-", "−") if abs(value) >= 0.05 else "0.0"


def _range(numbers: Collection[int]) -> str:
    """Write numbers as one, or from the smallest to the largest."""
    low, high = min(numbers), max(numbers)
    return f"{low}" if low == high else f"{low} to {high}"


def _list(names: tuple[str, ...]) -> str:
    """Count names and list them."""
    return f"{len(names)}: {', '.join(names)}" if names else "none"

"""Sections of a benchmark report about the tracks and the controls."""

# ruff: noqa: RUF001 - mathematical signs are meant

from collections.abc import Sequence

from featsieve.report.bench import control_tables, rank_figures
from featsieve.report.bench import tables as bench_tables
from featsieve.report.bench.figures import key_images
from featsieve.report.bench.published import JASFS_POINTS, load_published
from featsieve.report.bench.summary import BenchSummary, Track
from featsieve.report.figure_style import METRIC_WORDS, Style
from featsieve.report.page import Block, Details, Gallery, Section, Table

TRACK_TITLES = {
    "default": "Default track: the constructor's defaults",
    "label-free": "Label-free track: tuned without labels",
    "oracle": "Oracle track: best of the grid by labels",
}
TRACK_MEANING = {
    "default": (
        "Every method with its constructor's defaults, at 10 % of the columns unless the method "
        "decides the number itself; only the number of clusters is given.",
        "Nothing was tuned: this is what a user gets who calls fit and looks no further.",
    ),
    "label-free": (
        "From the same grid as the oracle, parameters and number of features are chosen by the "
        "modularity of k-means clusters of the selected columns on the neighbour graph of the "
        "whole table (the view of that graph comes from the pseudo-labels with which JASFS would "
        "start): the fewest features within 0.01 of the best value.",
        "No class is looked at, but k-means is given the true number of classes; another "
        "criterion may choose better or worse.",
    ),
    "oracle": (
        "The best grid point and number of features, picked with the true classes: for the tables "
        "of ACC by ACC, for those of NMI by NMI, as papers do.",
        "Nobody with unlabelled data can do this, and the more a search tries the higher its best "
        "by chance alone: compare with the random control, whose best was picked in the same way.",
    ),
}
EXTRA_CAPTIONS = {
    "acc_practical": "ACC (%) of the best of 20 k-means++ starts (practical protocol)",
    "nmi_practical": "NMI (%) of the best of 20 k-means++ starts (practical protocol)",
    "acc_own": "ACC (%) of the selector's own labels",
    "nmi_own": "NMI (%) of the selector's own labels",
}
REDUNDANCY = "Redundancy: mean absolute correlation of pairs of selected columns. Lowest in bold."


def track_section(summary: BenchSummary, styles: dict[str, Style], *, track: Track) -> Section:
    """Show one track: tables, ranks, and what else belongs to it."""
    paper = track.name == "oracle" and any(
        fact.published and data.published for fact in summary.methods for data in summary.datasets
    )
    beside = ": ours, and with it the published number" if paper else ""
    blocks: list[Block] = []
    for metric in ("acc", "nmi"):
        caption = f"{METRIC_WORDS[metric]} (%), {track.name} track{beside}. Best in bold."
        blocks.append(bench_tables.score_table(summary, track, metric, caption=caption))
    caption = f"Number of features behind the ACC above{beside}"
    blocks.append(bench_tables.count_table(summary, track, caption=caption))
    if track.ranks:
        blocks.append(_ranks(track, styles))
    for column, caption in EXTRA_CAPTIONS.items():
        values = track.extras.get(column)
        if values and column.startswith("acc"):
            blocks.append(bench_tables.value_table(summary, values, caption=caption))
    if track.extras.get("redundancy"):
        blocks.append(_redundancy(summary, track))
    if track.name == "oracle":
        blocks.append(control_tables.budget_table(summary))
    blocks.append(
        Details("More of this track: ARI, intervals, parameters", tuple(_more(summary, track)))
    )
    paragraphs = [" ".join(TRACK_MEANING[track.name])]
    if paper:
        paragraphs += _paper_notes(summary)
    if track.name == "oracle" and summary.progress.unfinished:
        paragraphs.append(
            "Left out, because their grids are not complete: "
            f"{summary.progress.unfinished_words()}."
        )
    if track.unranked:
        names = and_list(track.unranked)
        paragraphs.append(f"Not ranked, because not run (to the end) on all data sets: {names}.")
    return Section(track.name, TRACK_TITLES[track.name], tuple(paragraphs), tuple(blocks))


def _more(summary: BenchSummary, track: Track) -> list[Table]:
    """List what is folded away in a track."""
    found = []
    if track.scores["ari"]:
        caption = f"ARI (× 100), {track.name} track. Best in bold."
        found.append(bench_tables.score_table(summary, track, "ari", caption=caption))
    for metric in ("acc", "nmi"):
        table = bench_tables.interval_table(summary, track, metric)
        if table is not None:
            found.append(table)
    for column, caption in EXTRA_CAPTIONS.items():
        if column.startswith("nmi") and track.extras.get(column):
            found.append(bench_tables.value_table(summary, track.extras[column], caption=caption))
    found.append(bench_tables.params_table(summary, track))
    return found


def _redundancy(summary: BenchSummary, track: Track) -> Table:
    """Show how much the selected columns say the same."""
    return bench_tables.value_table(
        summary,
        track.extras["redundancy"],
        caption=REDUNDANCY,
        scale=1.0,
        digits=3,
        lowest=True,
        note="It depends on the number of features: see the table of these.",
    )


def _ranks(track: Track, styles: dict[str, Style]) -> Gallery:
    """Rank plots of a track."""
    caption = (
        "Dots: average ranks; bands: 95 % intervals over data sets. Methods joined by a bar on "
        "the right do not differ by Nemenyi's test at the 5 % level. A failure counts as last."
    )
    drawn = tuple(
        rank_figures.rank_figure(track, metric, styles=styles)
        for metric in track.ranks
        if metric != "ari"
    )
    return Gallery("Average ranks", caption, drawn, wide=True)


def survival_section(summary: BenchSummary, styles: dict[str, Style]) -> Section | None:
    """Show what survives a control with the same budget."""
    if not summary.survival:
        return None
    names = [fact.name for fact in summary.methods if not fact.control]
    numbers = {entry.budget.supports for entry in summary.survival}
    number = f"{min(numbers)}" if len(numbers) == 1 else f"{min(numbers)} to {max(numbers)}"
    enough = (
        "as many as the largest search or more"
        if all(entry.enough for entry in summary.survival)
        else "on some of them fewer than the largest search, whose bar is therefore too low"
    )
    paragraphs = (
        f"The random control has {number} random selections on a data set, {enough}. A search with "
        "labels over few selections finds less by chance than one over many: every method is "
        "therefore compared with the expected best of as many random selections as it had itself. "
        "A method that does not exceed that has shown nothing on that data set that chance and a "
        "search with labels would not have shown; it may still be fast, small or stable.",
        "The second comparison is with the best of all random selections. It is hard on methods "
        "with small grids (see the search budget above), and says what the labels alone can do.",
    )
    gallery = Gallery(
        "Oracle ACC minus that of random selections with the same budget",
        "On the line or left of it: no better than chance with the same search.",
        (rank_figures.margin_figure(summary, styles=styles),),
        key_images(styles, names),
        wide=True,
    )
    largest = control_tables.margin_table(summary, largest=True)
    return Section(
        "survival",
        "What survives: the oracle against chance",
        paragraphs,
        (
            gallery,
            control_tables.margin_table(summary),
            control_tables.survival_table(summary),
            Details("The second comparison in points of ACC", (largest,)),
        ),
    )


def planted_section(summary: BenchSummary, styles: dict[str, Style]) -> Section | None:
    """Show whether planted features were found."""
    blocks = tuple(
        control_tables.planted_table(summary, track) for track in summary.tracks if track.planted
    )
    if not blocks:
        return None
    paragraph = (
        "Some tables were made with known informative features. Precision is the share of the "
        "selection that was planted, recall the share of the informative features that was "
        "selected. A selection smaller than what was planted cannot have full recall."
    )
    return Section("planted", "Was the truth found?", (paragraph,), blocks)


def _paper_notes(summary: BenchSummary) -> list[str]:
    """Say what is to be known about the paper's numbers."""
    notes = [
        "“Published” are the numbers that the paper prints, from the authors' implementations; "
        "they are not ours, and the row of JASFS belongs to the published algorithm. "
        + _searches(summary)
    ]
    for metric, first, second, names in load_published().repeated_rows():
        notes.append(
            f"In the paper's table of {METRIC_WORDS[metric]} the rows of {first} and {second} are "
            f"equal, mean and deviation, on {and_list(names)}; they are shown as printed."
        )
    return notes


def _searches(summary: BenchSummary) -> str:
    """Compare what was searched here with what the paper searched."""
    real = {fact.name: fact for fact in summary.methods if not fact.control}
    budgets = {key: b for key, b in summary.budgets.items() if key[1] in real}
    if not budgets:
        return ""
    jasfs = {b.points for key, b in budgets.items() if real[key[1]].published == "JASFS"}
    others = {b.points for key, b in budgets.items() if real[key[1]].published != "JASFS"}
    parts = []
    if jasfs:
        named = next(fact.name for fact in real.values() if fact.published == "JASFS")
        parts.append(f"{max(jasfs)} grid points for {named}")
    if others:
        most = max(others)
        words = f"{most} for any other method" if jasfs else f"{most} grid points for a method"
        parts.append(f"at most {words}")
    counts = max(round(b.supports / b.rankings) for b in budgets.values())
    tail = f", each at up to {counts} numbers of features" if counts > 1 else ""
    return (
        f"The paper searches seven values of every weight ({JASFS_POINTS} points for JASFS, 343 "
        "for a method with three weights) at eight numbers of features; here there are "
        f"{' and '.join(parts)}{tail}. A smaller search finds a lower best."
    )


def and_list(names: Sequence[str]) -> str:
    """Join names as a sentence does."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last

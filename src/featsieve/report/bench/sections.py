"""The sections of a benchmark report: the tracks, the controls, and the figures of the paper."""

from collections.abc import Sequence
from typing import Any

from featsieve.report.bench import figures, tables
from featsieve.report.bench.figures import Styles, key_images
from featsieve.report.bench.published import JASFS_POINTS
from featsieve.report.bench.scores import METRICS, by_method, finished
from featsieve.report.bench.summary import BenchSummary, Track
from featsieve.report.page import Block, Gallery, Section

TRACK_TITLES = {
    "default": "Default track: the constructor's defaults",
    "label-free": "Label-free track: tuned without labels",
    "oracle": "Oracle track: best of the grid by labels",
}
TRACK_MEANING = {
    "default": "Every method with its constructor's defaults, at 10 % of the columns unless the "
    "method decides the number itself; only the number of clusters is given. Nothing was tuned: "
    "this is what a user gets who calls fit and looks no further.",
    "label-free": "From the same grid as the oracle, parameters and number of features are chosen "
    "by the modularity of k-means clusters of the selected columns on the neighbour graph of the "
    "whole table (the view of that graph comes from the pseudo-labels with which JASFS would "
    "start): the fewest features within 0.01 of the best value. No class is looked at, but "
    "k-means is given the true number of classes; another criterion may choose better or worse.",
    "oracle": "The best grid point and number of features, picked with the true classes: for the "
    "tables of ACC by ACC, for those of NMI by NMI, as papers do. Nobody with unlabelled data can "
    "do this, and the more a search tries the higher its best by chance alone: compare with the "
    "random control, whose best was picked in the same way.",
}
PAPER_NOTES = (
    "“Published” are the numbers that the paper prints, from the authors' implementations; they "
    "are not ours, and the row of JASFS belongs to the published algorithm. The paper searches "
    f"seven values of every weight ({JASFS_POINTS} points for JASFS, 343 for a method with three "
    "weights) at eight numbers of features; what was searched here is in the table of search "
    "budgets. A smaller search finds a lower best.",
    "In the paper's table of NMI the rows of UDFS and RUFS are equal, mean and deviation, on "
    "jaffe, lung, nci and ORL; they are shown as printed.",
)
# Column -> how it is shown in the tracks without labels.
EXTRA_TABLES: dict[str, dict[str, Any]] = {
    "acc_practical": {
        "caption": "ACC (%) of the best of 20 k-means++ starts (practical protocol)",
    },
    "acc_own": {"caption": "ACC (%) of the selector's own labels"},
    "redundancy": {
        "caption": "Redundancy: mean absolute correlation of pairs of selected columns. Lowest in "
        "bold.",
        "scale": 1.0,
        "digits": 3,
        "lowest": True,
        "note": "It depends on the number of features: see the table of these.",
    },
}


def track_section(summary: BenchSummary, styles: Styles, *, track: Track) -> Section:
    """Show one track: tables, ranks, and what else belongs to it."""
    oracle = track.name == "oracle"
    paper = oracle and any(
        fact.published and data.published for fact in summary.methods for data in summary.datasets
    )
    beside = ": ours, and with it the published number" if paper else ""
    blocks: list[Block] = []
    for metric in ("acc", "nmi"):
        caption = f"{METRICS[metric]} (%), {track.name} track{beside}. Best in bold."
        blocks.append(tables.score_table(summary, track, metric, caption=caption))
    caption = f"Number of features behind the ACC above{beside}"
    blocks.append(tables.count_table(summary, track, caption=caption))
    if track.ranks:
        caption = (
            "Dots: average ranks; bands: 95 % intervals over data sets. Methods joined by a bar on "
            "the right do not differ by Nemenyi's test at the 5 % level. A failure counts as last."
        )
        drawn = [figures.rank_figure(track, metric, styles=styles) for metric in track.ranks]
        blocks.append(Gallery("Average ranks", caption, tuple(drawn), wide=True))
    blocks += [
        tables.value_table(summary, track.extras[column], **how)
        for column, how in EXTRA_TABLES.items()
        if column in track.extras
    ]
    if oracle:
        blocks.append(tables.budget_table(summary))
    paragraphs = [TRACK_MEANING[track.name], *(PAPER_NOTES if paper else ())]
    if oracle and summary.progress.unfinished:
        words = summary.progress.unfinished_words()
        paragraphs.append(f"Left out, because their grids are not complete: {words}.")
    if track.unranked:
        names = and_list(track.unranked)
        paragraphs.append(f"Not ranked, because not run (to the end) on all data sets: {names}.")
    return Section(track.name, TRACK_TITLES[track.name], tuple(paragraphs), tuple(blocks))


def survival_section(summary: BenchSummary) -> Section | None:
    """Show what survives a control with the same budget."""
    if not summary.survival:
        return None
    number = tables.span({entry.n_random for entry in summary.survival})
    enough = (
        "as many as the largest search or more"
        if all(entry.enough for entry in summary.survival)
        else "on some of them fewer than the largest search, whose bar is therefore too low"
    )
    paragraph = (
        f"The random control has {number} random selections on a data set, {enough}. A search with "
        "labels over few selections finds less by chance than one over many: every method is "
        "therefore compared with the expected best of as many random selections as it had itself. "
        "A method that does not exceed that has shown nothing on that data set that chance and a "
        "search with labels would not have shown; it may still be fast, small or stable."
    )
    title = "What survives: the oracle against chance"
    return Section("survival", title, (paragraph,), (tables.margin_table(summary),))


def planted_section(summary: BenchSummary) -> Section | None:
    """Show whether planted features were found."""
    blocks = [tables.planted_table(summary, track) for track in summary.tracks if track.planted]
    if not blocks:
        return None
    paragraph = (
        "Some tables were made with known informative features. Precision is the share of the "
        "selection that was planted, recall the share of the informative features that was "
        "selected. A selection smaller than what was planted cannot have full recall."
    )
    return Section("planted", "Was the truth found?", (paragraph,), tuple(blocks))


def curve_section(summary: BenchSummary, styles: Styles) -> Section | None:
    """Show scores against the number of features."""
    rows = finished(summary.of("curve"))
    if not len(rows):
        return None
    order = [fact.name for fact in summary.methods if fact.name in set(rows["method"])]
    key = key_images(styles, order)
    blocks = []
    for metric in ("acc", "nmi"):
        drawn = []
        for name, own in _by_dataset(summary, rows):
            curves = 100 * own.pivot_table(f"{metric}_mean", "n_features", "method")
            drawn.append(figures.curve_figure(curves, metric, dataset=name, styles=styles))
        caption = "Higher and further left is better. Dashed and grey: controls."
        title = f"{METRICS[metric]} against the number of features"
        blocks.append(Gallery(title, caption, tuple(drawn), key))
    paragraph = (
        "As in the paper, every method at the grid point that is best by ACC. The labels were "
        "used for that, so these curves belong to the oracle track."
    )
    title = "ACC and NMI against the number of features"
    return Section("curves", title, (paragraph,), tuple(blocks))


def time_section(summary: BenchSummary) -> Section | None:
    """Show running times: of several seeds the median."""
    timed = summary.of("time")
    if not len(timed):
        return None
    seconds = by_method(timed)["fit_seconds"].median().dropna().to_dict()
    caption = "Seconds of one whole fit. Fastest in bold."
    table = tables.value_table(summary, seconds, caption=caption, scale=1.0, digits=3, lowest=True)
    jobs = max(timed["jobs"])
    alone = (
        "Every cell of this section ran alone."
        if jobs == 1
        else f"Up to {jobs} cells ran at the same time: alone they would take less."
    )
    paragraph = (
        "At most 20 iterations, tolerance 1e-5, as in the paper. Initial labels and graphs count "
        f"towards the whole fit. {alone} Times are of the machine named at the end of this page."
    )
    return Section("time", "Running time", (paragraph,), (table,))


def and_list(names: Sequence[str]) -> str:
    """Join names as a sentence does."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def _by_dataset(summary: BenchSummary, rows: Any) -> list[tuple[str, Any]]:
    """Group rows by data set, in the order of the report; methods in theirs."""
    order = {fact.name: place for place, fact in enumerate(summary.methods)}
    ordered = rows.sort_values("method", key=lambda names: names.map(order), kind="stable")
    groups = dict(list(ordered.groupby("dataset")))
    return [(fact.name, groups[fact.name]) for fact in summary.datasets if fact.name in groups]

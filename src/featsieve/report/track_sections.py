"""Sections of a benchmark report about the tracks and the controls."""

# ruff: noqa: RUF001 - mathematical signs are meant

from collections.abc import Sequence

from featsieve.report import bench_tables, control_tables, rank_figures
from featsieve.report.bench_figures import key_images
from featsieve.report.bench_summary import BenchSummary, Track
from featsieve.report.figure_style import METRIC_WORDS, Style
from featsieve.report.page import Block, Details, Gallery, Section, Table
from featsieve.report.published import load_published

TRACK_TITLES = {
    "default": "Default track: the constructor's defaults",
    "label-free": "Label-free track: tuned without labels",
    "oracle": "Oracle track: best of the grid by labels",
}
TRACK_MEANING = {
    "default": (
        "Every method with its constructor's defaults, at the number of features that it selects "
        "by itself; only the number of clusters is given.",
        "Nothing was tuned: this is what a user gets who calls fit and looks no further.",
    ),
    "label-free": (
        "From the same grid as the oracle, parameters and number of features are chosen by a "
        "criterion that never sees the classes.",
        "This is the best that a user without labels can get from each method by searching.",
    ),
    "oracle": (
        "The best grid point and number of features, picked with the true classes: for the tables "
        "of ACC by ACC, for those of NMI by NMI, as papers do.",
        "Nobody with unlabelled data can do this, and the more a search tries the higher its best "
        "by chance alone: compare with the random control, which was allowed the same.",
    ),
}
EXTRA_CAPTIONS = {
    "acc_practical": "ACC (%) of the best of 20 k-means++ starts (practical protocol)",
    "nmi_practical": "NMI (%) of the best of 20 k-means++ starts (practical protocol)",
    "acc_own": "ACC (%) of the selector's own labels",
    "nmi_own": "NMI (%) of the selector's own labels",
}


def track_section(summary: BenchSummary, styles: dict[str, Style], *, track: Track) -> Section:
    """Show one track: tables, ranks, and what else belongs to it."""
    paper = track.name == "oracle" and any(
        fact.published and data.published for fact in summary.methods for data in summary.datasets
    )
    beside = ": ours, below in italics the published number" if paper else ""
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
    if track.name == "oracle":
        blocks.append(control_tables.budget_table(summary))
    blocks.append(
        Details("More of this track: ARI, intervals, parameters", tuple(_more(summary, track)))
    )
    paragraphs = [" ".join(TRACK_MEANING[track.name])]
    if paper:
        paragraphs += _paper_notes()
    if track.unranked:
        names = and_list(track.unranked)
        paragraphs.append(f"Not ranked, because not run on all data sets: {names}.")
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


def _ranks(track: Track, styles: dict[str, Style]) -> Gallery:
    """Rank plots of a track."""
    sentences = []
    for metric, ranks in track.ranks.items():
        if metric == "ari":
            continue
        sentences.append(
            f"{METRIC_WORDS[metric]}: Friedman χ² = {ranks.friedman:.1f} "
            f"(p = {ranks.friedman_p:.2g}), Iman-Davenport p = {ranks.iman_davenport_p:.2g}."
        )
    caption = (
        "Dots: average ranks; bands: 95 % intervals over data sets. Methods joined by a bar on "
        "the right do not differ by Nemenyi's test at the 5 % level. A failure counts as last. "
        + " ".join(sentences)
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
    allowed = {entry.budget.rankings for entry in summary.survival}
    number = f"{min(allowed)}" if len(allowed) == 1 else f"{min(allowed)} to {max(allowed)}"
    paragraph = (
        f"The random control draws {number} random rankings, and its best is picked by labels "
        "exactly as that of every method is. A method that does not exceed it has shown nothing "
        "on that data set that chance and a search with labels would not have shown. It is allowed "
        "as much as the largest grid; methods with smaller grids were allowed less (see the search "
        "budget above), and a method at or below the line may still be fast, small or stable."
    )
    gallery = Gallery(
        "Oracle ACC minus that of the random control",
        "On the line or left of it: no better than chance with the same search.",
        (rank_figures.margin_figure(summary, styles=styles),),
        key_images(styles, names),
        wide=True,
    )
    return Section(
        "survival",
        "What survives: the oracle against chance",
        (paragraph,),
        (gallery, control_tables.margin_table(summary), control_tables.survival_table(summary)),
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


def _paper_notes() -> list[str]:
    """Say what is to be known about the paper's numbers."""
    notes = [
        "“Published” are the numbers that the paper prints for the same protocol, from the "
        "authors' implementations; they are not ours, and the row of JASFS belongs to the "
        "published algorithm."
    ]
    for metric, first, second, names in load_published().repeated_rows():
        notes.append(
            f"In the paper's table of {METRIC_WORDS[metric]} the rows of {first} and {second} are "
            f"equal, mean and deviation, on {and_list(names)}; they are shown as printed."
        )
    return notes


def and_list(names: Sequence[str]) -> str:
    """Join names as a sentence does."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last

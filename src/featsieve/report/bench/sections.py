"""The sections of a benchmark report: the tracks, the controls, and the figures of the paper."""

# ruff: noqa: RUF001 - mathematical signs are meant

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from featsieve.report.bench import figures, tables
from featsieve.report.bench.figures import Styles, key_images
from featsieve.report.bench.published import JASFS_POINTS
from featsieve.report.bench.scores import as_array, by_method, finished
from featsieve.report.bench.summary import BenchSummary, Track
from featsieve.report.bench.surfaces import surfaces
from featsieve.report.figure_style import METRIC_WORDS
from featsieve.report.page import Block, Details, Gallery, PageTable, Section

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
EXTRA_CAPTIONS = {
    "practical": "{} (%) of the best of 20 k-means++ starts (practical protocol)",
    "own": "{} (%) of the selector's own labels",
}
# The data sets of the paper's figures; those of the others are folded away.
OBJECTIVE_DATASETS = ("breast3", "lung")
SENSITIVITY_DATASETS = ("nci", "ORL")
# Caption, column, digits, lowest value that is one, note.
TIME_TABLES = (
    ("Seconds of one whole fit. Fastest in bold.", "fit_seconds", 3, 0, ""),
    ("Iterations", "n_iter", 0, 1, ""),
    (
        "Growth of memory during a fit, at its peak (MiB)",
        "peak_mib",
        1,
        0,
        "Beyond what the process held when the fit began: memory that was free in it already does "
        "not count, so small values mean little.",
    ),
)


def track_section(summary: BenchSummary, styles: Styles, *, track: Track) -> Section:
    """Show one track: tables, ranks, and what else belongs to it."""
    oracle = track.name == "oracle"
    paper = oracle and any(
        fact.published and data.published for fact in summary.methods for data in summary.datasets
    )
    beside = ": ours, and with it the published number" if paper else ""

    def extra(metric: str) -> list[PageTable]:
        return [
            tables.value_table(summary, values, caption=caption.format(METRIC_WORDS[metric]))
            for column, caption in EXTRA_CAPTIONS.items()
            if (values := track.extras.get(f"{metric}_{column}"))
        ]

    blocks: list[Block] = []
    for metric in ("acc", "nmi"):
        caption = f"{METRIC_WORDS[metric]} (%), {track.name} track{beside}. Best in bold."
        blocks.append(tables.score_table(summary, track, metric, caption=caption))
    caption = f"Number of features behind the ACC above{beside}"
    blocks.append(tables.count_table(summary, track, caption=caption))
    if track.ranks:
        blocks.append(_ranks(track, styles))
    blocks += extra("acc")
    if track.extras.get("redundancy"):
        caption = (
            "Redundancy: mean absolute correlation of pairs of selected columns. Lowest in bold."
        )
        note = "It depends on the number of features: see the table of these."
        how: Any = {"scale": 1.0, "digits": 3, "lowest": True, "note": note}
        values = track.extras["redundancy"]
        blocks.append(tables.value_table(summary, values, caption=caption, **how))
    if oracle:
        blocks.append(tables.budget_table(summary))
    more: list[PageTable | None] = []
    if track.scores["ari"]:
        caption = f"ARI (× 100), {track.name} track. Best in bold."
        more.append(tables.score_table(summary, track, "ari", caption=caption))
    more += [tables.interval_table(summary, track, metric) for metric in ("acc", "nmi")]
    more += [*extra("nmi"), tables.params_table(summary, track)]
    kept = tuple(table for table in more if table is not None)
    blocks.append(Details("More of this track: ARI, intervals, parameters", kept))

    paragraphs = [TRACK_MEANING[track.name], *(PAPER_NOTES if paper else ())]
    if oracle and summary.progress.unfinished:
        words = summary.progress.unfinished_words()
        paragraphs.append(f"Left out, because their grids are not complete: {words}.")
    if track.unranked:
        names = and_list(track.unranked)
        paragraphs.append(f"Not ranked, because not run (to the end) on all data sets: {names}.")
    return Section(track.name, TRACK_TITLES[track.name], tuple(paragraphs), tuple(blocks))


def _ranks(track: Track, styles: Styles) -> Gallery:
    """Rank plots of a track."""
    caption = (
        "Dots: average ranks; bands: 95 % intervals over data sets. Methods joined by a bar on "
        "the right do not differ by Nemenyi's test at the 5 % level. A failure counts as last."
    )
    drawn = [figures.rank_figure(track, m, styles=styles) for m in track.ranks if m != "ari"]
    return Gallery("Average ranks", caption, tuple(drawn), wide=True)


def survival_section(summary: BenchSummary, styles: Styles) -> Section | None:
    """Show what survives a control with the same budget."""
    if not summary.survival:
        return None
    number = tables.span({entry.budget.supports for entry in summary.survival})
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
        (figures.margin_figure(summary, styles=styles),),
        key_images(styles, [fact.name for fact in summary.methods if not fact.control]),
        wide=True,
    )
    blocks = (gallery, tables.margin_table(summary), tables.survival_table(summary))
    return Section("survival", "What survives: the oracle against chance", paragraphs, blocks)


def planted_section(summary: BenchSummary, styles: Styles) -> Section | None:
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
    blocks: list[Block] = []
    numbers = []
    for metric in ("acc", "nmi"):
        word, drawn = METRIC_WORDS[metric], []
        for name, own in _by_dataset(summary, rows):
            curves = 100 * own.pivot_table(
                index="n_features", columns="method", values=f"{metric}_mean"
            )
            curves = curves[[method for method in order if method in curves]]
            drawn.append(figures.curve_figure(curves, metric, dataset=name, styles=styles))
            caption = f"{word} (%) on {name} by number of features"
            numbers.append(tables.curve_table(summary, curves, caption=caption))
        caption = "Higher and further left is better. Dashed and grey: controls."
        title = f"{word} against the number of features"
        blocks.append(Gallery(title, caption, tuple(drawn), key_images(styles, order)))
    blocks.append(Details("The numbers behind these figures", tuple(numbers)))
    paragraph = (
        "As in the paper, every method at the grid point that is best by ACC. The labels were "
        "used for that, so these curves belong to the oracle track."
    )
    title = "ACC and NMI against the number of features"
    return Section("curves", title, (paragraph,), tuple(blocks))


def timings(summary: BenchSummary) -> Any:
    """Return one timed fit per data set and method; of several seeds the median."""
    rows = summary.of("time").sort_values("fit_seconds", kind="stable")
    groups = by_method(rows)
    return rows[groups.cumcount() == (groups["seed"].transform("size") - 1) // 2]


def time_section(summary: BenchSummary, styles: Styles) -> Section | None:
    """Show running times, iterations and memory."""
    timed = timings(summary)
    if not len(timed):
        return None
    controls = [fact.name for fact in summary.methods if fact.control]
    iterated = np.array([len(as_array(steps)) > 0 for steps in timed["iteration_seconds"]])
    followed = timed[iterated & ~timed["method"].isin(controls)]
    blocks: list[Block] = []
    if len(followed):
        drawn = [
            figures.time_figure(own, dataset=name, styles=styles)
            for name, own in _by_dataset(summary, followed)
        ]
        caption = "Logarithmic. A line that ends early has converged; lower and shorter is better."
        used = [fact.name for fact in summary.methods if fact.name in set(followed["method"])]
        title = "Seconds so far against the iteration"
        blocks.append(Gallery(title, caption, tuple(drawn), key_images(styles, used)))
    numbers = []
    for caption, column, digits, lowest, note in TIME_TABLES:
        found = timed.set_index(["dataset", "method"])[column].astype(float)
        values = found[np.isfinite(found) & (found >= lowest)].to_dict()
        how: Any = {"scale": 1.0, "digits": digits, "lowest": True, "bold": column != "peak_mib"}
        if values:
            numbers.append(tables.value_table(summary, values, caption=caption, note=note, **how))
    blocks += numbers[:1]
    if numbers[1:]:
        blocks.append(Details("Iterations and memory", tuple(numbers[1:])))
    paragraph = (
        "At most 20 iterations, tolerance 1e-5, as in the paper. Initial labels and graphs count "
        f"towards the whole fit. {_company(set(timed['jobs']))} Times are of the machine named at "
        "the end of this page."
    )
    return Section("time", "Running time", (paragraph,), tuple(blocks))


def _company(jobs: set[int]) -> str:
    """Say what else ran while times were taken."""
    if jobs == {1}:
        return "Every cell of this section ran alone."
    return f"Up to {max(jobs)} cells ran at the same time: alone they would take less."


def objective_section(summary: BenchSummary, styles: Styles) -> Section | None:
    """Show objective curves of JASFS."""
    timed = timings(summary)
    has_curve = np.array([len(as_array(values)) > 0 for values in timed["objective"]], dtype=bool)
    own = timed[(timed["selector"] == "JASFS") & has_curve]
    if not len(own):
        return None

    def draw(name: str, group: Any) -> list[Gallery]:
        drawn = [figures.objective_figure(row, styles=styles) for row in group.itertuples()]
        return [Gallery(name, "", tuple(drawn))]

    paragraph = (
        "The objective of JASFS against the iteration. The two solvers write different "
        "objectives: compare shapes, not values."
    )
    blocks = _folded(_by_dataset(summary, own), OBJECTIVE_DATASETS, draw=draw)
    return Section("objective", "Objective curves", (paragraph,), blocks)


def sensitivity_section(summary: BenchSummary, styles: Styles) -> Section | None:
    """Show the sensitivity of JASFS to its weights."""
    found = surfaces(summary.rows)
    if not found:
        return None
    order = [fact.name for fact in summary.methods]

    def draw(name: str, group: Sequence[Any]) -> list[Gallery]:
        galleries = []
        for method in sorted({surface.method for surface in group}, key=order.index):
            mine = [surface for surface in group if surface.method == method]
            drawn = [figures.surface_figure(s, metric) for metric in ("acc", "nmi") for s in mine]
            inert = sorted({axis for surface in mine for axis in surface.inert})
            caption = (
                f"{' and '.join(inert)} have no effect in these fits: with tol = 0 all iterations "
                "are done, and the stopping rule that reads them is not asked."
                if inert
                else ""
            )
            galleries.append(Gallery(f"{name}: {method}", caption, tuple(drawn)))
        return galleries

    paragraph = (
        "Heat maps instead of the paper's bars in three dimensions. λ is the sparsity, α the "
        "weight of the graph, β that of its entropy; what is not on the axes is fixed where the "
        "paper fixes it (λ = 1e-3, α = 1, β = 1) if that was run, or at the best point. Colours "
        "span ten points at least, so that noise does not look like an effect."
    )
    groups = [
        (fact.name, own)
        for fact in summary.datasets
        if (own := [surface for surface in found if surface.dataset == fact.name])
    ]
    blocks = _folded(groups, SENSITIVITY_DATASETS, draw=draw)
    return Section("sensitivity", "Sensitivity of JASFS to its weights", (paragraph,), blocks)


def scatter_section(summary: BenchSummary, styles: Styles) -> Section | None:
    """Show samples over the three best features."""
    rows = summary.of("scatter").drop_duplicates(["dataset", "method"])
    drawn = [
        figures.cloud_figure(row)
        for _, own in _by_dataset(summary, rows)
        for row in own.itertuples()
    ]
    if not drawn:
        return None
    caption = "Classes that lie apart mean features that were well chosen."
    gallery = Gallery("Samples over the three features ranked first", caption, tuple(drawn))
    return Section("scatter", "The three most important features", (), (gallery,))


def _by_dataset(summary: BenchSummary, rows: Any) -> list[tuple[str, Any]]:
    """Group rows by data set, in the order of the report; methods in theirs."""
    order = {fact.name: place for place, fact in enumerate(summary.methods)}
    ordered = rows.sort_values("method", key=lambda names: names.map(order), kind="stable")
    groups = dict(list(ordered.groupby("dataset")))
    return [(fact.name, groups[fact.name]) for fact in summary.datasets if fact.name in groups]


def _folded(
    groups: list[tuple[str, Any]], first: tuple[str, ...], *, draw: Callable[..., list[Gallery]]
) -> tuple[Block, ...]:
    """Show the data sets of the paper's figure (or the first two), and fold the others away."""
    names = [name for name, _ in groups]
    shown = [name for name in first if name in names] or names[:2]
    opened = [block for name, group in groups if name in shown for block in draw(name, group)]
    folded = [Details(name, tuple(draw(name, own))) for name, own in groups if name not in shown]
    return (*opened, *folded)


def and_list(names: Sequence[str]) -> str:
    """Join names as a sentence does."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last

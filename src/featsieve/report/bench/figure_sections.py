"""Sections of a benchmark report that show the figures of the paper."""

# ruff: noqa: RUF001 - mathematical signs are meant

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from featsieve.report.bench import figures as bench_figures
from featsieve.report.bench import grid_figures
from featsieve.report.bench.summary import BenchSummary
from featsieve.report.bench.tables import MISSING, tag_of, value_table
from featsieve.report.figure_style import METRIC_WORDS, Style
from featsieve.report.page import Block, Details, Entry, Figure, Gallery, Row, Section, Table

# The data sets of the paper's figures; those of the others are folded away.
OBJECTIVE_DATASETS = ("breast3", "lung")
SENSITIVITY_DATASETS = ("nci", "ORL")
# Caption, attribute of a timing, digits, note.
TIME_TABLES = (
    ("Seconds of one whole fit. Fastest in bold.", "fit_seconds", 3, ""),
    ("Iterations", "n_iter", 0, ""),
    (
        "Growth of memory during a fit, at its peak (MiB)",
        "peak_mib",
        1,
        "Beyond what the process held when the fit began: memory that was free in it already does "
        "not count, so small values mean little.",
    ),
)


def curve_section(summary: BenchSummary, styles: dict[str, Style]) -> Section | None:
    """Show scores against the number of features."""
    if not summary.curves:
        return None
    groups = by_dataset(summary, summary.curves)
    key = _key(summary, styles, summary.curves)
    blocks: list[Block] = []
    for metric in ("acc", "nmi"):
        word = METRIC_WORDS[metric]
        drawn = tuple(bench_figures.curve_figure(own, metric, styles=styles) for own in groups)
        caption = "Higher and further left is better. Dashed and grey: controls."
        blocks.append(Gallery(f"{word} against the number of features", caption, drawn, key))
    numbers = tuple(_curve_table(summary, own, m) for m in ("acc", "nmi") for own in groups)
    blocks.append(Details("The numbers behind these figures", numbers))
    paragraph = (
        "As in the paper, every method at the grid point that is best by ACC. The labels were "
        "used for that, so these curves belong to the oracle track."
    )
    title = "ACC and NMI against the number of features"
    return Section("curves", title, (paragraph,), tuple(blocks))


def time_section(summary: BenchSummary, styles: dict[str, Style]) -> Section | None:
    """Show running times, iterations and memory."""
    if not summary.timings:
        return None
    controls = {fact.name for fact in summary.methods if fact.control}
    followed = [t for t in summary.timings if len(t.seconds) and t.method not in controls]
    blocks: list[Block] = []
    if followed:
        drawn = tuple(
            bench_figures.time_figure(own, styles=styles) for own in by_dataset(summary, followed)
        )
        caption = "Logarithmic. A line that ends early has converged; lower and shorter is better."
        key = _key(summary, styles, followed)
        blocks.append(Gallery("Seconds so far against the iteration", caption, drawn, key))
    numbers = [
        value_table(
            summary,
            values,
            caption=caption,
            scale=1.0,
            digits=digits,
            lowest=True,
            bold=name != "peak_mib",
            note=note,
        )
        for caption, name, digits, note in TIME_TABLES
        if (values := _timed(summary, name))
    ]
    blocks += numbers[:1]
    if numbers[1:]:
        blocks.append(Details("Iterations and memory", tuple(numbers[1:])))
    paragraph = (
        "At most 20 iterations, tolerance 1e-5, as in the paper. Initial labels and graphs count "
        f"towards the whole fit. {_company(summary)} Times are of the machine named at the end of "
        "this page."
    )
    return Section("time", "Running time", (paragraph,), tuple(blocks))


def objective_section(summary: BenchSummary, styles: dict[str, Style]) -> Section | None:
    """Show objective curves of JASFS."""
    own = [t for t in summary.timings if t.selector == "JASFS" and len(t.objective)]
    if not own:
        return None

    def draw(group: Sequence[Any]) -> list[Gallery]:
        drawn = tuple(bench_figures.objective_figure(timing, styles=styles) for timing in group)
        return [Gallery(group[0].dataset, "", drawn)]

    paragraph = (
        "The objective of JASFS against the iteration. The two solvers write different "
        "objectives: compare shapes, not values."
    )
    blocks = _folded(by_dataset(summary, own), OBJECTIVE_DATASETS, draw=draw)
    return Section("objective", "Objective curves", (paragraph,), blocks)


def sensitivity_section(summary: BenchSummary, styles: dict[str, Style]) -> Section | None:
    """Show the sensitivity of JASFS to its weights."""
    if not summary.surfaces:
        return None

    def draw(group: Sequence[Any]) -> list[Gallery]:
        galleries = []
        for method in dict.fromkeys(surface.method for surface in group):
            mine = [surface for surface in group if surface.method == method]
            drawn: tuple[Figure, ...] = tuple(
                grid_figures.surface_figure(surface, metric)
                for metric in ("acc", "nmi")
                for surface in mine
            )
            inert = sorted({name for surface in mine for name in surface.inert})
            caption = (
                f"{' and '.join(inert)} have no effect in these fits: with tol = 0 all iterations "
                "are done, and the stopping rule that reads them is not asked."
                if inert
                else ""
            )
            galleries.append(Gallery(f"{group[0].dataset}: {method}", caption, drawn))
        return galleries

    paragraph = (
        "Heat maps instead of the paper's bars in three dimensions. λ is the sparsity, α the "
        "weight of the graph, β that of its entropy; what is not on the axes is fixed where the "
        "paper fixes it (λ = 1e-3, α = 1, β = 1) if that was run, or at the best point. Colours "
        "span ten points at least, so that noise does not look like an effect."
    )
    blocks = _folded(by_dataset(summary, summary.surfaces), SENSITIVITY_DATASETS, draw=draw)
    return Section("sensitivity", "Sensitivity of JASFS to its weights", (paragraph,), blocks)


def scatter_section(summary: BenchSummary, styles: dict[str, Style]) -> Section | None:
    """Show samples over the three best features."""
    if not summary.clouds:
        return None
    drawn = tuple(
        grid_figures.cloud_figure(cloud)
        for own in by_dataset(summary, summary.clouds)
        for cloud in own
    )
    caption = "Classes that lie apart mean features that were well chosen."
    gallery = Gallery("Samples over the three features ranked first", caption, drawn)
    return Section("scatter", "The three most important features", (), (gallery,))


def _timed(summary: BenchSummary, name: str) -> dict[tuple[str, str], float]:
    """Collect a number of every timed fit; no iterations are none, but no memory is a number."""
    values = {(t.dataset, t.method): float(getattr(t, name)) for t in summary.timings}
    lowest = 1.0 if name == "n_iter" else 0.0
    return {key: v for key, v in values.items() if np.isfinite(v) and v >= lowest}


def _company(summary: BenchSummary) -> str:
    """Say what else ran while times were taken."""
    jobs = {timing.jobs for timing in summary.timings}
    if jobs == {1}:
        return "Every cell of this section ran alone."
    if 0 in jobs:
        return "How many cells ran at the same time is not recorded for all of them."
    most = max(jobs) - 1
    beside = f"{most} other cell{'s' if most > 1 else ''}"
    if 1 in jobs:
        return f"Some cells ran alone, others beside up to {beside}: do not compare their times."
    return f"Beside each cell up to {beside} ran on the same machine: alone it would take less."


def by_dataset(summary: BenchSummary, series: Sequence[Any]) -> list[list[Any]]:
    """Group series by data set, in the order of the report; methods in theirs."""
    order = {fact.name: place for place, fact in enumerate(summary.methods)}
    grouped = [
        sorted((s for s in series if s.dataset == fact.name), key=lambda s: order[s.method])
        for fact in summary.datasets
    ]
    return [group for group in grouped if group]


def _folded(
    groups: list[list[Any]],
    first: tuple[str, ...],
    *,
    draw: Callable[[Sequence[Any]], list[Gallery]],
) -> tuple[Block, ...]:
    """Show the data sets of the paper's figure (or the first two), and fold the others away."""
    names = [group[0].dataset for group in groups]
    shown = [name for name in first if name in names] or names[:2]
    opened = [block for group in groups if group[0].dataset in shown for block in draw(group)]
    folded = [
        Details(group[0].dataset, tuple(draw(group)))
        for group in groups
        if group[0].dataset not in shown
    ]
    return (*opened, *folded)


def _key(
    summary: BenchSummary, styles: dict[str, Style], series: Sequence[Any]
) -> tuple[tuple[str, str], ...]:
    """Draw the key of what is in the figures."""
    used = {item.method for item in series}
    names = [fact.name for fact in summary.methods if fact.name in used]
    return bench_figures.key_images(styles, names)


def _curve_table(summary: BenchSummary, own: Sequence[Any], metric: str) -> Table:
    """Write the curves of one data set in numbers."""
    counts = sorted({int(count) for curve in own for count in curve.counts})
    lines = {
        curve.method: {
            int(count): round(100 * float(value), 2)
            for count, value in zip(curve.counts, getattr(curve, metric), strict=True)
        }
        for curve in own
    }
    best = {c: max(line[c] for line in lines.values() if c in line) for c in counts}
    rows = tuple(
        Row(
            fact.name,
            tuple(
                Entry(f"{line[c]:.2f}", best=line[c] == best[c]) if c in line else MISSING
                for c in counts
            ),
            tag_of(fact),
        )
        for fact in summary.methods
        if (line := lines.get(fact.name)) is not None
    )
    caption = f"{METRIC_WORDS[metric]} (%) on {own[0].dataset} by number of features"
    return Table(caption, ("Method", *map(str, counts)), rows)

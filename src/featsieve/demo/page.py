"""The demo as a page: what was found in the tables, and the pixels."""

import numpy as np

from featsieve import __version__, defaults
from featsieve.demo.digits import Digits
from featsieve.demo.planted import (
    METHODS,
    N_CLUSTERS,
    N_FEATURES,
    N_SAMPLES,
    AutomaticRow,
    FoundRow,
)
from featsieve.report.figure_style import drawing, new_figure, to_svg
from featsieve.report.page import Code, Entry, Figure, Gallery, Links, Page, Row, Section, Table

TITLE = "featsieve demo"
FIRST_REPORTS = (
    ("The planted table: the report of its selection", "planted.html"),
    ("The digits: the report of their selection", "digits.html"),
)


PLANTED = (
    "Every column is standard normal noise; the planted ones have cluster means of standard "
    "deviation 2. As many columns are selected as are planted. Labels are used to judge, never to "
    "select. In the second half (units) every column has a unit of its own, between 1/1000 and "
    "1000. Published is the authors' algorithm, variance takes the columns of the largest variance."
)
NOTHING = (
    'JASFS(n_clusters="auto") finds both numbers. The structure score compares its clusters with '
    f"those of permuted columns; below {defaults.NOISE_SCORE} there is nothing to select for, "
    "and it warns. As good are other numbers of columns. The number of clusters is right within a "
    "factor of about two."
)
DIGITS = (
    "Pixels are selected without the digits' names, which judge only. A few pixels keep part of "
    "what k-means sees in all of them, and need not make it better; JASFS's own clusters are those "
    "that it selects the pixels for."
)


def demo_page(found: list[FoundRow], automatic: list[AutomaticRow], digits: Digits) -> Page:
    """Return the page of the demo."""
    shape = f"{N_SAMPLES} samples, {N_FEATURES} columns, {N_CLUSTERS} clusters"
    planted = Section("planted", f"Planted clusters: {shape}", (PLANTED,), (found_table(found),))
    nothing = Section(
        "nothing-given",
        "Nothing given: how many clusters, how many columns, is there anything",
        (NOTHING,),
        (automatic_table(automatic),),
    )
    count = f"JASFS chose {digits.sieve.n_features_selected_} of {digits.X.shape[1]} pixels."
    pixels = Section(
        "digits",
        f"Digits: {len(digits.X)} images of 8 x 8 pixels",
        (count, DIGITS),
        (Gallery("Pixels", "", (pixel_figure(digits),)), clustering_table(digits)),
    )
    reports = Section(
        "reports",
        "The interactive reports",
        ("They open without network. Sort, search, hover.",),
        (Links(FIRST_REPORTS),),
    )
    own = Section(
        "own",
        "Your own table",
        ("Rows are samples; csv, tsv, parquet, npz, mat or h5ad.",),
        (Code("featsieve inspect my.csv\nfeatsieve select my.csv -o my-selection"),),
    )
    facts = ("no labels used to select", "embedded data", f"featsieve {__version__}")
    return Page(TITLE, facts, (reports, planted, nothing, pixels, own))


def found_table(rows: list[FoundRow]) -> Table:
    """Return how many informative columns each method found."""
    return Table(
        "Planted columns found, and accuracy of k-means before and after",
        ("table", "planted", *METHODS, "ACC before", "ACC after"),
        tuple(Row(row.table, _found_entries(row)) for row in rows),
    )


def _found_entries(row: FoundRow) -> tuple[Entry, ...]:
    """Return the cells of one table, the best method in bold."""
    most = max(row.found.values())
    found = [Entry(str(row.found[method]), best=row.found[method] == most) for method in METHODS]
    accuracies = (Entry(f"{row.before:.2f}"), Entry(f"{row.after:.2f}"))
    return (Entry(str(row.informative)), *found, *accuracies)


def automatic_table(rows: list[AutomaticRow]) -> Table:
    """Return what was found with nothing given."""
    head = ("table", "true clusters", "found", "columns", "planted", "as good")
    body = []
    for row in rows:
        noise = row.true_clusters is None
        low, high = row.equivalent_range
        verdict = "" if row.structure >= defaults.NOISE_SCORE else "nothing there"
        cells = (
            Entry("none" if noise else str(row.true_clusters)),
            Entry(str(row.clusters)),
            Entry(str(row.features)),
            Entry("-" if noise else str(row.informative), missing=noise),
            Entry(f"{low} to {high}"),
            Entry(f"{row.structure:.2f}", note=verdict),
        )
        body.append(Row(row.table, cells))
    return Table("Found by itself", (*head, "structure"), tuple(body))


def clustering_table(digits: Digits) -> Table:
    """Return how well clusterings agree with the digits."""
    rows = tuple(
        Row(
            row.name,
            (Entry(str(row.features)), Entry(f"{row.accuracy:.2f}"), Entry(f"{row.nmi:.2f}")),
        )
        for row in digits.clusterings
    )
    return Table("Agreement with the digits", ("clustering", "pixels", "ACC", "NMI"), rows)


def pixel_figure(digits: Digits) -> Figure:
    """Draw the mean image, and the ranks of the selected pixels."""
    ranks = digits.ranks
    with drawing():
        figure = new_figure(7.0, 3.4)
        mean, mask = figure.subplots(1, 2)
        mean.imshow(digits.X.mean(axis=0).reshape(ranks.shape), cmap="cividis")
        mean.set_title("mean of all images")
        mask.imshow(np.where(ranks > 0, ranks, np.nan), cmap="cividis_r")
        for (i, j), rank in np.ndenumerate(ranks):
            if rank:
                dark = rank > 0.6 * ranks.max()
                color = "#ffffff" if dark else "#111111"
                mask.text(j, i, str(rank), ha="center", va="center", fontsize=8, color=color)
        mask.set_title("ranks of the selected pixels")
        for axes in (mean, mask):
            axes.grid(visible=False)
            axes.set_xticks([])
            axes.set_yticks([])
        svg = to_svg(figure)
    return Figure("Selected pixels of the digits", "1 is the best; empty pixels are left out.", svg)

"""The main job on embedded data: ``featsieve demo``, ``make demo``.

Tables with known truth: planted clusters (which columns were planted?), noise (is it told from
signal?), and scikit-learn's digits (which pixels, and do the clusters match the digits?). Labels
are used to judge only.
"""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from featsieve import __version__, defaults
from featsieve.datasets import Dataset
from featsieve.demo.tables import (
    N_CLUSTERS,
    N_FEATURES,
    N_SAMPLES,
    automatic_table,
    digits_table,
    found_table,
    planted_table,
)
from featsieve.io.files import write_text
from featsieve.io.results import check_results, result_folder
from featsieve.report import render_selection
from featsieve.report.page import (
    Code,
    Links,
    Page,
    PageTable,
    Section,
    render_html,
    render_markdown,
)
from featsieve.workflow import select_features
from featsieve.workflow.summary import summarize

__all__ = ["run_demo"]

TITLE = "featsieve demo"
FILES = ("report.html", "report.md", "planted.html", "digits.html")
PLANTED = (
    "Every column is standard normal noise; the planted ones have cluster means of standard "
    "deviation 2. As many columns are selected as are planted. Labels are used to judge, never to "
    "select. In the second half (units) every column has a unit of its own, between 1/1000 and "
    "1000. Published is the authors' algorithm, variance takes the columns of the largest variance."
)
NOTHING = (
    'JASFS(n_clusters="auto") finds both numbers. The structure score compares its clusters with '
    f"those of permuted columns; below {defaults.NOISE_SCORE} there is nothing to select for, and "
    "it warns. As good are other numbers of columns. The number of clusters is right within a "
    "factor of about two."
)
DIGITS = (
    "Pixels are selected without the digits' names, which judge only. A few pixels keep part of "
    "what k-means sees in all of them, and need not make it better; JASFS's own clusters are those "
    "that it selects the pixels for."
)
SHADES = "█▓▒░"  # of a pixel, from the first rank to the last


def run_demo(folder: Path, *, console: Any, overwrite: bool = False) -> Path:
    """Run the demo: print what was found, and write its reports.

    Parameters
    ----------
    folder : Path
        Gets ``report.html`` (the same as ``report.md``), ``planted.html`` and ``digits.html``.
    console : rich.console.Console
    overwrite : bool, default=False
        Whether files of these names are replaced that are not those of an earlier demo.

    Returns
    -------
    Path
        The report to open first.
    """
    overwrite = overwrite or _is_demo(folder)
    check_results(folder, names=FILES, overwrite=overwrite)
    console.rule("Planted columns: are they found?")
    console.print(PLANTED, highlight=False)
    found = found_table()
    _print_table(console, found)
    console.rule("Nothing given: what does it find by itself?")
    console.print(NOTHING, highlight=False)
    automatic = automatic_table()
    _print_table(console, automatic)
    console.rule("Digits: which pixels?")
    console.print(DIGITS, highlight=False)
    sieve, digits = digits_table()
    count = f"{sieve.n_features_selected_} of {sieve.n_features_in_} pixels"
    console.print(f"[bold]{count}[/] carry the clusters of digits:")
    for line in _pixel_lines(sieve):
        console.print("   " + line, highlight=False)
    _print_table(console, digits)
    shape = f"{N_SAMPLES} samples, {N_FEATURES} columns, {N_CLUSTERS} clusters"
    title = "Nothing given: how many clusters, how many columns, is there anything"
    sections = (
        Section("planted", f"Planted clusters: {shape}", (PLANTED,), (found,)),
        Section("nothing-given", title, (NOTHING,), (automatic,)),
        Section("digits", "Digits: 8 x 8 pixels", (f"JASFS chose {count}.", DIGITS), (digits,)),
    )
    page = _page(sections)
    with result_folder(folder, names=FILES, overwrite=overwrite) as new:
        write_text(new / "report.html", render_html(page))
        write_text(new / "report.md", render_markdown(page))
        _write_selections(new)
    return folder / "report.html"


def _is_demo(folder: Path) -> bool:
    """Tell whether a folder holds the reports of an earlier demo."""
    try:
        with (folder / "report.md").open(encoding="utf-8", errors="replace") as page:
            return page.readline().strip() == f"# {TITLE}"
    except OSError:
        return False


def _page(sections: tuple[Section, ...]) -> Page:
    """Return the page of the demo: links to the reports, what was found, what to do next."""
    links = (
        ("The planted table: the report of its selection", "planted.html"),
        ("The digits: the report of their selection, with its pixels", "digits.html"),
    )
    about = "They open without network. Sort, search, hover."
    first = Section("reports", "The interactive reports", (about,), (Links(links),))
    rows = "Rows are samples; csv, tsv, parquet, npz, mat or h5ad."
    commands = Code("featsieve inspect my.csv\nfeatsieve select my.csv -o my-selection")
    last = Section("own", "Your own table", (rows,), (commands,))
    facts = ("no labels used to select", "embedded data", f"featsieve {__version__}")
    return Page(TITLE, facts, (first, *sections, last))


def _write_selections(folder: Path) -> None:
    """Write the reports of a planted table, columns named by the truth, and of the digits."""
    planted = planted_table(0)
    names = [f"{'signal' if true else 'noise'}_{j}" for j, true in enumerate(planted.informative)]
    X, y = load_digits(return_X_y=True)
    clusters, digits = ([str(k) for k in range(count)] for count in (N_CLUSTERS, 10))
    first = Dataset("planted", planted.X, planted.labels, names, class_names=clusters)
    second = Dataset("digits", X, y, class_names=digits)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the reports say it
        run = select_features(first, n_features=int(planted.informative.sum()))
        write_text(folder / "planted.html", render_selection(summarize(run)))
        run = select_features(second, n_clusters=10)
        write_text(folder / "digits.html", render_selection(summarize(run, image_shape=(8, 8))))


def _print_table(console: Any, table: PageTable) -> None:
    """Print a table of the page."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable

    shown = RichTable(
        title=table.caption, title_justify="left", header_style="bold", box=SIMPLE_HEAD, padding=0
    )
    for i, name in enumerate(table.head):
        shown.add_column(name, justify="left" if i == 0 else "right", no_wrap=True)
    for row in table.rows:
        cells = []
        for entry in row.entries:
            text = f"{entry.text} ({entry.note})" if entry.note else entry.text
            cells.append(f"[bold green]{text}[/]" if entry.best else text)
        shown.add_row(row.header, *cells)
    console.print(shown)


def _pixel_lines(sieve: Any) -> list[str]:
    """Return one line of characters per row of pixels; a dot is a pixel that was left out."""
    ranks = np.where(sieve.support_, sieve.ranking_, 0).reshape(8, 8)

    def pixel(rank: int) -> str:
        return 2 * SHADES[(rank - 1) * len(SHADES) // ranks.max()] if rank else "· "

    return ["".join(map(pixel, row)) for row in ranks]

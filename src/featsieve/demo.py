"""The main job on embedded data: ``featsieve demo``, ``make demo``.

Tables with known truth: planted clusters (which columns were planted?), noise (is it told from
signal?), and scikit-learn's digits (which pixels, and do the clusters match the digits?). Labels
are used to judge only.
"""

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from featsieve import JASFS, MaxVariance, RandomSelector, __version__, defaults, structure_score
from featsieve.datasets import Dataset, Planted, make_planted
from featsieve.evaluation import ClusteringScores, paper_protocol
from featsieve.io.files import write_text
from featsieve.io.results import check_results, result_folder
from featsieve.report import render_selection
from featsieve.report.page import (
    Code,
    Entry,
    Links,
    Page,
    PageTable,
    Row,
    Section,
    render_html,
    render_markdown,
)
from featsieve.tuning import NoStructureWarning
from featsieve.workflow import select_features
from featsieve.workflow.outputs import summarize

__all__ = ["run_demo"]

TITLE = "featsieve demo"
FILES = ("report.html", "report.md", "planted.html", "digits.html")
N_SAMPLES, N_FEATURES, N_CLUSTERS = 150, 1000, 4
SEEDS = range(3)
# (informative columns, whether every column has a unit of its own)
KINDS = ((20, False), (60, True))
PIXEL_COUNTS = (30, 20, 10)
SHADES = "█▓▒░"  # of a pixel, from the first rank to the last
PLANTED = (
    "Every column is standard normal noise; the planted ones have cluster means of standard "
    "deviation 2. As many columns are selected as are planted. Labels are used to judge, never to "
    "select. In the second half (units) every column has a unit of its own, between 1/1000 and "
    "1000. Published is the authors' algorithm, variance takes the columns of the largest variance."
)
NOTHING_GIVEN = (
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
    from rich.markdown import Markdown

    overwrite = overwrite or _is_demo(folder)
    check_results(folder, names=FILES, overwrite=overwrite)
    with console.status("Selecting features of embedded tables"):
        page = _page()
    console.print(Markdown(render_markdown(page)))
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


def _page() -> Page:
    """Return the page of the demo: links to the reports, what was found, what to do next."""
    links = (
        ("The planted table: the report of its selection", "planted.html"),
        ("The digits: the report of their selection, with its pixels", "digits.html"),
    )
    about = "They open without network. Sort, search, hover."
    rows = "Rows are samples; csv, tsv, parquet, npz, mat or h5ad."
    commands = Code("featsieve inspect my.csv\nfeatsieve select my.csv -o my-selection")
    shape = f"{N_SAMPLES} samples, {N_FEATURES} columns, {N_CLUSTERS} clusters"
    title = "Nothing given: how many clusters, how many columns, is there anything"
    sections = (
        Section("planted", f"Planted clusters: {shape}", (PLANTED,), (_planted_found(),)),
        Section("nothing-given", title, (NOTHING_GIVEN,), (_found_automatically(),)),
        _digits_section(),
        Section("reports", "The interactive reports", (about,), (Links(links),)),
        Section("own", "Your own table", (rows,), (commands,)),
    )
    facts = ("no labels used to select", "embedded data", f"featsieve {__version__}")
    return Page(TITLE, facts, sections)


def _planted_table(seed: int, *, n_informative: int = 20, units: bool = False) -> Planted:
    """Make a table; with ``units`` every column is in a unit between 1/1000 and 1000."""
    planted = make_planted(
        n_samples=N_SAMPLES,
        n_features=N_FEATURES,
        n_informative=n_informative,
        n_clusters=N_CLUSTERS,
        random_state=seed,
    )
    if units:
        factors = 10.0 ** np.random.default_rng(seed).uniform(-3, 3, N_FEATURES)
        planted = replace(planted, X=planted.X * factors)
    return planted


def _planted_found() -> PageTable:
    """Ask methods for as many columns as are planted, and count the right ones."""
    rows = []
    for (k, units), seed in ((kind, seed) for kind in KINDS for seed in SEEDS):
        planted = _planted_table(seed, n_informative=k, units=units)
        selectors = (
            JASFS(N_CLUSTERS, n_features_to_select=k, random_state=0),
            JASFS(N_CLUSTERS, n_features_to_select=k, random_state=0, solver="paper"),
            MaxVariance(n_features_to_select=k),
            RandomSelector(n_features_to_select=k, random_state=seed),
        )
        supports = [selector.fit(planted.X).support_ for selector in selectors]
        found = [int(planted.informative[support].sum()) for support in supports]
        # judged on columns of unit variance, so that units do not decide what k-means sees
        Z = planted.X / planted.X.std(axis=0)
        before, after = (
            paper_protocol(columns, planted.labels).accuracy.mean()
            for columns in (Z, Z[:, supports[0]])
        )
        cells = [Entry(str(count), best=count == max(found)) for count in found]
        scores = _entries(f"{before:.2f}", f"{after:.2f}")
        rows.append(Row(f"{seed}, units" if units else str(seed), (Entry(str(k)), *cells, *scores)))
    methods = ("JASFS", "published", "variance", "random")
    return PageTable(
        "Planted columns found, and accuracy of k-means before and after",
        ("table", "planted", *methods, "ACC before", "ACC after"),
        tuple(rows),
    )


def _found_automatically() -> PageTable:
    """Let both numbers be found, in planted tables and in one of nothing but noise."""
    tables = [(f"planted {seed}", _planted_table(seed)) for seed in SEEDS]
    noise = np.random.default_rng(0).standard_normal((N_SAMPLES, N_FEATURES))
    tables.append(("noise", replace(tables[0][1], X=noise)))
    rows = []
    for name, planted in tables:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoStructureWarning)  # the row says it
            sieve = JASFS("auto", random_state=0).fit(planted.X)
            structure = structure_score(planted.X, sieve.labels_)
        low, high = sieve.equivalent_range_
        cells = _entries(
            "none" if name == "noise" else str(N_CLUSTERS),
            str(sieve.n_clusters_),
            str(sieve.n_features_selected_),
            "-" if name == "noise" else str(planted.informative[sieve.support_].sum()),
            f"{low} to {high}",
        )
        verdict = "" if structure >= defaults.NOISE_SCORE else "nothing there"
        rows.append(Row(name, (*cells, Entry(f"{structure:.2f}", note=verdict))))
    head = ("table", "true clusters", "found", "columns", "planted", "as good", "structure")
    return PageTable("Found by itself", head, tuple(rows))


def _digits_section() -> Section:
    """Select pixels without labels, draw them, and let the labels judge."""
    X, y = load_digits(return_X_y=True)
    sieve = JASFS(10, random_state=0).fit(X)
    clusterings = [("k-means, all pixels", X.shape[1], paper_protocol(X, y))]
    for k in PIXEL_COUNTS:
        scores = paper_protocol(X[:, sieve.path_.order[:k]], y)
        clusterings.append(("k-means, best pixels", k, scores))
    own = ClusteringScores.of_labels(y, sieve.labels_)
    clusterings.append(("JASFS's own clusters", sieve.n_features_selected_, own))
    rows = []
    for name, count, scores in clusterings:
        accuracy, nmi, _ = scores.mean()
        rows.append(Row(name, _entries(str(count), f"{accuracy:.2f}", f"{nmi:.2f}")))
    table = PageTable(
        "Agreement with the digits", ("clustering", "pixels", "ACC", "NMI"), tuple(rows)
    )
    ranks = np.where(sieve.support_, sieve.ranking_, 0).reshape(8, 8)
    shades = [2 * SHADES[i * len(SHADES) // ranks.max()] for i in range(ranks.max())]
    picture = "\n".join("".join(["· ", *shades][rank] for rank in row) for row in ranks)
    count = f"{sieve.n_features_selected_} of {sieve.n_features_in_} pixels"
    first = f"JASFS chose {count}; the darkest are the best."
    return Section("digits", "Digits: 8 x 8 pixels", (first, DIGITS), (Code(picture), table))


def _write_selections(folder: Path) -> None:
    """Write the reports of a planted table, columns named by the truth, and of the digits."""
    planted = _planted_table(0)
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


def _entries(*texts: str) -> tuple[Entry, ...]:
    """Return plain cells."""
    return tuple(Entry(text, missing=text == "-") for text in texts)

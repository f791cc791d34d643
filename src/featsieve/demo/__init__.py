"""The main job on embedded data: ``featsieve demo``, ``make demo``.

Tables with known truth: planted clusters (which columns were planted?), noise (is it told from
signal?), and scikit-learn's digits (which pixels, and do the clusters match the digits?). Labels
are used to judge only.
"""

from pathlib import Path
from typing import Any

import numpy as np

from featsieve import structure_score
from featsieve.demo.digits import SHAPE, Digits, select_digits
from featsieve.demo.page import (
    DIGITS,
    NOTHING,
    PLANTED,
    TITLE,
    automatic_table,
    clustering_table,
    demo_page,
    found_table,
)
from featsieve.demo.planted import automatic_rows, found_rows, planted_table
from featsieve.demo.terminal import print_pixels, print_table
from featsieve.evaluation import selection_stability
from featsieve.io.files import write_text
from featsieve.io.results import check_results, result_folder
from featsieve.jasfs.estimator import JASFS
from featsieve.report import write_selection_report
from featsieve.report.render import render_html, render_markdown
from featsieve.tuning import StabilitySelection

__all__ = ["run_demo"]

FILES = ("report.html", "report.md", "planted.html", "digits.html")


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
    found = found_rows()
    print_table(console, found_table(found))
    console.rule("Nothing given: what does it find by itself?")
    console.print(NOTHING, highlight=False)
    automatic = automatic_rows()
    print_table(console, automatic_table(automatic))
    console.rule("Digits: which pixels?")
    console.print(DIGITS, highlight=False)
    digits = select_digits()
    print_pixels(console, digits)
    print_table(console, clustering_table(digits))
    page = demo_page(found, automatic, digits)
    with result_folder(folder, names=FILES, overwrite=overwrite) as new:
        write_text(new / "report.html", render_html(page))
        write_text(new / "report.md", render_markdown(page))
        _write_planted(new / "planted.html")
        _write_digits(digits, new / "digits.html")
    return folder / "report.html"


def _is_demo(folder: Path) -> bool:
    """Tell whether a folder holds the reports of an earlier demo."""
    try:
        with (folder / "report.md").open(encoding="utf-8", errors="replace") as page:
            return page.readline().strip() == f"# {TITLE}"
    except OSError:
        return False


def _write_planted(path: Path) -> None:
    """Write the report of a planted table, whose columns are named by the truth."""
    planted = planted_table(0)
    kinds = np.where(planted.informative, "signal", "noise")
    k = int(planted.informative.sum())
    sieve = JASFS("auto", n_features_to_select=k, random_state=0).fit(planted.X)
    write_selection_report(
        sieve,
        planted.X,
        path,
        feature_names=[f"{kind}_{j}" for j, kind in enumerate(kinds)],
        y=planted.labels,
        about={"title": "Planted clusters"},
        **_facts(sieve, planted.X),
    )


def _write_digits(digits: Digits, path: Path) -> None:
    """Write the report of the digits, whose columns are pixels."""
    write_selection_report(
        digits.sieve,
        digits.X,
        path,
        y=digits.y,
        class_names=[str(digit) for digit in range(10)],
        image_shape=SHAPE,
        about={"title": "Handwritten digits"},
        **_facts(digits.sieve, digits.X),
    )


def _facts(sieve: JASFS, X: np.ndarray) -> dict[str, Any]:
    """Return how stable the selection is, and how much structure there is."""
    again = JASFS(sieve.n_clusters_, n_features_to_select=sieve.n_features_selected_)
    stable = StabilitySelection(again, n_subsamples=10, random_state=0).fit(X)
    return {
        "frequency": stable.selection_frequency_,
        "stability": selection_stability(stable.selections_),
        "structure": structure_score(X, sieve.labels_),
    }

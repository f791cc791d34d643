"""The main job on embedded data: ``featsieve demo``, ``make demo``.

Tables with known truth: planted clusters (which columns were planted?), noise (is it told from
signal?), and scikit-learn's digits (which pixels, and do the clusters match the digits?). Labels
are used to judge only.
"""

import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from featsieve import __version__
from featsieve.datasets import Dataset, make_planted
from featsieve.io.files import write_text
from featsieve.io.results import check_results, result_folder
from featsieve.report import render_selection
from featsieve.workflow import SelectionRun, select_features
from featsieve.workflow.outputs import summarize

__all__ = ["run_demo"]

FILES = ("report.md", "planted.html", "digits.html")
CLUSTERINGS = ("k-means, selected pixels", "k-means, all pixels", "JASFS's own clusters")
SHADES = "█▓▒░"  # of a pixel, from the first rank to the last
PAGE = """# featsieve demo

No labels used to select; embedded data; featsieve {version}.

## Planted clusters, and noise: how many clusters, how many columns, is there anything

150 samples, 1000 columns of noise; 20 of them have other means in each of four clusters, and the
last table has none. JASFS finds both numbers. As good are other numbers of
columns. The number of clusters is right within a factor of about two. Structure is tested beside
copies of the table that have no clusters; where there is nothing to select for, it warns.

{planted}

## Digits: 8 x 8 pixels

The darkest of the pixels that JASFS chose are the best. The digits' names judge only; k-means sees
pixels of unit variance. JASFS's own clusters are those that it selects the pixels for.

```text
{pixels}
```

{digits}

## The reports, and your own table

planted.html and digits.html are the reports of two selections. They open without network: sort,
search, hover. In your own table rows are samples; csv, tsv, parquet, npz, mat or h5ad.

```sh
featsieve inspect my.csv
featsieve select my.csv -o my-selection
```
"""


def run_demo(folder: Path, *, console: Any, overwrite: bool = False) -> Path:
    """Run the demo: print what was found, and write its reports.

    Parameters
    ----------
    folder : Path
        Gets ``report.md`` (what is printed), ``planted.html`` and ``digits.html``.
    console : rich.console.Console
    overwrite : bool, default=False
        Whether files of these names are replaced that are not those of an earlier demo.

    Returns
    -------
    Path
        The report to open first.
    """
    from rich.markdown import Markdown

    own = folder / "report.md"
    if own.is_file():  # of an earlier demo
        overwrite |= own.read_text(encoding="utf-8", errors="replace").startswith(
            "# featsieve demo\n"
        )
    check_results(folder, names=FILES, overwrite=overwrite)
    with console.status("Selecting features of embedded tables"):
        planted, first = _planted()
        pixels, digits, second = _digits()
    text = PAGE.format(
        version=__version__,
        planted=planted,
        pixels=pixels,
        digits=digits,
    )
    console.print(Markdown(text))
    with result_folder(folder, names=FILES, overwrite=overwrite) as new:
        write_text(new / "report.md", text)
        write_text(new / "planted.html", render_selection(first))
        write_text(new / "digits.html", render_selection(second))
    return folder / "planted.html"


def _planted() -> tuple[str, dict[str, Any]]:
    """Select in planted tables and in noise; return what was found, and the first summary."""
    runs = [_select(_planted_table(seed)) for seed in range(3)]
    noise = np.random.default_rng(0).standard_normal((150, 1000))
    runs.append(_select(Dataset("noise", noise)))
    rows = []
    for run in runs:
        sieve, planted_columns = run.selector, [n for n in run.selected if n.startswith("signal")]
        true, right = ("none", "-") if run.table.y is None else ("4", str(len(planted_columns)))
        low, high = sieve.equivalent_range_
        numbers = (true, sieve.n_clusters_, len(run.selected), right, f"{low} to {high}")
        rows.append((run.table.name, *numbers, run.structure.answer if run.structure else "-"))
    head = ("table", "true clusters", "found", "columns", "planted", "as good", "structure")
    return _markdown(head, rows), summarize(runs[0])


def _planted_table(seed: int) -> Dataset:
    """Make a table whose columns are named by the truth."""
    planted = make_planted(150, 1000, n_informative=20, n_clusters=4, random_state=seed)
    kinds = np.where(planted.informative, "signal", "noise")
    names = [f"{kind}_{j}" for j, kind in enumerate(kinds)]
    return Dataset(f"planted {seed}", planted.X, planted.labels, names)


def _digits() -> tuple[str, str, dict[str, Any]]:
    """Select pixels; return their picture, how the digits judge them, and the summary."""
    run = _select(Dataset("digits", *load_digits(return_X_y=True)), n_clusters=10)
    summary = summarize(run, image_shape=(8, 8))
    ranks = np.where(run.selector.support_, run.selector.ranking_, 0).reshape(8, 8)
    shades = ["· ", *(2 * SHADES[i * len(SHADES) // ranks.max()] for i in range(ranks.max()))]
    picture = "\n".join("".join(shades[rank] for rank in row) for row in ranks)
    rows = [
        (name, row["n_features"], f"{row['accuracy']:.2f}", f"{row['nmi']:.2f}")
        for name, row in zip(CLUSTERINGS, summary["evaluation"]["rows"], strict=True)
    ]
    return picture, _markdown(("clustering", "pixels", "ACC", "NMI"), rows), summary


def _select(table: Dataset, **settings: Any) -> SelectionRun:
    """Select features of a table; what it warns of is in the report."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return select_features(table, **settings)


def _markdown(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)

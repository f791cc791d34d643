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

from featsieve import JASFS, __version__, defaults, structure_score
from featsieve.datasets import Dataset, Planted, make_planted
from featsieve.io.files import write_text
from featsieve.io.results import check_results, result_folder
from featsieve.report import render_selection
from featsieve.tuning import NoStructureWarning
from featsieve.workflow import select_features
from featsieve.workflow.outputs import summarize

__all__ = ["run_demo"]

TITLE = "# featsieve demo"
FILES = ("report.md", "planted.html", "digits.html")
N_PLANTED, N_CLUSTERS = 20, 4
CLUSTERINGS = ("k-means, selected pixels", "k-means, all pixels", "JASFS's own clusters")
SHADES = "█▓▒░"  # of a pixel, from the first rank to the last
PAGE = """{title}

No labels used to select; embedded data; featsieve {version}.

## Planted clusters, and noise: how many clusters, how many columns, is there anything

150 samples, 1000 columns of noise; 20 of them have other means in each of four clusters, and the
last table has none. JASFS(n_clusters="auto") finds both numbers. As good are other numbers of
columns. The number of clusters is right within a factor of about two. The structure score compares
the clusters with those of permuted columns; below {noise} there is nothing to select for, and it
warns.

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
        overwrite |= own.read_text(encoding="utf-8", errors="replace").startswith(f"{TITLE}\n")
    check_results(folder, names=FILES, overwrite=overwrite)
    with console.status("Selecting features of embedded tables"):
        pixels, digits, summary = _digits()
        text = PAGE.format(
            title=TITLE,
            version=__version__,
            planted=_planted(),
            noise=defaults.NOISE_SCORE,
            pixels=pixels,
            digits=digits,
        )
    console.print(Markdown(text))
    with result_folder(folder, names=FILES, overwrite=overwrite) as new:
        write_text(new / "report.md", text)
        write_text(new / "planted.html", _planted_report())
        write_text(new / "digits.html", render_selection(summary))
    return folder / "planted.html"


def _planted_table(seed: int) -> Planted:
    """Make a table of noise with planted columns."""
    sizes = {"n_informative": N_PLANTED, "n_clusters": N_CLUSTERS}
    return make_planted(150, 1000, **sizes, random_state=seed)


def _planted() -> str:
    """Let both numbers be found, in planted tables and in one of nothing but noise."""
    planted = [_planted_table(seed) for seed in range(3)]
    noise = np.random.default_rng(0).standard_normal((150, 1000))
    rows = []
    for i, X in enumerate([*(table.X for table in planted), noise]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoStructureWarning)  # the row says it
            sieve = JASFS("auto", random_state=0).fit(X)
            structure = structure_score(X, sieve.labels_)
        name, true, right = "noise", "none", "-"
        if i < len(planted):
            name, true = f"planted {i}", str(N_CLUSTERS)
            right = str(planted[i].informative[sieve.support_].sum())
        low, high = sieve.equivalent_range_
        verdict = "" if structure >= defaults.NOISE_SCORE else " (nothing there)"
        numbers = (true, sieve.n_clusters_, sieve.n_features_selected_, right, f"{low} to {high}")
        rows.append((name, *numbers, f"{structure:.2f}{verdict}"))
    head = ("table", "true clusters", "found", "columns", "planted", "as good", "structure")
    return _markdown(head, rows)


def _digits() -> tuple[str, str, dict[str, Any]]:
    """Select pixels; return their picture, how the digits judge them, and the summary."""
    X, y = load_digits(return_X_y=True)
    names = [str(digit) for digit in range(10)]
    selector, summary = _select(Dataset("digits", X, y, class_names=names), n_clusters=10)
    ranks = np.where(selector.support_, selector.ranking_, 0).reshape(8, 8)
    shades = ["· ", *(2 * SHADES[i * len(SHADES) // ranks.max()] for i in range(ranks.max()))]
    picture = "\n".join("".join(shades[rank] for rank in row) for row in ranks)
    rows = [
        (name, row["n_features"], f"{row['accuracy']:.2f}", f"{row['nmi']:.2f}")
        for name, row in zip(CLUSTERINGS, summary["evaluation"]["rows"], strict=True)
    ]
    return picture, _markdown(("clustering", "pixels", "ACC", "NMI"), rows), summary


def _planted_report() -> str:
    """Return the report of a planted table whose columns are named by the truth."""
    planted = _planted_table(0)
    names = [f"{'signal' if true else 'noise'}_{j}" for j, true in enumerate(planted.informative)]
    classes = [str(cluster) for cluster in range(N_CLUSTERS)]
    table = Dataset("planted", planted.X, planted.labels, names, class_names=classes)
    return render_selection(_select(table, n_features=N_PLANTED)[1])


def _select(table: Dataset, **settings: Any) -> tuple[Any, dict[str, Any]]:
    """Return the fitted selector of a table, and the summary of its selection."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the report says it
        run = select_features(table, **settings)
        return run.selector, summarize(run, image_shape=(8, 8) if table.name == "digits" else None)


def _markdown(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)

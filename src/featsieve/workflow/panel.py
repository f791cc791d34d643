"""A panel for the bench: which genes to buy, what each tells, and what each next one adds."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from featsieve.arrays.namespace import is_sparse
from featsieve.constraints import CONSTRAINTS
from featsieve.io.files import write_text
from featsieve.io.optional import load_optional
from featsieve.io.results import result_folder
from featsieve.io.table import write_csv
from featsieve.names import counted
from featsieve.report import render_selection
from featsieve.report.panel import panel_summary
from featsieve.tables import Table
from featsieve.workflow.outputs import CHANGES, change_file, summarize
from featsieve.workflow.prepare import change_table
from featsieve.workflow.select import SelectionRun, select_features

TABLES = ("panel.csv", "curve.csv", "cells.csv")
PAGES = ("index.html", "methods.md")
FIGURES = ("dots.svg", "matrix.svg")
# All files that panels have written; tables with values below 0 have no dots.
KNOWN = (*PAGES, *TABLES, *FIGURES, CHANGES)


@dataclass(frozen=True, eq=False)
class Panel:
    """A panel of genes (or other features), and what is known about it.

    Attributes
    ----------
    run : SelectionRun
        The selection: clusters, structure, notes.
    genes : Table
        One row per gene of the panel, in the order of rank: the first k are a good panel of k. See
        `make_panel` for its columns.
    curve : Table
        One row per step of the path, also behind the panel's end: the gene, what it adds
        (``gain``), and how far the loss has fallen up to it, as a share of its fall on the whole
        path (``explained``).
    mean, share : ndarray of shape (n_genes, n_clusters)
        Mean of each gene in each cluster, and the share of its cells that express it (above 0);
        share is None where values are below 0.
    """

    run: SelectionRun
    genes: Table
    curve: Table
    mean: np.ndarray
    share: np.ndarray | None


def make_panel(table: Any, *, n_genes: int | float | str = "auto", **settings: Any) -> Panel:
    """Select a panel of genes, and say of each what a person needs who is to buy it.

    Parameters
    ----------
    table : Dataset, path, data frame or array
        Rows are cells or other samples. Counts of AnnData files are normalised.
    n_genes : int, float, "auto" or "significant", default="auto"
        As ``n_features`` of `select_features`.
    **settings
        Further settings of `select_features`: ``n_clusters``, ``keep``, ``exclude``, ``groups``,
        ``costs``, ``budget``, ``counts``, ``qvalues``, ``random_state``, ...

    Returns
    -------
    Panel
        Its ``genes`` have the columns gene, rank; tells_cluster, and whether the gene is high or
        low there (side); mean_inside, mean_outside and share_inside, share_outside (of cells that
        express it) of that cluster, in the values that were looked at, which are those of the bench
        and not corrected for batches; closest_in_panel and correlation (inside of batches, as the
        cluster that it tells); q_value, where computed;
        certainty (the share of the views of the table that select it); kept, price, bought_with,
        group, where constrained.

    Examples
    --------
    >>> from featsieve.datasets import make_planted
    >>> from featsieve.workflow import make_panel
    >>> planted = make_planted(90, 40, n_informative=6, n_clusters=3, signal=3.0, random_state=0)
    >>> panel = make_panel(planted.X, n_genes=4, n_clusters=3, keep=[7])
    >>> panel.genes["kept"].tolist(), str(panel.genes["gene"][0])
    ([True, False, False, False], 'x7')
    >>> bool(panel.curve["explained"][3] < panel.curve["explained"][4])
    True
    """
    run = select_features(
        table, n_features=n_genes, **{"n_subsamples": 0, "what": "gene", **settings}
    )
    found, chosen = run.found, run.found.chosen
    X = found.X[:, chosen]
    values = np.asarray(X.toarray() if is_sparse(X) else X, dtype=np.float64)
    clusters = found.clusters
    if clusters is None:
        raise ValueError("No column of the panel varies: there are no clusters to tell apart.")
    sizes = clusters.sizes
    inside = np.equal.outer(np.arange(len(sizes)), clusters.codes).astype(np.float64)
    lowest = found.X.min()
    parts = {"mean": values} if lowest < 0.0 else {"mean": values, "share": values > 0.0}
    sums = {name: inside @ part for name, part in parts.items()}  # clusters x genes

    facts, names = found.facts.rows(chosen), [found.feature_names[j] for j in chosen]
    own = [found.best_cluster[j] for j in chosen]
    place = np.array([-1 if name is None else clusters.names.index(name) for name in own])
    genes = Table({"gene": names, "rank": facts["rank"]})
    genes["tells_cluster"] = ["" if name is None else name for name in own]
    genes["side"] = np.where(place < 0, "", np.where(facts["separation"] > 0, "high", "low"))
    rows, n = np.arange(len(chosen)), len(clusters.codes)
    for name, total in sums.items():
        within = total[place, rows]
        rest = np.maximum(n - sizes[place], 1)
        genes[f"{name}_inside"] = np.where(place < 0, np.nan, within / sizes[place])
        genes[f"{name}_outside"] = np.where(place < 0, np.nan, (total.sum(axis=0) - within) / rest)
    genes["closest_in_panel"] = facts["closest_selected"]
    genes["correlation"] = facts["correlation"]
    certainty = found.fitted("feature_certainty_")
    if certainty is not None:
        genes["certainty"] = certainty[chosen]
    for name in ("q_value", "price", "bought_with", "kept"):
        if name in facts:
            genes[name] = facts[name]
    groups = run.prepared.constraints.get("groups")
    if groups and found.owner is None:
        group = {int(j): name for name, columns in groups.items() for j in columns}
        genes["group"] = [group.get(int(j), "") for j in chosen]
    means = {name: (total / sizes[:, None]).T for name, total in sums.items()}
    return Panel(run, genes, _curve(run), means["mean"], means.get("share"))


def _curve(run: SelectionRun) -> Table:
    """Return what each gene adds along the path, or the scores of a method that has none."""
    found = run.found
    path, names = found.fitted("path_"), np.array(found.feature_names)
    if not len(getattr(path, "half_gains", ())):
        order = np.argsort(found.facts["rank"])
        return Table(
            {"n": np.arange(1, len(order) + 1), "gene": names[order]}
            | {"score": found.facts["score"][order], "in_panel": found.facts["selected"][order]}
        )
    n, fallen = len(path.order), path.loss[0] - path.loss[1:]
    return Table(
        {
            "n": np.arange(1, n + 1),
            "gene": names[path.order],
            "gain": path.half_gains,
            "explained": fallen / max(fallen[-1], np.finfo(float).tiny),
            "in_panel": found.facts["selected"][path.order],
        }
    )


def save_panel(
    panel: Panel,
    folder: str | os.PathLike[str],
    *,
    source: str | os.PathLike[str] | None = None,
    command: str | None = None,
    overwrite: bool = False,
) -> dict[str, Path]:
    """Write a panel as a folder: a page, tables, figures and a methods section.

    Parameters
    ----------
    panel : Panel
        From `make_panel`.
    folder : str or path
        Made if it is not there. A folder with other files in it is refused.
    source : str or path, optional
        The file that the table came from, for the page.
    command : str, optional
        The command that made it, likewise.
    overwrite : bool, default=False
        Whether a panel that is there is replaced.

    Returns
    -------
    dict of str to Path
        The files by their names: "index.html", "panel.csv", "curve.csv", "cells.csv", "methods.md"
        and the figures; "changes.csv" if cells of the table were repaired.

    Examples
    --------
    >>> import tempfile
    >>> from featsieve.datasets import make_planted
    >>> from featsieve.workflow import make_panel, save_panel
    >>> X = make_planted(60, 20, n_informative=5, n_clusters=3, signal=3.0, random_state=0).X
    >>> panel = make_panel(X, n_genes=5, n_clusters=3)
    >>> with tempfile.TemporaryDirectory() as home:
    ...     files = save_panel(panel, f"{home}/panel")
    >>> "index.html" in files and "panel.csv" in files
    True
    """
    check_libraries()
    with result_folder(folder, names=KNOWN, overwrite=overwrite) as unfinished:
        summary = write_panel(panel, unfinished, source=source, command=command)
    return {name: Path(folder) / name for name in summary["reproduce"]["more"]["files"].values()}


def check_libraries() -> None:
    """Raise if a library is missing that pages and figures need."""
    for library in ("jinja2", "matplotlib"):
        load_optional(library, "Writing a panel", extra="report")


def write_panel(panel: Panel, folder: Path, **about: Any) -> dict[str, Any]:
    """Write the files of a panel into a folder that is there, and return the summary."""
    run = panel.run
    drawn = FIGURES[panel.share is None :]
    files = {name: name for name in (*PAGES, *TABLES, *drawn)} | change_file(run.table)
    facts = {
        "settings": repr(clone(run.selector).set_params(**dict.fromkeys(CONSTRAINTS))),
        "constraints": constraint_sentences(run),
        "notes": [str(n) for n in run.notes if n.kind in ("values", "batch", "constraints")],
    }
    found = summarize(run, names=files, **about)
    summary = panel_summary(found, panel.genes, facts, mean=panel.mean, share=panel.share)
    write_csv(folder / "panel.csv", panel.genes)
    write_csv(folder / "curve.csv", panel.curve)
    write_csv(folder / "cells.csv", run.samples)
    write_text(folder / "methods.md", summary["panel"]["methods"])
    for name, figure in summary["panel"]["figures"].items():
        write_text(folder / f"{name}.svg", figure.svg)
    write_text(folder / "index.html", render_selection(summary))
    if "changes" in files:
        write_csv(folder / CHANGES, change_table(run.table))
    return summary


def constraint_sentences(run: SelectionRun) -> list[str]:
    """Say what was kept, left out, bought together and paid."""
    given, names = run.prepared.constraints, run.found.feature_names
    said = []
    for part, words in (("keep", "kept in any case"), ("exclude", "left out")):
        if len(columns := given.get(part, ())):
            listed = ", ".join(names[j] for j in columns)
            said.append(f"{counted(len(columns), 'gene')} to be {words}: {listed}.")
    if groups := given.get("groups"):
        said.append(f"{len(groups):,} groups of genes were bought as a whole or not at all.")
    if "costs" in given or "budget" in given:
        spent = run.selector._offer.cost(run.found.chosen)
        budget = f", of a budget of {given['budget']:g}" if "budget" in given else ""
        said.append(f"The panel costs {spent:g}{budget}.")
    return said

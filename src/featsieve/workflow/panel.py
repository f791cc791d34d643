"""A panel for the bench: which genes to buy, what each tells, and what each next one adds."""

import os
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
from featsieve.workflow.select import SelectionRun

TABLES = ("panel.csv", "curve.csv", "cells.csv")
PAGES = ("index.html", "methods.md")
FIGURES = ("dots.svg", "matrix.svg")
# All files that panels have written; tables with values below 0 have no dots.
KNOWN = (*PAGES, *TABLES, *FIGURES, CHANGES)


def panel_tables(run: SelectionRun) -> tuple[Table, Table, dict[str, np.ndarray | None]]:
    """Return facts of each gene, what each adds, and "mean", "share" (of cells) by cluster."""
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
    return genes, _curve(run), {"mean": means["mean"], "share": means.get("share")}


def _curve(run: SelectionRun) -> Table:
    """Return the genes along the path or the ranking, with what each adds where that is known."""
    found, path = run.found, run.found.fitted("path_")
    known = len(getattr(path, "half_gains", ())) > 0
    order = path.order if known else np.argsort(found.facts["rank"])
    curve = Table({"n": np.arange(1, len(order) + 1), "gene": np.array(found.feature_names)[order]})
    if known:
        fallen = path.loss[0] - path.loss[1:]
        curve["gain"] = path.half_gains
        curve["explained"] = fallen / max(fallen[-1], np.finfo(float).tiny)
    curve["in_panel"] = found.facts["selected"][order]
    return curve


def save_panel(
    run: SelectionRun,
    folder: str | os.PathLike[str],
    *,
    source: str | os.PathLike[str] | None = None,
    command: str | None = None,
    overwrite: bool = False,
) -> dict[str, Path]:
    """Write a selection as a panel of genes: a page, tables, figures and a methods section.

    Parameters
    ----------
    run : SelectionRun
        From `select_features`. Rows are cells or other samples.
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
        The files by their names: "index.html", "methods.md", "dots.svg", "matrix.svg"; "cells.csv",
        the cluster of every cell; "curve.csv", what each gene of the path adds (``gain``) and how
        far the loss has fallen up to it, as a share of its fall on the whole path (``explained``);
        "changes.csv" if cells of the table were repaired; and "panel.csv" in the order of rank: the
        first k genes are a good panel of k. Its columns are gene, rank; tells_cluster, and whether
        the gene is high or low there (side); mean_inside, mean_outside and share_inside,
        share_outside (of cells that express it) of that cluster, in the values that were looked at,
        which are those of the bench and not corrected for batches; closest_in_panel and correlation
        (inside of batches, as the cluster that it tells); q_value, where computed; certainty (the
        share of the clusterings that select it); kept, price, bought_with, group, where
        constrained.

    Examples
    --------
    >>> import tempfile
    >>> from featsieve.datasets import make_planted
    >>> from featsieve.workflow import save_panel, select_features
    >>> X = make_planted(60, 20, n_informative=5, n_clusters=3, signal=3.0, random_state=0).X
    >>> run = select_features(X, n_features=5, n_clusters=3, n_subsamples=0)
    >>> with tempfile.TemporaryDirectory() as home:
    ...     files = save_panel(run, f"{home}/panel")
    >>> "index.html" in files and "panel.csv" in files
    True
    """
    check_libraries()
    with result_folder(folder, names=KNOWN, overwrite=overwrite) as unfinished:
        summary = write_panel(run, unfinished, source=source, command=command)
    return {name: Path(folder) / name for name in summary["reproduce"]["more"]["files"].values()}


def check_libraries() -> None:
    """Raise if a library is missing that pages and figures need."""
    for library in ("jinja2", "matplotlib"):
        load_optional(library, "Writing a panel", extra="report")


def write_panel(run: SelectionRun, folder: Path, **about: Any) -> dict[str, Any]:
    """Write the files of a panel into a folder that is there, and return the summary."""
    genes, curve, by_cluster = panel_tables(run)
    drawn = FIGURES[by_cluster["share"] is None :]
    files = {name: name for name in (*PAGES, *TABLES, *drawn)} | change_file(run.table)
    facts = {
        "settings": repr(clone(run.selector).set_params(**dict.fromkeys(CONSTRAINTS))),
        "constraints": constraint_sentences(run),
        "notes": [str(n) for n in run.notes if n.kind in ("values", "batch", "constraints")],
    }
    summary = panel_summary(summarize(run, names=files, **about), genes, facts, **by_cluster)
    write_csv(folder / "panel.csv", genes)
    write_csv(folder / "curve.csv", curve)
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

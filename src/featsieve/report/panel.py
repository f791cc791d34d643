"""What the page of a panel has beside that of a selection: words, columns, figures, methods."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from featsieve.names import counted
from featsieve.report.figures import FAINT, Figure, draw
from featsieve.report.selection.values import readable
from featsieve.tables import Table

# Columns of the page's table: what they are called, what they hold, their style.
COLUMNS = {
    "mean_inside": ("Mean inside", "Of the values, in the cluster that it tells", "n"),
    "mean_outside": ("Mean outside", "Of the values, in all other clusters", "n"),
    "share_inside": ("Cells inside", "Share of the cells of that cluster that express it", "n"),
    "share_outside": ("Cells outside", "Share of all other cells that express it", "n"),
    "group": ("Group", "Bought as a whole or not at all", "w"),
}


def panel_summary(
    summary: Mapping[str, Any], genes: Table, facts: Mapping[str, Any], **values: Any
) -> dict[str, Any]:
    """Return the summary of a selection, with what the page of a panel adds."""
    file = summary["table"]["file"]
    panel = {
        "columns": [
            (*about, [_cell(name, value) for value in genes[name].tolist()])
            for name, about in COLUMNS.items()
            if name in genes
        ],
        "figures": panel_figures(summary["clusters"]["names"], genes, **values),
        "methods": panel_methods(summary, facts),
    }
    title = f"A panel of {counted(genes.n_rows, 'gene')}" + (f" from {file}" if file else "")
    return {**summary, "title": title, "panel": panel}


def _cell(name: str, value: Any) -> str:
    """Return a value of the panel as text."""
    if value != value:
        return ""
    return f"{value:.0%}" if name.startswith("share") else readable(value)


def panel_figures(
    clusters: list[str], genes: Table, *, mean: np.ndarray, share: np.ndarray | None
) -> dict[str, Figure]:
    """Draw the genes by cluster, as dots and as a matrix; named as their files."""
    column = {name: j for j, name in enumerate(clusters)}
    place = np.array([column.get(name, -1) for name in genes["tells_cluster"].tolist()])
    order = np.lexsort((genes["rank"], place))
    names = genes["gene"][order].tolist()
    low, spread = mean.min(axis=1, keepdims=True), np.ptp(mean, axis=1, keepdims=True)
    scaled = ((mean - low) / np.where(spread > 0.0, spread, 1.0))[order]
    figures = {} if share is None else {"dots": _by_cluster(names, clusters, scaled, share[order])}
    return figures | {"matrix": _by_cluster(names, clusters, scaled, None)}


def _by_cluster(
    genes: list[str], clusters: list[str], mean: np.ndarray, share: np.ndarray | None
) -> Figure:
    """Draw genes by cluster: dots as large as the share of cells that express them, or fields."""
    k, c = mean.shape
    names = [gene.replace("$", r"\$") for gene in genes]  # a "$" would start a formula

    def paint(axes: Any) -> None:
        x, y = np.meshgrid(np.arange(c), np.arange(k))
        if share is None:
            drawn = axes.imshow(mean, aspect="auto", cmap="viridis", vmin=0.0, vmax=1.0)
        else:
            size = 90.0 * share.ravel()
            drawn = axes.scatter(x, y, s=size, c=mean.ravel(), cmap="viridis", vmin=0.0, vmax=1.0)
            for one in (0.25, 0.5, 1.0):
                axes.scatter([], [], s=90.0 * one, color=FAINT, label=f"{one:.0%}")
            axes.legend(title="cells", loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=7.5)
        axes.grid(visible=share is not None)
        axes.set_xticks(range(c), clusters, rotation=90 if c > 12 else 0)
        axes.set_yticks(range(k), names, fontsize=7.5)
        axes.set(xlim=(-0.6, c - 0.4), ylim=(k - 0.4, -0.6), xlabel="cluster")
        axes.figure.colorbar(
            drawn, ax=axes, orientation="horizontal", location="top", shrink=0.6, aspect=30
        ).set_label("mean (0 lowest, 1 highest of the clusters)", fontsize=8)

    width, height = 3.2 + 0.3 * c, 1.4 + 0.17 * k
    colour = "Colour is the mean of the gene in the cluster"
    if share is None:
        return Figure("Matrix of the panel", f"{colour}.", draw(paint, width, height))
    caption = f"{colour}, size the share of its cells that express it."
    return Figure("Dot plot of the panel", caption, draw(paint, width, height))


def panel_methods(summary: Mapping[str, Any], facts: Mapping[str, Any]) -> str:
    """Return the methods section of a panel as Markdown, with its numbers and versions."""
    method, versions = summary["method"], summary["reproduce"]["versions"]
    structure, caveats = summary["structure"], summary["caveats"]
    what, *words = summary["words"]
    said = [what, *facts["notes"], *words, *facts["constraints"]]
    if structure is not None and structure["verdict"] != "clusters":
        said.append(structure["sentence"])
    if structure is None:
        said.append("Whether there are clusters was not tested.")
    said.append(
        "Genes are ordered by forward selection from the clusters that were found: the first k are "
        "the panel of k genes."
    )
    listed = ", ".join(f"{name} {number}" for name, number in versions.items())
    done = f"Settings: `{' '.join(facts['settings'].split())}`. Versions: {listed}."
    if method["seed"] is not None:
        done = f"Seed {method['seed']}. {done}"
    doubts = [each["text"] for each in caveats if each["level"] == "warning"]
    mind = "\n\n## To be said beside it\n\n" + "\n".join(f"- {d}" for d in doubts) if doubts else ""
    return f"# Methods\n\n{' '.join(said)}\n\n{done}{mind}\n"

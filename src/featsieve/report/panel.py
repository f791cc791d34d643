"""The page of a panel of genes: its table, what each gene adds, clusters, maps, methods."""

import re
from collections.abc import Mapping
from itertools import cycle
from typing import Any

import numpy as np

from featsieve.report.figures import COLOURS, FAINT, INK, draw
from featsieve.report.page import (
    Block,
    Code,
    Entry,
    Figure,
    Gallery,
    Page,
    PageTable,
    Points,
    Row,
    Section,
    render_html,
)
from featsieve.report.selection.values import counted, readable
from featsieve.tables import Table

HEADS = {
    "rank": "rank",
    "tells_cluster": "tells cluster",
    "side": "there it is",
    "mean_inside": "mean inside",
    "mean_outside": "outside",
    "share_inside": "cells that express it inside",
    "share_outside": "outside",
    "closest_in_panel": "closest in the panel",
    "correlation": "r",
    "q_value": "q",
    "certainty": "certainty",
    "kept": "to be kept",
    "group": "group",
    "price": "price",
    "bought_with": "bought with",
}
# What a table of any kind calls its columns and rows. Names and options that begin or end like
# these words, and file names, are left alone.
GENES = {"features": "genes", "feature": "gene", "samples": "cells", "sample": "cell"}
WORD = re.compile(r"(?<![\w./'\"-])(features?|samples?)(?![\w/'\"-]|\.\w)")
MARKERS = "osv^DPX*<>ph"
MOST_LEGEND = 30  # groups that a key names


def in_genes(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return the summary of a selection with sentences that speak of genes and cells."""

    def said(text: str) -> str:
        text = WORD.sub(lambda word: GENES[word[0]], text)
        return text.replace("--features significant", "--genes significant")

    caveats = [each | {"text": said(each["text"])} for each in summary["caveats"]]
    structure = summary["structure"]
    if structure is not None:
        structure = structure | {"sentence": said(structure["sentence"])}
    words = [said(text) for text in summary["words"]]
    return {**summary, "words": words, "caveats": caveats, "structure": structure}


def panel_figures(
    summary: Mapping[str, Any],
    genes: Table,
    curve: Table,
    *,
    mean: np.ndarray,
    share: np.ndarray | None,
) -> dict[str, Figure]:
    """Draw the curve, the genes by cluster (dots, matrix) and the maps; named as their files."""
    clusters = summary["clusters"]["names"]
    column = {name: j for j, name in enumerate(clusters)}
    place = np.array([column.get(name, -1) for name in genes["tells_cluster"].tolist()])
    order = np.lexsort((genes["rank"], place))
    names = genes["gene"][order].tolist()
    low, spread = mean.min(axis=1, keepdims=True), np.ptp(mean, axis=1, keepdims=True)
    scaled = ((mean - low) / np.where(spread > 0.0, spread, 1.0))[order]
    figures = {"curve": _curve(curve, genes.n_rows)}
    if share is not None:
        figures["dots"] = _by_cluster(names, clusters, scaled, share[order])
    figures["matrix"] = _by_cluster(names, clusters, scaled, None)
    if summary["map"] is not None:
        figures["maps"] = _maps(summary)
    return figures


def _curve(curve: Table, n_genes: int) -> Figure:
    """Draw what the first genes explain together."""
    kind = "explained" if "explained" in curve else "score"
    values = curve[kind]

    def paint(axes: Any) -> None:
        axes.plot(curve["n"], values, color=COLOURS[0], linewidth=2)
        axes.axvline(n_genes, color=INK, linewidth=1, linestyle="--")
        axes.annotate(
            f" panel: {n_genes}", (n_genes, 0.02), xycoords=("data", "axes fraction"), fontsize=8
        )
        axes.set(xlabel="genes in the order of the panel", ylabel=kind)
        axes.set_xlim(0, min(len(values), max(3 * n_genes, 10)))

    title = "What each next gene adds"
    if kind == "score":
        return Figure(title, "Scores along the ranking.", draw(paint, 6.4, 3.2))
    at = [k for k in (n_genes // 4, n_genes // 2, n_genes) if 0 < k <= len(values)]
    parts = ", ".join(f"{values[k - 1]:.0%} by {k}" for k in dict.fromkeys(at))
    caption = (
        f"Share of what the first {len(values)} genes of the path explain of the clusters together "
        f"(fall of the loss): {parts}. The dashed line is the end of the panel."
    )
    return Figure(title, caption, draw(paint, 6.4, 3.2))


def _by_cluster(
    genes: list[str], clusters: list[str], mean: np.ndarray, share: np.ndarray | None
) -> Figure:
    """Draw genes by cluster: dots as large as the share of cells that express them, or fields."""
    k, c = mean.shape

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
        axes.set_yticks(range(k), [_plain(gene) for gene in genes], fontsize=7.5)
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


def _maps(summary: Mapping[str, Any]) -> Figure:
    """Draw the cells on two principal components of all genes and of the panel."""
    views = summary["map"]
    colourings = {"cluster": (views["cluster"], summary["clusters"]["names"])}
    if views["class"] is not None:
        colourings["type"] = (views["class"], views["classes"])

    def paint(axes: Any) -> None:
        figure = axes.figure
        axes.remove()
        grid = figure.subplots(len(colourings), 2, squeeze=False)
        for row, (word, (codes, names)) in zip(grid, colourings.items(), strict=True):
            for cell, (view, title) in zip(row, _titles(views), strict=True):
                _scatter(cell, views[view], np.asarray(codes), names)
                cell.set(title=f"{title}, by {word}", xticks=[], yticks=[])
            if len(names) <= MOST_LEGEND:
                row[1].legend(
                    loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8, markerscale=2
                )

    caption = (
        "The cells on the first two principal components: what the panel keeps of the picture of "
        "all genes."
    )
    return Figure("Maps of the cells", caption, draw(paint, 9.0, 3.6 * len(colourings)))


def _titles(views: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return the views and what they are called."""
    return (
        ("all", f"all {views['all']['n_features']:,} genes"),
        ("selected", f"the panel of {views['selected']['n_features']:,}"),
    )


def _scatter(axes: Any, view: Mapping[str, Any], codes: np.ndarray, names: list[str]) -> None:
    """Draw points by group: colours and markers repeat at different lengths."""
    x, y = np.asarray(view["x"]), np.asarray(view["y"])
    looks = zip(cycle(COLOURS), cycle(MARKERS), range(len(names)), strict=False)
    for colour, marker, code in looks:
        at = codes == code
        axes.scatter(
            x[at], y[at], s=9, color=colour, marker=marker, linewidths=0, label=_plain(names[code])
        )


def _plain(text: str) -> str:
    """Return a name that matplotlib shows as it is: "$" would start a formula."""
    return str(text).replace("$", r"\$")


def panel_methods(summary: Mapping[str, Any], facts: Mapping[str, Any]) -> str:
    """Return the methods section of a panel as Markdown, with its numbers and versions."""
    method, versions = summary["method"], summary["reproduce"]["versions"]
    structure, caveats = summary["structure"], summary["caveats"]
    what, *words = summary["words"]
    said = [what, *facts["notes"], *words[:-1], *facts["constraints"]]
    if structure is not None and structure["verdict"] != "clusters":
        said.append(structure["sentence"])
    if structure is None:
        said.append("Whether there are clusters was not tested.")
    said.append(
        "Genes are ordered by forward selection from the clusters that were found: the first k are "
        "the panel of k genes."
    )
    said += kept_types(summary)
    listed = ", ".join(f"{name} {number}" for name, number in versions.items())
    done = f"Settings: `{' '.join(facts['settings'].split())}`. Versions: {listed}."
    if method["seed"] is not None:
        done = f"Seed {method['seed']}. {done}"
    doubts = [each["text"] for each in caveats if each["level"] == "warning"]
    mind = "\n\n## To be said beside it\n\n" + "\n".join(f"- {d}" for d in doubts) if doubts else ""
    return f"# Methods\n\n{' '.join(said)}\n\n{done}{mind}\n"


def kept_types(summary: Mapping[str, Any]) -> list[str]:
    """Say how well known types are kept, which judge only."""
    rows = {row["kind"]: row for row in (summary["evaluation"] or {}).get("rows", ())}
    if not rows:
        return []
    parts = [
        f"{rows[kind]['nmi']:.2f} (ARI {rows[kind]['ari']:.2f}) on {name}"
        for kind, name in (("selected", "the panel"), ("all", "all genes"))
    ]
    return [
        f"Known types, used to judge only: k-means agrees with them by an NMI of {parts[0]} and "
        f"{parts[1]}."
    ]


def render_panel(
    summary: Mapping[str, Any], genes: Table, figures: Mapping[str, Figure], methods: str
) -> str:
    """Return the page of a panel: one HTML document that needs no network."""
    n = genes.n_rows
    head = [name for name in HEADS if name in genes]
    rows = tuple(
        Row(str(genes["gene"][i]), tuple(Entry(_cell(name, genes[name][i])) for name in head))
        for i in range(n)
    )
    note = (
        "Means and shares are those of the values that were looked at (logarithms, where counts "
        "were normalised; not corrected for batches), inside and outside of the cluster that the "
        "gene tells best."
    )
    table = PageTable("The panel", ("gene", *(HEADS[name] for name in head)), rows, note=note)

    def drawn(*names: str) -> tuple[Block, ...]:
        shown = [figures[name] for name in names if name in figures]
        return tuple(Gallery(one.title, "", (one,), wide=True) for one in shown)

    what, *words = summary["words"]
    caveats = tuple(each["text"] for each in summary["caveats"])
    kept = kept_types(summary)
    own = methods.removeprefix("# Methods\n\n")  # the section has the title
    order = (
        "The order is that of the path: the first k genes are a good panel of k, so that a shorter "
        "one needs no other computation."
    )
    sections = [
        Section("panel", "The panel", (what, order), (Points(tuple(words + kept)), table)),
        Section("curve", "How many genes", (), drawn("curve")),
        Section("clusters", "What they tell", (), drawn("dots", "matrix")),
        Section("maps", "All genes and the panel", (), drawn("maps")),
        Section("mind", "Mind that", (), (Points(caveats),)),
        Section(
            "methods",
            "Methods",
            ("For a paper; also in methods.md.",),
            (Code(own),),
        ),
    ]
    sections = [one for one in sections if one.blocks and one.blocks != (Points(()),)]
    about = summary["table"]
    facts = (
        counted(n, "gene"),
        f"of {about['features']:,}, from {counted(about['samples'], 'cell')}",
        counted(len(summary["clusters"]["names"]), "cluster"),
        f"featsieve {summary['reproduce']['versions']['featsieve']}",
    )
    title = f"A panel of {counted(n, 'gene')}" + (f" from {about['file']}" if about["file"] else "")
    return render_html(Page(title, facts, tuple(sections)))


def _cell(name: str, value: Any) -> str:
    """Return a value of the panel as text."""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else ""
    if isinstance(value, str):
        return value
    if value != value:
        return ""
    share = name.startswith("share") or name == "certainty"
    return f"{value:.0%}" if share else f"{value:.2f}" if name == "correlation" else readable(value)

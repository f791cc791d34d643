"""A selection on the terminal: the best features, the clusters, and how far to trust them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from featsieve.cli.console import bar, print_points, with_interval

if TYPE_CHECKING:
    from rich.console import Console

    from featsieve.workflow.select import SelectionRun

MOST_FEATURES = 10


def show_run(
    console: "Console", run: "SelectionRun", summary: dict[str, Any], files: dict[str, Path]
) -> None:
    """Print what was found, its caveats and where everything is."""
    from rich.markup import escape

    n, d = run.table.X.shape
    console.print()
    console.print(
        f"[bold]{len(run.selected):,} of {d:,} features[/] selected for [bold]{run.n_clusters} "
        f"clusters[/] of {n:,} samples ({escape(run.table.name)}, {run.model.method}, "
        f"{run.seconds:.1f} s)"
    )
    console.print()
    console.print(_best_features(console, run))
    console.print(_facts(run, summary))
    caveats = [caveat["text"] for caveat in summary.get("caveats", ())]
    if caveats:
        console.print("\n[bold]Mind that[/]")
        print_points(console, caveats)
    console.print()
    for text, kind in (
        ("Open in a browser", "report"),
        ("The reduced table", "selected"),
        ("Why each feature", "features"),
        ("Cluster of samples", "samples"),
    ):
        more = ""
        if kind == "selected" and run.table.label_name is not None:
            more = f" (with the classes, column {run.table.label_name!r})"
        console.print(f"{text:<18}  {escape(str(files[kind]) + more)}", soft_wrap=True)
    ending = "".join(files["selected"].suffixes) or ".csv"
    console.print(
        f"{'For other rows':<18}  featsieve apply {escape(str(files['model']))} NEW{ending} -o "
        f"NEW-selected{ending}",
        soft_wrap=True,
    )


def _best_features(console: "Console", run: "SelectionRun") -> Any:
    """Return a table of the best features with bars for their scores."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    facts = run.features.rows(run.features["selected"]).sorted_by("rank")
    shown = facts.rows(slice(MOST_FEATURES))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("rank", justify="right")
    table.add_column("feature", overflow="fold")
    table.add_column("score", no_wrap=True, overflow="crop")
    if run.frequency is not None:
        table.add_column("selected in", justify="right")
    table.add_column("tells cluster")
    largest = float(facts["score"].max()) or 1.0
    for i in range(shown.n_rows):
        cells: list[str | Text] = [
            str(shown["rank"][i]),
            Text(str(shown["feature"][i])),
            Text(bar(console, float(shown["score"][i]) / largest), style="cyan"),
        ]
        if run.frequency is not None:
            cells.append(f"{shown['selection_frequency'][i]:.0%}")
        cells.append(_marks(shown["best_cluster"][i], float(shown["separation"][i])))
        table.add_row(*cells)
    more = facts.n_rows - shown.n_rows
    if more > 0:
        table.caption = f"and {more:,} more in features.csv"
        table.caption_justify = "left"
    return table


def _marks(cluster: Any, separation: float) -> str:
    """Say which cluster a feature tells from the others, and how."""
    if np.isnan(separation):
        return ""
    return f"{cluster}, {'high' if separation > 0 else 'low'} there"


def _facts(run: "SelectionRun", summary: dict[str, Any]) -> Any:
    """Return the numbers that say how far the selection can be trusted, each with its meaning."""
    from rich.table import Table

    from featsieve.criteria.structure import noise_level
    from featsieve.workflow.messages import structure_verdict

    table = Table.grid(padding=(0, 2))
    count = getattr(run.selector, "cluster_count_", None)
    sizes = ", ".join(f"{size:,}" for size in np.bincount(run.labels) if size)
    found = ""
    if count is not None:
        low, high = count.plausible_range
        found = f"found, right within a factor of about two: {low} to {high}; "
    table.add_row("clusters", f"{run.n_clusters} ({found}of {sizes} samples)")
    equal = getattr(run.selector, "equivalent_range_", None)
    told = "" if equal is None else f" (found; {equal[0]:,} to {equal[1]:,} are about as good)"
    table.add_row("features", f"{len(run.selected):,}{told}")
    noise = noise_level(len(run.labels))
    certain = (summary.get("structure") or {}).get("certain")
    words = structure_verdict(run.structure, noise, certain=certain)
    table.add_row("structure", f"{run.structure:.2f} (noise reaches {noise:.2f}): {words}")
    stability = run.stability
    if stability is not None and not np.isnan(stability.value):
        table.add_row(
            "stability",
            f"{with_interval(stability)}; 1: the same features come back from 80 % of the rows, 0: "
            "as by chance",
        )
    for i, text in enumerate(_judged(run, summary.get("evaluation"))):
        table.add_row("" if i else "known classes", text)
    return table


def _judged(run: "SelectionRun", evaluation: dict[str, Any] | None) -> list[str]:
    """Say how far clusters agree with known classes: those of the method, and of k-means."""
    from featsieve.evaluation.judging import clear_difference, too_many_classes

    y = run.table.complete_y
    if y is None or run.agreement is None:
        return []
    own = getattr(run.selector, "labels_", None) is not None
    whose = run.model.method if own else "k-means"
    told = [f"clusters of {whose} ({run.n_clusters}): {_scores(run.agreement)}"]
    rows = {row["kind"]: row for row in (evaluation or {}).get("rows", ())}
    for kind, columns in (("selected", "the {:,} selected features"), ("all", "all {:,} features")):
        if kind in rows:
            where = columns.format(rows[kind]["n_features"])
            told.append(f"k-means on {where}: {_scores(rows[kind])}")
    if evaluation and {"selected", "all"} <= set(rows):
        lost = rows["all"]["accuracy"] - rows["selected"]["accuracy"]
        if lost >= clear_difference(evaluation["samples"]):
            told[-1] += " (clearly better: the selection lost some of what tells classes apart)"
    count, n = len(np.unique(y)), len(y)
    if too_many_classes(count, n):
        told.append(f"{count:,} classes of {n:,} samples: these numbers mean nothing")
    return [*told, "labels used to judge only: the selection has not seen them"]


def _scores(scores: dict[str, float]) -> str:
    """Return accuracy and mutual information in words."""
    return f"accuracy {scores['accuracy']:.2f}, NMI {scores['nmi']:.2f}"

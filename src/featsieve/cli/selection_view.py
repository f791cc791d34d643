"""A selection on the terminal: the best features, the clusters, and how far to trust them."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from featsieve.cli.console import facts_grid, plain_table, with_interval

if TYPE_CHECKING:
    from rich.console import Console

    from featsieve.workflow.select import SelectionRun

MOST_FEATURES = 10
BAR_WIDTH = 20


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
    console.print(_best_features(run))
    console.print(facts_grid(_facts(run, summary)))
    if summary.get("caveats"):
        console.print("\n[bold]Mind that[/]")
        points = (("-", caveat["text"]) for caveat in summary["caveats"])
        console.print(facts_grid(points, gap=1))
    label, ending = run.table.label_name, "".join(files["selected"].suffixes) or ".csv"
    classes = "" if label is None else f" (with the classes, column {label!r})"
    console.print()
    for text, what in (
        ("Open in a browser", files["report"]),
        ("The reduced table", f"{files['selected']}{classes}"),
        ("Why each feature", files["features"]),
        ("Cluster of samples", files["samples"]),
        ("For other rows", f"featsieve apply {files['model']} NEW{ending} -o NEW-selected{ending}"),
    ):
        console.print(f"{text:<18}  {escape(str(what))}", soft_wrap=True)


def _best_features(run: "SelectionRun") -> Any:
    """Return a table of the best features with bars for their scores."""
    from rich.progress_bar import ProgressBar
    from rich.text import Text

    facts = run.features.rows(run.features["selected"]).sorted_by("rank")
    shown = facts.rows(slice(MOST_FEATURES))
    stable = ["selected in"] if run.frequency is not None else []
    left = ["feature", "score", "tells cluster"]
    table = plain_table(["rank", "feature", "score", *stable, "tells cluster"], left=left)
    largest = float(facts["score"].max()) or 1.0
    for i in range(shown.n_rows):
        row = {name: values[i] for name, values in shown.items()}
        # at least one character, also for scores of zero
        score = max(float(row["score"]) / largest, 1 / BAR_WIDTH)
        frequency = [f"{row['selection_frequency']:.0%}"] if stable else []
        side = "high" if row["separation"] > 0 else "low"
        cluster = "" if np.isnan(row["separation"]) else f"{row['best_cluster']}, {side} there"
        bar = ProgressBar(total=1.0, completed=score, width=BAR_WIDTH)
        table.add_row(str(row["rank"]), Text(str(row["feature"])), bar, *frequency, cluster)
    if facts.n_rows > shown.n_rows:
        table.caption = f"and {facts.n_rows - shown.n_rows:,} more in features.csv"
        table.caption_justify = "left"
    return table


def _facts(run: "SelectionRun", summary: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the numbers that say how far the selection can be trusted, each with its meaning."""
    from featsieve.criteria.structure import noise_level
    from featsieve.workflow.messages import structure_verdict

    count = getattr(run.selector, "cluster_count_", None)
    found = ""
    if count is not None:
        low, high = count.plausible_range
        found = f"found, right within a factor of about two: {low} to {high}; "
    sizes = ", ".join(f"{size:,}" for size in np.bincount(run.labels) if size)
    yield "clusters", f"{run.n_clusters} ({found}of {sizes} samples)"
    equal = getattr(run.selector, "equivalent_range_", None)
    more = "" if equal is None else f" (found; {equal[0]:,} to {equal[1]:,} are about as good)"
    yield "features", f"{len(run.selected):,}{more}"
    noise = noise_level(len(run.labels))
    certain = (summary.get("structure") or {}).get("certain")
    words = structure_verdict(run.structure, noise, certain=certain)
    yield "structure", f"{run.structure:.2f} (noise reaches {noise:.2f}): {words}"
    if run.stability is not None and not np.isnan(run.stability.value):
        meaning = "1: the same features come back from 80 % of the rows, 0: as by chance"
        yield "stability", f"{with_interval(run.stability)}; {meaning}"
    for i, text in enumerate(_judged(run, summary.get("evaluation"))):
        yield "" if i else "known classes", text


def _judged(run: "SelectionRun", evaluation: dict[str, Any] | None) -> list[str]:
    """Say how far clusters agree with known classes: those of the method, and of k-means."""
    from featsieve.evaluation.judging import clear_difference, too_many_classes

    y = run.table.complete_y
    if y is None or run.agreement is None:
        return []
    own = getattr(run.selector, "labels_", None) is not None
    whose = run.model.method if own else "k-means"
    found = [f"clusters of {whose} ({run.n_clusters}): {_scores(run.agreement)}"]
    rows = {row["kind"]: row for row in (evaluation or {}).get("rows", ())}
    for kind, columns in (("selected", "the {:,} selected features"), ("all", "all {:,} features")):
        if kind in rows:
            where = columns.format(rows[kind]["n_features"])
            found.append(f"k-means on {where}: {_scores(rows[kind])}")
    if evaluation and {"selected", "all"} <= set(rows):
        lost = rows["all"]["accuracy"] - rows["selected"]["accuracy"]
        if lost >= clear_difference(evaluation["samples"]):
            found[-1] += " (clearly better: the selection lost some of what tells classes apart)"
    count, n = len(np.unique(y)), len(y)
    if too_many_classes(count, n):
        found.append(f"{count:,} classes of {n:,} samples: these numbers mean nothing")
    return [*found, "labels used to judge only: the selection has not seen them"]


def _scores(scores: dict[str, float]) -> str:
    """Return accuracy and mutual information in words."""
    return f"accuracy {scores['accuracy']:.2f}, NMI {scores['nmi']:.2f}"

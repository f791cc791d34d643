"""A selection on the terminal: the best features, what the report says of them, and the files."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from featsieve.cli.console import facts_grid, plain_table

if TYPE_CHECKING:
    from rich.console import Console

    from featsieve.workflow.select import SelectionRun

MOST_FEATURES = 10
BAR_WIDTH = 20


def show_run(
    console: "Console", run: "SelectionRun", summary: dict[str, Any], files: dict[str, Path]
) -> None:
    """Print what was found, its caveats and where everything is."""
    from rich.text import Text

    what, *words = summary["words"]
    console.print(Text(f"\n{what}\n", style="bold"))
    console.print(_best_features(run))
    console.print(_points([*words, *_judged(summary)]))
    if summary["caveats"]:
        console.print("\n[bold]Mind that[/]")
        console.print(_points(caveat["text"] for caveat in summary["caveats"]))
    label, ending = run.table.label_name, "".join(files["selected"].suffixes) or ".csv"
    classes = "" if label is None else f" (with the classes, column {label!r})"
    console.print()
    for text, where in (
        ("Open in a browser", files["report"]),
        ("The reduced table", f"{files['selected']}{classes}"),
        ("Why each feature", files["features"]),
        ("Cluster of samples", files["samples"]),
        ("For other rows", f"featsieve apply {files['model']} NEW{ending} -o NEW-selected{ending}"),
    ):
        console.print(Text(f"{text:<18}  {where}"), soft_wrap=True)


def _points(sentences: Iterable[str]) -> Any:
    """Return sentences as a list."""
    return facts_grid((("-", sentence) for sentence in sentences), gap=1)


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


def _judged(summary: dict[str, Any]) -> Iterator[str]:
    """Say how far clusters agree with known classes: those of k-means, and of the method."""
    names = {
        "selected": "k-means on the {n:,} selected features",
        "all": "k-means on all {n:,} features",
        "clusters": "the clusters above",
    }
    rows = (summary["evaluation"] or {}).get("rows", ())
    scores = [
        f"{names[row['kind']].format(n=row['n_features'])}: accuracy {row['accuracy']:.2f}, "
        f"NMI {row['nmi']:.2f}"
        for row in rows
    ]
    if scores:
        yield f"Known classes, used to judge only: {'; '.join(scores)}."

"""The summary of a selection: everything that its report shows, and the essence for machines."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from featsieve.io.files import legible, write_text
from featsieve.io.guard import read_small
from featsieve.report import render_selection, summarize_selection
from featsieve.workflow.messages import Note
from featsieve.workflow.select import SelectionRun

# Kinds of notes that are among the caveats of a report.
REPORTED = {"constant", "filled", "NoStructureWarning", "ConvergenceWarning"}


def summarize(
    run: SelectionRun,
    *,
    names: dict[str, str] | None = None,
    source: str | os.PathLike[str] | None = None,
    image_shape: tuple[int, int] | None = None,
    command: str | None = None,
) -> dict[str, Any]:
    """Return everything that the report of a selection shows."""
    table, clusters = run.table, run.settings["clusters"]
    about = {
        "title": legible(f"Selected features of {table.name}"),
        "file": None if source is None else legible(Path(source).name),
        "command": command,
        "seconds": run.seconds,
        "dropped": table.dropped,
        "filled": next((str(note) for note in run.notes if note.kind == "filled"), None),
        "standardized": run.settings["standardize"],
        "seed": run.settings["seed"],
        "n_clusters": None if isinstance(clusters, str) else clusters,
        "notes": unreported(run),
        "files": dict(names or {}),
    }
    return summarize_selection(
        run.selector,
        run.prepared.X,
        feature_names=table.feature_names,
        sample_names=table.sample_names,
        frequency=run.frequency,
        stability=run.stability,
        structure=run.structure,
        y=table.complete_y,
        class_names=None if table.complete_y is None else table.class_names,
        image_shape=image_shape,
        about=about,
    )


def unreported(run: SelectionRun) -> list[Note]:
    """Return the notes that a report does not tell as caveats of its own."""
    return [note for note in run.notes if note.kind not in REPORTED]


def outcome(run: SelectionRun, summary: dict[str, Any], files: dict[str, Path]) -> dict[str, Any]:
    """Return what came of a selection in a few plain values for machines."""
    stability = None
    if run.stability is not None and not np.isnan(run.stability.value):
        stability = {"value": run.stability.value, "interval": list(run.stability.interval)}
    equal = getattr(run.selector, "equivalent_range_", None)
    return {
        "table": run.table.name,
        "n_samples": int(run.table.X.shape[0]),
        "n_features": int(run.table.X.shape[1]),
        "selected": run.selected,
        "n_selected": len(run.selected),
        "equivalent_range": None if equal is None else [int(end) for end in equal],
        "n_clusters": run.n_clusters,
        "structure_score": run.structure,
        "stability": stability,
        "agreement_with_classes": run.agreement,
        "settings": run.settings,
        "seconds": run.seconds,
        "caveats": summary["caveats"],
        "notes": list(run.notes),
        "files": {kind: str(path) for kind, path in files.items()},
    }


def read_summary(path: Path) -> dict[str, Any]:
    """Return the summary of a selection."""
    try:
        summary = json.loads(read_small(path, what="summary of a selection"))
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"{path} is no summary of a selection: {error}.") from error
    if not isinstance(summary, dict) or "format" not in summary:
        raise ValueError(f"{path} is no summary of a selection: it has no format number.")
    return summary


def render_again(summary: Path, output: Path) -> None:
    """Write the report of a selection from its summary."""
    write_text(output, render_selection(read_summary(summary)))

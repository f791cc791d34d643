"""Curves of a selection: the criterion, what each feature adds, the objective."""

from typing import Any

import numpy as np

from featsieve.criteria.selected_clusters import layers
from featsieve.report.selection.inputs import Selection
from featsieve.report.selection.numbers import plains

# Points of a path that are drawn.
MOST_STEPS = 400


def criterion_curve(selection: Selection) -> dict[str, Any] | None:
    """Return the curve of the label-free criterion, if one chose the number of features."""
    for depth, layer in enumerate(layers(selection.selector)):
        curve = getattr(getattr(layer, "path_", None), "curve", None)
        if curve is not None:
            return {
                "criterion": str(curve.criterion),
                "sizes": curve.sizes.tolist(),
                "values": plains(curve.values),
                "errors": plains(curve.errors),
                "nearly_equal": curve.nearly_equal.tolist(),
                "chosen": int(curve.chosen),
                "equivalent": [int(size) for size in curve.equivalent_range],
                "tolerance": float(curve.tolerance),
                "sparsest": bool(curve.sparsest),
                "inner": depth > 0,
            }
    return None


def selection_path(selection: Selection) -> dict[str, Any]:
    """Return what each next feature adds, or how the scores fall along the ranking."""
    names = selection.feature_names
    for depth, layer in enumerate(layers(selection.selector)):
        path: Any = getattr(layer, "path_", None)
        if hasattr(path, "half_gains") and len(path.half_gains):
            order = path.order[:MOST_STEPS]
            return {
                "kind": "gains",
                "name": [names[j] for j in order],
                "gain": plains(path.half_gains[:MOST_STEPS]),
                "price": plains(path.sparsity[:MOST_STEPS]),
                "loss": plains(path.loss[: MOST_STEPS + 1]),
                "length": len(path.order),
                "chosen": int(layer.get_support().sum()),
                "inner": depth > 0
                and not np.array_equal(layer.get_support(), selection.facts["selected"]),
            }
    order = np.argsort(selection.facts["rank"])
    shown = order[:MOST_STEPS]
    return {
        "kind": "scores",
        "name": [names[j] for j in shown],
        "score": plains(selection.facts["score"][shown]),
        "length": len(order),
        "chosen": len(selection.chosen),
        "inner": False,
    }


def objective_steps(selection: Selection) -> dict[str, Any] | None:
    """Return the objective after every iteration, and how the solver ended."""
    values = selection.fitted("objective_")
    if values is None or not len(np.atleast_1d(values)):
        return None
    status = selection.fitted("status_")
    return {
        "values": plains(np.atleast_1d(values)[:MOST_STEPS], 8),
        "status": None if status is None else str(status.value),
        "success": True if status is None else bool(status.success),
    }

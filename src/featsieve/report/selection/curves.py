"""Curves of a selection: the criterion, what each feature adds, the objective."""

from typing import Any

import numpy as np

from featsieve.report.selection.inputs import Selection, layers
from featsieve.report.selection.numbers import plains

# Points of a path that are drawn.
MOST_STEPS = 400


def criterion_curve(selection: Selection) -> dict[str, Any] | None:
    """Return the curve of the label-free criterion, if one chose the number of features.

    Parameters
    ----------
    selection : Selection

    Returns
    -------
    dict or None
        "criterion", "sizes", "values", "errors", "nearly_equal", "chosen", "equivalent" (range),
        "tolerance", "sparsest" (as in `CriterionCurve`), and "inner": whether it belongs to the
        selector inside, whose number is not the final one.

    Examples
    --------
    >>> from featsieve import JASFS
    >>> from featsieve.datasets import make_planted
    >>> from featsieve.report.selection.curves import criterion_curve
    >>> from featsieve.report.selection.inputs import gather
    >>> X = make_planted(60, 30, n_informative=6, n_clusters=3, random_state=0).X
    >>> curve = criterion_curve(gather(JASFS(3, random_state=0).fit(X), X))
    >>> curve["criterion"], curve["chosen"] in curve["sizes"]
    ('modularity', True)
    """
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
    """Return what each next feature adds, or how the scores fall along the ranking.

    Parameters
    ----------
    selection : Selection

    Returns
    -------
    dict
        "kind": "gains" (with "gain", "price" and "loss") or "scores" (with "score"); "name": the
        features, best first; "chosen": their number; "inner" as in ``criterion_curve``.

    Examples
    --------
    >>> import numpy as np
    >>> from featsieve import MaxVariance
    >>> from featsieve.report.selection.curves import selection_path
    >>> from featsieve.report.selection.inputs import gather
    >>> X = np.array([[0.0, 1, 0], [0, 2, 1], [9, 1, 0], [9, 2, 1]])
    >>> path = selection_path(gather(MaxVariance(1).fit(X), X))
    >>> path["kind"], path["name"], path["chosen"]
    ('scores', ['x0', 'x1', 'x2'], 1)
    """
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
    """Return the objective after every iteration, and how the solver ended.

    Parameters
    ----------
    selection : Selection

    Returns
    -------
    dict or None
        "values", "status" (a few words or None), "success".

    Examples
    --------
    >>> from featsieve import JASFS
    >>> from featsieve.datasets import make_planted
    >>> from featsieve.report.selection.curves import objective_steps
    >>> from featsieve.report.selection.inputs import gather
    >>> X = make_planted(60, 30, n_informative=6, n_clusters=3, random_state=0).X
    >>> objective_steps(gather(JASFS(3, random_state=0).fit(X), X))["success"]
    True
    """
    values = selection.fitted("objective_")
    if values is None or not len(np.atleast_1d(values)):
        return None
    status = selection.fitted("status_")
    return {
        "values": plains(np.atleast_1d(values)[:MOST_STEPS], 8),
        "status": None if status is None else str(status.value),
        "success": True if status is None else bool(status.success),
    }

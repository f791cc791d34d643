"""What was done and how it went: the table, the method, the numbers chosen, the iterations."""

from collections.abc import Mapping
from inspect import Parameter, signature
from numbers import Integral, Real
from typing import Any

import numpy as np

from featsieve import defaults
from featsieve.criteria.selected_clusters import layers
from featsieve.criteria.structure import noise_level, quick_structure
from featsieve.evaluation import Stability
from featsieve.report.selection.inputs import Selection
from featsieve.report.selection.values import json_safe, plain, plains

# Points of a path that are drawn.
MOST_STEPS = 400


def table_facts(selection: Selection, about: Mapping[str, Any]) -> dict[str, Any]:
    """Return facts about the table."""
    X = selection.X
    sparse = hasattr(X, "nnz")
    density = X.nnz / (X.shape[0] * X.shape[1]) if sparse else 1.0
    filled = about.get("filled")
    return {
        "file": about.get("file") and str(about["file"]),
        "samples": int(X.shape[0]),
        "features": int(X.shape[1]),
        "sparse": bool(sparse),
        "density": plain(density, 3),
        "named": selection.named,
        "constant": int((~selection.varies).sum()),
        "constant_selected": int((~selection.varies[selection.chosen]).sum()),
        "dropped": [str(name) for name in about.get("dropped") or ()],
        "filled": json_safe(filled) if filled else None,
        "standardized": bool(about.get("standardized", False)),
        "spread": plain(selection.spread, 3),
    }


def method_facts(selection: Selection, about: Mapping[str, Any]) -> dict[str, Any]:
    """Return facts about the method."""
    names = [type(layer).__name__ for layer in layers(selection.selector)]
    parameters = selection.selector.get_params(deep=True)
    settings = about.get("settings") or parameters
    innermost = list(layers(selection.selector))[-1]
    seeds = [v for k, v in parameters.items() if k.endswith("random_state") and v is not None]
    n_iter = selection.fitted("n_iter_")
    seconds = about.get("seconds")
    return {
        "name": names[0],
        "inner": names[-1] if len(names) > 1 else None,
        "settings": json_safe({str(k): v for k, v in settings.items()}),
        "changed": [
            key for key in settings if key not in parameters or _is_changed(selection, key)
        ],
        "scale": json_safe(getattr(innermost, "scale", None)),
        "seed": json_safe(about.get("seed", seeds[0] if seeds else None)),
        "random": any(k.endswith("random_state") for k in parameters),
        "seconds": None if seconds is None else plain(seconds, 3),
        "iterations": int(n_iter) if isinstance(n_iter, Integral) else None,
    }


def number_facts(selection: Selection, curve: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return how the number of features was chosen."""
    selector = selection.selector
    asked = getattr(selector, "n_features_to_select", None)
    facts: dict[str, Any] = {"selected": len(selection.chosen), "asked": None, "equivalent": None}
    if curve is not None and not curve["inner"]:
        return facts | {"how": "criterion", "equivalent": curve["equivalent"]}
    if hasattr(selector, "selection_frequency_") and asked is None:
        return facts | {"how": "frequency", "asked": plain(selector.threshold)}
    if isinstance(asked, Integral):
        return facts | {"how": "count", "asked": int(asked)}
    if isinstance(asked, Real):
        return facts | {"how": "share", "asked": plain(asked)}
    price = getattr(selector, "sparsity_", None)
    return facts | {"how": "price", "asked": None if price is None else plain(price)}


def cluster_facts(selection: Selection) -> dict[str, Any] | None:
    """Return how the clusters were found; None if there are none."""
    clusters = selection.clusters
    if clusters is None:
        return None
    count = selection.fitted("cluster_count_")
    accuracy = selection.fitted("label_accuracy_") if clusters.source == "method" else None
    return {
        "names": clusters.names,
        "source": clusters.source,
        "number": clusters.number,
        "plausible": None if count is None else [int(end) for end in count.plausible_range],
        "accuracy": None if accuracy is None else plain(accuracy, 4),
    }


def structure_facts(selection: Selection, given: float | None) -> dict[str, Any] | None:
    """Return how much clearer the clusters are than in the table with permuted columns."""
    clusters = selection.clusters
    n_seen = min(selection.X.shape[0], defaults.STRUCTURE_SAMPLES)
    noise, certain = noise_level(n_seen), None
    if clusters is not None and len(clusters.names) > 1 and (given is None or given < noise):
        score, certain = quick_structure(selection.X, clusters.codes)
        given = score if given is None else given
    if given is None:
        return None
    return {"score": plain(given, 3), "noise": plain(noise, 3), "certain": certain}


def stability_facts(selection: Selection, given: Stability | None) -> dict[str, Any] | None:
    """Return how far selections from subsamples agree; None if nobody looked."""
    if given is None:
        value = selection.fitted("stability_")
        if value is None:
            return None
        given = Stability(
            float(value),
            tuple(selection.fitted("stability_interval_")),
            np.nan,
            len(selection.fitted("selections_")),
        )
    return {
        "value": plain(given.value, 4),
        "interval": [plain(end, 4) for end in given.interval],
        "n_selections": int(given.n_selections),
    }


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


def _is_changed(selection: Selection, key: str) -> bool:
    """Say whether a parameter (``selector__`` for one inside) differs from its default."""
    owner, name = selection.selector, key
    while "__" in name and hasattr(owner, "selector"):
        owner, name = owner.selector, name.partition("__")[2]
    default = signature(type(owner)).parameters.get(name)
    value = getattr(owner, name, None)
    if default is None or default.default is Parameter.empty:
        return True
    same = isinstance(value, str | Real) and value == default.default
    return not (value is default.default or same)

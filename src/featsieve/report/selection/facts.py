"""What was done and how it went: the table, the method, the numbers chosen, the true classes."""

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

from featsieve import defaults
from featsieve.criteria.selected_clusters import layers
from featsieve.evaluation import ClusteringScores, Stability
from featsieve.evaluation.judging import Judge, chance_agreement
from featsieve.report.selection.values import plain, plains
from featsieve.tuning.selection import Selection

# Features along the ranking that are drawn.
MOST_STEPS = 400


def table_facts(selection: Selection, about: Mapping[str, Any]) -> dict[str, Any]:
    """Return facts about the table; empty columns, which a note names, are no features."""
    dropped = [str(name) for name in about.get("dropped") or ()]
    empty = set(dropped) & set(selection.feature_names)
    X, spreads = selection.X, selection.spreads
    sparse = hasattr(X, "nnz")
    varying = spreads[spreads > 0.0]
    # ratio of a large to a small standard deviation: 1 in 20 columns is beyond either
    low, high = np.quantile(varying, (0.05, 0.95)) if len(varying) else (np.nan, np.nan)
    return {
        "file": about.get("file") and str(about["file"]),
        "samples": int(X.shape[0]),
        "features": int(X.shape[1]) - len(empty),
        "sparse": sparse,
        "density": plain(X.nnz / (X.shape[0] * X.shape[1]) if sparse else 1.0, 3),
        "named": selection.named,
        "constant": len(spreads) - len(varying) - len(empty),
        "constant_selected": len(selection.chosen) - len(selection.shown),
        "dropped": [name for name in dropped if name not in empty],
        "standardized": bool(about.get("standardized", False)),
        "spread": plain(high / low, 3),
    }


def method_facts(selection: Selection, about: Mapping[str, Any]) -> dict[str, Any]:
    """Return facts about the method; its settings are those that differ from the defaults."""
    inside = list(layers(selection.selector))
    parameters = selection.selector.get_params(deep=True)
    seeds = [v for k, v in parameters.items() if k.endswith("random_state") and v is not None]
    seed = about.get("seed", seeds[0] if seeds else None)
    seconds, status = about.get("seconds"), selection.fitted("status_")
    return {
        "name": type(inside[0]).__name__,
        "inner": type(inside[-1]).__name__ if len(inside) > 1 else None,
        "settings": repr(selection.selector),
        "unscaled": type(inside[-1]).__name__ == "MaxVariance"
        or getattr(inside[-1], "scale", None) == "none",
        "seed": None if seed is None else str(seed),
        "random": any(k.endswith("random_state") for k in parameters),
        "seconds": None if seconds is None else plain(seconds, 3),
        "stopped": None if status is None or status.success else str(status.value),
    }


def number_facts(selection: Selection, curve: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return how the number of features was chosen."""
    selector = selection.selector
    asked = getattr(selector, "n_features_to_select", None)
    facts: dict[str, Any] = {"selected": len(selection.chosen), "asked": None, "equivalent": None}
    if "q_value" in selection.facts:
        facts["significant"] = int((selection.facts["q_value"] <= defaults.QVALUE_LEVEL).sum())
        if asked == "significant" and facts["significant"]:
            return facts | {"how": "significant"}
    if curve is not None and not curve["inner"]:
        return facts | {"how": "criterion", "equivalent": curve["equivalent"]}
    if hasattr(selector, "selection_frequency_") and asked is None:
        return facts | {"how": "frequency", "asked": plain(selector.threshold)}
    budget = getattr(selector, "budget", None)
    if budget is not None:
        return facts | {"how": "budget", "asked": plain(budget)}
    if isinstance(asked, Integral):
        return facts | {"how": "count", "asked": int(asked)}
    if isinstance(asked, Real):
        return facts | {"how": "share", "asked": plain(asked)}
    price = getattr(selector, "sparsity_", None)
    return facts | {"how": "price", "asked": None if price is None else plain(price)}


def stability_facts(selection: Selection, given: Stability | None) -> dict[str, Any] | None:
    """Return how far selections from subsamples agree; None if nobody looked."""
    if given is not None:
        value, interval, count = given.value, given.interval, given.n_selections
    elif (value := selection.fitted("stability_")) is not None:
        interval = selection.fitted("stability_interval_")
        count = len(selection.fitted("selections_"))
    else:
        return None
    return {"value": plain(value, 4), "interval": plains(interval, 4), "n_selections": int(count)}


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
                "tolerance": float(curve.margin),
                "inner": depth > 0,
            }
    return None


def selection_path(selection: Selection) -> dict[str, Any] | None:
    """Return what each next feature adds, None for a method that does not say."""
    for layer in layers(selection.selector):
        path: Any = getattr(layer, "path_", None)
        if len(getattr(path, "half_gains", ())):
            support = layer.get_support()
            return {
                "name": [selection.feature_names[j] for j in path.order[:MOST_STEPS]],
                "value": plains(path.half_gains[:MOST_STEPS]),
                "length": len(path.order),
                "chosen": int(support.sum()),
                "inner": not np.array_equal(support, selection.facts["selected"]),
            }
    return None


def class_facts(
    selection: Selection, codes: np.ndarray, names: list[str], column: str | None = None
) -> dict[str, Any]:
    """Return how well k-means finds the true classes in the selected columns, and in all."""
    clusters = selection.clusters
    judge = Judge(selection.inside, codes, selection.owner)
    facts: dict[str, Any] = {
        "classes": names,
        "sizes": np.bincount(codes, minlength=len(names)).tolist(),
        "rows": [],
        "samples": judge.n_samples,
        "table": None,
        "skipped": None,
        "column": column,
        "agreement": None,
    }
    if not judge.can or len(names) > judge.n_samples:
        facts["skipped"] = "There are too few samples or classes to compare with."
        return facts
    chosen, d = len(selection.chosen), selection.X.shape[1]
    by_selected = judge.scores(selection.columns_of(selection.chosen))
    scores = [("selected", chosen, by_selected), ("all", d, judge.scores())]
    if clusters is not None:
        if clusters.source == "method":
            own = ClusteringScores.of_labels(codes, clusters.codes)
            scores.append(("clusters", chosen, own))
        table = np.zeros((len(clusters.names), len(names)), dtype=int)
        np.add.at(table, (clusters.codes, codes), 1)
        facts["table"] = table.tolist()
        facts["agreement"] = plains(chance_agreement(clusters.codes, codes), 4)
    for kind, count, found in scores:
        row = dict(zip(("accuracy", "nmi", "ari"), plains(found.mean(), 4), strict=True))
        facts["rows"].append({"kind": kind, "n_features": count} | row)
    return facts

"""What is written into an AnnData object: the selection, the clusters, and how they were found."""

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import numpy as np

from featsieve.criteria.selected_clusters import layers


def names_of(key: str | None) -> dict[str, str]:
    """Return what is written, by its name in the object."""
    prefix = "featsieve" if key is None else key
    names = {part: f"{prefix}_{part}" for part in ("score", "rank", "cluster")}
    return {"selected": "selected" if key is None else f"{key}_selected", "uns": prefix, **names}


def columns_of(adata: Any, fitted: Any, mask: np.ndarray, names: Mapping[str, str]) -> Any:
    """Return selection, score and rank of every gene as a data frame."""
    import pandas as pd  # comes with anndata

    selected = np.zeros(len(mask), dtype=bool)
    selected[mask] = fitted.get_support()
    columns = {names["selected"]: selected}
    for part, values in (("score", fitted.scores_), ("rank", fitted.ranking_)):
        columns[names[part]] = np.full(len(mask), np.nan)
        columns[names[part]][mask] = values
    return pd.DataFrame(columns, index=adata.var_names)


def write_clusters(adata: Any, fitted: Any, name: str) -> None:
    """Write the clusters of the cells, or remove those of an earlier selection."""
    import pandas as pd

    labels = getattr(fitted, "labels_", None)
    if labels is None:
        if name in adata.obs:
            del adata.obs[name]
        return
    clusters = [str(value) for value in np.unique(labels)]
    adata.obs[name] = pd.Categorical([str(value) for value in labels], categories=clusters)


def about_fit(fitted: Any, source: Mapping[str, str]) -> dict[str, Any]:
    """Return how a selection was made, in types that a .h5ad file can hold."""
    import featsieve  # which holds this module

    about: dict[str, Any] = {
        "selector": type(fitted).__name__,
        "params": storable(fitted.get_params()),
        "n_genes": int(fitted.n_features_selected_),
        **{name: value for name, value in source.items() if value},
        "versions": {
            "featsieve": featsieve.__version__,
            **{name: version(name) for name in ("anndata", "numpy", "scikit-learn", "scipy")},
        },
    }
    for layer in layers(fitted):
        if hasattr(layer, "n_clusters_"):
            about.setdefault("n_clusters", int(layer.n_clusters_))
    if hasattr(fitted, "stability_"):
        about["stability"] = float(fitted.stability_)
    if hasattr(fitted, "status_"):
        about |= {"status": fitted.status_.value, "objective": np.asarray(fitted.objective_)}
    curve = getattr(getattr(fitted, "path_", None), "curve", None)
    if curve is not None:
        about["criterion"] = {
            "name": curve.criterion,
            "n_genes": curve.sizes,
            "value": curve.values,
            "standard_error": curve.errors,
            "chosen": curve.chosen,
            "equivalent_range": np.array(curve.equivalent_range),
        }
    return about


def storable(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as numbers, words and arrays; None is left out, all else is described."""
    kept: dict[str, Any] = {}
    for name, value in params.items():
        if isinstance(value, bool | int | float | str):
            kept[name] = value
        elif isinstance(value, np.generic):
            kept[name] = value.item()
        elif isinstance(value, np.ndarray) and value.dtype.kind in "biufU":
            kept[name] = value
        elif isinstance(value, list | tuple) and all(isinstance(v, int | float) for v in value):
            kept[name] = np.array(value)
        elif value is not None:
            kept[name] = repr(value)
    return kept

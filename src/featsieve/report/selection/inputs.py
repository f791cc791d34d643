"""What a report of a selection is made from: the fitted selector, its table, names and clusters."""

from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np

from featsieve.arrays import as_operator
from featsieve.arrays.namespace import to_numpy
from featsieve.criteria.selected_clusters import (
    Clusters,
    best_first,
    layers,
    selected_clusters,
)
from featsieve.evaluation.checks import as_classes
from featsieve.tables import Table
from featsieve.tuning.explanation import explain
from featsieve.validation import as_table


@dataclass(frozen=True)
class Selection:
    """A fitted selector with the table it was fitted to."""

    selector: Any
    X: Any
    feature_names: list[str]
    named: bool
    sample_names: list[str] | None
    clusters: Clusters | None
    facts: Table

    @cached_property
    def chosen(self) -> np.ndarray:
        """Indices of the selected features, best first."""
        return best_first(self.facts["selected"], self.facts["rank"])

    @cached_property
    def varies(self) -> np.ndarray:
        """Mask of the columns that vary."""
        return self._spreads > 0.0

    @property
    def spread(self) -> float:
        """Ratio of a large to a small standard deviation (1 in 20 columns each); NaN if none."""
        spreads = self._spreads[self.varies]
        if not len(spreads):
            return np.nan
        low, high = np.quantile(spreads, (0.05, 0.95))
        return float(high / low)

    @cached_property
    def _spreads(self) -> np.ndarray:
        """Standard deviations of the columns, 0 for those that do not vary."""
        operator = as_operator(self.X)
        return np.sqrt(to_numpy(operator.column_norms()) / operator.shape[0])

    def fitted(self, name: str) -> Any:
        """Return an attribute of the selector, or of the one inside it; None if neither has it."""
        return next((getattr(s, name) for s in layers(self.selector) if hasattr(s, name)), None)


def gather(
    selector: Any,
    X: Any,
    *,
    feature_names: Any = None,
    sample_names: Any = None,
    n_clusters: int | None = None,
    pixels: tuple[int, int] | None = None,
) -> Selection:
    """Check what was given, and find names and clusters."""
    columns = getattr(X, "columns", None)
    index = getattr(X, "index", None)
    own_names = getattr(selector, "feature_names_in_", None)
    if columns is not None and own_names is None:  # fitted without names: they are for the reader
        feature_names = list(columns) if feature_names is None else feature_names
        X = np.asarray(X)
    table = as_table(X, owner="The report")
    if table.shape[1] != getattr(selector, "n_features_in_", None) or not hasattr(
        selector, "ranking_"
    ):
        explain(selector, X)  # says what is wrong
    names = own_names if feature_names is None else feature_names
    names, named = _feature_names(names, table.shape[1], pixels)
    clusters = selected_clusters(selector, table, n_clusters=n_clusters)
    by_k_means = clusters is not None and clusters.source == "k-means"
    facts = explain(selector, X, labels=clusters.codes if clusters and by_k_means else None)
    return Selection(
        selector=selector,
        X=table,
        feature_names=names,
        named=named,
        sample_names=_sample_names(sample_names, index, table.shape[0]),
        clusters=clusters,
        facts=facts,
    )


def check_classes(
    y: Any, class_names: Any, n_samples: int
) -> tuple[np.ndarray, list[str]] | tuple[None, None]:
    """Return the classes as codes 0, 1, ... with their names; None, None if there are none."""
    if y is None:
        return None, None
    codes = as_classes("y", y, n_samples=n_samples)
    values = np.unique(np.asarray(y)).tolist()
    if class_names is None:
        return codes, [str(value) for value in values]
    names = [str(name) for name in class_names]
    usable = all(isinstance(v, int | float) and 0 <= v < len(names) for v in values)
    if not usable:
        raise ValueError(
            f"class_names holds {len(names)} names, so y must hold integers from 0 to "
            f"{len(names) - 1}; got {values[:5]!r}. Leave class_names out if y holds the names."
        )
    return codes, [names[int(value)] for value in values]


def check_shape(image_shape: Any, n_features: int) -> tuple[int, int] | None:
    """Return (rows, columns) of the image that the features make; None if there is none."""
    if image_shape is None:
        return None
    if isinstance(image_shape, str):
        if image_shape != "guess":
            raise ValueError(
                "image_shape must be (rows, columns), 'guess' for a square, or None; got "
                f"{image_shape!r}."
            )
        side = round(n_features**0.5)
        return (side, side) if side > 1 and side * side == n_features else None
    shape = tuple(image_shape)
    if len(shape) != 2 or not all(isinstance(s, Integral) and int(s) > 0 for s in shape):
        raise ValueError(
            f"image_shape must be (rows, columns), two positive integers; got {image_shape!r}."
        )
    height, width = int(shape[0]), int(shape[1])
    if height * width != n_features:
        raise ValueError(
            f"image_shape={height} x {width} makes {height * width} pixels, but X has {n_features} "
            "columns: pass the shape of one image."
        )
    return height, width


def _feature_names(
    names: Any, n_features: int, pixels: tuple[int, int] | None
) -> tuple[list[str], bool]:
    """Return the names of all features, and whether anybody gave them."""
    if names is not None:
        return _texts("feature_names", names, n_features, "column of X, selected or not"), True
    if pixels is not None:
        width = pixels[1]
        return [f"r{j // width + 1}c{j % width + 1}" for j in range(n_features)], False
    return [f"x{j}" for j in range(n_features)], False


def _sample_names(given: Any, index: Any, n_samples: int) -> list[str] | None:
    """Return the names of the samples; None where they are only numbered."""
    if given is None and index is not None and list(index) != list(range(n_samples)):
        given = index
    return None if given is None else _texts("sample_names", given, n_samples, "row")


def _texts(argument: str, names: Any, count: int, what: str) -> list[str]:
    """Return names as texts that a file can hold, if there are as many as needed."""
    texts = [str(name).encode("utf-8", "replace").decode("utf-8") for name in names]
    if len(texts) != count:
        raise ValueError(
            f"{argument} holds {len(texts)} names where {count} are needed: pass one for every "
            f"{what}."
        )
    return texts

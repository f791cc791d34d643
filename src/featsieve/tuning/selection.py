"""A selection explained: the fitted selector, its table, names, clusters, facts of features."""

import copy
import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np

from featsieve.arrays import as_operator
from featsieve.arrays.namespace import is_foreign_array, to_numpy
from featsieve.criteria.batches import within_batches, within_batches_of_fit
from featsieve.criteria.qvalues import FeatureQValues
from featsieve.criteria.selected_clusters import (
    Clusters,
    best_first,
    fitted_attribute,
    selected_clusters,
)
from featsieve.criteria.structure import StructureTest, find_structure, is_testing
from featsieve.tables import Table
from featsieve.tuning.explanation import explain_features
from featsieve.tuning.variables import by_variable, variable_names
from featsieve.validation import check_table


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
    batch: Any = None
    whole: Any = None  # the table with all columns of features that have several
    owner: np.ndarray | None = None  # the feature of each of these
    telling: list[str] | None = None  # what the column of X is called that stands for a feature

    @property
    def table(self) -> Any:
        """The table as the selector has seen it; X has one column for every feature."""
        return self.X if self.whole is None else self.whole

    def columns_of(self, features: np.ndarray) -> np.ndarray:
        """Return the columns of ``table`` that features have."""
        return features if self.owner is None else np.flatnonzero(np.isin(self.owner, features))

    def shown_name(self, j: int) -> str:
        """Return what the values of a feature in X are called: a category has one of its levels."""
        return self.feature_names[j] if self.telling is None else self.telling[j]

    @cached_property
    def chosen(self) -> np.ndarray:
        """Indices of the selected features, best first."""
        return best_first(self.facts["selected"], self.facts["rank"])

    @cached_property
    def spreads(self) -> np.ndarray:
        """Standard deviations of the columns, 0 for those that do not vary."""
        operator = as_operator(self.X)
        return np.sqrt(to_numpy(operator.column_norms()) / operator.shape[0])

    @cached_property
    def shown(self) -> np.ndarray:
        """Indices of the selected features that vary, best first."""
        return self.chosen[self.spreads[self.chosen] > 0.0]

    @cached_property
    def best_cluster(self) -> list[str | None]:
        """Cluster that each feature tells best; None where nothing is known."""
        facts = self.facts
        known = np.isfinite(facts["eta_squared"]) & ~np.isnan(facts["separation"])
        names = facts["best_cluster"].tolist()
        return [str(name) if there else None for name, there in zip(names, known, strict=True)]

    @cached_property
    def inside(self) -> Any:
        """The table inside of its batches, where there are any: what the selector has seen."""
        return within_batches(self.table, self.batch)[0]

    @cached_property
    def values(self) -> Any:
        """X inside of its batches: one column for every feature."""
        return self.inside if self.whole is None else within_batches(self.X, self.batch)[0]

    @cached_property
    def structure(self) -> StructureTest | None:
        """Whether there are clusters: what the fit has found, or what is found now."""
        known = self.fitted("structure_")
        if known is not None or not is_testing():
            return known
        inside, codes, _ = within_batches(self.table, self.batch)
        seed = getattr(self.selector, "random_state", None)
        seed = seed if isinstance(seed, Integral) else 0
        return find_structure(inside, random_state=seed, codes=codes, variables=self.owner)

    @property
    def certainty(self) -> np.ndarray | None:
        """How certain the cluster of every sample is, where the method has found it."""
        own = self.clusters is not None and self.clusters.source == "method"
        return self.fitted("sample_certainty_") if own else None

    def sample_name(self, i: int) -> str:
        """Return what a sample is called, or else the number of its row, from 1."""
        return self.sample_names[i] if self.sample_names else f"row {i + 1}"

    def fitted(self, name: str) -> Any:
        """Return an attribute of the selector, or of the one inside it; None if neither has it."""
        return fitted_attribute(self.selector, name)


def gather(
    selector: Any,
    X: Any,
    *,
    feature_names: Any = None,
    sample_names: Any = None,
    n_clusters: int | None = None,
    qvalues: bool | FeatureQValues = False,
    batch: Any = None,
) -> Selection:
    """Check what was given, and find names, clusters and what explains each feature."""
    selector = getattr(selector, "best_estimator_", selector)  # of a search
    X = to_numpy(X) if is_foreign_array(X) else X
    columns, index = getattr(X, "columns", None), getattr(X, "index", None)
    own_names = getattr(selector, "feature_names_in_", None)
    if columns is not None and own_names is None:  # fitted without names: they are for the reader
        feature_names = list(columns) if feature_names is None else feature_names
        X = np.asarray(X)
    table = check_table(X, owner="The report")
    n, d = table.shape
    if d != getattr(selector, "n_features_in_", None) or not hasattr(selector, "ranking_"):
        explain_features(selector, X)  # says what is wrong
    names = own_names if feature_names is None else feature_names
    named = names is not None
    names = [f"x{j}" for j in range(d)] if names is None else names
    names = _texts("feature_names", names, d, "column of X, selected or not")
    if sample_names is None and index is not None and list(index) != list(range(n)):
        sample_names = index
    inside = within_batches_of_fit(selector, table, batch)[0]
    clusters = selected_clusters(selector, inside, n_clusters=n_clusters)
    explained = selector
    if own_names is None:  # under the names that the reader knows
        explained, X = copy.copy(selector), table
        explained.feature_names_in_ = np.asarray(names, dtype=object)
    if sample_names is not None:
        sample_names = _texts("sample_names", sample_names, n, "row")
    facts = _facts(explained, X, clusters, qvalues=qvalues, batch=batch)
    found = Selection(selector, table, names, named, sample_names, clusters, facts, batch)
    variables = getattr(selector, "_variables", None)
    return found if variables is None else _by_variable(found, variables)


def _facts(selector: Any, X: Any, clusters: Clusters | None, **settings: Any) -> Table:
    """Return what explains each feature: by the clusters of the method, or by those of k-means."""
    labels = None if clusters is None or clusters.source == "method" else clusters.codes
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return explain_features(selector, X, labels=labels, **settings)


def _by_variable(selection: Selection, variables: np.ndarray) -> Selection:
    """Return a selection with one feature in the place of the indicators of a category.

    It is shown by the level that tells the clusters best.
    """
    selector, facts = selection.selector, selection.facts
    owner = np.unique(variables, return_inverse=True)[1]
    names = variable_names(selector, selection.feature_names, variables)
    order = np.lexsort((-np.nan_to_num(facts["eta_squared"], nan=-1.0), owner))
    telling = order[np.searchsorted(owner[order], np.arange(len(names)))]
    of_variables = by_variable(selector, owner, names)
    if "q_value" in facts:
        of_variables.qvalues_ = facts["q_value"][telling]
    X = selection.X[:, telling]
    found = _facts(of_variables, X, selection.clusters, batch=selection.batch)
    shown = [selection.feature_names[j] for j in telling]
    found["level"] = np.where(np.array(shown) == np.array(names), "", shown)
    # the share of the variance of all indicators together
    weight = selection.spreads**2
    between = np.bincount(owner, weights=weight * np.nan_to_num(facts["eta_squared"]))
    total = np.bincount(owner, weights=weight)
    with np.errstate(invalid="ignore"):  # constant ones have none
        found["eta_squared"] = between / total
    return replace(
        selection,
        selector=of_variables,
        X=X,
        feature_names=names,
        facts=found,
        whole=selection.X,
        owner=owner,
        telling=shown,
    )


def named_as_pixels(selection: Selection, shape: tuple[int, int] | None) -> Selection:
    """Return the selection with features without a name called by their place in an image."""
    if selection.named or shape is None:
        return selection
    width, d = shape[1], len(selection.feature_names)
    names = [f"r{j // width + 1}c{j % width + 1}" for j in range(d)]
    return replace(selection, feature_names=names)


def check_shape(image_shape: Any, n_features: int) -> tuple[int, int] | None:
    """Return (rows, columns) of the image that the features make; None if there is none."""
    if image_shape is None:
        return None
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


def _texts(argument: str, names: Any, count: int, what: str) -> list[str]:
    """Return names as texts that a file can hold, if there are as many as needed."""
    texts = [str(name).encode("utf-8", "replace").decode("utf-8") for name in names]
    if len(texts) != count:
        raise ValueError(
            f"{argument} holds {len(texts)} names where {count} are needed: pass one for every "
            f"{what}."
        )
    return texts

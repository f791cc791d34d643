"""What makes a selection good when there are no labels to ask.

Every criterion compares what the selected columns show with something the WHOLE table says: its
neighbour graph, or its pseudo-labels. Indices computed in the selected columns alone
(silhouette, Davies-Bouldin, Calinski-Harabasz, the gap) are not offered: a handful of columns
nearly always looks more clearly clustered than the table it came from, so they choose far too few,
and do worse than chance.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.random import RandomState
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import check_random_state

from featsieve import defaults
from featsieve.arrays.namespace import as_numpy
from featsieve.criteria.clusterings import SelectedClusterings, sample_rows
from featsieve.evaluation.checks import as_feature_indices
from featsieve.graphs.affinity import modularity
from featsieve.graphs.views import view_of_labels
from featsieve.validation import check_number, check_table, check_varying

# Values of the runs for a support (indices of features).
Evaluation = Callable[[np.ndarray], np.ndarray]


@dataclass(kw_only=True, eq=False)
class Criterion(ABC):
    """How good a selection is. Call it, or :meth:`prepare` it once for many supports.

    Parameters
    ----------
    scale : {"unit", "none", "both"}, default="both"
        Whether columns have unit variance where distances between samples are taken, or are taken
        as they are; of "both" the one that is better for the selection counts: columns of
        different units say nothing as they are, pixels of one unit may.
    n_runs : int, default=10
        k-means++ runs that are averaged; of "both" half of them in either scale, so that fewer
        than four say nothing about their error.
    tolerance : float
        Loss of the criterion that is given up for fewer features.
    random_state : int, RandomState instance or None, default=0
        Seeds k-means, with the same seeds for every support.

    Attributes
    ----------
    name : str
    """

    name: str = field(init=False, repr=False)
    scale: str = "both"
    n_runs: int = 10
    tolerance: float = defaults.CRITERION_TOLERANCE
    random_state: Any = 0

    _variables: ClassVar[np.ndarray | None] = None

    def see_variables(self, variables: np.ndarray | None) -> None:
        """Take columns with the same number as one variable, with the weight of one column."""
        vars(self)["_variables"] = variables

    def __call__(self, X: Any, support: Any, labels: Any) -> float:
        """Return the criterion of one selection; higher is better."""
        X = check_table(X, owner=type(self).__name__)
        return float(np.mean(self.prepare(X, labels)(as_feature_indices(support, X.shape[1]))))

    def prepare(self, X: Any, labels: Any) -> Evaluation:
        """Return the function from a support (indices) to the values of the runs."""
        X = check_table(X, owner=type(self).__name__)
        random_state = check_random_state(self.random_state)
        labels = as_numpy(labels)
        if labels.shape != (X.shape[0],):
            raise ValueError(f"labels has {labels.size} entries but X has {X.shape[0]} rows.")
        if labels.dtype.kind == "f" and not np.isfinite(labels).all():
            raise ValueError("labels has missing entries: judge the rows that have a label only.")
        codes = np.unique(labels, return_inverse=True)[1]
        X, rows = sample_rows(X, random_state)
        if rows is not None:
            codes = np.unique(codes[rows], return_inverse=True)[1]
        return self._prepare(X, codes, random_state)

    @abstractmethod
    def _prepare(self, X: Any, labels: np.ndarray, random_state: RandomState) -> Evaluation:
        """Prepare for labels 0..c-1 and a table of bounded length."""

    def _clusterings(self, X: Any, labels: np.ndarray, seed: RandomState) -> SelectedClusterings:
        check_varying(X)
        c = int(labels.max()) + 1
        return SelectedClusterings(
            X,
            c,
            scale=self.scale,
            n_runs=self.n_runs,
            variables=self._variables,
            random_state=seed,
        )


@dataclass(kw_only=True, eq=False)
class Modularity(Criterion):
    """Modularity of k-means labels of the selected columns on the neighbour graph of all of them.

    The share of the graph's edges inside clusters, less what chance would give: do samples that
    are neighbours in the whole table stay together in the selected columns? The graph is that of
    the view in which the pseudo-labels show (:mod:`featsieve.graphs.views`).

    Parameters
    ----------
    scale, n_runs, tolerance, random_state
        See :class:`Criterion`.
    n_neighbors : int, default=5
        Neighbours of a sample in the graph, or all others if there are fewer.
    graph : scipy.sparse matrix of shape (n_samples, n_samples), optional
        The graph, if there is one already.
    """

    name = "modularity"

    n_neighbors: int = 5
    graph: sp.csr_array | None = field(default=None, repr=False)

    def _prepare(self, X: Any, labels: np.ndarray, random_state: RandomState) -> Evaluation:
        check_number("n_neighbors", self.n_neighbors, low=1, integer=True)
        clusterings = self._clusterings(X, labels, random_state)
        graph = self.graph
        if graph is None:
            k, variables = self.n_neighbors, self._variables
            graph = view_of_labels(X, labels, n_neighbors=k, variables=variables).graph
        if graph.shape != (X.shape[0], X.shape[0]):
            raise ValueError(
                f"graph must link the {X.shape[0]} samples that are looked at (5000 of a larger "
                f"table); got shape {graph.shape}. Leave it out."
            )
        return lambda support: clusterings.judged(support, partial(modularity, graph))


class LabelAgreement(Criterion):
    """Agreement (adjusted Rand index) of k-means in the selected columns with the pseudo-labels."""

    name = "agreement"

    def _prepare(self, X: Any, labels: np.ndarray, random_state: RandomState) -> Evaluation:
        clusterings = self._clusterings(X, labels, random_state)

        def agreement(runs: np.ndarray) -> np.ndarray:
            return np.array([adjusted_rand_score(labels, found) for found in runs])

        return lambda support: clusterings.judged(support, agreement)


class FunctionCriterion(Criterion):
    """A user's own ``function(X, support, labels) -> float``; support is a mask."""

    name = "own_criterion"

    def __init__(self, function: Callable[[Any, np.ndarray, np.ndarray], float]) -> None:
        super().__init__(tolerance=0.0)
        self.function = function
        self.name = getattr(function, "__name__", self.name)

    def _prepare(self, X: Any, labels: np.ndarray, random_state: RandomState) -> Evaluation:
        def evaluate(support: np.ndarray) -> np.ndarray:
            mask = np.zeros(X.shape[1], dtype=bool)
            mask[support] = True
            return np.array([float(self.function(X, mask, labels))])

        return evaluate


CRITERIA: dict[str, type[Criterion]] = {kind.name: kind for kind in (Modularity, LabelAgreement)}


def as_criterion(criterion: Any) -> Criterion:
    """Return a criterion given by name, as an object, or as a function of (X, mask, labels)."""
    if isinstance(criterion, Criterion):
        return criterion
    if callable(criterion) and not isinstance(criterion, type):
        return FunctionCriterion(criterion)
    if isinstance(criterion, str) and criterion in CRITERIA:
        return CRITERIA[criterion]()
    names = ", ".join(repr(name) for name in CRITERIA)
    raise ValueError(
        f"criterion must be one of {names}, a Criterion, or a function of (X, support, labels); "
        f"got {criterion!r}."
    )

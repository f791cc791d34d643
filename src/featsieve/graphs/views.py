"""Views of the samples: neighbour graphs in the metrics in which clusters may show.

"hat" (the metric of the ridge hat matrix of all features, which evens out directions) is the best
where many features take part; few informative columns drown in it, and show in plain distances:
"raw" ones if their variance is large, "scaled" ones (unit variance) if it is not.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from featsieve import defaults
from featsieve.arrays import ColumnScale, as_operator
from featsieve.arrays.namespace import to_numpy
from featsieve.graphs.affinity import modularity, self_tuning_graph
from featsieve.graphs.coordinates import hat_coordinates, unit_rows
from featsieve.graphs.distances import EuclideanDistances, hat_distances
from featsieve.terms import normalised_indicator

# Plain views, and the scale of the columns whose distances they take.
PLAIN = {"raw": "none", "scaled": "unit"}


@dataclass(frozen=True)
class SampleView:
    """A neighbour graph of the samples."""

    name: str
    graph: sp.csr_array
    coordinates: np.ndarray

    @property
    def bridge(self) -> np.ndarray | None:
        """Directions of the samples, which link the parts of a graph that is not connected."""
        return unit_rows(self.coordinates) if self.coordinates.shape[1] else None


def sample_view(
    X: Any,
    name: str,
    *,
    n_clusters: int = 2,
    n_neighbors: int = 5,
    variables: np.ndarray | None = None,
) -> SampleView:
    """Return a view of the rows of X; ``n_clusters`` is the largest number it must tell apart."""
    if name in PLAIN:
        operator = as_operator(X, scale=ColumnScale(PLAIN[name], variables))
        graph = self_tuning_graph(EuclideanDistances(operator), n_neighbors=n_neighbors)
        return SampleView(name, graph, np.zeros((operator.shape[0], 0)))
    operator = as_operator(X, scale=ColumnScale("unit", variables))
    E = to_numpy(hat_coordinates(operator, n_directions=2 * n_clusters))
    graph = self_tuning_graph(hat_distances(E), n_neighbors=n_neighbors)
    return SampleView(name, graph, E)


def view_of_labels(
    X: Any, labels: np.ndarray, *, n_neighbors: int = 5, variables: np.ndarray | None = None
) -> SampleView:
    """Return the view that shows a clustering 0..c-1 best.

    The hat view, unless the labels are hardly predictable there, or another shows them much more
    clearly; then that of largest modularity.
    """
    n_clusters = int(labels.max()) + 1
    look = partial(sample_view, X, n_neighbors=n_neighbors, variables=variables)
    hat = look("hat", n_clusters=n_clusters)
    views = [hat, *(look(name) for name in PLAIN)]
    shown = [float(modularity(view.graph, labels)) for view in views]
    predictable = (
        leave_one_out_accuracy(labels, hat.coordinates, n_clusters) >= defaults.DOUBTFUL_ACCURACY
    )
    if predictable and shown[0] >= defaults.HAT_SHARE_OF_BEST * max(shown):
        return hat
    return views[int(np.argmax(shown))]


def vote_accuracy(graph: sp.csr_array, labels: np.ndarray) -> float:
    """Return the balanced accuracy of predicting each label by the vote of its neighbours."""
    n, c = len(labels), int(labels.max()) + 1
    member = sp.csr_array((np.ones(n), (np.arange(n), labels)), shape=(n, c))
    votes = sp.csr_array(graph @ member).toarray()
    hits = np.bincount(labels, weights=votes.argmax(axis=1) == labels, minlength=c)
    return float(np.mean(hits / np.maximum(np.bincount(labels, minlength=c), 1)))


def leave_one_out_accuracy(labels: np.ndarray, E: np.ndarray, n_clusters: int) -> float:
    """Return the balanced accuracy of predicting each label from the other samples.

    With the hat matrix P = E E' and an intercept, the leave-one-out residual is
    (HF - P HF)_i / (1 - P_ii - 1/n); the predicted cluster has the largest (F - R)_ik sqrt(n_k).
    """
    F = normalised_indicator(labels, n_clusters)
    sizes = np.bincount(labels, minlength=n_clusters)
    centred = F - F.mean(axis=0)
    remaining = 1.0 - np.einsum("ij,ij->i", E, E) - 1.0 / len(labels)
    residual = (centred - E @ (E.T @ centred)) / np.maximum(remaining, 1e-12)[:, None]
    predicted = ((F - residual) * np.sqrt(sizes)).argmax(axis=1)
    hits = np.bincount(labels, weights=predicted == labels, minlength=n_clusters)
    return float(np.mean(hits[sizes > 0] / sizes[sizes > 0]))

"""How many clusters: the number that the neighbour graph of the samples supports best."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from featsieve.arrays.namespace import gathered, take_rows
from featsieve.criteria.measures import MOST_SAMPLES
from featsieve.graphs.modularity import modularity
from featsieve.graphs.spectral_labels import SpectralClusterings
from featsieve.graphs.structure import leave_one_out_accuracy, permute_columns
from featsieve.graphs.views import (
    CERTAIN,
    ENOUGH_SAMPLES,
    PLAIN,
    STRUCTURE,
    sample_view,
    vote_accuracy,
)
from featsieve.tables import Table
from featsieve.validation import as_table, check_number, check_varying

# Clusters of fewer than three samples are not looked for, and no more than this many.
MOST_CLUSTERS = 60
SAMPLES_PER_CLUSTER = 3
# Labels that the other samples predict less well than this are not clusters.
PREDICTABLE = 0.9
# Every number up to the first, then steps of this ratio: the answer is good to a factor of two.
EVERY_NUMBER = 10
STEP = 1.15
N_STARTS = 5
# What such a number is worth: true numbers lie between half and twice of it, mostly.
UNCERTAINTY = 2.0


@dataclass(frozen=True, eq=False)
class ClusterCount:
    """A number of clusters, and how it was found.

    Attributes
    ----------
    n_clusters : int
        The suggested number; 2 if nothing speaks for another.
    view : {"hat", "raw", "scaled"} or None
        The distances in which the clusters showed (see :mod:`featsieve.graphs.views`); None where
        they showed in none.
    candidates : int array
        Numbers that were tried.
    modularity : float array
        Of the spectral clusters on the neighbour graph.
    label_accuracy : float array
        How well the labels are predicted from the other samples, balanced: by ridge regression
        (hat view), or by the vote of the neighbours.
    """

    n_clusters: int
    view: str | None
    candidates: np.ndarray
    modularity: np.ndarray
    label_accuracy: np.ndarray

    @property
    def plausible_range(self) -> tuple[int, int]:
        """Half and twice the number: no rule that we know of is more certain than that."""
        return max(2, round(self.n_clusters / UNCERTAINTY)), round(self.n_clusters * UNCERTAINTY)

    def __repr__(self) -> str:
        return (
            f"ClusterCount(n_clusters={self.n_clusters}, plausible_range={self.plausible_range}, "
            f"view={self.view!r})"
        )

    def table(self) -> Table:
        """Return one row per number that was tried."""
        return Table(
            {
                "n_clusters": self.candidates,
                "modularity": self.modularity,
                "label_accuracy": self.label_accuracy,
                "chosen": self.candidates == self.n_clusters,
            }
        )


def suggest_n_clusters(
    X: Any, *, most: int = MOST_CLUSTERS, n_neighbors: int = 5, random_state: Any = 0
) -> ClusterCount:
    """Suggest how many clusters a table has, without labels.

    Spectral clusterings of the neighbour graph are compared for many numbers: the largest
    modularity wins, among those whose labels can be predicted from the other samples (leave-one-out
    balanced accuracy of at least 0.9). Modularity alone splits clusters further and further;
    predictability alone prefers two.

    Parameters
    ----------
    X : array-like or scipy.sparse matrix of shape (n_samples, n_features)
        The table. Of more than 5000 samples, a random 5000 are looked at.
    most : int, default=60
        Largest number to try, if there are three samples for each.
    n_neighbors : int, default=5
        Neighbours of a sample in the graph, or all others if there are fewer.
    random_state : int, RandomState instance or None, default=0
        Seeds k-means.

    Returns
    -------
    ClusterCount
        ``n_clusters``, the ``plausible_range`` and the whole comparison, ``table()``.

    See Also
    --------
    cluster_sensitivity : How much the selected features depend on the number.

    Notes
    -----
    No rule finds the number of classes of real tables reliably: read the answer as "within a
    factor of about two". Selections suffer more from too few clusters than from too many.

    Clusters are sought in the hat metric first. Where none are predictable there, the vote of the
    neighbours decides if the graph has more structure than that of permuted columns; if it has
    not, plain distances are tried, in which few informative columns show that drown in the hat
    metric. Where nothing shows the answer is 2, and ``view`` is None.

    Examples
    --------
    >>> from featsieve.datasets import make_planted
    >>> from featsieve.tuning import suggest_n_clusters
    >>> planted = make_planted(n_samples=120, n_features=50, n_clusters=4, random_state=0)
    >>> suggest_n_clusters(planted.X, random_state=0).n_clusters
    4
    """
    check_number("most", most, low=2, integer=True)
    check_number("n_neighbors", n_neighbors, low=1, integer=True)
    X = as_table(X, owner="suggest_n_clusters")
    check_varying(X)
    random_state = check_random_state(random_state)
    if X.shape[0] > MOST_SAMPLES:
        X = take_rows(X, np.sort(random_state.permutation(X.shape[0])[:MOST_SAMPLES]))
    X = gathered(X)
    search = _Search(X, candidate_numbers(X.shape[0], most), n_neighbors, random_state)
    hat = search.look("hat")
    if hat.predictable.any():
        return hat.count()
    # From here on, predictable by the neighbours is enough if it is more than chance.
    hat = hat.by_votes()
    shuffled = permute_columns(X, random_state)
    if (hat.modularity - search.look("hat", shuffled).modularity).max() >= STRUCTURE:
        return hat.count()
    shown = []
    for name in PLAIN:
        found = search.look(name)
        excess = (found.modularity - search.look(name, shuffled).modularity)[found.best]
        certain = found.vote_accuracy[found.best] >= CERTAIN and X.shape[0] >= ENOUGH_SAMPLES
        if found.predictable.any() and (excess >= STRUCTURE or certain):
            shown.append((excess, found))
    return max(shown, key=lambda pair: pair[0])[1].count() if shown else hat.nothing()


def candidate_numbers(n_samples: int, most: int = MOST_CLUSTERS) -> np.ndarray:
    """Return the numbers to try: 2, 3, ..., 10, then in steps of 15 %."""
    most = max(2, min(most, n_samples // SAMPLES_PER_CLUSTER))
    n_steps = int(np.ceil(np.log(max(most / EVERY_NUMBER, 1.0)) / np.log(STEP)))
    beyond = np.round(EVERY_NUMBER * STEP ** np.arange(n_steps + 1)).astype(int)
    numbers = np.union1d(np.arange(2, EVERY_NUMBER + 1), beyond)
    return numbers[numbers <= most]


@dataclass(frozen=True)
class _Comparison:
    """The clusterings of one view."""

    view: str
    candidates: np.ndarray
    modularity: np.ndarray
    label_accuracy: np.ndarray
    vote_accuracy: np.ndarray

    @property
    def predictable(self) -> np.ndarray:
        return self.label_accuracy >= PREDICTABLE

    @property
    def best(self) -> int:
        """Position of the largest modularity among predictable labels (the first if none are)."""
        clear = self.predictable
        return int(np.where(clear, self.modularity, -np.inf).argmax()) if clear.any() else 0

    def by_votes(self) -> "_Comparison":
        """Return the same, with labels judged by the neighbours."""
        return replace(self, label_accuracy=self.vote_accuracy)

    def count(self) -> ClusterCount:
        return self._count(self.best, self.view)

    def nothing(self) -> ClusterCount:
        return self._count(0, None)

    def _count(self, position: int, view: str | None) -> ClusterCount:
        number = int(self.candidates[position])
        return ClusterCount(number, view, self.candidates, self.modularity, self.label_accuracy)


@dataclass(frozen=True)
class _Search:
    """Looks at views of one table."""

    X: Any
    candidates: np.ndarray
    n_neighbors: int
    random_state: np.random.RandomState

    def look(self, name: str, X: Any = None) -> _Comparison:
        """Compare the candidates in a view of the table (or of another one)."""
        most = int(self.candidates[-1])
        view = sample_view(
            self.X if X is None else X, name, n_clusters=most, n_neighbors=self.n_neighbors
        )
        clusterings = SpectralClusterings(
            view.graph,
            most,
            bridge=view.bridge,
            random_state=self.random_state,
            n_starts=N_STARTS,
        )
        labels = [clusterings.labels(int(c)) for c in self.candidates]
        votes = np.array([vote_accuracy(view.graph, found) for found in labels])
        accuracy = votes
        E = view.coordinates
        if E.shape[1] > 0:
            accuracy = np.array(
                [leave_one_out_accuracy(found, E, int(found.max()) + 1) for found in labels]
            )
        quality = modularity(view.graph, np.stack(labels))
        return _Comparison(name, self.candidates, quality, accuracy, votes)

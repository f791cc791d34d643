"""How many clusters: the number that the neighbour graph of the samples supports best."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from featsieve import defaults
from featsieve.criteria.clusterings import sample_rows
from featsieve.graphs.affinity import modularity
from featsieve.graphs.spectral_labels import SpectralClusterings
from featsieve.graphs.views import (
    PLAIN,
    leave_one_out_accuracy,
    permuted_by,
    sample_view,
    vote_accuracy,
)
from featsieve.validation import check_number, check_table, check_varying


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
        factor = defaults.COUNT_UNCERTAINTY
        return max(2, round(self.n_clusters / factor)), round(self.n_clusters * factor)

    def __repr__(self) -> str:
        return (
            f"ClusterCount(n_clusters={self.n_clusters}, plausible_range={self.plausible_range}, "
            f"view={self.view!r})"
        )


def suggest_n_clusters(
    X: Any, *, most: int = defaults.MAX_CLUSTERS, random_state: Any = 0
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
    random_state : int, RandomState instance or None, default=0
        Seeds k-means.

    Returns
    -------
    ClusterCount
        ``n_clusters``, the ``plausible_range``, and the numbers that were compared.

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
    X = check_table(X, owner="suggest_n_clusters")
    check_varying(X)
    random_state = check_random_state(random_state)
    X, _ = sample_rows(X, random_state)
    compare = partial(
        _compare,
        candidates=candidate_numbers(X.shape[0], most),
        random_state=random_state,
    )
    hat = compare(X, "hat")
    if hat.predictable.any():
        return hat.count(hat.best, "hat")
    # From here on, predictable by the neighbours is enough if it is more than chance.
    hat = replace(hat, label_accuracy=hat.vote_accuracy)
    shuffled = permuted_by(X, random_state.randint(np.iinfo(np.int32).max))
    if (
        hat.modularity - compare(shuffled, "hat").modularity
    ).max() >= defaults.STRUCTURE_MODULARITY:
        return hat.count(hat.best, "hat")
    shown = []
    for name in PLAIN:
        found = compare(X, name)
        excess = (found.modularity - compare(shuffled, name).modularity)[found.best]
        certain = (
            found.vote_accuracy[found.best] >= defaults.CERTAIN_ACCURACY
            and X.shape[0] >= defaults.CERTAIN_SAMPLES
        )
        if found.predictable.any() and (excess >= defaults.STRUCTURE_MODULARITY or certain):
            shown.append((excess, found))
    if not shown:
        return hat.count(0, None)
    clearest = max(shown, key=lambda pair: pair[0])[1]
    return clearest.count(clearest.best, clearest.view)


def candidate_numbers(n_samples: int, most: int = defaults.MAX_CLUSTERS) -> np.ndarray:
    """Return the numbers to try: 2, 3, ..., 10, then in steps of 15 %."""
    every, ratio = defaults.EVERY_COUNT_UP_TO, defaults.COUNT_RATIO
    most = max(2, min(most, n_samples // defaults.MIN_CLUSTER_SIZE))
    n_steps = int(np.ceil(np.log(max(most / every, 1.0)) / np.log(ratio)))
    beyond = np.round(every * ratio ** np.arange(n_steps + 1)).astype(int)
    numbers = np.union1d(np.arange(2, every + 1), beyond)
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
        return self.label_accuracy >= defaults.PREDICTABLE_ACCURACY

    @property
    def best(self) -> int:
        """Position of the largest modularity among predictable labels (the first if none are)."""
        clear = self.predictable
        return int(np.where(clear, self.modularity, -np.inf).argmax()) if clear.any() else 0

    def count(self, position: int, view: str | None) -> ClusterCount:
        number = int(self.candidates[position])
        return ClusterCount(number, view, self.candidates, self.modularity, self.label_accuracy)


def _compare(
    X: Any,
    view_name: str,
    *,
    candidates: np.ndarray,
    random_state: np.random.RandomState,
) -> _Comparison:
    """Compare the candidates in a view of a table."""
    most = int(candidates[-1])
    view = sample_view(X, view_name, n_clusters=most)
    clusterings = SpectralClusterings(
        view.graph,
        most,
        bridge=view.bridge,
        random_state=random_state,
        n_starts=defaults.SPECTRAL_STARTS,
    )
    labels = [clusterings.labels(int(c)) for c in candidates]
    votes = np.array([vote_accuracy(view.graph, found) for found in labels])
    accuracy = votes
    E = view.coordinates
    if E.shape[1] > 0:
        accuracy = np.array(
            [leave_one_out_accuracy(found, E, int(found.max()) + 1) for found in labels]
        )
    quality = modularity(view.graph, np.stack(labels))
    return _Comparison(view_name, candidates, quality, accuracy, votes)

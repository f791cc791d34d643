"""Is there anything to select for: the table against itself with permuted columns."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from featsieve import defaults
from featsieve.arrays.namespace import as_numpy
from featsieve.criteria.clusterings import sample_rows
from featsieve.graphs.affinity import modularity
from featsieve.graphs.spectral_labels import SpectralClusterings
from featsieve.graphs.views import (
    VIEWS,
    is_certain,
    leave_one_out_accuracy,
    permuted_by,
    sample_view,
)
from featsieve.validation import check_table, check_varying, warn


class NoStructureWarning(UserWarning):
    """The table shows no more clusters than chance: a selection from it means little."""


def structure_score(X: Any, labels: Any, *, random_state: Any = 0) -> float:
    """Return how much clearer clusters are than in the same table without any.

    The modularity of the labels on the neighbour graph of the samples, less that of clusters found
    in tables whose columns were permuted one by one (the same columns, but no sample belongs with
    another). Of the three metrics in which clusters may show (:mod:`featsieve.graphs.views`) the
    largest difference counts.

    Warns (:class:`NoStructureWarning`) below 0.05 (below 0.5/√n for fewer than 100 samples), which
    is what pure noise reaches.

    Parameters
    ----------
    X : array-like or scipy.sparse matrix of shape (n_samples, n_features)
        The table. Of more than 5000 samples, a random 5000 are looked at.
    labels : array-like of shape (n_samples,)
        Clusters of the samples, for example ``labels_`` of a selector.
    random_state : int, RandomState instance or None, default=0
        Seeds the permutations and k-means.

    Returns
    -------
    float
        About 0 for noise, up to about 0.7 for clear clusters.

    Notes
    -----
    A high score says that there are clusters, not that they are those one is interested in. A
    smooth continuum of samples (time, a gradient) also scores above 0. A low score can be wrong:
    a few columns with wide gaps keep these when permuted, and their clusters with them. (No warning
    then, if nearly all neighbours agree on the labels.)

    Examples
    --------
    >>> from featsieve.datasets import make_planted
    >>> from featsieve.tuning import structure_score
    >>> planted = make_planted(n_samples=120, n_features=50, n_clusters=4, random_state=0)
    >>> structure_score(planted.X, planted.labels) > 0.2
    True
    """
    score, certain = excess_modularity(X, labels, random_state=random_state)
    n_samples = X.shape[0] if hasattr(X, "shape") else len(X)
    if score < noise_level(n_samples) and not certain:
        warn(no_structure(score, n_samples), NoStructureWarning)
    return score


def noise_level(n_samples: int) -> float:
    """Return the score that tables of noise reach."""
    return max(defaults.NOISE_SCORE, defaults.NOISE_SCORE_TIMES_ROOT / np.sqrt(n_samples))


def no_structure(score: float, n_samples: int) -> str:
    """Say in plain words that there is nothing to select for."""
    return (
        "The clusters that were found are no clearer than those found after every column is "
        f"permuted at random (structure score {score:.2f}; real ones have more than "
        f"{noise_level(n_samples):.2f}): features are ranked, but either there is no cluster "
        "structure for them to carry, or it was not found. Check that rows are samples; that "
        "units, batches or outliers do not hide the structure; or try another n_clusters or method."
    )


def excess_modularity(
    X: Any,
    labels: Any,
    *,
    n_permutations: int = 3,
    random_state: Any = 0,
    most_samples: int | None = None,
    enough: float = np.inf,
) -> tuple[float, bool]:
    """Return the structure score, and whether the labels are certain all the same.

    A view that shows ``enough`` ends the search.
    """
    X = check_table(X, owner="structure_score")
    check_varying(X)
    labels = as_numpy(labels)
    if labels.shape != (X.shape[0],):
        raise ValueError(
            f"labels must hold one cluster per row of X, shape ({X.shape[0]},); got {labels.shape}."
        )
    random_state = check_random_state(random_state)
    X, rows = sample_rows(X, random_state, most=most_samples)
    codes = np.unique(labels if rows is None else labels[rows], return_inverse=True)[1]
    n_clusters = int(codes.max()) + 1
    if n_clusters == 1:
        return 0.0, False
    # The permuted tables are made when they are looked at: one exists at a time.
    seeds = [random_state.randint(np.iinfo(np.int32).max) for _ in range(n_permutations)]

    def by_chance(seed: int, name: str) -> float:
        table = permuted_by(X, seed)
        view = sample_view(table, name, n_clusters=n_clusters)
        clusterings = SpectralClusterings(
            view.graph,
            n_clusters,
            random_state=random_state,
            bridge=view.bridge,
            n_starts=defaults.SPECTRAL_STARTS,
        )
        return float(modularity(view.graph, clusterings.labels(n_clusters)))

    excesses, certain = [], False
    for name in VIEWS:
        view = sample_view(X, name, n_clusters=n_clusters)
        chance = np.mean([by_chance(seed, name) for seed in seeds])
        excesses.append(float(modularity(view.graph, codes)) - float(chance))
        certain = certain or is_certain(view.graph, codes)
        if excesses[-1] >= enough:
            break
    return max(excesses), certain


def quick_structure(X: Any, labels: Any, *, enough: float = np.inf) -> tuple[float, bool]:
    """Return the structure score at the cost that a fit may have: of fewer samples."""
    n_seen = min(X.shape[0], defaults.STRUCTURE_SAMPLES)
    return excess_modularity(
        X,
        labels,
        n_permutations=1 if n_seen >= defaults.ONE_PERMUTATION_SAMPLES else defaults.PERMUTATIONS,
        most_samples=defaults.STRUCTURE_SAMPLES,
        enough=enough,
    )


def warn_without_structure(X: Any, labels: np.ndarray) -> None:
    """Warn where labels 0..c-1 are hardly predictable, and their modularity is that of noise."""
    n_clusters = int(labels.max()) + 1
    if n_clusters == 1:
        return  # there is another warning for that
    n, d = X.shape
    if n <= d:  # in tall tables any split along a direction is predictable
        E = sample_view(X, "hat", n_clusters=n_clusters).coordinates
        if leave_one_out_accuracy(labels, E, n_clusters) >= defaults.PREDICTABLE_ACCURACY:
            return
    n_seen = min(n, defaults.STRUCTURE_SAMPLES)
    score, certain = quick_structure(X, labels, enough=noise_level(n_seen))
    if score < noise_level(n_seen) and not certain:
        warn(no_structure(score, n_seen), NoStructureWarning)

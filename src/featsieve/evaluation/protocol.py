"""How selected columns become numbers: k-means, judged by classes that no selector has seen."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from featsieve.arrays.batch_table import canonical
from featsieve.arrays.namespace import is_sparse
from featsieve.evaluation.checks import as_classes
from featsieve.evaluation.metrics import clustering_accuracy
from featsieve.graphs.kmeans import fitted_kmeans
from featsieve.validation import check_number, check_table


@dataclass(frozen=True, eq=False)
class ClusteringScores:
    """Agreement of one or more clusterings with known classes.

    Attributes
    ----------
    accuracy, nmi, ari : arrays of shape (n_runs,)
        Clustering accuracy, normalised mutual information (over the geometric mean of the
        entropies, as in the paper) and adjusted Rand index of every run, as fractions of 1.

    Examples
    --------
    >>> from featsieve.evaluation import ClusteringScores
    >>> scores = ClusteringScores.of_labels([0, 0, 1, 1], [[1, 1, 0, 0], [1, 1, 1, 1]])
    >>> scores.accuracy
    array([1. , 0.5])
    >>> scores.mean()
    (0.75, 0.5, 0.5)
    """

    accuracy: np.ndarray
    nmi: np.ndarray
    ari: np.ndarray

    @classmethod
    def of_labels(cls, y: Any, labels: Any) -> "ClusteringScores":
        """Judge clusterings that exist already, such as the ``labels_`` of a selector.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Classes.
        labels : array-like of shape (n_samples,) or (n_runs, n_samples)
            Clusters of one run, or of several.

        Returns
        -------
        ClusteringScores
        """
        classes = as_classes("y", y)
        runs = np.atleast_2d(np.asarray(labels))
        measures = (clustering_accuracy, _nmi, adjusted_rand_score)
        return cls(*(np.array([measure(classes, run) for run in runs]) for measure in measures))

    @property
    def n_runs(self) -> int:
        """Number of clusterings."""
        return len(self.accuracy)

    def mean(self) -> tuple[float, ...]:
        """Return the means over the runs, of (accuracy, NMI, ARI)."""
        return tuple(float(np.mean(runs)) for runs in (self.accuracy, self.nmi, self.ari))

    def std(self) -> tuple[float, ...]:
        """Return the standard deviations over the runs, of (accuracy, NMI, ARI).

        They are those of a sample (division by the number of runs less one), the default of
        MATLAB, the language of the authors' code; the paper does not say which. NaN for a single
        run.
        """
        if self.n_runs < 2:
            return (np.nan, np.nan, np.nan)
        return tuple(float(np.std(runs, ddof=1)) for runs in (self.accuracy, self.nmi, self.ari))


def _nmi(classes: np.ndarray, labels: np.ndarray) -> float:
    """Return the mutual information over the geometric mean of the entropies."""
    score = normalized_mutual_info_score(classes, labels, average_method="geometric")
    return float(np.clip(score, 0.0, 1.0))


def paper_protocol(X: Any, y: Any, *, n_seeds: int = 10) -> ClusteringScores:
    """Cluster the samples as the paper does: single k-means runs from random centres.

    The number of classes is given to k-means. The centres start at samples drawn with the seeds
    0, 1, ..., which are the same for every method.

    Parameters
    ----------
    X : array-like or scipy.sparse matrix of shape (n_samples, n_selected)
        The selected columns, in the scale in which they are to be judged.
    y : array-like of shape (n_samples,)
        Classes; used to judge only.
    n_seeds : int, default=10
        Number of runs.

    Returns
    -------
    ClusteringScores
        One entry per run; ``mean()`` and ``std()`` are what the tables show.

    See Also
    --------
    practical_protocol : What a user would do.

    Notes
    -----
    Where fewer points differ than there are classes some clusters stay empty, and the scores are
    as poor as that selection.

    Examples
    --------
    >>> import numpy as np
    >>> from featsieve.evaluation import paper_protocol
    >>> X = np.repeat([[0.0], [10.0]], 5, axis=0)
    >>> paper_protocol(X, X[:, 0] > 0, n_seeds=3).mean()
    (1.0, 1.0, 1.0)
    """
    check_number("n_seeds", n_seeds, low=1, integer=True)
    points, classes = _check(X, y)
    c = int(classes.max()) + 1
    runs = [k_means_labels(points, c, init="random", random_state=seed) for seed in range(n_seeds)]
    return ClusteringScores.of_labels(classes, runs)


def practical_protocol(
    X: Any, y: Any, *, n_starts: int = 20, random_state: Any = 0
) -> ClusteringScores:
    """Cluster the samples as a user would: the tightest of several k-means++ runs.

    The run with the smallest inertia is taken, which needs no classes. The number of classes is
    given to k-means.

    Parameters
    ----------
    X : array-like or scipy.sparse matrix of shape (n_samples, n_selected)
        The selected columns, in the scale in which they are to be judged.
    y : array-like of shape (n_samples,)
        Classes; used to judge only.
    n_starts : int, default=20
    random_state : int, RandomState or None, default=0

    Returns
    -------
    ClusteringScores
        A single entry: the clustering that was taken.

    See Also
    --------
    paper_protocol : The mean of single runs from random centres.

    Examples
    --------
    >>> import numpy as np
    >>> from featsieve.evaluation import practical_protocol
    >>> X = np.repeat([[0.0], [4.0], [10.0]], 5, axis=0)
    >>> practical_protocol(X, X[:, 0]).mean()
    (1.0, 1.0, 1.0)
    """
    check_number("n_starts", n_starts, low=1, integer=True)
    points, classes = _check(X, y)
    c = int(classes.max()) + 1
    labels = k_means_labels(points, c, n_init=n_starts, random_state=random_state)
    return ClusteringScores.of_labels(classes, labels)


def _check(X: Any, y: Any) -> tuple[Any, np.ndarray]:
    """Return the points in float64 and the classes as integers; raise if they do not fit."""
    points = check_table(X, owner="k-means").astype(np.float64, copy=False)
    if is_sparse(points):
        points = canonical(points)
        if points.nnz < np.iinfo(np.int32).max:  # k-means takes no wider indices
            parts = (points.data, points.indices.astype(np.int32), points.indptr.astype(np.int32))
            points = type(points)(parts, shape=points.shape)
    classes = as_classes("y", y, n_samples=points.shape[0])
    if classes.max() == 0:
        raise ValueError("y holds a single class: there is nothing for k-means to find.")
    return points, classes


def k_means_labels(points: Any, n_clusters: int, **options: Any) -> np.ndarray:
    """Return the labels of k-means, by default of a single run."""
    # "fewer distinct points than clusters": a poor selection is judged as such
    return fitted_kmeans(points, n_clusters, **{"n_init": 1, **options}).labels_
